-- What the connection is to. A function that somebody made may be meant where one of the same name is the database's,
-- and an operator or a cast that somebody made is called without a name.
SELECT
    'postgres' AS dbms,
    '[]'::pg_catalog.json AS tables,
    pg_catalog.current_setting('server_version') AS version,
    pg_catalog.current_setting('server_version_num')::int AS version_number,
    pg_catalog.current_database() AS database,
    pg_catalog.to_json(pg_catalog.current_schemas(false)) AS search_path,
    pg_catalog.to_json(ARRAY(
        SELECT DISTINCT own.proname::text
        FROM pg_catalog.pg_proc AS own
        JOIN pg_catalog.pg_proc AS plain ON plain.proname = own.proname
        WHERE own.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace
          AND plain.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
        ORDER BY 1
    )) AS own_functions,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_proc AS own
        WHERE own.oid >= 16384
          AND NOT EXISTS (
              SELECT FROM pg_catalog.pg_depend AS d
              WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = own.oid AND d.deptype = 'e'
          )
          AND (
              EXISTS (SELECT FROM pg_catalog.pg_operator AS o WHERE o.oprcode = own.oid)
              OR EXISTS (SELECT FROM pg_catalog.pg_cast AS c WHERE c.castfunc = own.oid)
          )
    ) AS own_operators
