-- Pattern 11: messages that are kept for a week.

CREATE TABLE messages (
    user_id    integer      NOT NULL,
    message_id integer      NOT NULL,
    created_at datetime     NOT NULL,
    body       varchar(500) NOT NULL,
    PRIMARY KEY (user_id, message_id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- At 2020-01-08T00:00:00Z the messages of 2019 have expired. The first of 2020 expires at that very second, so it has not yet.
INSERT INTO messages (user_id, message_id, created_at, body) VALUES
    (1, 1, '2019-12-01T10:00:00', 'long ago'),
    (1, 2, '2019-12-31T23:59:59', 'a second too old'),
    (1, 3, '2020-01-01T00:00:00', 'just in time'),
    (1, 31, '2020-01-07T12:00:00', '안녕하세요'),
    (1, 9, '2020-01-07T12:00:00', 'at the same second'),
    (2, 4, '2020-01-05T00:00:00', 'of another user');
