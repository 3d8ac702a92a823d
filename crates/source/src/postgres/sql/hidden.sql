-- Schemas that the user may not look into, and how much is in them.
SELECT nspname AS schema, pg_catalog.count(*) AS tables
FROM relation
WHERE NOT visible
GROUP BY nspname
ORDER BY nspname
