//! The run: enters the attempt, starts lanes, workers and writers, and ends everything in order.

use std::path::Path;
use std::sync::Arc;

use dynafold_format::{counted, whole};
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::Expired;
use dynafold_source::Source;
use dynafold_target::throttle::{Bottleneck, ThrottleSettings};
use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant};

use super::books::{Books, RowCounts, ttl_remarks};
use super::claims::{SourceStates, claims, subject};
use super::differ::deletes_expired;
use super::ending::EndReason;
use super::failure::Failure;
use super::files::is_filled;
use super::handed::KeyFile;
use super::lanes::{ChunkEnd, IssueTicket, LaneMessage, Lanes, Reader, spread};
use super::ledger::{ClosedLedger, Ledger};
use super::pace::WritePace;
use super::plan::{ChunkId, ChunkPlan, selected};
use super::prune::{ItemTypeMarks, Pruning, TableScan, overwritten};
use super::report::{
    KeysReport, LimitedBy, Outcome, RemainingStale, Report, RunStep, RunTimes, WaitTimes, rate,
};
use super::start::{BegunLoad, ReadyTable, RunSetup, begin};
use super::state::{PruneSelection, State};
use super::table::require_same_table;
use super::ticket::Ticket;
use super::worker::{Block, KIB_IN_FLIGHT, LoadRules, LoadWorker, crew};
use super::writer::{Delivery, TicketedBatch, write};
use super::{ItemAction, Load, lane_count, processors, prune};

/// Blocks that wait for a worker. What is ready early is memory and no speed: as long as one waits, no worker does.
const BLOCKS_AHEAD: usize = 1;
/// Batches that wait for a writer; each worker holds one more, which is full.
const BATCHES_AHEAD: usize = 1;

/// The share of a run's time that it waited for hot partitions alone, from which they held it back.
const HOT: f64 = 0.2;

/// What is said of a load whose source may have changed between attempts, where items that no row makes
/// cannot be told from others.
const OVERLOOKED: &str = "rows may have been deleted from the source since an earlier attempt wrote their items, which are still in the table: `dynafold verify` finds them, and `migrate --changes-only --prune` deletes them";

/// What is said of items that no row makes and that are not known to be what this load has sent, where
/// the table was empty when it began.
fn left_behind(items: u64) -> String {
    let are = if items == 1 { "is" } else { "are" };
    let items = counted(items, "item");
    format!(
        "{items} of the mapping's item types that no row makes {are} in the table. They stay, because it is not known that this load wrote their present contents: `dynafold verify` names items that no row makes, and `migrate --changes-only --prune` deletes them"
    )
}

/// What is said of deleted items that a load has sent in an earlier attempt, and whose item type nothing tells.
fn untyped_deletions(items: u64) -> String {
    format!(
        "deleted {} equal to what an earlier attempt of this load wrote, but of unknown item types: the counts by item type do not include them",
        counted(items, "item")
    )
}

/// Loads a table that is there already, and reports. Never fails but in its report.
pub async fn run(load: Load) -> Report {
    Box::pin(begin(load)).await.run(ReadyTable::default()).await
}

impl BegunLoad {
    /// Whether it writes: then its table is to be made ready now.
    pub fn goes_on(&self) -> bool {
        self.setting.is_some() && !self.load.cancel.is_cancelled()
    }

    /// Loads and reports. Never fails but in its report.
    pub async fn run(self, ready: ReadyTable) -> Report {
        let (mut report, closing) = Box::pin(self.run_unclosed(ready)).await;
        closing.close(&mut report);
        report
    }

    /// The same for who reports to somebody else: the state says that the load is complete once the report is handed
    /// on and the run closed. A process that is killed before then goes on, and reports.
    pub async fn run_unclosed(self, ready: ReadyTable) -> (Report, UnclosedRun) {
        let ended = Box::pin(self.run_to_end(ready)).await;
        (ended.report, ended.unclosed)
    }

    /// The same with all that the load leaves.
    pub(super) async fn run_to_end(mut self, ready: ReadyTable) -> EndedLoad {
        self.at += ready.took;
        if let Some(mut setting) = self.setting.take() {
            setting.ready = ready;
            match self.enter(&mut setting).await {
                Ok(()) => self.setting = Some(setting),
                Err(why) => self.halt.set(why),
            }
        }
        Box::pin(load_and_report(self)).await
    }

    async fn enter(&mut self, setting: &mut RunSetup) -> Result<(), EndReason> {
        let Load {
            target,
            model,
            context,
            cancel,
            ..
        } = &self.load;
        if cancel.is_cancelled() {
            return Err(EndReason::Cancelled);
        }
        // Only what is compared with the table has to know it, and not the plan of a load that writes every item.
        let is_compared = match setting.rules.doing {
            ItemAction::Put => !setting.done.again.is_empty(),
            ItemAction::Changes => true,
            ItemAction::Plan => self.load.options.plans_changes,
        };
        if is_compared {
            setting.rules.expires = deletes_expired(&**target, model, context.now).await?;
        }
        if let Some(state) = &mut self.entries.state {
            // An attempt that is in the state has a journal of its own.
            setting.keep_journal(&self.load, state)?;
            setting.enter(&self.load, state)?;
        }
        tokio::select! {
            started = target.start(&model.table, true) => Ok(started?),
            () = cancel.cancelled() => Err(EndReason::Cancelled),
        }
    }
}

/// A load that has ended, and whose state does not say so yet.
#[must_use = "a load that is not closed is gone on with"]
pub struct UnclosedRun {
    /// The state of a load that is complete.
    state: Option<State>,
    remember: Option<PruneSelection>,
    delivery: Arc<Delivery>,
}

impl UnclosedRun {
    /// Says in the state that the load is complete; a state that cannot be written fails the load in its report.
    pub fn close(self, report: &mut Report) {
        let Some(mut state) = self.state else { return };
        match state.complete(self.remember) {
            Ok(()) => {
                if let Some(journal) = &self.delivery.journal {
                    journal.remove();
                }
            }
            Err(error) => report.outcome = Outcome::Failed(Arc::new(error.into())),
        }
    }
}

/// What a load leaves.
pub(super) struct EndedLoad {
    pub(super) report: Report,
    pub(super) unclosed: UnclosedRun,
    /// Its source, with the snapshot still open, where everything was read.
    pub(super) source: Option<Box<dyn Source>>,
    /// The file of its keys, where it was to write one.
    pub(super) keys: Option<KeyFile>,
    /// Rows of the passes read, whatever item types they serve.
    pub(super) rows: u64,
}

/// Loads a table that is ready, and reports.
async fn load_and_report(begun: BegunLoad) -> EndedLoad {
    let BegunLoad {
        load,
        halt,
        entries,
        mut setting,
        refused,
        keys,
        resumed,
        at,
    } = begun;
    let start = setting.as_ref().and_then(|setting| setting.ready.start);
    let journal = setting.as_mut().and_then(|setting| setting.journal.take());
    let writers = load
        .options
        .writers
        .unwrap_or_else(|| load.target.concurrency());
    let ledger = Ledger::open(entries, load.options.max_rejects, &halt);
    let settings = ThrottleSettings {
        ceiling: load.options.ceiling,
        start,
        most_in_flight: writers,
    };
    let pace = WritePace::new(settings, &load.model.table);
    let (target, model) = (load.target.clone(), load.model.clone());
    let delivery = Arc::new(Delivery {
        policy: load.options.retry,
        journal,
        ..Delivery::new(target, model, load.progress.clone(), pace, ledger, halt)
    });
    let mut run = Run {
        writers: writers.max(1),
        delivery,
        times: Arc::default(),
        warnings: Vec::new(),
        left: RemainingStale::default(),
        source: None,
        key_file: None,
        rows: 0,
        disowned: false,
        begun: setting.is_some(),
        keys,
        resumed,
        load,
    };
    if let Some(refused) = refused {
        run.delivery
            .ledger
            .record_refusal(&run.delivery.halt, refused);
    }
    if let Some(setting) = setting {
        let id = setting.ready.table_id.clone();
        run.keys.overwritten = run.load(setting).await;
        run.delivery.progress.step(RunStep::Finishing);
        if let Err(error) = run.load.target.finish().await {
            // Nothing that it took is known to be there.
            run.disowned = true;
            run.delivery.halt.set(error);
        }
        if let Some(id) = id.filter(|_| !run.delivery.halt.is_set()) {
            run.check_table(&id).await;
        }
    }
    run.end(at.elapsed())
}

/// A run that goes on.
struct Run {
    load: Load,
    delivery: Arc<Delivery>,
    times: Arc<RunTimes>,
    /// What the source has to say at the end.
    warnings: Vec<String>,
    /// Stale items that stay.
    left: RemainingStale,
    /// The source, once everything is read.
    source: Option<Box<dyn Source>>,
    /// The file of the keys, where they are compared elsewhere.
    key_file: Option<KeyFile>,
    /// Rows of the passes read, whatever item types they serve.
    rows: u64,
    /// Batches in flight, at most.
    writers: usize,
    /// Whether the run came to its first row.
    begun: bool,
    /// Whether the target could not end its load, or its table is another now.
    disowned: bool,
    keys: KeysReport,
    /// Whether an earlier attempt had done a part.
    resumed: bool,
}

impl Run {
    /// Reads, folds and writes; gives the items that were written over another. What fails is in
    /// the delivery's halt.
    async fn load(&mut self, setting: RunSetup) -> u64 {
        let RunSetup {
            source,
            plan,
            done,
            rules,
            stale,
            overlooked,
            ..
        } = setting;
        let rules = Arc::new(rules);
        // Until the last item is written: the wish to end may come while nothing is read.
        let _heeding = self.delivery.halt.watch_for_cancel(&self.load.cancel);
        let (parcels, writers) = self.writers();
        let (blocks, workers) = self.workers(&rules, &parcels);
        drop(parcels);
        let lanes = lane_count(self.load.options.readers);
        let chunks = spread(&plan, lanes)
            .into_iter()
            .filter(|(id, _)| !done.skip.contains_key(id));
        let issue: IssueTicket<Arc<Ticket>> = {
            let delivery = self.delivery.clone();
            Arc::new(move |id: ChunkId| {
                let again = done.again.contains(&id);
                delivery.ledger.issue(&delivery.model, id, again)
            })
        };
        let model = self.load.model.clone();
        match Lanes::open(source, model, chunks, lanes, issue).await {
            Ok(mut lanes) => {
                self.read(&mut lanes, blocks).await;
                (self.source, self.warnings) = lanes.finish().await;
            }
            Err(error) => self.delivery.halt.set(error),
        }
        if overlooked {
            self.warnings.push(OVERLOOKED.to_owned());
        }
        // Workers end when no block can come, writers when no parcel can.
        self.delivery.halt.join(workers, "a worker died").await;
        let waiting = Instant::now();
        self.delivery.halt.join(writers, "a writer died").await;
        self.delivery.park.settle(&self.delivery.halt).await;
        self.times.target.add(waiting.elapsed());
        match Arc::try_unwrap(rules) {
            Ok(rules) if !self.delivery.halt.is_set() => self.after(rules, stale).await,
            _ => 0,
        }
    }

    /// What follows when every row is read and every item written: the late proof, deleting, and
    /// looking for what earlier attempts have left behind. Gives the items that were written over
    /// another.
    async fn after(&mut self, rules: LoadRules, stale: bool) -> u64 {
        let prune = self.load.options.prune.clone();
        let looks = stale || prune.is_some();
        let doing = rules.doing;
        let partition = rules.selection.partition.clone();
        let (prunable, spared) = rules.prunable(&self.load.model);
        self.warnings.extend(spared);
        let Some(keys) = rules.keys.map(Mutex::into_inner) else {
            return 0;
        };
        if let Some(handed) = &self.load.options.handed {
            match handed.write_keys(keys, &self.delivery.ledger.forgotten()) {
                Ok(file) => self.key_file = Some(file),
                Err(failure) => self.delivery.halt.set(failure),
            }
            return 0;
        }
        let step = if looks {
            RunStep::LookingForUnexpected
        } else {
            RunStep::ComparingKeys
        };
        self.delivery.progress.step(step);
        let compared = if looks {
            match (ItemTypeMarks::of(&self.load.model), &prune) {
                (Err(unowned), Some(_)) => Err(unowned.into()),
                (owners, prune) => {
                    let scan = TableScan {
                        target: &self.load.target,
                        model: &self.load.model,
                        owners: owners.as_ref().ok(),
                        strangers: prune.is_none(),
                        partition,
                        secret: None,
                        now: self.load.context.now.as_second(),
                        cancel: &self.load.cancel,
                    };
                    let pruning = Pruning {
                        prune: prune.as_ref(),
                        scan,
                        wanted: &prunable,
                        proof: &self.load.options.proof,
                        doing,
                    };
                    prune::prune(&self.delivery, keys, pruning).await
                }
            }
        } else {
            let overwritten = overwritten(keys, &self.delivery.ledger.forgotten()).await;
            overwritten.map(|items| (items, RemainingStale::default()))
        };
        match compared {
            Ok((overwritten, left)) => {
                self.warnings.extend(left.sentences());
                if left.others > 0 {
                    self.warnings.push(left_behind(left.others));
                }
                if left.strangers > 0 {
                    self.warnings.push(untyped_deletions(left.strangers));
                }
                self.left = left;
                overwritten
            }
            Err(why) => {
                self.delivery.halt.set(why);
                0
            }
        }
    }

    /// Fails a run whose table is not the one of this id any more: what was written is gone with that.
    async fn check_table(&mut self, id: &str) {
        let (target, table) = (&*self.load.target, &self.load.model.table.name);
        if let Err(mut failure) = require_same_table(target, table, Some(id)).await {
            if let Failure::TableReplaced { deletions, .. } = &mut failure {
                self.disowned = true;
                *deletions = self.left.deletions;
            }
            self.delivery.halt.set(failure);
        }
    }

    fn end(mut self, elapsed: Duration) -> EndedLoad {
        let (source, keys, rows) = (self.source.take(), self.key_file.take(), self.rows);
        let delivery = &self.delivery;
        delivery.ledger.enter_rest();
        let finished = delivery.halt.why().is_none();
        let mut closed = delivery.ledger.close(finished);
        if self.disowned {
            for books in &mut closed.books {
                books.unwritten += std::mem::take(&mut books.written);
            }
        }
        if self.disowned
            && let Some(state) = &mut closed.state
            && let Err(error) = state.plan(ChunkPlan::default())
        {
            closed.failure.get_or_insert_with(|| error.into());
        }
        let complete = finished && closed.failure.is_none();
        let unclosed = UnclosedRun {
            state: closed.state.take().filter(|_| complete),
            remember: self.load.options.remember.take(),
            delivery: self.delivery.clone(),
        };
        let report = self.report(closed, elapsed);
        EndedLoad {
            report,
            unclosed,
            source,
            keys,
            rows,
        }
    }

    fn report(self, closed: ClosedLedger, elapsed: Duration) -> Report {
        let why = match (self.delivery.halt.why(), closed.failure.map(Arc::new)) {
            (Some(EndReason::Failed(failure)), _) | (_, Some(failure)) => {
                Some(EndReason::Failed(failure))
            }
            (why, None) => why,
        };
        let total = Books::sum(&closed.books);
        let outcome = match why {
            Some(EndReason::Cancelled) => Outcome::Interrupted,
            Some(EndReason::TooManyRejects) => Outcome::Stopped {
                reason: match (self.begun, self.keys.faults, self.keys.all_shared()) {
                    (true, ..) => "there are more rejects than --max-rejects allows".to_owned(),
                    (false, faults, shared) => {
                        let rows = match (faults, shared) {
                            (0, _) => "rows share keys",
                            (_, 0) => "rows make no item",
                            _ => "rows make no item or share keys",
                        };
                        let what = if self.resumed {
                            "nothing more"
                        } else {
                            "nothing"
                        };
                        format!("{rows}, and {what} was written")
                    }
                },
            },
            Some(EndReason::Failed(failure)) => Outcome::Failed(failure),
            None if self.keys.overwritten + self.keys.shared_outside > 0 => {
                Outcome::CompleteWithRejects
            }
            None if total.rejected == 0 => Outcome::Complete,
            None => Outcome::CompleteWithRejects,
        };
        let mut warnings = self.warnings;
        if outcome.is_finished() {
            let item_types = self.load.model.item_types.iter();
            let loaded: Vec<&str> = item_types
                .zip(selected(&self.load.model))
                .filter(|(_, is_loaded)| *is_loaded)
                .map(|(one, _)| &*one.name)
                .collect();
            let selection = &self.load.options.selection;
            warnings.extend(selection.remarks(&loaded, self.resumed));
            warnings.extend(self.keys.remarks());
            warnings.extend(other_archive(&self.load, closed.archive_file.as_deref()));
        }
        warnings.extend(ttl_remarks(&closed.books));
        let waits = WaitTimes {
            source_seconds: self.times.source.total().as_secs_f64(),
            fold_seconds: self.times.fold.total().as_secs_f64(),
            target_seconds: self.times.target.total().as_secs_f64(),
        };
        let hot = self.delivery.park.waited() > elapsed.mul_f64(HOT);
        let paced = self.delivery.pace.limit();
        let sent = &closed.traffic;
        // More than there is of noise, where the requests were too few for a pace.
        let throttled = sent.throttled * 5 > sent.requests + sent.throttled + sent.transient;
        let mut report = Report {
            outcome,
            claims: Vec::new(),
            table: self.load.model.table.name.clone(),
            place: self.load.target.place(),
            now: self.load.context.now.to_string(),
            doing: self.load.options.doing,
            resumed: self.resumed,
            keys: self.keys,
            warnings,
            left: self.left,
            total,
            rejects: closed.notes,
            rejects_file: closed.rejects_file,
            archive_file: closed.archive_file,
            limited_by: limit(&waits, paced, throttled, hot),
            throttled_by: closed.reasons,
            traffic: closed.traffic,
            waits,
            elapsed_seconds: elapsed.as_secs_f64(),
            rows_per_second: rate(self.rows, elapsed),
            item_types: closed.books,
        };
        let selection = &self.load.options.selection;
        let of = subject(&self.load.model, selection.partition.as_ref());
        let states = if self.load.compares_again() {
            SourceStates::Two
        } else {
            SourceStates::One
        };
        report.claims = claims(&of, states, &report);
        report
    }

    fn writers(&self) -> (mpsc::Sender<TicketedBatch>, JoinSet<()>) {
        let (sender, parcels) = mpsc::channel(BATCHES_AHEAD);
        let parcels = Arc::new(Turn::new(parcels));
        let mut tasks = JoinSet::new();
        for _ in 0..self.writers {
            tasks.spawn(write(self.delivery.clone(), parcels.clone()));
        }
        (sender, tasks)
    }

    fn workers(
        &self,
        rules: &Arc<LoadRules>,
        parcels: &mpsc::Sender<TicketedBatch>,
    ) -> (mpsc::Sender<Block>, JoinSet<()>) {
        let room = Arc::new(Semaphore::new(KIB_IN_FLIGHT));
        let folder = Folder::new(&self.load.model, self.load.context.clone());
        let folder = match &self.delivery.journal {
            Some(journal) => folder.with_digests(journal.secret()),
            None => folder,
        };
        crew(BLOCKS_AHEAD, processors(), || {
            LoadWorker::new(
                self.delivery.clone(),
                rules.clone(),
                self.times.clone(),
                room.clone(),
                folder.clone(),
                parcels.clone(),
            )
        })
    }
}

/// What is said of a file in the place of the archive if a load, whose mapping archives items, has archived none. `written`: the
/// load's own archive.
fn other_archive(load: &Load, written: Option<&Path>) -> Option<String> {
    let path = &load.options.archive_file;
    let mut item_types = load.model.item_types.iter();
    let is_other = written.is_none()
        && load.options.doing != ItemAction::Plan
        && item_types.any(|item_type| item_type.expired == Expired::Archive)
        && is_filled(path).unwrap_or_default();
    is_other.then(|| {
        let path = path.display();
        format!("no row was archived: {path} is not of this load")
    })
}

fn limit(waits: &WaitTimes, paced: Bottleneck, throttled: bool, hot: bool) -> LimitedBy {
    let slowest = waits.source_seconds.max(waits.fold_seconds);
    if waits.target_seconds >= slowest {
        match paced {
            Bottleneck::Ceiling => LimitedBy::Ceiling,
            _ if hot => LimitedBy::Partition,
            Bottleneck::Table => LimitedBy::Throttling,
            Bottleneck::Nothing if throttled => LimitedBy::Throttling,
            Bottleneck::Nothing => LimitedBy::Target,
        }
    } else if waits.fold_seconds >= waits.source_seconds {
        LimitedBy::Fold
    } else {
        LimitedBy::Source
    }
}

// The reading side of a run: what is known of a chunk at its end goes into the chunk's books.

impl Run {
    /// Hands blocks to the workers until the source or the run ends.
    async fn read(&mut self, lanes: &mut Lanes<Arc<Ticket>>, blocks: mpsc::Sender<Block>) {
        let delivery = &self.delivery;
        let reader = Reader {
            model: &delivery.model,
            progress: delivery.progress.as_ref(),
            cancel: &self.load.cancel,
            halt: &delivery.halt,
            pass: |ticket: &Arc<Ticket>| ticket.id.pass,
            blocks,
        };
        let enter = |read: &LaneMessage<Arc<Ticket>>| match read {
            LaneMessage::Rows(Block { ticket, rows, .. }) => {
                self.rows += whole(rows.rows.len());
                ticket.hold(1);
            }
            LaneMessage::End { ticket, end } => {
                self.rows += end.left_out;
                enter_end(delivery, ticket, end);
                delivery.let_go(ticket, 1);
            }
            LaneMessage::Again { ticket } => {
                self.load.options.selection.reads_again();
                delivery.ledger.forget(ticket);
            }
            LaneMessage::Failed(_) => {}
        };
        self.times.source.add(reader.read(lanes, enter).await);
    }
}

/// Enters what is known of a chunk once it is read.
fn enter_end(delivery: &Delivery, ticket: &Ticket, end: &ChunkEnd) {
    let model = &delivery.model;
    let Some(pass) = model.passes.get(ticket.id.pass) else {
        return;
    };
    let mut record = ticket.record();
    for index in &pass.item_types {
        if let Some(books) = record.books(*index) {
            books.count_rows(&RowCounts::of_chunk_end(model, *index, end));
        }
        delivery.progress.rows(*index, end.left_out);
    }
}
