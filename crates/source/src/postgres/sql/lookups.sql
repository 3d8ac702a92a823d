-- What names and operators in SQL are looked up in, as it is now and whatever the snapshot shows: who has written the
-- entry of each object. Two looks that give the same have found the same objects, but for one that was made and dropped
-- in between. What is temporary is another session's. `reach` is 1 for what operators look up, 2 for what calls of
-- functions look up too, and 3 for what functions that somebody has made may read.
SELECT
    object.kind, pg_catalog.concat_ws('.', s.nspname, object.name) AS name,
    object.key::text AS key, object.xmin::text AS writer
FROM (
    SELECT 1 AS reach, 'the operator' AS kind, oprname::text AS name, oprnamespace AS schema, oid::text AS key, xmin
    FROM pg_catalog.pg_operator
    UNION ALL
    SELECT 1, 'the operator class', opcname, opcnamespace, oid::text, xmin
    FROM pg_catalog.pg_opclass
    UNION ALL
    SELECT 1, 'the operator family', f.opfname, f.opfnamespace, 'o' || a.oid, a.xmin
    FROM pg_catalog.pg_amop AS a
    JOIN pg_catalog.pg_opfamily AS f ON f.oid = a.amopfamily
    UNION ALL
    SELECT 1, 'the operator family', f.opfname, f.opfnamespace, 'p' || a.oid, a.xmin
    FROM pg_catalog.pg_amproc AS a
    JOIN pg_catalog.pg_opfamily AS f ON f.oid = a.amprocfamily
    UNION ALL
    SELECT 1, 'the cast', a.typname || ' to ' || n.nspname || '.' || b.typname, a.typnamespace, c.oid::text, c.xmin
    FROM pg_catalog.pg_cast AS c
    JOIN pg_catalog.pg_type AS a ON a.oid = c.castsource
    JOIN pg_catalog.pg_type AS b ON b.oid = c.casttarget
    JOIN pg_catalog.pg_namespace AS n ON n.oid = b.typnamespace
    UNION ALL
    SELECT 1, 'the collation', collname, collnamespace, oid::text, xmin
    FROM pg_catalog.pg_collation
    UNION ALL
    SELECT 1, 'the text search configuration', cfgname, cfgnamespace, oid::text, xmin
    FROM pg_catalog.pg_ts_config
    UNION ALL
    SELECT
        1, 'the text search configuration', c.cfgname, c.cfgnamespace,
        pg_catalog.concat_ws(' ', 'm', m.mapcfg, m.maptokentype, m.mapseqno), m.xmin
    FROM pg_catalog.pg_ts_config_map AS m
    JOIN pg_catalog.pg_ts_config AS c ON c.oid = m.mapcfg
    UNION ALL
    SELECT 1, 'the text search dictionary', dictname, dictnamespace, oid::text, xmin
    FROM pg_catalog.pg_ts_dict
    UNION ALL
    SELECT 1, 'the text search parser', prsname, prsnamespace, oid::text, xmin
    FROM pg_catalog.pg_ts_parser
    UNION ALL
    SELECT 1, 'the text search template', tmplname, tmplnamespace, oid::text, xmin
    FROM pg_catalog.pg_ts_template
    UNION ALL
    -- Schemas in which names are looked up without one, and those with functions.
    SELECT 1, 'the schema', nspname, NULL, oid::text, xmin
    FROM pg_catalog.pg_namespace
    WHERE nspname = ANY (pg_catalog.current_schemas(false))
       OR nspname !~ '^pg_(temp_|toast)' AND oid IN (SELECT pronamespace FROM pg_catalog.pg_proc)
    UNION ALL
    -- Tables of one name that are looked up without a schema, whoever has written them.
    SELECT 1, 'the table', same.relname, same.relnamespace, same.oid::text, '0'::pg_catalog.xid
    FROM (
        SELECT c.relname, c.relnamespace, c.oid, pg_catalog.count(*) OVER (PARTITION BY c.relname) AS tables
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
          AND n.nspname = ANY (pg_catalog.current_schemas(true))
          AND n.nspname !~ '^pg_temp_'
    ) AS same
    WHERE same.tables > 1
    UNION ALL
    -- But for those of triggers, which cannot be called.
    SELECT 2, 'the function', proname, pronamespace, oid::text, xmin
    FROM pg_catalog.pg_proc
    WHERE prorettype NOT IN ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
    UNION ALL
    SELECT 2, 'the aggregate', p.proname, p.pronamespace, p.oid::text, a.xmin
    FROM pg_catalog.pg_aggregate AS a
    JOIN pg_catalog.pg_proc AS p ON p.oid = a.aggfnoid
    UNION ALL
    -- Neither the rows of tables nor arrays, which are as what is in them.
    SELECT 2, 'the type', t.typname, t.typnamespace, part.key, part.xmin
    FROM pg_catalog.pg_type AS t
    LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid
    JOIN (
        SELECT oid AS type, oid::text AS key, xmin FROM pg_catalog.pg_type
        UNION ALL
        SELECT enumtypid, 'e' || oid, xmin FROM pg_catalog.pg_enum
        UNION ALL
        SELECT contypid, 'c' || oid, xmin FROM pg_catalog.pg_constraint
        UNION ALL
        SELECT rngtypid, 'r' || rngtypid, xmin FROM pg_catalog.pg_range
        UNION ALL
        SELECT reltype, 'k' || oid, xmin FROM pg_catalog.pg_class WHERE relkind = 'c'
        UNION ALL
        SELECT of.reltype, pg_catalog.concat_ws(' ', 'a', of.oid, a.attnum), a.xmin
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS of ON of.oid = a.attrelid AND of.relkind = 'c'
    ) AS part ON part.type = t.oid
    WHERE (t.typrelid = 0 OR c.relkind = 'c')
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_type AS of WHERE of.typarray = t.oid)
    UNION ALL
    -- Whose policies hold for the user, and whether row security does. A superuser is a member of every role, and none of
    -- their policies holds for it.
    SELECT 2, 'the role', m.roleid::pg_catalog.regrole::text, NULL, pg_catalog.concat_ws(' ', m.roleid, m.member), m.xmin
    FROM pg_catalog.pg_auth_members AS m
    JOIN pg_catalog.pg_roles AS reader ON reader.rolname = current_user AND NOT reader.rolsuper
    WHERE pg_catalog.pg_has_role(m.member, 'MEMBER')
    UNION ALL
    SELECT
        2, 'the role', r.rolname::text, NULL, pg_catalog.concat_ws(' ', r.oid, r.rolsuper, r.rolbypassrls),
        '0'::pg_catalog.xid
    FROM pg_catalog.pg_roles AS r
    JOIN pg_catalog.pg_roles AS reader ON reader.rolname = current_user
    WHERE r.oid = reader.oid OR NOT reader.rolsuper AND pg_catalog.pg_has_role(r.oid, 'MEMBER')
    UNION ALL
    -- Settings of the user and the database, which may have any name.
    SELECT 2, 'the setting', 'of a role or a database', NULL, pg_catalog.concat_ws(' ', s.setdatabase, s.setrole), s.xmin
    FROM pg_catalog.pg_db_role_setting AS s
    JOIN pg_catalog.pg_database AS d ON s.setdatabase IN (0, d.oid) AND d.datname = pg_catalog.current_database()
    WHERE s.setrole = 0 OR s.setrole = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user)
    UNION ALL
    -- With their columns, views' queries, policies and heirs: a function may give back the locks of what it has read.
    SELECT 3, 'the table', c.relname, c.relnamespace, part.key || ' ' || c.oid, part.xmin
    FROM pg_catalog.pg_class AS c
    JOIN (
        SELECT oid AS relation, 't' AS key, xmin FROM pg_catalog.pg_class
        UNION ALL
        SELECT attrelid, 'a' || attnum, xmin FROM pg_catalog.pg_attribute
        UNION ALL
        SELECT ev_class, 'v' || oid, xmin FROM pg_catalog.pg_rewrite
        UNION ALL
        SELECT polrelid, 'p' || oid, xmin FROM pg_catalog.pg_policy
        UNION ALL
        SELECT inhparent, 'h' || inhrelid, xmin FROM pg_catalog.pg_inherits
    ) AS part ON part.relation = c.oid
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND c.relpersistence <> 't'
) AS object
LEFT JOIN pg_catalog.pg_namespace AS s ON s.oid = object.schema
WHERE object.reach <= {reach} AND (object.schema IS NULL OR s.nspname !~ '^pg_(temp_|toast)')
