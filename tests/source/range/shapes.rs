//! Keys of every kind, with rows that are hard on them.

use super::{Shape, hexadecimal, quoted, text};

/// Rows of a table.
const ROWS: i64 = 300;

fn shape(table: &'static str, definition: &str, rows: Vec<String>) -> Shape {
    Shape {
        table,
        definition: definition.to_owned(),
        rows,
        cut: true,
    }
}

fn rows(row: impl Fn(i64) -> String) -> Vec<String> {
    (0..ROWS).map(|nth| format!("({})", row(nth))).collect()
}

/// Texts that differ in case, length and signs, all different under every collation here.
fn word(nth: i64) -> String {
    let signs = [
        "'", "\\", "''", "\\'", "\"", "%_", "é", "가😀", "; --", " x",
    ];
    let sign = signs[usize::try_from(nth).unwrap() % signs.len()];
    let word = format!("{sign}{nth}{sign}");
    if nth % 2 == 0 {
        format!("K{word}")
    } else {
        format!("k{word}")
    }
}

/// All shapes of a dialect.
pub(super) fn all(dialect: &str) -> Vec<Shape> {
    let mut shapes = everywhere(dialect);
    shapes.extend(match dialect {
        "postgres" => postgres(),
        "mysql" => mysql(),
        _ => sqlite(),
    });
    shapes
}

#[expect(clippy::too_many_lines, reason = "a list")]
fn everywhere(dialect: &str) -> Vec<Shape> {
    let bytes = match dialect {
        "postgres" => "bytea",
        "mysql" => "VARBINARY(40)",
        _ => "BLOB",
    };
    let binary = |bytes: &[u8]| match dialect {
        "postgres" => format!("'\\x{}'::bytea", hexadecimal(bytes)),
        _ => format!("x'{}'", hexadecimal(bytes)),
    };
    let (rowless, any) = match dialect {
        "sqlite" => (") WITHOUT ROWID", " COLLATE NOCASE"),
        "mysql" => (")", " COLLATE utf8mb4_general_ci"),
        _ => (")", ""),
    };
    let key = |kind: &str| format!("(k {kind} NOT NULL PRIMARY KEY, v INTEGER{rowless}");
    let time = if dialect == "sqlite" {
        "TEXT"
    } else {
        "TIMESTAMP(6)"
    };
    let time = if dialect == "mysql" {
        "DATETIME(6)"
    } else {
        time
    };
    let (first, second) = (quoted(dialect, "First Name"), quoted(dialect, "seLect"));
    vec![
        shape(
            "dense",
            "(k BIGINT NOT NULL PRIMARY KEY, v INTEGER)",
            rows(|n| format!("{}, {n}", 2 * n)),
        ),
        shape(
            "negative",
            "(k BIGINT NOT NULL PRIMARY KEY, v INTEGER)",
            rows(|n| format!("{}, {n}", n - 290)),
        ),
        // Most of them together, and some at the ends of the world.
        shape(
            "skewed",
            "(k BIGINT NOT NULL PRIMARY KEY, v INTEGER)",
            rows(|n| {
                let key = match n {
                    0..5 => i64::MIN + n,
                    5..10 => i64::MAX - n,
                    10..30 => n * 1_000_000_000_000,
                    _ => 4_000_000 + n,
                };
                format!("{key}, {n}")
            }),
        ),
        shape(
            "word",
            &key(&format!("VARCHAR(60){any}")),
            rows(|n| format!("{}, {n}", text(dialect, &word(n)))),
        ),
        shape(
            "blank",
            &key("CHAR(20)"),
            rows(|n| {
                format!(
                    "{}, {n}",
                    text(
                        dialect,
                        &format!(
                            "{n}{}",
                            ["", " a", "\ta", "  b"][usize::try_from(n % 4).unwrap()]
                        )
                    )
                )
            }),
        ),
        shape(
            "bytes",
            &key(bytes),
            rows(|n| {
                let low = u8::try_from(n % 256).unwrap();
                let bytes = [
                    &b"'\\\0"[..],
                    &[low, 0xff],
                    &[0, low][..usize::try_from(n / 256 + 1).unwrap()],
                ]
                .concat();
                format!("{}, {n}", binary(&bytes))
            }),
        ),
        shape(
            "decimal",
            &key("DECIMAL(30,6)"),
            rows(|n| format!("{}.{:06}, {n}", (n - 150) * 7_777_777, n * 3331)),
        ),
        shape(
            "instant",
            &key(time),
            rows(|n| {
                format!(
                    "'{}-0{}-1{} 23:59:59.{:06}', {n}",
                    1990 + n % 40,
                    1 + n % 9,
                    n % 10,
                    n * 13
                )
            }),
        ),
        // The first column says nothing, the second little.
        shape(
            "triple",
            &format!(
                "(a INTEGER NOT NULL, b VARCHAR(20){any} NOT NULL, c DATE NOT NULL, v INTEGER, PRIMARY KEY (a, b, c){rowless}"
            ),
            rows(|n| {
                format!(
                    "{}, {}, '2024-0{}-1{}', {n}",
                    i64::from(n > 280),
                    text(
                        dialect,
                        ["It's", "\\", "z"][usize::try_from(n % 3).unwrap()]
                    ),
                    1 + n / 10 % 9,
                    n % 10
                )
                .replace("'2024", &format!("'{}", 2000 + n / 90))
            }),
        ),
        shape(
            "Mixed Case",
            &format!(
                "({first} INTEGER NOT NULL, {second} INTEGER NOT NULL, PRIMARY KEY ({second}, {first}))"
            ),
            rows(|n| format!("{n}, {}", n / 100)),
        ),
    ]
}

fn postgres() -> Vec<Shape> {
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

fn mysql() -> Vec<Shape> {
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
            rows(|n| format!("UNHEX(MD5('{n}'))")),
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

fn sqlite() -> Vec<Shape> {
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
