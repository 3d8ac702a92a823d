-- The statements of the connected database, of all users, with `?` for their values. Those for which there was no room are
-- counted under NULL.
SELECT DIGEST_TEXT, CAST(COUNT_STAR AS CHAR)
FROM performance_schema.events_statements_summary_by_digest
WHERE COUNT_STAR > 0 AND (SCHEMA_NAME = DATABASE() OR DIGEST_TEXT IS NULL)
ORDER BY COUNT_STAR DESC;
