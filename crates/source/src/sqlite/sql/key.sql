-- The columns of a table's primary key: names, declared types, and how many of them are in a
-- descending order; nothing in the last where the key is the rowid itself.
SELECT c.name, c.type, (
    SELECT sum(x."desc")
    FROM pragma_index_list(?1, 'main') AS i
    JOIN pragma_index_xinfo(i.name, 'main') AS x ON x.key = 1
    WHERE i.origin = 'pk'
)
FROM pragma_table_xinfo(?1, 'main') AS c
WHERE c.pk > 0
ORDER BY c.pk;
