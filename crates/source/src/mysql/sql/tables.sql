-- Tables and views of every schema that this user sees. MariaDB lists sequences here too.
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, CREATE_OPTIONS, TABLE_ROWS, DATA_LENGTH, TABLE_COMMENT,
    ENGINE
FROM information_schema.TABLES
WHERE TABLE_TYPE IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  AND TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'ndbinfo');
