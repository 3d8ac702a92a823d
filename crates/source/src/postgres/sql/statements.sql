-- The statements of this database, those with the most calls first. The texts of other users' statements are shown to members of
-- pg_read_all_stats alone, and are NULL or these words otherwise.
SELECT nullif(s.query, '<insufficient privilege>') AS sql, s.calls AS calls
FROM EXTENSION.pg_stat_statements(true) AS s
WHERE s.dbid = (
    SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()
)
ORDER BY s.calls DESC, s.query
