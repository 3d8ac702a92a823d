-- Where pg_stat_statements is, and whether it says since when it counts: from version 1.9 on.
SELECT n.nspname AS schema,
    pg_catalog.to_regclass(pg_catalog.format('%I.pg_stat_statements_info', n.nspname)) IS NOT NULL AS has_info
FROM pg_catalog.pg_extension AS e
JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
WHERE e.extname = 'pg_stat_statements'
