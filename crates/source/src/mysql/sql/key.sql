-- The unique keys of one table, of schema {schema} and name {name}, the primary key first: a row for
-- each key part. Of an expression there is no column, of a prefix there is a length.
SELECT s.INDEX_NAME, s.COLUMN_NAME, c.COLUMN_TYPE,
    s.SUB_PART IS NULL AND s.NULLABLE = '' AND s.COLLATION = 'A' AND s.INDEX_TYPE = 'BTREE'
        AND FIND_IN_SET('select', c.PRIVILEGES) > 0
FROM information_schema.STATISTICS AS s
LEFT JOIN information_schema.COLUMNS AS c
    ON c.TABLE_SCHEMA = s.TABLE_SCHEMA AND c.TABLE_NAME = s.TABLE_NAME AND c.COLUMN_NAME = s.COLUMN_NAME
WHERE s.TABLE_SCHEMA = {schema} AND s.TABLE_NAME = {name} AND s.NON_UNIQUE = 0
ORDER BY s.INDEX_NAME <> 'PRIMARY', s.INDEX_NAME, s.SEQ_IN_INDEX;
