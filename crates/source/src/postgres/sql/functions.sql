-- Functions that somebody has made, as a plan writes a call of them. Those of extensions read no tables.
SELECT DISTINCT pg_catalog.quote_ident(p.proname) || '(' AS name
FROM pg_catalog.pg_proc AS p
WHERE p.oid >= 16384
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
  )
