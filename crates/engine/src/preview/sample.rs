//! The first items of each item type, without writing any.

use std::collections::HashSet;

use dynafold_dynamodb::{BuildFingerprintHasher, Item};
use dynafold_mapping::item::{Folded, Folder};
use dynafold_mapping::model::{ItemType, Model, Pass};
use dynafold_mapping::sample::{ItemTypeSample, SampleItem, SampleReject};
use dynafold_mapping::template::Context;
use dynafold_relational::scan::{Relation, Scan};
use dynafold_source::{Source, SourceError};
use futures_util::StreamExt as _;
use serde_json::value::RawValue;

use crate::load::{RowOutcome, RowOutcomes, raw, row_json, shares_key};

/// Reads the first `limit` rows of each item type that `wanted` takes by its name, and folds them.
/// Rows that the item type's `where` leaves out are not among them. Opens the source's snapshot.
///
/// # Errors
///
/// [`SourceError`] when the source fails.
pub async fn sample(
    source: &mut dyn Source,
    model: &Model,
    context: Context,
    limit: u64,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<ItemTypeSample>, SourceError> {
    let most = SampleLimits {
        rows: limit,
        bytes: usize::MAX,
        by_key: false,
    };
    sample_within(source, model, context, most, wanted).await
}

/// How much is sampled.
#[derive(Debug, Clone, Copy)]
pub struct SampleLimits {
    /// Most rows of each item type.
    pub rows: u64,
    /// About the most bytes of items that are kept, those of rejects too; each item type has its share of them.
    pub bytes: usize,
    /// Whether rows come in the order of their keys: the same in every copy of a database.
    pub by_key: bool,
}

/// As [`sample`], within bounds.
///
/// # Errors
///
/// [`SourceError`] when the source fails.
pub async fn sample_within(
    source: &mut dyn Source,
    model: &Model,
    context: Context,
    most: SampleLimits,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<ItemTypeSample>, SourceError> {
    let is_wanted = |item_type: &&ItemType| wanted(&item_type.name);
    let share = most.bytes / model.item_types.iter().filter(is_wanted).count().max(1);
    source.begin(&model.scans()).await?;
    let folder = Folder::new(model, context);
    let mut keys: HashSet<u128, BuildFingerprintHasher> = HashSet::default();
    let mut samples = Vec::new();
    for (index, item_type) in model.item_types.iter().enumerate() {
        let Some(pass) = model.passes.get(item_type.pass) else {
            continue;
        };
        if !wanted(&item_type.name) {
            continue;
        }
        let scan = first_rows(pass, item_type, most);
        let mut sample = ItemTypeSample {
            item_type: item_type.name.to_string(),
            from: pass.name.clone(),
            items: Vec::new(),
            on_expiry: item_type.expired,
            expired: Vec::new(),
            rejects: Vec::new(),
            read: 0,
            is_cut: false,
        };
        let mut kept = 0;
        let mut chunks = source.scan(&scan);
        'rows: while let Some(chunk) = chunks.next().await {
            let mut outcomes = RowOutcomes::new(model, std::slice::from_ref(&index), chunk?, None);
            let before = sample.read;
            while let Some((_, _, outcome)) = outcomes.next(&folder) {
                if let RowOutcome::Filtered = outcome {
                    continue;
                }
                let read = before + met(&outcomes);
                if read > sample.read && kept > share {
                    sample.is_cut = true;
                    break 'rows;
                }
                sample.read = read;
                let row = raw(row_json(item_type, &outcomes.key(item_type)));
                kept += outcome.item().map_or(0, Item::size);
                match outcome {
                    RowOutcome::Filtered => {}
                    RowOutcome::Made(folded) if keys.insert(folded.fingerprint) => {
                        sample.items.push(sampled(folded, row));
                    }
                    RowOutcome::Made(folded) => {
                        let reject = shares_key(model, None, &folded.item);
                        sample.rejects.push(SampleReject { row, reject });
                    }
                    RowOutcome::Expired(folded) => sample.expired.push(sampled(*folded, row)),
                    RowOutcome::Rejected(reject) => {
                        let reject = *reject;
                        sample.rejects.push(SampleReject { row, reject });
                    }
                }
            }
            sample.read = before + met(&outcomes);
        }
        drop(chunks);
        samples.push(sample);
    }
    source.confirm().await?;
    Ok(samples)
}

/// Rows that met the item type's condition.
fn met(outcomes: &RowOutcomes) -> u64 {
    let counts = outcomes.counts().map(|(_, counts)| counts);
    counts
        .map(|counts| counts.rows_read - counts.filtered)
        .sum()
}

/// A condition that no row meets.
const NEVER: &str = "1 = 0";

/// The pass's scan for one item type alone. Conditions keep their places in the row; those of
/// other item types are made false, so that the limit counts this type's rows.
fn first_rows(pass: &Pass, item_type: &ItemType, most: SampleLimits) -> Scan {
    let mut scan = pass.scan.clone();
    scan.limit = Some(most.rows);
    if most.by_key && scan.key.is_empty() && matches!(scan.from, Relation::Table(_)) {
        let key = item_type.row_key.iter().take(item_type.key_columns());
        scan.key = key.map(|(_, column)| *column).collect();
    }
    if let Some(own) = item_type.condition {
        scan.keep_unmatched = false;
        let first = scan.columns.len();
        for (nth, condition) in scan.conditions.iter_mut().enumerate() {
            if first + nth != own {
                NEVER.clone_into(condition);
            }
        }
        scan.plain.push(NEVER.to_owned());
    }
    scan
}

fn sampled(folded: Folded, row: Box<RawValue>) -> SampleItem {
    SampleItem {
        item: folded.item,
        size: folded.size,
        units: folded.units,
        compressed: folded.compressed,
        row,
    }
}
