-- MariaDB's own settings.
SET SESSION
    max_statement_time = 0,
    idle_transaction_timeout = 0,
    idle_readonly_transaction_timeout = 0;
