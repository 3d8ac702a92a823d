-- How many values columns have, by MySQL's histograms: a bucket for each value, or the numbers of values of buckets; and the share of the
-- rows with NULL.
SELECT SCHEMA_NAME, TABLE_NAME, COLUMN_NAME,
    CAST(JSON_LENGTH(HISTOGRAM, '$.buckets') AS CHAR),
    CAST(JSON_EXTRACT(HISTOGRAM, '$.buckets[*][3]') AS CHAR),
    CAST(JSON_EXTRACT(HISTOGRAM, '$."null-values"') AS CHAR)
FROM information_schema.COLUMN_STATISTICS;
