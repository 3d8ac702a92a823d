-- The server's process behind this transaction, and the server and snapshot that it is at.
SELECT
    pg_catalog.pg_backend_pid() AS process,
    (
        SELECT a.backend_start::text
        FROM pg_catalog.pg_stat_activity AS a
        WHERE a.pid = pg_catalog.pg_backend_pid()
    ) AS started,
    pg_catalog.pg_postmaster_start_time()::text AS server_started,
    (EXTRACT(epoch FROM pg_catalog.pg_conf_load_time()) * 1000000)::bigint AS configured,
    pg_catalog.pg_current_snapshot()::text AS snapshot,
    current_user::text AS "user",
    pg_catalog.has_function_privilege('pg_catalog.pg_export_snapshot()', 'EXECUTE') AS exports
