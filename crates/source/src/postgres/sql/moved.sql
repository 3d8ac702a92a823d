-- Relations that this transaction has locked and that its snapshot does not show as they are now: they
-- were made, emptied, rewritten or renamed since it was taken. pg_class is read in the snapshot; the
-- functions tell what there is now. What comes with the server has numbers below 16384.
SELECT held.relation::pg_catalog.regclass::text AS name
FROM pg_catalog.pg_locks AS held
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = held.relation
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE held.pid = pg_catalog.pg_backend_pid()
  AND held.locktype = 'relation'
  AND held.relation::bigint >= 16384
  -- Indexes may come and go: they decide on no row.
  AND pg_catalog.pg_get_indexdef(held.relation) IS NULL
  AND (
      c.oid IS NULL
      OR c.relfilenode <> 0
          AND c.relfilenode IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid)
      OR pg_catalog.has_schema_privilege(n.oid, 'USAGE')
          AND c.oid IS DISTINCT FROM pg_catalog.to_regclass(
              pg_catalog.format('%I.%I', n.nspname, c.relname)
          )
  )
