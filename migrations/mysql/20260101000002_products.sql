-- Pattern 2: a product catalogue, a table for what all products have and one for each type.

CREATE TABLE products (
    id         integer        NOT NULL PRIMARY KEY,
    type       varchar(10)    NOT NULL,
    title      varchar(200)   NOT NULL,
    price      decimal(10, 2) NOT NULL,
    created_at datetime       NOT NULL
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE books (
    product_id integer      NOT NULL PRIMARY KEY,
    author     varchar(100) NOT NULL,
    isbn       varchar(20),
    pages      integer,
    FOREIGN KEY (product_id) REFERENCES products (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE albums (
    product_id integer      NOT NULL PRIMARY KEY,
    artist     varchar(100) NOT NULL,
    released   date,
    FOREIGN KEY (product_id) REFERENCES products (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE videos (
    product_id integer      NOT NULL PRIMARY KEY,
    director   varchar(100) NOT NULL,
    minutes    integer,
    FOREIGN KEY (product_id) REFERENCES products (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE tracks (
    album_id integer      NOT NULL,
    disc     integer      NOT NULL,
    no       integer      NOT NULL,
    name     varchar(200) NOT NULL,
    seconds  integer,
    PRIMARY KEY (album_id, disc, no),
    FOREIGN KEY (album_id) REFERENCES albums (product_id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- 3 has no row in `books`, 11 no tracks, and 30 is of a type that the mapping does not take.
INSERT INTO products (id, type, title, price, created_at) VALUES
    (1, 'BOOK', 'C# in Depth', 39.90, '2026-01-10T00:00:00'),
    (2, 'BOOK', '토지', 120.00, '2026-01-31T23:59:59'),
    (3, 'BOOK', 'Untitled {draft}', 0.50, '2026-02-01T00:00:00'),
    (10, 'ALBUM', 'Kind of Blue', 10.10, '2026-01-15T08:00:00'),
    (11, 'ALBUM', '4''33"', 4.33, '2026-01-20T08:00:00'),
    (20, 'VIDEO', 'Parasite', 15.00, '2026-01-31T23:59:59'),
    (30, 'TOY', 'Kite', 7.00, '2026-01-12T00:00:00');

INSERT INTO books (product_id, author, isbn, pages) VALUES
    (1, 'Jon Skeet', '978-1617294532', 528),
    (2, '박경리', NULL, NULL);

INSERT INTO albums (product_id, artist, released) VALUES
    (10, 'Miles Davis', '1959-08-17'),
    (11, 'John Cage', NULL);

INSERT INTO videos (product_id, director, minutes) VALUES
    (20, 'Bong Joon-ho', 132);

INSERT INTO tracks (album_id, disc, no, name, seconds) VALUES
    (10, 1, 10, 'So What (alternate take)', NULL),
    (10, 1, 2, 'Freddie Freeloader', 586),
    (10, 1, 1, 'So What', 562),
    (10, 2, 1, 'Teo', 574);
