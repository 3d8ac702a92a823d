-- What holds for the whole session. The limits are lifted because a run reads whole tables and may
-- wait for a slow target between rows: without that the server would cut the result short or end
-- the connection. Rows are sorted by whole keys: an index takes 3072 bytes, which a collation may weigh
-- with four times as many; by default two keys that differ behind 1024 bytes would be sorted as one.
-- Where the server's autocommit is off, the first look at the schema would begin a transaction.
SET SESSION TRANSACTION READ ONLY;
SET SESSION
    autocommit = 1,
    sql_select_limit = 18446744073709551615,
    sql_big_selects = 1,
    max_sort_length = 16384,
    net_write_timeout = 86400,
    wait_timeout = 604800;
