use dynafold_relational::catalog::{DataType, Dbms};

use super::*;
use crate::diagnostic::Code;

fn open_or_closed() -> DataType {
    DataType::Enum {
        values: ["open", "closed"].map(str::to_owned).to_vec(),
    }
}

fn timestamp(zone: bool) -> DataType {
    DataType::Timestamp { digits: 3, zone }
}

fn money() -> DataType {
    DataType::Decimal {
        precision: Some(10),
        scale: Some(2),
    }
}

/// What a chain refuses of a column, as far as it goes.
fn tried(
    trial: &mut FilterTrial,
    data_type: &DataType,
    written: &str,
) -> Vec<(Code, String, String)> {
    let mut family = data_type.family();
    let mut refusals = Vec::new();
    for filter in filters(written).expect(written) {
        let Ok(after) = filter.family(family) else {
            break;
        };
        refusals.extend(trial.through(&filter, family));
        family = after;
    }
    refusals
}

fn refused(data_type: &DataType, dbms: Dbms, written: &str) -> String {
    let mut trial = FilterTrial::of("x", data_type, dbms);
    let refusals = tried(&mut trial, data_type, written);
    let shown = refusals.into_iter().map(|refusal| match refusal {
        (Code::FilterType, message, _) => format!("every: {message}"),
        (Code::RefusedValues, message, _) => format!("some: {message}"),
        (_, message, help) => format!("{message}; {help}"),
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn a_filter_that_refuses_values_of_the_columns_type_says_so_before_a_row_is_read() {
    let flags = DataType::Array {
        element: Box::new(DataType::Boolean),
    };
    let time = DataType::Time {
        digits: 0,
        zone: false,
    };
    let integer = DataType::Integer {
        bits: 32,
        unsigned: false,
    };
    for (data_type, written, reported) in [
        (
            DataType::Date,
            "plus(1h)",
            "every: `plus(…)` refuses every value here: `plus` cannot add hours, minutes or seconds to a date",
        ),
        (DataType::Date, "plus(1mo)", ""),
        (DataType::Date, "plus(9998y)", ""),
        (
            DataType::Date,
            "format(\"%H:%M\")",
            "every: `format(\"%H:%M\")` refuses every value here: the time does not have every part that `%H:%M` needs",
        ),
        (DataType::Date, "iso", ""),
        (
            time.clone(),
            "date",
            "every: `date` refuses every value here: `date` needs a date or timestamp",
        ),
        (
            time.clone(),
            "plus(1h)",
            "every: `plus(…)` refuses every value here: `plus` needs a date or timestamp",
        ),
        (time, "format(\"%H\")", ""),
        (
            timestamp(false),
            "format(\"%s\")",
            "every: `format(\"%s\")` refuses every value here: the time does not have every part that `%s` needs",
        ),
        (timestamp(true), "format(\"%s\")", ""),
        (
            timestamp(false),
            "date | plus(1h) | epoch",
            "every: `plus(…)` refuses every value here: `plus` cannot add hours, minutes or seconds to a date",
        ),
        (
            timestamp(false),
            "string | time(\"%Y-%m-%d %H:%M:%S\")",
            "every: `time(\"%Y-%m-%d %H:%M:%S\")` refuses every value here: the text is not a time of the form `%Y-%m-%d %H:%M:%S`",
        ),
        (
            DataType::Text { max_chars: None },
            "time(\"%Y-%m-%d\") | plus(-1m)",
            "every: `plus(…)` refuses every value here: `plus` cannot add hours, minutes or seconds to a date",
        ),
        (DataType::Text { max_chars: None }, "number | pad(3)", ""),
        (
            DataType::Boolean,
            "map(1: yes, 0: no)",
            "`map` has an entry `1`, and no value here has this text; write a boolean as `true` or `false`\n`map` has an entry `0`, and no value here has this text; write a boolean as `true` or `false`",
        ),
        (DataType::Boolean, "map(true: yes, false: no)", ""),
        (
            open_or_closed(),
            "map(open: O)",
            "some: `map(…)` refuses rows of `closed`: `map` has no entry for the value",
        ),
        (
            open_or_closed(),
            "map(Open: O, *: X)",
            "`map` has an entry `Open`, and no value here has this text; did you mean `open`?",
        ),
        (open_or_closed(), "default(none) | map(none: N, *: X)", ""),
        (
            open_or_closed(),
            "bool",
            "every: `bool` refuses every value here: the value is neither true nor false",
        ),
        (
            integer.clone(),
            "map(a: x, *: y)",
            "`map` has an entry `a`, and no value here has this text; write a number as DynamoDB returns it: 7, -1, 0.5",
        ),
        (
            integer.clone(),
            "map(01: x, *: y)",
            "`map` has an entry `01`, and no value here has this text; write a number as DynamoDB returns it: 7, -1, 0.5",
        ),
        (integer.clone(), "map(1: x, 2: y)", ""),
        (integer.clone(), "pad(1)", ""),
        (
            integer.clone(),
            "default(-1) | pad(3)",
            "every: `pad(3)` refuses the `-1` that an earlier filter writes: `pad` cannot take a negative number",
        ),
        (
            integer,
            "map(1: -1, *: 7) | desc(3)",
            "every: `desc(3)` refuses the `-1` that an earlier filter writes: `desc` cannot take a negative number",
        ),
        (
            money(),
            "pad(8)",
            "some: `pad(8)` refuses rows: `x` has 2 digits after the point, and the number has more than 0 digits after the point",
        ),
        (money(), "pad(8, 2)", ""),
        (
            DataType::Float { bits: 64 },
            "desc(8)",
            "some: `desc(8)` refuses rows: `x` is a float, and the number has more than 0 digits after the point",
        ),
        (
            DataType::Uuid,
            "number",
            "every: `number` refuses every value here: the text is not a number that DynamoDB could hold",
        ),
        (DataType::Uuid, "uuid", ""),
        (
            DataType::Interval,
            "number",
            "every: `number` refuses every value here: the text is not a number that DynamoDB could hold",
        ),
        (
            flags,
            "set",
            "every: `set` refuses every value here: a set cannot hold a boolean",
        ),
        (DataType::Dynamic, "plus(1h)", ""),
        (DataType::Json, "map(1: x)", ""),
    ] {
        assert_eq!(
            refused(&data_type, Dbms::Postgres, written),
            reported,
            "{data_type:?} | {written}"
        );
    }
}

#[test]
fn what_a_conversion_may_read_from_a_loosely_typed_column_is_not_judged() {
    for (data_type, written) in [
        (DataType::Date, "string | time(\"%d.%m.%Y\")"),
        (DataType::Boolean, "string | map(yes: Y, no: N)"),
        (DataType::Uuid, "number"),
        (timestamp(false), "string | number"),
    ] {
        assert_eq!(refused(&data_type, Dbms::Sqlite, written), "", "{written}");
        assert_ne!(
            refused(&data_type, Dbms::Postgres, written),
            "",
            "{written}"
        );
    }
}

#[test]
fn a_column_that_counts_its_rows_needs_as_many_digits() {
    let integer = DataType::Integer {
        bits: 32,
        unsigned: false,
    };
    for (rows, written, is_reported) in [
        (60_000, "pad(3)", true),
        (60_000, "pad(5)", false),
        (1_000, "pad(3)", false),
        (1_001, "pad(3)", true),
        (1_001, "desc(3)", true),
        (60_000, "default(0) | pad(3)", true),
        (60_000, "shard(4)", false),
        (60_000, "map(1: 7, *: 8) | pad(3)", false),
        (0, "pad(1)", false),
    ] {
        let mut trial = FilterTrial::of("id", &integer, Dbms::Postgres)
            .counting(rows, "there are so many".to_owned());
        let refusals = tried(&mut trial, &integer, written);
        let is_some = matches!(refusals.as_slice(), [(Code::RefusedValues, ..)]);
        assert_eq!(is_some, is_reported, "{rows} {written}: {refusals:?}");
        assert!(is_reported || refusals.is_empty(), "{rows} {written}");
    }
}

#[test]
fn of_what_is_refused_for_every_value_none_passes() {
    let firsts = [
        "date",
        "iso",
        "epoch",
        "epoch_ms",
        "string",
        "plus(1h)",
        "plus(1mo)",
        "plus(-2000y)",
        "format(\"%H\")",
        "format(\"%Y%m%d\")",
        "format(\"%-d\")",
        "format(\"%j\")",
        "format(\"%b\")",
        "format(\"%s\")",
        "format(\"%Z\")",
        "set",
    ];
    let seconds = [
        "number",
        "bool",
        "json",
        "uuid",
        "pad(1)",
        "pad(4)",
        "desc(2)",
        "plus(3h)",
        "date",
        "epoch",
        "time(\"%Y-%m-%d\")",
        "time(\"%Y%m%d\")",
        "time(\"%H\")",
        "time(\"%Y-%m-%dT%H:%M:%S%.3fZ\")",
        "format(\"%T\")",
        "iso",
    ];
    let days = (0..40_u32).map(|n| {
        let (year, month, day) = (1 + n * 256 % 9999, 1 + n * 7 % 12, 1 + n * 5 % 28);
        format!("{year:04}-{month:02}-{day:02}")
    });
    let days: Vec<String> = days.collect();
    let clocks = [
        "00:00:00.000",
        "01:01:01.000",
        "12:30:59.999",
        "23:59:59.001",
    ];
    let mut judged = 0;
    for (data_type, end) in [
        (DataType::Date, None),
        (timestamp(false), Some("")),
        (timestamp(true), Some("Z")),
    ] {
        let values: Vec<Value> = match end {
            None => days.iter().map(|day| time(day)).collect(),
            Some(end) => days
                .iter()
                .flat_map(|day| clocks.map(|clock| time(&format!("{day}T{clock}{end}"))))
                .collect(),
        };
        for first in firsts {
            for second in seconds {
                let written = format!("{first} | {second}");
                if !refused(&data_type, Dbms::Postgres, &written).contains("every") {
                    continue;
                }
                judged += 1;
                for value in &values {
                    let made = try_apply(&written, value.clone(), &Context::default());
                    assert!(
                        made.is_err(),
                        "{data_type:?} {value:?} | {written}: {made:?}"
                    );
                }
            }
        }
    }
    assert!(judged > 100, "{judged}");
}
