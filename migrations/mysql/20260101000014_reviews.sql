-- Pattern 14: reviews of products.

CREATE TABLE reviews (
    id         integer     NOT NULL PRIMARY KEY,
    product_id integer     NOT NULL,
    body       varchar(1000),
    like_count integer     NOT NULL,
    score      integer     NOT NULL,
    created_at datetime(3) NOT NULL
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- 9 likes come after 31, and both after 200; an empty body is a body; without one, the most likes of all do not help.
INSERT INTO reviews (id, product_id, body, like_count, score, created_at) VALUES
    (1, 1, '맛있어요', 9, 5, '2020-09-13T12:26:40.000'),
    (2, 1, 'good', 31, 5, '2020-09-13T12:26:40.000'),
    (3, 1, 'good#like=99999999', 200, 1, '2020-09-13T12:26:40.000'),
    (4, 1, NULL, 99999999, 5, '2026-01-01T00:00:00.000'),
    (5, 1, '', 10, 4, '2020-09-13T12:26:40.000'),
    (6, 1, 'good', 31, 10, '2020-09-13T12:26:40.000'),
    (7, 1, 'newer by a millisecond', 31, 5, '2020-09-13T12:26:40.001'),
    (8, 1, NULL, 0, 0, '1999-12-31T23:59:59.999'),
    (9, 1, 'before the number of digits grew', 31, 5, '2001-09-09T01:46:39.999'),
    (10, 10, 'of another product', 500, 5, '2026-01-01T00:00:00.000');
