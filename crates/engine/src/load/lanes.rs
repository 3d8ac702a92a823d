//! Lanes: connections that read chunks side by side, on one snapshot.
//!
//! What `migrate`, `verify` and the proof of keys have in common. Each lane takes the next chunk,
//! reads it and hands on its rows in blocks, through a channel that is bounded in blocks. A chunk
//! whose connection breaks is read again from its beginning by a new connection, where the
//! snapshot still stands; whoever takes the blocks is told to forget the first attempt.

use std::collections::VecDeque;
use std::sync::Arc;

use dynafold_format::whole;
use dynafold_mapping::model::{Model, Pass};
use dynafold_relational::scan::Scan;
use dynafold_source::{Chunk, LeftBehind, Source, SourceError};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant};

use super::ending::{Cancel, EndReason, RunHalt};
use super::failure::Failure;
use super::plan::{ChunkId, ChunkPart, ChunkPlan, scan_of};
use super::report::Progress;

/// Blocks that wait for the fold; each lane holds one more, which it has read. A block has about a megabyte at most.
const BLOCKS_AHEAD: usize = 1;
/// How often a chunk is read again because its connection broke.
const ATTEMPTS: u32 = 3;

/// What lanes hand on. Everything of one attempt at a chunk bears the same ticket.
#[derive(Debug)]
pub(crate) enum LaneMessage<T> {
    /// Rows of a chunk.
    Rows(RowBlock<T>),
    /// The chunk has been read to its end.
    End { ticket: T, end: ChunkEnd },
    /// The chunk will be read again from its beginning, under another ticket.
    Again { ticket: T },
    /// A source failed; nothing of use follows.
    Failed(SourceError),
}

/// A block of rows.
#[derive(Debug)]
pub(crate) struct RowBlock<T> {
    pub(crate) ticket: T,
    /// Its place among the blocks of its chunk, from 0.
    pub(crate) number: u64,
    pub(crate) rows: Chunk,
}

/// What is known of a chunk once its rows are read.
#[derive(Debug, Default)]
pub(crate) struct ChunkEnd {
    /// Rows that the database left out because they meet no condition.
    pub(crate) left_out: u64,
    /// Children without parents, for the columns that are embeds.
    pub(crate) orphans: Vec<(usize, LeftBehind)>,
}

/// Makes the ticket of an attempt at a chunk.
pub(crate) type IssueTicket<T> = Arc<dyn Fn(ChunkId) -> T + Send + Sync>;

/// The lanes of a run.
pub(crate) struct Lanes<T> {
    reads: mpsc::Receiver<LaneMessage<T>>,
    tasks: JoinSet<Box<dyn Source>>,
    shared: Arc<LaneState<T>>,
}

/// What the lanes share.
struct LaneState<T> {
    model: Arc<Model>,
    queue: Mutex<VecDeque<(ChunkId, ChunkPart)>>,
    issue: IssueTicket<T>,
    cancel: Cancel,
    /// The connection that holds the snapshot, where others can be opened onto it.
    spare: Turn<Option<Box<dyn Source>>>,
    warnings: Mutex<Vec<String>>,
}

struct Lane<T> {
    shared: Arc<LaneState<T>>,
    sender: mpsc::Sender<LaneMessage<T>>,
}

impl<T: Clone + Send + Sync + 'static> Lanes<T> {
    /// Begins to read. `source` has the snapshot open; `lanes` connections are opened onto it
    /// where the database allows more than one.
    pub(crate) async fn open(
        mut source: Box<dyn Source>,
        model: Arc<Model>,
        chunks: impl IntoIterator<Item = (ChunkId, ChunkPart)>,
        lanes: usize,
        issue: IssueTicket<T>,
    ) -> Result<Self, SourceError> {
        let queue: VecDeque<_> = chunks.into_iter().collect();
        let lanes = lanes.min(queue.len()).max(1);
        let mut sources = match lanes {
            1 => Vec::new(),
            lanes => source.forks(lanes).await?,
        };
        let spare = if sources.is_empty() {
            sources.push(source);
            None
        } else {
            Some(source)
        };
        let shared = Arc::new(LaneState {
            model,
            queue: Mutex::new(queue),
            issue,
            cancel: Cancel::default(),
            spare: Turn::new(spare),
            warnings: Mutex::default(),
        });
        let (sender, reads) = mpsc::channel(BLOCKS_AHEAD);
        let mut tasks = JoinSet::new();
        for source in sources {
            let (shared, sender) = (shared.clone(), sender.clone());
            tasks.spawn(Lane { shared, sender }.run(source));
        }
        Ok(Self {
            reads,
            tasks,
            shared,
        })
    }

    /// The next thing read; `None` when everything is.
    pub(crate) async fn next(&mut self) -> Option<LaneMessage<T>> {
        self.reads.recv().await
    }

    /// Ends the reading, cancelling on the server what goes on there. Gives the connection that
    /// has the snapshot open, good for more where everything was read, and what the sources had to
    /// say.
    pub(crate) async fn finish(mut self) -> (Option<Box<dyn Source>>, Vec<String>) {
        self.shared.cancel.cancel();
        self.reads.close();
        while self.reads.recv().await.is_some() {}
        let mut source = None;
        while let Some(ended) = self.tasks.join_next().await {
            source = ended.ok().or(source);
        }
        let source = self.shared.spare.lock().await.take().or(source);
        let mut warnings = self.shared.warnings.lock();
        (source, std::mem::take(&mut *warnings))
    }
}

/// How an attempt at a chunk ended.
enum ChunkAttempt {
    Read,
    /// Nobody listens any more.
    Unheard,
    Failed(SourceError),
}

impl<T: Clone + Send + Sync + 'static> Lane<T> {
    async fn run(self, source: Box<dyn Source>) -> Box<dyn Source> {
        let source = self.chunks(source).await;
        let mut warnings = self.shared.warnings.lock();
        for warning in source.warnings() {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        drop(warnings);
        source
    }

    /// Reads chunks until there are no more.
    async fn chunks(&self, mut source: Box<dyn Source>) -> Box<dyn Source> {
        while let Some((id, part)) = self.take() {
            let Some(pass) = self.shared.model.passes.get(id.pass) else {
                break;
            };
            let mut attempts = 1;
            loop {
                let ticket = (self.shared.issue)(id);
                match self.chunk(source.as_mut(), pass, &part, &ticket).await {
                    ChunkAttempt::Read => break,
                    ChunkAttempt::Unheard => return source,
                    ChunkAttempt::Failed(error) if error.is_lost() && attempts < ATTEMPTS => {
                        attempts += 1;
                        let Some(fork) = self.fork().await else {
                            let _ = self.sender.send(LaneMessage::Failed(error)).await;
                            return source;
                        };
                        source = fork;
                        if self
                            .sender
                            .send(LaneMessage::Again { ticket })
                            .await
                            .is_err()
                        {
                            return source;
                        }
                    }
                    ChunkAttempt::Failed(error) => {
                        let _ = self.sender.send(LaneMessage::Failed(error)).await;
                        return source;
                    }
                }
            }
        }
        let confirmed = tokio::select! {
            confirmed = source.confirm() => confirmed,
            () = self.shared.cancel.cancelled() => return source,
        };
        if let Err(error) = confirmed {
            let _ = self.sender.send(LaneMessage::Failed(error)).await;
        }
        source
    }

    fn take(&self) -> Option<(ChunkId, ChunkPart)> {
        self.shared.queue.lock().pop_front()
    }

    /// Another connection onto the snapshot, where it still stands.
    async fn fork(&self) -> Option<Box<dyn Source>> {
        let mut spare = self.shared.spare.lock().await;
        spare.as_mut()?.forks(1).await.ok()?.pop()
    }

    async fn chunk(
        &self,
        source: &mut dyn Source,
        pass: &Pass,
        part: &ChunkPart,
        ticket: &T,
    ) -> ChunkAttempt {
        let canceller = source.canceller();
        let read = async {
            let end = match scan_of(pass, part) {
                None => source.orphans(&pass.scan).await.map(|orphans| ChunkEnd {
                    orphans,
                    ..ChunkEnd::default()
                }),
                Some(scan) => match self.rows(source, &scan, ticket).await {
                    Ok(rows) => left_out(source, &scan, rows).await,
                    Err(attempt) => return attempt,
                },
            };
            let end = match end {
                Ok(end) => end,
                Err(error) => return ChunkAttempt::Failed(error),
            };
            let ticket = ticket.clone();
            match self.sender.send(LaneMessage::End { ticket, end }).await {
                Ok(()) => ChunkAttempt::Read,
                Err(_) => ChunkAttempt::Unheard,
            }
        };
        let attempt = tokio::select! {
            attempt = read => attempt,
            () = self.shared.cancel.cancelled() => ChunkAttempt::Unheard,
        };
        if matches!(attempt, ChunkAttempt::Unheard)
            && let Some(canceller) = canceller
        {
            canceller.cancel().await;
        }
        attempt
    }

    /// Hands on the rows of a scan and counts them.
    async fn rows(
        &self,
        source: &mut dyn Source,
        scan: &Scan,
        ticket: &T,
    ) -> Result<u64, ChunkAttempt> {
        let mut blocks = source.scan(scan);
        let (mut number, mut read) = (0, 0);
        while let Some(rows) = blocks.next().await {
            let rows = rows.map_err(ChunkAttempt::Failed)?;
            read += whole(rows.rows.len());
            let ticket = ticket.clone();
            let block = RowBlock {
                ticket,
                number,
                rows,
            };
            let sent = self.sender.send(LaneMessage::Rows(block)).await;
            sent.map_err(|_| ChunkAttempt::Unheard)?;
            number += 1;
        }
        Ok(read)
    }
}

/// Counts the rows that the database left out by itself.
async fn left_out(
    source: &mut dyn Source,
    scan: &Scan,
    rows: u64,
) -> Result<ChunkEnd, SourceError> {
    if scan.conditions.is_empty() || scan.keep_unmatched {
        return Ok(ChunkEnd::default());
    }
    let all = match scan.range {
        None => source.count(&scan.from).await?,
        Some(_) => source.count_range(scan).await?,
    };
    Ok(ChunkEnd {
        left_out: all.saturating_sub(rows),
        ..ChunkEnd::default()
    })
}

/// The chunks of a plan, in an order that keeps neighbours apart: lanes that read side by side do
/// not read side by side in a table, so that they write to different partition keys.
pub(crate) fn spread(plan: &ChunkPlan, lanes: usize) -> Vec<(ChunkId, ChunkPart)> {
    let all: Vec<(ChunkId, ChunkPart)> =
        plan.chunks().map(|(id, part)| (id, part.clone())).collect();
    let stride = all.len().div_ceil(lanes.max(1)).max(1);
    let order = (0..stride).flat_map(|first| (first..all.len()).step_by(stride));
    order.filter_map(|at| all.get(at).cloned()).collect()
}

/// Hands blocks to the workers of a run, and tells who listens which pass is read.
pub(crate) struct Reader<'r, T> {
    pub(crate) model: &'r Model,
    pub(crate) progress: &'r dyn Progress,
    pub(crate) cancel: &'r Cancel,
    pub(crate) halt: &'r RunHalt,
    /// The pass that a ticket's chunk is of.
    pub(crate) pass: fn(&T) -> usize,
    /// The workers end when it is dropped.
    pub(crate) blocks: mpsc::Sender<RowBlock<T>>,
}

impl<T: Clone + Send + Sync + 'static> Reader<'_, T> {
    /// Reads until the source or the run ends. `enter` hears of all that is read before a worker does.
    /// Gives the time of waiting for rows; what fails is in the halt.
    pub(crate) async fn read(
        self,
        lanes: &mut Lanes<T>,
        mut enter: impl FnMut(&LaneMessage<T>),
    ) -> Duration {
        let mut announced = vec![false; self.model.passes.len()];
        let mut waited = Duration::ZERO;
        loop {
            let from = Instant::now();
            let read = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    self.halt.set(EndReason::Cancelled);
                    return waited;
                }
                () = self.halt.stopped() => return waited,
                read = lanes.next() => read,
            };
            waited += from.elapsed();
            let Some(read) = read else { return waited };
            if let LaneMessage::Rows(RowBlock { ticket, .. }) | LaneMessage::End { ticket, .. } =
                &read
            {
                self.announce_pass((self.pass)(ticket), &mut announced);
            }
            enter(&read);
            let failure = match read {
                LaneMessage::End { .. } | LaneMessage::Again { .. } => continue,
                LaneMessage::Failed(error) => Failure::from(error),
                LaneMessage::Rows(block) => {
                    tokio::select! {
                        biased;
                        () = self.halt.stopped() => return waited,
                        sent = self.blocks.send(block) => match sent {
                            Ok(()) => continue,
                            // Workers end early only where the run is to end.
                            Err(_) if self.halt.is_set() => return waited,
                            Err(_) => Failure::Internal("the workers ended early"),
                        }
                    }
                }
            };
            self.halt.set(failure);
            return waited;
        }
    }

    /// Tells that a pass begins, once.
    fn announce_pass(&self, pass: usize, announced: &mut [bool]) {
        let Some(announced) = announced.get_mut(pass).filter(|announced| !**announced) else {
            return;
        };
        *announced = true;
        if let Some(this) = self.model.passes.get(pass) {
            let progress = self.progress;
            progress.pass(pass, &this.name, &this.item_types, this.estimated_rows);
        }
    }
}
