-- One row for each relation. Estimates are sums over all tables whose rows it gives: its partitions, and tables that
-- inherit from it. One that was never analysed adds nothing.
, part AS (
    SELECT
        heir.root,
        pg_catalog.sum(
            CASE
                WHEN c.relkind = 'p' OR c.reltuples < 0 THEN NULL
                -- Before version 14 zero also stood for never analysed.
                WHEN c.relpages = 0
                    AND pg_catalog.current_setting('server_version_num')::int < 140000 THEN NULL
                ELSE c.reltuples::numeric
            END
        ) AS tuples,
        pg_catalog.sum(
            CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_table_size(c.oid) END
        ) AS bytes
    FROM heir
    JOIN pg_catalog.pg_class AS c ON c.oid = heir.oid
    GROUP BY heir.root
)
-- What views read, through other views too.
, seen (view, oid, kind) AS (
    SELECT oid, oid, relkind FROM relation WHERE relkind = 'v'
    UNION
    SELECT seen.view, c.oid, c.relkind
    FROM seen
    JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = seen.oid
    JOIN pg_catalog.pg_depend AS d
        ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
        AND d.objid = r.oid
        AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    JOIN pg_catalog.pg_class AS c ON c.oid = d.refobjid
    WHERE seen.kind = 'v'
)
SELECT
    relation.oid::bigint AS oid,
    relation.nspname AS schema,
    relation.relname AS name,
    CASE relation.relkind
        WHEN 'p' THEN 'partitioned'
        WHEN 'v' THEN 'view'
        WHEN 'm' THEN 'materialized_view'
        WHEN 'f' THEN 'foreign'
        ELSE 'table'
    END AS kind,
    -- What belongs to it is told by other queries.
    nothing.list AS columns,
    nothing.list AS primary_key,
    nothing.list AS unique_keys,
    nothing.list AS foreign_keys,
    nothing.list AS indexes,
    relation.relispopulated AS populated,
    -- A partitioned table's keys hold over its partitions.
    CASE WHEN relation.relkind = 'p' THEN nothing.list ELSE coalesce((
        SELECT pg_catalog.json_agg(
            pg_catalog.json_build_object('schema', n.nspname, 'name', c.relname)
            ORDER BY n.nspname, c.relname
        )
        FROM heir
        JOIN pg_catalog.pg_class AS c ON c.oid = heir.oid
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE heir.root = relation.oid AND heir.oid <> relation.oid
    ), nothing.list) END AS heirs,
    EXISTS (
        SELECT FROM heir
        JOIN pg_catalog.pg_class AS c ON c.oid = heir.oid
        WHERE heir.root = relation.oid AND c.relkind = 'f'
    ) AS live,
    pg_catalog.has_table_privilege(relation.oid, 'SELECT') AS whole,
    pg_catalog.has_any_column_privilege(relation.oid, 'SELECT') AS readable,
    -- Behind a view it counts for the view's owner, who may be anybody.
    pg_catalog.row_security_active(relation.oid) OR EXISTS (
        SELECT FROM seen
        JOIN pg_catalog.pg_class AS c ON c.oid = seen.oid
        WHERE seen.view = relation.oid AND c.relrowsecurity
    ) AS row_security,
    pg_catalog.obj_description(relation.oid, 'pg_class') AS comment,
    part.tuples::bigint AS estimated_rows,
    part.bytes::bigint AS estimated_bytes
FROM relation
LEFT JOIN part ON part.root = relation.oid
CROSS JOIN (SELECT '[]'::pg_catalog.json) AS nothing (list)
WHERE relation.visible
