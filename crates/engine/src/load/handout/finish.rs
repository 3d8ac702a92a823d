//! Ends a load that was handed out: each chunk counts once, the keys of all workers are compared, and the books of all
//! chunks become those of one load.

mod error;
mod files;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use dynafold_format::{counted_as, whole};
use dynafold_mapping::claim::{ClaimKind, ClaimSubject};
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::Model;
use dynafold_mapping::template::Context;
use dynafold_source::Source;
use dynafold_target::parts::{Compression, ItemLines, ItemTypeCount, Manifest, WrittenPart};
use jiff::Timestamp;
use serde::Serialize;
use tokio::time::Duration;

pub use self::error::FinishError;
use self::error::MAX_IMPORT_PARTS;
use self::files::{expect_keys, gather, push_keys};
use super::plan::{HandedPlan, consistency};
use super::result::{
    ChunkOutcome, DoneChunk, FailedChunk, FileLines, JobLine, ResultLine, SharedKey, VERSION,
};
use crate::load::books::{Books, ttl_remarks};
use crate::load::claims::{SourceStates, claims};
use crate::load::ending::{Cancel, EndReason};
use crate::load::failure::{Failure, OutputFile};
use crate::load::feed::{RowFeed, RowOutcome};
use crate::load::rejects::MAX_NOTED;
use crate::load::report::{
    KeyComparer, KeysReport, LimitedBy, Outcome, RemainingStale, Report, Traffic, WaitTimes, rate,
};
use crate::load::row::{key_json, row_json, row_key};
use crate::load::{ItemAction, KeyCheck};
use crate::proof::{Proof, ProofOptions};

/// Shared keys that are listed with their chunks; the others are only counted.
const MAX_LISTED_KEYS: usize = 10_000;
/// Chunks that are listed for a shared key.
const MAX_LISTED_CHUNKS: usize = 8;

/// A chunk without a result.
#[derive(Debug, Clone, Serialize)]
pub struct MissingChunk {
    /// The chunk's number in the plan.
    pub chunk: usize,
    /// The rows that it reads, for people.
    pub reads: String,
    /// Why its last attempt failed, if that is known.
    pub why: Option<FailedChunk>,
}

/// The outcome of all results of a plan.
#[derive(Debug, Serialize)]
pub struct Finished {
    /// The report of the load.
    #[serde(flatten)]
    pub report: Report,
    /// Chunks of the plan.
    pub chunks: u64,
    /// Results that repeat a chunk; each chunk counts once.
    pub repeated: u64,
    /// Whether all chunks read one state of the source, as far as that is known.
    pub consistency: String,
    /// Chunks without a result.
    pub missing: Vec<MissingChunk>,
    /// The first keys that items share.
    pub shared_keys: Vec<SharedKey>,
    /// The manifest of a complete export; `None` if items share keys, if chunks are missing, or for a load into a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub export: Option<Manifest>,
    /// The parts of the manifest, as their workers wrote them.
    #[serde(skip)]
    pub written: Vec<WrittenPart>,
}

impl Finished {
    /// Names the rows that share keys, by reading their chunks again. `source` has a snapshot open: the plan's, if that is
    /// still held. Adds the rows to the report's warnings, and the first pair to its claim.
    ///
    /// # Errors
    ///
    /// [`Failure`] where the source cannot be read.
    pub async fn name_rows(
        &mut self,
        plan: &HandedPlan,
        model: &Arc<Model>,
        context: &Context,
        source: Box<dyn Source>,
        cancel: &Cancel,
    ) -> Result<(), Arc<Failure>> {
        if !plan.share_fingerprints() {
            let failure = "this process and the workers compute different hashes of the same key";
            return Err(Arc::new(Failure::Internal(failure)));
        }
        let keys = self.shared_keys.iter();
        let wanted: HashSet<u128> = keys
            .filter_map(|shared| u128::from_str_radix(&shared.key, 16).ok())
            .collect();
        let concerned = |chunk: usize| {
            let mut keys = self.shared_keys.iter();
            keys.any(|shared| shared.chunks.contains(&chunk))
        };
        let part = plan.part(model, concerned);
        let feed = RowFeed {
            model,
            folder: Arc::new(Folder::new(model, context.clone())),
            plan: &part,
            lanes: 1,
            cancel,
        };
        let mut first: HashMap<u128, String> = HashMap::new();
        let mut named = Vec::new();
        let mut slot = Some(source);
        let read = feed.each(&mut slot, |_, item_type, row, outcome| {
            if let RowOutcome::Made(folded) = outcome
                && wanted.contains(&folded.fingerprint)
            {
                let row = row_json(item_type, &row_key(item_type, row));
                let row = format!("{} {row}", item_type.name);
                match first.entry(folded.fingerprint) {
                    Entry::Vacant(first) => {
                        first.insert(row);
                    }
                    Entry::Occupied(first) => named.push(format!(
                        "{row} has the same key as {}: {}",
                        first.get(),
                        key_json(&model.table, &folded.item)
                    )),
                }
            }
            Ok(if named.len() < MAX_NOTED {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        });
        match read.await {
            Ok(_) | Err(EndReason::Cancelled | EndReason::TooManyRejects) => {}
            Err(EndReason::Failed(failure)) => return Err(failure),
        }
        for claim in &mut self.report.claims {
            if claim.kind == ClaimKind::KeysDiffer {
                claim.example = named.first().cloned();
            }
        }
        self.report.warnings.extend(named);
        Ok(())
    }
}

/// The results of a plan, taken line by line and then put together.
pub struct PlanResults {
    plan: HandedPlan,
    done: BTreeMap<usize, Box<DoneChunk>>,
    failed: HashMap<usize, FailedChunk>,
    job: Option<JobLine>,
    repeated: u64,
    unreadable_lines: u64,
    /// Repeated results with other items than the first, each from a snapshot of its own.
    other_items: u64,
    /// Repeated results that look like the first, but are from another state of the source.
    other_states: u64,
}

impl PlanResults {
    /// No results yet.
    pub fn new(plan: HandedPlan) -> Self {
        Self {
            plan,
            done: BTreeMap::new(),
            failed: HashMap::new(),
            job: None,
            repeated: 0,
            unreadable_lines: 0,
            other_items: 0,
            other_states: 0,
        }
    }

    /// Takes a line: a result, or what the job says of the keys. A line that cannot be read is only counted, because a
    /// worker that was killed may have left it.
    ///
    /// # Errors
    ///
    /// [`FinishError`] where it is of another plan or of a changed line, or contradicts another result of its chunk.
    pub fn take(&mut self, line: &str) -> Result<(), FinishError> {
        if line.trim().is_empty() {
            return Ok(());
        }
        if let Ok(job) = serde_json::from_str::<JobLine>(line) {
            self.expect_plan(&job.run)?;
            self.job = Some(job);
            return Ok(());
        }
        let Ok(result) = serde_json::from_str::<ResultLine>(line) else {
            self.unreadable_lines += 1;
            return Ok(());
        };
        if result.dynafold_result != VERSION {
            return Err(FinishError::Version(result.dynafold_result));
        }
        self.expect_plan(&result.run)?;
        let Some(line) = self.plan.line(result.chunk) else {
            return Err(FinishError::UnknownChunk(result.chunk));
        };
        if result.line != line.hash() {
            return Err(FinishError::ChangedLine {
                chunk: result.chunk,
                reads: line.planned.reads,
            });
        }
        let done = match result.outcome {
            ChunkOutcome::Done(done) => done,
            ChunkOutcome::Failed(why) => {
                self.failed.insert(result.chunk, why);
                return Ok(());
            }
        };
        let Some(first) = self.done.get(&result.chunk) else {
            self.done.insert(result.chunk, done);
            return Ok(());
        };
        self.repeated += 1;
        if done.table_id != first.table_id {
            // The table of the later attempt is the one that exists now.
            if timestamp(&done.ended) > timestamp(&first.ended) {
                self.done.insert(result.chunk, done);
            }
            return Ok(());
        }
        if first.is_same(&done) {
            // Rows may still have changed without a change of size.
            self.other_states += u64::from(done.stamp != first.stamp);
            return Ok(());
        }
        if self.plan.facts.snapshot.is_some() {
            return Err(FinishError::ResultsDiffer {
                chunk: result.chunk,
                reads: self.plan.reads(result.chunk).to_owned(),
            });
        }
        self.other_items += 1;
        Ok(())
    }

    fn expect_plan(&self, run: &str) -> Result<(), FinishError> {
        let this = self.plan.run();
        if run == this {
            return Ok(());
        }
        Err(FinishError::OtherPlan {
            found: run.to_owned(),
            run: this.to_owned(),
        })
    }

    /// Puts the results together. `folder`: where the chunks' files are. `rejects`, `archive`: the files that all rejects and
    /// archived items are copied to. Blocks.
    ///
    /// # Errors
    ///
    /// [`FinishError`] where the results contradict each other, or files cannot be read or written.
    pub fn combine(
        self,
        folder: &Path,
        (rejects, archive): (&Path, &Path),
        proof: ProofOptions,
    ) -> Result<Finished, FinishError> {
        let place = self.place()?;
        let missing = self.missing();
        let mut shared = Vec::new();
        let mut keys = self.keys(&missing, folder, proof, &mut shared)?;
        if self.plan.facts.export.is_some() {
            // Nothing is overwritten before an import.
            (keys.shared, keys.overwritten) = (keys.overwritten, 0);
        }
        let files = |of: fn(&DoneChunk) -> FileLines<'_>, which, path: &Path| {
            let files = self.done.iter().map(|(chunk, done)| (*chunk, of(done)));
            gather(folder, files, (which, path))
        };
        let rejects_file = files(DoneChunk::rejects, OutputFile::Rejects, rejects)?;
        let archive_file = files(DoneChunk::archived, OutputFile::Archive, archive)?;
        let (consistency, mut warnings) = self.consistency();
        let books = self.books();
        let total = Books::sum(&books);
        let outcome = if !missing.is_empty() {
            Outcome::Failed(Arc::new(Failure::MissingChunks {
                missing: whole(missing.len()),
                of: whole(self.plan.len()),
            }))
        } else if total.rejected > self.plan.facts.max_rejects {
            Outcome::Stopped {
                reason: "there are more rejects than --max-rejects of the plan allows".to_owned(),
            }
        } else if keys.overwritten + keys.shared + total.rejected > 0 {
            Outcome::CompleteWithRejects
        } else {
            Outcome::Complete
        };
        warnings.extend(self.warnings());
        warnings.extend(keys.remarks());
        warnings.extend(ttl_remarks(&books));
        let elapsed = self.elapsed();
        let (mut rows, mut traffic, mut waits) = (0, Traffic::default(), WaitTimes::default());
        let mut throttled_by: BTreeMap<(String, String), u64> = BTreeMap::new();
        for done in self.done.values() {
            rows += done.rows;
            traffic.add(&done.traffic);
            waits.add(&done.waits);
            for (reason, of, times) in &done.throttled_by {
                *throttled_by
                    .entry((reason.clone(), of.clone()))
                    .or_default() += times;
            }
        }
        let notes = self.done.values().flat_map(|done| &done.notes);
        let mut report = Report {
            outcome,
            claims: Vec::new(),
            table: self.plan.facts.table.clone(),
            place,
            now: self.now(),
            doing: ItemAction::Put,
            resumed: false,
            keys,
            total,
            warnings,
            left: RemainingStale::default(),
            rejects: notes.take(MAX_NOTED).cloned().collect(),
            rejects_file,
            archive_file,
            traffic,
            throttled_by,
            waits,
            limited_by: self.limited_by(),
            elapsed_seconds: elapsed.as_secs_f64(),
            rows_per_second: rate(rows, elapsed),
            item_types: books,
        };
        let of = ClaimSubject {
            item_types: self.plan.facts.items.clone(),
            ..ClaimSubject::default()
        };
        let is_all_known = self.failed.is_empty() && self.unreadable_lines == 0;
        let states = if self.plan.facts.snapshot.is_some() || is_all_known && self.is_unchanged() {
            SourceStates::One
        } else {
            SourceStates::Many
        };
        report.claims = claims(&of, states, &report);
        let mut written: Vec<_> = (self.done.values())
            .flat_map(|done| done.parts.iter().cloned())
            .collect();
        written.sort_by(|one, other| one.part.file.cmp(&other.part.file));
        let export = self.manifest(&report, &written)?;
        Ok(Finished {
            export,
            written,
            report,
            chunks: whole(self.plan.len()),
            repeated: self.repeated,
            consistency,
            missing,
            shared_keys: shared,
        })
    }

    /// The manifest of an export that is complete.
    fn manifest(
        &self,
        report: &Report,
        written: &[WrittenPart],
    ) -> Result<Option<Manifest>, FinishError> {
        let facts = &self.plan.facts;
        let is_whole = report.outcome.is_finished() && report.balances() && report.keys.shared == 0;
        let Some(export) = facts.export.as_ref().filter(|_| is_whole) else {
            return Ok(None);
        };
        let parts: Vec<_> = written.iter().map(|one| one.part.clone()).collect();
        if parts.len() > MAX_IMPORT_PARTS {
            return Err(FinishError::TooManyParts(parts.len()));
        }
        let held: u64 = parts.iter().map(|part| part.items).sum();
        if held != report.total.written {
            return Err(FinishError::ItemsMiscounted {
                held,
                made: report.total.written,
            });
        }
        let types = report.item_types.iter().map(|books| ItemTypeCount {
            item_type: books.item_type.clone(),
            items: books.written,
        });
        Ok(Some(Manifest {
            version: Manifest::VERSION,
            table: facts.table.clone(),
            compression: Compression::default(),
            lines: ItemLines::default(),
            mapping: export.mapping.clone(),
            source: facts.source.clone(),
            stamp: facts.stamp.clone(),
            now: report.now.clone(),
            selection: facts.items.clone(),
            item_types: types.collect(),
            items: held,
            item_bytes: report.total.bytes,
            by_chunk: true,
            parts,
        }))
    }

    fn missing(&self) -> Vec<MissingChunk> {
        let missing = (0..self.plan.len()).filter(|chunk| !self.done.contains_key(chunk));
        let missing = missing.map(|chunk| MissingChunk {
            chunk,
            reads: self.plan.reads(chunk).to_owned(),
            why: self.failed.get(&chunk).cloned(),
        });
        missing.collect()
    }

    fn place(&self) -> Result<String, FinishError> {
        let mut places = self.done.values().map(|done| &done.place);
        let Some(first) = places.next() else {
            return Ok("an unknown place".to_owned());
        };
        if let Some(other) = places.find(|place| *place != first) {
            return Err(FinishError::DifferentPlaces(first.clone(), other.clone()));
        }
        let mut ids = self
            .done
            .iter()
            .map(|(chunk, done)| (*chunk, &done.table_id));
        let of_first = ids.next();
        let other = ids.find(|(_, id)| of_first.is_some_and(|(_, first)| *id != first));
        match of_first.zip(other) {
            Some(((first, _), (other, _))) => Err(FinishError::DifferentTables(first, other)),
            None => Ok(first.clone()),
        }
    }

    /// Compares the keys of all chunks, or takes what the job says of them. Nothing is known of them where chunks are missing.
    fn keys(
        &self,
        missing: &[MissingChunk],
        folder: &Path,
        proof: ProofOptions,
        shared: &mut Vec<SharedKey>,
    ) -> Result<KeysReport, FinishError> {
        let check = self.plan.facts.keys;
        if !missing.is_empty() || check == KeyCheck::Proved {
            return Ok(KeysReport {
                check,
                ..KeysReport::default()
            });
        }
        let not_compared = self.plan.facts.not_compared.clone();
        let mut of = 0;
        for (chunk, done) in &self.done {
            let keys = done.keys.as_ref().map_or(0, |file| file.keys);
            expect_keys(*chunk, done, keys)?;
            of += keys;
        }
        if let Some(job) = &self.job {
            let compared = job.keys_compared;
            if compared != of || job.distinct_keys > compared {
                return Err(FinishError::KeysMiscounted { compared, of });
            }
            *shared = job
                .shared_keys
                .iter()
                .take(MAX_LISTED_KEYS)
                .cloned()
                .collect();
            return Ok(KeysReport {
                check,
                compared,
                overwritten: compared - job.distinct_keys,
                compared_by: Some(KeyComparer::Job),
                not_compared,
                ..KeysReport::default()
            });
        }
        let mut all = Proof::new(proof);
        for (chunk, done) in &self.done {
            if let Some(keys) = &done.keys {
                push_keys(folder, &keys.file, (*chunk, done), &mut all)?;
            }
        }
        let (compared, mut overwritten) = (all.keys(), 0);
        let mut groups = all.finish().map_err(Failure::from)?;
        let spilled_bytes = groups.spilled();
        while let Some(group) = groups
            .next_group(MAX_LISTED_CHUNKS, |_| {})
            .map_err(Failure::from)?
        {
            overwritten += group.count - 1;
            if shared.len() < MAX_LISTED_KEYS {
                let chunks = group.locators.iter();
                let mut chunks: Vec<usize> = chunks
                    .filter_map(|chunk| usize::try_from(*chunk).ok())
                    .collect();
                chunks.dedup();
                shared.push(SharedKey {
                    key: format!("{:032x}", group.fingerprint),
                    items: group.count,
                    chunks,
                });
            }
        }
        Ok(KeysReport {
            check,
            compared,
            overwritten,
            spilled_bytes,
            compared_by: Some(KeyComparer::Finish),
            not_compared,
            ..KeysReport::default()
        })
    }

    /// Whether the source proves that no row changed between the plan and the last result.
    fn is_unchanged(&self) -> bool {
        let stamp = &self.plan.facts.stamp;
        let mut done = self.done.values();
        let is_once = self.other_items + self.other_states == 0;
        stamp.is_some() && is_once && done.all(|done| done.stamp == *stamp)
    }

    /// Whether all chunks read one state of the source, and the warnings about it.
    fn consistency(&self) -> (String, Vec<String>) {
        let facts = &self.plan.facts;
        let mut warnings = Vec::new();
        if self.unreadable_lines > 0 {
            let lines = counted_as(
                self.unreadable_lines,
                "line of the results is",
                "lines of the results are",
            );
            warnings.push(format!(
                "{lines} not readable, perhaps because a worker was killed: a chunk counts only if it has another result"
            ));
        }
        if facts.snapshot.is_some() {
            let text = "all chunks were read from one snapshot";
            if facts.stamp.is_some() {
                return (text.to_owned(), warnings);
            }
            // The source has no stamp where rows come from elsewhere, too.
            let text = format!(
                "{text}, but the database cannot tell whether it holds all that they read: foreign tables, and functions that read elsewhere, are not in it"
            );
            warnings.push(format!(
                "{text}; `dynafold verify` finds what differs from the source"
            ));
            return (text, warnings);
        }
        if self.is_unchanged() {
            let text = "each worker read a snapshot of its own, and the source says that no stored row changed between the plan and any result; what workers wrote that failed or gave no result is unknown";
            return (text.to_owned(), warnings);
        }
        let mut text = consistency(facts.dbms);
        if self.other_items > 0 {
            text.push_str(&format!(
                ". {} loaded twice and found other rows the second time",
                counted_as(self.other_items, "chunk was", "chunks were")
            ));
        }
        if self.other_states > 0 {
            text.push_str(&format!(
                ". {} loaded again after the source had changed",
                counted_as(self.other_states, "chunk was", "chunks were")
            ));
        }
        let mut sources: Vec<&str> = self.done.values().map(|done| &*done.source).collect();
        sources.sort_unstable();
        sources.dedup();
        if sources.iter().any(|source| *source != facts.source) {
            text.push_str(&format!(
                ". The plan is for {}, but chunks were read from {}",
                facts.source,
                sources.join(", ")
            ));
        }
        warnings.push(format!(
            "{text}; `dynafold verify` finds what differs from the source"
        ));
        (text, warnings)
    }

    /// The warnings of the chunks, each once. Warnings with counts are left out: one for the whole load replaces them.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for done in self.done.values() {
            let books: Vec<Books> = done.books.iter().map(|(_, books)| books.clone()).collect();
            let counted = ttl_remarks(&books);
            for warning in &done.warnings {
                if !counted.contains(warning) && !warnings.contains(warning) {
                    warnings.push(warning.clone());
                }
            }
        }
        warnings
    }

    /// The books of each item type, in the order of the mapping.
    fn books(&self) -> Vec<Books> {
        let mut all: BTreeMap<usize, Books> = BTreeMap::new();
        for (index, books) in self.done.values().flat_map(|done| &done.books) {
            all.entry(*index)
                .and_modify(|sum| sum.merge(books.clone()))
                .or_insert_with(|| books.clone());
        }
        all.into_values().collect()
    }

    /// From the beginning of the first chunk to the end of the last.
    fn elapsed(&self) -> Duration {
        let done = || self.done.values();
        let began = done().filter_map(|done| timestamp(&done.began)).min();
        let ended = done().filter_map(|done| timestamp(&done.ended)).max();
        let elapsed = began.zip(ended).map(|(from, to)| to.duration_since(from));
        elapsed
            .and_then(|elapsed| Duration::try_from(elapsed).ok())
            .unwrap_or_default()
    }

    /// The load's clock; if nothing depends on it, the time when the first chunk began.
    fn now(&self) -> String {
        let began = self.done.values().map(|done| done.began.clone()).min();
        (self.plan.facts.now.clone()).or(began).unwrap_or_default()
    }

    /// The limit that applied to the most rows.
    fn limited_by(&self) -> LimitedBy {
        let mut all: BTreeMap<LimitedBy, u64> = BTreeMap::new();
        for done in self.done.values() {
            *all.entry(done.limited_by).or_default() += done.rows;
        }
        let most = all.into_iter().max_by_key(|(_, rows)| *rows);
        most.map(|(limit, _)| limit).unwrap_or_default()
    }
}

fn timestamp(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}
