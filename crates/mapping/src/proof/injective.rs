//! Whether two rows of an item type may have one key.
//!
//! They may not where the columns of a unique key can be read back from the item's key: each stands
//! in it, no filter makes two of its values one, and one text is never read in two ways. Where that
//! cannot be shown, an example says what two rows would meet.

use std::collections::BTreeSet;
use std::sync::Arc;

use dynafold_format::joined;

use super::facts::{ProofSubject, RelationKind, RowFacts, UniqueColumns};
use super::forms::{KnownTemplate, ValueUse};
use super::meet::{CommonText, ProofBudget, two_readings};
use crate::model::AttributeNode;

/// Proves that the keys of an item type are apart, or says why not. `None` for a faulty key.
pub(crate) fn prove(subject: ProofSubject<'_>) -> Option<Injectivity> {
    let readings = readings(subject)?;
    let facts = subject.facts;
    let candidates = facts.unique.iter().filter(|key| !key.columns.is_empty());
    let best = candidates
        .map(|key| (key, gaps(key, facts, &readings)))
        .min_by_key(|(key, gaps)| (gaps.iter().map(|(gap, _)| *gap).max(), key.doubt.is_some()));
    Some(match best {
        None => keyless(facts.origin),
        Some((key, gaps)) => judged(subject, key, &gaps, &readings),
    })
}

/// The places of the row that an item's key is made of, each with whether its value can be read back from the key. `None`
/// where members of documents or more than templates make it.
pub(crate) fn key_columns(subject: ProofSubject<'_>) -> Option<Vec<(usize, bool)>> {
    let is_plain = |node: &AttributeNode| {
        matches!(
            node,
            AttributeNode::Template(_) | AttributeNode::Constant(_)
        )
    };
    if !subject.key()?.into_iter().all(|(_, node)| is_plain(node)) {
        return None;
    }
    let readings = readings(subject)?;
    let places = readings.iter().map(|reading| {
        let place = &reading.each.placeholder.place;
        let is_column = place.path.is_empty();
        is_column.then(|| (place.column, reading.gap() == Gap::None))
    });
    places.collect()
}

/// Every value of the key.
fn readings(subject: ProofSubject<'_>) -> Option<Vec<ValueReading<'_>>> {
    let mut readings = Vec::new();
    for (name, node) in subject.key()? {
        if let AttributeNode::Template(template) = node {
            readings.extend(read(&subject.known(template), name));
        }
    }
    Some(readings)
}

/// Every value of a template, and whether it can be read back.
fn read<'t>(known: &KnownTemplate<'t>, attribute: &Arc<str>) -> Vec<ValueReading<'t>> {
    let alone = known.is_alone();
    let values = known.uses.iter().zip(twice(known)).enumerate();
    let readings = values.map(|(number, (each, twice))| ValueReading {
        twice,
        each: each.clone(),
        attribute: attribute.clone(),
        follows: known.follows(number),
        alone,
    });
    readings.collect()
}

/// For each value of a template, a text in which it is read in two ways.
pub(super) fn twice(known: &KnownTemplate<'_>) -> Vec<CommonText> {
    let mut work = ProofBudget::one();
    let values = 0..known.uses.len();
    let texts = values.map(|number| {
        if known.is_alone() {
            CommonText::Nothing
        } else {
            two_readings(&known.shapes, number, &mut work)
        }
    });
    texts.collect()
}

/// What keeps each column of a unique key from being read back.
fn gaps(key: &UniqueColumns, facts: &RowFacts, readings: &[ValueReading<'_>]) -> Vec<Blamed> {
    // First what is certain, then what is not as far as it must be.
    let gaps = [Gap::None, Gap::Twice, Gap::Lost, Gap::Optional];
    let columns = key.columns.iter().map(|column| {
        let mut gaps = gaps.iter();
        match gaps.find(|gap| closure(facts, readings, **gap).contains(column)) {
            None => (Gap::Absent, 0),
            Some(Gap::None) => (Gap::None, 0),
            Some(gap) => responsible(*column, facts, readings, *gap),
        }
    });
    columns.collect()
}

/// The columns that values with this gap or a smaller one tell, foreign keys among them.
fn closure(facts: &RowFacts, readings: &[ValueReading<'_>], gap: Gap) -> Vec<usize> {
    let usable = readings.iter().filter(|reading| reading.gap() <= gap);
    let mut known: Vec<usize> = usable
        .map(|reading| reading.each.placeholder.place.column)
        .collect();
    // Parents may be known by other parents.
    loop {
        let before = known.len();
        for (theirs, ours) in &facts.determined {
            if theirs.iter().all(|column| known.contains(column)) {
                let new = ours.iter().filter(|column| !known.contains(column));
                let new: Vec<usize> = new.copied().collect();
                known.extend(new);
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

/// The value that is to blame: that of the column itself, or of a parent's key that determines it.
fn responsible(column: usize, facts: &RowFacts, readings: &[ValueReading<'_>], gap: Gap) -> Blamed {
    let dependencies = facts.determined.iter();
    let keys = dependencies.filter(|(_, ours)| ours.contains(&column));
    let columns: Vec<usize> = std::iter::once(column)
        .chain(keys.flat_map(|(theirs, _)| theirs.iter().copied()))
        .collect();
    let has_gap = |reading: &ValueReading<'_>| reading.gap() == gap;
    let found = readings
        .iter()
        .position(|r| has_gap(r) && columns.contains(&r.each.placeholder.place.column))
        .or_else(|| readings.iter().position(has_gap));
    found.map_or((Gap::Absent, 0), |at| (gap, at))
}

/// A value of the key, and what is known of reading it back.
struct ValueReading<'t> {
    each: ValueUse<'t>,
    /// The key attribute that it stands in.
    attribute: Arc<str>,
    /// The first letter of the text behind it; `None` at the end of the key attribute.
    follows: Option<char>,
    alone: bool,
    /// A text that can be read in two ways.
    twice: CommonText,
}

/// How far a value or a column of a unique key is from being read back, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Twice,
    Lost,
    Optional,
    Absent,
}

/// A column's gap, with the number of the value that is to blame for it.
type Blamed = (Gap, usize);

impl ValueReading<'_> {
    fn gap(&self) -> Gap {
        if !self.each.placeholder.place.path.is_empty() {
            Gap::Absent
        } else if !self.each.certain {
            Gap::Optional
        } else if self.each.domain.loss.is_some() {
            Gap::Lost
        } else if self.twice != CommonText::Nothing {
            Gap::Twice
        } else {
            Gap::None
        }
    }

    fn written(&self) -> &str {
        &self.each.placeholder.place.written
    }

    /// Why the value can be read back.
    fn because(&self) -> String {
        let written = self.written();
        if let Some(width) = self.each.domain.width() {
            return format!("`{written}` always has {width} characters");
        }
        match self.follows {
            _ if self.alone => format!("`{written}` is the whole key attribute"),
            None => format!("`{written}` is what remains at the end"),
            Some(next) if !super::text::letters(&self.each.domain.forms).allows(next) => {
                format!("`{written}` contains no `{next}`")
            }
            Some(_) => format!("`{written}` is what remains between known texts"),
        }
    }
}

/// What is known of an item type's keys: the verdict, why, and two rows that would meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Injectivity {
    pub shown: KeyProofEnd,
    /// Why, in words.
    pub because: String,
    /// The key attribute that is to blame, if one is.
    pub attribute: Option<Arc<str>>,
    /// What the database enforces that it relies on.
    pub facts: Vec<String>,
    /// Two rows that would have one key.
    pub example: Option<String>,
    /// What in the key would keep them apart.
    pub mend: Option<String>,
}

/// How a proof of keys ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyProofEnd {
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
    fn new(shown: KeyProofEnd, because: impl Into<String>) -> Self {
        Self {
            shown,
            because: because.into(),
            attribute: None,
            facts: Vec::new(),
            example: None,
            mend: None,
        }
    }
}

fn keyless(origin: RelationKind) -> Injectivity {
    let because = match origin {
        RelationKind::Table => "the table has no primary or unique key, so two rows may be equal",
        RelationKind::Inherited => {
            "other tables inherit from this one, and its keys do not cover their rows"
        }
        RelationKind::Multiplied => "a join may return several rows for one row",
        RelationKind::View => "a view or a foreign table has no key that identifies its rows",
        RelationKind::Query | RelationKind::Unknown => {
            "the query names no `key` that identifies its rows"
        }
    };
    let shown = match origin {
        RelationKind::Table => KeyProofEnd::Broken,
        _ => KeyProofEnd::Open,
    };
    Injectivity::new(shown, because)
}

fn judged(
    subject: ProofSubject<'_>,
    key: &UniqueColumns,
    gaps: &[Blamed],
    readings: &[ValueReading<'_>],
) -> Injectivity {
    // The first value of those that are to blame the most.
    let worst = gaps.iter();
    let worst = worst.max_by_key(|(gap, at)| (*gap, std::cmp::Reverse(*at)));
    let Some((gap @ (Gap::Twice | Gap::Lost | Gap::Optional | Gap::Absent), at)) = worst else {
        return proved(subject, key, readings);
    };
    let Some(reading) = readings.get(*at).filter(|_| *gap != Gap::Absent) else {
        return absent(subject, key, gaps);
    };
    let shown = match gap {
        Gap::Twice => read_twice(reading, readings),
        Gap::Lost => lost(reading),
        _ => optional(subject, reading),
    };
    Injectivity {
        attribute: Some(reading.attribute.clone()),
        ..shown
    }
}

fn proved(
    subject: ProofSubject<'_>,
    key: &UniqueColumns,
    readings: &[ValueReading<'_>],
) -> Injectivity {
    let mut explained: Vec<usize> = Vec::new();
    let mut reasons = Vec::new();
    for reading in readings.iter().filter(|reading| reading.gap() == Gap::None) {
        let column = reading.each.placeholder.place.column;
        let is_determined = subject
            .facts
            .determined
            .iter()
            .any(|(theirs, ours)| theirs.contains(&column) && overlap(ours, &key.columns));
        if !explained.contains(&column) && (key.columns.contains(&column) || is_determined) {
            explained.push(column);
            reasons.push(reading.because());
        }
    }
    let columns = key.columns.iter().map(|column| subject.column(*column));
    let columns = joined(columns, ", ");
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
        Some(doubt) => Injectivity::new(KeyProofEnd::Supposed, format!("{read}; but {doubt}")),
        None => Injectivity {
            facts: vec![fact()],
            ..Injectivity::new(KeyProofEnd::Proved, read)
        },
    }
}

fn overlap(a: &[usize], b: &[usize]) -> bool {
    a.iter().any(|column| b.contains(column))
}

fn read_twice(reading: &ValueReading<'_>, readings: &[ValueReading<'_>]) -> Injectivity {
    let written = reading.written();
    let because = match (&reading.twice, reading.follows) {
        (CommonText::Unknown, _) => format!(
            "whether `{written}` can be read back is not known: too many segments and values are around it"
        ),
        (_, Some(next)) => format!("`{written}` may contain the `{next}` that ends it"),
        (_, None) => format!("nothing marks the end of `{written}`"),
    };
    let columns = readings.iter();
    let columns = columns.map(|other| other.each.placeholder.place.column);
    // A column that stands in the key twice would have two values in the example.
    let is_once = columns.collect::<BTreeSet<usize>>().len() == readings.len();
    let example = match &reading.twice {
        CommonText::Text(meeting) if is_once => {
            let beside = |other: &&ValueReading<'_>| other.attribute == reading.attribute;
            let [a, b] = meeting.values.each_ref().map(|values| {
                let beside = readings.iter().filter(beside).enumerate();
                let named = beside.map(|(number, other)| {
                    let value = values.iter().find(|(each, _)| *each == number);
                    let value = value.map_or("", |(_, value)| value.as_str());
                    format!("{}='{value}'", other.written())
                });
                joined(named, ", ")
            });
            Some(format!("{a} and {b} both give `{}`", meeting.text))
        }
        _ => None,
    };
    Injectivity {
        example,
        ..Injectivity::new(KeyProofEnd::Open, because)
    }
}

fn lost(reading: &ValueReading<'_>) -> Injectivity {
    let loss = reading.each.domain.loss.as_deref();
    let loss = loss.unwrap_or("nothing is known about it");
    Injectivity::new(
        KeyProofEnd::Open,
        format!("`{}`: {loss}", reading.written()),
    )
}

fn optional(subject: ProofSubject<'_>, reading: &ValueReading<'_>) -> Injectivity {
    let written = reading.written();
    let shown = if subject.facts.filtered || subject.facts.origin != RelationKind::Table {
        KeyProofEnd::Open
    } else {
        KeyProofEnd::Broken
    };
    let because = format!("`{written}` is in an optional segment, which NULL leaves out");
    let example = format!("two rows without the segment of `{written}` make the same key");
    Injectivity {
        example: Some(example),
        mend: Some(format!("take `{written}` out of the optional segment")),
        ..Injectivity::new(shown, because)
    }
}

fn absent(subject: ProofSubject<'_>, key: &UniqueColumns, gaps: &[Blamed]) -> Injectivity {
    let missing = key.columns.iter().zip(gaps);
    let missing = missing.filter(|(_, (gap, _))| *gap == Gap::Absent);
    let columns: Vec<usize> = missing.map(|(column, _)| *column).collect();
    let written = |column: &usize| format!("`{}`", subject.column(*column));
    let missing = joined(columns.iter().map(written), " and ");
    let is_unenforced = |column: &usize| subject.facts.unenforced.contains(column);
    let (shown, left_out) = if subject.facts.filtered {
        let unknown = "out, and it is not known whether `where` keeps only one row of each";
        (KeyProofEnd::Open, unknown.to_owned())
    } else if columns.iter().all(is_unenforced) {
        let unenforced = "out; it would follow from a key of the parent, but the database does not always enforce that key";
        (KeyProofEnd::Open, unenforced.to_owned())
    } else {
        (KeyProofEnd::Broken, format!("of {} out", key.called))
    };
    let because = format!("the key leaves {missing} {left_out}");
    let example = format!("two rows that differ only in {missing} make the same key");
    Injectivity {
        example: Some(example),
        mend: Some(format!("put {missing} into the key")),
        ..Injectivity::new(shown, because)
    }
}
