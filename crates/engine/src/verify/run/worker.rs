//! Workers: they fold blocks of rows into items, ask the table for these a page at a time, and
//! enter what they find into the chunk's sheet.

use std::ops::ControlFlow;
use std::sync::Arc;

use dynafold_dynamodb::Item;
use dynafold_mapping::item::{Expiry, Folded, Folder};
use dynafold_mapping::model::ItemType;

use super::super::compare::compare;
use super::super::report::{AttributeFinding, Finding, FindingKind};
use super::Shared;
use super::ending::{Found, Place, Sheet, name};
use crate::load::{
    Block, Differ, EXPIRED, Fate, Fates, Looked, NOTED, Outbox, Owners, REJECTED, Rejected, RowKey,
    Work, is_same, key_json, note, raw, row_json, take_keys,
};

/// The locator of keys that items of the run have. Who has made them is not asked.
const MADE: u64 = 0;

/// Where an item comes from.
pub(super) struct Origin {
    sheet: Arc<Sheet>,
    place: Place,
    row: RowKey,
}

/// A worker.
pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) folder: Folder,
    pub(super) differ: Differ<Origin, Verdict>,
    pub(super) mending: Option<Outbox>,
}

/// A row, or an element of it, of which something is said.
struct At<'b> {
    sheet: &'b Arc<Sheet>,
    place: Place,
    index: usize,
    item_type: &'b ItemType,
    row: RowKey,
}

impl Work for Worker {
    type Block = Block<Arc<Sheet>>;

    fn is_idle(&self) -> bool {
        self.differ.is_idle()
    }

    async fn block(&mut self, block: Self::Block) -> ControlFlow<()> {
        let shared = self.shared.clone();
        let sheet = block.ticket;
        let Some(pass) = shared.model.passes.get(sheet.id.pass) else {
            return ControlFlow::Break(());
        };
        let mut tally = Tally {
            found: Found::new(shared.model.item_types.len(), 0, NOTED),
            keys: Vec::new(),
        };
        let mut fates = Fates::new(&shared.model, &pass.item_types, block.rows, None);
        let mut nth = 0;
        while let Some((index, item_type, fate)) = fates.next(&self.folder) {
            if let Fate::Filtered = fate {
                continue;
            }
            nth += 1;
            let at = At {
                sheet: &sheet,
                place: sheet.place(block.number, nth),
                index,
                item_type,
                row: fates.key(item_type),
            };
            self.fate(at, fate, &mut tally).await;
            if shared.halt.is_set() {
                break;
            }
        }
        for (index, counts) in fates.counts() {
            tally.found.with(index, |books| books.count(counts));
        }
        self.enter(&sheet, &pass.item_types, tally);
        shared.halt.flow()
    }

    async fn flush(&mut self) {
        self.differ.ask();
        while let Some(looked) = self.differ.next().await {
            self.looked(looked).await;
        }
        if let Some(mending) = &mut self.mending {
            mending.flush().await;
        }
    }
}

impl Worker {
    async fn fate(&mut self, at: At<'_>, fate: Fate, tally: &mut Tally) {
        let shared = self.shared.clone();
        let (index, model) = (at.index, &shared.model);
        if !shared.holds(&fate) {
            tally.found.with(index, |books| books.filtered += 1);
            return;
        }
        match fate {
            Fate::Filtered => {}
            Fate::Expired(folded) => {
                tally.found.with(index, |books| books.expired += 1);
                tally.keys.push((folded.fingerprint, EXPIRED));
            }
            Fate::Rejected(reject) => {
                tally.found.with(index, |books| books.rejected += 1);
                if let Some(key) = self.folder.key_of_reject(&reject) {
                    tally.keys.push((key, REJECTED));
                }
                tally.found.reject(at.place, || {
                    note(model, &Rejected::new(index, at.row, *reject))
                });
            }
            Fate::Made(folded) => {
                let reading = (at.sheet.id, at.sheet.attempt);
                let key = folded.fingerprint;
                if !shared
                    .contest
                    .wins(&folded, index, at.item_type, &at.row, reading)
                {
                    tally.found.with(index, |books| books.rejected += 1);
                    let reject = || shared.contest.reject(model, index, at.row, &folded);
                    return tally.found.reject(at.place, || note(model, &reject()));
                }
                if !shared.samples(&folded.item) {
                    tally.found.with(index, |books| books.unsampled += 1);
                    return;
                }
                tally.found.with(index, |books| books.expected += 1);
                tally.keys.push((key, MADE));
                let origin = Origin {
                    sheet: at.sheet.clone(),
                    place: at.place,
                    row: at.row,
                };
                self.differ.push(index, folded, origin);
                while let Some(looked) = self.differ.overdue().await {
                    self.looked(looked).await;
                }
            }
        }
    }

    /// Takes what was found in the table for a page of items.
    async fn looked(&mut self, looked: Looked<Origin, Verdict>) {
        let items = match looked {
            Ok(items) => items,
            Err((origins, failure)) => {
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
    fn judged(&self, index: usize, folded: &Folded, origin: &Origin, verdict: Verdict) -> bool {
        let model = &self.shared.model;
        let (kind, attributes, maker) = match verdict {
            Verdict::Equal => {
                origin.sheet.count(index, |books| books.equal += 1);
                return false;
            }
            Verdict::Gone => {
                origin.sheet.count(index, |books| books.gone += 1);
                return false;
            }
            Verdict::Missing => (FindingKind::Missing, Vec::new(), Maker::Own),
            Verdict::Different { attributes, maker } => (FindingKind::Different, attributes, maker),
        };
        let own = maker == Maker::Own;
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
                Maker::Own => (None, None),
                Maker::Other(other) => (name(model, other), None),
                Maker::Foreign(attribute) => (None, Some(attribute.to_string())),
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

// What one block comes to before anything is known of the table, and entering it into its chunk's sheet.

/// What one block comes to, before anything is known of the table.
struct Tally {
    found: Found,
    /// Fingerprints and locators.
    keys: Vec<(u128, u64)>,
}

impl Worker {
    /// Enters what a block came to.
    fn enter(&self, sheet: &Sheet, item_types: &[usize], tally: Tally) {
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

// What the table holds under an item's key, against what a row makes; and who has made it where it
// is another item.

/// What the table holds under an item's key.
pub(super) enum Verdict {
    Equal,
    /// Nothing, because the item has expired and DynamoDB has deleted it.
    Gone,
    Missing,
    Different {
        attributes: Vec<AttributeFinding>,
        maker: Maker,
    },
}

/// What has made an item that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Maker {
    /// The item type that it should be of, as far as is known.
    Own,
    /// Another item type of the mapping.
    Other(usize),
    /// Something else, by what this attribute says.
    Foreign(Arc<str>),
}

/// Judges what the table holds. `expires`: DynamoDB deletes its expired items.
pub(super) fn judge(
    owners: Option<&Owners>,
    expires: bool,
    item_type: usize,
    folded: &Folded,
    found: Option<&Item>,
) -> Verdict {
    match found {
        None if expires && folded.expiry == Expiry::Past => Verdict::Gone,
        None => Verdict::Missing,
        Some(found) if is_same(folded, found) => Verdict::Equal,
        Some(found) => Verdict::Different {
            attributes: compare(&folded.item, found),
            maker: owners.map_or(Maker::Own, |owners| maker(owners, item_type, found)),
        },
    }
}

fn maker(owners: &Owners, item_type: usize, found: &Item) -> Maker {
    match (owners.owner(found), owners.foreign(item_type, found)) {
        (Some(owner), _) if owner != item_type => Maker::Other(owner),
        (_, Some(attribute)) => Maker::Foreign(attribute.clone()),
        _ => Maker::Own,
    }
}
