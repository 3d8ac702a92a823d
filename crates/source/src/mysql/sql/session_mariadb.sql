-- MariaDB's own settings. Its subquery cache takes two texts for one that the collation holds equal, and a condition may tell them
-- apart.
SET SESSION
    optimizer_switch = 'subquery_cache=off',
    max_statement_time = 0,
    idle_transaction_timeout = 0,
    idle_readonly_transaction_timeout = 0;
