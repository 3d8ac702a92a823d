//! Ends a load that was handed out: each chunk counts once, the keys of all workers are compared, and the books are
//! those of one load.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dynafold_format::{counted, counted_as, whole};
use dynafold_mapping::claim::{ClaimKind, ClaimSubject};
use dynafold_mapping::model::Model;
use dynafold_mapping::template::Context;
use dynafold_source::Source;
use dynafold_target::parts::{Compression, ItemLines, ItemTypeCount, Manifest, WrittenPart};
use dynafold_target::private;
use jiff::Timestamp;
use serde::Serialize;
use tokio::time::Duration;

use super::plan::{HandedPlan, consistency};
use super::result::{
    ChunkOutcome, DoneChunk, FailedChunk, JobLine, ResultLine, SharedKey, VERSION,
};
use crate::load::books::{Books, ttl_remarks};
use crate::load::claims::{SourceStates, claims};
use crate::load::ending::{Cancel, EndReason};
use crate::load::failure::{Failure, OutputFile};
use crate::load::feed::RowOutcome;
use crate::load::files::{clear_rejects, is_filled, refuse_unless};
use crate::load::handed::{KEY, digest};
use crate::load::prove::KeyPass;
use crate::load::rejects::{LINE_PREFIX, MAX_NOTED};
use crate::load::report::{
    KeyComparer, KeysReport, LimitedBy, NoProgress, Outcome, RemainingStale, Report, Traffic,
    WaitTimes, rate,
};
use crate::load::row::{RowKey, key_json, row_json, row_key};
use crate::load::scope::RunSelection;
use crate::load::{ItemAction, KeyCheck};
use crate::proof::{Proof, ProofOptions};

/// Shared keys that are named by their chunks; more are counted.
const NAMED: usize = 10_000;
/// Objects that one import from S3 takes (limits.md 43).
const MOST_PARTS: usize = 50_000;
/// Chunks that are named of a shared key.
const CHUNKS: usize = 8;

/// Why results cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum FinishError {
    /// When a result is of another plan.
    #[error("a result belongs to plan {found}, not to plan {run}")]
    OtherPlan {
        /// The plan of the result.
        found: String,
        /// This plan.
        run: String,
    },
    /// When a result is of a chunk that the plan does not have.
    #[error("the plan has no chunk {0}")]
    UnknownChunk(usize),
    /// When a worker has read another line than the plan's.
    #[error("the line of chunk {chunk} ({reads}) was changed before a worker loaded it")]
    OtherLine {
        /// The chunk's number in the plan.
        chunk: usize,
        /// The rows that it reads by the plan, for people.
        reads: String,
    },
    /// When another version has written a result.
    #[error("a result is of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// When two attempts at a chunk have made different items of one snapshot.
    #[error(
        "two results of chunk {chunk} ({reads}) differ, though both were read from one snapshot"
    )]
    Differ {
        /// The chunk's number in the plan.
        chunk: usize,
        /// The rows that it reads, for people.
        reads: String,
    },
    /// When chunks went to different places.
    #[error("chunks were loaded into different places: {0} and {1}")]
    Places(String, String),
    /// When the table was made anew between chunks, or is another one of its name.
    #[error(
        "chunks {0} and {1} were loaded into different tables of the same name: it was deleted and created again, or there are two accounts or two files"
    )]
    Tables(usize, usize),
    /// When the job has not compared the keys of all chunks.
    #[error("the job compared {}, but the chunks have {}: not every key was compared exactly once", counted(*compared, "key"), counted(*of, "key"))]
    KeysMiscounted {
        /// What it says.
        compared: u64,
        /// The keys of all chunks.
        of: u64,
    },
    /// When the keys of a chunk are not those of all its items.
    #[error("chunk {chunk} made {}, but its result has {}", counted(*made, "item"), counted(*keys, "key"))]
    ChunkKeys {
        /// The chunk's number in the plan.
        chunk: usize,
        /// Items that its rows were folded into.
        made: u64,
        /// Their keys, as its result or its file has them.
        keys: u64,
    },
    /// When a file of a chunk cannot be read.
    #[error("cannot read {}", path.display())]
    Unread {
        /// The file's path.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// When a file of a chunk is not what its worker wrote.
    #[error("the content of {} does not match the digest in its name", .0.display())]
    Altered(PathBuf),
    /// When an import does not take so many objects.
    #[error("the export has {0} parts, but an import takes at most {MOST_PARTS}")]
    TooManyParts(usize),
    /// When parts do not hold what the chunks have made.
    #[error("the parts hold {}, but the chunks made {made}", counted(*held, "item"))]
    Lost {
        /// Items of all parts.
        held: u64,
        /// Items that the chunks have made.
        made: u64,
    },
    /// When a file stands where rejects or archived items are gathered, and is not of an earlier `finish`.
    #[error("cannot replace {}", path.display())]
    OtherFile {
        /// The file's path.
        path: PathBuf,
        /// Why it is not replaced.
        #[source]
        cause: io::Error,
    },
    /// When an archive is there, and the results name no archived item: it would be taken for theirs.
    #[error("{} exists, but the results name no archived item", .0.display())]
    OlderArchive(PathBuf),
    /// When keys cannot be compared, or the report's files cannot be written.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// A chunk without a result.
#[derive(Debug, Clone, Serialize)]
pub struct MissingChunk {
    /// The chunk's number in the plan.
    pub chunk: usize,
    /// The rows that it reads, for people.
    pub reads: String,
    /// Why its last attempt has failed, where it is known.
    pub why: Option<FailedChunk>,
}

/// What the results of a plan come to.
#[derive(Debug, Serialize)]
pub struct Finished {
    /// The report of the load.
    #[serde(flatten)]
    pub report: Report,
    /// Chunks of the plan.
    pub chunks: u64,
    /// Results beyond the first of their chunks: they count once.
    pub repeated: u64,
    /// What is known of the state of the source that all chunks have read.
    pub consistency: String,
    /// Chunks without a result.
    pub missing: Vec<MissingChunk>,
    /// The first keys that several items have.
    pub shared_keys: Vec<SharedKey>,
    /// The manifest of an export that is complete: `None` where items share keys, chunks are missing, or they went into a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub export: Option<Manifest>,
    /// The parts of the manifest, as their workers wrote them.
    #[serde(skip)]
    pub written: Vec<WrittenPart>,
}

/// Takes the results of a plan.
pub struct Finish {
    plan: HandedPlan,
    done: BTreeMap<usize, Box<DoneChunk>>,
    failed: HashMap<usize, FailedChunk>,
    job: Option<JobLine>,
    repeated: u64,
    unread: u64,
    /// Chunks of which two attempts have made different items, where each has read a snapshot of its own.
    changed: u64,
    /// Chunks of which two attempts have made what looks the same, and have read the source in different states.
    reread: u64,
}

impl Finish {
    /// Results of a plan.
    pub fn of(plan: HandedPlan) -> Self {
        Self {
            plan,
            done: BTreeMap::new(),
            failed: HashMap::new(),
            job: None,
            repeated: 0,
            unread: 0,
            changed: 0,
            reread: 0,
        }
    }

    /// Takes a line: a result, or what the job says of the keys. One that cannot be read is counted: a worker that was
    /// killed may have left it.
    ///
    /// # Errors
    ///
    /// [`FinishError`] where it is of another plan, or of a line that is not the plan's, or says something else than another
    /// result of its chunk.
    pub fn take(&mut self, line: &str) -> Result<(), FinishError> {
        if line.trim().is_empty() {
            return Ok(());
        }
        if let Ok(job) = serde_json::from_str::<JobLine>(line) {
            self.same_plan(&job.run)?;
            self.job = Some(job);
            return Ok(());
        }
        let Ok(result) = serde_json::from_str::<ResultLine>(line) else {
            self.unread += 1;
            return Ok(());
        };
        if result.dynafold_result != VERSION {
            return Err(FinishError::Version(result.dynafold_result));
        }
        self.same_plan(&result.run)?;
        let Some(line) = self.plan.line(result.chunk) else {
            return Err(FinishError::UnknownChunk(result.chunk));
        };
        if result.line != line.hash() {
            return Err(FinishError::OtherLine {
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
            // The table of the later attempt is the one that is there.
            if moment(&done.ended) > moment(&first.ended) {
                self.done.insert(result.chunk, done);
            }
            return Ok(());
        }
        if first.is_same(&done) {
            // Rows of one size may have changed all the same.
            self.reread += u64::from(done.stamp != first.stamp);
            return Ok(());
        }
        if self.plan.facts.snapshot.is_some() {
            return Err(FinishError::Differ {
                chunk: result.chunk,
                reads: self.plan.reads(result.chunk).to_owned(),
            });
        }
        self.changed += 1;
        Ok(())
    }

    fn same_plan(&self, run: &str) -> Result<(), FinishError> {
        let this = self.plan.run();
        if run == this {
            return Ok(());
        }
        Err(FinishError::OtherPlan {
            found: run.to_owned(),
            run: this.to_owned(),
        })
    }

    /// Puts the results together. `folder`: where the chunks' files are. `rejects`, `archive`: where all rejects and archived
    /// items go. Blocks.
    ///
    /// # Errors
    ///
    /// [`FinishError`] where the results do not go together, or files cannot be read or written.
    pub fn end(
        self,
        folder: &Path,
        (rejects, archive): (&Path, &Path),
        proof: ProofOptions,
    ) -> Result<Finished, FinishError> {
        let place = self.place()?;
        let missing = self.missing();
        let mut shared = Vec::new();
        let keys = self.compared_keys(&missing, folder, proof, &mut shared)?;
        let files = |of: fn(&DoneChunk) -> Option<&String>, which, path: &Path| {
            let files = self.done.values().filter_map(|done| of(done));
            gather(folder, files, (which, path))
        };
        let rejects_file = files(|done| done.rejects.as_ref(), OutputFile::Rejects, rejects)?;
        let archive_file = files(|done| done.archive.as_ref(), OutputFile::Archive, archive)?;
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
            balanced: false,
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
        report.balanced = report.balances();
        let of = ClaimSubject {
            item_types: self.plan.facts.items.clone(),
            ..ClaimSubject::default()
        };
        let is_all_known = self.failed.is_empty() && self.unread == 0;
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
        let is_whole = report.outcome.is_finished() && report.balanced && report.keys.shared == 0;
        let Some(export) = facts.export.as_ref().filter(|_| is_whole) else {
            return Ok(None);
        };
        let parts: Vec<_> = written.iter().map(|one| one.part.clone()).collect();
        if parts.len() > MOST_PARTS {
            return Err(FinishError::TooManyParts(parts.len()));
        }
        let held: u64 = parts.iter().map(|part| part.items).sum();
        if held != report.total.written {
            return Err(FinishError::Lost {
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
            return Err(FinishError::Places(first.clone(), other.clone()));
        }
        let mut ids = self
            .done
            .iter()
            .map(|(chunk, done)| (*chunk, &done.table_id));
        let of_first = ids.next();
        let other = ids.find(|(_, id)| of_first.is_some_and(|(_, first)| *id != first));
        match of_first.zip(other) {
            Some(((first, _), (other, _))) => Err(FinishError::Tables(first, other)),
            None => Ok(first.clone()),
        }
    }

    /// What is known of the keys, where no chunk is missing.
    fn compared_keys(
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
        let keys = self.keys(folder, proof, shared)?;
        Ok(match self.plan.facts.export {
            // Nothing is overwritten before an import.
            Some(_) => KeysReport {
                shared: keys.overwritten,
                overwritten: 0,
                ..keys
            },
            None => keys,
        })
    }

    /// Compares the keys of all chunks, or takes what the job says of them.
    fn keys(
        &self,
        folder: &Path,
        proof: ProofOptions,
        shared: &mut Vec<SharedKey>,
    ) -> Result<KeysReport, FinishError> {
        let check = self.plan.facts.keys;
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
            *shared = job.shared_keys.iter().take(NAMED).cloned().collect();
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
        while let Some(group) = groups.next_group(CHUNKS, |_| {}).map_err(Failure::from)? {
            overwritten += group.count - 1;
            if shared.len() < NAMED {
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

    /// Whether the source says that no row changed between the plan and any result.
    fn is_unchanged(&self) -> bool {
        let stamp = &self.plan.facts.stamp;
        let mut done = self.done.values();
        let is_once = self.changed + self.reread == 0;
        stamp.is_some() && is_once && done.all(|done| done.stamp == *stamp)
    }

    /// What is known of the state of the source, and what is to be warned of.
    fn consistency(&self) -> (String, Vec<String>) {
        let facts = &self.plan.facts;
        let mut warnings = Vec::new();
        if self.unread > 0 {
            let lines = counted_as(
                self.unread,
                "line of the results is",
                "lines of the results are",
            );
            warnings.push(format!(
                "{lines} not readable: a worker that was killed may have left it; its chunk counts only if there is another result of it"
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
            let text = "each worker read a snapshot of its own, and the source says that no stored row changed between the plan and any result; what a worker wrote that failed or gave no result is not known";
            return (text.to_owned(), warnings);
        }
        let mut text = consistency(facts.dbms);
        if self.changed > 0 {
            text.push_str(&format!(
                ". {} loaded twice and found other rows the second time",
                counted_as(self.changed, "chunk was", "chunks were")
            ));
        }
        if self.reread > 0 {
            text.push_str(&format!(
                ". {} loaded again after the source had changed",
                counted_as(self.reread, "chunk was", "chunks were")
            ));
        }
        let mut sources: Vec<&str> = self.done.values().map(|done| &*done.source).collect();
        sources.sort_unstable();
        sources.dedup();
        if sources.len() > 1 {
            text.push_str(&format!(". Chunks were read from {}", sources.join(", ")));
        }
        warnings.push(format!(
            "{text}; `dynafold verify` finds what differs from the source"
        ));
        (text, warnings)
    }

    /// What chunks warn of, each once; not what each has counted, which is said once, for all.
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
        let began = done().filter_map(|done| moment(&done.began)).min();
        let ended = done().filter_map(|done| moment(&done.ended)).max();
        let elapsed = began.zip(ended).map(|(from, to)| to.duration_since(from));
        elapsed
            .and_then(|elapsed| Duration::try_from(elapsed).ok())
            .unwrap_or_default()
    }

    /// The load's clock: where nothing depends on it, when the first chunk began.
    fn now(&self) -> String {
        let began = self.done.values().map(|done| done.began.clone()).min();
        (self.plan.facts.now.clone()).or(began).unwrap_or_default()
    }

    /// What has limited the most rows.
    fn limited_by(&self) -> LimitedBy {
        let mut all: BTreeMap<LimitedBy, u64> = BTreeMap::new();
        for done in self.done.values() {
            *all.entry(done.limited_by).or_default() += done.rows;
        }
        let most = all.into_iter().max_by_key(|(_, rows)| *rows);
        most.map(|(limit, _)| limit).unwrap_or_default()
    }
}

/// Every item that a chunk has made has a key.
fn expect_keys(chunk: usize, done: &DoneChunk, keys: u64) -> Result<(), FinishError> {
    let made = done.made();
    if keys == made {
        return Ok(());
    }
    Err(FinishError::ChunkKeys { chunk, made, keys })
}

/// Adds the keys of a chunk to a comparison, each under the chunk's number.
fn push_keys(
    folder: &Path,
    name: &str,
    (chunk, done): (usize, &DoneChunk),
    all: &mut Proof,
) -> Result<(), FinishError> {
    let unread = |cause| FinishError::Unread {
        path: folder.join(name),
        cause,
    };
    let file = sealed(folder, name)?;
    let length = file.metadata().map_err(unread)?.len();
    expect_keys(chunk, done, length / whole(KEY))?;
    let mut reader = BufReader::new(file);
    let mut key = [0; KEY];
    for _ in 0..done.made() {
        reader.read_exact(&mut key).map_err(unread)?;
        let pushed = all.push(u128::from_be_bytes(key), whole(chunk));
        pushed.map_err(Failure::from)?;
    }
    Ok(())
}

/// Opens a file of a chunk, which holds what its name says.
fn sealed(folder: &Path, name: &str) -> Result<File, FinishError> {
    let path = folder.join(name);
    let opened = || -> io::Result<_> {
        let mut file = File::open(&path)?;
        let found = digest(&file)?;
        file.rewind()?;
        Ok((file, found))
    };
    match opened() {
        Ok((file, found)) if name.contains(&format!("-{found}.")) => Ok(file),
        Ok(_) => Err(FinishError::Altered(path)),
        Err(cause) => Err(FinishError::Unread { path, cause }),
    }
}

/// Bytes in which an archived item's first attribute is named.
const LONGEST_BEGINNING: u64 = 2_048;

/// How an archived item begins: the name of its partition key, and the type.
fn key_of_line(line: &str) -> &str {
    let key = line.find("\":{\"").map_or(0, |at| at + "\":{\"S\":".len());
    line.get(..key).unwrap_or_default()
}

/// Puts the lines of chunks into one file, in the order of the chunks, in the place of what an earlier run put there. `None` without
/// any: then earlier rejects are removed, and an earlier archive is refused: nothing else may hold its items.
fn gather<'f>(
    folder: &Path,
    files: impl Iterator<Item = &'f String>,
    (which, path): (OutputFile, &Path),
) -> Result<Option<PathBuf>, FinishError> {
    let mut files = files.peekable();
    let other = |cause| FinishError::OtherFile {
        path: path.to_owned(),
        cause,
    };
    if which == OutputFile::Rejects {
        let why = "it is not a rejects file";
        refuse_unless(LINE_PREFIX, why, path).map_err(other)?;
        clear_rejects(path)?;
    }
    if files.peek().is_none() {
        if which == OutputFile::Archive && is_filled(path).map_err(other)? {
            return Err(FinishError::OlderArchive(path.to_owned()));
        }
        return Ok(None);
    }
    let unwritten = |cause| Failure::File {
        which,
        path: path.to_owned(),
        cause,
    };
    if let (OutputFile::Archive, Some(first)) = (which, files.peek()) {
        let mut line = Vec::new();
        let read = sealed(folder, first)?.take(LONGEST_BEGINNING);
        BufReader::new(read)
            .read_until(b'\n', &mut line)
            .map_err(unwritten)?;
        let line = String::from_utf8_lossy(&line);
        let why = "it is not an archive of this table";
        refuse_unless(key_of_line(&line), why, path).map_err(other)?;
    }
    let mut options = private::options();
    let mut out = (options.write(true).create(true).truncate(true))
        .open(path)
        .map_err(unwritten)?;
    for name in files {
        io::copy(&mut sealed(folder, name)?, &mut out).map_err(unwritten)?;
    }
    out.flush().map_err(unwritten)?;
    out.sync_all().map_err(unwritten)?;
    Ok(Some(path.to_owned()))
}

fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

impl Finished {
    /// Names the rows that share keys, by reading their chunks again. `source` has its snapshot open: that of the plan where it is
    /// still held. What is named goes into the report's warnings, and the first into its claim.
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
        let pass = KeyPass {
            model,
            context,
            plan: &part,
            selection: &RunSelection::default(),
            rivals: &[],
            lanes: 1,
            options: ProofOptions::default(),
            max_rejects: None,
            cancel,
            progress: &NoProgress,
        };
        let mut first: HashMap<u128, (usize, RowKey)> = HashMap::new();
        let mut named = Vec::new();
        let mut slot = Some(source);
        let read = pass
            .walk(model)
            .each(&mut slot, |index, item_type, row, outcome| {
                let RowOutcome::Made(folded) = outcome else {
                    return Ok(ControlFlow::Continue(()));
                };
                if !wanted.contains(&folded.fingerprint) {
                    return Ok(ControlFlow::Continue(()));
                }
                let row = row_key(item_type, row);
                match first.get(&folded.fingerprint) {
                    None => {
                        first.insert(folded.fingerprint, (index, row));
                    }
                    Some((other, of)) => {
                        let of = model
                            .item_types
                            .get(*other)
                            .map(|other| format!("{} {}", other.name, row_json(other, of)));
                        named.push(format!(
                            "{} {} has the same key as {}: {}",
                            item_type.name,
                            row_json(item_type, &row),
                            of.unwrap_or_default(),
                            key_json(&model.table, &folded.item)
                        ));
                    }
                }
                Ok(if named.len() < MAX_NOTED {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            })
            .await;
        match read {
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
