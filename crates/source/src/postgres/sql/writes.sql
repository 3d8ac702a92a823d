-- Rows that were written, and for how long they are counted: NULL where the counters were never reset.
SELECT t.schemaname AS schema, t.relname AS name, t.n_tup_ins AS inserts, t.n_tup_upd AS updates, t.n_tup_del AS deletes,
    pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - d.stats_reset) AS seconds
FROM pg_catalog.pg_stat_user_tables AS t
JOIN pg_catalog.pg_stat_database AS d ON d.datname = pg_catalog.current_database()
WHERE t.n_tup_ins + t.n_tup_upd + t.n_tup_del > 0
ORDER BY t.schemaname, t.relname
