-- memberByEmail (100/s) a unique e-mail, whatever its case
SELECT id, org_id, is_active FROM members WHERE lower(email) = lower(:e);
-- member (500/s)
SELECT * FROM members WHERE id = :m;
-- membersOfOrg (40/s) those who are not deleted
SELECT id, email FROM members WHERE org_id = :o AND deleted_at IS NULL ORDER BY email;
-- activeMembers (1/s) nearly all
SELECT id, email FROM members WHERE is_active = :a;
-- legacyOrder (1/s) numbers as text
SELECT id, legacy_id FROM members WHERE org_id = :o ORDER BY legacy_id;
-- referred (2/s) what looks like a reference
SELECT id FROM members WHERE referrer_id = :r;
-- orgWithCountry (100/s) a look-up table
SELECT o.id, o.name, c.name AS country FROM orgs o JOIN countries c ON c.code = o.country_code WHERE o.id = :o;
-- article (900/s) by another unique key
SELECT a.id, a.title, a.body, a.published_at, m.email FROM articles a JOIN members m ON m.id = a.author_id WHERE a.slug = :s AND a.deleted_at IS NULL;
-- articleList (600/s) live ones of an org, newest first
SELECT id, slug, title, published_at FROM articles WHERE org_id = :o AND status = 'LIVE' AND deleted_at IS NULL ORDER BY published_at DESC LIMIT 20;
-- drafts (5/s) the rare value of a skewed column
SELECT id, title FROM articles WHERE status = 'DRAFT';
-- articlesPage (10/s) a later page
SELECT id, title FROM articles WHERE org_id = :o ORDER BY id LIMIT 20 OFFSET 100;
-- everything (0.01/s) all that there is
SELECT * FROM articles;
-- textSearch (30/s)
SELECT id, title FROM articles WHERE body LIKE '%' || :w || '%';
-- part (50/s) a natural key with the delimiter
SELECT * FROM parts WHERE part_no = :p;
-- drawer (20/s) a join that no foreign key declares
SELECT d.shelf, d.colour, p.part_no, p.revision FROM drawers d LEFT JOIN parts p ON p.shelf = d.shelf WHERE d.shelf = :s;
-- notifications (20/s) grows and grows
SELECT id, kind, is_read, created_at FROM notifications WHERE member_id = :m ORDER BY created_at DESC;
-- unreadCount (400/s) of somebody who has many
SELECT COUNT(*) FROM notifications WHERE member_id = :m AND is_read = FALSE;
-- kinds (1/s)
SELECT DISTINCT kind FROM notifications WHERE member_id = :m;
-- perOrg (5/s) figures of all groups
SELECT org_id, COUNT(*) AS members FROM members WHERE deleted_at IS NULL GROUP BY org_id ORDER BY members DESC, org_id;
-- hitsOfSite (20/s) a busy key of two values
SELECT id, at, path FROM page_hits WHERE site = :s AND at >= :a AND at < :b ORDER BY at;
-- counter (50/s)
SELECT value FROM counters WHERE name = :n;
-- setting (strong)
SELECT * FROM countries WHERE code = :c;
-- view (3000/s)
UPDATE articles SET view_count = view_count + 1 WHERE id = :a;
-- publish (1/s)
UPDATE articles SET status = 'LIVE', published_at = :t WHERE id = :a;
-- hit (3000/s)
INSERT INTO page_hits (id, site, path, at) VALUES (:i, :s, :p, :t);
-- count (2500/s)
UPDATE counters SET value = value + 1 WHERE name = :n;
-- notify (100/s)
INSERT INTO notifications (id, member_id, is_read, kind, created_at, expires_at) VALUES (:i, :m, FALSE, :k, :c, :e);
-- markRead (90/s)
UPDATE notifications SET is_read = TRUE WHERE id = :i;
-- purge (0.01/s)
DELETE FROM notifications WHERE expires_at < :t;
-- changeEmail (0.1/s)
UPDATE members SET email = :e WHERE id = :m;
