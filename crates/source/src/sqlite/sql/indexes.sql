-- The indexes of one table, a row for each of their key columns. The column's name is NULL for an
-- expression and for the rowid; `sql` is NULL where a constraint made the index.
SELECT i.name, i."unique", i.origin, i.partial, x.cid, x.name, m.sql, x.coll
FROM pragma_index_list(?1, 'main') AS i
JOIN pragma_index_xinfo(i.name, 'main') AS x ON x.key = 1
LEFT JOIN main.sqlite_schema AS m ON m.type = 'index' AND m.name = i.name
ORDER BY i.name, x.seqno;
