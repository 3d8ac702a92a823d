//! Values that every server prints alike.

use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{Number, Time, UnfitReason, Value, parse_document};

/// Reads the text of a number, a document, a time, or anything else that stays text.
pub(super) fn printed(text: &str, data_type: &DataType) -> Value {
    let read = match data_type {
        DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } => {
            number(text)
        }
        DataType::Json => parse_document(text).map_err(|error| error.reason()),
        other => match other.time() {
            Some((kind, digits)) => Time::from_sql(text, kind, usize::from(digits))
                .map(Value::Time)
                .map_err(UnfitReason::from),
            None => Ok(Value::Text(text.into())),
        },
    };
    read.unwrap_or_else(|why| Value::unfit(text, why))
}

fn number(text: &str) -> Result<Value, UnfitReason> {
    match Number::parse(text) {
        Ok(number) => Ok(Value::Number(number)),
        Err(_) if matches!(text, "NaN" | "Infinity" | "-Infinity") => Err(UnfitReason::NotFinite),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_says_why() {
        for (text, why) in [
            ("1.5", None),
            ("NaN", Some(UnfitReason::NotFinite)),
            ("-Infinity", Some(UnfitReason::NotFinite)),
            ("1e-200", Some(UnfitReason::Magnitude)),
            (&"1".repeat(39), Some(UnfitReason::TooManyDigits)),
            ("abc", Some(UnfitReason::NotANumber)),
        ] {
            assert_eq!(number(text).err(), why, "{text}");
        }
    }
}
