-- Pattern 13: the votes of an evening, many of them for one candidate.

CREATE TABLE candidates (
    candidate varchar(50) NOT NULL PRIMARY KEY
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE votes (
    voter_id  integer     NOT NULL PRIMARY KEY,
    candidate varchar(50) NOT NULL,
    cast_at   datetime    NOT NULL,
    FOREIGN KEY (candidate) REFERENCES candidates (candidate)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The name `kim.07` is that of a shard of `kim`. Nobody votes for yu.
INSERT INTO candidates (candidate) VALUES ('kim'), ('이순신'), ('kim.07'), ('yu');

INSERT INTO votes (voter_id, candidate, cast_at) VALUES
    (1, 'kim', '2026-06-03T07:07:11'),
    (2, 'kim', '2026-06-03T08:14:22'),
    (3, 'kim', '2026-06-03T09:21:33'),
    (4, 'kim', '2026-06-03T10:28:44'),
    (5, 'kim', '2026-06-03T11:35:55'),
    (6, 'kim', '2026-06-03T12:42:06'),
    (7, 'kim', '2026-06-03T13:49:17'),
    (8, 'kim', '2026-06-03T14:56:28'),
    (9, 'kim', '2026-06-03T15:03:39'),
    (10, 'kim', '2026-06-03T16:10:50'),
    (11, 'kim', '2026-06-03T17:17:01'),
    (12, 'kim', '2026-06-03T06:24:12'),
    (13, 'kim', '2026-06-03T07:31:23'),
    (14, 'kim', '2026-06-03T08:38:34'),
    (15, 'kim', '2026-06-03T09:45:45'),
    (16, 'kim', '2026-06-03T10:52:56'),
    (17, 'kim', '2026-06-03T11:59:07'),
    (18, 'kim', '2026-06-03T12:06:18'),
    (19, 'kim', '2026-06-03T13:13:29'),
    (20, 'kim', '2026-06-03T14:20:40'),
    (21, 'kim', '2026-06-03T15:27:51'),
    (22, 'kim', '2026-06-03T16:34:02'),
    (23, 'kim', '2026-06-03T17:41:13'),
    (24, 'kim', '2026-06-03T06:48:24'),
    (25, 'kim', '2026-06-03T07:55:35'),
    (26, 'kim', '2026-06-03T08:02:46'),
    (27, 'kim', '2026-06-03T09:09:57'),
    (28, 'kim', '2026-06-03T10:16:08'),
    (29, 'kim', '2026-06-03T11:23:19'),
    (30, 'kim', '2026-06-03T12:30:30'),
    (31, 'kim', '2026-06-03T13:37:41'),
    (32, 'kim', '2026-06-03T14:44:52'),
    (33, 'kim', '2026-06-03T15:51:03'),
    (34, 'kim', '2026-06-03T16:58:14'),
    (35, 'kim', '2026-06-03T17:05:25'),
    (36, 'kim', '2026-06-03T06:12:36'),
    (42, '이순신', '2026-06-03T07:00:42'),
    (100, '이순신', '2026-06-03T07:00:40'),
    (101, '이순신', '2026-06-03T07:00:41'),
    (1000, '이순신', '2026-06-03T07:00:40'),
    (31000, '이순신', '2026-06-03T07:00:40'),
    (50, 'kim.07', '2026-06-03T17:59:50'),
    (51, 'kim.07', '2026-06-03T17:59:51');
