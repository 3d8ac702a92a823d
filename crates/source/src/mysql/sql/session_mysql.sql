-- MySQL's own settings. Statistics are asked of the tables, not of a cache that may be a day old.
SET SESSION
    max_execution_time = 0,
    information_schema_stats_expiry = 0;
