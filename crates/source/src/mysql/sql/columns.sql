-- Their columns, those without any privilege left out by the server.
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA,
    GENERATION_EXPRESSION, COLUMN_COMMENT, PRIVILEGES, CHARACTER_SET_NAME,
    COLLATION_NAME
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'ndbinfo')
ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION;
