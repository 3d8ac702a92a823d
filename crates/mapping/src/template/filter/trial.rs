//! Tries filters on values that stand for all of a column's, before any row is read: what a filter
//! refuses, the filter itself says.

use dynafold_format::joined;
use dynafold_relational::catalog::{DataType, Dbms, TypeFamily};
use dynafold_relational::value::{Number, Time, TimeKind, Value};

use super::{ApplyError, Context, Filter, canonical};
use crate::diagnostic::{Code, nearest};

/// Days at both ends of the calendar, at the epoch, and one between.
const DAYS: [&str; 4] = ["0001-01-01", "1970-01-01", "2026-10-31", "9999-12-31"];
const CLOCKS: [&str; 2] = ["00:00:00", "14:05:06"];
const UUIDS: [&str; 2] = [
    "00000000-0000-0000-0000-000000000000",
    "8c5f1d2e-9a4b-4c3d-8e7f-0a1b2c3d4e5f",
];

/// What is known of the values of one placeholder, from its column on through its filters: nothing by default.
#[derive(Debug, Clone, Default)]
pub struct FilterTrial {
    samples: Vec<Value>,
    reach: Reach,
    /// Constants that filters put: each stands for whole rows.
    constants: Vec<Value>,
    /// Whether the column may hold values that its type does not have, which a conversion reads
    /// (SQLite).
    is_loose: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Reach {
    /// The samples are all the values that there are.
    All,
    /// A filter that refuses all samples refuses every value.
    #[default]
    Kind,
    /// The column can hold the samples, for this reason; nothing is known of others.
    Some(String),
}

/// What a filter refuses, and how to mend it. The code is that of a filter that refuses every value, or every row for
/// which an earlier filter puts a constant; of one that refuses values which the column can hold; or of a `map` that
/// names what is no value here.
type Refusal = (Code, String, String);

impl FilterTrial {
    /// The values of a column, with how messages call it.
    pub fn of(column: &str, data_type: &DataType, dbms: Dbms) -> Self {
        let is_loose = dbms == Dbms::Sqlite;
        let reach = match data_type {
            DataType::Boolean | DataType::Enum { .. } => Reach::All,
            DataType::Decimal {
                scale: Some(scale), ..
            } => Reach::Some(format!("`{column}` has {scale} digits after the point")),
            DataType::Float { .. } => Reach::Some(format!("`{column}` is a float")),
            _ => Reach::Kind,
        };
        let is_text = matches!(data_type, DataType::Uuid | DataType::Interval);
        let samples = samples(data_type).into_iter();
        Self {
            samples: samples.filter(|_| !(is_loose && is_text)).collect(),
            reach,
            is_loose,
            ..Self::default()
        }
    }

    /// A column whose whole numbers all differ, of about so many rows: one of them is that large.
    pub fn counting(mut self, rows: u64, because: String) -> Self {
        let largest = Number::parse(&rows.saturating_sub(1).to_string());
        self.samples = largest.map(Value::Number).into_iter().collect();
        self.reach = Reach::Some(because);
        self
    }

    /// Goes on through a filter that is given values of this family, and tells what it refuses.
    pub fn through(&mut self, filter: &Filter, given: TypeFamily) -> Vec<Refusal> {
        let mut refusals = self.strange_codes(filter, given);
        if !refusals.is_empty() || self.loses_sight(filter) {
            self.samples.clear();
        }
        let context = Context::default();
        let apply = |value: &Value| filter.apply(value.clone(), &context);
        let named = |error: &ApplyError| !matches!(error, ApplyError::NoSecret);
        self.constants.retain_mut(|constant| match apply(constant) {
            Ok(made) => {
                *constant = made;
                true
            }
            Err(error) => {
                if named(&error) {
                    let written = canonical(constant).unwrap_or_default();
                    let message = format!(
                        "`{}` refuses the `{written}` that an earlier filter writes: {error}",
                        filter.written()
                    );
                    refusals.push((Code::FilterType, message, error.help().to_owned()));
                }
                false
            }
        });
        let mut refused: Vec<(Value, ApplyError)> = Vec::new();
        let mut passed = Vec::new();
        for sample in std::mem::take(&mut self.samples) {
            match apply(&sample) {
                Ok(made) => passed.push(made),
                Err(error) if named(&error) => refused.push((sample, error)),
                Err(_) => {}
            }
        }
        if let Some((_, error)) = refused.first() {
            let written = filter.written();
            let fault = match &self.reach {
                Reach::Some(because) => {
                    let message = format!("`{written}` refuses rows: {because}, and {error}");
                    Some((Code::RefusedValues, message))
                }
                _ if passed.is_empty() => {
                    let message = format!("`{written}` refuses every value here: {error}");
                    Some((Code::FilterType, message))
                }
                Reach::All => {
                    let values = refused.iter().filter_map(|(value, _)| canonical(value));
                    let values = joined(values.map(|text| format!("`{text}`")), ", ");
                    let message = format!("`{written}` refuses rows of {values}: {error}");
                    Some((Code::RefusedValues, message))
                }
                Reach::Kind => None,
            };
            refusals.extend(fault.map(|(code, message)| (code, message, error.help().to_owned())));
        }
        self.samples = passed;
        self.settle(filter);
        refusals
    }

    /// Whether what a filter takes depends on more than is known of the values.
    fn loses_sight(&self, filter: &Filter) -> bool {
        let reads = matches!(
            filter,
            Filter::Number | Filter::Bool | Filter::Json | Filter::Time(_) | Filter::Uuid { .. }
        );
        match (filter, &self.reach) {
            (Filter::Map { .. }, reach) => *reach != Reach::All,
            (Filter::String | Filter::Binary, _) => self.is_loose,
            (_, Reach::Some(_)) => reads,
            _ => reads && self.is_loose,
        }
    }

    /// What a filter adds to what is known.
    fn settle(&mut self, filter: &Filter) {
        match filter {
            Filter::Present { .. } => {
                self.samples.clear();
                self.constants.clear();
            }
            Filter::Map { .. } if !self.samples.is_empty() => return,
            Filter::Time(pattern) if self.samples.is_empty() => {
                self.samples = times(pattern.kind(), 0);
                self.reach = Reach::Kind;
            }
            _ => {}
        }
        let constants = filter.constants().into_iter();
        self.constants.extend(constants.cloned());
    }

    /// What `map` names though no value is written so.
    fn strange_codes(&self, filter: &Filter, given: TypeFamily) -> Vec<Refusal> {
        let Filter::Map { codes, .. } = filter else {
            return Vec::new();
        };
        let is_all = self.reach == Reach::All && !self.samples.is_empty();
        let all = || {
            let known = self.samples.iter().chain(&self.constants);
            known.filter_map(canonical)
        };
        let may_be = |key: &str| match given {
            _ if is_all => key.is_empty() || all().any(|value| value == key),
            TypeFamily::Boolean => matches!(key, "true" | "false"),
            TypeFamily::Number => Number::parse(key).is_ok_and(|number| number.as_str() == key),
            _ => true,
        };
        let strange = codes.iter().filter(|(key, _)| !may_be(key));
        let refusals = strange.map(|(key, _)| {
            let help = match (nearest(key, all()), given) {
                (Some(near), _) if is_all => format!("did you mean `{near}`?"),
                (_, TypeFamily::Boolean) => "write a boolean as `true` or `false`".to_owned(),
                (_, TypeFamily::Number) => {
                    "write a number as DynamoDB returns it: 7, -1, 0.5".to_owned()
                }
                _ => format!("the values are {}", joined(all(), ", ")),
            };
            let message = format!("`map` has an entry `{key}`, and no value here has this text");
            (Code::FilterArguments, message, help)
        });
        refusals.collect()
    }
}

fn samples(data_type: &DataType) -> Vec<Value> {
    let texts = |texts: &[&str]| {
        let texts = texts.iter().map(|text| Value::Text((*text).into()));
        texts.collect::<Vec<_>>()
    };
    let number = |text: &str| {
        let number = Number::parse(text).map(Value::Number);
        number.into_iter().collect::<Vec<_>>()
    };
    match data_type {
        DataType::Boolean => vec![Value::Bool(true), Value::Bool(false)],
        DataType::Enum { values } => {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            texts(&values)
        }
        DataType::Uuid => texts(&UUIDS),
        DataType::Interval => texts(&["PT0S", "P1Y2M3DT4H5M6S"]),
        DataType::Array { element } => {
            let elements = samples(element).into_iter();
            elements.map(|element| Value::List(vec![element])).collect()
        }
        DataType::Decimal {
            scale: Some(scale @ 1..),
            ..
        } => number(&format!("1e-{scale}")),
        DataType::Float { .. } => number("0.5"),
        other => other
            .time()
            .map_or(Vec::new(), |(kind, digits)| times(kind, digits)),
    }
}

fn times(kind: TimeKind, digits: u8) -> Vec<Value> {
    let fraction = match usize::from(digits) {
        0 => String::new(),
        digits => format!(".{}", "0".repeat(digits)),
    };
    let mut texts: Vec<String> = Vec::new();
    for clock in CLOCKS {
        match kind {
            TimeKind::Date => texts = DAYS.map(str::to_owned).to_vec(),
            TimeKind::TimeOfDay => texts.push(format!("{clock}{fraction}")),
            TimeKind::TimeOfDayWithOffset => texts.push(format!("{clock}{fraction}+00:00")),
            TimeKind::Timestamp => {
                texts.extend(DAYS.map(|day| format!("{day}T{clock}{fraction}")));
            }
            TimeKind::Instant => texts.extend(DAYS.map(|day| format!("{day}T{clock}{fraction}Z"))),
        }
    }
    let times = texts.into_iter();
    let times = times.map(|text| Value::Time(Time::canonical(text.into(), kind)));
    times.collect()
}
