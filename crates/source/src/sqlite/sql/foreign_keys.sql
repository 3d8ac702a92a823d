-- The foreign keys of one table, a row for each of their columns. "to" is NULL where the parent's
-- primary key is meant.
SELECT id, "table", "from", "to", on_delete, on_update
FROM pragma_foreign_key_list(?1, 'main')
ORDER BY id DESC, seq;
