//! What is said of an item type's keys: the verdict, why, and two rows that would meet.

use std::collections::BTreeSet;

use super::facts::{Origin, Subject, UniqueKey};
use super::meet::Common;
use super::reading::{Blamed, Gap, Reading};
use std::sync::Arc;

/// What is known of an item type's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Injectivity {
    pub shown: Shown,
    /// Why, in words.
    pub because: String,
    /// The key attribute that is to blame, if one is.
    pub attribute: Option<Arc<str>>,
    /// What the database enforces that it relies on.
    pub facts: Vec<String>,
    /// Two rows that would have one key.
    pub example: Option<String>,
}

/// How a proof of keys ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// No two rows have one key.
    Proved,
    /// So it is if a key holds that the mapping or the database names and nothing enforces.
    Supposed,
    /// Nothing shows it.
    Open,
    /// The schema allows two rows that have one.
    Broken,
}

impl Injectivity {
    fn new(shown: Shown, because: impl Into<String>) -> Self {
        Self {
            shown,
            because: because.into(),
            attribute: None,
            facts: Vec::new(),
            example: None,
        }
    }
}

pub(super) fn keyless(origin: Origin) -> Injectivity {
    let because = match origin {
        Origin::Table => "the table has no primary or unique key, so that two rows may be equal",
        Origin::Inherited => {
            "other tables inherit from this one, and its keys do not hold over their rows"
        }
        Origin::Multiplied => "a join may give several rows for one of ours",
        Origin::View => "a view or a foreign table has no key that tells its rows apart",
        Origin::Query | Origin::Unknown => "the query names no `key` that tells its rows apart",
    };
    let shown = match origin {
        Origin::Table => Shown::Broken,
        _ => Shown::Open,
    };
    Injectivity::new(shown, because)
}

pub(super) fn judged(
    subject: Subject<'_>,
    key: &UniqueKey,
    gaps: &[Blamed],
    readings: &[Reading<'_>],
) -> Injectivity {
    // The first value of those that are to blame the most.
    let worst = gaps.iter();
    let worst = worst.max_by_key(|(gap, at)| (*gap, std::cmp::Reverse(*at)));
    match worst {
        None | Some((Gap::None, _)) => proved(subject, key, readings),
        Some((Gap::Twice, at)) => twice(readings.get(*at), readings),
        Some((Gap::Lost, at)) => lost(readings.get(*at)),
        Some((Gap::Optional, at)) => optional(subject, readings.get(*at)),
        Some((Gap::Absent, _)) => absent(subject, key, gaps),
    }
}

fn proved(subject: Subject<'_>, key: &UniqueKey, readings: &[Reading<'_>]) -> Injectivity {
    let mut said: Vec<usize> = Vec::new();
    let mut reasons = Vec::new();
    for reading in readings.iter().filter(|reading| reading.gap() == Gap::None) {
        let column = reading.each.placeholder.place.column;
        let told = subject
            .facts
            .determined
            .iter()
            .any(|(theirs, ours)| theirs.contains(&column) && overlap(ours, &key.columns));
        if !said.contains(&column) && (key.columns.contains(&column) || told) {
            said.push(column);
            reasons.push(reading.because());
        }
    }
    let columns = key.columns.iter().map(|column| subject.column(*column));
    let columns: Vec<&str> = columns.collect();
    let columns = columns.join(", ");
    let read = format!(
        "{} ({columns}) can be read back: {}",
        key.called,
        reasons.join(", ")
    );
    let fact = || {
        let facts = &subject.facts;
        let mut domains = key
            .columns
            .iter()
            .filter_map(|column| facts.columns.get(*column));
        let null = if domains.any(|column| column.domain.nullable) {
            "a row with a NULL there has no key"
        } else {
            "NOT NULL"
        };
        let called = key.called.trim_start_matches("the ");
        format!("{called} of {} ({columns}), {null}", facts.relation)
    };
    match key.doubt {
        Some(doubt) => Injectivity::new(Shown::Supposed, format!("{read}; but {doubt}")),
        None => Injectivity {
            facts: vec![fact()],
            ..Injectivity::new(Shown::Proved, read)
        },
    }
}

fn overlap(a: &[usize], b: &[usize]) -> bool {
    a.iter().any(|column| b.contains(column))
}

fn twice(reading: Option<&Reading<'_>>, readings: &[Reading<'_>]) -> Injectivity {
    let written = reading.map_or("?", Reading::written);
    let found = reading.map(|reading| &reading.twice);
    let because = match reading.and_then(|reading| reading.follows) {
        _ if matches!(found, Some(Common::Unknown)) => format!(
            "whether `{written}` can be read back is not known: too many segments and values stand around it"
        ),
        Some(next) => format!("`{written}` may hold the `{next}` that ends it"),
        None => format!("`{written}` has no end of its own"),
    };
    let columns = readings.iter();
    let columns = columns.map(|other| other.each.placeholder.place.column);
    // A column that stands in the key twice would have two values in the example.
    let is_once = columns.collect::<BTreeSet<usize>>().len() == readings.len();
    let example = reading.filter(|_| is_once).and_then(|reading| {
        let Common::Text(meeting) = &reading.twice else {
            return None;
        };
        let side = |values: &[(usize, String)]| {
            let named = reading.names.iter().enumerate().map(|(number, name)| {
                let value = values.iter().find(|(other, _)| *other == number);
                format!("{name}='{}'", value.map_or("", |(_, value)| value.as_str()))
            });
            named.collect::<Vec<_>>().join(", ")
        };
        let [a, b] = &meeting.values;
        let (a, b, text) = (side(a), side(b), &meeting.text);
        Some(format!("{a} and {b} both give `{text}`"))
    });
    Injectivity {
        attribute: reading.map(|reading| reading.attribute.clone()),
        example,
        ..Injectivity::new(Shown::Open, because)
    }
}

fn lost(reading: Option<&Reading<'_>>) -> Injectivity {
    let written = reading.map_or("?", Reading::written);
    let loss = reading.and_then(|reading| reading.each.domain.loss.as_deref());
    let loss = loss.unwrap_or("nothing is known of it");
    Injectivity {
        attribute: reading.map(|reading| reading.attribute.clone()),
        ..Injectivity::new(Shown::Open, format!("`{written}`: {loss}"))
    }
}

fn optional(subject: Subject<'_>, reading: Option<&Reading<'_>>) -> Injectivity {
    let written = reading.map_or("?", Reading::written);
    let shown = if subject.facts.filtered || subject.facts.origin != Origin::Table {
        Shown::Open
    } else {
        Shown::Broken
    };
    let because = format!("`{written}` stands in an optional segment that NULL leaves out");
    let example = format!("two rows without the segment of `{written}` give one key");
    Injectivity {
        attribute: reading.map(|reading| reading.attribute.clone()),
        example: Some(example),
        ..Injectivity::new(shown, because)
    }
}

fn absent(subject: Subject<'_>, key: &UniqueKey, gaps: &[Blamed]) -> Injectivity {
    let missing = key.columns.iter().zip(gaps);
    let missing = missing.filter(|(_, (gap, _))| *gap == Gap::Absent);
    let columns: Vec<usize> = missing.map(|(column, _)| *column).collect();
    let missing = columns
        .iter()
        .map(|column| format!("`{}`", subject.column(*column)));
    let missing = missing.collect::<Vec<_>>().join(" and ");
    let supposed = |column: &usize| subject.facts.supposed.contains(column);
    let (shown, because) = if subject.facts.filtered {
        (
            Shown::Open,
            format!(
                "the key leaves {missing} out, and whether `where` leaves one row of each is not known"
            ),
        )
    } else if columns.iter().all(supposed) {
        (
            Shown::Open,
            format!(
                "the key leaves {missing} out, which a key of its parent tells that nothing enforces at all times"
            ),
        )
    } else {
        (
            Shown::Broken,
            format!("the key leaves {missing} of {} out", key.called),
        )
    };
    let example = format!("two rows that differ only in {missing} give one key");
    Injectivity {
        example: Some(example),
        ..Injectivity::new(shown, because)
    }
}
