-- One row for each index, keys among them. A constraint and its index share a name. An index that
-- is still being built, or whose building failed, proves nothing and is left out. One that tells apart
-- what its column takes for equal is no unique key of that column.
SELECT
    i.indrelid::bigint AS relation,
    c.relname AS name,
    i.indisprimary AS is_primary,
    i.indisunique AS is_unique,
    i.indpred IS NULL AND i.indexprs IS NULL AND NOT part.finer AS plain,
    part.parts
FROM relation
JOIN pg_catalog.pg_index AS i ON i.indrelid = relation.oid
JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
CROSS JOIN LATERAL (
    SELECT pg_catalog.json_agg(
        COALESCE(a.attname, pg_catalog.pg_get_indexdef(i.indexrelid, key.position::int, true))
        ORDER BY key.position
    ) AS parts,
    pg_catalog.bool_or(
        own.collisdeterministic IS FALSE AND i.indcollation[key.position - 1] <> a.attcollation
    ) AS finer
    FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS key (number, position)
    LEFT JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid = i.indrelid AND a.attnum = key.number AND key.number <> 0
    LEFT JOIN pg_catalog.pg_collation AS own ON own.oid = a.attcollation
    WHERE key.position <= i.indnkeyatts
) AS part
WHERE relation.visible AND i.indisvalid
ORDER BY i.indrelid, c.relname
