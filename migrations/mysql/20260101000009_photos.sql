-- Pattern 9: photos of many users, each of whom sees only their own.

CREATE TABLE photos (
    user_id  varchar(30)  NOT NULL,
    photo_id varchar(30)  NOT NULL,
    url      varchar(300) NOT NULL,
    taken_at datetime,
    PRIMARY KEY (user_id, photo_id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO photos (user_id, photo_id, url, taken_at) VALUES
    ('ada', 'IMG_0010', 'https://img.example.com/ada/10.jpg?w=640&h=480', '2025-12-31T23:59:59'),
    ('ada', 'IMG_0002', 'https://img.example.com/ada/2.jpg', '2026-01-01T00:00:00'),
    ('ada', '제주#1', 'https://img.example.com/ada/%EC%A0%9C%EC%A3%BC.jpg', NULL),
    ('ad', 'IMG_0002', 'https://img.example.com/ad/2.jpg', '2026-01-02T10:00:00'),
    ('bob', 'IMG_0002', 'https://img.example.com/bob/2.jpg', NULL);
