//! A source and a target in memory that fail as they are told to.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dynafold::catalog::{Catalog, Column, Dbms};
use dynafold::dynamodb::{Index, Position, Request, Table};
use dynafold::scan::{Range, Relation, Scan};
use dynafold::source::{Canceller, Chunk, LeftBehind, Row, Source, SourceError, SourceIdentity};
use dynafold::target::{
    Action, Batch, BatchLimit, BatchOutcome, Consumed, Difference, ErrorClass, ItemKey, Page,
    ScanRequest, TableDescription, Target, TargetError, TargetErrorKind, Throttle,
};
use dynafold::value::Value;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use tokio::sync::Notify;

/// Rows of a chunk, where a test does not choose.
const CHUNK: usize = 10;

/// A database in memory. Its conditions are columns of the rows already.
#[derive(Clone, Default)]
pub(crate) struct FakeSource {
    pub(crate) relations: HashMap<Relation, Vec<Row>>,
    /// What is there from the second scan on, where that is something else.
    pub(crate) later: Option<HashMap<Relation, Vec<Row>>>,
    /// Rows of a chunk.
    pub(crate) chunk: Option<usize>,
    /// What the first scan of a relation gives before its connection breaks.
    pub(crate) lost: Arc<Mutex<HashMap<Relation, Vec<Row>>>>,
    /// How many other connections it opens at once.
    pub(crate) forks: usize,
    /// Breaks the connection after so many chunks of a scan.
    pub(crate) breaks_after: Option<usize>,
    /// Says nothing more after so many chunks of a scan.
    pub(crate) stalls_after: Option<usize>,
    /// Told when it says nothing more.
    pub(crate) stalled: Arc<Notify>,
    pub(crate) scans: Arc<AtomicUsize>,
}

impl FakeSource {
    pub(crate) fn with(mut self, from: &Relation, rows: Vec<Vec<Value>>) -> Self {
        let rows = rows.into_iter().map(Vec::into_boxed_slice).collect();
        self.relations.insert(from.clone(), rows);
        self
    }
}

#[async_trait]
impl Source for FakeSource {
    fn dbms(&self) -> Dbms {
        Dbms::Sqlite
    }
    async fn catalog(&mut self) -> Result<Catalog, SourceError> {
        unreachable!("no load asks for it")
    }
    async fn describe(&mut self, _: &str) -> Result<Vec<Column>, SourceError> {
        unreachable!("no load asks for it")
    }
    async fn prepare(&mut self, _: &Scan) -> Result<(), SourceError> {
        Ok(())
    }
    async fn begin(&mut self, _: &[&Scan]) -> Result<(), SourceError> {
        Ok(())
    }
    async fn numbers(&mut self, _: &str, _: &Scan) -> Result<Vec<Vec<u64>>, SourceError> {
        unreachable!("what is counted is counted below")
    }
    async fn count(&mut self, from: &Relation) -> Result<u64, SourceError> {
        let rows = self.relations.get(from).map_or(0, Vec::len);
        Ok(u64::try_from(rows).unwrap())
    }
    async fn count_range(&mut self, scan: &Scan) -> Result<u64, SourceError> {
        self.count(&scan.from).await
    }
    fn dialect(&self) -> &'static dyn dynafold::source::Dialect {
        unreachable!("no load asks for it")
    }
    async fn ask(&mut self, _: &str, _: &[Column]) -> Result<Vec<Row>, SourceError> {
        unreachable!("no load asks for it")
    }
    async fn cut(&mut self, _: &Scan, _: u64) -> Result<Vec<Range>, SourceError> {
        Ok(Vec::new())
    }
    async fn identity(&mut self) -> Result<SourceIdentity, SourceError> {
        let identity = SourceIdentity {
            name: "memory:".to_owned(),
            stamp: None,
            user: None,
        };
        Ok(identity)
    }
    async fn orphans(&mut self, _: &Scan) -> Result<Vec<(usize, LeftBehind)>, SourceError> {
        Ok(Vec::new())
    }
    async fn forks(&mut self, most: usize) -> Result<Vec<Box<dyn Source>>, SourceError> {
        let fork = |_| -> Box<dyn Source> { Box::new(self.clone()) };
        Ok((0..most.min(self.forks)).map(fork).collect())
    }
    fn canceller(&self) -> Option<Canceller> {
        None
    }
    fn scan<'a>(&'a mut self, scan: &'a Scan) -> BoxStream<'a, Result<Chunk, SourceError>> {
        let relations = match (self.scans.fetch_add(1, Ordering::SeqCst), &self.later) {
            (1.., Some(later)) => later,
            _ => &self.relations,
        };
        let first = scan.columns.len();
        let wanted = |row: &&Row| {
            scan.keep_unmatched
                || scan.conditions.is_empty()
                || row[first..].contains(&Value::Bool(true))
        };
        let lost = self.lost.lock().unwrap().remove(&scan.from);
        let breaks_after = lost.as_ref().map(Vec::len).or(self.breaks_after);
        let rows: Vec<Row> = lost
            .or_else(|| relations.get(&scan.from).cloned())
            .unwrap_or_default()
            .iter()
            .filter(wanted)
            .cloned()
            .collect();
        let mut chunks: Vec<Result<Chunk, SourceError>> = rows
            .chunks(self.chunk.unwrap_or(CHUNK))
            .map(|rows| {
                Ok(Chunk {
                    rows: rows.to_vec(),
                    left: Vec::new(),
                })
            })
            .collect();
        if let Some(after) = breaks_after {
            chunks.truncate(after);
            chunks.push(Err(SourceError::Lost {
                object: "users".to_owned(),
                cause: sqlx::Error::WorkerCrashed,
            }));
        }
        match self.stalls_after {
            None => stream::iter(chunks).boxed(),
            Some(after) => {
                let stalls = async {
                    self.stalled.notify_one();
                    std::future::pending().await
                };
                let rest = stream::once(stalls);
                stream::iter(chunks).take(after).chain(rest).boxed()
            }
        }
    }
}

/// What a target does with a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Takes it.
    Take,
    /// Takes all but these.
    Leave(Vec<usize>),
    /// Fails with this class; `taken`: after having taken it.
    Fail { class: ErrorClass, taken: bool },
}

type Script = Box<dyn FnMut(usize, &Batch) -> Answer + Send>;

/// A table in memory.
pub(crate) struct FakeTarget {
    pub(crate) items: Mutex<HashMap<u128, String>>,
    pub(crate) requests: Mutex<Vec<Vec<u128>>>,
    pub(crate) poison: HashSet<String>,
    pub(crate) starts: AtomicUsize,
    pub(crate) finishes: AtomicUsize,
    pub(crate) finish_fails: bool,
    /// The id of the table that there is, if there is one.
    pub(crate) table_id: Option<String>,
    /// Items that were put alone.
    pub(crate) alone: AtomicUsize,
    pub(crate) limit: BatchLimit,
    script: Mutex<Script>,
}

impl FakeTarget {
    /// `script` gets the number of the request, from 0, and the batch.
    pub(crate) fn new(script: impl FnMut(usize, &Batch) -> Answer + Send + 'static) -> Self {
        Self {
            items: Mutex::default(),
            requests: Mutex::default(),
            poison: HashSet::new(),
            starts: AtomicUsize::new(0),
            finishes: AtomicUsize::new(0),
            finish_fails: false,
            table_id: None,
            alone: AtomicUsize::new(0),
            limit: BatchLimit::BATCH_WRITE,
            script: Mutex::new(Box::new(script)),
        }
    }

    pub(crate) fn willing() -> Self {
        Self::new(|_, _| Answer::Take)
    }

    pub(crate) fn poisoned(mut self, text: &str) -> Self {
        self.poison.insert(text.to_owned());
        self
    }

    fn answer(&self, batch: &Batch) -> Result<BatchOutcome, TargetError> {
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(batch.entries().iter().map(|e| e.fingerprint).collect());
            requests.len() - 1
        };
        let poisoned = |json: &str| self.poison.iter().any(|text| json.contains(text.as_str()));
        if (0..batch.len()).any(|index| poisoned(batch.json(index))) {
            return Err(error(ErrorClass::Invalid));
        }
        let answer = (self.script.lock().unwrap())(number, batch);
        let (left, result) = match answer {
            Answer::Take => (Vec::new(), Ok(())),
            Answer::Leave(left) => (left, Ok(())),
            Answer::Fail { class, taken: true } => (Vec::new(), Err(error(class))),
            Answer::Fail { class, .. } => return Err(error(class)),
        };
        let mut items = self.items.lock().unwrap();
        for (index, entry) in batch.entries().iter().enumerate() {
            if left.contains(&index) {
                continue;
            }
            match entry.action {
                Action::Put => items.insert(entry.fingerprint, batch.json(index).to_owned()),
                Action::Delete => items.remove(&entry.fingerprint),
            };
        }
        result.map(|()| BatchOutcome {
            unprocessed: left,
            consumed: Some(Consumed {
                total: 1.0,
                ..Consumed::default()
            }),
        })
    }
}

fn error(class: ErrorClass) -> TargetError {
    let code = format!("{class:?}Exception");
    let message = "as scripted".to_owned();
    TargetError::new(TargetErrorKind::Other, class, &code, message)
}

#[async_trait]
impl Target for FakeTarget {
    fn place(&self) -> String {
        "memory".to_owned()
    }
    fn concurrency(&self) -> usize {
        3
    }
    fn batch_limit(&self) -> BatchLimit {
        self.limit
    }
    async fn describe(&self, _: &str) -> Result<Option<TableDescription>, TargetError> {
        Ok(self.table_id.clone().map(|id| TableDescription {
            status: "ACTIVE".to_owned(),
            table: dynafold_testing::model::users().table,
            unready_indexes: Vec::new(),
            ttl_known: true,
            id: Some(id),
            item_count: None,
        }))
    }
    async fn create(&self, _: &Table) -> Result<Option<Vec<Difference>>, TargetError> {
        Ok(Some(Vec::new()))
    }
    async fn add_index(&self, _: &Table, _: &Table, _: &Index) -> Result<(), TargetError> {
        unreachable!("no load asks for it")
    }
    async fn start(&self, _: &Table, _: bool) -> Result<(), TargetError> {
        self.starts.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    async fn finish(&self) -> Result<(), TargetError> {
        self.finishes.fetch_add(1, Ordering::SeqCst);
        let fails = self.finish_fails;
        if fails {
            Err(error(ErrorClass::Fatal))
        } else {
            Ok(())
        }
    }
    async fn write(&self, _: &Table, batch: &Batch) -> Result<BatchOutcome, TargetError> {
        tokio::task::yield_now().await;
        self.answer(batch)
    }
    async fn read(&self, _: &Table, _: &[ItemKey], _: bool) -> Result<Page, TargetError> {
        unreachable!("no load asks for it")
    }
    async fn write_one(
        &self,
        table: &Table,
        batch: &Batch,
        index: usize,
    ) -> Result<BatchOutcome, TargetError> {
        self.alone.fetch_add(1, Ordering::SeqCst);
        let written = self.write(table, &batch.part(&[index])).await?;
        if written.unprocessed.is_empty() {
            return Ok(written);
        }
        let throttle = Throttle {
            reason: "TableWriteProvisionedThroughputExceeded".to_owned(),
            resource: "arn:app".to_owned(),
        };
        let mut error = error(ErrorClass::Throttle);
        error.throttles.push(throttle);
        Err(error)
    }
    async fn scan(
        &self,
        _: &Table,
        _: &ScanRequest,
        _: Option<Position>,
    ) -> Result<Page, TargetError> {
        unreachable!("no load asks for it")
    }
    async fn ask(&self, _: &Table, _: &Request, _: Option<Position>) -> Result<Page, TargetError> {
        unreachable!("no load asks for it")
    }
    async fn delete_table(&self, _: &str, _: Option<&str>) -> Result<bool, TargetError> {
        unreachable!("no load asks for it")
    }
}
