//! Names the rows whose items share a key, by reading the same snapshot once more.
//!
//! The proof says which fingerprints came more than once. Rows do not come in the same order in
//! every read of a snapshot, so they are found again by their keys, not by their places.

use std::collections::{BinaryHeap, HashMap};
use std::ops::ControlFlow;

use dynafold_mapping::model::Model;
use dynafold_source::Source;

use super::forecast::{Collision, Collisions, SourceRow};
use crate::load::{
    ContestedKeys, EndReason, Failure, FeedEnd, LineFile, RowFeed, RowKey, RowOutcome, SharingRow,
    item_type_of, key_json, locator, raw, row_json, row_key,
};
use crate::proof::{Proof, ProofError};

/// Rows of one key that the report names.
const NAMED_ROWS: usize = 10;

/// What the proof found.
#[derive(Debug)]
pub(super) struct FoundCollisions {
    pub(super) collisions: Collisions,
    /// Items of each type that would be rejected.
    pub(super) by_type: Vec<u64>,
    /// The keys to be named.
    wanted: Vec<WantedKey>,
}

/// A key to be named. The order is that of the rows that a load takes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WantedKey {
    /// The locator of the row that a load takes.
    loaded: u64,
    fingerprint: u128,
    /// Items that have the key.
    items: u64,
}

impl FoundCollisions {
    /// Ends the proof. Counts everything; `named` keys, those of the first rows, are to be named.
    pub(super) fn of_proof(proof: Proof, types: usize, named: usize) -> Result<Self, ProofError> {
        let mut groups = proof.finish()?;
        let mut collisions = Collisions {
            spilled_bytes: groups.spilled(),
            ..Collisions::default()
        };
        let mut by_type = vec![0; types];
        let mut count = |locator| {
            if let Some(items) = by_type.get_mut(item_type_of(locator)) {
                *items += 1;
            }
        };
        let mut first = BinaryHeap::new();
        while let Some(group) = groups.next_group(1, &mut count)? {
            collisions.keys += 1;
            collisions.items += group.count - 1;
            first.push(WantedKey {
                loaded: group.locators.first().copied().unwrap_or(u64::MAX),
                fingerprint: group.fingerprint,
                items: group.count,
            });
            if first.len() > named {
                first.pop();
            }
        }
        Ok(Self {
            collisions,
            by_type,
            wanted: first.into_sorted_vec(),
        })
    }

    /// Reads all rows again. What cannot be found, because the source failed or the caller ended it, stays
    /// unnamed. Every row but the one that a load takes goes to the rejects.
    pub(super) async fn name_rows(
        &mut self,
        feed: RowFeed<'_>,
        source: &mut Option<Box<dyn Source>>,
        mut rejects: Option<&mut LineFile>,
    ) -> Result<(), EndReason> {
        let (model, cancel) = (feed.model, feed.cancel);
        let mut contest = ContestedKeys::default();
        for key in &self.wanted {
            contest.enter(key.fingerprint, &[key.loaded << 1]);
        }
        let mut met: HashMap<u128, CollidingKey> = HashMap::new();
        let mut left: u64 = self.wanted.iter().map(|key| key.items).sum();
        let mut written = Ok(());
        let read = feed.each(source, |index, item_type, row, outcome| {
            if let RowOutcome::Made(folded) = outcome
                && contest.is_contested(folded.fingerprint)
            {
                left = left.saturating_sub(1);
                let row = row_key(item_type, row);
                let at = locator(index, item_type, &row, &folded.item);
                let key = met.entry(folded.fingerprint).or_default();
                key.json
                    .get_or_insert_with(|| key_json(&model.table, &folded.item));
                let sharing = (index, row.clone(), folded);
                let (is_loaded, rejected) = contest.meet(at, rejects.is_some(), sharing);
                key.add(is_loaded, index, row);
                written = write_rejects(rejected, &contest, rejects.as_deref_mut(), model);
            }
            Ok(if left > 0 && written.is_ok() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        });
        // What the source does not give stays unnamed.
        let _: Result<FeedEnd, EndReason> = read.await;
        let waiting = contest.take_waiting();
        written.and(write_rejects(waiting, &contest, rejects, model))?;
        let named = self.wanted.iter().map(|key| {
            let rows = met.remove(&key.fingerprint).unwrap_or_default();
            rows.collision(model, key.items)
        });
        self.collisions.named = named.collect();
        if cancel.is_cancelled() {
            return Err(EndReason::Cancelled);
        }
        Ok(())
    }
}

/// Writes rows as rejects, where there is a file for them.
fn write_rejects(
    rows: Vec<SharingRow>,
    contest: &ContestedKeys,
    file: Option<&mut LineFile>,
    model: &Model,
) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    for (index, row, folded) in rows {
        file.append_reject(model, &contest.reject(model, index, row, &folded))?;
    }
    Ok(())
}

/// What was met of a key: its JSON, and its first rows, before them the one that a load takes.
#[derive(Default)]
struct CollidingKey {
    json: Option<String>,
    rows: Vec<(usize, RowKey)>,
}

impl CollidingKey {
    fn add(&mut self, is_loaded: bool, item_type: usize, row: RowKey) {
        let place = if is_loaded { 0 } else { self.rows.len() };
        if place < NAMED_ROWS {
            self.rows.insert(place, (item_type, row));
            self.rows.truncate(NAMED_ROWS);
        }
    }

    fn collision(self, model: &Model, items: u64) -> Collision {
        let rows = self.rows.iter().filter_map(|(index, row)| {
            let item_type = model.item_types.get(*index)?;
            Some(SourceRow {
                item_type: item_type.name.to_string(),
                row: raw(row_json(item_type, row)),
            })
        });
        Collision {
            rows: rows.collect(),
            key: raw(self.json.unwrap_or_else(|| "null".to_owned())),
            items,
        }
    }
}

#[cfg(test)]
mod tests {
    use dynafold_dynamodb::Item;
    use dynafold_testing::model::{item_type, model, number, pass};

    use super::*;
    use crate::proof::ProofOptions;

    #[test]
    fn all_shared_keys_are_counted_and_those_of_the_first_rows_are_named() {
        let types = ["USER", "ADMIN"].map(|name| item_type(name, 0, &[("PK", "{0}"), ("SK", "S")]));
        let model = model(vec![pass("users", 1, &[0, 1])], types.to_vec());
        let at = |index: usize, id: i64| {
            locator(
                index,
                &model.item_types[index],
                &[number(id)],
                &Item::default(),
            )
        };
        let mut proof = Proof::new(ProofOptions::default());
        for (fingerprint, locator) in [
            (10, at(0, 5)),
            (10, at(0, 6)),
            (20, at(1, 9)),
            (20, at(0, 1)),
            (20, at(0, 7)),
            (30, at(1, 3)),
            (30, at(0, 4)),
            (40, at(0, 2)),
        ] {
            proof.push(fingerprint, locator).unwrap();
        }
        let found = FoundCollisions::of_proof(proof, 2, 2).unwrap();
        assert_eq!((found.collisions.keys, found.collisions.items), (3, 4));
        assert_eq!(found.by_type, [3, 1]);
        let wanted = [(20, 3, at(0, 1)), (30, 2, at(1, 3))];
        let wanted = wanted.map(|(fingerprint, items, loaded)| WantedKey {
            loaded,
            fingerprint,
            items,
        });
        assert_eq!(found.wanted, wanted);
    }
}
