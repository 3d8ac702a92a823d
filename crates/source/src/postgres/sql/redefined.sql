-- What is looked up as it is now, and is not as the snapshot shows it: the labels of enums, the attributes
-- of composite types and, where functions are called, these and all that they may read, whose locks an
-- exception gives back. Of the row that the snapshot shows xmax is the transaction that has replaced or
-- deleted it; it counts if it has committed. Only the lower half of its number is in the row.
SELECT entry.name
FROM (
    SELECT pg_catalog.format_type(enumtypid, NULL) AS name, xmax::text::bigint AS low
    FROM pg_catalog.pg_enum
    UNION ALL
    SELECT c.oid::pg_catalog.regclass::text, a.xmax::text::bigint
    FROM pg_catalog.pg_attribute AS a
    JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
    WHERE c.relkind = 'c'
    UNION ALL
    SELECT oid::pg_catalog.regclass::text, xmax::text::bigint
    FROM pg_catalog.pg_class
    WHERE oid >= 16384 AND (relkind = 'c' OR {calls} AND relkind IN ('r', 'p', 'f', 'v', 'm'))
    UNION ALL
    SELECT oid::pg_catalog.regprocedure::text, xmax::text::bigint
    FROM pg_catalog.pg_proc
    WHERE oid >= 16384 AND {calls}
) AS entry
CROSS JOIN (
    SELECT pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint AS next
) AS snapshot
-- The number with this lower half that is nearest to the snapshot's.
CROSS JOIN LATERAL (
    SELECT entry.low - snapshot.next % 4294967296 AS distance
) AS half
CROSS JOIN LATERAL (
    SELECT snapshot.next + half.distance + CASE
        WHEN half.distance < -2147483648 THEN 4294967296
        WHEN half.distance > 2147483648 THEN -4294967296
        ELSE 0
    END AS number
) AS replacing
WHERE entry.low <> 0
  AND replacing.number > 0
  AND pg_catalog.pg_xact_status(replacing.number::text::pg_catalog.xid8) = 'committed'
ORDER BY 1
LIMIT 1
