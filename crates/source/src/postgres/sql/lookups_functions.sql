UNION ALL
-- Functions, but for those of triggers, which cannot be called, and types.
SELECT 'the function', s.nspname || '.' || p.proname, p.oid::text, p.xmin::text
FROM pg_catalog.pg_proc AS p
JOIN schema AS s ON s.oid = p.pronamespace
WHERE p.prorettype NOT IN ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
UNION ALL
SELECT 'the aggregate', s.nspname || '.' || p.proname, p.oid::text, a.xmin::text
FROM pg_catalog.pg_aggregate AS a
JOIN pg_catalog.pg_proc AS p ON p.oid = a.aggfnoid
JOIN schema AS s ON s.oid = p.pronamespace
UNION ALL
SELECT 'the type', t.name, t.oid::text, t.xmin::text
FROM type AS t
UNION ALL
SELECT 'the type', t.name, 'e' || e.oid::text, e.xmin::text
FROM pg_catalog.pg_enum AS e
JOIN type AS t ON t.oid = e.enumtypid
UNION ALL
SELECT 'the type', t.name, 'c' || c.oid::text, c.xmin::text
FROM pg_catalog.pg_constraint AS c
JOIN type AS t ON t.oid = c.contypid
UNION ALL
SELECT 'the type', t.name, 'r' || r.rngtypid::text, r.xmin::text
FROM pg_catalog.pg_range AS r
JOIN type AS t ON t.oid = r.rngtypid
UNION ALL
SELECT 'the type', s.nspname || '.' || c.relname, 'k' || c.oid::text, c.xmin::text
FROM pg_catalog.pg_class AS c
JOIN schema AS s ON s.oid = c.relnamespace
WHERE c.relkind = 'c'
UNION ALL
SELECT 'the type', s.nspname || '.' || c.relname, 'a' || c.oid::text || ' ' || a.attnum::text, a.xmin::text
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
JOIN schema AS s ON s.oid = c.relnamespace
WHERE c.relkind = 'c'
UNION ALL
-- Whose policies hold for the user.
SELECT 'the role', m.roleid::pg_catalog.regrole::text, m.roleid::text || ' ' || m.member::text, m.xmin::text
FROM pg_catalog.pg_auth_members AS m
WHERE pg_catalog.pg_has_role(m.member, 'MEMBER')
UNION ALL
-- Settings of the user and the database, which may have any name.
SELECT 'the setting', 'of a role or a database', s.setdatabase::text || ' ' || s.setrole::text, s.xmin::text
FROM pg_catalog.pg_db_role_setting AS s
JOIN pg_catalog.pg_database AS d ON s.setdatabase IN (0, d.oid) AND d.datname = pg_catalog.current_database()
WHERE s.setrole = 0 OR s.setrole = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user)
