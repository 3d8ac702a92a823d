-- Their checks, with whether each is enforced. Before 8.0.16 there are none, and no table of them.
SELECT t.TABLE_SCHEMA, t.TABLE_NAME, c.CONSTRAINT_NAME, c.CHECK_CLAUSE, t.ENFORCED
FROM information_schema.CHECK_CONSTRAINTS AS c
JOIN information_schema.TABLE_CONSTRAINTS AS t
    ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA
    AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME
    AND t.CONSTRAINT_TYPE = 'CHECK'
WHERE t.TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'ndbinfo')
ORDER BY t.TABLE_SCHEMA, t.TABLE_NAME, c.CONSTRAINT_NAME;
