//! The comparison as a run: reads, folds, asks the table, adds up.

mod answers;

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::item::{Elements, Expiry, Folded, Folder, Item, fingerprint};
use crate::load::{
    Cancel, Failure, Fate, Keys, Progress, Read, Reader, RowKey, Sieve, Step, json, meets, rate,
    raw, row_key, take_row_key,
};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::source::{Chunk, Source};
use crate::target::{Key, Target, Wanted, key_of};
use crate::verify::report::{Compared, Finding, FindingKind, VerifyOutcome, VerifyReport};

/// Keys that one request may ask for.
const KEYS: usize = 100;
/// Bytes of items after which a request is sent with fewer keys.
const BYTES: usize = 4 << 20;

/// A comparison to be made.
pub struct Verify {
    /// The source; its snapshot is not open yet.
    pub source: Box<dyn Source>,
    /// The target.
    pub target: Arc<dyn Target>,
    /// The mapping.
    pub model: Arc<Model>,
    /// What templates need besides the row.
    pub context: Context,
    /// Findings that the report names.
    pub examples: usize,
    /// About how many rows each pass has, for progress.
    pub estimates: Vec<Option<u64>>,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
}

/// Compares and reports. Never fails but in its report.
pub async fn verify(verify: Verify) -> VerifyReport {
    let begun = Instant::now();
    let mut run = Run::new(&verify);
    let mut reader = Reader::spawn(verify.source, verify.model.clone(), true);
    let mut end = run.compare(&mut reader, &verify.estimates).await;
    if end.is_none() {
        run.ask().await;
    } else {
        run.set_aside();
    }
    while run.answer().await {}
    reader.finish(false).await;
    end = end.or(run.failure.take().map(VerifyOutcome::Failed));
    let mut unexpected = None;
    if end.is_none() {
        verify.progress.step(Step::LookingForUnexpected);
        match run.look_for_unexpected().await {
            Ok(count) => unexpected = Some(count),
            Err(ended) => end = Some(ended),
        }
    }
    run.report(end, unexpected, begun)
}

/// An item that the source makes.
struct Expected {
    item_type: usize,
    row: RowKey,
    item: Item,
    fingerprint: u128,
    /// Whether DynamoDB may have deleted it by now.
    may_be_gone: bool,
    compressed: Vec<Arc<str>>,
}

/// What came of one request.
struct Answered {
    page: Page,
    /// For each item of the page: the table's item, if it has one.
    found: Result<Vec<Option<Item>>, Failure>,
}

/// Items that are asked for together.
#[derive(Default)]
struct Page {
    number: usize,
    items: Vec<Expected>,
    bytes: usize,
}

struct Run {
    target: Arc<dyn Target>,
    model: Arc<Model>,
    cancel: Cancel,
    progress: Arc<dyn Progress>,
    sieve: Sieve,
    /// Keys of items that have expired and are not expected.
    left_out: Keys,
    lingering: u64,
    now: String,
    books: Vec<Compared>,
    page: Page,
    requests: JoinSet<Answered>,
    most_requests: usize,
    failure: Option<Failure>,
    /// Findings with the page and place that they come from.
    findings: Vec<((usize, usize), Finding)>,
    most_findings: usize,
}

impl Run {
    fn new(verify: &Verify) -> Self {
        let model = &verify.model;
        let books = model.item_types.iter().map(|item_type| Compared {
            item_type: item_type.name.to_string(),
            from: model
                .passes
                .get(item_type.pass)
                .map(|pass| pass.name.clone())
                .unwrap_or_default(),
            ..Compared::default()
        });
        Self {
            books: books.collect(),
            target: verify.target.clone(),
            model: model.clone(),
            cancel: verify.cancel.clone(),
            progress: verify.progress.clone(),
            sieve: Sieve::new(Folder::new(model, verify.context.clone())),
            left_out: Keys::default(),
            lingering: 0,
            now: verify.context.now.to_string(),
            page: Page::default(),
            requests: JoinSet::new(),
            most_requests: verify.target.concurrency().max(1),
            failure: None,
            findings: Vec::new(),
            most_findings: verify.examples,
        }
    }

    /// Takes chunks until the source ends; says how it ended otherwise.
    async fn compare(
        &mut self,
        reader: &mut Reader,
        estimates: &[Option<u64>],
    ) -> Option<VerifyOutcome> {
        let model = self.model.clone();
        let (mut pass, mut rows, mut passes_read) = (0, 0, 0);
        while passes_read < model.passes.len() {
            let read = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Some(VerifyOutcome::Interrupted),
                read = reader.next() => read,
            };
            match read {
                Some(Read::Start(index)) => {
                    (pass, rows) = (index, 0);
                    if let Some(this) = model.passes.get(index) {
                        let estimate = estimates.get(index).copied().flatten();
                        self.progress
                            .pass(index, &this.name, &this.item_types, estimate);
                    }
                }
                Some(Read::Rows(chunk)) => {
                    rows += count(chunk.rows.len());
                    self.chunk(pass, chunk).await;
                }
                Some(Read::End { pass, all }) => {
                    passes_read += 1;
                    let left_out = all.unwrap_or(rows).saturating_sub(rows);
                    for index in model.passes.get(pass).iter().flat_map(|p| &p.item_types) {
                        if let Some(books) = self.books.get_mut(*index) {
                            books.rows_read += left_out;
                            books.filtered += left_out;
                            self.progress.rows(*index, left_out);
                        }
                    }
                }
                Some(Read::Failed(error)) => {
                    return Some(VerifyOutcome::Failed(Failure::from(&error)));
                }
                None => {
                    let failure = Failure::internal("the reader ended without an answer");
                    return Some(VerifyOutcome::Failed(failure));
                }
            }
            if let Some(failure) = self.failure.take() {
                return Some(VerifyOutcome::Failed(failure));
            }
        }
        None
    }

    async fn chunk(&mut self, pass: usize, chunk: Chunk) {
        let model = self.model.clone();
        let Some(pass) = model.passes.get(pass) else {
            return;
        };
        for index in &pass.item_types {
            self.progress.rows(*index, count(chunk.rows.len()));
        }
        for mut row in chunk.rows {
            for (nth, index) in pass.item_types.iter().enumerate() {
                let (Some(item_type), Some(books)) =
                    (model.item_types.get(*index), self.books.get_mut(*index))
                else {
                    continue;
                };
                books.rows_read += 1;
                if !meets(item_type, &row) {
                    books.filtered += 1;
                    continue;
                }
                let alone = item_type.explodes.is_empty() && nth + 1 == pass.item_types.len();
                let mut elements = Elements::new(&item_type.explodes);
                let mut come: u64 = 0;
                while let Some(fate) = self.sieve.next(*index, &mut elements, &mut row) {
                    let Some(books) = self.books.get_mut(*index) else {
                        break;
                    };
                    come += 1;
                    let folded = match fate {
                        Fate::Made(folded) => folded,
                        Fate::Expired(folded) => {
                            books.expired += 1;
                            self.left_out.insert(folded.fingerprint);
                            continue;
                        }
                        Fate::Rejected(_) | Fate::Duplicate(_) => {
                            books.rejected += 1;
                            continue;
                        }
                    };
                    books.expected += 1;
                    let key = if alone {
                        take_row_key(item_type, &mut row)
                    } else {
                        row_key(item_type, &row)
                    };
                    self.expect(*index, key, folded).await;
                }
                if let Some(books) = self.books.get_mut(*index) {
                    books.empty += u64::from(come == 0);
                    books.expanded += come.saturating_sub(1);
                }
            }
        }
    }

    /// Asks for an item, with others.
    async fn expect(&mut self, item_type: usize, row: RowKey, folded: Folded) {
        self.page.bytes += folded.size;
        self.page.items.push(Expected {
            item_type,
            row,
            item: folded.item,
            fingerprint: folded.fingerprint,
            may_be_gone: folded.expiry == Expiry::Past,
            compressed: folded.compressed,
        });
        if self.page.items.len() >= KEYS || self.page.bytes >= BYTES {
            self.ask().await;
        }
    }

    /// Scans the table's keys for those that no row makes.
    async fn look_for_unexpected(&mut self) -> Result<u64, VerifyOutcome> {
        let (mut unexpected, mut from) = (0, None);
        let wanted = Wanted::keys(&self.model.table);
        loop {
            let page = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(VerifyOutcome::Interrupted),
                page = self.target.scan(&self.model.table, &wanted, from) => page,
            };
            let page = page.map_err(|error| VerifyOutcome::Failed(Failure::from(&error)))?;
            let keys = page.items.iter();
            let model = self.model.clone();
            for key in keys.filter_map(|item| key_of(&model.table, item)) {
                let fingerprint = fingerprint(&key.0, key.1.as_ref());
                if self.sieve.keys.contains(fingerprint) {
                    continue;
                }
                if self.left_out.contains(fingerprint) {
                    self.lingering += 1;
                    continue;
                }
                unexpected += 1;
                let finding = Finding {
                    kind: FindingKind::Unexpected,
                    item_type: None,
                    row: None,
                    key: raw(json(&named(&self.model, key))),
                    attributes: Vec::new(),
                };
                self.note((usize::MAX, 0), finding);
            }
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(unexpected),
            }
        }
    }

    fn report(
        mut self,
        end: Option<VerifyOutcome>,
        unexpected: Option<u64>,
        begun: Instant,
    ) -> VerifyReport {
        self.trim();
        let mut total = Compared::default();
        for books in &self.books {
            total.add(books);
        }
        let equal = total.equal + total.gone == total.expected && unexpected == Some(0);
        let elapsed = begun.elapsed();
        VerifyReport {
            outcome: end.unwrap_or(if equal {
                VerifyOutcome::Equal
            } else {
                VerifyOutcome::Different
            }),
            table: self.model.table.name.clone(),
            place: self.target.place(),
            now: self.now,
            unexpected,
            lingering: self.lingering,
            findings: self.findings.into_iter().map(|(_, f)| f).collect(),
            elapsed_seconds: elapsed.as_secs_f64(),
            items_per_second: rate(total.expected - total.uncompared, elapsed),
            total,
            item_types: self.books,
        }
    }
}

fn named(model: &Model, (partition, sort): Key) -> Item {
    let mut attributes = vec![(model.table.partition.name.clone(), partition)];
    if let (Some(key), Some(value)) = (&model.table.sort, sort) {
        attributes.push((key.name.clone(), value));
    }
    Item { attributes }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
