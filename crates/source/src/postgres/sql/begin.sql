-- Everything is said within a transaction and for that transaction only: behind a pooler that lends
-- connections out per transaction, a session setting would stay with the next one's connection.
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
