-- How values are printed.
SET LOCAL client_encoding TO 'UTF8';
SET LOCAL DateStyle TO 'ISO';
SET LOCAL IntervalStyle TO 'iso_8601';
SET LOCAL TimeZone TO 'UTC';
SET LOCAL extra_float_digits TO 1;
SET LOCAL bytea_output TO 'hex';
SET LOCAL quote_all_identifiers TO off;
-- The same table gives its rows in the same order, however busy the server is.
SET LOCAL synchronize_seqscans TO off;
SET LOCAL max_parallel_workers_per_gather TO 0;
-- Compiling a query costs more than the short ones here take.
SET LOCAL jit TO off;
-- A run reads whole tables and may wait for a slow target between rows: limits that an administrator
-- set for an application's short queries would cut it off.
SET LOCAL statement_timeout TO 0;
SET LOCAL idle_in_transaction_session_timeout TO 0;
-- The first query takes the snapshot. It also lifts a limit that only version 17 and later know.
SELECT pg_catalog.set_config(name, '0', true)
FROM pg_catalog.pg_settings
WHERE name = 'transaction_timeout'
