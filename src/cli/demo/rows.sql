-- Some thousands of rows beside the few of the migration; the same in every run.

CREATE TEMP TABLE given (n INTEGER PRIMARY KEY, name TEXT);
INSERT INTO given (name) VALUES
    ('Jiwoo'), ('Minjun'), ('Seoyeon'), ('Haneul'), ('Emma'), ('Liam'), ('Aiko'), ('Kenji'),
    ('Lucía'), ('Mateo'), ('Zoë'), ('Noah'), ('Amina'), ('Omar'), ('Ingrid'), ('Søren');
CREATE TEMP TABLE family (n INTEGER PRIMARY KEY, name TEXT);
INSERT INTO family (name) VALUES
    ('Kim'), ('Lee'), ('Park'), ('Choi'), ('Novak'), ('Silva'), ('Tanaka'), ('García'),
    ('O''Hara'), ('Jensen'), ('Haddad'), ('Nkosi'), ('Rossi');

INSERT INTO users (id, email, name, gender)
WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 899)
SELECT i,
       'user' || i || '@example.com',
       (SELECT name FROM given WHERE n = 1 + i % 16) || ' ' || (SELECT name FROM family WHERE n = 1 + i % 13),
       CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 'F' WHEN 2 THEN 'M' WHEN 3 THEN 'F' WHEN 4 THEN 'M' WHEN 5 THEN 'F' ELSE 'M' END
FROM n;

INSERT INTO services (service, name) VALUES
    ('video', 'Video'), ('weather', 'Weather'), ('sports', 'Sports');

INSERT INTO personal_settings (user_id, service, setting_type, setting)
SELECT id, 'startzum', 'background',
       '{"color": "#' || printf('%06x', (id * 7919) % 16777216) || '", "opacity": 0.' || (1 + id % 9) || '}'
FROM users WHERE id >= 100;
INSERT INTO personal_settings (user_id, service, setting_type, setting)
SELECT id, 'startzum', 'layout',
       '{"columns": ' || (2 + id % 3) || ', "widgets": ["weather", "' ||
       CASE id % 3 WHEN 0 THEN 'stocks' WHEN 1 THEN 'news' ELSE 'mail' END || '"], "compact": ' ||
       CASE id % 2 WHEN 0 THEN 'true' ELSE 'false' END || '}'
FROM users WHERE id >= 100 AND id % 5 > 0;
INSERT INTO personal_settings (user_id, service, setting_type, setting)
SELECT id, 'weather', 'location',
       '{"city": "' || CASE id % 4 WHEN 0 THEN 'Seoul' WHEN 1 THEN 'Busan' WHEN 2 THEN 'Jeju' ELSE 'Incheon' END ||
       '", "unit": "celsius"}'
FROM users WHERE id >= 100 AND id % 3 = 0;

INSERT INTO subscribes (id, service, content_type, content_origin_id, title)
WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 129)
SELECT i,
       CASE i % 4 WHEN 0 THEN 'news' WHEN 1 THEN 'video' WHEN 2 THEN 'finance' ELSE 'sports' END,
       CASE i % 4 WHEN 0 THEN 'press' WHEN 1 THEN 'channel' WHEN 2 THEN 'stock' ELSE 'team' END,
       printf('%03d', i),
       CASE i % 4 WHEN 0 THEN 'The Daily ' WHEN 1 THEN 'Channel ' WHEN 2 THEN 'Share ' ELSE 'Team ' END || i
FROM n;

INSERT INTO subscribe_users (user_id, subscribe_id)
SELECT u.id, s.id
FROM users u JOIN subscribes s ON (u.id * 31 + s.id * 17) % 40 = 0
WHERE u.id >= 100 AND s.id >= 10;
