-- Sequences of every schema that this user sees.
SELECT TABLE_SCHEMA, TABLE_NAME
FROM information_schema.TABLES
WHERE TABLE_TYPE = 'SEQUENCE';
