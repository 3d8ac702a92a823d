//! Values of a query's columns, brought to what the item's own columns hold.

use dynafold_dynamodb::Attribute;
use dynafold_mapping::item::to_attribute;
use dynafold_relational::catalog::{DataType, TypeFamily};
use dynafold_relational::value::{Number, Text, Time, Value, parse_document};

/// A value as a column of this type would give it, where that loses nothing. Databases forget types in
/// expressions: SQLite gives `date(x)` as text, MySQL a boolean as a number.
pub(super) fn coerce(value: Value, data_type: &DataType) -> Value {
    let time = |text: &str| {
        let (kind, digits) = data_type.time()?;
        Time::from_sql(text, kind, usize::from(digits))
            .ok()
            .map(Value::Time)
    };
    let better = match (&value, data_type) {
        // An expression is of doubles: a single's has more digits, and is the same number.
        (Value::Number(number), DataType::Float { bits: 32 }) => single(number).map(Value::Number),
        (Value::Number(number), DataType::Boolean) => match number.as_str() {
            "0" => Some(Value::Bool(false)),
            "1" => Some(Value::Bool(true)),
            _ => None,
        },
        (Value::Bool(truth), _) if data_type.family() == TypeFamily::Number => {
            Number::parse(if *truth { "1" } else { "0" })
                .ok()
                .map(Value::Number)
        }
        (Value::Number(number), _) if data_type.family() == TypeFamily::Text => {
            Some(Value::Text(number.as_str().into()))
        }
        (Value::Text(text), _)
            if data_type.family() == TypeFamily::Number && Number::is_plain(text) =>
        {
            Number::parse(text).ok().map(Value::Number)
        }
        (Value::Text(text), DataType::Json) => parse_document(text).ok(),
        (Value::Text(_), DataType::Time { zone: true, .. }) => None,
        (Value::Text(text), _) => time(text),
        // An expression has more fractional digits than its column.
        (Value::Time(given), DataType::Timestamp { .. }) => {
            let is_same = data_type
                .time()
                .is_some_and(|(kind, _)| kind == given.kind());
            is_same.then(|| time(given.as_str())).flatten()
        }
        _ => None,
    };
    better.unwrap_or(value)
}

/// The number as a single prints, where the double is one.
fn single(number: &Number) -> Option<Number> {
    let double: f64 = number.as_str().parse().ok()?;
    let single: f32 = number.as_str().parse().ok()?;
    let is_one = f64::from(single).total_cmp(&double).is_eq();
    Number::from_f32(single).ok().filter(|_| is_one)
}

/// Whether an attribute says what a value of a query says, where the two may be of another kind: a
/// number and its text, a boolean and 0 or 1, times with and without zeros behind the point, a
/// document and its text. NULL is an absent attribute.
pub(super) fn loosely_same(attribute: Option<&Attribute>, value: &Value) -> bool {
    let other = match (attribute, value) {
        (Some(Attribute::L(_) | Attribute::M(_)), Value::Text(text)) => parse_document(text).ok(),
        (Some(Attribute::Ss(_) | Attribute::Ns(_) | Attribute::Bs(_)), Value::List(members)) => {
            Some(Value::Set(members.clone()))
        }
        _ => None,
    };
    let Ok(given) = to_attribute(other.as_ref().unwrap_or(value), false) else {
        return false;
    };
    match (attribute.filter(|one| **one != Attribute::Null), given) {
        (Some(attribute), Some(given)) => attribute.same(&given) || same_text(attribute, &given),
        (None, None) => true,
        _ => false,
    }
}

fn same_text(a: &Attribute, b: &Attribute) -> bool {
    let plain = |attribute| plain(attribute, shortened);
    matches!((plain(a), plain(b)), (Some(a), Some(b)) if a == b)
}

/// A scalar as one text, whatever its kind: by it rows find their items. `written`: what a text becomes.
pub(super) fn plain(attribute: &Attribute, written: fn(&Text) -> Text) -> Option<Text> {
    Some(match attribute {
        Attribute::S(text) => written(text),
        Attribute::N(number) => number.as_str().into(),
        Attribute::Bool(truth) => u8::from(*truth).to_string().into(),
        // No text of a column holds U+0000.
        Attribute::B(bytes) => format!("\0{bytes:02x?}").into(),
        _ => return None,
    })
}

/// A time without the zeros at the end of its fraction; other texts as they are.
fn shortened(text: &Text) -> Text {
    let shorter = || {
        let (time, rest) = text.split_once('.')?;
        let (time, rest) = (time.as_bytes(), rest.trim_end_matches('Z'));
        let mut pairs = time.iter().zip(b"0000-00-00T00:00:00");
        let is_time = time.len() == 19
            && rest.bytes().all(|byte| byte.is_ascii_digit())
            && pairs.all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b' '),
                _ => byte == form,
            });
        let zone = text.len().checked_sub(20 + rest.len())?;
        let short = text.get(..20 + rest.len())?;
        let short = short.trim_end_matches('0').trim_end_matches('.');
        (is_time && zone <= 1).then(|| format!("{short}{}", "Z".repeat(zone)).into())
    };
    shorter().unwrap_or_else(|| text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Attribute {
        Attribute::S(text.into())
    }

    #[test]
    fn kinds_that_a_database_forgets_are_the_same() {
        let number = |digits: &str| Number::parse(digits).unwrap();
        let same = |attribute: &Attribute, value: Value| loosely_same(Some(attribute), &value);
        assert!(same(&Attribute::N(number("7")), Value::Text("7".into())));
        assert!(same(&Attribute::Bool(true), Value::Number(number("1"))));
        assert!(same(
            &text("2026-01-31T10:00:00"),
            Value::Text("2026-01-31T10:00:00.000".into())
        ));
        assert!(same(
            &Attribute::L(vec![text("a")]),
            Value::Text("[\"a\"]".into())
        ));
        assert!(!same(&text("007"), Value::Number(number("7"))));
        assert!(!same(&text("a"), Value::Null));
        assert!(!same(
            &text("2026-01-31T10:00:00.1"),
            Value::Text("2026-01-31T10:00:00.01".into())
        ));
        assert!(same(
            &text("2026-01-31T10:00:00Z"),
            Value::Text("2026-01-31T10:00:00.000Z".into())
        ));
        for (one, other) in [
            (".5 paid 100", ".5 paid 1"),
            (".500Z 0Z", ".500Z Z"),
            (".50+00", ".5+"),
        ] {
            let [one, other] = [one, other].map(|end| format!("2026-01-31 10:00:00{end}"));
            assert!(!same(&text(&one), Value::Text(other.into())));
        }
        assert!(!same(
            &text("1234-x7-aa bb:cc:dd.50"),
            Value::Text("1234-x7-aa bb:cc:dd.5".into())
        ));
        assert!(loosely_same(None, &Value::Null));
        assert!(!loosely_same(None, &Value::Text("".into())));
        assert!(loosely_same(Some(&Attribute::Null), &Value::Null));
    }

    #[test]
    fn another_spelling_of_a_number_stays_a_text() {
        let read = |value: &str, data_type: &DataType| coerce(Value::Text(value.into()), data_type);
        let integer = DataType::Integer {
            bits: 64,
            unsigned: false,
        };
        for other in ["0012", "+12", "12e0", " 12", "12.", ".5", "-012", ""] {
            assert_eq!(read(other, &integer), Value::Text(other.into()));
        }
        for same in ["12", "-12", "12.00", "0.5", "0"] {
            assert!(matches!(read(same, &integer), Value::Number(_)), "{same}");
        }
        let number = |digits: &str| Value::Number(Number::parse(digits).unwrap());
        let read = |digits: &str| coerce(number(digits), &DataType::Float { bits: 32 });
        assert_eq!(read("1.25000001"), number("1.25000001"));
        assert_eq!(read("0.10000000149011612"), number("0.1"));
    }

    #[test]
    fn an_expression_is_read_as_its_column() {
        let stamp = DataType::Timestamp {
            digits: 3,
            zone: false,
        };
        let read = coerce(Value::Text("2026-01-31 10:00:00".into()), &stamp);
        assert!(matches!(read, Value::Time(time) if time.as_str() == "2026-01-31T10:00:00.000"));
        let date = coerce(
            Value::Text("2026-01-31".into()),
            &DataType::Text { max_chars: None },
        );
        assert_eq!(date, Value::Text("2026-01-31".into()));
    }
}
