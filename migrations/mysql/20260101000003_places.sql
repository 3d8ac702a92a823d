-- Pattern 3: places of the world, down to the neighbourhood where it is known.

CREATE TABLE places (
    id           integer      NOT NULL PRIMARY KEY,
    category     varchar(30)  NOT NULL,
    country      varchar(2)   NOT NULL,
    region       varchar(40),
    state        varchar(40),
    county       varchar(40),
    city         varchar(40),
    neighborhood varchar(40),
    name         varchar(200) NOT NULL
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- 5 knows its city, but not the state above it. In 6 the delimiter stands inside of values, and 7 is what it must not be taken for.
INSERT INTO places (id, category, country, region, state, county, city, neighborhood, name) VALUES
    (1, 'museum', 'KR', '11', NULL, NULL, NULL, NULL, 'Seoul Museum of History'),
    (2, 'museum', 'KR', '11', '680', 'Gangnam', 'Seoul', 'Apgujeong', '도산 Gallery'),
    (3, 'museum', 'KR', '1', NULL, NULL, NULL, NULL, 'Museum of Region 1'),
    (4, 'museum', 'KR', NULL, NULL, NULL, NULL, NULL, 'National Museum'),
    (5, 'museum', 'KR', '11', NULL, 'Jongno', 'Seoul', NULL, 'Palace Museum'),
    (6, 'museum', 'US', 'W', 'NV', 'Lincoln', 'Area#51', '@Gate', 'Hangar 18'),
    (7, 'museum', 'US', 'W', 'NV', 'Lincoln', 'Area', '51', 'Visitor Centre'),
    (8, 'cafe', 'KR', '11', '680', 'Gangnam', 'Seoul', 'Apgujeong', 'Café 8'),
    (9, 'museum', 'KR', '11', '680', 'Gangnam', 'Seoul', 'Apgujeong', 'Horim Museum'),
    (31, 'museum', 'KR', '11', '680', 'Gangnam', 'Seoul', NULL, 'Kimchi Museum');
