-- Pattern 1: settings and subscriptions of a portal's users.

CREATE TABLE users (
    id     integer NOT NULL PRIMARY KEY COMMENT 'user number',
    email  varchar(255) NOT NULL COMMENT 'e-mail address',
    name   varchar(100) NOT NULL COMMENT 'name',
    gender varchar(10) COMMENT 'F or M, if the user has said so'
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'Users of the portal';

CREATE TABLE services (
    service varchar(30)  NOT NULL PRIMARY KEY COMMENT 'short name',
    name    varchar(100) NOT NULL COMMENT 'name that users see'
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'Services of the portal';

CREATE TABLE personal_settings (
    user_id      integer     NOT NULL COMMENT 'whose setting',
    service      varchar(30) NOT NULL COMMENT 'in which service',
    setting_type varchar(30) NOT NULL COMMENT 'kind of setting, such as background',
    setting      json COMMENT 'what is set; its members depend on the kind',
    PRIMARY KEY (user_id, service, setting_type),
    FOREIGN KEY (user_id) REFERENCES users (id),
    FOREIGN KEY (service) REFERENCES services (service)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'Settings of users';

CREATE TABLE subscribes (
    id                integer      NOT NULL PRIMARY KEY COMMENT 'number',
    service           varchar(30)  NOT NULL COMMENT 'of which service',
    content_type      varchar(30)  NOT NULL COMMENT 'kind of content, such as press',
    content_origin_id varchar(30)  NOT NULL COMMENT 'number that the service gives the content',
    title             varchar(200) NOT NULL COMMENT 'name that users see',
    UNIQUE (service, content_type, content_origin_id),
    FOREIGN KEY (service) REFERENCES services (service)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'What users can subscribe to';

CREATE TABLE subscribe_users (
    user_id      integer NOT NULL COMMENT 'who has subscribed',
    subscribe_id integer NOT NULL COMMENT 'to what',
    PRIMARY KEY (user_id, subscribe_id),
    FOREIGN KEY (user_id) REFERENCES users (id),
    FOREIGN KEY (subscribe_id) REFERENCES subscribes (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'Subscriptions';

INSERT INTO users (id, email, name, gender) VALUES
    (1, 'jiwoo@example.com', '김지우', 'F'),
    (2, 'minjun@example.com', '이민준', 'M'),
    (31, 'sam@example.com', 'Sam O''Hara', NULL);

INSERT INTO services (service, name) VALUES
    ('startzum', 'Start page'),
    ('news', 'News'),
    ('finance', 'Finance');

-- The last setting has been reset: it is there, and holds nothing.
INSERT INTO personal_settings (user_id, service, setting_type, setting) VALUES
    (1, 'startzum', 'background', '{"color": "#1b2a49", "opacity": 0.85, "image": null}'),
    (1, 'startzum', 'layout', '{"columns": 3, "widgets": ["weather", "stocks"], "compact": false}'),
    (1, 'news', 'location', '{"city": "Seoul", "coordinates": {"lat": 37.5665, "lon": 126.9780}}'),
    (2, 'startzum', 'background', '{"color": "#ffffff"}'),
    (2, 'startzum', 'layout', NULL);

INSERT INTO subscribes (id, service, content_type, content_origin_id, title) VALUES
    (1, 'news', 'press', '001', 'Morning Post'),
    (2, 'news', 'press', '009', 'Harbour Times'),
    (3, 'finance', 'stock', '005930', 'Samsung Electronics');

INSERT INTO subscribe_users (user_id, subscribe_id) VALUES
    (1, 1),
    (1, 3),
    (2, 1);
