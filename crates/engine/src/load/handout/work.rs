//! Loads one chunk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dynafold_format::causes;
use dynafold_mapping::model::Model;
use dynafold_mapping::template::Context;
use dynafold_source::{Source, SourceIdentity};
use dynafold_target::Target;
use dynafold_target::parts::{
    Compression, ExportPlace, ItemLines, PartsJob, PartsOf, PartsPlan, Spool, WrittenPart,
};
use jiff::Timestamp;

use super::plan::ChunkLine;
use super::result::{ChunkOutcome, DoneChunk, FailedChunk, ResultLine};
use crate::load::ending::Cancel;
use crate::load::failure::{Failure, OutputFile};
use crate::load::handed::HandedChunk;
use crate::load::report::{Outcome, Progress, Report};
use crate::load::run::EndedLoad;
use crate::load::start::{ReadyTable, begin};
use crate::load::table::table_id;
use crate::load::{Load, LoadOptions};

/// What loads a chunk.
pub struct ChunkJob {
    /// The source; its snapshot is open.
    pub source: Box<dyn Source>,
    /// What [`Source::identity`] says of it, the stamp as a plan has it.
    pub identity: SourceIdentity,
    /// Where the items go.
    pub target: ChunkTarget,
    /// The mapping.
    pub model: Arc<Model>,
    /// What templates need besides the row.
    pub context: Context,
    /// How to load. What a plan says goes before it.
    pub options: LoadOptions,
    /// Where the chunk's files go.
    pub folder: PathBuf,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
}

/// Where the items of a chunk go.
#[derive(Clone)]
pub enum ChunkTarget {
    /// Into a table, which is there.
    Table(Arc<dyn Target>),
    /// Into parts of an export in S3.
    Export(ExportPlace),
}

/// What comes of an attempt at a chunk.
pub struct WorkedChunk {
    /// The answer; `None` where the caller has ended it.
    pub result: Option<ResultLine>,
    /// The source, where it is good for another chunk.
    pub source: Option<Box<dyn Source>>,
}

impl WorkedChunk {
    fn failed(line: &ChunkLine, why: Option<FailedChunk>) -> Self {
        Self {
            result: why.map(|why| ResultLine::of(line, ChunkOutcome::Failed(why))),
            source: None,
        }
    }
}

/// Loads a chunk. Never fails but in its result.
pub async fn work(line: &ChunkLine, job: ChunkJob) -> WorkedChunk {
    if !line.share_fingerprints() {
        let failed = FailedChunk {
            code: "plan".to_owned(),
            message: "this process has loaded chunks of another plan".to_owned(),
            causes: Vec::new(),
            help: Some("start another process for each plan".to_owned()),
        };
        return WorkedChunk::failed(line, Some(failed));
    }
    let (target, spool) = match job.target {
        ChunkTarget::Table(target) => (target, None),
        ChunkTarget::Export(place) => match ChunkSpool::open(place) {
            Ok(spool) => {
                let target: Arc<dyn Target> = Arc::new(spool.spool.clone());
                (target, Some(spool))
            }
            Err(failure) => {
                return WorkedChunk::failed(line, Some(FailedChunk::of(&failure)));
            }
        },
    };
    let table_id = match table_id(&*target, &job.model.table.name).await {
        Ok(id) => id,
        Err(error) => return WorkedChunk::failed(line, Some(FailedChunk::of(&error.into()))),
    };
    let attempt = ChunkAttempt {
        chunk: HandedChunk::new(
            line.chunk,
            line.planned.pass,
            line.planned.part.clone(),
            &job.folder,
        ),
        began: Timestamp::now(),
        place: target.place(),
        table_id,
        identity: job.identity,
        model: job.model.clone(),
    };
    // Names that no other attempt has: what is whole gets a name by what it holds.
    let own = format!(".{}-{:016x}", attempt.chunk.name, fastrand::u64(..));
    let beside = |ending: &str| job.folder.join(format!("{own}.{ending}"));
    let (rejects, archive) = (beside("rejects"), beside("archive"));
    let unfinished = beside("archive.part");
    let begun = begin(Load {
        source: Some(job.source),
        begun: true,
        target: target.clone(),
        model: job.model,
        context: job.context,
        options: LoadOptions {
            max_rejects: Some(line.plan.max_rejects),
            rejects_file: rejects.clone(),
            archive_file: archive.clone(),
            keys: line.plan.keys,
            readers: Some(1),
            handed: Some(attempt.chunk.clone()),
            ..job.options
        },
        cancel: job.cancel.clone(),
        progress: job.progress,
        state: None,
    })
    .await;
    let mut ended = Box::pin(begun.run_to_end(ReadyTable::default())).await;
    let source = ended.source.take();
    let well = match ended_well(&ended.report) {
        Ok(()) => attempt.same_table(&*target).await.map_err(Some),
        Err(why) => Err(why),
    };
    let done = match (well, spool) {
        (Err(why), _) => Err(why),
        (Ok(()), None) => Ok(attempt.done(ended, Vec::new())),
        (Ok(()), Some(spool)) => {
            let name = line.part_name();
            match spool.write_parts(name, &ended.report, &job.cancel).await {
                Ok(Some(parts)) => Ok(attempt.done(ended, parts)),
                Ok(None) => Err(None),
                Err(failure) => Ok(Err(failure)),
            }
        }
    };
    let outcome = match done {
        Ok(Ok(done)) => ChunkOutcome::Done(Box::new(done)),
        Ok(Err(failure)) => ChunkOutcome::Failed(FailedChunk::of(&failure)),
        Err(why) => {
            for file in [&rejects, &archive, &unfinished] {
                // Nobody counts it: what is left of it is rubbish.
                let _ = std::fs::remove_file(file);
            }
            return WorkedChunk::failed(line, why);
        }
    };
    WorkedChunk {
        result: Some(ResultLine::of(line, outcome)),
        source,
    }
}

/// Why a chunk is not loaded, where it is not; `None`: the caller has ended it.
fn ended_well(report: &Report) -> Result<(), Option<FailedChunk>> {
    match &report.outcome {
        Outcome::Complete | Outcome::CompleteWithRejects if report.balances() => Ok(()),
        Outcome::Complete | Outcome::CompleteWithRejects => {
            let failure = Failure::Internal("the books do not balance");
            Err(Some(FailedChunk::of(&failure)))
        }
        Outcome::Interrupted => Err(None),
        Outcome::Stopped { reason } => {
            let named = report.rejects.iter();
            let named =
                named.map(|note| format!("{} {}: {}", note.item_type, note.row, note.message));
            Err(Some(FailedChunk {
                code: "rejects".to_owned(),
                message: reason.clone(),
                causes: named.collect(),
                help: Some("correct the mapping or the rows and make a new plan; `plan --max-rejects N` allows N rejected rows".to_owned()),
            }))
        }
        Outcome::Failed(failure) => Err(Some(FailedChunk::of(failure))),
    }
}

/// The items of a chunk on their way into parts.
struct ChunkSpool {
    spool: Spool,
    place: ExportPlace,
    /// Where the spool is; it goes with this.
    _folder: tempfile::TempDir,
}

impl ChunkSpool {
    fn open(place: ExportPlace) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let shown = place.to_string();
        Ok(Self {
            spool: Spool::create_in(&folder.path().join("items"), Path::new(&shown))?,
            place,
            _folder: folder,
        })
    }

    /// Writes the parts, unless the export is complete already: an import would read them too. `None` where the caller has ended
    /// it.
    async fn write_parts(
        &self,
        name: String,
        report: &Report,
        cancel: &Cancel,
    ) -> Result<Option<Vec<WrittenPart>>, Failure> {
        self.place.check_unclosed().await?;
        let items = report.total.written;
        let parts = PartsJob {
            place: self.place.clone(),
            plan: PartsPlan::of_chunk(items, report.total.bytes),
            lines: ItemLines::default(),
            compression: Compression::default(),
            items,
            of: PartsOf::Chunk(name),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let writing = tokio::task::spawn_blocking({
            let (spool, stop) = (self.spool.clone(), stop.clone());
            move || spool.write_parts(&parts, &stop, &AtomicU64::new(0))
        });
        tokio::pin!(writing);
        let written = tokio::select! {
            written = &mut writing => written,
            () = cancel.cancelled() => {
                stop.store(true, Ordering::Relaxed);
                writing.await
            }
        };
        let written = written.map_err(|_| Failure::Internal("the writing of parts ended"))?;
        Ok(written?)
    }
}

/// An attempt at a chunk.
struct ChunkAttempt {
    chunk: HandedChunk,
    began: Timestamp,
    place: String,
    table_id: Option<String>,
    identity: SourceIdentity,
    model: Arc<Model>,
}

impl ChunkAttempt {
    /// Asks again which table it is that its items went into.
    async fn same_table(&self, target: &dyn Target) -> Result<(), FailedChunk> {
        let found = table_id(target, &self.model.table.name).await;
        if found.map_err(|error| FailedChunk::of(&error.into()))? == self.table_id {
            return Ok(());
        }
        Err(FailedChunk {
            code: "table".to_owned(),
            message: "the table was deleted and created again while the chunk was loaded"
                .to_owned(),
            causes: Vec::new(),
            help: Some("make a new plan, and load all of its chunks".to_owned()),
        })
    }

    /// What a load comes to that has ended well.
    fn done(self, ended: EndedLoad, parts: Vec<WrittenPart>) -> Result<DoneChunk, Failure> {
        let EndedLoad {
            report, keys, rows, ..
        } = ended;
        let sealed = |path: Option<&PathBuf>, which: OutputFile, kind: &str| {
            let sealed = path.map(|path| self.chunk.seal(path, kind));
            let failed = |cause| self.chunk.failed(which, cause);
            sealed.transpose().map_err(failed)
        };
        let rejects = sealed(
            report.rejects_file.as_ref(),
            OutputFile::Rejects,
            "rejects.ndjson",
        )?;
        let archive = sealed(
            report.archive_file.as_ref(),
            OutputFile::Archive,
            "archive.ndjson",
        )?;
        let own = self.chunk.item_types(&self.model);
        let books = report.item_types.into_iter().enumerate();
        let throttled = report.throttled_by.into_iter();
        Ok(DoneChunk {
            items: report.total.written,
            bytes: report.total.bytes,
            write_units: report.total.write_units,
            rejected: report.total.rejected,
            place: self.place,
            table_id: self.table_id,
            source: self.identity.name,
            stamp: self.identity.stamp,
            began: self.began.to_string(),
            ended: Timestamp::now().to_string(),
            rows,
            books: books.filter(|(index, _)| own.contains(index)).collect(),
            traffic: report.traffic,
            waits: report.waits,
            throttled_by: throttled
                .map(|((reason, of), times)| (reason, of, times))
                .collect(),
            limited_by: report.limited_by,
            keys,
            rejects,
            archive,
            parts,
            notes: report.rejects,
            warnings: report.warnings,
        })
    }
}

impl FailedChunk {
    fn of(failure: &Failure) -> Self {
        let message = failure.to_string();
        Self {
            code: failure.code().to_owned(),
            causes: causes(&message, std::error::Error::source(failure)),
            message,
            help: failure.help().map(str::to_owned),
        }
    }
}
