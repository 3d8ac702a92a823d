//! `dynafold export`: the items as files, for `ImportTable` and other programs; and the comparison of such files with
//! the source.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;

use super::ending::ended;
use super::failure::Failure;
use super::format::{address, counted, counted_as};
use super::handed::stamped;
use super::mapping::WrittenMapping;
use super::options::{Format, RejectLimit, Service, SourceArguments, moment};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::{Outcome, files, mapping, progress, report, selection, target};
use crate::load::state::{self, Opened, ResumeMode, RunIdentity, State, StateError, StateLock};
use crate::load::{self, Cancel, KeyCheck, Load, LoadOptions, ReadyTable};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::source::{Source, SourceIdentity};
use crate::target::parts::{
    Compression, ExportPlace, IMPORT_TABLE, ItemLines, ItemTypeCount, Manifest, PartsJob, PartsOf,
    PartsPlan, PlaceContents, Spool, WrittenPart, import_table,
};
use crate::target::private::if_there;
use crate::target::s3::{Bucket, S3Location};
use crate::target::{ServiceOptions, TargetError};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold export shop.yaml --source postgres://app@db/shop --to shop-export
  dynafold export shop.yaml --source postgres://app@db/shop --to s3://my-bucket/shop
  dynafold export shop.yaml --source sqlite:shop.db --to shop-export --lines plain --compress none
  dynafold verify shop.yaml --source postgres://app@db/shop --against-export shop-export

It writes no table. Equal keys are refused before the first item is written, because an import overwrites them in silence.
An export that was interrupted, by Ctrl-C or a crash, resumes when the same command is started again.")]
#[command(
    mut_arg("endpoint_url", |arg| arg.help("The endpoint of a server that speaks S3's protocol")),
    mut_arg("max_rejects", |arg| arg.help("Export without the rows that make no item, if they are at most N; they are in the rejects file"))
)]
pub(super) struct Export {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// Where the export goes: a folder or `s3://BUCKET/PREFIX`; new, empty, or with an export that was interrupted
    #[arg(long, value_name = "PLACE")]
    to: String,
    #[command(flatten)]
    service: Service,
    /// How items are written: DynamoDB JSON, as imports from S3 read it, or plain JSON for people
    #[arg(long, value_name = "FORM", default_value = "dynamodb")]
    lines: LinesOption,
    /// How the parts are compressed
    #[arg(long, value_name = "HOW", default_value = "zstd")]
    compress: CompressOption,
    #[command(flatten)]
    reject_limit: RejectLimit,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    items: Vec<String>,
    /// Connections that read in parallel, on PostgreSQL [default: one per processor, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    readers: Option<u16>,
    /// Where items are gathered before they are sorted and uploaded to S3, uncompressed [default: .dynafold/ beside the
    /// mapping]
    #[arg(long, value_name = "FOLDER")]
    spool: Option<PathBuf>,
    /// Start over instead of resuming an interrupted export
    #[arg(long)]
    fresh: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompressOption {
    Zstd,
    Gzip,
    None,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LinesOption {
    Dynamodb,
    Plain,
}

/// Opens the place that a text names: `s3://…`, or a folder.
pub(super) async fn place(text: &str, service: &ServiceOptions) -> Result<ExportPlace, Failure> {
    if !text.starts_with("s3:") && address::check_file(text).is_err() {
        let message = format!(
            "a place is a folder or s3://BUCKET/PREFIX, not `{}`",
            address::shown(text)
        );
        return Err(Failure::usage(message)
            .with_help("a database is named by --source URL, an endpoint by --endpoint-url URL"));
    }
    if !text.starts_with("s3:") {
        if *service != ServiceOptions::default() {
            let message = "--endpoint-url, --profile and --region go with s3://BUCKET/PREFIX, not with a folder";
            return Err(Failure::usage(message));
        }
        return Ok(ExportPlace::Folder(PathBuf::from(text)));
    }
    let location = S3Location::parse(text).map_err(|error| Failure::of(&error).into_usage())?;
    Ok(ExportPlace::Bucket(Bucket::open(location, service).await?))
}

/// What an export is to do.
pub(super) struct ExportJob {
    /// The mapping file.
    pub(super) mapping: PathBuf,
    /// The URL of the source.
    pub(super) source: String,
    /// Where the files go.
    pub(super) place: ExportPlace,
    /// The folder of what is deleted when the export is complete.
    pub(super) unfinished: PathBuf,
    pub(super) lines: ItemLines,
    pub(super) compression: Compression,
    pub(super) now: Option<Timestamp>,
    /// Only these item types; all where there is none.
    pub(super) items: Vec<String>,
    pub(super) fresh: bool,
    pub(super) options: LoadOptions,
    pub(super) format: Format,
}

/// What came of an export.
pub(super) enum Exported {
    /// It is complete.
    Complete(Box<CompleteExport>),
    Not(Outcome),
}

/// An export that is complete.
pub(super) struct CompleteExport {
    pub(super) manifest: Manifest,
    pub(super) model: Arc<Model>,
    /// Rows that make no item.
    pub(super) rejected: u64,
}

impl Export {
    async fn job(&self) -> Result<ExportJob, Failure> {
        let place = place(&self.to, &self.service.options()).await?;
        if self.spool.is_some() && matches!(place, ExportPlace::Folder(_)) {
            return Err(Failure::usage(
                "--spool goes with s3://BUCKET/PREFIX: an export to a folder gathers its items in that folder",
            ));
        }
        let options = LoadOptions {
            max_rejects: Some(self.reject_limit.max_rejects),
            readers: self.readers.map(usize::from),
            ..LoadOptions::default()
        };
        let mut job = ExportJob {
            mapping: self.mapping.clone(),
            source: self.source.url()?.to_owned(),
            unfinished: unfinished(&place, &self.mapping, self.spool.as_deref()),
            options: beside(options, &place, &self.mapping),
            place,
            lines: match self.lines {
                LinesOption::Dynamodb => ItemLines::Dynamodb,
                LinesOption::Plain => ItemLines::Plain,
            },
            compression: match self.compress {
                CompressOption::Gzip => Compression::Gzip,
                CompressOption::Zstd => Compression::Zstd,
                CompressOption::None => Compression::None,
            },
            now: self.now,
            items: self.items.clone(),
            fresh: self.fresh,
            format: self.format,
        };
        job.options.keys = KeyCheck::First;
        Ok(job)
    }
}

/// The folder of what an export keeps until it is complete: in its own, or for S3 beside the mapping.
pub(super) fn unfinished(place: &ExportPlace, mapping: &Path, spool: Option<&Path>) -> PathBuf {
    match (place, spool) {
        (ExportPlace::Folder(folder), _) => folder.join("unfinished"),
        (ExportPlace::Bucket(bucket), spool) => {
            let state = state::default_path(mapping);
            let folder = spool.or(state.parent()).unwrap_or(Path::new("."));
            folder.join(format!("{}.export", own_name(bucket, mapping)))
        }
    }
}

/// What the files of an export to S3 are called on this machine: no export of the mapping into another place has it.
fn own_name(bucket: &Bucket, mapping: &Path) -> String {
    let hash = mapping::hash(bucket.whole_name().as_bytes());
    let stem = mapping.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{}", hash.get(..8).unwrap_or(&hash))
}

/// Deletes what an export keeps until it is complete: from its manifest on it is, even if a crash leaves this.
pub(super) fn clear_unfinished(folder: &Path) -> Result<(), Failure> {
    let deleted = if_there(fs::remove_dir_all(folder)).map(drop);
    deleted.map_err(|error| {
        Failure::failed(format!("cannot delete `{}`", folder.display())).with_cause(&error)
    })
}

/// The files of rejects and of the archive: in the folder of the export, or for S3 beside the mapping.
pub(super) fn beside(options: LoadOptions, place: &ExportPlace, mapping: &Path) -> LoadOptions {
    let file = |name: &str| match place {
        ExportPlace::Folder(folder) => folder.join(name),
        ExportPlace::Bucket(bucket) => {
            mapping.with_file_name(format!("{}.export-{name}", own_name(bucket, mapping)))
        }
    };
    LoadOptions {
        rejects_file: file("rejects.ndjson"),
        archive_file: file("archive.ndjson"),
        ..options
    }
}

impl ExportJob {
    fn spool(&self) -> PathBuf {
        self.unfinished.join("items")
    }

    fn state(&self) -> PathBuf {
        self.unfinished.join("state")
    }

    /// The manifest without parts, of an export whose items have all been read.
    fn loaded(&self) -> PathBuf {
        self.unfinished.join("loaded")
    }

    /// Which parts are in a bucket already.
    fn uploaded(&self) -> PathBuf {
        self.unfinished.join("uploaded")
    }

    /// How messages name the place.
    fn shown(&self) -> PathBuf {
        self.place.to_string().into()
    }

    /// What is in the place, unless that is not for this export.
    async fn look(&self) -> Result<PlaceContents, Failure> {
        let contents = self.place.contents().await?;
        let (is_begun, shown) = (self.is_begun()?, &self.place);
        let message = match (&contents, shown) {
            (PlaceContents::Export, _) if !is_begun => return Err(self.complete()),
            // Before its first upload there are no parts of its own.
            (PlaceContents::Parts, ExportPlace::Bucket(_))
                if !is_begun || !self.uploaded().exists() =>
            {
                let message = format!("`{shown}` holds parts of an export that was not begun here");
                return Err(Failure::failed(message).with_help(
                    "start it again where it was begun, with the same mapping file and --spool; or name another place",
                ));
            }
            (PlaceContents::Parts | PlaceContents::Others(_), ExportPlace::Folder(_))
                if !is_begun =>
            {
                format!("the folder `{shown}` is not empty")
            }
            (PlaceContents::Others(name), _) => {
                format!("`{shown}` holds `{name}`, which does not belong to an export")
            }
            _ => return Ok(contents),
        };
        Err(Failure::failed(message).with_help("name a new or empty place"))
    }

    /// Refuses a place in S3 into which another export has written since this one began. The lock of a folder is in it.
    async fn look_again(&self) -> Result<(), Failure> {
        match self.place {
            ExportPlace::Bucket(_) if self.look().await? == PlaceContents::Export => {
                Err(self.complete())
            }
            _ => Ok(()),
        }
    }

    /// Refuses parts that are not as they were written.
    async fn check_parts(
        &self,
        written: &[WrittenPart],
        manifest: &Manifest,
    ) -> Result<(), Failure> {
        let changes = match self.place {
            ExportPlace::Folder(_) => self.place.changes(manifest).await?,
            ExportPlace::Bucket(_) => self.place.changes_of(written).await?,
        };
        let Some(change) = changes.first() else {
            return Ok(());
        };
        let message = format!(
            "`{}` is not as this export has written it: {change}",
            self.place
        );
        Err(Failure::failed(message).with_help(
            "if another export writes to this place, end it; then start the same command again",
        ))
    }

    /// Whether the folder of what is unfinished is one that an export has made: by what only exports write, or it is empty.
    fn is_begun(&self) -> Result<bool, Failure> {
        let folder = &self.unfinished;
        let has_lock = state::is_held_or_was(&folder.join("export"));
        if has_lock.map_err(|error| no_state(error, self))? || read_loaded(self)?.is_some() {
            return Ok(true);
        }
        let entries = if_there(fs::read_dir(folder));
        let entries = entries.map_err(|error| Failure::unread("", folder, &error))?;
        Ok(entries.is_some_and(|mut entries| entries.next().is_none()))
    }

    fn complete(&self) -> Failure {
        let message = format!("`{}` holds an export that is complete", self.place);
        Failure::failed(message).with_help(
            "name another place, or delete this one; `dynafold verify --against-export` compares it with the source",
        )
    }

    /// Makes the folder of what is unfinished, and locks it: of two exports into one place, the second must not touch
    /// anything.
    fn lock(&self) -> Result<StateLock, Failure> {
        files::make_folder(&self.unfinished)?;
        state::hold(&self.unfinished.join("export")).map_err(|error| no_state(error, self))
    }

    /// Deletes the folder of what is unfinished.
    fn clean(&self, lock: StateLock) -> Result<(), Failure> {
        drop(lock);
        clear_unfinished(&self.unfinished)
    }
}

/// What items are made of: a checked mapping, and a source whose snapshot is open.
struct Making {
    source: Box<dyn Source>,
    identity: SourceIdentity,
    written: WrittenMapping,
    model: Arc<Model>,
    context: Context,
    keys: KeyCheck,
}

impl Making {
    async fn of(
        url: &str,
        path: &Path,
        items: &[String],
        now: Option<Timestamp>,
        output: &OutputStreams,
    ) -> Result<Self, Failure> {
        let (mut source, _, file) = mapping::open(url, path).await?;
        let keys = file.checked.key_check(KeyCheck::First);
        let written = file.written();
        let model = Arc::new(selection::item_types(file.into_model(output)?, items)?);
        let context = target::context(&model, now)?;
        source.begin(&model.scans()).await?;
        Ok(Self {
            identity: source.identity().await?,
            source,
            written,
            model,
            context,
            keys,
        })
    }

    /// Loads the spool.
    async fn load(
        self,
        spool: &Spool,
        options: LoadOptions,
        state: Option<Opened>,
        cancel: &Cancel,
    ) -> load::Report {
        let begun = load::begin(Load {
            source: Some(self.source),
            begun: true,
            target: Arc::new(spool.clone()),
            context: self.context,
            options: LoadOptions {
                keys: self.keys,
                ..options
            },
            cancel: cancel.clone(),
            progress: progress::progress(&self.model),
            model: self.model,
            state,
        })
        .await;
        // Without a journal, by which items of rows that have gone would be told: an export goes on only where none has.
        begun.run(ReadyTable::default()).await
    }
}

/// What is printed for programs.
#[derive(Serialize)]
struct ExportJson<'e> {
    #[serde(flatten)]
    manifest: &'e Manifest,
    rejected: u64,
    /// Where the rows are that make no item; `None` if there are none.
    rejects_file: Option<&'e Path>,
}

pub(super) async fn run(arguments: Export, output: &OutputStreams) -> Result<Outcome, Failure> {
    let job = Box::pin(arguments.job()).await?;
    let CompleteExport {
        manifest,
        model,
        rejected,
    } = match Box::pin(write(&job, &stop_on_signals(), output)).await? {
        Exported::Complete(export) => *export,
        Exported::Not(outcome) => return Ok(outcome),
    };
    // One that was killed in its last step: somebody may have taken its rejects away since.
    let rejects_file =
        Some(&*job.options.rejects_file).filter(|file| rejected > 0 && file.exists());
    let json = ExportJson {
        manifest: &manifest,
        rejected,
        rejects_file,
    };
    output.report(job.format, &json, |json| {
        report::export(json.manifest, &job.place)
    })?;
    if rejected > 0 {
        let are = if rejected == 1 { "it is" } else { "they are" };
        let place = rejects_file.map_or_else(
            || "the rejects file is gone".to_owned(),
            |file| format!("{are} in {}", file.display()),
        );
        let rows = counted(rejected, "rejected row");
        output.warning(&format!("complete but for {rows}; {place}"));
    }
    let (_, later) = import_table(&model.table, manifest.compression);
    if !later.is_empty() && job.lines != ItemLines::Plain {
        output.note(&format!(
            "ImportTable makes the table with its key, billing and global indexes; it does not set {}",
            later.join(", ")
        ));
    }
    Ok(Outcome::of(rejected == 0))
}

/// Writes the export, or what is left of it.
pub(super) async fn write(
    job: &ExportJob,
    cancel: &Cancel,
    output: &OutputStreams,
) -> Result<Exported, Failure> {
    job.look().await?;
    let making = Making::of(&job.source, &job.mapping, &job.items, job.now, output).await?;
    load::check_archive(&job.options.archive_file, &making.model)?;
    let lock = job.lock()?;
    let model = making.model.clone();
    if job.look().await? == PlaceContents::Export {
        // An earlier run was killed in its last step, or another has ended meanwhile.
        let manifest = Manifest::read(&job.place).await?;
        let identity = identity(job, &making);
        let is_its_own = |loaded: &LoadedItems| {
            let own = Manifest {
                compression: job.compression,
                // The identity has the time where it decides about items.
                now: manifest.now.clone(),
                parts: manifest.parts.clone(),
                ..loaded.manifest.clone()
            };
            !job.fresh && loaded.identity == identity && own == manifest
        };
        let loaded = read_loaded(job)?.filter(is_its_own);
        job.clean(lock)?;
        let rejected = loaded.ok_or_else(|| job.complete())?.rejected;
        return Ok(Exported::Complete(Box::new(CompleteExport {
            manifest,
            model,
            rejected,
        })));
    }
    let (spool, loaded) = match Box::pin(items(job, making, cancel, output)).await? {
        Loaded::All(spool, loaded) => (spool, *loaded),
        Loaded::Not(outcome) => return Ok(Exported::Not(outcome)),
        Loaded::Shared(items) => {
            return Err(Failure::failed(format!(
                "{} the key of another item: the rows changed after their keys had been compared, and the export is not complete",
                counted_as(items, "item has", "items have")
            ))
            .with_help("export again, from a source that does not change meanwhile or that has snapshots"));
        }
    };
    let LoadedItems {
        mut manifest,
        rejected,
        ..
    } = loaded;
    manifest.compression = job.compression;
    let items = manifest.items;
    let parts_job = PartsJob {
        place: job.place.clone(),
        plan: PartsPlan::of(items, manifest.item_bytes),
        lines: job.lines.clone(),
        compression: job.compression,
        items,
        of: PartsOf::Export(job.uploaded()),
    };
    let what = match job.place {
        ExportPlace::Folder(_) => "sorting and writing parts",
        ExportPlace::Bucket(_) => "sorting and uploading parts",
    };
    job.look_again().await?;
    let parts = sorting(what, items, cancel, {
        let spool = spool.clone();
        move |stop, done| spool.write_parts(&parts_job, stop, done)
    })
    .await?;
    let Some(parts) = parts else {
        output.note("start the same command again: it goes on with the parts");
        return Ok(Exported::Not(Outcome::Interrupted));
    };
    manifest.parts = parts.iter().map(|written| written.part.clone()).collect();
    job.look_again().await?;
    job.check_parts(&parts, &manifest).await?;
    if job.lines != ItemLines::Plain {
        let (request, _) = import_table(&model.table, job.compression);
        job.place.write_json(IMPORT_TABLE, &request).await?;
    }
    manifest.write(&job.place).await?;
    spool.delete()?;
    job.clean(lock)?;
    Ok(Exported::Complete(Box::new(CompleteExport {
        manifest,
        model,
        rejected,
    })))
}

/// What came of reading the items.
enum Loaded {
    /// All are in the spool.
    All(Spool, Box<LoadedItems>),
    Not(Outcome),
    /// So many items have the key of another one.
    Shared(u64),
}

/// What is kept between reading the items and writing the parts.
#[derive(Serialize, serde::Deserialize)]
struct LoadedItems {
    identity: RunIdentity,
    manifest: Manifest,
    rejected: u64,
    /// Bytes of its rejects and of its archive, where it has made them.
    files: [Option<u64>; 2],
}

impl LoadedItems {
    /// Whether its rejects and its archive are as long as they were.
    fn has_files(&self, job: &ExportJob) -> bool {
        let files = [&job.options.rejects_file, &job.options.archive_file];
        let mut files = files.into_iter().zip(self.files);
        files.all(|(path, bytes)| bytes.is_none() || bytes == length(path))
    }
}

/// Bytes of a file; `None` where there is none.
fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| found.len())
}

/// Reads the items into the spool, or finds that an earlier run has.
async fn items(
    job: &ExportJob,
    mut making: Making,
    cancel: &Cancel,
    output: &OutputStreams,
) -> Result<Loaded, Failure> {
    let (state, spool) = match begin(job, &mut making, output)? {
        Begun::Loading(state, spool) => (*state, spool),
        Begun::Loaded(spool, loaded) => return Ok(Loaded::All(spool, loaded)),
    };
    let identity = identity(job, &making);
    let now = making.context.now;
    let written = making.written.hash();
    let source = stamped(making.identity.clone(), &making.model);
    let table = making.model.table.name.clone();
    let loaded = job.loaded();
    let report = making
        .load(&spool, job.options.clone(), Some(state), cancel)
        .await;
    if !report.outcome.is_finished() || !report.balanced {
        if job.format == Format::Json {
            output.json(&report)?;
        } else {
            output.text(&report::migration(&report))?;
        }
        return ended(report, false, true, output).map(Loaded::Not);
    }
    if report.keys.overwritten > 0 {
        // The next run starts over.
        spool.delete()?;
        let state = job.state();
        fs::remove_file(&state).map_err(|error| Failure::unwritten(&state, &error))?;
        return Ok(Loaded::Shared(report.keys.overwritten));
    }
    output.warnings(&report.warnings);
    let total = &report.total;
    let manifest = Manifest {
        version: Manifest::VERSION,
        table,
        compression: Compression::default(),
        lines: job.lines.clone(),
        mapping: written,
        source: source.name,
        stamp: source.stamp,
        now: now.to_string(),
        selection: job.items.clone(),
        item_types: item_counts(&report),
        items: total.written,
        item_bytes: total.bytes,
        by_chunk: false,
        parts: Vec::new(),
    };
    let kept = LoadedItems {
        identity,
        manifest,
        rejected: total.rejected,
        files: [&report.rejects_file, &report.archive_file].map(|file| length(file.as_ref()?)),
    };
    let text = serde_json::to_vec(&kept).map_err(|error| Failure::of(&error))?;
    fs::write(&loaded, text).map_err(|error| Failure::unwritten(&loaded, &error))?;
    Ok(Loaded::All(spool, Box::new(kept)))
}

/// Items of each type.
fn item_counts(report: &load::Report) -> Vec<ItemTypeCount> {
    let books = report.item_types.iter();
    let counts = books.map(|books| ItemTypeCount {
        item_type: books.item_type.clone(),
        items: books.written,
    });
    counts.collect()
}

const CHANGED: &str = "starting over: the source has changed since the unfinished export, or cannot tell whether it has";

/// How reading the items begins.
enum Begun {
    Loading(Box<Opened>, Spool),
    /// An earlier run has read them all.
    Loaded(Spool, Box<LoadedItems>),
}

/// Opens the state and the spool: anew, or as an interrupted run has left them.
fn begin(job: &ExportJob, making: &mut Making, output: &OutputStreams) -> Result<Begun, Failure> {
    let mode = if job.fresh {
        ResumeMode::Fresh
    } else {
        ResumeMode::Resume
    };
    let identity = identity(job, making);
    let current = stamped(making.identity.clone(), &making.model).stamp;
    let resume = || Spool::resume(&job.spool(), &job.shown());
    let opened =
        State::open(&job.state(), &identity, mode).map_err(|error| no_state(error, job))?;
    let state = match opened {
        Opened::Again(mut state, earlier) => {
            let stamp = &making.identity.stamp;
            let same = |attempt: &load::state::RunAttempt| attempt.stamp == *stamp;
            let unchanged = current.is_some() && earlier.attempts.iter().all(same);
            if !job.fresh && (unchanged || earlier.attempts.is_empty()) {
                if let Some(now) = earlier.now().and_then(|now| now.parse().ok()) {
                    making.context.now = now;
                }
                output.note("resuming the unfinished export; --fresh would start over");
                let again = Opened::Again(state, earlier);
                return Ok(Begun::Loading(Box::new(again), resume()?));
            }
            if !job.fresh {
                output.note(CHANGED);
            }
            state.forget_attempts().map_err(load::Failure::from)?;
            state
        }
        Opened::New(state) => {
            if let Some(loaded) = read_loaded(job)?.filter(|_| !job.fresh) {
                let differences = identity.differences(&loaded.identity);
                if let Some(difference) = differences.first() {
                    output.note(&format!("starting over: {difference}"));
                } else if !loaded.has_files(job) {
                    output.note(
                        "starting over: its rejects or its archive have been changed or deleted",
                    );
                } else if current.is_some() && loaded.manifest.stamp == current {
                    output.note("all items were read; going on with the parts");
                    return Ok(Begun::Loaded(resume()?, Box::new(loaded)));
                } else {
                    output.note(CHANGED);
                }
            }
            state
        }
        Opened::Damaged(state, _) => state,
    };
    let spool = Spool::create_in(&job.spool(), &job.shown())?;
    // What an earlier run has read is gone, and its archive with it. One that a complete export has made stays.
    let archive = &job.options.archive_file;
    let loaded = read_loaded(job)?;
    let is_its_own = loaded.is_some_and(|loaded| loaded.files[1].is_some());
    if matches!(job.place, ExportPlace::Folder(_)) || is_its_own {
        files::delete(archive)?;
    }
    let unfinished_archive = archive.with_extension("ndjson.part");
    for file in [job.loaded(), unfinished_archive] {
        files::delete(&file)?;
    }
    let uploaded = job.uploaded();
    if uploaded.exists() {
        // What it has uploaded is still its own, and goes.
        fs::write(&uploaded, "").map_err(|error| Failure::unwritten(&uploaded, &error))?;
    }
    load::clear_rejects(&job.options.rejects_file)?;
    Ok(Begun::Loading(Box::new(Opened::New(state)), spool))
}

/// Why the state of an export cannot be used. It has no option of its own.
fn no_state(error: StateError, job: &ExportJob) -> Failure {
    let elsewhere = match job.place {
        ExportPlace::Folder(_) => "name another place with --to",
        ExportPlace::Bucket(_) => "name another folder with --spool",
    };
    let help = match error {
        StateError::Held { .. } => {
            "wait for the other export into this place, or end it".to_owned()
        }
        StateError::Differs { .. } => format!(
            "use the mapping, source and options of that export, start over with --fresh, or {elsewhere}"
        ),
        _ => format!("start over with --fresh, or {elsewhere}"),
    };
    Failure::from(load::Failure::from(error)).with_help(help)
}

/// What tells this export from another into the same folder.
fn identity(job: &ExportJob, making: &Making) -> RunIdentity {
    let mut identity = (making.written.identity())
        .plain("the source", &making.identity.name)
        .plain("the folder", job.place.to_string());
    if job.lines != ItemLines::default() {
        identity = identity.plain("--lines", format!("{:?}", job.lines));
    }
    if job.compression != Compression::default() {
        identity = identity.plain(
            "--compress",
            format!("{:?}", job.compression).to_lowercase(),
        );
    }
    if !job.items.is_empty() {
        identity = identity.plain("--items", job.items.join(", "));
    }
    if let Some(now) = job.now {
        identity = identity.plain("--now", now.to_string());
    }
    if let Some(secret) = &making.context.secret {
        identity = identity.with("the key of `pseudonym`", secret.check(), "a secret");
    }
    identity
}

fn read_loaded(job: &ExportJob) -> Result<Option<LoadedItems>, Failure> {
    let path = job.loaded();
    let text = if_there(fs::read(&path)).map_err(|error| Failure::unread("", &path, &error))?;
    // One that is not whole was being written when the run was killed: the items are read again.
    Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// Does what sorts the spool, on threads of its own, with a bar. `None` where it was stopped.
async fn sorting<T: Send + 'static>(
    what: &'static str,
    items: u64,
    cancel: &Cancel,
    work: impl FnOnce(&AtomicBool, &AtomicU64) -> Result<Option<T>, TargetError> + Send + 'static,
) -> Result<Option<T>, Failure> {
    let (stop, done) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let bar = progress::counted(what, items, done.clone());
    let (stopping, cancel) = (stop.clone(), cancel.clone());
    let watch = tokio::spawn(async move {
        cancel.cancelled().await;
        stopping.store(true, Ordering::Relaxed);
    });
    let result = tokio::task::spawn_blocking(move || work(&stop, &done)).await;
    watch.abort();
    drop(bar);
    let result =
        result.map_err(|_| Failure::failed("the sorting of the items ended unexpectedly"))?;
    Ok(result?)
}

/// Makes every item again and compares it with an export.
pub(super) async fn compare(
    path: &Path,
    url: &str,
    place: &ExportPlace,
    (format, examples): (Format, usize),
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let manifest = Manifest::read(place).await?;
    let now = manifest.now.parse().map_err(|error| {
        Failure::failed(format!("the manifest of `{place}` has no time")).with_cause(&error)
    })?;
    let making = Making::of(url, path, &manifest.selection, Some(now), output).await?;
    let (source, mapping) = (making.identity.name.clone(), making.written.hash());
    let temporary = tempfile::tempdir().map_err(|error| {
        Failure::failed("cannot make a temporary folder")
            .with_cause(&error)
            .with_help("set TMPDIR to a writable folder with room for all items")
    })?;
    let spool = Spool::create_in(&temporary.path().join("items"), temporary.path())?;
    let options = LoadOptions {
        max_rejects: None,
        rejects_file: temporary.path().join("rejects"),
        archive_file: temporary.path().join("archive"),
        ..LoadOptions::default()
    };
    let model = making.model.clone();
    let cancel = stop_on_signals();
    let report = making.load(&spool, options, None, &cancel).await;
    if !report.outcome.is_finished() || !report.balanced {
        return ended(report, false, false, output);
    }
    let (expected, shown) = (report.total.written, place.to_string());
    let table = model.table.clone();
    let compared = sorting("comparing items with parts", expected, &cancel, {
        let (spool, manifest, place) = (spool.clone(), manifest.clone(), place.clone());
        move |stop, done| spool.compare(&place, &manifest, &model.table, examples, stop, done)
    })
    .await?;
    let Some(mut comparison) = compared else {
        return Ok(Outcome::Interrupted);
    };
    let made = Manifest {
        table: table.name.clone(),
        item_types: item_counts(&report),
        item_bytes: report.total.bytes,
        ..manifest.clone()
    };
    let changed = &mut comparison.changed_parts;
    changed.extend(manifest.untruths(&made));
    changed.extend(place.changes(&manifest).await?);
    if !place.asks_for(&table, &manifest).await? {
        changed.push(format!("{IMPORT_TABLE} is not what the mapping says"));
    }
    changed.sort_unstable();
    changed.dedup();
    let found = report::ExportVerification {
        export: shown,
        exported_from: manifest.source,
        source,
        selection: manifest.selection,
        expected,
        rejected: report.total.rejected,
        comparison,
    };
    output.report(format, &found, report::export_verification)?;
    if found.exported_from != found.source {
        // The same rows may be asked for under another address.
        output.warning(&format!(
            "the manifest names the source {}, and the items were compared with {}",
            found.exported_from, found.source
        ));
    }
    if manifest.mapping != mapping {
        output.warning("the manifest is of another mapping file, or of other values of its environment variables; the items were compared with those of this one");
    }
    Ok(Outcome::of(
        found.comparison.is_equal() && found.rejected == 0,
    ))
}
