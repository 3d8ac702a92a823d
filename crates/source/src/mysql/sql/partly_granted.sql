-- Schemas in which users were granted single tables or columns but not all of them: there the server hides tables, and
-- nothing tells which. A grantee is written 'user'@'host', and compared by the caller: MySQL breaks on a quote in a
-- condition where the SQL mode has NO_BACKSLASH_ESCAPES.
SELECT DISTINCT g.TABLE_SCHEMA, g.GRANTEE
FROM (
    SELECT GRANTEE, TABLE_SCHEMA FROM information_schema.TABLE_PRIVILEGES
    UNION
    SELECT GRANTEE, TABLE_SCHEMA FROM information_schema.COLUMN_PRIVILEGES
) AS g
WHERE NOT EXISTS (
    SELECT 1 FROM information_schema.USER_PRIVILEGES AS u
    WHERE u.PRIVILEGE_TYPE = 'SELECT' AND u.GRANTEE = g.GRANTEE)
  AND NOT EXISTS (
    SELECT 1 FROM information_schema.SCHEMA_PRIVILEGES AS s
    WHERE s.PRIVILEGE_TYPE = 'SELECT' AND s.GRANTEE = g.GRANTEE AND g.TABLE_SCHEMA LIKE s.TABLE_SCHEMA)
ORDER BY g.TABLE_SCHEMA;
