//! Keys that one product alone has.

use super::shapes::{rows, shape, word};
use super::{Shape, text};

pub(super) fn postgres() -> Vec<Shape> {
    let uncut = |table, definition: &str, rows| Shape {
        cut: false,
        ..shape(table, definition, rows)
    };
    vec![
        shape(
            "uuid",
            "(k uuid PRIMARY KEY, v int)",
            rows(|n| format!("md5('{n}')::uuid, {n}")),
        ),
        shape(
            "zoned",
            "(k timestamptz PRIMARY KEY)",
            rows(|n| match n {
                0 => "'-infinity'".to_owned(),
                1 => "'0044-03-15 12:00+00 BC'".to_owned(),
                2 => "'infinity'".to_owned(),
                _ => format!(
                    "'2024-10-27 00:00:00.{:06}+02'::timestamptz + '{n} min'",
                    n * 7
                ),
            }),
        ),
        shape(
            "double",
            "(k float8 PRIMARY KEY)",
            rows(|n| match n {
                0 => "'NaN'".to_owned(),
                1 => "'-Infinity'".to_owned(),
                _ => format!("{n} / 7.0::float8 - 20"),
            }),
        ),
        shape(
            "place",
            "(v int, t text)",
            rows(|n| format!("{n}, repeat(md5('{n}'), 20)")),
        ),
        shape(
            "nullable",
            "(v int UNIQUE, t text)",
            rows(|n| format!("{n}, repeat(md5('{n}'), 20)")),
        ),
        shape(
            "not null",
            "(v int NOT NULL UNIQUE)",
            rows(|n| format!("{}", n * 1000)),
        ),
        shape(
            "array",
            "(k int[] PRIMARY KEY)",
            rows(|n| format!("ARRAY[{}, {n}, NULL]", n % 3)),
        ),
        shape(
            "inet",
            "(k inet, n \"char\", PRIMARY KEY (n, k))",
            rows(|n| format!("'10.0.{}.{}', '\\'", n / 100, n % 100)),
        ),
        shape(
            "interval",
            "(k interval PRIMARY KEY)",
            rows(|n| format!("make_interval(months => {}, secs => {n}.5)", n % 5)),
        ),
        shape(
            "partitioned",
            "(k int, v int, PRIMARY KEY (k, v)) PARTITION BY HASH (k); CREATE TABLE p0 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE p1 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
            rows(|n| format!("{n}, {}", n * 1000)),
        ),
        uncut(
            "above",
            "(k int PRIMARY KEY); CREATE TABLE below () INHERITS (above); INSERT INTO below VALUES (1000)",
            rows(|n| format!("{n}")),
        ),
        shape(
            "pattern",
            "(k text NOT NULL, n int PRIMARY KEY); CREATE UNIQUE INDEX ON pattern (k text_pattern_ops)",
            rows(|n| format!("'{n}', {n}")),
        ),
    ]
}

pub(super) fn mysql() -> Vec<Shape> {
    let uncut = |table, definition: &str, rows| Shape {
        cut: false,
        ..shape(table, definition, rows)
    };
    vec![
        shape(
            "huge",
            "(k BIGINT UNSIGNED NOT NULL PRIMARY KEY)",
            rows(|n| {
                if n < 100 {
                    format!("{n}")
                } else {
                    format!("{}", u64::MAX - u64::try_from(n).unwrap() * 3)
                }
            }),
        ),
        shape(
            "zerofill",
            "(k INT(10) ZEROFILL NOT NULL PRIMARY KEY)",
            rows(|n| format!("{}", n * n)),
        ),
        shape(
            "latin",
            "(k VARCHAR(60) CHARACTER SET latin1 COLLATE latin1_german1_ci NOT NULL PRIMARY KEY)",
            rows(|n| {
                text(
                    "mysql",
                    &format!(
                        "{}{n}",
                        ["ä", "Ö", "ß", "'\\"][usize::try_from(n % 4).unwrap()]
                    ),
                )
            }),
        ),
        shape(
            "short",
            "(k VARCHAR(60) CHARACTER SET ascii NOT NULL PRIMARY KEY)",
            rows(|n| format!("'{n}'")),
        ),
        shape(
            "exact",
            "(k VARCHAR(60) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY)",
            rows(|n| text("mysql", &word(n))),
        ),
        shape(
            "date",
            "(k DATE NOT NULL PRIMARY KEY)",
            rows(|n| {
                if n == 0 {
                    "'0000-00-00'".to_owned()
                } else {
                    format!("DATE '1999-12-31' + INTERVAL {n} DAY")
                }
            }),
        ),
        shape(
            "span",
            "(k TIME(3) NOT NULL PRIMARY KEY)",
            rows(|n| format!("'{}:00:00.5'", n - 150)),
        ),
        shape(
            "moment",
            "(k TIMESTAMP(2) NOT NULL PRIMARY KEY)",
            rows(|n| format!("'2024-01-01 00:00:00' + INTERVAL {n} HOUR")),
        ),
        shape(
            "fixed",
            "(k BINARY(16) NOT NULL PRIMARY KEY)",
            rows(|n| format!("UNHEX(LEFT(SHA2('{n}', 256), 32))")),
        ),
        shape(
            "year",
            "(y YEAR NOT NULL, b BOOLEAN NOT NULL, n TINYINT NOT NULL, PRIMARY KEY (y, b, n))",
            rows(|n| format!("{}, {}, {}", 1990 + n % 3, n % 2, n / 6)),
        ),
        uncut(
            "choice",
            "(k ENUM('b','a') NOT NULL, n INT NOT NULL, PRIMARY KEY (k, n))",
            rows(|n| format!("'a', {n}")),
        ),
        uncut(
            "prefix",
            "(k VARCHAR(100) NOT NULL, UNIQUE (k(10)))",
            rows(|n| format!("'{n}'")),
        ),
        uncut(
            "keyless",
            "(k INT NULL UNIQUE, n INT)",
            rows(|n| format!("{n}, {n}")),
        ),
        shape(
            "parted",
            "(k INT NOT NULL PRIMARY KEY) PARTITION BY HASH (k) PARTITIONS 4",
            rows(|n| format!("{}", n * 50)),
        ),
    ]
}

pub(super) fn sqlite() -> Vec<Shape> {
    let uncut = |table, definition: &str, rows| Shape {
        cut: false,
        ..shape(table, definition, rows)
    };
    vec![
        shape(
            "rowid",
            "(k TEXT, rowid TEXT)",
            rows(|n| format!("'{n}', 'r{n}'")),
        ),
        shape(
            "alias",
            "(k INTEGER PRIMARY KEY, _rowid_ TEXT)",
            rows(|n| format!("{}, 'r{n}'", n * n * n)),
        ),
        uncut(
            "shadow",
            "(k TEXT PRIMARY KEY, _rowid_ TEXT)",
            rows(|n| format!("'{n}', 'r{n}'")),
        ),
        shape(
            "mixed",
            "(k NOT NULL PRIMARY KEY) WITHOUT ROWID",
            rows(|n| match n % 4 {
                0 => format!("{n}"),
                1 => format!("'{n}'"),
                2 => format!("x'{n:04}'"),
                _ => format!("{n} / 7.0 * 1e100"),
            }),
        ),
        shape(
            "zero",
            "(k TEXT PRIMARY KEY) WITHOUT ROWID",
            rows(|n| format!("'a' || char(0) || '{n}'")),
        ),
        uncut(
            "descending",
            "(a INTEGER, b INTEGER, PRIMARY KEY (a, b DESC)) WITHOUT ROWID",
            rows(|n| format!("{}, {n}", n % 9)),
        ),
    ]
}
