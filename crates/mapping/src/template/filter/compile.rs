//! Compiles a filter from what was written.

use dynafold_relational::value::{Number, Time, TimeKind, Value};

use super::super::{FilterArgument, FilterCall, Literal};
use super::{Filter, FilterEntry, Period, TimePattern};
use crate::diagnostic::nearest;

/// Most digits that `pad` and `desc` write: those of a DynamoDB number.
const MAX_DIGITS: usize = 38;

/// Why a filter call is not a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// When there is no filter of that name.
    #[error("there is no filter `{name}`")]
    Unknown {
        /// What was written.
        name: String,
        /// The name that is most like it.
        nearest: Option<&'static str>,
    },
    /// When the arguments are too few, too many or of the wrong kind.
    #[error("`{}` {problem}", .entry.name)]
    Arguments {
        /// The filter's name and arguments, as the language defines them.
        entry: &'static FilterEntry,
        /// What is wrong with them, after the filter's name.
        problem: String,
    },
}

impl FilterError {
    /// How to mend it.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown {
                nearest: Some(name),
                ..
            } => format!("did you mean `{name}`?"),
            Self::Unknown { nearest: None, .. } => {
                let names: Vec<&str> = Filter::NAMES.iter().map(|entry| entry.name).collect();
                format!("the filters are {}", names.join(", "))
            }
            Self::Arguments { entry, .. } => {
                format!("write {}, as in `{}`", entry.signature, entry.example)
            }
        }
    }
}

impl Filter {
    /// Reads a filter's name and arguments.
    ///
    /// # Errors
    ///
    /// [`FilterError`] when the filter is not known or its arguments are not what it takes.
    pub fn compile(call: &FilterCall) -> Result<Self, FilterError> {
        let Some(entry) = Self::entry(&call.name) else {
            return Err(FilterError::Unknown {
                name: call.name.clone(),
                nearest: nearest(&call.name, Self::NAMES.iter().map(|entry| entry.name)),
            });
        };
        compile(entry, &call.arguments).map_err(|problem| FilterError::Arguments { entry, problem })
    }
}

fn compile(entry: &FilterEntry, arguments: &[FilterArgument]) -> Result<Filter, String> {
    if entry.name == "map" {
        return map(arguments);
    }
    let literals = arguments
        .iter()
        .map(|argument| match argument {
            FilterArgument::Plain(literal) => Ok(literal),
            FilterArgument::Pair(key, _) => Err(format!("takes no pairs such as `{key}: …`")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    match (entry.name, literals.as_slice()) {
        ("pad", [digits]) => Ok(Filter::Pad {
            digits: count(digits, 1, MAX_DIGITS)?,
            scale: 0,
        }),
        ("pad", [digits, scale]) => Ok(Filter::Pad {
            digits: count(digits, 1, MAX_DIGITS)?,
            scale: count(scale, 0, MAX_DIGITS)?,
        }),
        ("desc", [digits]) => Ok(Filter::Desc {
            digits: count(digits, 1, MAX_DIGITS)?,
        }),
        ("format", [pattern]) => TimePattern::for_format(&pattern.text).map(Filter::Format),
        ("time", [pattern]) => TimePattern::for_parse(&pattern.text).map(Filter::Time),
        ("plus", [period]) => Period::parse(&period.text).map(Filter::Plus),
        ("truncate", [length]) => count(length, 1, 400_000).map(Filter::Truncate),
        ("replace", [from, to]) if !from.text.is_empty() => Ok(Filter::Replace {
            from: from.text.clone(),
            to: to.text.clone(),
        }),
        ("replace", [_, _]) => Err("cannot replace empty text".to_owned()),
        ("default", [value]) => Ok(Filter::Default(constant(value))),
        ("present", [yes, no]) => Ok(Filter::Present {
            yes: constant(yes),
            no: constant(no),
        }),
        ("shard", [shards]) => {
            let shards = count(shards, 1, 1_000_000)?;
            u32::try_from(shards)
                .map(Filter::Shard)
                .map_err(|_| "takes fewer shards".to_owned())
        }
        ("uuid", [order]) if order.text == "swap" => Ok(Filter::Uuid { swap: true }),
        ("uuid", [order]) => Err(format!("has no byte order `{}`", order.text)),
        (name, []) => plain(name).ok_or_else(|| "needs arguments".to_owned()),
        (name, given) if plain(name).is_some() => {
            Err(format!("needs no arguments, and gets {}", given.len()))
        }
        (_, [_]) => Err("does not take one argument".to_owned()),
        (_, given) => Err(format!("does not take {} arguments", given.len())),
    }
}

/// The filter of a name, if it takes no arguments.
fn plain(name: &str) -> Option<Filter> {
    use Filter::{
        Base64, Binary, Bool, Date, Epoch, EpochMs, Hex, Iso, Json, Lower, Number, Ordered,
        Pseudonym, Redact, Set, String, Trim, Upper, Uuid,
    };
    let uuid = Uuid { swap: false };
    let all = [
        Ordered, Iso, Date, Epoch, EpochMs, Upper, Lower, Trim, Hex, Base64, uuid, String, Number,
        Bool, Binary, Json, Set, Redact, Pseudonym,
    ];
    all.into_iter().find(|filter| filter.name() == name)
}

fn map(arguments: &[FilterArgument]) -> Result<Filter, String> {
    let mut codes: Vec<(String, Value)> = Vec::new();
    let mut other = None;
    for argument in arguments {
        match argument {
            FilterArgument::Pair(key, value) if key.text == "*" && !key.quoted => {
                if other.replace(constant(value)).is_some() {
                    return Err("has `*` twice".to_owned());
                }
            }
            FilterArgument::Pair(key, value) => {
                if codes.iter().any(|(known, _)| *known == key.text) {
                    return Err(format!("has `{key}` twice"));
                }
                codes.push((key.text.clone(), constant(value)));
            }
            FilterArgument::Plain(literal) if literal.text.contains(':') => {
                return Err(format!("needs a space after the colon in `{literal}`"));
            }
            FilterArgument::Plain(literal) => {
                return Err(format!("takes pairs, but `{literal}` is not one"));
            }
        }
    }
    if codes.is_empty() {
        return Err("names no value".to_owned());
    }
    Ok(Filter::Map { codes, other })
}

fn count(literal: &Literal, least: usize, most: usize) -> Result<usize, String> {
    literal
        .text
        .parse()
        .ok()
        .filter(|count| (least..=most).contains(count))
        .ok_or_else(|| {
            format!(
                "takes whole numbers from {least} to {most}, but `{}` is not one",
                literal.text
            )
        })
}

/// What a literal stands for: in quotes text, else a number, a boolean, a date or timestamp where
/// it is written as one, else text.
fn constant(literal: &Literal) -> Value {
    let text = literal.text.as_str();
    if literal.quoted {
        return Value::Text(text.into());
    }
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    // Others are codes.
    if Number::is_plain(text)
        && let Ok(number) = Number::parse(text)
    {
        return Value::Number(number);
    }
    constant_time(text).map_or_else(|| Value::Text(text.into()), Value::Time)
}

fn constant_time(text: &str) -> Option<Time> {
    let kind = match text.split_once('T') {
        None => TimeKind::Date,
        Some((_, clock)) if clock.ends_with('Z') => TimeKind::Instant,
        Some(_) => TimeKind::Timestamp,
    };
    let time = Time::from_sql(text, kind, 0).ok()?;
    (time.as_str() == text && super::time::is_real(&time)).then_some(time)
}
