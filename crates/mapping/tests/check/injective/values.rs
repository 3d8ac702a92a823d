//! The values that columns of each type hold: few, and near each other, so that keys meet.

use dynafold_relational::catalog::{DataType, Dbms};
use dynafold_relational::value::{Number, Time, TimeKind, Value};

const UUIDS: [&str; 3] = [
    "0a000000-0000-4000-8000-00000000000b",
    "0b000000-0000-4000-8000-00000000000a",
    "00000000-0000-4000-8000-000000000000",
];
/// Divided by `|`.
const TEXTS: &str = "|x|y|X|x#|#x|#|##|x#y|y#x|x#y#x|-|a-b|a|b|%23|%| x|x |ab|ba|true|a~.";
const DELIMITED: &str = "|x|#|x#|#x|x#x|#x#|x-x";
const NAMES: &str = "a|b|a#|#a|x|B|";
const INTEGERS: &str = "0|1|2|10|11|100|-1|-10|9223372036854775807";
const DECIMALS: &str = "0|1|1.5|1.05|0.5|-1.5|-0.5|15|10|0.01";
const SHORT: &str = "|x|ab|x#|#|a%b|%";
const CENTS: &str = "0|1|1.5|-0.5|9999.99|-9999.99|0.01|10|21";
const SINGLES: &str = "0|1|1.5|-0.1|16777216|340282350000000000000000000000000000000|0.000001|21";
const DATES: &str = "2026-01-29|2026-01-31|2026-02-28|2011-12-30|2011-12-31|2012-01-01";
/// Around changes of clocks, ends of months, and whole seconds.
const TIMES: &str = "2026-03-29 01:30:00.000|2026-03-29 02:30:00.000|2026-03-29 03:30:00.000|\
2026-01-31 00:00:00.001|2026-01-31 00:00:00.000|2026-01-29 00:00:00.000|\
2026-02-28 00:00:00.000|2026-02-28 00:00:00.999|1969-12-31 23:59:59.999";

/// A column's type, how it is declared, and values.
pub(super) type Kind = (DataType, &'static str, Vec<Value>);

fn texts(written: &str) -> Vec<Value> {
    let all = written.split('|');
    all.map(|text| Value::Text(text.into())).collect()
}

fn numbers(written: &str) -> Vec<Value> {
    let all = written.split('|');
    all.map(|number| Value::Number(Number::parse(number).unwrap()))
        .collect()
}

fn times(written: &str, kind: TimeKind, digits: usize) -> Vec<Value> {
    let all = written.split('|');
    all.map(|time| Value::Time(Time::from_sql(time, kind, digits).unwrap()))
        .collect()
}

/// The types of columns that a product can have, each with values.
pub(super) fn columns(dbms: Dbms) -> Vec<Kind> {
    let upper = UUIDS.map(str::to_uppercase).join("|");
    let in_two_cases = texts(&format!("{}|{upper}", UUIDS.join("|")));
    let mixed = [texts(TEXTS), texts("1|01|1.0"), in_two_cases.clone()].concat();
    let mut integers = numbers(INTEGERS);
    if dbms == Dbms::Sqlite {
        // What does not look like a number stays text in such a column.
        integers.extend(texts(TEXTS));
    }
    let integer = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    let text = |values| (DataType::Text { max_chars: None }, "text", values);
    // Several kinds of text, since most keys are made of it.
    let mut all = vec![
        (integer, "bigint", integers),
        text(texts(DELIMITED)),
        text(texts(DELIMITED)),
        text(texts(DELIMITED)),
        text(in_two_cases),
        text(mixed),
    ];
    if dbms != Dbms::Sqlite {
        all.extend(scalars());
        all.extend(points_in_time());
        all.extend([bytes(), fixed_bytes(), documents()]);
    }
    all
}

fn scalars() -> Vec<Kind> {
    let decimal = DataType::Decimal {
        precision: None,
        scale: None,
    };
    let names = NAMES.split('|').map(str::to_owned).collect();
    let cents = DataType::Decimal {
        precision: Some(6),
        scale: Some(2),
    };
    let short = DataType::Text { max_chars: Some(3) };
    let singles = DataType::Float { bits: 32 };
    vec![
        (short, "varchar(3)", texts(SHORT)),
        (cents, "numeric(6,2)", numbers(CENTS)),
        (singles, "real", numbers(SINGLES)),
        (decimal, "numeric", numbers(DECIMALS)),
        (
            DataType::Float { bits: 64 },
            "double precision",
            numbers(DECIMALS),
        ),
        (
            DataType::Boolean,
            "boolean",
            vec![Value::Bool(true), Value::Bool(false)],
        ),
        (DataType::Uuid, "uuid", texts(&UUIDS.join("|"))),
        (DataType::Enum { values: names }, "state", texts(NAMES)),
    ]
}

fn points_in_time() -> Vec<Kind> {
    let timestamp = |zone| DataType::Timestamp { digits: 3, zone };
    let clock = DataType::Time {
        digits: 0,
        zone: false,
    };
    let clocks = times("00:00:00|23:59:59|24:00:00", TimeKind::TimeOfDay, 0);
    vec![
        (DataType::Date, "date", times(DATES, TimeKind::Date, 0)),
        (
            timestamp(false),
            "timestamp(3)",
            times(TIMES, TimeKind::Timestamp, 3),
        ),
        (
            timestamp(true),
            "timestamptz(3)",
            times(TIMES, TimeKind::Instant, 3),
        ),
        (clock, "time", clocks),
    ]
}

fn bytes() -> Kind {
    let all = [
        &b""[..],
        b"\0",
        b"a",
        b"#",
        b"ab",
        b"\xff\x00",
        b"a#",
        &[0; 16],
        &[7; 16],
    ];
    let values = all.iter().map(|bytes| Value::Bytes(bytes.to_vec()));
    (
        DataType::Binary { max_bytes: None },
        "bytea",
        values.collect(),
    )
}

fn fixed_bytes() -> Kind {
    let values = [b"abcd", b"\0\0\0\0", b"a#%-"].map(|bytes| Value::Bytes(bytes.to_vec()));
    let data_type = DataType::Binary { max_bytes: Some(4) };
    (data_type, "binary(4)", values.into())
}

/// Documents that are written alike, and members of them.
pub(super) fn documents() -> Kind {
    let member = |text: &str| ("a".into(), Value::Text(text.into()));
    let mut values = texts("1|a|true");
    values.extend(numbers("1"));
    values.extend([
        Value::Bool(true),
        Value::Map(vec![member("x")]),
        Value::Map(vec![member("y"), ("b".into(), Value::Null)]),
    ]);
    (DataType::Json, "jsonb", values)
}
