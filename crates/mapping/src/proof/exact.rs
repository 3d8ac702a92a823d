//! Which texts of its forms a value has: its forms are wider, which is safe for what must not meet, and not for
//! what is deleted.

use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{Number, TimeKind};

use super::domain::Domain;
use super::text::letters;
use crate::model::Placeholder;
use crate::template::{Escape, Filter};

/// Which texts of its forms a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exact {
    /// All of them.
    Any,
    /// Those of whole numbers from `least` to `most`, with zeros before them where they are `padded`.
    Whole {
        least: i128,
        most: i128,
        padded: bool,
    },
    /// A number as it is written.
    Number,
    /// A date, or a date and a time of the day.
    Moment,
}

impl Exact {
    /// Of a value. `domain`: what is known of its column.
    pub(super) fn of(value: &Placeholder, domain: &Domain, data_type: Option<&DataType>) -> Self {
        let escapes = |escape: &Escape| "-.:T".chars().any(|letter| escape.has(letter));
        // SQLite's columns of numbers hold text too.
        if letters(&domain.forms).allows('x')
            || value.escape.as_ref().is_some_and(|escape| escapes(escape))
        {
            return Self::Any;
        }
        let padded = match value.filters.as_slice() {
            [] => false,
            [Filter::Pad { scale: 0, .. }] => true,
            [Filter::Epoch | Filter::EpochMs] => return Self::Number,
            [Filter::Date | Filter::Iso] => return Self::Moment,
            _ => return Self::Any,
        };
        let moment = |kind| {
            matches!(
                kind,
                TimeKind::Date | TimeKind::Timestamp | TimeKind::Instant
            )
        };
        match data_type {
            Some(DataType::Integer { bits, unsigned }) => {
                let bits = u32::from(*bits).clamp(1, 64);
                let (least, most) = if *unsigned {
                    (0, (1 << bits) - 1)
                } else {
                    (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
                };
                Self::Whole {
                    least,
                    most,
                    padded,
                }
            }
            Some(DataType::Decimal { .. } | DataType::Float { .. }) if !padded => Self::Number,
            Some(other) if other.time().is_some_and(|(kind, _)| moment(kind)) => Self::Moment,
            _ => Self::Any,
        }
    }

    /// Whether a text of the value's forms is one that it has.
    pub(super) fn allows(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Whole {
                least,
                most,
                padded,
            } => {
                let number = text.parse::<i128>();
                number.is_ok_and(|number| {
                    (least..=most).contains(&number) && (padded || number.to_string() == text)
                })
            }
            Self::Number => Number::parse(text).is_ok_and(|number| number.as_str() == text),
            Self::Moment => is_moment(text),
        }
    }
}

/// Whether month, day and clock are within their bounds. MySQL keeps the 31st of any month, PostgreSQL
/// the second 60.
fn is_moment(text: &str) -> bool {
    let part = |from: usize, least: u8, most: u8| {
        let part = text.get(from..from + 2).and_then(|part| part.parse().ok());
        text.len() <= from || part.is_some_and(|part: u8| (least..=most).contains(&part))
    };
    text.get(..4).is_some_and(|year| year != "0000")
        && part(5, 1, 12)
        && part(8, 1, 31)
        && part(11, 0, 24)
        && part(14, 0, 59)
        && part(17, 0, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_a_value_makes_are_its_own() {
        let int = |padded| Exact::Whole {
            least: -(1 << 31),
            most: (1 << 31) - 1,
            padded,
        };
        for (exact, own, others) in [
            (
                int(false),
                "0 7 -7 2147483647",
                "007 -0 00 2147483648 99999999999999",
            ),
            (int(true), "0000000007 2147483647", "9999999999"),
            (Exact::Number, "0.5 -1.25 100", "00.50 1.500 ...#1 1-1 -"),
            (
                Exact::Moment,
                "2026-01-31 2026-02-31 2026-01-31T23:59:59.000001Z",
                "2026-13-45 0000-00-00 2026-01-32 2026-01-31T25:00:00",
            ),
        ] {
            assert!(own.split(' ').all(|text| exact.allows(text)), "{own}");
            let allowed = others.split(' ').find(|text| exact.allows(text));
            assert_eq!(allowed, None, "{exact:?}");
        }
    }
}
