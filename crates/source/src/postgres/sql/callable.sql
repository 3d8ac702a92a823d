-- What somebody has made that SQL may call and that may read tables: functions, and domains, whose checks call them, by
-- name; whether an operator or a cast of somebody's calls one by another name. Those of extensions read no tables. And
-- whether there are operators or casts, of extensions too, that did not come with the server.
WITH function AS (
    SELECT p.oid, p.proname
    FROM pg_catalog.pg_proc AS p
    WHERE p.oid >= 16384
      AND p.prorettype NOT IN ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend AS d
          WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
      )
)
SELECT
    pg_catalog.to_json(ARRAY(
        SELECT pg_catalog.lower(f.proname) FROM function AS f
        UNION
        SELECT pg_catalog.lower(t.typname)
        FROM pg_catalog.pg_type AS t
        JOIN pg_catalog.pg_constraint AS c ON c.contypid = t.oid
        WHERE t.oid >= 16384 AND EXISTS (SELECT FROM function)
    )) AS names,
    EXISTS (SELECT FROM pg_catalog.pg_operator AS o JOIN function AS f ON f.oid = o.oprcode)
    OR EXISTS (SELECT FROM pg_catalog.pg_cast AS c JOIN function AS f ON f.oid = c.castfunc) AS unnamed,
    EXISTS (SELECT FROM pg_catalog.pg_operator WHERE oid >= 16384)
    OR EXISTS (SELECT FROM pg_catalog.pg_cast WHERE oid >= 16384) AS added
