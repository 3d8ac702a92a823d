-- For how long statements are counted, and how often one was forgotten for want of room.
SELECT pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - i.stats_reset) AS seconds, i.dealloc AS dropped
FROM EXTENSION.pg_stat_statements_info AS i
