-- What one table, of schema {schema} and name {name}, can be cut by: its first unique key over plain
-- columns that are not NULL, in the order that its columns' comparison has too; and its pages.
SELECT
    c.relkind AS kind,
    c.relkind <> 'p' AND EXISTS (
        SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = c.oid
    ) AS inherited,
    pg_catalog.pg_relation_size(c.oid)
        / pg_catalog.current_setting('block_size')::bigint AS pages,
    pg_catalog.current_setting('server_version_num')::int AS version,
    key.columns,
    key.integers
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN LATERAL (
    SELECT
        pg_catalog.json_agg(a.attname ORDER BY part.place) AS columns,
        pg_catalog.json_agg(
            t.typname IN ('int2', 'int4', 'int8') AND t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace
            ORDER BY part.place
        ) AS integers
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
    JOIN pg_catalog.pg_am AS m ON m.oid = x.relam
    CROSS JOIN LATERAL ROWS FROM (
        pg_catalog.unnest(i.indkey::int2[]),
        pg_catalog.unnest(i.indclass::pg_catalog.oid[]),
        pg_catalog.unnest(i.indcollation::pg_catalog.oid[]),
        pg_catalog.unnest(i.indoption::int2[])
    ) WITH ORDINALITY AS part (attribute, class, ordered, direction, place)
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = part.attribute
    JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
    JOIN pg_catalog.pg_type AS base
        ON base.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
    LEFT JOIN pg_catalog.pg_opclass AS o ON o.oid = part.class
    WHERE i.indrelid = c.oid
      AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND m.amname = 'btree'
      AND part.place <= i.indnkeyatts
    GROUP BY i.indexrelid, i.indisprimary
    HAVING pg_catalog.bool_and(
        a.attnotnull
        AND o.opcdefault AND o.oid < 16384
        -- An operator that somebody made for the type would be called instead of the index's.
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_operator AS own
            WHERE own.oid >= 16384 AND own.oprname IN ('<', '<=', '=', '>=', '>')
              AND (own.oprleft IN (t.oid, base.oid) OR own.oprright IN (t.oid, base.oid))
        )
        -- Others may not compare with a literal, and what they print may change. `regclass` and its like compare as
        -- numbers, and are read as the names of what they number.
        AND (
            base.typtype = 'e'
            OR base.typtype = 'b'
               AND base.typnamespace = 'pg_catalog'::pg_catalog.regnamespace
               AND base.typname !~ '^_?reg'
        )
        AND part.direction = 0
        AND part.ordered = a.attcollation
        AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
    )
    ORDER BY i.indisprimary DESC, pg_catalog.count(*), i.indexrelid
    LIMIT 1
) AS key ON true
WHERE n.nspname = {schema} AND c.relname = {name}
