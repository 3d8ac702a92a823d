//! Whether the order of a sort key's text is the order of its values.

use std::sync::Arc;

use super::domain::Kind;
use super::facts::Subject;
use super::{OrderProof, Verdict, World};
use crate::catalog::Family;
use crate::mapping::model::{KeyType, Placeholder, Table, Template};
use crate::mapping::template::{Filter, canonical};
use crate::value::{TimeKind, Value, compare};

/// A value whose text is not in its own order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mapping) enum Disorder {
    /// A number without padding: 9 sorts after 31.
    Number(Arc<str>),
    /// A time with an offset of its own: 09:00+09:00 sorts after 08:00+00:00 and is before it.
    Offset(Arc<str>),
    /// A time whose pattern does not go from years to seconds.
    Pattern(Arc<str>, String),
}

/// The sort key attributes that are text: the table's and those of indexes, each once.
pub(in crate::mapping) fn sort_keys(table: &Table) -> Vec<&Arc<str>> {
    let indexes = table.indexes.iter().chain(&table.local_indexes);
    let of_indexes = indexes.flat_map(|index| &index.sort);
    let mut found: Vec<&Arc<str>> = Vec::new();
    for key in table.sort.iter().chain(of_indexes) {
        let text = key.key_type == KeyType::S && key.name != table.partition.name;
        if text && !found.contains(&&key.name) {
            found.push(&key.name);
        }
    }
    found
}

/// The values of a template whose text is not in their own order.
pub(in crate::mapping) fn disorders(
    subject: Subject<'_>,
    template: &Template,
    world: &World,
) -> Vec<Disorder> {
    let alone = matches!(template.parts.as_slice(), [_]);
    let placeholders = template.placeholders();
    placeholders
        .filter_map(|placeholder| disorder(subject, placeholder, alone, world))
        .collect()
}

fn disorder(
    subject: Subject<'_>,
    placeholder: &Placeholder,
    alone: bool,
    world: &World,
) -> Option<Disorder> {
    let written = placeholder.place.written.clone();
    if placeholder.family == Family::Number {
        let is_code = placeholder.filters.last().is_some_and(has_ordered_codes);
        return (!alone && !is_code).then_some(Disorder::Number(written));
    }
    let mut domain = subject.domain(placeholder);
    for filter in &placeholder.filters {
        if let Filter::Format(pattern) = filter
            && !falls(pattern.as_str())
        {
            let pattern = pattern.as_str().to_owned();
            return Some(Disorder::Pattern(written, pattern));
        }
        domain = domain.through(filter, world);
    }
    let offset = matches!(domain.kind, Kind::Time(TimeKind::TimeOfDayWithOffset, _));
    offset.then_some(Disorder::Offset(written))
}

/// Whether a filter gives one of a few codes, whose texts are in the order of their numbers.
fn has_ordered_codes(filter: &Filter) -> bool {
    let mut codes: Vec<&Value> = match filter {
        Filter::Present { yes, no } => vec![yes, no],
        Filter::Map { codes, other } => codes.iter().map(|(_, code)| code).chain(other).collect(),
        _ => return false,
    };
    codes.sort_by(|a, b| compare(a, b));
    codes
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if canonical(a) <= canonical(b)))
}

/// Whether a pattern goes from the longest unit of time to the shortest, and leaves none out.
fn falls(pattern: &str) -> bool {
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
            // Others are not judged.
            _ => return true,
        };
        for unit in units {
            // A pattern may begin anywhere: %H alone is the hour, on purpose.
            if last != 0 && *unit != last + 1 {
                return false;
            }
            last = *unit;
        }
    }
    true
}

/// What is known of the order of every sort key of an item type.
pub(in crate::mapping) fn proofs(
    subject: Subject<'_>,
    table: &Table,
    world: &World,
) -> Vec<OrderProof> {
    let keys = sort_keys(table).into_iter();
    let proofs = keys.filter_map(|name| {
        let template = subject.template(name)?;
        let wrong = disorders(subject, template, world);
        let (verdict, because) = if wrong.is_empty() {
            (Verdict::Proved, in_order(template))
        } else {
            let wrong: Vec<String> = wrong.iter().map(Disorder::because).collect();
            (Verdict::Refuted, wrong.join("; "))
        };
        Some(OrderProof {
            item_type: subject.item.name.to_string(),
            attribute: name.to_string(),
            verdict,
            because,
        })
    });
    proofs.collect()
}

impl Disorder {
    pub(in crate::mapping) fn is_of_a_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Why, in words.
    pub(in crate::mapping) fn because(&self) -> String {
        match self {
            Self::Number(written) => {
                format!("`{written}` is a number in a sort key: as text, 9 sorts after 31")
            }
            Self::Offset(written) => {
                format!(
                    "`{written}` has an offset of its own: its text is not in the order of time"
                )
            }
            Self::Pattern(written, pattern) => {
                format!("`{written}` is written as `{pattern}`, which is not in the order of time")
            }
        }
    }

    /// How to mend it.
    pub(in crate::mapping) fn help(&self) -> String {
        match self {
            Self::Number(written) => format!(
                "pad it: {{{written} | pad(10)}}, or {{{written} | ordered}} if it can be negative"
            ),
            Self::Offset(_) => {
                "bring it to UTC in `from: { sql: … }`, or keep it out of the sort key".to_owned()
            }
            Self::Pattern(..) => {
                "go from years to seconds, as in \"%Y-%m-%d\"; the time's own text is in order too"
                    .to_owned()
            }
        }
    }
}

/// What the values of a sort key in order are, in words.
fn in_order(template: &Template) -> String {
    let mut said: Vec<String> = Vec::new();
    for placeholder in template.placeholders() {
        let written = &placeholder.place.written;
        let words = match placeholder.filters.last() {
            Some(Filter::Pad { .. }) => format!("`{written}` is padded"),
            Some(Filter::Ordered) => format!("`{written}` is written in the order of numbers"),
            Some(Filter::Desc { .. }) => format!("`{written}` descends"),
            _ if placeholder.family == Family::Time => {
                format!("`{written}` is a time with one number of digits")
            }
            _ => format!("`{written}` is in the order of its bytes"),
        };
        if !said.contains(&words) {
            said.push(words);
        }
    }
    if said.is_empty() {
        said.push("it is one text".to_owned());
    }
    said.join(", ")
}
