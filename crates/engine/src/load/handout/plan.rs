//! The lines of a plan: written, and read back whole.

use std::collections::BTreeMap;
use std::io::BufRead;

use dynafold_dynamodb::{DigestKey, share_fingerprints};
use dynafold_format::{counted, joined};
use dynafold_mapping::model::{Model, Pass};
use dynafold_relational::catalog::Dbms;
use dynafold_relational::scan::{Range, RangeKey};
use dynafold_source::{SharedSnapshot, Source, SourceError};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::super::KeyCheck;
use super::super::plan::{ChunkPart, ChunkPlan, names, rivals};

/// The format of the lines.
const VERSION: u32 = 2;

/// What is the same for all chunks of a plan. It holds no secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanFacts {
    /// A random number: no two plans have the same, so that no result of another plan counts.
    pub mark: String,
    /// The text of the mapping.
    pub mapping: String,
    /// A hash of what the mapping takes from the environment, the key of `pseudonym` too; `None`: nothing.
    pub environment: Option<String>,
    /// A hash of the tables that are read, as the user of the plan sees them.
    pub schema: String,
    /// The item types that are loaded, where these are not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// The table's name.
    pub table: String,
    /// The database, without user and password.
    pub source: String,
    /// Its product.
    pub dbms: Dbms,
    /// The snapshot that all workers read; `None`: each reads one of its own.
    pub snapshot: Option<SharedSnapshot>,
    /// A hash of what tells the state of the source, where the database can tell.
    pub stamp: Option<String>,
    /// The time that decides what has expired, in RFC 3339; `None` where nothing depends on it.
    pub now: Option<String>,
    /// How it is known that no two items have one key: by the schema, or by comparing the keys of all chunks.
    pub keys: KeyCheck,
    /// The item types that are left out and whose keys may be among those of the others: nobody compares them.
    /// [`HandedPlan::cut`] finds them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// Rejects that are allowed, in all chunks together.
    pub max_rejects: u64,
    /// Workers at one time, at most: each takes this share of the ceiling.
    pub slots: u32,
    /// The ceiling of all workers together, in write units a second.
    pub max_wcu: Option<u32>,
    /// Where the items go as files; `None`: into the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<PlannedExport>,
}

impl PlanFacts {
    /// A mark that no other plan has.
    pub fn new_mark() -> String {
        format!("{:032x}", fastrand::u128(..))
    }
}

/// An export in chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedExport {
    /// The place: `s3://BUCKET/PREFIX`.
    pub place: String,
    /// A hash of the mapping and of the values that it takes from the environment, as the manifest has it.
    pub mapping: String,
    /// What `ImportTable` is to be asked with.
    pub import_table: serde_json::Value,
}

/// A chunk of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedChunk {
    /// What it reads, for people.
    pub(super) reads: String,
    pub(super) pass: usize,
    pub(super) part: ChunkPart,
}

/// A chunk with all that a worker needs but credentials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkLine {
    /// The format of the line.
    dynafold_chunk: u32,
    /// What tells its plan from others: a hash of all its lines.
    pub run: String,
    /// Its number, from 0.
    pub chunk: usize,
    /// Chunks of the plan.
    pub of: usize,
    #[serde(flatten)]
    pub(super) planned: PlannedChunk,
    /// What it has in common with the others.
    pub plan: PlanFacts,
}

impl ChunkLine {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where it is none, or of another version.
    pub fn read(line: &str) -> Result<Self, PlanError> {
        let read: Self = serde_json::from_str(line).map_err(PlanError::NotAChunkLine)?;
        if read.dynafold_chunk == VERSION {
            Ok(read)
        } else {
            Err(PlanError::Version(read.dynafold_chunk))
        }
    }

    /// Has this process hash keys as all workers of the plan do: under a key that nobody knew before its snapshot was there.
    /// `false`: it hashes as another plan does.
    pub(super) fn share_fingerprints(&self) -> bool {
        share_fingerprints(digest_key(&self.run))
    }

    /// How the names of its parts begin: no other plan has it.
    pub(super) fn part_name(&self) -> String {
        format!(
            "{}-{:05}",
            self.run.get(..8).unwrap_or(&self.run),
            self.chunk
        )
    }

    /// What it reads, for people.
    pub fn reads(&self) -> &str {
        &self.planned.reads
    }

    /// A hash of all that it says, however its JSON is written.
    pub(super) fn hash(&self) -> String {
        let mut content = serde_json::to_value(self).unwrap_or_default();
        content.sort_all_objects();
        format!("{:032x}", xxh3_128(content.to_string().as_bytes()))
    }
}

/// Why lines are no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// When they cannot be read.
    #[error("cannot read the plan")]
    Unread(#[from] std::io::Error),
    /// When a line is not that of a chunk.
    #[error("a line was not written by `dynafold plan`")]
    NotAChunkLine(#[source] serde_json::Error),
    /// When another version has written it.
    #[error("the lines are of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// When there is none.
    #[error("the plan has no lines")]
    Empty,
    /// When lines are of several plans.
    #[error("the lines are of several plans: {0} and {1}")]
    Mixed(String, String),
    /// When lines are missing, or there are too many.
    #[error("the plan has {}, but {found} of them were given", counted(*of, "line"))]
    Lines {
        /// Those that there are.
        found: usize,
        /// Those that there should be.
        of: usize,
    },
    /// When a line is not as it was written.
    #[error("the lines have been changed since they were written")]
    Changed,
}

/// A load in chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedPlan {
    /// What its chunks have in common.
    pub facts: PlanFacts,
    run: String,
    pub(super) chunks: Vec<PlannedChunk>,
}

impl HandedPlan {
    /// Cuts a load into chunks of about `rows` rows; `None`: as the tables' sizes suggest. `source` has its snapshot open. The
    /// same facts, with the same mark, and the same snapshot give the same plan.
    ///
    /// # Errors
    ///
    /// [`SourceError`] where the source cannot be cut.
    pub async fn cut(
        source: &mut dyn Source,
        model: &Model,
        facts: PlanFacts,
        rows: Option<u64>,
    ) -> Result<Self, SourceError> {
        let mut plan = ChunkPlan::cut(source, model, rows).await?;
        if facts.snapshot.is_none() && !plan.covers(facts.dbms, &model.passes) {
            // Rows that lie elsewhere in the snapshot of a worker would be in no chunk.
            plan = ChunkPlan::whole(model);
        }
        let chunks = plan.chunks().map(|(id, part)| PlannedChunk {
            reads: (model.passes.get(id.pass)).map_or_else(String::new, |pass| reads(pass, part)),
            pass: id.pass,
            part: part.clone(),
        });
        let not_compared = names(model, &rivals(model));
        let facts = PlanFacts {
            not_compared,
            ..facts
        };
        Ok(Self::of(facts, chunks.collect()))
    }

    fn of(facts: PlanFacts, chunks: Vec<PlannedChunk>) -> Self {
        let whole = serde_json::to_vec(&(VERSION, &facts, &chunks)).unwrap_or_default();
        Self {
            run: format!("{:032x}", xxh3_128(&whole)),
            facts,
            chunks,
        }
    }

    /// Its lines.
    pub fn lines(&self) -> impl Iterator<Item = ChunkLine> {
        (0..self.len()).filter_map(move |chunk| self.line(chunk))
    }

    /// The line of a chunk; `None` where there is no such chunk.
    pub(super) fn line(&self, chunk: usize) -> Option<ChunkLine> {
        Some(ChunkLine {
            dynafold_chunk: VERSION,
            run: self.run.clone(),
            chunk,
            of: self.len(),
            planned: self.chunks.get(chunk)?.clone(),
            plan: self.facts.clone(),
        })
    }

    /// Reads lines back, in any order.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where they are not all lines of one plan, as they were written.
    pub fn read(lines: impl BufRead) -> Result<Self, PlanError> {
        let mut plan: Option<(Self, usize)> = None;
        let mut chunks = BTreeMap::new();
        for line in lines.lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let line = ChunkLine::read(&line)?;
            match &plan {
                Some((plan, _)) if plan.run != line.run => {
                    return Err(PlanError::Mixed(plan.run.clone(), line.run));
                }
                Some((plan, _)) if plan.facts != line.plan => return Err(PlanError::Changed),
                Some(_) => {}
                None => {
                    let facts = line.plan;
                    let (run, chunks) = (line.run, Vec::new());
                    plan = Some((Self { facts, run, chunks }, line.of));
                }
            }
            chunks.insert(line.chunk, line.planned);
        }
        let (plan, of) = plan.ok_or(PlanError::Empty)?;
        let found = chunks.len();
        if found != of || chunks.keys().next_back().is_none_or(|last| last + 1 != of) {
            return Err(PlanError::Lines { found, of });
        }
        let whole = Self::of(plan.facts, chunks.into_values().collect());
        if whole.run == plan.run {
            Ok(whole)
        } else {
            Err(PlanError::Changed)
        }
    }

    /// What tells it from other plans.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// See [`ChunkLine::share_fingerprints`].
    pub(super) fn share_fingerprints(&self) -> bool {
        share_fingerprints(digest_key(&self.run))
    }

    /// How many chunks it has.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Its chunks with these numbers, as a load reads them.
    pub(super) fn part(&self, model: &Model, wanted: impl Fn(usize) -> bool) -> ChunkPlan {
        let mut passes = vec![Vec::new(); model.passes.len()];
        for (chunk, planned) in self.chunks.iter().enumerate() {
            if let Some(parts) = passes.get_mut(planned.pass).filter(|_| wanted(chunk)) {
                parts.push(planned.part.clone());
            }
        }
        ChunkPlan { passes }
    }

    /// What a chunk reads, for people.
    pub fn reads(&self, chunk: usize) -> &str {
        let chunk = self.chunks.get(chunk);
        chunk.map_or("no chunk of the plan", |chunk| &chunk.reads)
    }
}

/// What keys are hashed under by all workers of a plan.
fn digest_key(run: &str) -> DigestKey {
    DigestKey::from(xxh3_128(run.as_bytes()).to_be_bytes())
}

/// What a part of a pass reads, for people.
fn reads(pass: &Pass, part: &ChunkPart) -> String {
    let name = &pass.name;
    let Range { by, after, to } = match part {
        ChunkPart::Whole => return name.clone(),
        ChunkPart::Orphans => {
            return format!("{name}: children whose parent is missing or not read");
        }
        ChunkPart::Range(range) => range,
    };
    let by = match by {
        RangeKey::Key(columns) => columns.join(", "),
        RangeKey::Place => "place on disk".to_owned(),
    };
    let bound =
        |word: &str, values: Option<&Vec<String>>| Some(format!("{word} {}", values?.join(", ")));
    let bounds = [bound("after", after.as_ref()), bound("up to", to.as_ref())];
    format!("{name}: {by} {}", joined(bounds.into_iter().flatten(), " "))
}

/// What is said of a load whose workers share no snapshot.
pub fn consistency(dbms: Dbms) -> String {
    let why = match dbms {
        Dbms::Postgres => "no snapshot is held for the workers",
        Dbms::Mysql | Dbms::Mariadb => {
            "MySQL and MariaDB cannot share one snapshot between workers"
        }
        Dbms::Sqlite => "SQLite cannot share one snapshot between workers",
    };
    format!(
        "{why}. If rows change during the load, the table may hold old or new versions of them, both, or neither, and items of deleted rows"
    )
}
