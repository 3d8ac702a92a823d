-- Which server's which database this is, and how far its transactions are. No transaction in
-- progress below `next` and the same `next` again: none has committed in between. The numbers only
-- count up while the server runs; when it is started or recovers from a crash, which may give the
-- last ones out again, the times change. A standby does not tell its transactions in progress, and
-- foreign tables change without them.
SELECT
    pg_catalog.json_build_array(
        (SELECT system_identifier::text FROM pg_catalog.pg_control_system()),
        pg_catalog.pg_postmaster_start_time(),
        (SELECT stats_reset FROM pg_catalog.pg_stat_bgwriter),
        (SELECT oid::bigint FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()),
        current_user,
        session_user,
        pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text
    )::text AS stamp,
    NOT pg_catalog.pg_is_in_recovery()
        AND (SELECT stats_reset FROM pg_catalog.pg_stat_bgwriter) IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_snapshot_xip(pg_catalog.pg_current_snapshot())
        )
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_foreign_table) AS proves
