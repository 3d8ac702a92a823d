-- The columns of one table or view. `hidden` is 1 for the inner columns of a virtual table, 2 and 3
-- for generated columns. The last says whether the primary key is the rowid itself: then it has no
-- index of its own.
SELECT name, type, "notnull", dflt_value, pk, hidden, NOT EXISTS (
    SELECT 1 FROM pragma_index_list(?1, 'main') AS i WHERE i.origin = 'pk'
)
FROM pragma_table_xinfo(?1, 'main')
WHERE hidden <> 1
ORDER BY cid;
