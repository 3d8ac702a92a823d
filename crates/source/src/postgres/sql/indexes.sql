-- What each type, and each domain over it, is compared as.
, based (oid, base) AS (
    SELECT oid, oid FROM pg_catalog.pg_type WHERE typtype <> 'd'
    UNION ALL
    SELECT t.oid, based.base
    FROM based
    JOIN pg_catalog.pg_type AS t ON t.typbasetype = based.oid AND t.typtype = 'd'
)
-- What each operator class takes for equal (strategy 3 of a B-tree).
, equality (class, method, type, is_default, operator) AS (
    SELECT class.oid, class.opcmethod, class.opcintype, class.opcdefault, member.amopopr
    FROM pg_catalog.pg_opclass AS class
    JOIN pg_catalog.pg_amop AS member
        ON member.amopfamily = class.opcfamily
        AND member.amoplefttype = class.opcintype
        AND member.amoprighttype = class.opcintype
        AND member.amopstrategy = 3
)
-- One row for each index, keys among them. A constraint and its index share a name. An index that
-- is still being built, or whose building failed, proves nothing and is left out. One that tells apart
-- what its column takes for equal is no unique key of that column; one that takes more for equal is a coarse one. A deferrable key is kept by a trigger, which a session
-- may switch off, and an operator class that somebody made compares as they like: both may be so of a partition alone.
SELECT
    i.indrelid::bigint AS relation,
    c.relname AS name,
    i.indisprimary AS is_primary,
    i.indisunique AS unique,
    i.indpred IS NULL AND i.indexprs IS NULL AND NOT part.finer AS plain,
    EXISTS (
        SELECT
        FROM (
            SELECT i.indexrelid AS relid
            UNION ALL
            SELECT relid FROM pg_catalog.pg_partition_tree(i.indexrelid)
        ) AS tree
        JOIN pg_catalog.pg_index AS own ON own.indexrelid = tree.relid
        CROSS JOIN LATERAL pg_catalog.unnest(own.indclass::oid[]) AS class (id)
        WHERE NOT own.indimmediate OR class.id >= 16384 AND NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_depend AS d
            WHERE d.classid = 'pg_catalog.pg_opclass'::pg_catalog.regclass
              AND d.objid = class.id AND d.deptype = 'e'
        )
    ) AS lax,
    part.coarse,
    coalesce((pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false) AS nulls_equal,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid, true) AS condition,
    part.parts AS columns
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
        OR class.operator IS DISTINCT FROM coalesce(of_column.operator, of_class.operator)
    ) AS finer,
    coalesce(pg_catalog.bool_or(
        of_index.collisdeterministic IS FALSE AND own.collisdeterministic IS NOT FALSE
    ), false) AS coarse
    FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS key (number, position)
    LEFT JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid = i.indrelid AND a.attnum = key.number AND key.number <> 0
    LEFT JOIN pg_catalog.pg_collation AS own ON own.oid = a.attcollation
    LEFT JOIN pg_catalog.pg_collation AS of_index ON of_index.oid = i.indcollation[key.position - 1]
    LEFT JOIN based ON based.oid = a.atttypid
    LEFT JOIN equality AS class ON class.class = i.indclass[key.position - 1]
    LEFT JOIN equality AS of_column
        ON of_column.type = based.base AND of_column.method = class.method AND of_column.is_default
    LEFT JOIN equality AS of_class
        ON of_class.type = class.type AND of_class.method = class.method AND of_class.is_default
    WHERE key.position <= i.indnkeyatts
) AS part
WHERE relation.visible AND i.indisvalid
ORDER BY i.indrelid, c.relname
