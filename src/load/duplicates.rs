//! Rows whose items have the key of an earlier row's: kept while the run goes on, named after it.
//!
//! The set of keys says that a key was there before, not whose it was. So the same snapshot is
//! read once more, until the earlier row of every such key is found.

use std::borrow::Cow;
use std::collections::HashMap;

use super::feed::{Read, Reader, RowKey, meets, row_key};
use super::halt::Cancel;
use super::rejects::{Rejected, json, row_json};
use crate::item::{Elements, Folded, Folder};
use crate::mapping::model::{Expired, Model};
use crate::source::Source;
use crate::value::Value;

/// The code of such rejects.
pub(super) const CODE: &str = "duplicate-key";

/// Bytes of items that are kept for the rejects file; beyond them only rows are.
const ITEM_BYTES: usize = 16 << 20;

/// The later rows of keys that were there before.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    rows: Vec<Later>,
    held: usize,
}

#[derive(Debug)]
struct Later {
    item_type: usize,
    row: RowKey,
    fingerprint: u128,
    item: Option<String>,
}

/// An earlier row: its item type and row key.
type Earlier = (usize, RowKey);

impl Duplicates {
    pub(super) fn push(&mut self, item_type: usize, row: RowKey, folded: &Folded) {
        let item = (self.held < ITEM_BYTES).then(|| json(&folded.item));
        self.held += item.as_ref().map_or(0, String::len);
        self.rows.push(Later {
            item_type,
            row,
            fingerprint: folded.fingerprint,
            item,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Finds the earlier rows by reading again. What cannot be found, because the source failed or
    /// the run is cancelled, stays unnamed.
    pub(super) async fn find(
        &self,
        source: Box<dyn Source>,
        model: &std::sync::Arc<Model>,
        folder: Folder,
        cancel: &Cancel,
    ) -> HashMap<u128, Earlier> {
        let mut later: HashMap<u128, Vec<(usize, &[Value])>> = HashMap::new();
        for row in &self.rows {
            let rows = later.entry(row.fingerprint).or_default();
            rows.push((row.item_type, &row.row));
        }
        let mut found = HashMap::new();
        let mut reader = Reader::spawn(source, model.clone(), false);
        let mut pass = None;
        while found.len() < later.len() {
            let read = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                read = reader.next() => read,
            };
            match read {
                None | Some(Read::Failed(_)) => break,
                Some(Read::Start(index)) => pass = model.passes.get(index),
                Some(Read::End { .. }) => {}
                Some(Read::Rows(chunk)) => {
                    for mut row in chunk.rows {
                        for index in pass.iter().flat_map(|pass| &pass.item_types) {
                            look(model, &folder, *index, &mut row, &mut later, &mut found);
                        }
                    }
                }
            }
        }
        reader.finish(false).await;
        found
    }

    /// The rejects, each naming the earlier row where it was found.
    pub(super) fn rejects(
        self,
        model: &Model,
        earlier: &HashMap<u128, Earlier>,
    ) -> impl Iterator<Item = Rejected> {
        self.rows.into_iter().map(move |later| Rejected {
            message: message(model, earlier.get(&later.fingerprint)),
            item_type: later.item_type,
            row: later.row,
            code: Cow::Borrowed(CODE),
            help: Some(
                "make the key template tell these rows apart, for example by a column of the \
                 primary key, or leave one of them out with `where`"
                    .to_owned(),
            ),
            attribute: Some(model.table.partition.name.to_string()),
            item: later.item,
        })
    }
}

fn look(
    model: &Model,
    folder: &Folder,
    index: usize,
    row: &mut [Value],
    later: &mut HashMap<u128, Vec<(usize, &[Value])>>,
    found: &mut HashMap<u128, Earlier>,
) {
    let Some(item_type) = model.item_types.get(index) else {
        return;
    };
    if !meets(item_type, row) {
        return;
    }
    let mut elements = Elements::new(&item_type.explodes);
    loop {
        match elements.next(row) {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => continue,
        }
        let Ok(made) = folder.fold(index, row) else {
            continue;
        };
        if made.expired != Expired::Load {
            continue;
        }
        let Some(rows) = later.get_mut(&made.fingerprint) else {
            continue;
        };
        let key = row_key(item_type, row);
        let known = |(other, row): &(usize, &[Value])| *other == index && *row == &*key;
        match rows.iter().position(known) {
            // One of the later rows themselves. Taken away, so that of two rows that nothing tells
            // apart the second one met is the earlier.
            Some(at) => {
                rows.swap_remove(at);
            }
            None => {
                found.entry(made.fingerprint).or_insert((index, key));
            }
        }
    }
}

fn message(model: &Model, earlier: Option<&Earlier>) -> String {
    let named = earlier.and_then(|(index, row)| Some((model.item_types.get(*index)?, row)));
    match named {
        Some((item_type, row)) => format!(
            "the item has the same key as that of {} {}",
            item_type.name,
            row_json(item_type, row)
        ),
        None => "the item has the same key as that of an earlier row".to_owned(),
    }
}
