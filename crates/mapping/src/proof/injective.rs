//! Whether two rows of an item type may have one key.
//!
//! They may not where the columns of a unique key can be read back from the item's key: each stands
//! in it, no filter makes two of its values one, and one text is never read in two ways. Where that
//! cannot be shown, an example says what two rows would meet.

use std::sync::Arc;

use super::facts::{Facts, Subject, UniqueKey};
use super::forms::Known;
use super::meet::{Common, Work, two_readings};
use super::reading::{Blamed, Gap, Reading};
use super::verdict::{Injectivity, judged, keyless};
use crate::model::Node;

/// Proves that the keys of an item type are apart, or says why not. `None` for a faulty key.
pub(crate) fn prove(subject: Subject<'_>) -> Option<Injectivity> {
    let mut readings: Vec<Reading<'_>> = Vec::new();
    for (name, node) in subject.key()? {
        if let Node::Template(template) = node {
            readings.extend(read(&subject.known(template), name));
        }
    }
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

/// Every value of a template, and whether it can be read back.
fn read<'t>(known: &Known<'t>, attribute: &Arc<str>) -> Vec<Reading<'t>> {
    let names: Vec<String> = known
        .uses
        .iter()
        .map(|each| each.placeholder.place.written.to_string())
        .collect();
    let alone = matches!(known.template.parts.as_slice(), [_]) && known.uses.len() == 1;
    let mut work = Work::one();
    let readings = known.uses.iter().enumerate().map(|(number, each)| Reading {
        twice: if alone {
            Common::Nothing
        } else {
            two_readings(&known.shapes, number, &mut work)
        },
        each: each.clone(),
        attribute: attribute.clone(),
        follows: known.follows(number),
        alone,
        names: names.clone(),
    });
    readings.collect()
}

/// What keeps each column of a unique key from being read back.
fn gaps(key: &UniqueKey, facts: &Facts, readings: &[Reading<'_>]) -> Vec<Blamed> {
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
fn closure(facts: &Facts, readings: &[Reading<'_>], gap: Gap) -> Vec<usize> {
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

/// The value that is to blame: that of the column itself, or of a parent's key that tells it.
fn responsible(column: usize, facts: &Facts, readings: &[Reading<'_>], gap: Gap) -> Blamed {
    let telling = facts.determined.iter();
    let telling = telling.filter(|(_, ours)| ours.contains(&column));
    let columns: Vec<usize> = std::iter::once(column)
        .chain(telling.flat_map(|(theirs, _)| theirs.iter().copied()))
        .collect();
    let has_gap = |reading: &Reading<'_>| reading.gap() == gap;
    let found = readings
        .iter()
        .position(|r| has_gap(r) && columns.contains(&r.each.placeholder.place.column))
        .or_else(|| readings.iter().position(has_gap));
    found.map_or((Gap::Absent, 0), |at| (gap, at))
}
