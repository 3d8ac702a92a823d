-- What one table can be cut by: whether it has no rowid, whether one of its columns goes by the rowid's name, the
-- columns of its primary key, and how many of them are in a descending order; nothing in the last where the key is
-- the rowid itself.
SELECT l.wr, EXISTS (
    SELECT 1 FROM pragma_table_xinfo(?1, 'main') AS x WHERE lower(x.name) = '_rowid_'
), c.name, (
    SELECT sum(x."desc")
    FROM pragma_index_list(?1, 'main') AS i
    JOIN pragma_index_xinfo(i.name, 'main') AS x ON x.key = 1
    WHERE i.origin = 'pk'
)
FROM pragma_table_list AS l
LEFT JOIN pragma_table_xinfo(?1, 'main') AS c ON c.pk > 0
WHERE l.schema = 'main' AND l.name = ?1 AND l.type = 'table'
ORDER BY c.pk;
