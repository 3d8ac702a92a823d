-- What values of the columns that are read are printed by, which is looked up as it is now, and is not as the snapshot
-- shows it: the labels of enums and the attributes of composite types and rows, within arrays, domains, ranges and other such
-- types too. Of the row that the snapshot shows xmax is the transaction that has replaced or deleted it; it counts if
-- it has committed. Only the lower half of its number is in the row.
WITH RECURSIVE read (type) AS (
    SELECT a.atttypid
    FROM pg_catalog.pg_locks AS held
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = held.relation
    WHERE held.pid = pg_catalog.pg_backend_pid()
      AND held.locktype = 'relation'
      AND held.relation::bigint >= 16384
      AND a.atttypid >= 16384
    UNION
    SELECT within.type
    FROM read
    CROSS JOIN LATERAL (
        SELECT t.typelem AS type FROM pg_catalog.pg_type AS t WHERE t.oid = read.type
        UNION ALL
        SELECT t.typbasetype FROM pg_catalog.pg_type AS t WHERE t.oid = read.type
        UNION ALL
        SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE r.rngtypid = read.type
        UNION ALL
        SELECT a.atttypid
        FROM pg_catalog.pg_type AS t
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.typrelid
        WHERE t.oid = read.type
    ) AS within
    WHERE within.type >= 16384
)
SELECT entry.name
FROM (
    SELECT 'the type ' || n.nspname || '.' || t.typname AS name, part.low
    FROM read
    JOIN pg_catalog.pg_type AS t ON t.oid = read.type
    JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
    JOIN (
        SELECT enumtypid AS type, xmax::text::bigint AS low
        FROM pg_catalog.pg_enum
        UNION ALL
        SELECT c.reltype, a.xmax::text::bigint
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
        UNION ALL
        SELECT reltype, xmax::text::bigint
        FROM pg_catalog.pg_class
    ) AS part ON part.type = t.oid
) AS entry
CROSS JOIN (
    SELECT pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint AS next
) AS snapshot
-- The number with this lower half that is nearest to the snapshot's.
CROSS JOIN LATERAL (
    SELECT snapshot.next + (entry.low - snapshot.next)::bit(32)::int AS number
) AS replacing
WHERE entry.low <> 0
  AND replacing.number > 0
  AND pg_catalog.pg_xact_status(replacing.number::text::pg_catalog.xid8) = 'committed'
ORDER BY 1
LIMIT 1
