-- Pattern 1: settings and subscriptions of a portal's users.

CREATE TABLE users (
    id     integer NOT NULL PRIMARY KEY,
    email  varchar(255) NOT NULL,
    name   varchar(100) NOT NULL,
    gender varchar(10)
);

CREATE TABLE services (
    service varchar(30)  NOT NULL PRIMARY KEY,
    name    varchar(100) NOT NULL
);

CREATE TABLE personal_settings (
    user_id      integer     NOT NULL,
    service      varchar(30) NOT NULL,
    setting_type varchar(30) NOT NULL,
    setting      jsonb,
    PRIMARY KEY (user_id, service, setting_type),
    FOREIGN KEY (user_id) REFERENCES users (id),
    FOREIGN KEY (service) REFERENCES services (service)
);

CREATE TABLE subscribes (
    id                integer      NOT NULL PRIMARY KEY,
    service           varchar(30)  NOT NULL,
    content_type      varchar(30)  NOT NULL,
    content_origin_id varchar(30)  NOT NULL,
    title             varchar(200) NOT NULL,
    UNIQUE (service, content_type, content_origin_id),
    FOREIGN KEY (service) REFERENCES services (service)
);

CREATE TABLE subscribe_users (
    user_id      integer NOT NULL,
    subscribe_id integer NOT NULL,
    PRIMARY KEY (user_id, subscribe_id),
    FOREIGN KEY (user_id) REFERENCES users (id),
    FOREIGN KEY (subscribe_id) REFERENCES subscribes (id)
);

COMMENT ON TABLE users IS 'Users of the portal';
COMMENT ON COLUMN users.id IS 'user number';
COMMENT ON COLUMN users.email IS 'e-mail address';
COMMENT ON COLUMN users.name IS 'name';
COMMENT ON COLUMN users.gender IS 'F or M, if the user has said so';
COMMENT ON TABLE services IS 'Services of the portal';
COMMENT ON COLUMN services.service IS 'short name';
COMMENT ON COLUMN services.name IS 'name that users see';
COMMENT ON TABLE personal_settings IS 'Settings of users';
COMMENT ON COLUMN personal_settings.user_id IS 'whose setting';
COMMENT ON COLUMN personal_settings.service IS 'in which service';
COMMENT ON COLUMN personal_settings.setting_type IS 'kind of setting, such as background';
COMMENT ON COLUMN personal_settings.setting IS 'what is set; its members depend on the kind';
COMMENT ON TABLE subscribes IS 'What users can subscribe to';
COMMENT ON COLUMN subscribes.id IS 'number';
COMMENT ON COLUMN subscribes.service IS 'of which service';
COMMENT ON COLUMN subscribes.content_type IS 'kind of content, such as press';
COMMENT ON COLUMN subscribes.content_origin_id IS 'number that the service gives the content';
COMMENT ON COLUMN subscribes.title IS 'name that users see';
COMMENT ON TABLE subscribe_users IS 'Subscriptions';
COMMENT ON COLUMN subscribe_users.user_id IS 'who has subscribed';
COMMENT ON COLUMN subscribe_users.subscribe_id IS 'to what';

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
