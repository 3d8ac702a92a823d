-- Pattern 7: all of a game's user in one row, the log of log-ins too.

CREATE TABLE game_users (
    id        varchar(20) NOT NULL PRIMARY KEY,
    password  varchar(64) NOT NULL,
    name      varchar(50) NOT NULL,
    valid     boolean     NOT NULL,
    dex       integer,
    gold      bigint,
    items     json,
    server_id varchar(10),
    char_id   varchar(10),
    loghist   json
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- LILY has a character and an empty log, OTTO a character and no log at all, NOVA has never played.
INSERT INTO game_users (id, password, name, valid, dex, gold, items, server_id, char_id, loghist) VALUES
    ('USER001', '202cb962ac59075b', 'HANK', true, 16, 47782,
        '[{"code": "gauntlet", "amount": 2, "wear": 0.10}, {"code": "물약", "amount": 31}]', 'SRV01', 'CHR01',
        '["2019-12-31 14:05", "2020-01-03 16:10", "2020-01-03 16:10"]'),
    ('USER002', '962ac59075b964b0', 'IGUANA', false, 9, 9007199254740993, '[]', 'SRV02', 'CHR09',
        '["2020-01-14 15:00"]'),
    ('USER004', '59075b964b07152d', 'LILY', true, NULL, 0, NULL, 'SRV01', 'CHR31', '[]'),
    ('USER005', 'd81f9c1be2e08964', 'NOVA', true, NULL, NULL, NULL, NULL, NULL, NULL),
    ('USER006', '6f8f57715090da26', 'OTTO', true, 3, 5, NULL, 'SRV02', 'CHR02', NULL);
