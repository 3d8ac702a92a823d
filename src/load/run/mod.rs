//! The run: starts reader and writers, folds in between, and ends everything in order.

mod life;
mod rows;

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant};

use crate::batch::Batcher;
use crate::item::Folder;
use crate::load::archive::Archive;
use crate::load::books::{Books, Failure, LimitedBy, Outcome, Report, Waits, rate};
use crate::load::duplicates::Duplicates;
use crate::load::feed::{Read, Reader, RowKey, Sieve};
use crate::load::halt::{Cancel, Halt, Why};
use crate::load::ledger::Ledger;
use crate::load::progress::Step;
use crate::load::writer::{Delivery, Parcel, count, write};
use crate::load::{Load, Options};
use crate::mapping::model::ItemType;
use crate::source::Source;
use life::odd;

/// KiB of batches that may be on their way at one time.
const KIB_IN_FLIGHT: usize = 64 << 10;

/// Loads the table and reports. Never fails but in its report.
pub async fn run(load: Load) -> Report {
    let begun = Instant::now();
    let table = load.model.table.clone();
    let started = load.target.start(&table, load.options.fresh).await;
    let target = load.target.clone();
    let progress = load.progress.clone();
    let mut run = Run::new(&load);
    if let Err(error) = &started {
        run.delivery.halt.set(Why::Failed(Failure::from(error)));
        return run.report(begun.elapsed());
    }
    let mut reader = Reader::spawn(load.source, load.model.clone(), true);
    let writers = load.options.writers.unwrap_or_else(|| target.concurrency());
    let tasks = run.spawn_writers(writers.max(1));
    run.batcher = Batcher::new(target.batch_limit());
    run.fold(&mut reader, &load.options).await;
    run.flush().await;
    let waiting = Instant::now();
    run.join(tasks).await;
    run.target_wait += waiting.elapsed();
    let elapsed = begun.elapsed();
    run.name_duplicates(reader).await;
    progress.step(Step::Finishing);
    if let Err(error) = target.finish().await {
        run.delivery.ledger.disown();
        run.delivery.halt.set(Why::Failed(Failure::from(&error)));
    }
    run.report(elapsed)
}

/// A run that goes on.
struct Run {
    delivery: Arc<Delivery>,
    cancel: Cancel,
    sieve: Sieve,
    /// For each item type, the places of its embeds in the row.
    embeds: Vec<Vec<usize>>,
    books: Vec<Books>,
    batcher: Batcher,
    /// The rows of the items that wait in the batcher.
    rows: VecDeque<RowKey>,
    /// `None` once the last parcel is sent.
    parcels: Option<mpsc::Sender<Parcel>>,
    room: Arc<Semaphore>,
    duplicates: Duplicates,
    archive: Archive,
    now: String,
    /// What the source has to say at the end.
    warnings: Vec<String>,
    rows_of_passes: u64,
    source_wait: Duration,
    target_wait: Duration,
    fold_time: Duration,
}

impl Run {
    fn new(load: &Load) -> Self {
        let model = &load.model;
        let books = model.item_types.iter().map(|item_type| Books {
            item_type: item_type.name.to_string(),
            from: model
                .passes
                .get(item_type.pass)
                .map(|pass| pass.name.clone())
                .unwrap_or_default(),
            ..Books::default()
        });
        Self {
            books: books.collect(),
            embeds: model.item_types.iter().map(ItemType::embeds).collect(),
            delivery: Arc::new(Delivery {
                target: load.target.clone(),
                model: model.clone(),
                policy: load.options.retry,
                halt: Halt::new(),
                ledger: Ledger::new(
                    model.item_types.len(),
                    load.options.rejects_file.clone(),
                    load.options.max_rejects,
                ),
                progress: load.progress.clone(),
            }),
            cancel: load.cancel.clone(),
            sieve: Sieve::new(Folder::new(model, load.context.clone())),
            batcher: Batcher::new(load.target.batch_limit()),
            rows: VecDeque::new(),
            parcels: None,
            room: Arc::new(Semaphore::new(KIB_IN_FLIGHT)),
            duplicates: Duplicates::default(),
            archive: Archive::new(load.options.archive_file.clone(), &model.table),
            now: load.context.now.to_string(),
            warnings: Vec::new(),
            rows_of_passes: 0,
            source_wait: Duration::ZERO,
            target_wait: Duration::ZERO,
            fold_time: Duration::ZERO,
        }
    }

    fn spawn_writers(&mut self, writers: usize) -> JoinSet<()> {
        let (sender, parcels) = mpsc::channel(writers);
        self.parcels = Some(sender);
        let parcels = Arc::new(Mutex::new(parcels));
        let mut tasks = JoinSet::new();
        for _ in 0..writers {
            tasks.spawn(write(self.delivery.clone(), parcels.clone()));
        }
        tasks
    }

    /// Takes chunks until the source or the run ends.
    async fn fold(&mut self, reader: &mut Reader, options: &Options) {
        let delivery = self.delivery.clone();
        let (mut pass, mut rows, mut passes_read) = (0, 0, 0);
        while passes_read < delivery.model.passes.len() {
            let from = Instant::now();
            let read = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    delivery.halt.set(Why::Cancelled);
                    return;
                }
                () = delivery.halt.stopped() => return,
                read = reader.next() => read,
            };
            self.source_wait += from.elapsed();
            match read {
                Some(Read::Start(index)) => {
                    (pass, rows) = (index, 0);
                    if let Some(this) = delivery.model.passes.get(index) {
                        let estimate = options.estimates.get(index).copied().flatten();
                        let progress = &delivery.progress;
                        progress.pass(index, &this.name, &this.item_types, estimate);
                    }
                }
                Some(Read::Rows(chunk)) => {
                    rows += count(chunk.rows.len());
                    if self.chunk(pass, chunk).await.is_break() {
                        return;
                    }
                }
                Some(Read::End { pass, all }) => {
                    passes_read += 1;
                    self.left_out(pass, all.unwrap_or(rows).saturating_sub(rows));
                }
                Some(Read::Failed(error)) => {
                    return delivery.halt.set(Why::Failed(Failure::from(&error)));
                }
                None => {
                    let failure = Failure::internal("the reader ended without an answer");
                    return delivery.halt.set(Why::Failed(failure));
                }
            }
        }
    }

    /// Sends what waits in the batcher, and no more.
    async fn flush(&mut self) {
        if let Some(batch) = self.batcher.finish() {
            self.dispatch(batch).await;
        }
        self.parcels = None;
    }

    async fn join(&mut self, mut tasks: JoinSet<()>) {
        while let Some(ended) = tasks.join_next().await {
            if ended.is_err() {
                let failure = Failure::internal("a writer died");
                self.delivery.halt.set(Why::Failed(failure));
            }
        }
    }

    /// Ends the reading; names the rows that share keys, where the run was not ended in haste.
    async fn name_duplicates(&mut self, reader: Reader) {
        let delivery = self.delivery.clone();
        let duplicates = std::mem::take(&mut self.duplicates);
        let why = delivery.halt.why();
        let unhurried = matches!(why, None | Some(Why::TooManyRejects));
        let again = unhurried && !duplicates.is_empty() && !self.cancel.is_cancelled();
        if again {
            delivery.progress.step(Step::NamingDuplicates);
        }
        // Reading a large table to its end takes a while: a caller in haste need not wait for it.
        let source = tokio::select! {
            source = reader.finish(again) => source,
            () = self.cancel.cancelled(), if again => None,
        };
        self.warnings = source
            .as_ref()
            .map(|source| source.warnings())
            .unwrap_or_default();
        let earlier = match source {
            Some(source) if again => self.earlier(&duplicates, source).await,
            _ => std::collections::HashMap::new(),
        };
        for reject in duplicates.rejects(&delivery.model, &earlier) {
            if let Err(failure) = delivery.ledger.name(&delivery.model, &reject) {
                return delivery.halt.set(Why::Failed(failure));
            }
        }
    }

    async fn earlier(
        &self,
        duplicates: &Duplicates,
        source: Box<dyn Source>,
    ) -> std::collections::HashMap<u128, (usize, RowKey)> {
        let folder = self.sieve.folder.clone();
        let model = &self.delivery.model;
        duplicates.find(source, model, folder, &self.cancel).await
    }

    fn report(mut self, elapsed: Duration) -> Report {
        let delivery = &self.delivery;
        let (closed, rejects, rejects_file) = delivery.ledger.close();
        if let Err(failure) = closed {
            delivery.halt.set(Why::Failed(failure));
        }
        let (closed, archive_file) = self.archive.close(delivery.halt.why().is_none());
        if let Err(failure) = closed {
            delivery.halt.set(Why::Failed(failure));
        }
        let traffic = delivery.ledger.settle(&mut self.books);
        let mut total = Books::default();
        for books in &self.books {
            total.add(books);
        }
        let outcome = match delivery.halt.why() {
            None if total.rejected == 0 => Outcome::Complete,
            None => Outcome::CompleteWithRejects,
            Some(Why::Cancelled) => Outcome::Interrupted,
            Some(Why::TooManyRejects) => Outcome::Stopped {
                reason: "there are more rejects than --max-rejects allows".to_owned(),
            },
            Some(Why::Failed(failure)) => Outcome::Failed(failure),
        };
        let waits = Waits {
            source_seconds: self.source_wait.as_secs_f64(),
            fold_seconds: self.fold_time.as_secs_f64(),
            target_seconds: self.target_wait.as_secs_f64(),
        };
        let throttled = traffic.throttled + traffic.unprocessed > 0;
        let mut report = Report {
            outcome,
            table: delivery.model.table.name.clone(),
            place: delivery.target.place(),
            now: std::mem::take(&mut self.now),
            total,
            balanced: false,
            warnings: [std::mem::take(&mut self.warnings), odd(&self.books)].concat(),
            rejects,
            rejects_file,
            archive_file,
            limited_by: limit(&waits, throttled),
            traffic,
            waits,
            elapsed_seconds: elapsed.as_secs_f64(),
            rows_per_second: rate(self.rows_of_passes, elapsed),
            item_types: self.books,
        };
        report.balanced = report.balances();
        report
    }
}

fn limit(waits: &Waits, throttled: bool) -> LimitedBy {
    let Waits {
        source_seconds,
        fold_seconds,
        target_seconds,
    } = *waits;
    if target_seconds >= source_seconds && target_seconds >= fold_seconds {
        if throttled {
            LimitedBy::Throttling
        } else {
            LimitedBy::Target
        }
    } else if fold_seconds >= source_seconds {
        LimitedBy::Fold
    } else {
        LimitedBy::Source
    }
}
