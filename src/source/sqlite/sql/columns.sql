-- The columns of one table or view. `hidden` is 1 for the inner columns of a virtual table, 2 and 3
-- for generated columns.
SELECT name, type, "notnull", dflt_value, pk, hidden
FROM pragma_table_xinfo(?1, 'main')
WHERE hidden <> 1
ORDER BY cid;
