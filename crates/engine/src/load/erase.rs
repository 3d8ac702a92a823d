//! Erases partitions: deletes the items that have some values of the partition key, without a source.
//!
//! The partitions are read once to count what is there ([`Erase::plan`]), and once more to delete it ([`Erase::run`]): an
//! item is deleted only by a key that was read under the very value that is erased. Then they are read a third time, to
//! know whether they are empty. Nothing is remembered: a run that was interrupted is started again, and finds what is
//! left. One request is in flight at a time, since a partition takes no more than a thousand units a second.

use std::sync::Arc;

use dynafold_dynamodb::{
    Attribute, Item, Position, Table, attribute_json, fingerprints, write_item, write_units,
};
use dynafold_format::{counted, whole};
use dynafold_mapping::claim::{Claim, ClaimKind, ClaimSubject, ClaimVerdict};
use dynafold_mapping::item::IndexEntrySizes;
use dynafold_target::retry::{Decision, Policy, Retry};
use dynafold_target::throttle::{OutcomeKind, ThrottleSettings};
use dynafold_target::{Action, Batch, BatchEntry, Batcher, ScanRequest, Target};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::books::add_fields;
use super::ending::{Cancel, EndReason};
use super::failure::{Failure, shared};
use super::pace::{WritePace, units};
use super::prune::ItemTypeMarks;
use super::row::key_item;

/// Partitions that are to be erased.
pub struct Erase {
    /// Where the table is.
    pub target: Arc<dyn Target>,
    /// The table, as the target describes it: with the indexes that it has.
    pub table: Table,
    /// The names of the mapping's item types.
    pub item_types: Vec<Arc<str>>,
    /// What tells whose an item is; without it every item is a foreign one.
    pub marks: Option<ItemTypeMarks>,
    /// The values of the table's partition key that are erased.
    pub partitions: Vec<Attribute>,
    /// Whether items that are of no item type are deleted too.
    pub foreign: bool,
    /// Most write units a second, indexes included.
    pub ceiling: Option<f64>,
    /// The caller's way to end it.
    pub cancel: Cancel,
}

/// What became of items of one type, or of those that are of none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ErasedBooks {
    /// The item type's name; none for items of no item type and for totals.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub item_type: String,
    /// Items that were there at first.
    pub items: u64,
    /// Their bytes, as DynamoDB counts them.
    pub bytes: u64,
    /// Write units that deleting them takes, index entries included.
    pub write_units: u64,
    /// Items that were deleted.
    pub deleted: u64,
}

/// Entries of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErasedIndex {
    /// The index's name.
    pub name: String,
    /// Entries of the items that are to be deleted.
    pub entries: u64,
}

/// How it ended.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum EraseOutcome {
    /// Nothing was deleted: it was counted what would be.
    Planned,
    /// The partitions hold no item any more.
    Erased,
    /// The partitions still hold items: those that are not the mapping's, or those written meanwhile.
    Left,
    /// The caller wished it to end.
    Interrupted,
    /// It ended with this failure; what was deleted before is counted.
    Failed(#[serde(serialize_with = "shared")] Arc<Failure>),
}

/// What was erased, or would be.
#[derive(Debug, Clone, Serialize)]
pub struct EraseReport {
    /// How it ended.
    pub outcome: EraseOutcome,
    /// The table's name.
    pub table: String,
    /// The target, as people read it: `dynamodb in eu-west-1`.
    pub place: String,
    /// The values of the partition key, as DynamoDB JSON.
    pub partitions: Vec<String>,
    /// What is deleted, by item type.
    pub item_types: Vec<ErasedBooks>,
    /// Items that are deleted though they are of no item type.
    pub foreign: ErasedBooks,
    /// All of what is deleted.
    pub total: ErasedBooks,
    /// Entries that leave each index, the global ones first.
    pub indexes: Vec<ErasedIndex>,
    /// Items that are not deleted because they are of no item type of the mapping.
    pub kept_foreign: u64,
    /// Items that were still there at the end; `None` where that was not asked.
    pub left: Option<u64>,
    /// Read units that it took, as far as the target tells them.
    pub read_units: f64,
    /// What is claimed of each partition.
    pub claims: Vec<Claim>,
}

impl Erase {
    /// Counts what there is to delete.
    pub async fn plan(&self) -> EraseReport {
        let item_types = self.item_types.iter().map(|name| ErasedBooks {
            item_type: name.to_string(),
            ..ErasedBooks::default()
        });
        let indexes = self.table.all_indexes().map(|index| ErasedIndex {
            name: index.name.clone(),
            entries: 0,
        });
        let mut report = EraseReport {
            outcome: EraseOutcome::Planned,
            table: self.table.name.clone(),
            place: self.target.place(),
            partitions: self.partitions.iter().map(attribute_json).collect(),
            item_types: item_types.collect(),
            foreign: ErasedBooks::default(),
            total: ErasedBooks::default(),
            indexes: indexes.collect(),
            kept_foreign: 0,
            left: None,
            read_units: 0.0,
            claims: Vec::new(),
        };
        if let Err(why) = self.count(&mut report).await {
            report.outcome = EraseOutcome::ended(why);
        }
        report.add_up();
        report
    }

    /// Deletes, and looks whether anything is left. `report`: the plan's.
    pub async fn run(&self, mut report: EraseReport) -> EraseReport {
        report.outcome = match self.erase(&mut report).await {
            Ok(()) if report.left == Some(0) => EraseOutcome::Erased,
            Ok(()) => EraseOutcome::Left,
            Err(why) => EraseOutcome::ended(why),
        };
        report.add_up();
        report
    }

    async fn erase(&self, report: &mut EraseReport) -> Result<(), EndReason> {
        self.target.start(&self.table, false).await?;
        let deleted = self.delete(report).await;
        let finished = self.target.finish().await;
        deleted?;
        finished?;
        self.look_again(report).await
    }

    async fn count(&self, report: &mut EraseReport) -> Result<(), EndReason> {
        let entries = IndexEntrySizes::of(&self.table);
        let mut pages = Pages::of(self, None);
        while let Some((_, items)) = pages.next(report).await? {
            for item in &items {
                let Some(owner) = self.owner(item) else {
                    report.kept_foreign += 1;
                    continue;
                };
                let size = item.size();
                let held: Vec<Option<usize>> = entries.of_item(item, size).collect();
                for (index, held) in report.indexes.iter_mut().zip(&held) {
                    index.entries += u64::from(held.is_some());
                }
                if let Some(books) = report.books(owner) {
                    books.items += 1;
                    books.bytes += whole(size);
                    books.write_units += deletion_units(size, held);
                }
            }
        }
        Ok(())
    }

    async fn delete(&self, report: &mut EraseReport) -> Result<(), EndReason> {
        let entries = IndexEntrySizes::of(&self.table);
        let settings = ThrottleSettings {
            ceiling: self.ceiling,
            most_in_flight: 1,
            ..ThrottleSettings::default()
        };
        let pace = WritePace::new(settings, &self.table);
        let mut batcher = Batcher::new(self.target.batch_limit());
        let mut pages = Pages::of(self, None);
        while let Some((partition, items)) = pages.next(report).await? {
            for item in items {
                let Some(owner) = self.owner(&item) else {
                    continue;
                };
                let size = item.size();
                let units = deletion_units(size, entries.of_item(&item, size));
                let key = key_item(&self.table, &item);
                if key.attributes.len() < self.table.key().count() {
                    return Err(Failure::Internal("an item was read without its key").into());
                }
                let mut values = key.attributes.iter().map(|(_, value)| value);
                let (fingerprint, partition) = fingerprints(partition, values.nth(1));
                let entry = BatchEntry {
                    action: Action::Delete,
                    size,
                    units,
                    item_type: owner,
                    fingerprint,
                    partition,
                    digest: 0,
                };
                batcher.limit_units(pace.batch_units());
                if let Some(batch) = batcher.push(entry, |out| write_item(out, &key)) {
                    self.send(batch, &pace, report).await?;
                }
            }
        }
        match batcher.finish() {
            Some(batch) => self.send(batch, &pace, report).await,
            None => Ok(()),
        }
    }

    /// Sends a batch until all of it is deleted.
    async fn send(
        &self,
        mut batch: Batch,
        pace: &WritePace,
        report: &mut EraseReport,
    ) -> Result<(), EndReason> {
        let mut retry = Retry::new(Policy::default(), fastrand::u64(..));
        let begun = Instant::now();
        loop {
            let estimated = units(batch.entries());
            let partition = batch.entries().first().map_or(0, |entry| entry.partition);
            let hot = pace.is_hot(partition).then_some(partition);
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(EndReason::Cancelled),
                () = pace.admit_any(hot, estimated) => {}
            }
            let sent = Instant::now();
            let answer = self.target.write(&self.table, &batch).await;
            let latency = sent.elapsed();
            let (decision, failure) = match answer {
                Ok(answer) => {
                    let is_left = |at: &usize| answer.unprocessed.contains(at);
                    let (left, done): (Vec<usize>, Vec<usize>) =
                        (0..batch.len()).partition(is_left);
                    let (left, done) = (batch.part(&left), batch.part(&done));
                    let (refused, accepted) = (left.entries(), done.entries());
                    let took = OutcomeKind::Took;
                    pace.answered(took, estimated, latency, answer.consumed, accepted, refused);
                    for entry in accepted {
                        if let Some(books) = report.books(entry.item_type) {
                            books.deleted += 1;
                        }
                    }
                    if left.is_empty() {
                        return Ok(());
                    }
                    let failure = Failure::Throttled { items: left.len() };
                    let has_progress = !done.is_empty();
                    batch = left;
                    (retry.unprocessed(has_progress, begun.elapsed()), failure)
                }
                Err(error) => {
                    pace.failed(&error, estimated, latency, batch.entries());
                    let decision = retry.failed(error.class, begun.elapsed());
                    (decision, Failure::from(error))
                }
            };
            match decision {
                Decision::Retry(delay) => tokio::select! {
                    () = self.cancel.cancelled() => return Err(EndReason::Cancelled),
                    () = sleep(delay) => {}
                },
                Decision::Split | Decision::Fail => return Err(failure.into()),
            }
        }
    }

    /// Counts what the partitions still hold.
    async fn look_again(&self, report: &mut EraseReport) -> Result<(), EndReason> {
        let (mut all, mut left) = (0, 0);
        let mut pages = Pages::of(self, ScanRequest::keys(&self.table).attributes);
        while let Some((partition, items)) = pages.next(report).await? {
            left += whole(items.len());
            if pages.from.is_none() {
                report.claims.push(is_empty(partition, left));
                all += std::mem::take(&mut left);
            }
        }
        report.left = Some(all);
        Ok(())
    }

    /// The item type of an item that is deleted, or their number where it is of none; `None` for one that stays.
    fn owner(&self, item: &Item) -> Option<usize> {
        let item_type = self.marks.as_ref().and_then(|marks| marks.owner(item));
        item_type.or(self.foreign.then_some(self.item_types.len()))
    }
}

/// The items of the partitions, a page at a time.
struct Pages<'e> {
    erase: &'e Erase,
    attributes: Option<Vec<Arc<str>>>,
    /// The number of the next page's partition.
    partition: usize,
    /// Where its next page begins; `None` at its beginning.
    from: Option<Position>,
}

impl<'e> Pages<'e> {
    fn of(erase: &'e Erase, attributes: Option<Vec<Arc<str>>>) -> Self {
        Self {
            erase,
            attributes,
            partition: 0,
            from: None,
        }
    }

    /// The next page, with its partition. It is the partition's last one if nothing is left in `from`.
    async fn next(
        &mut self,
        report: &mut EraseReport,
    ) -> Result<Option<(&'e Attribute, Vec<Item>)>, EndReason> {
        let Some(partition) = self.erase.partitions.get(self.partition) else {
            return Ok(None);
        };
        if self.erase.cancel.is_cancelled() {
            return Err(EndReason::Cancelled);
        }
        let wanted = ScanRequest {
            attributes: self.attributes.clone(),
            partition: Some(partition.clone()),
            ..ScanRequest::all()
        };
        let Erase { target, table, .. } = self.erase;
        let page = target.scan(table, &wanted, self.from.take()).await?;
        report.read_units += page.units.unwrap_or(0.0);
        self.from = page.next;
        self.partition += usize::from(self.from.is_none());
        Ok(Some((partition, page.items)))
    }
}

/// Write units that deleting an item takes, with its entries in indexes.
fn deletion_units(size: usize, entries: impl IntoIterator<Item = Option<usize>>) -> u64 {
    let entries = entries.into_iter().flatten();
    write_units(size) + entries.map(write_units).sum::<u64>()
}

/// The claim that a partition holds no item. `left`: those that it was found to hold.
fn is_empty(partition: &Attribute, left: u64) -> Claim {
    let shown = match left {
        0 => (
            ClaimVerdict::Proved,
            "a strongly consistent query found no item after the last deletion; items under other partition keys were not looked at".to_owned(),
        ),
        _ => (
            ClaimVerdict::Differs,
            format!(
                "a strongly consistent query found {} after the last deletion",
                counted(left, "item")
            ),
        ),
    };
    let of = ClaimSubject {
        partition: Some(attribute_json(partition)),
        ..ClaimSubject::default()
    };
    Claim::new(ClaimKind::PartitionEmpty, of, shown)
}

impl EraseOutcome {
    fn ended(why: EndReason) -> Self {
        match why {
            EndReason::Failed(failure) => Self::Failed(failure),
            EndReason::Cancelled | EndReason::TooManyRejects => Self::Interrupted,
        }
    }
}

impl EraseReport {
    /// The books of an item type, or behind the last one those of items that are of none.
    fn books(&mut self, owner: usize) -> Option<&mut ErasedBooks> {
        if owner == self.item_types.len() {
            return Some(&mut self.foreign);
        }
        self.item_types.get_mut(owner)
    }

    fn add_up(&mut self) {
        let mut total = ErasedBooks::default();
        for books in self.item_types.iter().chain([&self.foreign]) {
            add_fields!(total += books: items, bytes, write_units, deleted);
        }
        self.total = total;
    }
}
