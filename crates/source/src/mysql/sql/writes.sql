-- Rows that were written since the server started, or the table was emptied.
SELECT OBJECT_SCHEMA, OBJECT_NAME, CAST(COUNT_INSERT AS CHAR), CAST(COUNT_UPDATE AS CHAR), CAST(COUNT_DELETE AS CHAR)
FROM performance_schema.table_io_waits_summary_by_table
WHERE OBJECT_SCHEMA = DATABASE() AND COUNT_INSERT + COUNT_UPDATE + COUNT_DELETE > 0
ORDER BY OBJECT_NAME;
