//! Workers: they fold blocks of rows into items, ask the table for these a page at a time, and
//! enter what they find into the chunk's sheet.

use std::ops::ControlFlow;
use std::sync::Arc;

use dynafold_dynamodb::Item;
use dynafold_mapping::item::{Expiry, Folded, Folder, moment_of};
use dynafold_mapping::model::ItemType;

use super::super::compare::compare;
use super::super::report::{AttributeFinding, Finding, FindingKind};
use super::VerifyShared;
use super::ending::{FindingPlace, FindingsSheet, RunFindings, name};
use crate::load::{
    BlockFolder, DifferenceReader, EXPIRED, ItemTypeMarks, MAX_NOTED, Outbox, PageLookup, REJECTED,
    Rejected, RowBlock, RowKey, RowOutcome, RowOutcomes, is_same, key_json, made_locator,
    may_be_deleted, raw, reject_note, row_json, take_keys,
};

/// Where an item comes from.
pub(super) struct ComparedOrigin {
    sheet: Arc<FindingsSheet>,
    place: FindingPlace,
    row: RowKey,
}

pub(super) struct CompareWorker {
    pub(super) shared: Arc<VerifyShared>,
    pub(super) folder: Folder,
    /// The attribute with the TTL, where DynamoDB deletes items whose TTL is over.
    pub(super) ttl: Option<String>,
    pub(super) differ: DifferenceReader<ComparedOrigin, ItemVerdict>,
    pub(super) mending: Option<Outbox>,
}

/// A row, or an element of it, of which something is said.
struct RowElement<'b> {
    sheet: &'b Arc<FindingsSheet>,
    place: FindingPlace,
    index: usize,
    item_type: &'b ItemType,
    row: RowKey,
}

impl BlockFolder for CompareWorker {
    type Block = RowBlock<Arc<FindingsSheet>>;

    fn is_idle(&self) -> bool {
        self.differ.is_idle()
    }

    async fn block(&mut self, block: Self::Block) -> ControlFlow<()> {
        let shared = self.shared.clone();
        let sheet = block.ticket;
        let Some(pass) = shared.model.passes.get(sheet.id.pass) else {
            return ControlFlow::Break(());
        };
        let mut tally = ComparedBlock {
            found: RunFindings::new(shared.model.item_types.len(), 0, MAX_NOTED),
            keys: Vec::new(),
        };
        let mut outcomes = RowOutcomes::new(&shared.model, &pass.item_types, block.rows, None);
        let mut nth = 0;
        while let Some((index, item_type, outcome)) = outcomes.next(&self.folder) {
            if let RowOutcome::Filtered = outcome {
                continue;
            }
            nth += 1;
            let at = RowElement {
                sheet: &sheet,
                place: sheet.place(block.number, nth),
                index,
                item_type,
                row: outcomes.key(item_type),
            };
            self.account_for(at, outcome, &mut tally).await;
            if shared.halt.is_set() {
                break;
            }
        }
        for (index, counts) in outcomes.counts() {
            tally.found.with(index, |books| books.count_rows(counts));
        }
        self.enter(&sheet, &pass.item_types, tally);
        shared.halt.flow()
    }

    async fn flush(&mut self) {
        self.differ.send_page();
        while let Some(looked) = self.differ.next().await {
            self.looked(looked).await;
        }
        if let Some(mending) = &mut self.mending {
            mending.flush().await;
        }
    }
}

impl CompareWorker {
    /// Counts the outcome of a row, and has the item that the row made compared.
    async fn account_for(
        &mut self,
        at: RowElement<'_>,
        outcome: RowOutcome,
        tally: &mut ComparedBlock,
    ) {
        let shared = self.shared.clone();
        let (index, model) = (at.index, &shared.model);
        if !shared.holds(&outcome) {
            tally.found.with(index, |books| books.filtered += 1);
            return;
        }
        match outcome {
            RowOutcome::Filtered => {}
            RowOutcome::Expired(folded) => {
                tally.found.with(index, |books| books.expired += 1);
                tally.keys.push((folded.fingerprint, EXPIRED));
            }
            RowOutcome::Rejected(reject) => {
                tally.found.with(index, |books| books.rejected += 1);
                if let Some(key) = self.folder.key_of_reject(&reject) {
                    tally.keys.push((key, REJECTED));
                }
                tally.found.reject(at.place, || {
                    reject_note(model, &Rejected::new(index, at.row, *reject))
                });
            }
            RowOutcome::Made(folded) => {
                let reading = (at.sheet.id, at.sheet.attempt);
                let key = folded.fingerprint;
                if !shared
                    .contest
                    .wins(&folded, index, at.item_type, &at.row, reading)
                {
                    tally.found.with(index, |books| books.rejected += 1);
                    let reject = || shared.contest.reject(model, index, at.row, &folded);
                    return tally
                        .found
                        .reject(at.place, || reject_note(model, &reject()));
                }
                if !shared.samples(&folded.item) {
                    tally.found.with(index, |books| books.unsampled += 1);
                    return;
                }
                tally.found.with(index, |books| books.expected += 1);
                let ttl = self
                    .ttl
                    .as_ref()
                    .filter(|_| folded.expiry != Expiry::TooOld)
                    .and_then(|ttl| moment_of(folded.item.get(ttl)?));
                tally.keys.push((key, made_locator(at.sheet.attempt, ttl)));
                let origin = ComparedOrigin {
                    sheet: at.sheet.clone(),
                    place: at.place,
                    row: at.row,
                };
                self.differ.push(index, folded, origin);
                while let Some(looked) = self.differ.next_if_full().await {
                    self.looked(looked).await;
                }
            }
        }
    }

    /// Takes what was found in the table for a page of items.
    async fn looked(&mut self, looked: PageLookup<ComparedOrigin, ItemVerdict>) {
        let items = match looked {
            PageLookup::Known(items) => items,
            PageLookup::Unknown { origins, failure } => {
                if let Some(failure) = failure {
                    self.shared.halt.set(failure);
                }
                for (index, origin) in origins {
                    origin.sheet.count(index, |books| books.uncompared += 1);
                }
                return;
            }
        };
        let mut compared = vec![0_u64; self.shared.model.item_types.len()];
        for (index, folded, origin, verdict) in items {
            if let Some(compared) = compared.get_mut(index) {
                *compared += 1;
            }
            let amiss = self.judged(index, &folded, &origin, verdict);
            if amiss
                && let Some(mending) = &mut self.mending
                && let Some(ticket) = origin.sheet.ticket.clone()
            {
                mending.put(index, &folded, ticket, origin.row).await;
            }
        }
        for (index, items) in compared.into_iter().enumerate() {
            if items > 0 {
                self.shared.progress.written(index, items);
            }
        }
    }

    /// Enters a verdict; `true` for an item that could be mended.
    fn judged(
        &self,
        index: usize,
        folded: &Folded,
        origin: &ComparedOrigin,
        verdict: ItemVerdict,
    ) -> bool {
        let model = &self.shared.model;
        let (kind, attributes, maker) = match verdict {
            ItemVerdict::Equal => {
                origin.sheet.count(index, |books| books.equal += 1);
                return false;
            }
            ItemVerdict::Gone => {
                origin.sheet.count(index, |books| books.gone += 1);
                return false;
            }
            ItemVerdict::Missing => (FindingKind::Missing, Vec::new(), DifferingRow::Own),
            ItemVerdict::Different { attributes, maker } => {
                (FindingKind::Different, attributes, maker)
            }
        };
        let own = maker == DifferingRow::Own;
        origin.sheet.enter(|found| {
            found.with(index, |books| match kind {
                FindingKind::Missing => books.missing += 1,
                _ => {
                    books.different += 1;
                    books.foreign += u64::from(!own);
                }
            });
            if !found.findings.wants(origin.place) {
                return;
            }
            let item_type = model.item_types.get(index);
            let (made_by, foreign) = match maker {
                DifferingRow::Own => (None, None),
                DifferingRow::Other(other) => (name(model, other), None),
                DifferingRow::Foreign(attribute) => (None, Some(attribute.to_string())),
            };
            let finding = Finding {
                kind,
                item_type: item_type.map(|t| t.name.to_string()),
                row: item_type.map(|t| raw(row_json(t, &origin.row))),
                key: raw(key_json(&model.table, &folded.item)),
                attributes,
                stale: None,
                made_by,
                foreign,
            };
            found.findings.push(origin.place, finding);
        });
        own
    }
}

/// What one block comes to, before anything is known of the table.
struct ComparedBlock {
    found: RunFindings,
    /// Fingerprints and locators.
    keys: Vec<(u128, u64)>,
}

impl CompareWorker {
    /// Enters what a block came to.
    fn enter(&self, sheet: &FindingsSheet, item_types: &[usize], tally: ComparedBlock) {
        let shared = &self.shared;
        for index in item_types {
            let Some(books) = tally.found.books.get(*index) else {
                continue;
            };
            shared.progress.rows(*index, books.rows_read);
            if books.rejected > 0 {
                shared.progress.rejected(*index, books.rejected);
            }
        }
        sheet.enter(|found| found.take(tally.found));
        let taken = shared.keys.as_ref();
        if let Some(Err(failure)) = taken.map(|keys| take_keys(keys, &tally.keys)) {
            shared.halt.set(failure);
        }
    }
}

/// What the table holds under an item's key, against what a row makes; and who has made it where it is another item.
pub(super) enum ItemVerdict {
    Equal,
    /// Nothing, because the item has expired and DynamoDB has deleted it.
    Gone,
    Missing,
    Different {
        attributes: Vec<AttributeFinding>,
        maker: DifferingRow,
    },
}

/// What has made an item that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DifferingRow {
    /// The item type that it should be of, as far as is known.
    Own,
    /// Another item type of the mapping.
    Other(usize),
    /// Something else, by what this attribute says.
    Foreign(Arc<str>),
}

/// Judges what the table holds. `ttl`: the attribute with the TTL, where DynamoDB deletes expired items.
pub(super) fn judge(
    owners: Option<&ItemTypeMarks>,
    ttl: Option<&str>,
    item_type: usize,
    folded: &Folded,
    found: Option<&Item>,
) -> ItemVerdict {
    let moment = || folded.item.get(ttl?);
    match found {
        None if moment().is_some_and(|moment| may_be_deleted(moment, folded.expiry)) => {
            ItemVerdict::Gone
        }
        None => ItemVerdict::Missing,
        Some(found) if is_same(folded, found) => ItemVerdict::Equal,
        Some(found) => ItemVerdict::Different {
            attributes: compare(&folded.item, found),
            maker: owners.map_or(DifferingRow::Own, |owners| maker(owners, item_type, found)),
        },
    }
}

fn maker(owners: &ItemTypeMarks, item_type: usize, found: &Item) -> DifferingRow {
    match (owners.owner(found), owners.foreign(item_type, found)) {
        (Some(owner), _) if owner != item_type => DifferingRow::Other(owner),
        (_, Some(attribute)) => DifferingRow::Foreign(attribute.clone()),
        _ => DifferingRow::Own,
    }
}
