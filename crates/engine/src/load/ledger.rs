//! The ledger: the tickets that are out, and what is entered for good.
//!
//! Chunks are entered by a thread of their own, several at a time where they come fast: their
//! rejects and archived items are appended to their files first, then the state counts them as
//! done, with the files' lengths. So a run that is killed at any moment counts nothing twice and
//! nothing that is not on disk.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use dynafold_mapping::model::Model;
use dynafold_target::{Action, Throttle};
use parking_lot::Mutex;

use super::books::Books;
use super::ending::{EndReason, RunHalt};
use super::failure::Failure;
use super::files::LineFile;
use super::plan::ChunkId;
use super::rejects::{BlockingRejects, MAX_NOTED, Rejected, reject_note, write_reject_line};
use super::report::{RejectNote, Traffic};
use super::state::State;
use super::ticket::{ChunkRecord, Ticket};

/// The ledger of a run.
pub(super) struct Ledger {
    inner: Arc<Mutex<Entries>>,
    entering: Mutex<Option<Keeper>>,
    attempts: AtomicU64,
    rejected: AtomicU64,
    max_rejects: Option<u64>,
}

/// The way to the thread that enters tickets, and the thread.
type Keeper = (Sender<Arc<Ticket>>, JoinHandle<()>);

/// What the tasks of a run and its keeper share.
pub(super) struct Entries {
    live: HashMap<ChunkId, Arc<Ticket>>,
    /// The attempts of tickets that were forgotten.
    forgotten: HashSet<u64>,
    /// The books of what is entered, by item type.
    entered: Vec<Books>,
    notes: Vec<RejectNote>,
    traffic: Traffic,
    /// How often each reason was given for throttling, and for what.
    reasons: BTreeMap<(String, String), u64>,
    pub(super) rejects: LineFile,
    pub(super) archive: LineFile,
    pub(super) state: Option<State>,
}

/// What is left when a run has ended.
#[derive(Default)]
pub(crate) struct ClosedLedger {
    /// By item type.
    pub(crate) books: Vec<Books>,
    pub(crate) traffic: Traffic,
    pub(super) reasons: BTreeMap<(String, String), u64>,
    pub(crate) notes: Vec<RejectNote>,
    pub(super) rejects_file: Option<PathBuf>,
    pub(super) archive_file: Option<PathBuf>,
    pub(super) state: Option<State>,
    pub(super) failure: Option<Failure>,
}

impl Entries {
    /// Nothing yet, and no state.
    pub(super) fn new(model: &Model, rejects: LineFile, archive: LineFile) -> Self {
        let item_types = 0..model.item_types.len();
        Self {
            live: HashMap::new(),
            forgotten: HashSet::new(),
            entered: item_types.map(|index| Books::of(model, index)).collect(),
            notes: Vec::new(),
            traffic: Traffic::default(),
            reasons: BTreeMap::new(),
            rejects,
            archive,
            state: None,
        }
    }

    /// Adds books of an item type.
    pub(super) fn enter(&mut self, index: usize, books: Books) {
        if let Some(all) = self.entered.get_mut(index) {
            all.merge(books);
        }
    }

    /// Adds what is known of a chunk.
    fn add(&mut self, record: &mut ChunkRecord) {
        for (index, books) in std::mem::take(&mut record.books) {
            self.enter(index, books);
        }
        let room = MAX_NOTED.saturating_sub(self.notes.len());
        self.notes
            .extend(std::mem::take(&mut record.notes).into_iter().take(room));
    }
}

impl Ledger {
    pub(super) fn open(entries: Entries, max_rejects: Option<u64>, halt: &RunHalt) -> Self {
        let rejected = entries.entered.iter().map(|books| books.rejected).sum();
        let inner = Arc::new(Mutex::new(entries));
        let (sender, tickets) = channel();
        let keeper = {
            let (inner, halt) = (inner.clone(), halt.clone());
            std::thread::spawn(move || keep(&inner, &tickets, &halt))
        };
        Self {
            inner,
            entering: Mutex::new(Some((sender, keeper))),
            attempts: AtomicU64::new(0),
            rejected: AtomicU64::new(rejected),
            max_rejects,
        }
    }

    /// Hands out the ticket of an attempt at a chunk.
    pub(super) fn issue(&self, model: &Model, id: ChunkId, again: bool) -> Arc<Ticket> {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed);
        let ticket = Ticket::new(model, id, attempt, again);
        self.inner.lock().live.insert(id, ticket.clone());
        ticket
    }

    /// Hands out a ticket for items of all types that stands beside the plan: for what is deleted. It is
    /// never entered into the state.
    pub(super) fn issue_beside(&self, model: &Model) -> Arc<Ticket> {
        let (pass, chunk) = (usize::MAX, 0);
        self.issue(model, ChunkId { pass, chunk }, false)
    }

    /// Forgets a ticket whose chunk is read again under another one.
    pub(super) fn forget(&self, ticket: &Ticket) {
        self.take_back(ticket.forget());
        let mut inner = self.inner.lock();
        inner.forgotten.insert(ticket.attempt);
        let current = inner.live.get(&ticket.id);
        if current.is_some_and(|current| current.attempt == ticket.attempt) {
            inner.live.remove(&ticket.id);
        }
    }

    /// The attempts of tickets that were forgotten: what they made was made again under others.
    pub(super) fn forgotten(&self) -> HashSet<u64> {
        self.inner.lock().forgotten.clone()
    }

    /// Has a ticket entered that nobody holds any more.
    pub(super) fn done(&self, ticket: &Arc<Ticket>) {
        let entering = self.entering.lock();
        if let Some((sender, _)) = &*entering {
            // The keeper lives until the sender is gone.
            let _ = sender.send(ticket.clone());
        }
    }

    pub(super) fn traffic(&self, change: impl FnOnce(&mut Traffic)) {
        change(&mut self.inner.lock().traffic);
    }

    /// Counts the reasons that the service gave for throttling.
    pub(super) fn reasons(&self, throttles: &[Throttle]) {
        if throttles.is_empty() {
            return;
        }
        let mut inner = self.inner.lock();
        for throttle in throttles {
            let key = (throttle.reason.clone(), throttle.resource.clone());
            *inner.reasons.entry(key).or_default() += 1;
        }
    }

    /// Bytes of the largest item that was made.
    pub(super) fn largest(&self) -> Option<u64> {
        let inner = self.inner.lock();
        let of = |books: &Books| books.largest.as_ref().map(|largest| largest.bytes);
        let entered = inner.entered.iter().filter_map(of).max();
        let live = inner.live.values();
        let live = live.filter_map(|t| t.record().books.iter().filter_map(|(_, b)| of(b)).max());
        live.max().max(entered)
    }

    /// Counts a reject; `false`, and the run is to end, where it was one too many.
    pub(super) fn reject(&self, halt: &RunHalt) -> bool {
        let rejected = self.rejected.fetch_add(1, Ordering::Relaxed) + 1;
        if self.max_rejects.is_some_and(|most| rejected > most) {
            halt.set(EndReason::TooManyRejects);
            return false;
        }
        true
    }

    /// Counts rejects no more, of a ticket that was forgotten.
    pub(super) fn take_back(&self, rejects: u64) {
        self.rejected.fetch_sub(rejects, Ordering::Relaxed);
    }

    /// Writes and notes the rejects of a run that does not begin; the books know nothing of them.
    pub(super) fn record_refusal(&self, halt: &RunHalt, rejects: BlockingRejects) {
        let BlockingRejects { notes, mut lines } = rejects;
        let mut inner = self.inner.lock();
        inner.notes.extend(notes);
        if let Err(failure) = inner.rejects.append(&mut lines) {
            halt.set(failure);
        }
    }

    /// Enters an item that the service refused to do something with into its ticket.
    pub(super) fn refused(
        &self,
        halt: &RunHalt,
        model: &Model,
        ticket: &Ticket,
        action: Action,
        reject: &Rejected,
    ) {
        if !self.reject(halt) {
            // The next attempt must come upon it again, and not go on as if it were allowed.
            ticket.spoil();
        }
        let mut text = String::new();
        write_reject_line(&mut text, model, reject);
        let mut record = ticket.record();
        if let Some(books) = record.books(reject.item_type) {
            books.reject(&reject.code);
            match action {
                Action::Put => books.rejected_by_service += 1,
                Action::Delete => books.undeleted += 1,
            }
        }
        record.note(std::iter::once(reject_note(model, reject)));
        if let Err(error) = record.rejects.append(&text) {
            halt.set(error);
        }
    }

    /// Waits until every ticket is entered that nobody holds any more, or one cannot be: then the run
    /// has not finished, whatever was known before.
    pub(super) fn enter_rest(&self) {
        let entering = self.entering.lock().take();
        if let Some((sender, keeper)) = entering {
            drop(sender);
            if let Err(panic) = keeper.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }

    /// Ends the ledger. What tickets are still out are counted as far as they got; their rejects
    /// and archived items are in the files, but a next run cuts them off and finds them again.
    /// `finished`: everything was read.
    pub(super) fn close(&self, finished: bool) -> ClosedLedger {
        self.enter_rest();
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        let mut failure = None;
        let mut live: Vec<_> = inner.live.drain().map(|(_, ticket)| ticket).collect();
        live.sort_by_key(|ticket| ticket.id);
        for ticket in live {
            let mut record = ticket.record();
            let record = &mut *record;
            let files = [
                (&mut record.rejects, &mut inner.rejects),
                (&mut record.archive, &mut inner.archive),
            ];
            for (lines, file) in files {
                failure = failure.or(file.append(lines).err());
            }
            inner.add(record);
        }
        let closed = [inner.rejects.close(true), inner.archive.close(finished)];
        let [rejects_file, archive_file] = closed.map(|closed| match closed {
            Ok(path) => path,
            Err(error) => {
                failure.get_or_insert(error);
                None
            }
        });
        ClosedLedger {
            books: std::mem::take(&mut inner.entered),
            traffic: inner.traffic,
            reasons: std::mem::take(&mut inner.reasons),
            notes: std::mem::take(&mut inner.notes),
            rejects_file,
            archive_file,
            state: inner.state.take(),
            failure,
        }
    }
}

/// The ledger's thread: enters tickets until no more can come, several at a time where they come fast. Files first, then
/// the state.
fn keep(inner: &Mutex<Entries>, tickets: &Receiver<Arc<Ticket>>, halt: &RunHalt) {
    while let Ok(first) = tickets.recv() {
        let mut all = vec![first];
        all.extend(tickets.try_iter());
        if let Err(failure) = enter(inner, &all) {
            // What is not entered stays among the tickets that are out.
            halt.set(failure);
            return;
        }
    }
}

fn enter(inner: &Mutex<Entries>, tickets: &[Arc<Ticket>]) -> Result<(), Failure> {
    // Held while the disk works: writers that settle requests wait, a millisecond at a time.
    let mut inner = inner.lock();
    let inner = &mut *inner;
    let mut done = Vec::with_capacity(tickets.len());
    for ticket in tickets {
        let mut record = ticket.record();
        inner.rejects.append(&mut record.rejects)?;
        inner.archive.append(&mut record.archive)?;
        done.push((ticket.id, record.books.clone()));
    }
    if let Some(state) = &mut inner.state {
        let files = [&inner.rejects, &inner.archive].into_iter();
        let extents = files.filter_map(|file| Some((file.which.name().to_owned(), file.extent()?)));
        let entered = state.chunks_done(done, extents.collect());
        entered?;
    }
    for ticket in tickets {
        inner.live.remove(&ticket.id);
        inner.add(&mut ticket.record());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dynafold_testing::model::users;

    use super::*;

    fn ledger(model: &Model, halt: &RunHalt, max_rejects: Option<u64>) -> Ledger {
        let entries = Entries::new(model, LineFile::nowhere(), LineFile::nowhere());
        Ledger::open(entries, max_rejects, halt)
    }

    fn issue(ledger: &Ledger, model: &Model, chunk: usize, made: u64) -> Arc<Ticket> {
        let ticket = ledger.issue(model, ChunkId { pass: 0, chunk }, false);
        ticket.count(0, |books| books.made += made);
        ticket
    }

    #[test]
    fn what_is_done_or_still_out_is_counted_once_and_what_is_forgotten_never() {
        let (model, halt) = (users(), RunHalt::default());
        let ledger = ledger(&model, &halt, None);
        let done = issue(&ledger, &model, 0, 1);
        let _still_out = issue(&ledger, &model, 1, 10);
        let forgotten = issue(&ledger, &model, 2, 100);
        let again = issue(&ledger, &model, 2, 1000);
        ledger.forget(&forgotten);
        ledger.done(&done);
        ledger.done(&again);
        assert_eq!(ledger.forgotten(), HashSet::from([forgotten.attempt]));
        let closed = ledger.close(true);
        let made: Vec<u64> = closed.books.iter().map(|books| books.made).collect();
        assert_eq!(made, [1011]);
        assert!(closed.failure.is_none());
    }

    #[test]
    fn rejects_of_a_forgotten_ticket_do_not_count_against_the_limit() {
        let (model, halt) = (users(), RunHalt::default());
        let ledger = ledger(&model, &halt, Some(1));
        let ticket = issue(&ledger, &model, 0, 0);
        assert!(ledger.reject(&halt));
        ticket.count(0, |books| books.reject("item-too-large"));
        ledger.forget(&ticket);
        assert!(ledger.reject(&halt), "the first one was taken back");
        assert!(!ledger.reject(&halt), "the second one is one too many");
    }
}
