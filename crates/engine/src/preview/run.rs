//! The run of a survey: takes rows in, and keeps the books.

use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use dynafold_mapping::claim::{Claim, ClaimKind, Verdict};
use dynafold_mapping::forecast::ItemTypeForecast;
use dynafold_mapping::item::{DUPLICATE_KEY, Elements, Folded, Folder};
use dynafold_mapping::model::{Expired, ItemType, Model, Pass};
use dynafold_source::{Chunk, Source};
use tokio::time::Instant;

use super::forecast::{Collision, Collisions, Forecast, ForecastOutcome, SourceRow};
use super::survey::{
    ItemSink, Survey, Surveyed, Tally, proof_failure, sink_failure, unless_unwanted,
};
use crate::load::{
    Cancel, ChunkId, Failure, Fate, Lanes, LineFile, Plan, Progress, Reading, RejectNote, Rejected,
    RowKey, Sieve, Step, Unproved, Walk, count, key_json, line, meets, note, raw, row_json,
    row_key, shares_key, subject,
};
use crate::proof::{Proof, ProofError};

/// Rejects of an item type and code that the report names.
const NOTED: u64 = 5;

/// Surveys and reports. Never fails but in its report.
pub async fn survey(survey: Survey) -> Forecast {
    let begun = Instant::now();
    let mut run = Run::new(&survey);
    run.sink = survey.items;
    let mut end = run.read(survey.source).await.err();
    if let (None, Some(sink)) = (&end, &mut run.sink) {
        let finished = unless_unwanted(sink.finish());
        end = finished
            .err()
            .map(|error| ForecastOutcome::Failed(sink_failure(error)));
    }
    let mut found = None;
    if end.is_none() {
        run.progress.step(Step::ComparingKeys);
        match run.prove(survey.named).await {
            Ok(proved) => found = Some(proved),
            Err(ended) => end = Some(ended),
        }
    }
    if let Some(found) = &mut found
        && found.collisions.keys > 0
    {
        run.progress.step(Step::NamingDuplicates);
        if let Err(failure) = run.name(found).await {
            end = Some(ForecastOutcome::Failed(failure));
        }
        if run.cancel.is_cancelled() {
            end = end.or(Some(ForecastOutcome::Interrupted));
        }
    }
    run.forecast(end, found, begun)
}

/// A survey that goes on.
pub(super) struct Run {
    pub(super) model: Arc<Model>,
    pub(super) cancel: Cancel,
    pub(super) progress: Arc<dyn Progress>,
    sieve: Sieve,
    /// For each item type, the places of its embeds in the row.
    embeds: Vec<Vec<usize>>,
    books: Vec<ItemTypeForecast>,
    tally: Tally,
    proof: Option<Proof>,
    met: u64,
    notes: Vec<RejectNote>,
    rejects: Option<LineFile>,
    pub(super) sink: Option<Box<dyn ItemSink>>,
    /// The source, once its rows are read.
    source: Option<Box<dyn Source>>,
    /// What it has to say.
    warnings: Vec<String>,
}

impl Run {
    pub(super) fn new(survey: &Survey) -> Self {
        let model = survey.model.clone();
        let from = |item_type: usize| {
            let mut passes = model.passes.iter();
            let pass = passes.find(|pass| pass.item_types.contains(&item_type));
            pass.map(|pass| pass.name.clone()).unwrap_or_default()
        };
        let names = model.item_types.iter().enumerate();
        let books = names.map(|(index, item_type)| ItemTypeForecast {
            item_type: item_type.name.to_string(),
            from: from(index),
            ..ItemTypeForecast::default()
        });
        Self {
            books: books.collect(),
            cancel: survey.cancel.clone(),
            progress: survey.progress.clone(),
            sieve: Sieve::new(Folder::new(&model, survey.context.clone())),
            embeds: model.item_types.iter().map(ItemType::embeds).collect(),
            tally: Tally::new(&model.table, model.write_rates()),
            proof: Some(Proof::new(survey.proof.clone())),
            met: 0,
            notes: Vec::new(),
            rejects: survey.rejects_file.clone().map(LineFile::rejects),
            sink: None,
            source: None,
            warnings: Vec::new(),
            model,
        }
    }

    /// Opens the snapshot and takes in all rows.
    pub(super) async fn read(
        &mut self,
        mut source: Box<dyn Source>,
    ) -> Result<(), ForecastOutcome> {
        let model = self.model.clone();
        let opened = async {
            source.begin(&model.scans()).await?;
            let plan = Plan::whole(&model);
            let chunks = plan.chunks().map(|(id, part)| (id, part.clone()));
            Lanes::open(source, model.clone(), chunks, 1, Arc::new(|id: ChunkId| id)).await
        };
        let mut lanes = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(ForecastOutcome::Interrupted),
            lanes = opened => lanes.map_err(|error| ForecastOutcome::Failed(Failure::from(&error)))?,
        };
        let end = self.take(&mut lanes).await;
        (self.source, self.warnings) = lanes.finish().await;
        end
    }

    /// Takes rows until the last pass ends.
    async fn take(&mut self, lanes: &mut Lanes<ChunkId>) -> Result<(), ForecastOutcome> {
        let model = self.model.clone();
        for (index, pass) in model.passes.iter().enumerate() {
            if pass.item_types.is_empty() {
                continue;
            }
            let progress = &self.progress;
            progress.pass(index, &pass.name, &pass.item_types, pass.estimated_rows);
            loop {
                let read = tokio::select! {
                    biased;
                    () = self.cancel.cancelled() => return Err(ForecastOutcome::Interrupted),
                    read = lanes.next() => read,
                };
                let failure = match read {
                    Some(Reading::Rows { rows, .. }) => match self.chunk(pass, rows) {
                        Ok(()) => continue,
                        Err(failure) => failure,
                    },
                    Some(Reading::End { end, .. }) => {
                        for index in &pass.item_types {
                            if let Some(books) = self.books.get_mut(*index) {
                                books.rows_read += end.left_out;
                                books.filtered += end.left_out;
                            }
                        }
                        break;
                    }
                    Some(Reading::Failed(error)) => Failure::from(&error),
                    // A single lane has no other connection to begin again with.
                    Some(Reading::Again { .. }) | None => {
                        Failure::internal("the reader ended without an answer")
                    }
                };
                return Err(ForecastOutcome::Failed(failure));
            }
        }
        Ok(())
    }

    fn chunk(&mut self, pass: &Pass, chunk: Chunk) -> Result<(), Failure> {
        let model = self.model.clone();
        for (column, left) in &chunk.left {
            for index in &pass.item_types {
                let embeds = self.embeds.get(*index);
                if embeds.is_some_and(|embeds| embeds.contains(column))
                    && let Some(books) = self.books.get_mut(*index)
                {
                    books.orphans += left.orphans;
                    books.cut += left.cut;
                }
            }
        }
        let rows = count(chunk.rows.len());
        for mut row in chunk.rows {
            for index in &pass.item_types {
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
                let mut elements = Elements::new(&item_type.explodes);
                let mut come: u64 = 0;
                while let Some(fate) = self.sieve.next(*index, &mut elements, &mut row) {
                    come += 1;
                    let key = row_key(item_type, &row);
                    match fate {
                        Fate::Made(folded) => self.made(*index, item_type, &folded, &key)?,
                        Fate::Expired(folded) => self.expired(*index, &folded),
                        Fate::Rejected(reject) => {
                            self.reject(&Rejected::new(*index, key, *reject))?;
                        }
                    }
                }
                if let Some(books) = self.books.get_mut(*index) {
                    books.empty += u64::from(come == 0);
                    books.expanded += come.saturating_sub(1);
                }
            }
        }
        for index in &pass.item_types {
            self.progress.rows(*index, rows);
            self.progress.written(*index, rows);
        }
        Ok(())
    }

    fn made(
        &mut self,
        index: usize,
        item_type: &ItemType,
        folded: &Folded,
        row: &RowKey,
    ) -> Result<(), Failure> {
        let size = count(folded.size);
        if let Some(books) = self.books.get_mut(index) {
            books.made += 1;
            books.bytes += size;
            books.write_units += folded.units;
            books.largest = books.largest.max(size);
            books.compressed += u64::from(!folded.compressed.is_empty());
        }
        let (table, folder) = (&self.model.table, &self.sieve.folder);
        let json = self
            .tally
            .add(table, folder, index, folded, || row_json(item_type, row));
        if let Some(proof) = &mut self.proof {
            let locator = locator(self.met, index);
            proof
                .push(folded.fingerprint, locator)
                .map_err(|error| proof_failure(&error))?;
        }
        self.met += 1;
        if let Some(sink) = &mut self.sink {
            let surveyed = Surveyed {
                item_type,
                item: &folded.item,
                json,
                size: folded.size,
                units: folded.units,
                row,
            };
            match unless_unwanted(sink.item(&surveyed)) {
                Ok(true) => {}
                Ok(false) => self.sink = None,
                Err(error) => return Err(sink_failure(error)),
            }
        }
        Ok(())
    }

    /// Counts a row whose item has expired and is not to be loaded.
    fn expired(&mut self, index: usize, folded: &Folded) {
        if let Some(books) = self.books.get_mut(index) {
            match folded.expired {
                Expired::Archive => books.archived += 1,
                Expired::Load | Expired::Skip => books.expired += 1,
            }
        }
    }

    fn reject(&mut self, reject: &Rejected) -> Result<(), Failure> {
        let mut met = 0;
        if let Some(books) = self.books.get_mut(reject.item_type) {
            books.reject(&reject.code, 1);
            met = books
                .rejects_by_code
                .get(&*reject.code)
                .copied()
                .unwrap_or(0);
        }
        if met <= NOTED {
            self.notes.push(note(&self.model, reject));
        }
        match &mut self.rejects {
            Some(rejects) => write(rejects, &self.model, reject),
            None => Ok(()),
        }
    }

    /// Compares the keys, and takes those that would be rejected out of the books.
    pub(super) async fn prove(&mut self, named: usize) -> Result<Found, ForecastOutcome> {
        let failed = |text| ForecastOutcome::Failed(Failure::internal(text));
        let Some(proof) = self.proof.take() else {
            return Err(failed("the keys were compared twice"));
        };
        let types = self.books.len();
        // Sorting and merging files takes a while, and must hold up neither signals nor progress.
        let task = tokio::task::spawn_blocking(move || prove(proof, types, named));
        let proved = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(ForecastOutcome::Interrupted),
            proved = task => proved,
        };
        let found = proved
            .map_err(|_| failed("the comparison of the keys died"))?
            .map_err(|error| ForecastOutcome::Failed(proof_failure(&error)))?;
        for (books, items) in self.books.iter_mut().zip(&found.by_type) {
            if *items > 0 {
                books.made = books.made.saturating_sub(*items);
                books.reject(DUPLICATE_KEY, *items);
            }
        }
        Ok(found)
    }

    pub(super) fn forecast(
        self,
        mut end: Option<ForecastOutcome>,
        found: Option<Found>,
        begun: Instant,
    ) -> Forecast {
        let mut rejects_file = None;
        if let Some(mut rejects) = self.rejects {
            match rejects.close(true) {
                Ok(path) => rejects_file = path,
                Err(failure) => end = Some(ForecastOutcome::Failed(failure)),
            }
        }
        let mut total = ItemTypeForecast::default();
        for books in &self.books {
            total.add(books);
        }
        let outcome = end.unwrap_or(ForecastOutcome::Complete);
        let collisions = found.map(|found| found.collisions);
        let mut forecast = Forecast {
            claims: vec![claim(&self.model, &outcome, collisions.as_ref())],
            outcome,
            table: self.model.table.name.clone(),
            total,
            sizes: Vec::new(),
            largest: Vec::new(),
            places: Vec::new(),
            collections: None,
            collisions: collisions.unwrap_or_default(),
            rejects: self.notes,
            rejects_file,
            import_bytes: 0,
            warnings: self.warnings,
            elapsed_seconds: begun.elapsed().as_secs_f64(),
            item_types: self.books,
        };
        self.tally.finish(&self.model, &mut forecast);
        forecast
    }
}

/// Writes a reject's line.
fn write(rejects: &mut LineFile, model: &Model, reject: &Rejected) -> Result<(), Failure> {
    let mut text = String::new();
    line(&mut text, model, reject);
    rejects.append_line(&text)
}

/// Whether no two items have one key, by the keys that were compared.
fn claim(model: &Model, outcome: &ForecastOutcome, collisions: Option<&Collisions>) -> Claim {
    let (verdict, because) = match (collisions, outcome) {
        (Some(found), _) if found.keys > 0 => (
            Verdict::Differs,
            format!("{} keys are shared by several items", found.keys),
        ),
        (Some(_), _) => (
            Verdict::Proved,
            "all keys were compared: no two items share one".to_owned(),
        ),
        (None, ForecastOutcome::Failed(failure)) => (Verdict::NotProved, failure.message.clone()),
        (None, _) => (
            Verdict::NotProved,
            "not compared: the reading was interrupted".to_owned(),
        ),
    };
    let example = collisions.and_then(|found| found.named.first());
    Claim {
        kind: ClaimKind::KeysDiffer,
        of: subject(model, None),
        verdict,
        because,
        facts: Vec::new(),
        example: example.map(|collision| collision.key.get().to_owned()),
    }
}

// Names the rows whose items share a key, by reading the same snapshot once more.
//
// The proof says which fingerprints came more than once. Rows do not come in the same order in
// every read of a snapshot, so they are found again by their keys, not by their places.

/// What to do about them.
const HELP: &str = "make the key template tell these rows apart, for example by a column of the primary \
                    key, or leave one of them out with `where`";
/// Rows of one key that the report names.
const ROWS: usize = 10;
/// Item types that a locator tells apart.
const TYPES: u64 = 1 << 16;

/// Where an item came from: when it was met, then its item type.
pub(super) fn locator(met: u64, item_type: usize) -> u64 {
    let item_type = u64::try_from(item_type).unwrap_or(TYPES - 1);
    met.saturating_mul(TYPES) | item_type.min(TYPES - 1)
}

fn item_type(locator: u64) -> usize {
    usize::try_from(locator % TYPES).unwrap_or(usize::MAX)
}

/// What the proof found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) collisions: Collisions,
    /// Items of each type that would be rejected.
    pub(super) by_type: Vec<u64>,
    /// The keys to be named: fingerprints and how many items have them, the first met first.
    wanted: Vec<(u128, u64)>,
}

/// Ends the proof. Counts everything; `named` keys, the first that were met, are to be named.
pub(super) fn prove(proof: Proof, types: usize, named: usize) -> Result<Found, ProofError> {
    let mut groups = proof.finish()?;
    let mut found = Found {
        collisions: Collisions {
            spilled_bytes: groups.spilled(),
            ..Collisions::default()
        },
        by_type: vec![0; types],
        wanted: Vec::new(),
    };
    let mut first: BinaryHeap<(u64, u128, u64)> = BinaryHeap::new();
    let by_type = &mut found.by_type;
    let mut count = |locator| {
        if let Some(items) = by_type.get_mut(item_type(locator)) {
            *items += 1;
        }
    };
    while let Some(group) = groups.next_group(1, &mut count)? {
        found.collisions.keys += 1;
        found.collisions.items += group.count - 1;
        let met = group.locators.first().copied().unwrap_or(u64::MAX);
        first.push((met, group.fingerprint, group.count));
        if first.len() > named {
            first.pop();
        }
    }
    let first = first.into_sorted_vec().into_iter();
    found.wanted = first.map(|(_, key, items)| (key, items)).collect();
    Ok(found)
}

/// A key whose rows are looked for.
#[derive(Default)]
struct Wanted {
    key: Option<String>,
    rows: Vec<(usize, RowKey)>,
}

impl Run {
    /// Reads again. What cannot be found, because the source failed or the caller ended it, stays
    /// unnamed. Every row but the first of each key goes to the rejects.
    pub(super) async fn name(&mut self, found: &mut Found) -> Result<(), Failure> {
        let keys = found.wanted.iter();
        let mut wanted: HashMap<u128, Wanted> =
            keys.map(|(key, _)| (*key, Wanted::default())).collect();
        let mut left: u64 = found.wanted.iter().map(|(_, items)| items).sum();
        let (model, plan) = (&self.model, Plan::whole(&self.model));
        let rejects = &mut self.rejects;
        let mut unwritten = None;
        let walk = Walk {
            model,
            folder: self.sieve.folder.clone(),
            plan: &plan,
            lanes: 1,
            cancel: &self.cancel,
        };
        let read = walk.each(&mut self.source, |index, row, fate| {
            if let (Fate::Made(folded), Some(item_type)) = (fate, model.item_types.get(index))
                && let Some(wanted) = wanted.get_mut(&folded.fingerprint)
            {
                left = left.saturating_sub(1);
                let row = row_key(item_type, row);
                if let (Some(rejects), Some(first)) = (&mut *rejects, wanted.rows.first()) {
                    let first = model.item_types.get(first.0).map(|item| (item, &first.1));
                    let reject = shares_key(model, index, row.clone(), first, HELP, &folded);
                    unwritten = write(rejects, model, &reject).err();
                }
                let key = || key_json(&model.table, &folded.item);
                wanted.key.get_or_insert_with(key);
                if wanted.rows.len() < ROWS {
                    wanted.rows.push((index, row));
                }
            }
            Ok(left > 0 && unwritten.is_none())
        });
        // What the source does not give stays unnamed.
        let _: Result<(), Unproved> = read.await;
        if let Some(unwritten) = unwritten {
            return Err(unwritten);
        }
        let keys = found.wanted.iter();
        let named =
            keys.filter_map(|(key, items)| Some(wanted.remove(key)?.collision(model, *items)));
        found.collisions.named = named.collect();
        Ok(())
    }
}

impl Wanted {
    fn collision(self, model: &Model, items: u64) -> Collision {
        let rows = self.rows.iter().filter_map(|(index, row)| {
            let item_type = model.item_types.get(*index)?;
            Some(SourceRow {
                item_type: item_type.name.to_string(),
                row: raw(row_json(item_type, row)),
            })
        });
        Collision {
            rows: rows.collect(),
            key: raw(self.key.unwrap_or_else(|| "null".to_owned())),
            items,
        }
    }
}
