-- Roles that the user was granted and that the session has not switched on: what they may read is hidden.
SELECT DISTINCT a.ROLE_NAME
FROM information_schema.APPLICABLE_ROLES AS a
WHERE NOT EXISTS (SELECT 1 FROM information_schema.ENABLED_ROLES AS e WHERE e.ROLE_NAME = a.ROLE_NAME)
ORDER BY a.ROLE_NAME;
