-- What the connection is to.
SELECT
    pg_catalog.current_setting('server_version') AS version,
    pg_catalog.current_setting('server_version_num')::int AS version_number,
    pg_catalog.current_database() AS database,
    pg_catalog.to_json(pg_catalog.current_schemas(false)) AS search_path
