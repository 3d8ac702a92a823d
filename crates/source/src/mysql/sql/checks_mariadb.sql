-- Their checks, where this user is shown them; and the tables of which constraints are shown, with NULL for a check.
SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE, 'YES'
FROM information_schema.CHECK_CONSTRAINTS
WHERE CONSTRAINT_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'ndbinfo')
UNION ALL
SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, NULL, NULL, 'YES'
FROM information_schema.TABLE_CONSTRAINTS
WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'ndbinfo')
ORDER BY 1, 2, 3;
