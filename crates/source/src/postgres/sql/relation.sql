-- The relations that are listed, and the partitions that each of them stands for (itself among
-- them); the other queries start from here. What an extension brings is left to the extension.
WITH RECURSIVE relation AS (
    SELECT
        c.oid,
        n.nspname,
        c.relname,
        c.relkind,
        c.relispopulated,
        pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS visible
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT c.relispartition
      AND n.nspname !~ '^pg_'
      AND n.nspname <> 'information_schema'
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend AS d
          WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
            AND d.objid = c.oid
            AND d.deptype = 'e'
      )
)
, member (root, oid, kind) AS (
    SELECT oid, oid, relkind FROM relation WHERE visible AND relkind IN ('r', 'p', 'm', 'f')
    UNION ALL
    SELECT member.root, c.oid, c.relkind
    FROM member
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent = member.oid
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
    WHERE c.relispartition
)
-- Every relation whose rows a relation gives: itself, partitions, tables that inherit.
, heir (root, oid) AS (
    SELECT oid, oid FROM relation
    UNION
    SELECT heir.root, i.inhrelid
    FROM heir
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent = heir.oid
)
