-- What holds for the whole session. The limits are lifted because a run reads whole tables and may
-- wait for a slow target between rows: without that the server would cut the result short or end
-- the connection.
SET SESSION TRANSACTION READ ONLY;
SET SESSION
    sql_select_limit = 18446744073709551615,
    sql_big_selects = 1,
    net_write_timeout = 86400,
    wait_timeout = 604800;
