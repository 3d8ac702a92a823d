-- What ANALYZE has counted of the first column of each index over all rows: how many rows there were, and about how
-- many of them had the same value.
SELECT s.tbl, x.name, s.stat
FROM main.sqlite_stat1 AS s
JOIN pragma_index_list(s.tbl, 'main') AS i ON i.name = s.idx AND NOT i.partial
JOIN pragma_index_xinfo(s.idx, 'main') AS x ON x.seqno = 0
WHERE x.name IS NOT NULL AND s.stat IS NOT NULL
ORDER BY s.tbl, s.idx;
