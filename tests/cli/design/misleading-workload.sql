-- signIn (50/s) e-mail regardless of case
SELECT id, active FROM accounts WHERE tenant_id = :t AND email = :email;
-- handle (10/s) a key that may be NULL
SELECT id FROM accounts WHERE handle = :handle;
-- activeAccounts (5/s) those of a tenant who are not deleted
SELECT id, email FROM accounts WHERE tenant_id = :t AND deleted_at IS NULL AND active = TRUE ORDER BY email;
-- doc (400/s)
SELECT id, title, body FROM documents WHERE id = :id;
-- docHead (300/s) without the body
SELECT id, title, size, updated_at FROM documents WHERE id = :id;
-- docsOfFolder (200/s) without the body
SELECT id, title, size, updated_at FROM documents WHERE folder_id = :f AND state <> 'DELETED' ORDER BY title LIMIT 50;
-- mostViewed (5/s) a ranking that writes forbid
SELECT id, title, view_count FROM documents WHERE folder_id = :f ORDER BY view_count DESC LIMIT 10;
-- recentlyViewed (1/s)
SELECT id, title FROM documents ORDER BY last_viewed DESC LIMIT 20;
-- subfolders (80/s)
SELECT id, name FROM folders WHERE parent_id = :p ORDER BY name;
-- rootFolders (40/s)
SELECT id, name FROM folders WHERE tenant_id = :t AND parent_id IS NULL ORDER BY name;
-- tagsOfDoc (100/s) one way
SELECT dt.tag, t.colour FROM document_tags dt JOIN tags t ON t.tag = dt.tag WHERE dt.document_id = :d;
-- docsOfTag (60/s) the other way
SELECT d.id, d.title FROM document_tags dt JOIN documents d ON d.id = dt.document_id WHERE dt.tag = :tag ORDER BY d.title;
-- sharedWithMe (100/s)
SELECT s.document_id, s.role, s.shared_at, d.title FROM shares s JOIN documents d ON d.id = s.document_id WHERE s.account_id = :a ORDER BY s.shared_at DESC LIMIT 50;
-- sharesOfDoc (30/s)
SELECT s.account_id, s.role, a.email FROM shares s JOIN accounts a ON a.id = s.account_id WHERE s.document_id = :d;
-- mayRead (500/s, strong)
SELECT role FROM shares WHERE document_id = :d AND account_id = :a;
-- nextJobs (20/s) the queue
SELECT id, document_id, kind FROM jobs WHERE locked_by IS NULL AND finished_at IS NULL AND run_after <= :at ORDER BY priority DESC, run_after LIMIT 10;
-- jobsOfDoc (10/s)
SELECT id, kind, finished_at FROM jobs WHERE document_id = :d ORDER BY id DESC;
-- auditOfTenant (2/s) a window
SELECT id, action, at, account_id FROM audit_log WHERE tenant_id = :t AND at >= :a AND at < :b ORDER BY at DESC;
-- auditOfAction (1/s)
SELECT id, at FROM audit_log WHERE tenant_id = :t AND action = :action ORDER BY at DESC LIMIT 100;
-- allAudit (0.1/s) unbounded
SELECT * FROM audit_log WHERE tenant_id = :t;
-- wide (1/s)
SELECT id FROM documents WHERE body LIKE '%x%';
-- either (10/s)
SELECT id FROM documents WHERE created_by = :me OR updated_by = :me;
-- byYear (1/s)
SELECT id FROM documents WHERE strftime('%Y', created_at) = :y;
-- inactive (0.1/s) low cardinality
SELECT id FROM accounts WHERE active = FALSE;
-- perTag (50/s)
SELECT tag, COUNT(*) FROM document_tags GROUP BY tag;
-- distinctTags (5/s)
SELECT DISTINCT tag FROM document_tags WHERE document_id = :d;
-- anyDocs (5/s) LIMIT without an order
SELECT id, title FROM documents WHERE folder_id = :f LIMIT 5;
-- soon (5/s) what is computed
SELECT id FROM jobs WHERE document_id = :d AND run_after < :at + 60;
-- page (5/s)
SELECT id FROM documents WHERE folder_id = :f ORDER BY id LIMIT 10 OFFSET 30;
-- docOfTenant (20/s) a tenant's documents, newest first
SELECT d.id, d.title, d.updated_at FROM documents d JOIN folders f ON f.id = d.folder_id WHERE f.tenant_id = :t ORDER BY d.updated_at DESC LIMIT 20;
-- view (2000/s)
UPDATE documents SET view_count = view_count + 1, last_viewed = :at WHERE id = :id;
-- edit (20/s)
UPDATE documents SET body = :b, updated_at = :t, updated_by = :by WHERE id = :id;
-- create (5/s)
INSERT INTO documents (id) VALUES (:id);
-- log (900/s)
INSERT INTO audit_log (id) VALUES (:id);
-- enqueue (30/s)
INSERT INTO jobs (id) VALUES (:id);
-- lock (30/s)
UPDATE jobs SET locked_by = :w WHERE id = :id;
-- finish (30/s)
UPDATE jobs SET finished_at = :t WHERE id = :id;
-- share (10/s)
INSERT INTO shares (document_id) VALUES (:d);
-- tagIt (10/s)
INSERT INTO document_tags (document_id) VALUES (:d);
