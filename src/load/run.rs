//! The run: proves the keys, starts lanes, workers and writers, and ends everything in order.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, timeout};

use super::books::{Books, Failure, LimitedBy, Outcome, Report, Traffic, Waits, rate};
use super::contest::Contest;
use super::halt::{Halt, Why};
use super::lanes::{Issue, Lanes, Read, spread};
use super::ledger::{Closed, Ledger, Opening};
use super::life::odd;
use super::pace::Pace;
use super::parcel::Parcel;
use super::park::Park;
use super::plan::{Part, Plan};
use super::progress::Step;
use super::prove::{Keys, Unproved};
use super::rules::{Doing, Rules};
use super::ticket::{ChunkId, Ticket};
use super::times::Times;
use super::worker::{Block, KIB_IN_FLIGHT, Worker};
use super::writer::{Delivery, count, write};
use super::{Load, start};
use crate::item::Folder;
use crate::source::Source;

/// How long a worker waits for rows before it sends a batch that is not full.
const PATIENCE: Duration = Duration::from_millis(50);
/// Blocks that wait for a worker.
const BLOCKS_AHEAD: usize = 4;

/// Loads the table and reports. Never fails but in its report.
pub async fn run(mut load: Load) -> Report {
    let begun = Instant::now();
    let halt = Halt::new();
    let mut setting = match start::set(&mut load).await {
        Ok(setting) => setting,
        Err(why) => {
            halt.set(why);
            start::Setting::without_source(&load)
        }
    };
    let delivery = Arc::new(Delivery {
        target: load.target.clone(),
        model: load.model.clone(),
        policy: load.options.retry,
        ledger: Ledger::open(
            Opening {
                rejects: setting.rejects,
                archive: setting.archive,
                state: setting.state,
                entered: setting.entered,
                max_rejects: load.options.max_rejects,
            },
            &halt,
        ),
        halt,
        pace: Pace::new(load.options.throttle(load.target.as_ref())),
        park: Park::default(),
        progress: load.progress.clone(),
    });
    let mut run = Run {
        delivery,
        times: Arc::default(),
        warnings: Vec::new(),
        rows: 0,
        reading: Duration::ZERO,
        shared: 0,
        load,
    };
    if !run.delivery.halt.is_set() {
        run.load(&mut setting.source, &setting.plan, &setting.again).await;
    }
    run.delivery.progress.step(Step::Finishing);
    if let Err(error) = run.load.target.finish().await {
        run.delivery.halt.set(Why::Failed(Failure::from(&error)));
    }
    run.report(begun.elapsed())
}

/// A run that goes on.
struct Run {
    load: Load,
    delivery: Arc<Delivery>,
    times: Arc<Times>,
    /// What the source has to say at the end.
    warnings: Vec<String>,
    /// Rows of the passes read, whatever item types they serve.
    rows: u64,
    /// From the first row to the last.
    reading: Duration,
    /// Rows whose items share a key with another's.
    shared: u64,
}

impl Run {
    /// Reads, folds and writes. What fails is in the delivery's halt.
    async fn load(&mut self, setting: Setting) {
        let Setting {
            source,
            plan,
            again,
            rules,
            ..
        } = setting;
        let from = Instant::now();
        let rules = Arc::new(rules);
        let (parcels, writers) = self.writers();
        let (blocks, workers) = self.workers(&rules, &parcels);
        drop(parcels);
        let lanes = self.load.options.lanes();
        let chunks = spread(&plan, lanes);
        let chunks = chunks.into_iter().filter(|(id, _)| !setting.skip.contains(id));
        let issue: Issue<Arc<Ticket>> = {
            let delivery = self.delivery.clone();
            Arc::new(move |id: ChunkId| {
                let again = again.contains(&id);
                delivery.ledger.issue(&delivery.model, id, again)
            })
        };
        let model = self.load.model.clone();
        match Lanes::open(source, model, chunks, lanes, issue).await {
            Ok(mut lanes) => {
                self.read(&mut lanes, &blocks).await;
                self.reading = from.elapsed();
                self.warnings = lanes.finish().await.1;
            }
            Err(error) => self.delivery.halt.set(Why::Failed(Failure::from(&error))),
        }
        // Workers end when no block can come, writers when no parcel can.
        drop(blocks);
        self.join(workers, "a worker died").await;
        let waiting = Instant::now();
        self.join(writers, "a writer died").await;
        self.delivery.park.settle().await;
        self.times.add_target(waiting.elapsed());
        if let Ok(rules) = Arc::try_unwrap(rules)
            && !self.delivery.halt.is_set()
        {
            self.after(rules).await;
        }
    }

    /// What follows when every row is read and every item written: deleting, and the late proof.
    async fn after(&mut self, rules: Rules) {
        let _ = rules.into_keys();
    }

    fn writers(&self) -> (mpsc::Sender<Parcel>, JoinSet<()>) {
        let advised = self.load.target.concurrency();
        let writers = self.load.options.writers.unwrap_or(advised).max(1);
        let (sender, parcels) = mpsc::channel(writers);
        let parcels = Arc::new(Mutex::new(parcels));
        let mut tasks = JoinSet::new();
        for _ in 0..writers {
            tasks.spawn(write(self.delivery.clone(), parcels.clone()));
        }
        (sender, tasks)
    }

    fn workers(
        &self,
        rules: &Arc<Rules>,
        parcels: &mpsc::Sender<Parcel>,
    ) -> (mpsc::Sender<Block>, JoinSet<()>) {
        let (sender, blocks) = mpsc::channel(BLOCKS_AHEAD);
        let blocks = Arc::new(Mutex::new(blocks));
        let room = Arc::new(Semaphore::new(KIB_IN_FLIGHT));
        let folder = Folder::new(&self.load.model, self.load.context.clone());
        let mut tasks = JoinSet::new();
        for _ in 0..self.load.options.workers() {
            let worker = Worker::new(
                self.delivery.clone(),
                rules.clone(),
                self.times.clone(),
                room.clone(),
                folder.clone(),
                parcels.clone(),
            );
            tasks.spawn(fold(worker, blocks.clone()));
        }
        (sender, tasks)
    }

    /// Hands blocks to the workers until the source or the run ends.
    async fn read(&mut self, lanes: &mut Lanes<Arc<Ticket>>, blocks: &mpsc::Sender<Block>) {
        let delivery = self.delivery.clone();
        let halt = &delivery.halt;
        let mut told = vec![false; delivery.model.passes.len()];
        loop {
            let from = Instant::now();
            let read = tokio::select! {
                biased;
                () = self.load.cancel.cancelled() => return halt.set(Why::Cancelled),
                () = halt.stopped() => return,
                read = lanes.next() => read,
            };
            self.times.add_source(from.elapsed());
            match read {
                None => return,
                Some(Read::Rows {
                    ticket,
                    block,
                    rows,
                }) => {
                    self.tell(ticket.id.pass, &mut told);
                    self.rows += count(rows.rows.len());
                    ticket.hold();
                    let block = Block {
                        ticket,
                        number: block,
                        rows,
                    };
                    if blocks.send(block).await.is_err() {
                        // Workers end early only where the run is to end.
                        return halt.set(Why::Failed(Failure::internal("the workers ended early")));
                    }
                }
                Some(Read::End { ticket, end }) => {
                    self.tell(ticket.id.pass, &mut told);
                    self.rows += end.left_out;
                    self.end(&ticket, &end);
                    delivery.let_go(&ticket, 1);
                }
                Some(Read::Again { ticket }) => delivery.ledger.forget(&ticket),
                Some(Read::Failed(error)) => {
                    return halt.set(Why::Failed(Failure::from(&error)));
                }
            }
        }
    }

    /// Tells that a pass begins, once.
    fn tell(&self, pass: usize, told: &mut [bool]) {
        let Some(told) = told.get_mut(pass).filter(|told| !**told) else {
            return;
        };
        *told = true;
        if let Some(this) = self.delivery.model.passes.get(pass) {
            let estimate = self.load.options.estimates.get(pass).copied().flatten();
            let progress = &self.delivery.progress;
            progress.pass(pass, &this.name, &this.item_types, estimate);
        }
    }

    /// Enters what is known of a chunk once it is read.
    fn end(&self, ticket: &Ticket, end: &super::lanes::End) {
        let Some(pass) = self.delivery.model.passes.get(ticket.id.pass) else {
            return;
        };
        let mut page = ticket.page();
        for index in &pass.item_types {
            let embeds = self.delivery.model.item_types.get(*index).map(|t| t.embeds());
            let embeds = embeds.unwrap_or_default();
            let Some(books) = page.books(*index) else {
                continue;
            };
            books.rows_read += end.left_out;
            books.filtered += end.left_out;
            for (column, left) in &end.orphans {
                if embeds.contains(column) {
                    books.orphans += left.orphans;
                }
            }
            self.delivery.progress.rows(*index, end.left_out);
        }
    }

    async fn join(&mut self, mut tasks: JoinSet<()>, died: &str) {
        while let Some(ended) = tasks.join_next().await {
            if ended.is_err() {
                self.delivery.halt.set(Why::Failed(Failure::internal(died)));
            }
        }
    }
}

/// Folds blocks until no more can come.
async fn fold(mut worker: Worker, blocks: Arc<Mutex<mpsc::Receiver<Block>>>) {
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
