//! Whether the order of a sort key's text is the order of its values.
//!
//! Claimed is this: of two items with different texts, the one whose values come first has the text that
//! comes first, byte by byte. Values are what the filters give, compared from left to right: numbers as numbers (behind `desc`
//! the other way round), times as times, all other text by its bytes; an optional segment that is left
//! out comes before any that is there. So each value must be written in its own order; and a value of
//! which another is the beginning (`Ann`, `Anna`) must be the last, or end before a letter that sorts
//! before all that the value may go on with.

use std::sync::Arc;

use dynafold_dynamodb::{KeyAttribute, KeyType, Table};
use dynafold_format::each_once;
use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{TimeKind, Value, compare};

use super::domain::{Domain, ValueKind};
use super::facts::ProofSubject;
use super::indexes::key_attributes;
use super::text::{CharSet, letters};
use crate::claim::{self, Claim, ClaimKind, ClaimVerdict};
use crate::diagnostic::Code;
use crate::model::{Placeholder, Template, TemplatePart};
use crate::template::{Filter, canonical};

/// Why the order of a sort key's text is not that of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Disorder {
    /// The code and the help, where it is a fault; else it only keeps the order from being proved.
    pub fault: Option<(Code, String)>,
    pub because: String,
    /// Two values that show it.
    example: Option<String>,
}

impl Disorder {
    fn open(because: String) -> Self {
        Self {
            fault: None,
            because,
            example: None,
        }
    }

    fn fault(code: Code, because: String, help: impl Into<String>) -> Self {
        Self {
            fault: Some((code, help.into())),
            ..Self::open(because)
        }
    }
}

/// The sort key attributes that are text: the table's and those of indexes, each once.
pub(crate) fn sort_keys(table: &Table) -> Vec<&Arc<str>> {
    let is_text =
        |key: &KeyAttribute| key.key_type == KeyType::S && key.name != table.partition.name;
    let keys = key_attributes(table).into_iter();
    keys.filter(|(key, is_sort)| *is_sort && is_text(key))
        .map(|(key, _)| &key.name)
        .collect()
}

/// How a value is written, on its way through filters.
enum WrittenForm {
    /// As a number's own text.
    Number,
    /// As a time's own text.
    Time,
    /// In the order of its values, for this reason.
    InOrder(String),
    /// Nothing shows the order, for this reason.
    Open(String),
}

/// Everything that keeps the order of a template's text from being that of its values.
pub(crate) fn disorders(subject: ProofSubject<'_>, template: &Template) -> Vec<Disorder> {
    let each = template.placeholders();
    let each = each.filter_map(|one| value(subject, one).err());
    let mut found: Vec<Disorder> = each.collect();
    if let (Some(one), [disorder]) = (template.single(), found.as_mut_slice())
        && matches!(disorder.fault, Some((Code::UnpaddedNumber, _)))
    {
        // A key attribute of numbers is none of these.
        *disorder = Disorder::open(format!("`{}` is a number as text", one.place.written));
    }
    found.extend(joint_disorders(subject, template));
    found
}

/// What puts a value into its order, in words; or why it is not in it.
fn value(subject: ProofSubject<'_>, placeholder: &Placeholder) -> Result<String, Disorder> {
    let name = placeholder.place.written.clone();
    let column = subject.facts.columns.get(placeholder.place.column);
    let data_type = column.and_then(|column| column.data_type.as_ref());
    let mut domain = subject.domain(placeholder);
    let mut written = match (domain.kind, data_type) {
        (ValueKind::Text, Some(DataType::Enum { values })) if !values.is_sorted() => {
            WrittenForm::Open(format!(
                "the values of `{name}` are not declared in the order of their names"
            ))
        }
        (ValueKind::Text | ValueKind::Uuid | ValueKind::Binary, _) => {
            WrittenForm::InOrder(format!("`{name}` is in the order of its bytes"))
        }
        (ValueKind::Boolean, _) => {
            WrittenForm::InOrder(format!("`{name}` sorts false before true"))
        }
        (ValueKind::Number, _)
        | (
            ValueKind::Other,
            Some(DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. }),
        ) => WrittenForm::Number,
        (ValueKind::Time(..), _) => WrittenForm::Time,
        (ValueKind::Other, _) => {
            WrittenForm::Open(format!("`{name}` may hold values of several types"))
        }
    };
    if let Some(declared) = column.and_then(|column| column.own_order.as_ref()) {
        written = WrittenForm::Open(format!(
            "the database may sort `{name}` ({declared}) in another order than that of its text"
        ));
    }
    for filter in &placeholder.filters {
        written = rewritten(written, filter, &domain, &name)?;
        domain = domain.through(filter, subject.time_zone);
    }
    if let Some(escape) = &placeholder.escape {
        let all = letters(&domain.forms);
        let moved = all.ascii().find(|letter| escape.has(*letter));
        if moved.is_some() || !all.is_ascii() {
            let letter = moved.map_or_else(String::new, |letter| format!(", such as {letter:?}"));
            let why = format!(
                "`key_escape` moves characters of `{name}` to another place in the sort order{letter}"
            );
            return Err(Disorder::open(why));
        }
    }
    match (written, domain.kind) {
        (WrittenForm::InOrder(words), _) => Ok(words),
        (WrittenForm::Open(why), _) => Err(Disorder::open(why)),
        // 09:00+09:00 sorts after 08:00+00:00 and is before it.
        (WrittenForm::Time, ValueKind::Time(TimeKind::TimeOfDayWithOffset, _)) => {
            Err(Disorder::fault(
                Code::UnorderedTime,
                format!("`{name}` has an offset of its own: its text is not in the order of time"),
                "convert it to UTC in `from: { sql: … }`, or keep it out of the sort key",
            ))
        }
        (WrittenForm::Number, _) => Err(Disorder::fault(
            Code::UnpaddedNumber,
            format!("`{name}` is a number in a sort key: as text, 9 sorts after 31"),
            format!("pad it: {{{name} | pad(10)}}, or {{{name} | ordered}} if it can be negative"),
        )),
        (WrittenForm::Time, _) if domain.forms.len() == 1 && domain.width().is_some() => {
            Ok(format!("`{name}` is a time of fixed length"))
        }
        (WrittenForm::Time, _) => Err(Disorder::open(format!(
            "`{name}` is a time of varying length"
        ))),
    }
}

/// How a value is written after a filter. `before`: what is known of it before.
fn rewritten(
    written: WrittenForm,
    filter: &Filter,
    before: &Domain,
    name: &Arc<str>,
) -> Result<WrittenForm, Disorder> {
    let in_order = |words: &str| Ok(WrittenForm::InOrder(format!("`{name}` {words}")));
    let open = |why: &str| Ok(WrittenForm::Open(format!("`{name}` {why}")));
    // Behind a filter that may change a text, that it was padded is no reason any more.
    let as_text = || {
        let filter = filter.name();
        in_order(&format!("after `{filter}` is in the order of its bytes"))
    };
    match filter {
        Filter::Pad { .. } => in_order("is padded"),
        Filter::Ordered => in_order("is written in the order of numbers"),
        Filter::Desc { .. } => in_order("descends"),
        Filter::Format(pattern) => match falls(pattern.as_str()) {
            TimeWriting::Whole => in_order("is a time, from years down"),
            TimeWriting::Part => {
                open("leaves out years, or is written by a pattern that Dynafold does not analyze")
            }
            TimeWriting::Not => Err(Disorder::fault(
                Code::UnorderedTime,
                format!(
                    "`{name}` is written as `{}`, which is not in the order of time",
                    pattern.as_str()
                ),
                "write the parts from years to seconds, as in \"%Y-%m-%d\"; the time's own text sorts correctly too",
            )),
        },
        Filter::Map { .. } | Filter::Present { .. } if has_ordered_codes(filter) => {
            in_order("is one of a few codes in order")
        }
        Filter::Map { .. } => {
            let mut codes = filter.constants().into_iter();
            if codes.all(|code| matches!(code, Value::Number(_))) {
                Ok(WrittenForm::Number)
            } else {
                open("is one of a few codes of several types")
            }
        }
        Filter::Present { .. } => Ok(WrittenForm::Number),
        Filter::Default(_) if !before.nullable && !before.unfit => Ok(written),
        Filter::Default(value) => match (&written, value) {
            (WrittenForm::Number, Value::Number(_))
            | (WrittenForm::Time, Value::Time(_))
            | (WrittenForm::Open(_), _) => Ok(written),
            (WrittenForm::InOrder(_), Value::Text(_)) if before.kind == ValueKind::Text => {
                as_text()
            }
            _ => open("has a default of another type"),
        },
        Filter::Iso | Filter::Date | Filter::Time(_) => Ok(WrittenForm::Time),
        Filter::Epoch | Filter::EpochMs | Filter::Number => Ok(WrittenForm::Number),
        Filter::Bool => in_order("sorts false before true"),
        Filter::String if before.unfit && before.kind != ValueKind::Text => {
            open("may hold what does not fit its type")
        }
        Filter::Base64 => open("is written in base64, which is not in the order of bytes"),
        Filter::Json | Filter::Set | Filter::Redact => open("may hold values of several types"),
        // A number stays one.
        Filter::Pseudonym if before.kind == ValueKind::Other => {
            open("may hold values of several types")
        }
        Filter::Pseudonym if before.kind == ValueKind::Number => Ok(WrittenForm::Number),
        Filter::Plus(_) | Filter::String | Filter::Binary => Ok(written),
        Filter::Upper
        | Filter::Lower
        | Filter::Trim
        | Filter::Truncate(_)
        | Filter::Replace { .. }
        | Filter::Shard(_)
        | Filter::Hex
        | Filter::Uuid { .. }
        | Filter::Pseudonym => match written {
            // A number or a time that is text already: its order is not that of the new text.
            WrittenForm::Number | WrittenForm::Time => {
                open("is a number or a time that is changed as text")
            }
            WrittenForm::InOrder(_) => as_text(),
            // Where the order of a value is not known, that of a text made from it is not known either.
            WrittenForm::Open(_) => Ok(written),
        },
    }
}

/// Whether a filter gives one of a few codes, all numbers or all text, whose texts are in their order.
fn has_ordered_codes(filter: &Filter) -> bool {
    let mut codes = filter.constants();
    codes.sort_by(|a, b| compare(a, b));
    codes
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a.kind() == b.kind() && canonical(a) <= canonical(b)))
}

/// What keeps values that are in order from being so one behind another.
fn joint_disorders(subject: ProofSubject<'_>, template: &Template) -> Vec<Disorder> {
    let known = subject.known(template);
    let mut found = Vec::new();
    let mut numbers = 0..;
    let mut flat: Vec<Piece<'_>> = Vec::new();
    let mut left_out = false;
    for part in &template.parts {
        let (inner, optional) = match part {
            TemplatePart::Optional(inner) => (inner.as_slice(), true),
            part => (std::slice::from_ref(part), false),
        };
        let mut certain = true;
        for part in inner {
            match part {
                TemplatePart::Text(text) => flat.push(Piece::Text(text)),
                TemplatePart::Value(_) => {
                    let number = numbers.next().unwrap_or_default();
                    certain &= known.uses.get(number).is_some_and(|each| each.certain);
                    flat.push(Piece::Value(number));
                }
                TemplatePart::Optional(_) => {}
            }
        }
        if left_out && !optional {
            let why = "an optional segment comes before other values".to_owned();
            return vec![Disorder::open(why)];
        }
        left_out |= optional && !certain;
    }
    for pair in flat.windows(2) {
        let [Piece::Value(number), next] = pair else {
            continue;
        };
        let Some(each) = known.uses.get(*number) else {
            continue;
        };
        let ends_itself = matches!(each.placeholder.filters.last(), Some(Filter::Ordered));
        if ends_itself || is_prefix_free(&each.domain) {
            continue;
        }
        let name = &each.placeholder.place.written;
        let mark = match next {
            Piece::Text(text) => text.chars().next(),
            Piece::Value(_) => None,
        };
        let all = letters(&each.domain.forms);
        found.extend(match mark {
            None => Some(Disorder::open(format!(
                "`{name}` varies in length, and another value follows"
            ))),
            Some(mark) => {
                let below = CharSet::up_to(mark).and(all);
                (!below.is_empty()).then(|| {
                    let example = below.sample(0).zip(all.sample(0)).map(|(low, first)| {
                        format!(
                            "{:?} sorts first as a value, and {:?} as text",
                            format!("{first}{mark}"),
                            format!("{first}{low}{mark}")
                        )
                    });
                    let because = format!("`{name}` varies in length, and may contain the `{mark}` that follows it, or a character that sorts before `{mark}`");
                    Disorder { example, ..Disorder::open(because) }
                })
            }
        });
    }
    found
}

enum Piece<'t> {
    Text(&'t str),
    Value(usize),
}

/// Whether no text of a value is the beginning of another.
fn is_prefix_free(domain: &Domain) -> bool {
    let exact = |form: &Vec<super::text::CharRun>| -> Option<String> {
        let letters = form
            .iter()
            .map(|s| s.letters.only().filter(|_| !s.repeated));
        letters.collect()
    };
    if domain.width().is_some() {
        return true;
    }
    let texts: Option<Vec<String>> = domain.forms.iter().map(exact).collect();
    texts.is_some_and(|texts| {
        texts.iter().enumerate().all(|(at, text)| {
            let mut others = texts.iter().enumerate().filter(|(other, _)| *other != at);
            !others.any(|(_, other)| other.starts_with(text.as_str()))
        })
    })
}

/// How a pattern writes a time.
enum TimeWriting {
    /// From years down, without a gap.
    Whole,
    /// Down without a gap, but not from years; or by what is not judged.
    Part,
    /// Otherwise: not in the order of time.
    Not,
}

/// Whether a pattern goes from the longest unit of time to the shortest, and leaves none out.
fn falls(pattern: &str) -> TimeWriting {
    let mut first = 0;
    let mut last = 0;
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            continue;
        }
        let units: &[u8] = match rest.next() {
            Some('Y') => &[1],
            Some('m') => &[2],
            Some('d') => &[3],
            Some('H') => &[4],
            Some('M') => &[5],
            Some('S') => &[6],
            Some('F') => &[1, 2, 3],
            Some('T') => &[4, 5, 6],
            Some('R') => &[4, 5],
            Some('%') => &[],
            // The day of the year stands for month and day.
            Some('j') if last == 1 => &[2, 3],
            _ => return TimeWriting::Part,
        };
        for unit in units {
            // A pattern may begin anywhere: %H alone is the hour, on purpose.
            if last != 0 && *unit != last + 1 {
                return TimeWriting::Not;
            }
            last = *unit;
            if first == 0 {
                first = *unit;
            }
        }
    }
    if first == 1 {
        TimeWriting::Whole
    } else {
        TimeWriting::Part
    }
}

/// What is known of the order of every sort key of an item type.
pub(crate) fn proofs(subject: ProofSubject<'_>) -> Vec<Claim> {
    let keys = sort_keys(subject.table).into_iter();
    let proofs = keys.filter_map(|name| {
        let template = subject.item.template(name)?;
        let wrong = disorders(subject, template);
        let (verdict, because) = if wrong.is_empty() {
            (ClaimVerdict::Proved, in_order(subject, template))
        } else {
            let wrong: Vec<&str> = wrong.iter().map(|each| each.because.as_str()).collect();
            (ClaimVerdict::NotProved, wrong.join("; "))
        };
        let of = claim::ClaimSubject {
            item_types: vec![subject.item.name.to_string()],
            attribute: Some(name.to_string()),
            ..claim::ClaimSubject::default()
        };
        Some(Claim {
            example: wrong.into_iter().find_map(|each| each.example),
            ..Claim::new(ClaimKind::TextOrder, of, (verdict, because))
        })
    });
    proofs.collect()
}

/// What puts the values of a sort key into order, in words.
fn in_order(subject: ProofSubject<'_>, template: &Template) -> String {
    let placeholders = template.placeholders();
    let reasons = each_once(placeholders.map(|one| value(subject, one).unwrap_or_default()));
    if reasons.is_empty() {
        return "it is one text".to_owned();
    }
    reasons.join(", ")
}
