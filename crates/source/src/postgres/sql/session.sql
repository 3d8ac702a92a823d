-- What the connection is to. A function that somebody made may be meant where one of the same name is the database's.
SELECT
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
    )) AS own_functions
