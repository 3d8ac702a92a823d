//! Names the rows whose items share a key, by reading the same snapshot once more.
//!
//! The proof says which fingerprints came more than once. Rows do not come in the same order in
//! every read of a snapshot, so they are found again by their keys, not by their places.

use std::borrow::Cow;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::forecast::{Collision, Collisions, SourceRow};
use crate::item::{Attribute, Elements, Folded, Folder, write_attribute};
use crate::load::{
    Cancel, Failure, Fate, Read, Reader, Rejected, Rejects, RowKey, Sieve, json, meets, raw,
    row_json, row_key,
};
use crate::mapping::model::Model;
use crate::proof::{Proof, ProofError};
use crate::source::Source;
use crate::value::quote;

/// The code of such rejects.
pub(super) const CODE: &str = "duplicate-key";
/// Rows of one key that the report names.
const ROWS: usize = 10;
/// Item types that a locator tells apart.
const TYPES: u64 = 1 << 16;

/// Where an item came from: when it was met, then its item type.
pub(super) fn locator(met: u64, item_type: usize) -> u64 {
    let item_type = u64::try_from(item_type).unwrap_or(TYPES - 1);
    met.saturating_mul(TYPES) | item_type.min(TYPES - 1)
}

fn item_type(locator: u64) -> usize {
    usize::try_from(locator % TYPES).unwrap_or(usize::MAX)
}

/// What the proof found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) collisions: Collisions,
    /// Items of each type that would be rejected.
    pub(super) by_type: Vec<u64>,
    /// The keys to be named: fingerprints and how many items have them, the first met first.
    wanted: Vec<(u128, u64)>,
}

/// Ends the proof. Counts everything; `named` keys, the first that were met, are to be named.
pub(super) fn prove(proof: Proof, types: usize, named: usize) -> Result<Found, ProofError> {
    let mut groups = proof.finish()?;
    let mut found = Found {
        collisions: Collisions {
            spilled_bytes: groups.spilled(),
            ..Collisions::default()
        },
        by_type: vec![0; types],
        wanted: Vec::new(),
    };
    let mut first: BinaryHeap<(u64, u128, u64)> = BinaryHeap::new();
    let by_type = &mut found.by_type;
    let mut count = |locator| {
        if let Some(items) = by_type.get_mut(item_type(locator)) {
            *items += 1;
        }
    };
    while let Some(group) = groups.next_group(1, &mut count)? {
        found.collisions.keys += 1;
        found.collisions.items += group.count - 1;
        let met = group.locators.first().copied().unwrap_or(u64::MAX);
        first.push((met, group.fingerprint, group.count));
        if first.len() > named {
            first.pop();
        }
    }
    let first = first.into_sorted_vec().into_iter();
    found.wanted = first.map(|(_, key, items)| (key, items)).collect();
    Ok(found)
}

/// A key whose rows are looked for.
struct Wanted {
    at: usize,
    left: u64,
    key: Option<String>,
    rows: Vec<(usize, RowKey)>,
}

/// Looks for the rows of keys.
pub(super) struct Naming<'n> {
    pub(super) model: &'n Arc<Model>,
    pub(super) folder: Folder,
    pub(super) cancel: &'n Cancel,
    /// Where every row but the first of each key goes.
    pub(super) rejects: Option<&'n mut Rejects>,
}

impl Naming<'_> {
    /// Reads again. What cannot be found, because the source failed or the caller ended it, stays
    /// unnamed.
    pub(super) async fn name(
        mut self,
        found: &mut Found,
        source: Box<dyn Source>,
    ) -> Result<(), Failure> {
        let mut wanted: HashMap<u128, Wanted> = HashMap::new();
        for (at, (fingerprint, items)) in found.wanted.iter().enumerate() {
            let rows = Wanted {
                at,
                left: *items,
                key: None,
                rows: Vec::new(),
            };
            wanted.insert(*fingerprint, rows);
        }
        let mut left: u64 = found.wanted.iter().map(|(_, items)| items).sum();
        let mut reader = Reader::spawn(source, self.model.clone(), false);
        let mut sieve = Sieve::new(self.folder.clone());
        let model = self.model.clone();
        let mut pass = None;
        while left > 0 {
            let read = tokio::select! {
                biased;
                () = self.cancel.cancelled() => None,
                read = reader.next() => read,
            };
            match read {
                None | Some(Read::Failed(_)) => break,
                Some(Read::Start(index)) => pass = model.passes.get(index),
                Some(Read::End { .. }) => {}
                Some(Read::Rows(chunk)) => {
                    let types = pass.map_or(&[][..], |pass| &pass.item_types);
                    for mut row in chunk.rows {
                        for index in types {
                            let Some(item_type) = model.item_types.get(*index) else {
                                continue;
                            };
                            if !meets(item_type, &row) {
                                continue;
                            }
                            let mut elements = Elements::new(&item_type.explodes);
                            while let Some(fate) = sieve.next(*index, &mut elements, &mut row) {
                                if let Fate::Made(folded) = fate
                                    && let Some(wanted) = wanted.get_mut(&folded.fingerprint)
                                {
                                    left = left.saturating_sub(1);
                                    let row = row_key(item_type, &row);
                                    self.met(wanted, *index, row, &folded)?;
                                }
                            }
                        }
                    }
                }
            }
        }
        reader.finish(false).await;
        let mut all: Vec<Wanted> = wanted.into_values().collect();
        all.sort_by_key(|wanted| wanted.at);
        let named = all.into_iter().zip(&found.wanted);
        found.collisions.named = named
            .map(|(wanted, (_, items))| self.collision(wanted, *items))
            .collect();
        Ok(())
    }

    /// Enters a row of a wanted key.
    fn met(
        &mut self,
        wanted: &mut Wanted,
        index: usize,
        row: RowKey,
        folded: &Folded,
    ) -> Result<(), Failure> {
        wanted.left = wanted.left.saturating_sub(1);
        if wanted.key.is_none() {
            wanted.key = self.folder.key(&folded.item).map(|key| self.key(&key));
        }
        if let (Some(rejects), Some(first)) = (self.rejects.as_deref_mut(), wanted.rows.first()) {
            rejects.write(
                self.model,
                &rejected(self.model, index, &row, first, folded),
            )?;
        }
        if wanted.rows.len() < ROWS {
            wanted.rows.push((index, row));
        }
        Ok(())
    }

    fn key(&self, (partition, sort): &(Attribute, Option<Attribute>)) -> String {
        let table = &self.model.table;
        let sort = table.sort.as_ref().zip(sort.as_ref());
        let parts = std::iter::once((&table.partition, partition)).chain(sort);
        let mut out = String::from("{");
        for (at, (key, value)) in parts.enumerate() {
            if at > 0 {
                out.push(',');
            }
            quote(&mut out, &key.name);
            out.push(':');
            write_attribute(&mut out, value);
        }
        out.push('}');
        out
    }

    fn collision(&self, wanted: Wanted, items: u64) -> Collision {
        let rows = wanted.rows.iter().filter_map(|(index, row)| {
            let item_type = self.model.item_types.get(*index)?;
            Some(SourceRow {
                item_type: item_type.name.to_string(),
                row: raw(row_json(item_type, row)),
            })
        });
        Collision {
            rows: rows.collect(),
            key: raw(wanted.key.unwrap_or_else(|| "null".to_owned())),
            items,
        }
    }
}

fn rejected(
    model: &Model,
    index: usize,
    row: &RowKey,
    first: &(usize, RowKey),
    folded: &Folded,
) -> Rejected {
    let name = model.item_types.get(first.0).map_or(String::new(), |item| {
        format!("{} {}", item.name, row_json(item, &first.1))
    });
    Rejected {
        item_type: index,
        row: row.clone(),
        code: Cow::Borrowed(CODE),
        message: format!("the item has the same key as that of {name}"),
        help: Some(
            "make the key template tell these rows apart, for example by a column of the primary \
             key, or leave one of them out with `where`"
                .to_owned(),
        ),
        attribute: Some(model.table.partition.name.to_string()),
        item: Some(json(&folded.item)),
    }
}
