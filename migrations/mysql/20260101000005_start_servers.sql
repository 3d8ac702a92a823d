-- Pattern 5: the servers where a game begins for a user.

CREATE TABLE users (
    id   varchar(20)  NOT NULL PRIMARY KEY,
    name varchar(100) NOT NULL,
    tel  varchar(20),
    addr varchar(200)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE start_servers (
    server_id varchar(30) NOT NULL PRIMARY KEY,
    user_id   varchar(20),
    region    varchar(20),
    FOREIGN KEY (user_id) REFERENCES users (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO users (id, name, tel, addr) VALUES
    ('USER001', 'HNK', '8210100001111', '서울 강남구'),
    ('USER002', 'Lily', NULL, 'Busan');

-- Not in order; in the order of bytes small letters come last. SRV_099_SPARE belongs to nobody, and USER002 has none.
INSERT INTO start_servers (server_id, user_id, region) VALUES
    ('SRV_003_WORLD', 'USER001', 'TOKYO'),
    ('srv_000_beta', 'USER001', NULL),
    ('SRV_001_LOBBY', 'USER001', 'SEOUL'),
    ('SRV_099_SPARE', NULL, 'SEOUL'),
    ('SRV_002_WORLD', 'USER001', 'SEOUL');
