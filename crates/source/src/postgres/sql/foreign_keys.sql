-- One row for each foreign key, columns in key order. What partitions declare one by one is taken as
-- their table's, once, even where not all of them have it: it says how the tables are related, and
-- nothing relies on every row's having its parent. What a foreign key to a partitioned table makes
-- for each of that table's partitions is left out.
, pair AS (
    SELECT
        member.root,
        member.oid = member.root AS own,
        member.oid,
        k.conname,
        CASE k.confdeltype
            WHEN 'c' THEN 'cascade'
            WHEN 'n' THEN 'set_null'
            WHEN 'd' THEN 'set_default'
            ELSE 'no_action'
        END AS on_delete,
        CASE k.confupdtype
            WHEN 'c' THEN 'cascade'
            WHEN 'n' THEN 'set_null'
            WHEN 'd' THEN 'set_default'
            ELSE 'no_action'
        END AS on_update,
        k.convalidated,
        -- Version 18 knows constraints that are not enforced; in all, the triggers that enforce them can be disabled.
        coalesce((pg_catalog.to_jsonb(k) ->> 'conenforced')::boolean, true)
            AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_trigger AS t
                WHERE t.tgconstraint = k.oid AND t.tgenabled IN ('D', 'R')
            ) AS enforced,
        n.nspname,
        c.relname,
        side.ours,
        side.theirs
    FROM member
    JOIN pg_catalog.pg_constraint AS k ON k.conrelid = member.oid AND k.contype = 'f'
    JOIN pg_catalog.pg_class AS c ON c.oid = k.confrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
        SELECT
            pg_catalog.array_agg(our.attname::text ORDER BY key.position) AS ours,
            pg_catalog.array_agg(their.attname::text ORDER BY key.position) AS theirs
        FROM ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey))
            WITH ORDINALITY AS key (our, their, position)
        JOIN pg_catalog.pg_attribute AS our
            ON our.attrelid = k.conrelid AND our.attnum = key.our
        JOIN pg_catalog.pg_attribute AS their
            ON their.attrelid = k.confrelid AND their.attnum = key.their
    ) AS side
    WHERE (member.oid = member.root AND k.conparentid = 0)
       OR (member.oid <> member.root AND member.kind <> 'p' AND NOT c.relispartition)
)
SELECT
    pair.root::bigint AS relation,
    COALESCE(
        pg_catalog.min(pair.conname::text) FILTER (WHERE pair.own),
        pg_catalog.min(pair.conname::text)
    ) AS name,
    pair.ours AS columns,
    pg_catalog.json_build_object('schema', pair.nspname, 'name', pair.relname) AS references,
    pair.theirs AS referenced_columns,
    pg_catalog.max(pair.on_delete) AS on_delete,
    pg_catalog.max(pair.on_update) AS on_update,
    CASE
        WHEN NOT pg_catalog.bool_and(pair.enforced) THEN 'not_enforced'
        WHEN NOT pg_catalog.bool_and(pair.convalidated) THEN 'not_valid'
        ELSE 'enforced'
    END AS enforcement
FROM pair
GROUP BY pair.root, pair.nspname, pair.relname, pair.ours, pair.theirs
ORDER BY relation, name
