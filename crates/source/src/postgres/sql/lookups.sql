-- What names and operators in SQL are looked up in, as it is now and whatever the snapshot shows: who has written the
-- entry of each object. Two looks that give the same have found the same objects, but for one that was made and dropped
-- in between. What is temporary is another session's. `lookups_functions.sql` and `lookups_tables.sql` follow, where
-- SQL may call functions and these may read tables.
WITH schema AS (
    SELECT n.oid, n.nspname
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname NOT LIKE 'pg\_temp\_%' AND n.nspname NOT LIKE 'pg\_toast%'
),
type AS (
    SELECT t.oid, s.nspname || '.' || t.typname AS name, t.xmin
    FROM pg_catalog.pg_type AS t
    JOIN schema AS s ON s.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid
    -- Neither the rows of tables nor arrays, which are as what is in them.
    WHERE (t.typrelid = 0 OR c.relkind = 'c')
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_type AS of WHERE of.typarray = t.oid)
)
SELECT 'the operator' AS kind, s.nspname || '.' || o.oprname AS name, o.oid::text AS key, o.xmin::text AS writer
FROM pg_catalog.pg_operator AS o
JOIN schema AS s ON s.oid = o.oprnamespace
UNION ALL
SELECT 'the operator class', s.nspname || '.' || o.opcname, o.oid::text, o.xmin::text
FROM pg_catalog.pg_opclass AS o
JOIN schema AS s ON s.oid = o.opcnamespace
UNION ALL
SELECT 'the operator family', s.nspname || '.' || o.opfname, 'o' || a.oid::text, a.xmin::text
FROM pg_catalog.pg_amop AS a
JOIN pg_catalog.pg_opfamily AS o ON o.oid = a.amopfamily
JOIN schema AS s ON s.oid = o.opfnamespace
UNION ALL
SELECT 'the operator family', s.nspname || '.' || o.opfname, 'p' || a.oid::text, a.xmin::text
FROM pg_catalog.pg_amproc AS a
JOIN pg_catalog.pg_opfamily AS o ON o.oid = a.amprocfamily
JOIN schema AS s ON s.oid = o.opfnamespace
UNION ALL
SELECT 'the cast', source.name || ' to ' || target.name, c.oid::text, c.xmin::text
FROM pg_catalog.pg_cast AS c
JOIN type AS source ON source.oid = c.castsource
JOIN type AS target ON target.oid = c.casttarget
UNION ALL
SELECT 'the collation', s.nspname || '.' || c.collname, c.oid::text, c.xmin::text
FROM pg_catalog.pg_collation AS c
JOIN schema AS s ON s.oid = c.collnamespace
UNION ALL
SELECT 'the text search configuration', s.nspname || '.' || c.cfgname, c.oid::text, c.xmin::text
FROM pg_catalog.pg_ts_config AS c
JOIN schema AS s ON s.oid = c.cfgnamespace
UNION ALL
SELECT
    'the text search configuration', s.nspname || '.' || c.cfgname,
    'm' || pg_catalog.concat_ws(' ', m.mapcfg, m.maptokentype, m.mapseqno), m.xmin::text
FROM pg_catalog.pg_ts_config_map AS m
JOIN pg_catalog.pg_ts_config AS c ON c.oid = m.mapcfg
JOIN schema AS s ON s.oid = c.cfgnamespace
UNION ALL
SELECT 'the text search dictionary', s.nspname || '.' || d.dictname, d.oid::text, d.xmin::text
FROM pg_catalog.pg_ts_dict AS d
JOIN schema AS s ON s.oid = d.dictnamespace
UNION ALL
SELECT 'the text search parser', s.nspname || '.' || p.prsname, p.oid::text, p.xmin::text
FROM pg_catalog.pg_ts_parser AS p
JOIN schema AS s ON s.oid = p.prsnamespace
UNION ALL
SELECT 'the text search template', s.nspname || '.' || t.tmplname, t.oid::text, t.xmin::text
FROM pg_catalog.pg_ts_template AS t
JOIN schema AS s ON s.oid = t.tmplnamespace
UNION ALL
-- Schemas in which names are looked up without one, and those with functions.
SELECT 'the schema', n.nspname, n.oid::text, n.xmin::text
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname = ANY (pg_catalog.current_schemas(false))
   OR n.oid IN (SELECT p.pronamespace FROM pg_catalog.pg_proc AS p)
      AND n.oid IN (SELECT s.oid FROM schema AS s)
UNION ALL
-- Tables of one name that are looked up without a schema.
SELECT 'the table', same.nspname || '.' || same.relname, same.oid::text, ''
FROM (
    SELECT s.nspname, c.relname, c.oid, pg_catalog.count(*) OVER (PARTITION BY c.relname) AS tables
    FROM pg_catalog.pg_class AS c
    JOIN schema AS s ON s.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
      AND s.nspname = ANY (pg_catalog.current_schemas(true))
) AS same
WHERE same.tables > 1
