-- One table: its type, whether it has no rowid, and how many of its columns go by the rowid's name.
SELECT l.type, l.wr, (
    SELECT count(*) FROM pragma_table_xinfo(l.name, 'main') AS c WHERE lower(c.name) = '_rowid_'
)
FROM pragma_table_list AS l
WHERE l.schema = 'main' AND l.name = ?1;
