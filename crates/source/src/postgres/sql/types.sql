-- The types `{oids}` and all that they are made of, each once.
WITH RECURSIVE needed (oid) AS (
    SELECT pg_catalog.unnest(ARRAY[{oids}]::pg_catalog.oid[])
    UNION
    SELECT part.oid
    FROM needed
    JOIN pg_catalog.pg_type AS t ON t.oid = needed.oid
    CROSS JOIN LATERAL (
        SELECT t.typbasetype WHERE t.typtype = 'd'
        UNION ALL
        SELECT t.typelem WHERE t.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc
        UNION ALL
        SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE r.rngtypid = t.oid
        UNION ALL
        -- Version 13 has no multiranges and no such column.
        SELECT r.rngsubtype
        FROM pg_catalog.pg_range AS r
        WHERE t.typtype = 'm'
          AND (pg_catalog.to_jsonb(r) ->> 'rngmultitypid')::bigint = t.oid::bigint
        UNION ALL
        SELECT a.atttypid
        FROM pg_catalog.pg_attribute AS a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    ) AS part (oid)
)
SELECT
    t.oid::bigint AS oid,
    t.typname AS name,
    pg_catalog.format_type(t.oid, NULL) AS declared,
    t.typtype AS kind,
    t.typcategory AS category,
    t.typdelim AS delimiter,
    CASE WHEN t.typtype = 'd' THEN t.typbasetype::bigint END AS base,
    t.typtypmod AS base_modifier,
    CASE
        WHEN t.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc THEN t.typelem::bigint
    END AS element,
    (
        SELECT r.rngsubtype::bigint
        FROM pg_catalog.pg_range AS r
        WHERE r.rngtypid = t.oid
           OR (
               t.typtype = 'm'
               AND (pg_catalog.to_jsonb(r) ->> 'rngmultitypid')::bigint = t.oid::bigint
           )
    ) AS bound,
    (
        SELECT pg_catalog.json_agg(e.enumlabel ORDER BY e.enumsortorder)
        FROM pg_catalog.pg_enum AS e
        WHERE e.enumtypid = t.oid
    ) AS labels,
    (
        SELECT pg_catalog.json_agg(
            pg_catalog.json_build_array(a.attname, a.atttypid::bigint, a.atttypmod)
            ORDER BY a.attnum
        )
        FROM pg_catalog.pg_attribute AS a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    ) AS fields
FROM needed
JOIN pg_catalog.pg_type AS t ON t.oid = needed.oid
