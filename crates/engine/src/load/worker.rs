//! Workers: they fold blocks of rows into items and hand these to the writers in batches.
//!
//! Several work side by side; each has a batch of its own, which may hold items of several chunks.
//! What becomes of a row is entered into the books of its chunk at the end of its block.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dynafold_dynamodb::write_item;
use dynafold_format::whole;
use dynafold_mapping::item::{
    ExplodedElements, Folded, Folder, ItemFacts, ItemText, KEY_NULL, Reject,
};
use dynafold_mapping::model::{Expired, ItemType, Model};
use dynafold_source::{Chunk, Row};
use dynafold_target::{Batch, BatchEntry, Batcher};
use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, timeout};

use super::books::{Books, LargestItem};
use super::differ::{DifferenceReader, KnownItem, PageLookup, REQUESTS, classify_for_load};
use super::failure::Failure;
use super::feed::{RowOutcome, RowOutcomes, WrittenRow};
use super::plan::selected;
use super::prove::ContestedKeys;
use super::rejects::{Rejected, reject_note, write_reject_line};
use super::report::RunTimes;
use super::row::{RowKey, raw, row_json};
use super::scope::{EXPIRED, FILTERED, ItemAction, REJECTED, RunSelection};
use super::ticket::Ticket;
use super::writer::{Delivery, ItemOrigin, TicketedBatch, put};
use crate::proof::Proof;

/// KiB of batches that may be on their way at one time.
pub(super) const KIB_IN_FLIGHT: usize = 32 << 10;

/// A block of rows.
pub(super) type Block = super::lanes::RowBlock<Arc<Ticket>>;

pub(super) struct LoadWorker {
    pub(super) delivery: Arc<Delivery>,
    pub(super) rules: Arc<LoadRules>,
    pub(super) times: Arc<RunTimes>,
    pub(super) room: Arc<Semaphore>,
    folder: Folder,
    batcher: Batcher,
    /// Of the items that wait in the batcher.
    origins: VecDeque<ItemOrigin>,
    parcels: mpsc::Sender<TicketedBatch>,
    differ: DifferenceReader<ItemOrigin, KnownItem>,
}

impl LoadWorker {
    pub(super) fn new(
        delivery: Arc<Delivery>,
        rules: Arc<LoadRules>,
        times: Arc<RunTimes>,
        room: Arc<Semaphore>,
        folder: Folder,
        parcels: mpsc::Sender<TicketedBatch>,
    ) -> Self {
        let expires = rules.expires;
        Self {
            batcher: Batcher::new(delivery.target.batch_limit()),
            differ: DifferenceReader::new(
                delivery.target.clone(),
                &delivery.model.table,
                folder.clone(),
                Arc::new(move |_, folded, found| {
                    classify_for_load(folded, found.as_ref(), expires)
                }),
                REQUESTS,
                delivery.halt.clone(),
            ),
            folder,
            origins: VecDeque::new(),
            delivery,
            rules,
            times,
            room,
            parcels,
        }
    }
}

impl BlockFolder for LoadWorker {
    type Block = Block;

    fn is_idle(&self) -> bool {
        self.origins.is_empty() && self.differ.is_idle()
    }

    async fn block(&mut self, block: Block) -> ControlFlow<()> {
        let Block {
            ticket,
            number,
            rows,
        } = block;
        let begun = Instant::now();
        let waited = self.times.target.total();
        self.batcher.limit_units(self.delivery.pace.batch_units());
        let mut tally = BlockTally {
            text: self.text(&ticket),
            ..BlockTally::default()
        };
        let forgotten = ticket.record().forgotten;
        let flow = if forgotten {
            ControlFlow::Continue(())
        } else {
            // For all of its items at once: the writers count down what the workers count up.
            tally.holders = whole(rows.rows.len());
            ticket.hold(tally.holders);
            self.rows(&ticket, rows, &mut tally).await
        };
        let unused = tally.holders;
        let entered = self.enter(&ticket, number, tally);
        let waited = self.times.target.total().saturating_sub(waited);
        self.times.fold.add(begun.elapsed().saturating_sub(waited));
        if let Err(failure) = entered {
            ticket.spoil();
            self.delivery.halt.set(failure);
        }
        if flow.is_break() {
            ticket.spoil();
        }
        self.delivery.let_go(&ticket, 1 + unused);
        flow?;
        self.delivery.halt.flow()
    }

    async fn flush(&mut self) {
        self.differ.send_page();
        while let Some(looked) = self.differ.next().await {
            self.looked(looked).await;
        }
        if let Some(batch) = self.batcher.finish() {
            self.dispatch(batch).await;
        }
    }
}

impl LoadWorker {
    async fn rows(
        &mut self,
        ticket: &Arc<Ticket>,
        chunk: Chunk,
        tally: &mut BlockTally,
    ) -> ControlFlow<()> {
        let (delivery, rules) = (self.delivery.clone(), self.rules.clone());
        let Some(pass) = delivery.model.passes.get(ticket.id.pass) else {
            return ControlFlow::Break(());
        };
        let selection = Some(&rules.selection);
        let mut outcomes = RowOutcomes::new(&delivery.model, &pass.item_types, chunk, selection);
        let mut flow = ControlFlow::Continue(());
        while let Some((index, item_type, outcome)) =
            outcomes.next_written(&self.folder, tally.text.as_mut())
        {
            if let WrittenRow::Outcome(RowOutcome::Filtered) = outcome {
                self.keep(index, item_type, outcomes.row(), tally);
                continue;
            }
            let key = outcomes.key(item_type);
            flow = match outcome {
                WrittenRow::Item(facts) => {
                    let origin = self.made(ticket, index, item_type, &facts, key, tally);
                    let json = tally.text.as_ref().map_or("", |text| &text.json);
                    let write = |out: &mut String| out.push_str(json);
                    self.push(put(index, &facts), origin, write).await;
                    // Whether the run is to end is asked after the block: that takes a lock.
                    ControlFlow::Continue(())
                }
                WrittenRow::Outcome(outcome) => {
                    self.account_for(ticket, index, item_type, outcome, key, tally)
                        .await
                }
            };
            if flow.is_break() {
                break;
            }
        }
        for (index, counts) in outcomes.counts() {
            tally.books(index).count_rows(counts);
        }
        flow
    }

    /// Remembers the keys of a row that is left out, where its items must not be deleted.
    fn keep(&mut self, index: usize, item_type: &ItemType, row: &mut Row, tally: &mut BlockTally) {
        if !self.rules.keep_filtered {
            return;
        }
        let mut elements = ExplodedElements::new(&item_type.explodes);
        while let Some(outcome) = RowOutcome::of(index, &mut elements, row, &self.folder) {
            let table = &self.delivery.model.table;
            if !self.rules.selection.holds_item(table, outcome.item()) {
                continue;
            }
            match outcome {
                RowOutcome::Filtered => {}
                RowOutcome::Made(folded) => tally.keep(folded.fingerprint, FILTERED),
                RowOutcome::Expired(folded) => tally.keep(folded.fingerprint, FILTERED),
                RowOutcome::Rejected(reject) => self.keep_reject(index, &reject, FILTERED, tally),
            }
        }
    }

    /// Remembers the key of a row that was rejected, where it was made; otherwise every item of the
    /// type may be the row's. With NULL in its key it has none.
    fn keep_reject(&self, index: usize, reject: &Reject, why: u64, tally: &mut BlockTally) {
        match self.folder.key_of_reject(reject) {
            Some(fingerprint) => tally.keep(fingerprint, why),
            None if reject.code == KEY_NULL => {}
            None => self.rules.keep_all_of(index),
        }
    }

    /// Counts the outcome of a row, and hands on the item that the row made.
    async fn account_for(
        &mut self,
        ticket: &Arc<Ticket>,
        index: usize,
        item_type: &ItemType,
        outcome: RowOutcome,
        row: RowKey,
        tally: &mut BlockTally,
    ) -> ControlFlow<()> {
        let rules = self.rules.clone();
        let table = &self.delivery.model.table;
        if !rules.selection.holds_item(table, outcome.item()) {
            tally.books(index).filtered += 1;
            return ControlFlow::Continue(());
        }
        match outcome {
            RowOutcome::Filtered => ControlFlow::Continue(()),
            RowOutcome::Expired(folded) => {
                if rules.keep_rejected {
                    tally.keep(folded.fingerprint, EXPIRED);
                }
                let books = tally.books(index);
                if folded.expired == Expired::Archive {
                    books.archived += 1;
                    write_item(&mut tally.archive, &folded.item);
                    tally.archive.push('\n');
                } else {
                    books.expired += 1;
                }
                ControlFlow::Continue(())
            }
            RowOutcome::Rejected(reject) => {
                if rules.keep_rejected {
                    self.keep_reject(index, &reject, REJECTED, tally);
                }
                self.rejected(Rejected::new(index, row, *reject), tally)
            }
            RowOutcome::Made(folded) => {
                if !rules
                    .contest
                    .wins(&folded, index, item_type, &row, (ticket.id, ticket.attempt))
                {
                    let model = &self.delivery.model;
                    let reject = rules.contest.reject(model, index, row, &folded);
                    return self.rejected(reject, tally);
                }
                let facts = folded.facts();
                tally.books(index).compressed += u64::from(!folded.compressed.is_empty());
                let origin = self.made(ticket, index, item_type, &facts, row, tally);
                if self.puts(ticket) {
                    self.put(index, &folded, origin).await;
                } else {
                    self.differ.push(index, folded, origin);
                    while let Some(looked) = self.differ.next_if_full().await {
                        self.looked(looked).await;
                    }
                }
                self.delivery.halt.flow()
            }
        }
    }

    /// Whether items are written whatever the table holds.
    fn puts(&self, ticket: &Ticket) -> bool {
        self.rules.doing == ItemAction::Put && !ticket.again
    }

    /// Where items are written, where nothing is decided on their values.
    fn text(&self, ticket: &Ticket) -> Option<ItemText> {
        let rules = &self.rules;
        let plain = rules.selection.partition.is_none() && rules.contest.is_empty();
        (plain && self.puts(ticket)).then(ItemText::default)
    }

    /// Counts an item that was made.
    fn made(
        &self,
        ticket: &Arc<Ticket>,
        index: usize,
        item_type: &ItemType,
        facts: &ItemFacts,
        row: RowKey,
        tally: &mut BlockTally,
    ) -> ItemOrigin {
        let size = whole(facts.size);
        let books = tally.books(index);
        books.made += 1;
        books.bytes += size;
        books.write_units += facts.units;
        books.count_expiry(facts.expiry);
        if books.largest.as_ref().is_none_or(|l| l.bytes < size) {
            books.largest = Some(LargestItem {
                bytes: size,
                row: raw(row_json(item_type, &row)),
            });
        }
        if self.rules.keys.is_some() {
            // Which reading made it: what is read again under another ticket counts once.
            tally.keys.push((facts.fingerprint, ticket.attempt));
        }
        match tally.holders.checked_sub(1) {
            Some(left) => tally.holders = left,
            None => ticket.hold(1),
        }
        ItemOrigin {
            ticket: ticket.clone(),
            row,
            known: None,
        }
    }
}

/// What one block comes to. It is entered into its chunk at once: wholly or, where its chunk is read again, not at all.
#[derive(Default)]
struct BlockTally {
    /// Where the block's items are written, one after the other, where nothing is decided on their values.
    text: Option<ItemText>,
    /// How often the ticket is held for items that are still to be made.
    holders: u64,
    books: BTreeMap<usize, Books>,
    rejects: Vec<Rejected>,
    archive: String,
    /// Fingerprints of the items made, each with the ticket's attempt or what stands for it.
    keys: Vec<(u128, u64)>,
}

impl BlockTally {
    /// The books of an item type: one among a few.
    fn books(&mut self, index: usize) -> &mut Books {
        self.books.entry(index).or_default()
    }

    /// Remembers a key of a row that makes no item, and why it makes none.
    fn keep(&mut self, fingerprint: u128, why: u64) {
        self.keys.push((fingerprint, why));
    }
}

impl LoadWorker {
    /// Counts a reject. [`ControlFlow::Break`] where it is one too many.
    fn rejected(&self, reject: Rejected, tally: &mut BlockTally) -> ControlFlow<()> {
        let books = tally.books(reject.item_type);
        books.reject(&reject.code);
        tally.rejects.push(reject);
        if self.delivery.ledger.reject(&self.delivery.halt) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Enters what a block came to into its chunk's ticket.
    fn enter(&self, ticket: &Ticket, number: u64, tally: BlockTally) -> Result<(), Failure> {
        let delivery = &self.delivery;
        for (index, books) in &tally.books {
            delivery.progress.rows(*index, books.rows_read);
            if books.rejected > 0 {
                delivery.progress.rejected(*index, books.rejected);
            }
        }
        if let Some(keys) = &self.rules.keys {
            take_keys(keys, &tally.keys)?;
        }
        let mut lines = String::new();
        for reject in &tally.rejects {
            write_reject_line(&mut lines, &delivery.model, reject);
        }
        let mut record = ticket.record();
        if record.forgotten {
            delivery.ledger.take_back(whole(tally.rejects.len()));
            return Ok(());
        }
        for (index, books) in tally.books {
            if let Some(all) = record.books(index) {
                all.merge(books);
            }
        }
        record.note(
            tally
                .rejects
                .iter()
                .map(|reject| reject_note(&delivery.model, reject)),
        );
        record.rejects.put(number, lines)?;
        record
            .archive
            .put(number, tally.archive)
            .map_err(Failure::Scratch)
    }
}

// The worker's items on their way to the writers: what the table holds is left out, the others fill a
// batch, and a batch goes on when there is room for its bytes.

impl LoadWorker {
    /// Puts an item into the batch.
    async fn put(&mut self, index: usize, folded: &Folded, origin: ItemOrigin) {
        let journal = self.delivery.journal.as_ref();
        let entry = BatchEntry {
            digest: journal.map_or(0, |journal| journal.secret().item(&folded.item)),
            ..put(index, &folded.facts())
        };
        let write = |out: &mut String| write_item(out, &folded.item);
        self.push(entry, origin, write).await;
    }

    /// Puts a request into the batch, whose item `write` appends as DynamoDB JSON.
    async fn push(
        &mut self,
        entry: BatchEntry,
        origin: ItemOrigin,
        write: impl FnOnce(&mut String),
    ) {
        let full = self.batcher.push(entry, write);
        self.origins.push_back(origin);
        if let Some(batch) = full {
            self.dispatch(batch).await;
        }
    }

    /// Takes what was found in the table for a page of items.
    async fn looked(&mut self, looked: PageLookup<ItemOrigin, KnownItem>) {
        match looked {
            PageLookup::Unknown { origins, failure } => {
                if let Some(failure) = failure {
                    self.delivery.halt.set(failure);
                }
                for (index, origin) in origins {
                    origin.ticket.spoil();
                    origin.ticket.count(index, |books| books.unwritten += 1);
                    self.delivery.let_go(&origin.ticket, 1);
                }
            }
            PageLookup::Known(items) => {
                for (index, folded, mut origin, known) in items {
                    let plan = self.rules.doing == ItemAction::Plan;
                    if known == KnownItem::Same || plan {
                        origin.ticket.count(index, |books| match known {
                            KnownItem::Same => books.unchanged += 1,
                            KnownItem::Missing => books.planned += 1,
                            KnownItem::Different => {
                                books.planned += 1;
                                books.changed += 1;
                            }
                        });
                        self.delivery.progress.written(index, 1);
                        self.delivery.let_go(&origin.ticket, 1);
                        continue;
                    }
                    origin.known = Some(known == KnownItem::Different);
                    self.put(index, &folded, origin).await;
                }
            }
        }
    }

    /// Hands a batch to the writers when there is room for its bytes.
    async fn dispatch(&mut self, batch: Batch) {
        let from = Instant::now();
        let origins = self.origins.drain(..batch.len().min(self.origins.len()));
        let origins = origins.collect();
        let kib = (batch.bytes() / 1024 + 1).min(KIB_IN_FLIGHT);
        let kib = u32::try_from(kib).unwrap_or(u32::MAX);
        let permit = self.room.clone().acquire_many_owned(kib).await.ok();
        if let Some(journal) = &self.delivery.journal
            && let Err(failure) = journal.append(&batch)
        {
            // What is not in the journal is not sent.
            self.delivery.halt.set(failure);
        }
        let parcel = TicketedBatch {
            batch,
            origins,
            permit,
        };
        if let Err(refused) = self.parcels.send(parcel).await {
            self.delivery.abandon(refused.0);
            let failure = Failure::Internal("the writers ended before the last item");
            self.delivery.halt.set(failure);
        }
        self.times.target.add(from.elapsed());
    }
}

/// What a run does with the rows and items that it is given, and whether their keys are remembered.
#[derive(Debug)]
pub(super) struct LoadRules {
    pub(super) doing: ItemAction,
    pub(super) selection: RunSelection,
    pub(super) contest: ContestedKeys,
    /// Where the keys of all items go, where somebody wants them at the end.
    pub(super) keys: Option<Mutex<Proof>>,
    /// Whether items of rows that are left out must not be deleted.
    pub(super) keep_filtered: bool,
    /// Whether items of rows that are rejected, or have expired, must not be deleted.
    pub(super) keep_rejected: bool,
    /// Whether the table's expired items are deleted.
    pub(super) expires: bool,
    /// The item types of which rows were rejected whose keys are not known.
    pub(super) spared: Vec<AtomicBool>,
}

impl LoadRules {
    /// Has no item of a type deleted, because a row was rejected before its keys were made: any of them may be the row's.
    pub(super) fn keep_all_of(&self, item_type: usize) {
        if let Some(spared) = self.spared.get(item_type) {
            spared.store(true, Ordering::Relaxed);
        }
    }

    /// The item types of which items may be deleted, and what is to be said of those whose rows make
    /// that impossible.
    pub(super) fn prunable(&self, model: &Model) -> (Vec<bool>, Vec<String>) {
        let mut prunable = selected(model);
        let mut notes = Vec::new();
        let all = prunable.iter_mut().zip(&self.spared).zip(&model.item_types);
        for ((prunable, spared), item_type) in all {
            if *prunable && spared.load(Ordering::Relaxed) {
                *prunable = false;
                notes.push(format!(
                    "{}: stale items were not deleted: some rows were rejected, and their items cannot be told from stale ones. `migrate --changes-only --prune` deletes stale items once the rows are corrected",
                    item_type.name
                ));
            }
        }
        (prunable, notes)
    }
}

/// Remembers the keys of a block.
pub(crate) fn take_keys(proof: &Mutex<Proof>, keys: &[(u128, u64)]) -> Result<(), Failure> {
    let mut proof = proof.lock();
    for (fingerprint, locator) in keys {
        let pushed = proof.push(*fingerprint, *locator);
        pushed?;
    }
    Ok(())
}

// Workers side by side: each takes the next block, folds it, and sends what waits when no block comes
// for a while. The load and `verify` both work so.

/// How long a worker waits for rows before it sends what is less than a full batch or page.
const PATIENCE: Duration = Duration::from_millis(50);

pub(crate) trait BlockFolder: Send + 'static {
    /// What it is given at a time.
    type Block: Send;

    /// Whether nothing waits here.
    fn is_idle(&self) -> bool;

    /// Folds a block. [`ControlFlow::Break`] where the run is to end.
    fn block(&mut self, block: Self::Block) -> impl Future<Output = ControlFlow<()>> + Send;

    /// Sends what waits, as no more is to come for now.
    fn flush(&mut self) -> impl Future<Output = ()> + Send;
}

/// Starts workers. `ahead`: blocks that wait for one of them.
pub(crate) fn crew<W: BlockFolder>(
    ahead: usize,
    workers: usize,
    worker: impl Fn() -> W,
) -> (mpsc::Sender<W::Block>, JoinSet<()>) {
    let (sender, blocks) = mpsc::channel(ahead);
    let blocks = Arc::new(Turn::new(blocks));
    let mut tasks = JoinSet::new();
    for _ in 0..workers {
        tasks.spawn(work(worker(), blocks.clone()));
    }
    (sender, tasks)
}

/// Works until no more blocks can come.
async fn work<W: BlockFolder>(mut worker: W, blocks: Arc<Turn<mpsc::Receiver<W::Block>>>) {
    loop {
        let next = async { blocks.lock().await.recv().await };
        let next = if worker.is_idle() {
            next.await
        } else {
            match timeout(PATIENCE, next).await {
                Ok(next) => next,
                Err(_) => {
                    worker.flush().await;
                    continue;
                }
            }
        };
        match next {
            Some(block) => {
                if worker.block(block).await.is_break() {
                    break;
                }
            }
            None => break,
        }
    }
    worker.flush().await;
}
