-- Sequences that this transaction has read: what they hold is of the moment. Locks of what read them are still held.
SELECT held.relation::pg_catalog.regclass::text AS name
FROM pg_catalog.pg_locks AS held
JOIN pg_catalog.pg_class AS c ON c.oid = held.relation
WHERE held.pid = pg_catalog.pg_backend_pid()
  AND held.locktype = 'relation'
  AND c.relkind = 'S'
LIMIT 1
