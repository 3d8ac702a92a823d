-- Tables and views, with the text that made them. Shadow tables belong to a virtual table and are
-- no tables of the user's.
SELECT l.name, l.type, m.sql
FROM pragma_table_list AS l
LEFT JOIN main.sqlite_schema AS m ON m.name = l.name AND m.type IN ('table', 'view')
WHERE l.schema = 'main'
  AND l.type IN ('table', 'view', 'virtual')
  AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY l.name;
