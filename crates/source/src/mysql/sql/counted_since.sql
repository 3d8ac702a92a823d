-- For how long statements are counted: since the first of them was seen after the table was emptied.
SELECT CAST(TIMESTAMPDIFF(MICROSECOND, MIN(FIRST_SEEN), NOW(6)) / 1000000 AS CHAR)
FROM performance_schema.events_statements_summary_by_digest
WHERE COUNT_STAR > 0;
