//! The run of a survey: takes rows in, and keeps the books.

use std::collections::{BinaryHeap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use dynafold_format::{count, counted_as, whole};
use dynafold_mapping::claim::{Claim, ClaimKind, ClaimVerdict};
use dynafold_mapping::forecast::ItemTypeForecast;
use dynafold_mapping::item::{DUPLICATE_KEY, Folded, Folder};
use dynafold_mapping::model::{Expired, ItemType, Model};
use dynafold_source::{Chunk, Source};
use tokio::time::Instant;

use super::forecast::{Collision, Collisions, Forecast, ForecastOutcome, SourceRow};
use super::survey::{ItemSink, Survey, SurveyTally, SurveyedItem, unless_unwanted};
use crate::load::{
    Cancel, ChunkId, ChunkPlan, ContestedKeys, EndReason, Failure, FeedEnd, LaneMessage, LineFile,
    Progress, RejectNote, Rejected, RowCounts, RowFeed, RowKey, RowOutcome, RowOutcomes, RunStep,
    SharingRow, add_fields, item_type_of, key_json, locator, names, not_compared, raw, reject_note,
    rivals, row_json, row_key, subject, write_reject_line,
};
use crate::proof::{Proof, ProofError};

/// Rejects of an item type and code that the report names.
const NOTED: u64 = 5;

/// Surveys and reports. Never fails but in its report.
pub async fn survey(survey: Survey) -> Forecast {
    let begun = Instant::now();
    let mut run = SurveyRun::new(&survey);
    run.sink = survey.items;
    let mut found = None;
    let mut why = run.read(survey.source).await.err();
    if why.is_none() {
        match run.prove(survey.named).await {
            Ok(proved) => why = run.name(found.insert(proved)).await.err(),
            Err(unproved) => why = Some(unproved),
        }
    }
    run.forecast(why, found, begun)
}

/// A survey that goes on.
struct SurveyRun {
    model: Arc<Model>,
    cancel: Cancel,
    progress: Arc<dyn Progress>,
    folder: Arc<Folder>,
    books: Vec<ItemTypeForecast>,
    tally: SurveyTally,
    proof: Option<Proof>,
    notes: Vec<RejectNote>,
    rejects: Option<LineFile>,
    sink: Option<Box<dyn ItemSink>>,
    /// The source, once its rows are read.
    source: Option<Box<dyn Source>>,
    /// What it has to say.
    warnings: Vec<String>,
}

impl SurveyRun {
    fn new(survey: &Survey) -> Self {
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
            folder: Arc::new(Folder::new(&model, survey.context.clone())),
            tally: SurveyTally::new(&model, &survey.patterns),
            proof: Some(Proof::new(survey.proof.clone())),
            notes: Vec::new(),
            rejects: survey.rejects_file.clone().map(LineFile::rejects),
            sink: None,
            source: None,
            warnings: Vec::new(),
            model,
        }
    }

    /// Opens the snapshot and takes in all rows.
    async fn read(&mut self, mut source: Box<dyn Source>) -> Result<(), EndReason> {
        let (model, cancel) = (self.model.clone(), self.cancel.clone());
        let scans = model.scans();
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(EndReason::Cancelled),
            begun = source.begin(&scans) => begun?,
        }
        let mut source = Some(source);
        let walk = RowFeed {
            model: &model,
            folder: self.folder.clone(),
            plan: &ChunkPlan::whole(&model),
            lanes: 1,
            cancel: &cancel,
        };
        let mut announced = None;
        let read = walk.read(&mut source, |pass, read| {
            if announced.replace(pass) != Some(pass) {
                self.announce_pass(pass);
            }
            self.take(pass, read)?;
            Ok(ControlFlow::Continue(()))
        });
        let read = read.await;
        self.warnings = source
            .as_ref()
            .map_or(Vec::new(), |source| source.warnings());
        self.source = source;
        if read? == FeedEnd::ConnectionLost {
            // A single lane has no other connection to begin again with.
            return Err(Failure::Internal("the reader ended without an answer").into());
        }
        if let Some(sink) = &mut self.sink {
            unless_unwanted(sink.finish()).map_err(Failure::Items)?;
        }
        Ok(())
    }

    /// Tells that a pass begins.
    fn announce_pass(&self, index: usize) {
        if let Some(pass) = self.model.passes.get(index) {
            let progress = &self.progress;
            progress.pass(index, &pass.name, &pass.item_types, pass.estimated_rows);
        }
    }

    /// Takes what is read of a pass.
    fn take(&mut self, pass: usize, read: LaneMessage<ChunkId>) -> Result<(), Failure> {
        let model = self.model.clone();
        let pass = model.passes.get(pass);
        let item_types = pass.map_or(&[][..], |pass| &pass.item_types);
        match read {
            LaneMessage::Rows(block) => self.rows(&model, item_types, block.rows),
            LaneMessage::End { end, .. } => {
                for index in item_types {
                    self.count(*index, &RowCounts::of_chunk_end(&model, *index, &end));
                }
                Ok(())
            }
            LaneMessage::Again { .. } | LaneMessage::Failed(_) => Ok(()),
        }
    }

    fn rows(&mut self, model: &Model, item_types: &[usize], chunk: Chunk) -> Result<(), Failure> {
        let rows = whole(chunk.rows.len());
        let folder = self.folder.clone();
        let mut outcomes = RowOutcomes::new(model, item_types, chunk, None);
        let mut taken = Ok(());
        while let Some((index, item_type, outcome)) = outcomes.next(&folder) {
            taken = match outcome {
                RowOutcome::Filtered => Ok(()),
                RowOutcome::Made(folded) => {
                    self.made(index, item_type, &folded, &outcomes.key(item_type))
                }
                RowOutcome::Expired(folded) => {
                    self.expired(index, &folded);
                    Ok(())
                }
                RowOutcome::Rejected(reject) => {
                    self.reject(&Rejected::new(index, outcomes.key(item_type), *reject))
                }
            };
            if taken.is_err() {
                break;
            }
        }
        for (index, counts) in outcomes.counts() {
            self.count(index, counts);
            self.progress.rows(index, rows);
            self.progress.written(index, rows);
        }
        taken
    }

    /// Counts what became of an item type's rows before they were items.
    fn count(&mut self, index: usize, counts: &RowCounts) {
        if let Some(books) = self.books.get_mut(index) {
            add_fields!(books += counts: rows_read, filtered, empty, expanded, orphans, cut);
        }
    }

    fn made(
        &mut self,
        index: usize,
        item_type: &ItemType,
        folded: &Folded,
        row: &RowKey,
    ) -> Result<(), Failure> {
        let size = whole(folded.size);
        if let Some(books) = self.books.get_mut(index) {
            books.made += 1;
            books.bytes += size;
            books.write_units += folded.units;
            books.largest = books.largest.max(size);
            books.compressed += u64::from(!folded.compressed.is_empty());
        }
        let (table, folder) = (&self.model.table, &self.folder);
        let json = self
            .tally
            .add(table, folder, index, folded, || row_json(item_type, row));
        if let Some(proof) = &mut self.proof {
            let locator = locator(index, item_type, row, &folded.item);
            proof.push(folded.fingerprint, locator)?;
        }
        if let Some(sink) = &mut self.sink {
            let surveyed = SurveyedItem {
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
                Err(error) => return Err(Failure::Items(error)),
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
            self.notes.push(reject_note(&self.model, reject));
        }
        match &mut self.rejects {
            Some(rejects) => write(rejects, &self.model, reject),
            None => Ok(()),
        }
    }

    /// Compares the keys, and takes those that would be rejected out of the books.
    async fn prove(&mut self, named: usize) -> Result<FoundCollisions, EndReason> {
        self.progress.step(RunStep::ComparingKeys);
        let Some(proof) = self.proof.take() else {
            return Err(Failure::Internal("the keys were compared twice").into());
        };
        let types = self.books.len();
        // Sorting and merging files takes a while, and must hold up neither signals nor progress.
        let task = tokio::task::spawn_blocking(move || prove(proof, types, named));
        let proved = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(EndReason::Cancelled),
            proved = task => proved,
        };
        let found = proved.map_err(|_| Failure::Internal("the comparison of the keys died"))??;
        for (books, items) in self.books.iter_mut().zip(&found.by_type) {
            if *items > 0 {
                books.made = books.made.saturating_sub(*items);
                books.reject(DUPLICATE_KEY, *items);
            }
        }
        Ok(found)
    }

    fn forecast(
        self,
        mut why: Option<EndReason>,
        found: Option<FoundCollisions>,
        begun: Instant,
    ) -> Forecast {
        let total = sum(&self.books);
        let (mut rejects_file, mut rejects_in_file, mut missing) = (None, 0, 0);
        if let Some(mut rejects) = self.rejects {
            rejects_in_file = rejects.lines;
            missing = total.rejected.saturating_sub(rejects.lines);
            match rejects.close(true) {
                Ok(path) => rejects_file = path,
                Err(failure) => why = Some(failure.into()),
            }
        }
        let outcome = match why {
            None => ForecastOutcome::Complete,
            Some(EndReason::Failed(failure)) => ForecastOutcome::Failed(failure),
            Some(EndReason::Cancelled | EndReason::TooManyRejects) => ForecastOutcome::Interrupted,
        };
        let collisions = found.map(|found| found.collisions);
        let left_out = names(&self.model, &rivals(&self.model));
        let mut warnings = self.warnings;
        if !left_out.is_empty() {
            warnings.push(format!(
                "{}, and `check` does not prove that they differ from those of the selected item types: `preview --all` without --items compares them",
                not_compared(&left_out)
            ));
        }
        if let Some(found) = &collisions
            && missing > 0
            && !matches!(outcome, ForecastOutcome::Failed(_))
        {
            warnings.push(not_in_file(missing, found));
        }
        let mut forecast = Forecast {
            claims: vec![claim(&self.model, &outcome, collisions.as_ref(), &left_out)],
            outcome,
            table: self.model.table.name.clone(),
            total,
            sizes: Vec::new(),
            largest: Vec::new(),
            wide: Vec::new(),
            places: Vec::new(),
            collections: None,
            collisions: collisions.unwrap_or_default(),
            rejects: self.notes,
            rejects_file,
            rejects_in_file,
            import_bytes: 0,
            warnings,
            elapsed_seconds: begun.elapsed().as_secs_f64(),
            item_types: self.books,
        };
        self.tally.finish(&self.model, &mut forecast);
        forecast
    }
}

/// A warning: how many rejected rows the rejects file lacks, and why.
fn not_in_file(missing: u64, found: &Collisions) -> String {
    let wanted = found.named.iter().map(|key| key.items.saturating_sub(1));
    let why = if missing == found.items.saturating_sub(wanted.sum()) {
        format!(
            "only the rows of the first {} shared keys were looked up",
            count(found.named.len())
        )
    } else {
        "the rows that share keys were not all read again".to_owned()
    };
    let rows = counted_as(missing, "rejected row is", "rejected rows are");
    format!("{rows} not in the rejects file: {why}")
}

/// What all item types come to.
fn sum(all: &[ItemTypeForecast]) -> ItemTypeForecast {
    let mut sum = ItemTypeForecast::default();
    for books in all {
        add_fields!(
            sum += books:
            rows_read, filtered, empty, expanded, orphans, cut, expired, archived, compressed,
            rejected, made, bytes, write_units
        );
        sum.largest = sum.largest.max(books.largest);
        for (code, count) in &books.rejects_by_code {
            *sum.rejects_by_code.entry(code.clone()).or_default() += count;
        }
    }
    sum
}

/// Writes a reject's line.
fn write(rejects: &mut LineFile, model: &Model, reject: &Rejected) -> Result<(), Failure> {
    let mut text = String::new();
    write_reject_line(&mut text, model, reject);
    rejects.append_line(&text)
}

/// Whether no two items have one key, by the keys that were compared. `left_out`: the item types that are not selected, and
/// whose keys may be among those.
fn claim(
    model: &Model,
    outcome: &ForecastOutcome,
    collisions: Option<&Collisions>,
    left_out: &[String],
) -> Claim {
    let shown = match (collisions, outcome) {
        (Some(found), _) if found.keys > 0 => (
            ClaimVerdict::Differs,
            format!(
                "{} by several items",
                counted_as(found.keys, "key is shared", "keys are shared")
            ),
        ),
        (Some(_), _) if !left_out.is_empty() => (ClaimVerdict::NotProved, not_compared(left_out)),
        (Some(_), _) => (
            ClaimVerdict::Proved,
            "all keys were compared: no two items share one".to_owned(),
        ),
        (None, ForecastOutcome::Failed(failure)) => (ClaimVerdict::NotProved, failure.to_string()),
        (None, _) => (
            ClaimVerdict::NotProved,
            "not compared: the reading was interrupted".to_owned(),
        ),
    };
    let example = collisions.and_then(|found| found.named.first());
    Claim {
        example: example.map(|collision| collision.key.get().to_owned()),
        ..Claim::new(ClaimKind::KeysDiffer, subject(model, None), shown)
    }
}

// Names the rows whose items share a key, by reading the same snapshot once more.
//
// The proof says which fingerprints came more than once. Rows do not come in the same order in
// every read of a snapshot, so they are found again by their keys, not by their places.

/// Rows of one key that the report names.
const ROWS: usize = 10;

/// What the proof found.
#[derive(Debug)]
struct FoundCollisions {
    collisions: Collisions,
    /// Items of each type that would be rejected.
    by_type: Vec<u64>,
    /// The keys to be named: fingerprints, how many items have them, and the locator of the row that a load takes.
    wanted: Vec<(u128, u64, u64)>,
}

/// Ends the proof. Counts everything; `named` keys, those of the first rows, are to be named.
fn prove(proof: Proof, types: usize, named: usize) -> Result<FoundCollisions, ProofError> {
    let mut groups = proof.finish()?;
    let mut found = FoundCollisions {
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
        if let Some(items) = by_type.get_mut(item_type_of(locator)) {
            *items += 1;
        }
    };
    while let Some(group) = groups.next_group(1, &mut count)? {
        found.collisions.keys += 1;
        found.collisions.items += group.count - 1;
        let loaded = group.locators.first().copied().unwrap_or(u64::MAX);
        first.push((loaded, group.fingerprint, group.count));
        if first.len() > named {
            first.pop();
        }
    }
    let first = first.into_sorted_vec().into_iter();
    found.wanted = first
        .map(|(loaded, key, items)| (key, items, loaded))
        .collect();
    Ok(found)
}

/// What was met of a key: its text, and its first rows, before them the one that a load takes.
#[derive(Default)]
struct CollidingKey {
    key: Option<String>,
    rows: Vec<(usize, RowKey)>,
}

impl SurveyRun {
    /// Reads again. What cannot be found, because the source failed or the caller ended it, stays
    /// unnamed. Every row but the one that a load takes goes to the rejects.
    async fn name(&mut self, found: &mut FoundCollisions) -> Result<(), EndReason> {
        if found.collisions.keys == 0 {
            return Ok(());
        }
        self.progress.step(RunStep::NamingDuplicates);
        let mut contest = ContestedKeys::default();
        for (key, _, loaded) in &found.wanted {
            contest.enter(*key, &[loaded << 1]);
        }
        let mut met: HashMap<u128, CollidingKey> = HashMap::new();
        let mut left: u64 = found.wanted.iter().map(|(_, items, _)| items).sum();
        let (model, plan) = (&self.model, ChunkPlan::whole(&self.model));
        let rejects = &mut self.rejects;
        let mut unwritten = None;
        let walk = RowFeed {
            model,
            folder: self.folder.clone(),
            plan: &plan,
            lanes: 1,
            cancel: &self.cancel,
        };
        let read = walk.each(&mut self.source, |index, item_type, row, outcome| {
            if let RowOutcome::Made(folded) = outcome
                && contest.is_contested(folded.fingerprint)
            {
                left = left.saturating_sub(1);
                let row = row_key(item_type, row);
                let at = locator(index, item_type, &row, &folded.item);
                let CollidingKey { key, rows } = met.entry(folded.fingerprint).or_default();
                key.get_or_insert_with(|| key_json(&model.table, &folded.item));
                let sharing = (index, row.clone(), folded);
                let (is_loaded, told) = contest.meet(at, rejects.is_some(), sharing);
                let place = if is_loaded { 0 } else { rows.len() };
                if place < ROWS {
                    rows.insert(place, (index, row));
                    rows.truncate(ROWS);
                }
                unwritten = reject(told, &contest, rejects.as_mut(), model).err();
            }
            Ok(if left > 0 && unwritten.is_none() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        });
        // What the source does not give stays unnamed.
        let _: Result<FeedEnd, EndReason> = read.await;
        let waiting = contest.take_waiting();
        unwritten = unwritten.or(reject(waiting, &contest, self.rejects.as_mut(), model).err());
        if let Some(unwritten) = unwritten {
            return Err(unwritten.into());
        }
        let keys = found.wanted.iter();
        let named = keys
            .map(|(key, items, _)| met.remove(key).unwrap_or_default().collision(model, *items));
        found.collisions.named = named.collect();
        if self.cancel.is_cancelled() {
            return Err(EndReason::Cancelled);
        }
        Ok(())
    }
}

/// Writes rows as rejects, where there is a file for them.
fn reject(
    rows: Vec<SharingRow>,
    contest: &ContestedKeys,
    file: Option<&mut LineFile>,
    model: &Model,
) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    for (index, row, folded) in rows {
        write(file, model, &contest.reject(model, index, row, &folded))?;
    }
    Ok(())
}

impl CollidingKey {
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
