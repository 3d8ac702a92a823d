//! From the source to the fold: what `preview` reads by, and what all runs make of a row.
//!
//! A task of its own reads the passes one after the other and hands on chunks through a short
//! channel, so that the database, the fold and the target work at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::item::{Elements, Folded, Folder, Item, Reject};
use crate::mapping::model::{Expired, ItemType, Model, Pass};
use crate::source::{Chunk, Source, SourceError};
use crate::value::Value;

/// Chunks that wait for the fold. A chunk has about a megabyte at most.
const CHUNKS_AHEAD: usize = 4;

/// What the reader hands on.
#[derive(Debug)]
pub(crate) enum Read {
    /// A pass begins.
    Start(usize),
    /// Rows of the pass that goes on.
    Rows(Chunk),
    /// A pass has been read to its end. `all` counts the relation's rows, where the database left
    /// out some by itself.
    End { pass: usize, all: Option<u64> },
    /// The source failed; nothing follows.
    Failed(SourceError),
}

/// Reads all passes on a task of its own.
pub(crate) struct Reader {
    chunks: mpsc::Receiver<Read>,
    task: JoinHandle<Box<dyn Source>>,
    drain: Arc<AtomicBool>,
}

impl Reader {
    /// Opens the snapshot and begins to read. `begin: false` where the snapshot is open already.
    pub(crate) fn spawn(source: Box<dyn Source>, model: Arc<Model>, begin: bool) -> Self {
        let (sender, chunks) = mpsc::channel(CHUNKS_AHEAD);
        let drain = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(read(source, model, begin, sender, drain.clone()));
        Self {
            chunks,
            task,
            drain,
        }
    }

    /// The next thing read; `None` after the last pass, after a failure, or if the reader died.
    pub(crate) async fn next(&mut self) -> Option<Read> {
        self.chunks.recv().await
    }

    /// Ends the reading and gives the source back. `reusable`: reads the scan that goes on to its
    /// end, unseen, as the source's contract asks for before another scan; otherwise whatever the
    /// database is at is abandoned.
    pub(crate) async fn finish(mut self, reusable: bool) -> Option<Box<dyn Source>> {
        self.drain.store(reusable, Ordering::Release);
        self.chunks.close();
        while self.chunks.recv().await.is_some() {}
        (&mut self.task).await.ok()
    }
}

impl Drop for Reader {
    /// Whoever lets go of a reader must not leave it reading.
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(
    mut source: Box<dyn Source>,
    model: Arc<Model>,
    begin: bool,
    sender: mpsc::Sender<Read>,
    drain: Arc<AtomicBool>,
) -> Box<dyn Source> {
    let abandoned = tokio::select! {
        biased;
        () = passes(source.as_mut(), &model, begin, &sender) => false,
        () = abandoned(&sender, &drain) => true,
    };
    if abandoned && let Some(canceller) = source.canceller() {
        canceller.cancel().await;
    }
    source
}

async fn passes(source: &mut dyn Source, model: &Model, begin: bool, sender: &mpsc::Sender<Read>) {
    if begin && let Err(error) = source.begin(&model.scans()).await {
        let _ = sender.send(Read::Failed(error)).await;
        return;
    }
    for (index, pass) in model.passes.iter().enumerate() {
        if sender.send(Read::Start(index)).await.is_err() || !scan(source, pass, sender).await {
            return;
        }
        let end = count(source, index, pass).await;
        let failed = matches!(end, Read::Failed(_));
        if sender.send(end).await.is_err() || failed {
            return;
        }
    }
}

/// Hands on the rows of one pass; `false` where nothing is to follow.
async fn scan(source: &mut dyn Source, pass: &Pass, sender: &mpsc::Sender<Read>) -> bool {
    let mut rows = source.scan(&pass.scan);
    let mut listening = true;
    while let Some(chunk) = rows.next().await {
        let read = match chunk {
            // What waits for the end of the reading gets its turn, however fast rows come.
            Ok(_) if !listening => {
                tokio::task::yield_now().await;
                continue;
            }
            Ok(chunk) => Read::Rows(chunk),
            Err(error) => {
                let _ = sender.send(Read::Failed(error)).await;
                return false;
            }
        };
        listening = sender.send(read).await.is_ok();
    }
    listening
}

/// How a pass ends: with all the relation's rows counted, where the database left out some.
async fn count(source: &mut dyn Source, index: usize, pass: &Pass) -> Read {
    let left_out = !pass.scan.conditions.is_empty() && !pass.scan.keep_unmatched;
    let all = if left_out {
        match source.count(&pass.scan.from).await {
            Ok(all) => Some(all),
            Err(error) => return Read::Failed(error),
        }
    } else {
        None
    };
    Read::End { pass: index, all }
}

/// Waits until nobody listens any more. A query may take long to give its first row, and whoever
/// has ended the run must not wait for it, nor leave it to the server; only a scan that is read to
/// its end goes on.
async fn abandoned(sender: &mpsc::Sender<Read>, drain: &AtomicBool) {
    sender.closed().await;
    if drain.load(Ordering::Acquire) {
        std::future::pending::<()>().await;
    }
}

/// What became of a row, or of an element of it, for one item type.
#[derive(Debug)]
pub(crate) enum Fate {
    /// The row has no item that DynamoDB would take.
    Rejected(Box<Reject>),
    /// The row's item has expired and is not to be loaded: [`Folded::expired`] says what becomes
    /// of it. Its key is free for another row's item.
    Expired(Box<Folded>),
    /// The row is an item.
    Made(Folded),
}

impl Fate {
    /// The item, as far as it was made.
    pub(crate) fn item(&self) -> Option<&Item> {
        match self {
            Self::Rejected(reject) => reject.item_so_far.as_ref(),
            Self::Expired(folded) => Some(&folded.item),
            Self::Made(folded) => Some(&folded.item),
        }
    }
}

/// Decides what becomes of rows. Whether keys are shared is found elsewhere.
pub(crate) struct Sieve {
    pub(crate) folder: Folder,
}

impl Sieve {
    pub(crate) fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// Says what becomes of the next element of a row that meets the item type's condition: of the
    /// row itself, where nothing is exploded. `None` after the last.
    pub(crate) fn next(
        &mut self,
        index: usize,
        elements: &mut Elements<'_>,
        row: &mut [Value],
    ) -> Option<Fate> {
        let folded = match elements.next(row) {
            Ok(false) => return None,
            Ok(true) => self.folder.fold(index, row),
            Err(reject) => Err(reject),
        };
        Some(match folded {
            Err(reject) => Fate::Rejected(reject),
            Ok(folded) if folded.expired != Expired::Load => Fate::Expired(Box::new(folded)),
            Ok(folded) => Fate::Made(folded),
        })
    }
}

/// Whether a row meets an item type's condition.
pub(crate) fn meets(item_type: &ItemType, row: &[Value]) -> bool {
    item_type
        .condition
        .is_none_or(|at| matches!(row.get(at), Some(Value::Bool(true))))
}

/// What tells a row apart: the values of the item type's row key.
pub(crate) type RowKey = Box<[Value]>;

/// The row key of a row.
pub(crate) fn row_key(item_type: &ItemType, row: &[Value]) -> RowKey {
    let values = item_type.row_key.iter();
    values
        .map(|(_, at)| row.get(*at).cloned().unwrap_or(Value::Null))
        .collect()
}

/// The row key of a row that nobody needs any more.
pub(crate) fn take_row_key(item_type: &ItemType, row: &mut [Value]) -> RowKey {
    let values = item_type.row_key.iter();
    values
        .map(|(_, at)| {
            row.get_mut(*at)
                .map_or(Value::Null, |value| std::mem::replace(value, Value::Null))
        })
        .collect()
}
