-- Who is shown triggers, and in which schemas: NULL for all. The pattern of a schema is one of LIKE.
SELECT GRANTEE, NULL FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'TRIGGER'
UNION
SELECT GRANTEE, TABLE_SCHEMA FROM information_schema.SCHEMA_PRIVILEGES WHERE PRIVILEGE_TYPE = 'TRIGGER';
