-- The columns that a query passes on unchanged: `{pairs}` of relation and column number.
SELECT
    a.attrelid::bigint AS relation,
    a.attnum AS number,
    a.atttypid::bigint AS type,
    a.atttypmod AS modifier,
    pg_catalog.format_type(a.atttypid, a.atttypmod) AS declared
FROM pg_catalog.pg_attribute AS a
JOIN (VALUES {pairs}) AS wanted (relation, number)
    ON a.attrelid = wanted.relation::pg_catalog.oid AND a.attnum = wanted.number
