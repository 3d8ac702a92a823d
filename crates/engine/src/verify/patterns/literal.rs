//! Values as literals of the source's SQL, which compare as its columns do.

use dynafold_relational::catalog::Dbms;
use dynafold_relational::value::Value;
use dynafold_source::Dialect;

/// A value as a literal; `None` for what has none: lists, documents, unfit values.
///
/// PostgreSQL's have no type, so that they take the column's. MySQL's text is hexadecimal, which
/// means the same in every SQL mode, and is compared under the column's collation.
pub(super) fn literal(value: &Value, dbms: Dbms, dialect: &dyn Dialect) -> Option<String> {
    let postgres = dbms == Dbms::Postgres;
    let quoted = |text: &str| {
        if postgres {
            dialect.literal(text)
        } else {
            dialect.literal(&format!("'{}'", text.replace('\'', "''")))
        }
    };
    Some(match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(truth) if postgres => quoted(if *truth { "true" } else { "false" }),
        Value::Bool(truth) => u8::from(*truth).to_string(),
        Value::Number(number) => dialect.literal(number.as_str()),
        Value::Text(text) => quoted(text),
        // MySQL does not take the letter of UTC; its session is in UTC.
        Value::Time(time) if !postgres => {
            let text = time.as_str().trim_end_matches('Z');
            quoted(&if dbms == Dbms::Sqlite {
                text.to_owned()
            } else {
                text.replacen('T', " ", 1)
            })
        }
        Value::Time(time) => quoted(time.as_str()),
        Value::Bytes(bytes) => {
            let mut digits = String::new();
            for byte in bytes {
                digits.push_str(&format!("{byte:02x}"));
            }
            if postgres {
                quoted(&format!("\\x{digits}"))
            } else {
                dialect.literal(&format!("x'{digits}'"))
            }
        }
        Value::List(_) | Value::Map(_) | Value::Set(_) | Value::Unfit(_) => return None,
    })
}

/// A time of ours in the form in which a SQLite column holds its times: `sample` is a literal of it.
pub(super) fn in_form(time: &str, sample: &str) -> String {
    let sample = sample.trim_matches('\'');
    let mut text = time.trim_end_matches('Z').to_owned();
    if sample.get(10..11) == Some(" ") {
        text = text.replacen('T', " ", 1);
    }
    let (clock, zone) = match sample.get(19..).unwrap_or_default() {
        rest if rest.ends_with('Z') => (rest.trim_end_matches('Z'), "Z"),
        rest => (rest, ""),
    };
    let digits = clock.strip_prefix('.').map_or(0, str::len);
    if let Some((before, fraction)) = text.clone().split_once('.') {
        let kept = fraction.trim_end_matches('0').len().max(digits);
        let kept = fraction.get(..kept).unwrap_or(fraction);
        text = match kept {
            "" => before.to_owned(),
            kept => format!("{before}.{kept}"),
        };
    } else if digits > 0 && text.len() == 19 {
        text = format!("{text}.{}", "0".repeat(digits));
    }
    if sample.len() == 10 {
        text.truncate(10);
    }
    format!("'{text}{zone}'")
}

#[cfg(test)]
mod tests {
    use super::in_form;

    #[test]
    fn a_moment_takes_the_form_of_the_columns_own_times() {
        let time = "2020-01-01T10:00:00";
        assert_eq!(
            in_form(time, "'2019-12-01T10:00:00'"),
            "'2020-01-01T10:00:00'"
        );
        assert_eq!(
            in_form(time, "'2019-12-01 10:00:00.123'"),
            "'2020-01-01 10:00:00.000'"
        );
        assert_eq!(in_form(time, "'2019-12-01'"), "'2020-01-01'");
        assert_eq!(
            in_form("2020-01-01T10:00:00.000Z", "'2019-12-01 10:00:00Z'"),
            "'2020-01-01 10:00:00Z'"
        );
    }
}
