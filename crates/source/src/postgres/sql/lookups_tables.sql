UNION ALL
-- Tables, with their columns, views' queries, policies and heirs: a function may give back the locks of what it has read.
SELECT 'the table', s.nspname || '.' || c.relname, part.key || ' ' || c.oid::text, part.writer
FROM pg_catalog.pg_class AS c
JOIN schema AS s ON s.oid = c.relnamespace
JOIN (
    SELECT oid AS relation, 't' AS key, xmin::text AS writer
    FROM pg_catalog.pg_class
    UNION ALL
    SELECT attrelid, 'a' || attnum::text, xmin::text
    FROM pg_catalog.pg_attribute
    UNION ALL
    SELECT ev_class, 'v' || oid::text, xmin::text
    FROM pg_catalog.pg_rewrite
    UNION ALL
    SELECT polrelid, 'p' || oid::text, xmin::text
    FROM pg_catalog.pg_policy
    UNION ALL
    SELECT inhparent, 'h' || inhrelid::text, xmin::text
    FROM pg_catalog.pg_inherits
) AS part ON part.relation = c.oid
WHERE c.oid >= 16384
  AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
  AND c.relpersistence <> 't'
