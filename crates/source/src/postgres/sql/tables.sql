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
-- What views read, through other views too, and as whom: as the view's owner, or since version 15 perhaps as the user.
, seen (view, oid, kind, reader) AS (
    SELECT oid, oid, relkind, NULL::pg_catalog.oid FROM relation WHERE relkind = 'v'
    UNION
    SELECT
        seen.view,
        c.oid,
        c.relkind,
        CASE
            WHEN EXISTS (
                SELECT FROM pg_catalog.pg_options_to_table(v.reloptions) AS o
                WHERE o.option_name = 'security_invoker' AND o.option_value::boolean
            ) THEN pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid
            ELSE v.relowner
        END
    FROM seen
    JOIN pg_catalog.pg_class AS v ON v.oid = seen.oid
    JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = seen.oid
    JOIN pg_catalog.pg_depend AS d
        ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
        AND d.objid = r.oid
        AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    JOIN pg_catalog.pg_class AS c ON c.oid = d.refobjid
    WHERE seen.kind = 'v'
)
-- Constraints that are conditions on a row or between rows: those of a partition alone are left out. Only version 18 knows
-- that one is not enforced.
, condition (relation, exclusions, checks) AS (
    SELECT
        k.conrelid,
        pg_catalog.json_agg(part.said ORDER BY k.conname) FILTER (WHERE k.contype = 'x'),
        pg_catalog.json_agg(part.said ORDER BY k.conname) FILTER (WHERE k.contype = 'c')
    FROM pg_catalog.pg_constraint AS k
    CROSS JOIN LATERAL (
        SELECT pg_catalog.json_build_object(
            'name', k.conname,
            'expression', CASE k.contype
                WHEN 'x' THEN pg_catalog.pg_get_constraintdef(k.oid, true)
                ELSE pg_catalog.pg_get_expr(k.conbin, k.conrelid, true)
            END,
            'enforcement', CASE
                WHEN NOT coalesce((pg_catalog.to_jsonb(k) ->> 'conenforced')::boolean, true) THEN 'not_enforced'
                WHEN NOT k.convalidated THEN 'not_valid'
                ELSE 'enforced'
            END
        )
    ) AS part (said)
    WHERE k.contype IN ('x', 'c')
    GROUP BY k.conrelid
)
-- Triggers that are not switched off, but for those that keep foreign keys. The bits of their type are those of the
-- server's pg_trigger.h.
, fired (relation, triggers) AS (
    SELECT
        t.tgrelid,
        pg_catalog.json_agg(
            pg_catalog.json_build_object(
                'name', t.tgname,
                'event', pg_catalog.concat(
                    CASE
                        WHEN t.tgtype & 2 <> 0 THEN 'BEFORE '
                        WHEN t.tgtype & 64 <> 0 THEN 'INSTEAD OF '
                        ELSE 'AFTER '
                    END,
                    pg_catalog.concat_ws(
                        ' OR ',
                        CASE WHEN t.tgtype & 4 <> 0 THEN 'INSERT' END,
                        CASE WHEN t.tgtype & 16 <> 0 THEN 'UPDATE' END,
                        CASE WHEN t.tgtype & 8 <> 0 THEN 'DELETE' END,
                        CASE WHEN t.tgtype & 32 <> 0 THEN 'TRUNCATE' END
                    )
                )
            )
            ORDER BY t.tgname
        )
    FROM pg_catalog.pg_trigger AS t
    WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
    GROUP BY t.tgrelid
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
    coalesce(condition.checks, nothing.list) AS checks,
    coalesce(condition.exclusions, nothing.list) AS exclusions,
    coalesce(fired.triggers, nothing.list) AS triggers,
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
    -- Behind a view it counts for who reads there, by the rules of row_security_active(). What functions read is not known.
    pg_catalog.row_security_active(relation.oid) OR EXISTS (
        SELECT FROM seen
        JOIN pg_catalog.pg_class AS c ON c.oid = seen.oid
        JOIN pg_catalog.pg_roles AS reader ON reader.oid = seen.reader
        WHERE seen.view = relation.oid
            AND c.relrowsecurity
            AND NOT (reader.rolsuper OR reader.rolbypassrls)
            AND (c.relforcerowsecurity OR NOT pg_catalog.pg_has_role(reader.oid, c.relowner, 'USAGE'))
    ) OR EXISTS (
        SELECT FROM seen
        JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = seen.oid
        JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
            AND d.objid = r.oid
            AND d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
        WHERE seen.view = relation.oid AND seen.kind = 'v'
    ) AND EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.relrowsecurity) AS row_security,
    pg_catalog.obj_description(relation.oid, 'pg_class') AS comment,
    part.tuples::bigint AS estimated_rows,
    part.bytes::bigint AS estimated_bytes
FROM relation
LEFT JOIN part ON part.root = relation.oid
LEFT JOIN condition ON condition.relation = relation.oid
LEFT JOIN fired ON fired.relation = relation.oid
CROSS JOIN (SELECT '[]'::pg_catalog.json) AS nothing (list)
WHERE relation.visible
