//! The run of a survey: takes rows in, and keeps the books.

use std::ops::ControlFlow;
use std::sync::Arc;

use dynafold_format::{count, counted_as, whole};
use dynafold_mapping::claim::{Claim, ClaimKind, ClaimVerdict};
use dynafold_mapping::forecast::ItemTypeForecast;
use dynafold_mapping::item::{DUPLICATE_KEY, Folded, Folder};
use dynafold_mapping::model::{Expired, ItemType, Model};
use dynafold_source::{Chunk, Source};
use tokio::time::Instant;

use super::collisions::FoundCollisions;
use super::forecast::{Collisions, Forecast, ForecastOutcome};
use super::survey::{ItemSink, Survey, SurveyTally, SurveyedItem, unless_unwanted};
use crate::load::{
    Cancel, ChunkId, ChunkPlan, EndReason, Failure, FeedEnd, LaneMessage, LineFile, Progress,
    RejectNote, Rejected, RowCounts, RowFeed, RowKey, RowOutcome, RowOutcomes, RunStep, add_fields,
    locator, names, not_compared, reject_note, rivals, row_json, subject,
};
use crate::proof::Proof;

/// Rejects of an item type and code that the report names.
const NAMED_REJECTS: u64 = 5;

/// Surveys and reports. What fails is in the report.
pub async fn survey(survey: Survey) -> Forecast {
    let begun = Instant::now();
    let mut run = SurveyRun::new(&survey);
    run.sink = survey.items;
    let ended = run.take_all(survey.source, survey.named).await;
    run.forecast(ended.err(), begun)
}

/// A survey under way.
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
    source_warnings: Vec<String>,
    /// What the proof found, once the keys are compared.
    found: Option<FoundCollisions>,
}

impl SurveyRun {
    fn new(survey: &Survey) -> Self {
        let model = survey.model.clone();
        let from = |item_type: usize| {
            let mut passes = model.passes.iter();
            let pass = passes.find(|pass| pass.item_types.contains(&item_type));
            pass.map(|pass| pass.name.clone()).unwrap_or_default()
        };
        let item_types = model.item_types.iter().enumerate();
        let books = item_types.map(|(index, item_type)| ItemTypeForecast {
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
            source_warnings: Vec::new(),
            found: None,
            model,
        }
    }

    async fn take_all(&mut self, source: Box<dyn Source>, named: usize) -> Result<(), EndReason> {
        self.read(source).await?;
        self.compare_keys(named).await?;
        self.name_rows().await
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
        let feed = RowFeed {
            model: &model,
            folder: self.folder.clone(),
            plan: &ChunkPlan::whole(&model),
            lanes: 1,
            cancel: &cancel,
        };
        let mut announced = None;
        let ended = feed
            .read(&mut source, |pass, message| {
                if announced.replace(pass) != Some(pass) {
                    self.announce_pass(pass);
                }
                self.take(pass, message)?;
                Ok(ControlFlow::Continue(()))
            })
            .await;
        self.source_warnings = source
            .as_ref()
            .map_or(Vec::new(), |source| source.warnings());
        self.source = source;
        if ended? == FeedEnd::ConnectionLost {
            // A single lane has no other connection to begin again with.
            return Err(Failure::Internal("the reader ended without an answer").into());
        }
        if let Some(sink) = &mut self.sink {
            unless_unwanted(sink.finish()).map_err(Failure::Items)?;
        }
        Ok(())
    }

    fn announce_pass(&self, index: usize) {
        if let Some(pass) = self.model.passes.get(index) {
            let progress = &self.progress;
            progress.pass(index, &pass.name, &pass.item_types, pass.estimated_rows);
        }
    }

    /// Takes what a lane says of a pass, by the pass's index.
    fn take(&mut self, pass: usize, message: LaneMessage<ChunkId>) -> Result<(), Failure> {
        let model = self.model.clone();
        let item_types = model
            .passes
            .get(pass)
            .map_or(&[][..], |pass| &pass.item_types);
        match message {
            LaneMessage::Rows(block) => self.take_rows(&model, item_types, block.rows),
            LaneMessage::End { end, .. } => {
                for index in item_types {
                    self.count(*index, &RowCounts::of_chunk_end(&model, *index, &end));
                }
                Ok(())
            }
            LaneMessage::Again { .. } | LaneMessage::Failed(_) => Ok(()),
        }
    }

    fn take_rows(
        &mut self,
        model: &Model,
        item_types: &[usize],
        chunk: Chunk,
    ) -> Result<(), Failure> {
        let rows = whole(chunk.rows.len());
        let folder = self.folder.clone();
        let mut outcomes = RowOutcomes::new(model, item_types, chunk, None);
        let mut taken = Ok(());
        while let Some((index, item_type, outcome)) = outcomes.next(&folder) {
            taken = match outcome {
                RowOutcome::Filtered => Ok(()),
                RowOutcome::Made(folded) => {
                    self.add_item(index, item_type, &folded, &outcomes.key(item_type))
                }
                RowOutcome::Expired(folded) => {
                    self.add_expired(index, &folded);
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

    fn add_item(
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
    fn add_expired(&mut self, index: usize, folded: &Folded) {
        if let Some(books) = self.books.get_mut(index) {
            match folded.expired {
                Expired::Archive => books.archived += 1,
                Expired::Load | Expired::Skip => books.expired += 1,
            }
        }
    }

    fn reject(&mut self, reject: &Rejected) -> Result<(), Failure> {
        let mut alike = 0;
        if let Some(books) = self.books.get_mut(reject.item_type) {
            books.reject(&reject.code, 1);
            alike = books
                .rejects_by_code
                .get(&*reject.code)
                .copied()
                .unwrap_or(0);
        }
        if alike <= NAMED_REJECTS {
            self.notes.push(reject_note(&self.model, reject));
        }
        match &mut self.rejects {
            Some(rejects) => rejects.append_reject(&self.model, reject),
            None => Ok(()),
        }
    }

    /// Compares the keys, and takes those that would be rejected out of the books.
    async fn compare_keys(&mut self, named: usize) -> Result<(), EndReason> {
        self.progress.step(RunStep::ComparingKeys);
        let Some(proof) = self.proof.take() else {
            return Err(Failure::Internal("the keys were compared twice").into());
        };
        let types = self.books.len();
        // Sorting and merging files takes a while, and must hold up neither signals nor progress.
        let task =
            tokio::task::spawn_blocking(move || FoundCollisions::of_proof(proof, types, named));
        let found = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(EndReason::Cancelled),
            joined = task => {
                joined.map_err(|_| Failure::Internal("the comparison of the keys died"))??
            }
        };
        for (books, items) in self.books.iter_mut().zip(&found.by_type) {
            if *items > 0 {
                books.made = books.made.saturating_sub(*items);
                books.reject(DUPLICATE_KEY, *items);
            }
        }
        self.found = Some(found);
        Ok(())
    }

    async fn name_rows(&mut self) -> Result<(), EndReason> {
        let Some(found) = &mut self.found else {
            return Ok(());
        };
        if found.collisions.keys == 0 {
            return Ok(());
        }
        self.progress.step(RunStep::NamingDuplicates);
        let feed = RowFeed {
            model: &self.model,
            folder: self.folder.clone(),
            plan: &ChunkPlan::whole(&self.model),
            lanes: 1,
            cancel: &self.cancel,
        };
        let rejects = self.rejects.as_mut();
        found.name_rows(feed, &mut self.source, rejects).await
    }

    fn forecast(self, mut why: Option<EndReason>, begun: Instant) -> Forecast {
        let total = total(&self.books);
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
        let collisions = self.found.map(|found| found.collisions);
        let left_out = names(&self.model, &rivals(&self.model));
        let mut warnings = self.source_warnings;
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
    let looked_up = found.named.iter().map(|key| key.items.saturating_sub(1));
    let why = if missing == found.items.saturating_sub(looked_up.sum()) {
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
fn total(all: &[ItemTypeForecast]) -> ItemTypeForecast {
    let mut total = ItemTypeForecast::default();
    for books in all {
        add_fields!(
            total += books:
            rows_read, filtered, empty, expanded, orphans, cut, expired, archived, compressed,
            rejected, made, bytes, write_units
        );
        total.largest = total.largest.max(books.largest);
        for (code, count) in &books.rejects_by_code {
            *total.rejects_by_code.entry(code.clone()).or_default() += count;
        }
    }
    total
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

#[cfg(test)]
mod tests {
    use super::super::forecast::Collision;
    use super::*;
    use crate::load::raw;

    #[test]
    fn a_warning_says_why_rejected_rows_are_not_in_the_file() {
        let named = Collision {
            key: raw("null".to_owned()),
            items: 3,
            rows: Vec::new(),
        };
        let found = Collisions {
            keys: 2,
            items: 5,
            named: vec![named],
            spilled_bytes: 0,
        };
        for (missing, why) in [
            (3, "only the rows of the first 1 shared keys were looked up"),
            (4, "the rows that share keys were not all read again"),
        ] {
            let begin = format!("{missing} rejected rows are not in the rejects file: ");
            assert_eq!(not_in_file(missing, &found), begin + why);
        }
    }
}
