-- The names of the triggers of one table.
SELECT name
FROM main.sqlite_schema
WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
ORDER BY name;
