//! Keys that every product has, with rows that are hard on them.

use super::{Shape, dialects, hexadecimal, quoted, text};

/// Rows of a table.
const ROWS: i64 = 300;

pub(super) fn shape(table: &'static str, definition: &str, rows: Vec<String>) -> Shape {
    Shape {
        table,
        definition: definition.to_owned(),
        rows,
        cut: true,
    }
}

pub(super) fn rows(row: impl Fn(i64) -> String) -> Vec<String> {
    (0..ROWS).map(|nth| format!("({})", row(nth))).collect()
}

/// Texts that differ in case, length and signs, all different under every collation here.
pub(super) fn word(nth: i64) -> String {
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
        "postgres" => dialects::postgres(),
        "mysql" => dialects::mysql(),
        _ => dialects::sqlite(),
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
