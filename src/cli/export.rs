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
use super::identity::stamped;
use super::mapping::WrittenMapping;
use super::options::{Format, RejectLimit, Service, SourceArguments, moment};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::{Outcome, files, mapping, progress, report, selection, target};
use crate::load::state::{self, Opened, ResumeMode, RunIdentity, State, StateError};
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

It writes no table. It refuses equal keys before it writes the first item: an import would silently keep only one item of each key.
An export that was interrupted, by Ctrl-C or a crash, resumes when the same command is started again.")]
#[command(
    mut_arg("endpoint_url", |arg| arg.help("The endpoint of a server that speaks S3's protocol")),
    mut_arg("max_rejects", |arg| arg.help("Export the other rows if at most N rows make no item; those go to the rejects file"))
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

pub(super) struct ExportJob {
    /// The mapping file.
    pub(super) mapping: PathBuf,
    /// The URL of the source.
    pub(super) source: String,
    /// Where the files go.
    pub(super) place: ExportPlace,
    /// The folder of temporary files. It is deleted when the export is complete.
    pub(super) unfinished: PathBuf,
    pub(super) lines: ItemLines,
    pub(super) compression: Compression,
    pub(super) now: Option<Timestamp>,
    /// Only these item types; empty for all.
    pub(super) items: Vec<String>,
    pub(super) fresh: bool,
    pub(super) options: LoadOptions,
    pub(super) format: Format,
}

/// What came of an export, or so far of reading its items.
#[derive(Serialize, serde::Deserialize)]
pub(super) struct ExportResult {
    /// The manifest, without parts until they are written.
    pub(super) manifest: Manifest,
    /// Rows that make no item.
    pub(super) rejected: u64,
    /// Items of item types that are not exported, whose keys exported items have.
    pub(super) shared_outside: u64,
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

/// The folder of an export's temporary files: within the export's folder, or for S3 in `spool`, by default in the folder
/// of the mapping's state.
pub(super) fn unfinished(place: &ExportPlace, mapping: &Path, spool: Option<&Path>) -> PathBuf {
    match (place, spool) {
        (ExportPlace::Folder(folder), _) => folder.join("unfinished"),
        (ExportPlace::Bucket(bucket), spool) => {
            let state = state::default_path(mapping);
            let folder = spool.or(state.parent()).unwrap_or(Path::new("."));
            folder.join(format!("{}.export", local_name(bucket, mapping)))
        }
    }
}

/// The beginning of the names that an export to S3 gives to its local files. It differs between the places to which a
/// mapping is exported.
fn local_name(bucket: &Bucket, mapping: &Path) -> String {
    let hash = mapping::hash(bucket.whole_name().as_bytes());
    let stem = mapping.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{}", hash.get(..8).unwrap_or(&hash))
}

/// Deletes the folder of temporary files. The export is complete when its manifest is written: a crash may leave the folder.
pub(super) fn clear_unfinished(folder: &Path) -> Result<(), Failure> {
    let deleted = if_there(fs::remove_dir_all(folder)).map(drop);
    deleted.map_err(|error| {
        Failure::failed(format!("cannot delete `{}`", folder.display())).with_cause(&error)
    })
}

/// `options` with the files of rejects and of the archive: in the folder of the export, or for S3 beside the mapping.
pub(super) fn beside(options: LoadOptions, place: &ExportPlace, mapping: &Path) -> LoadOptions {
    let file = |name: &str| match place {
        ExportPlace::Folder(folder) => folder.join(name),
        ExportPlace::Bucket(bucket) => {
            mapping.with_file_name(format!("{}.export-{name}", local_name(bucket, mapping)))
        }
    };
    LoadOptions {
        rejects_file: file("rejects.ndjson"),
        archive_file: file("archive.ndjson"),
        ..options
    }
}

// What is in the folder of temporary files.

/// The lock of the folder.
const LOCK: &str = "export";
/// The spool.
const SPOOL: &str = "items";
/// The state of the load.
const STATE: &str = "state";
/// The file of [`LoadedItems`], which is written when all items have been read.
const LOADED: &str = "loaded";
/// The list of the parts that are in a bucket already.
const UPLOADED: &str = "uploaded";

impl ExportJob {
    /// How messages name the place.
    fn shown_place(&self) -> PathBuf {
        self.place.to_string().into()
    }

    /// What is in the place. Refuses a place that holds anything else than this export.
    async fn check_place(&self) -> Result<PlaceContents, Failure> {
        let contents = self.place.contents().await?;
        let (is_begun, place) = (self.is_begun()?, &self.place);
        let message = match (&contents, place) {
            (PlaceContents::Export, _) if !is_begun => return Err(self.already_complete()),
            // Without that file, this export has not uploaded any part.
            (PlaceContents::Parts, ExportPlace::Bucket(_))
                if !is_begun || !self.unfinished.join(UPLOADED).exists() =>
            {
                let message = format!("`{place}` holds parts of an export that was not begun here");
                return Err(Failure::failed(message).with_help(
                    "resume it on the machine that began it, with the same mapping file and --spool; or name another place",
                ));
            }
            (PlaceContents::Parts | PlaceContents::Others(_), ExportPlace::Folder(_))
                if !is_begun =>
            {
                format!("the folder `{place}` is not empty")
            }
            (PlaceContents::Others(name), _) => {
                format!("`{place}` holds `{name}`, which does not belong to an export")
            }
            _ => return Ok(contents),
        };
        Err(Failure::failed(message).with_help("name a new or empty place"))
    }

    /// Refuses a bucket in which another export was completed since this one began. A folder has a lock against that.
    async fn check_place_again(&self) -> Result<(), Failure> {
        match self.place {
            ExportPlace::Bucket(_) if self.check_place().await? == PlaceContents::Export => {
                Err(self.already_complete())
            }
            _ => Ok(()),
        }
    }

    /// Refuses parts that have changed since they were written.
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
            "`{}` has changed since this export wrote it: {change}",
            self.place
        );
        Err(Failure::failed(message).with_help(
            "if another export writes to this place, end it; then start the same command again",
        ))
    }

    /// Whether an export made the folder of temporary files: it holds a file that only exports write, or it is empty.
    fn is_begun(&self) -> Result<bool, Failure> {
        let folder = &self.unfinished;
        let has_lock = state::is_held_or_was(&folder.join(LOCK));
        if has_lock.map_err(|error| state_failure(error, self))? || read_loaded(self)?.is_some() {
            return Ok(true);
        }
        let entries = if_there(fs::read_dir(folder));
        let entries = entries.map_err(|error| Failure::unread("", folder, &error))?;
        Ok(entries.is_some_and(|mut entries| entries.next().is_none()))
    }

    fn already_complete(&self) -> Failure {
        let message = format!("`{}` holds an export that is complete", self.place);
        Failure::failed(message).with_help(
            "name another place, or delete this one; `dynafold verify --against-export` compares it with the source",
        )
    }
}

/// A checked mapping, and a source whose snapshot is open.
struct OpenInputs {
    source: Box<dyn Source>,
    identity: SourceIdentity,
    written: WrittenMapping,
    model: Arc<Model>,
    context: Context,
    keys: KeyCheck,
}

impl OpenInputs {
    async fn open(
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

    /// Makes all items and writes them into the spool.
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
        // Without a journal, which tells the items of rows that have gone: an export resumes only if the source has not
        // changed.
        begun.run(ReadyTable::default()).await
    }
}

/// The report for programs.
#[derive(Serialize)]
struct ExportJson<'e> {
    #[serde(flatten)]
    manifest: &'e Manifest,
    rejected: u64,
    shared_outside: u64,
    /// The file of the rejected rows; `None` if there are none, or if the file is gone.
    rejects_file: Option<&'e Path>,
}

pub(super) async fn run(arguments: Export, output: &OutputStreams) -> Result<Outcome, Failure> {
    let job = Box::pin(arguments.job()).await?;
    let written = Box::pin(write(&job, &stop_on_signals(), output)).await?;
    let Some((result, model)) = written else {
        return Ok(Outcome::Interrupted);
    };
    let (manifest, rejected) = (&result.manifest, result.rejected);
    let shared_outside = result.shared_outside;
    // If an earlier run was killed in its last step, its rejects file may have been deleted since.
    let rejects_file =
        Some(&*job.options.rejects_file).filter(|file| rejected > 0 && file.exists());
    let json = ExportJson {
        manifest,
        rejected,
        shared_outside,
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
    if shared_outside > 0 {
        let items = counted_as(
            shared_outside,
            "item that was not selected has",
            "items that were not selected have",
        );
        output.warning(&format!("complete, but {items} the key of an exported one"));
    }
    let (_, later) = import_table(&model.table, manifest.compression);
    if !later.is_empty() && job.lines != ItemLines::Plain {
        output.note(&format!(
            "ImportTable makes the table with its key, billing and global indexes; it does not set {}",
            later.join(", ")
        ));
    }
    Ok(Outcome::of(rejected + shared_outside == 0))
}

/// Writes the export, or the rest of one that was interrupted. `None` if it was interrupted again.
pub(super) async fn write(
    job: &ExportJob,
    cancel: &Cancel,
    output: &OutputStreams,
) -> Result<Option<(ExportResult, Arc<Model>)>, Failure> {
    job.check_place().await?;
    let inputs = OpenInputs::open(&job.source, &job.mapping, &job.items, job.now, output).await?;
    load::check_archive(&job.options.archive_file, &inputs.model)?;
    // Of two exports into one place, the second must not touch anything.
    files::make_folder(&job.unfinished)?;
    let lock =
        state::hold(&job.unfinished.join(LOCK)).map_err(|error| state_failure(error, job))?;
    let model = inputs.model.clone();
    if job.check_place().await? == PlaceContents::Export {
        // An earlier run was killed in its last step, or another export has been completed meanwhile.
        let manifest = Manifest::read(&job.place).await?;
        let identity = identity(job, &inputs);
        let is_its_own = |loaded: &LoadedItems| {
            let own = Manifest {
                compression: job.compression,
                // The identity has --now. Without it, each run has another time.
                now: manifest.now.clone(),
                parts: manifest.parts.clone(),
                ..loaded.result.manifest.clone()
            };
            !job.fresh && loaded.identity == identity && own == manifest
        };
        let loaded = read_loaded(job)?.filter(is_its_own);
        drop(lock);
        clear_unfinished(&job.unfinished)?;
        let loaded = loaded.ok_or_else(|| job.already_complete())?;
        let result = ExportResult {
            manifest,
            ..loaded.result
        };
        return Ok(Some((result, model)));
    }
    let loaded = Box::pin(load_items(job, inputs, cancel, output)).await?;
    let Some((spool, mut result)) = loaded else {
        return Ok(None);
    };
    let manifest = &mut result.manifest;
    manifest.compression = job.compression;
    let items = manifest.items;
    let parts_job = PartsJob {
        place: job.place.clone(),
        plan: PartsPlan::of(items, manifest.item_bytes),
        lines: job.lines.clone(),
        compression: job.compression,
        items,
        of: PartsOf::Export(job.unfinished.join(UPLOADED)),
    };
    let what = match job.place {
        ExportPlace::Folder(_) => "sorting and writing parts",
        ExportPlace::Bucket(_) => "sorting and uploading parts",
    };
    job.check_place_again().await?;
    let parts = run_sorting(what, items, cancel, {
        let spool = spool.clone();
        move |stop, done| spool.write_parts(&parts_job, stop, done)
    })
    .await?;
    let Some(parts) = parts else {
        output.note("start the same command again: it resumes with the parts");
        return Ok(None);
    };
    manifest.parts = parts.iter().map(|written| written.part.clone()).collect();
    job.check_place_again().await?;
    job.check_parts(&parts, manifest).await?;
    if job.lines != ItemLines::Plain {
        let (request, _) = import_table(&model.table, job.compression);
        job.place.write_json(IMPORT_TABLE, &request).await?;
    }
    manifest.write(&job.place).await?;
    spool.delete()?;
    drop(lock);
    clear_unfinished(&job.unfinished)?;
    Ok(Some((result, model)))
}

/// The result of reading all items, kept in a file until the parts are written.
#[derive(Serialize, serde::Deserialize)]
struct LoadedItems {
    identity: RunIdentity,
    #[serde(flatten)]
    result: ExportResult,
    /// Bytes of the rejects file and of the archive; `None` for one that was not made.
    files: [Option<u64>; 2],
}

impl LoadedItems {
    /// Whether the rejects file and the archive have the same lengths as before.
    fn has_same_files(&self, job: &ExportJob) -> bool {
        let files = [&job.options.rejects_file, &job.options.archive_file];
        let mut files = files.into_iter().zip(self.files);
        files.all(|(path, bytes)| bytes.is_none() || bytes == file_length(path))
    }
}

/// Bytes of a file; `None` if there is none.
fn file_length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| found.len())
}

/// Reads the items into the spool, unless an earlier run has. `None` if it was interrupted.
async fn load_items(
    job: &ExportJob,
    mut inputs: OpenInputs,
    cancel: &Cancel,
    output: &OutputStreams,
) -> Result<Option<(Spool, ExportResult)>, Failure> {
    let (state, spool) = match begin(job, &mut inputs, output)? {
        Begun::Loading(state, spool) => (*state, spool),
        Begun::Loaded(spool, loaded) => return Ok(Some((spool, loaded.result))),
    };
    let identity = identity(job, &inputs);
    let now = inputs.context.now;
    let mapping = inputs.written.hash();
    let source = stamped(inputs.identity.clone(), &inputs.model);
    let table = inputs.model.table.name.clone();
    let report = inputs
        .load(&spool, job.options.clone(), Some(state), cancel)
        .await;
    if !report.outcome.is_finished() || !report.balances() {
        output.report(job.format, &report, report::migration)?;
        // Any other end is a failure.
        ended(report, false, Some("reads all rows again"), output)?;
        return Ok(None);
    }
    if report.keys.overwritten > 0 {
        // The next run starts over.
        spool.delete()?;
        let state = job.unfinished.join(STATE);
        fs::remove_file(&state).map_err(|error| Failure::unwritten(&state, &error))?;
        return Err(Failure::failed(format!(
            "{} the key of another item: the rows changed after all keys had been found to differ, and the export is not complete",
            counted_as(report.keys.overwritten, "item has", "items have")
        ))
        .with_help("export again, from a source that does not change meanwhile or that has snapshots"));
    }
    output.warnings(&report.warnings);
    let total = &report.total;
    let manifest = Manifest {
        version: Manifest::VERSION,
        table,
        compression: Compression::default(),
        lines: job.lines.clone(),
        mapping,
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
    let loaded = LoadedItems {
        identity,
        result: ExportResult {
            manifest,
            rejected: total.rejected,
            shared_outside: report.keys.shared_outside,
        },
        files: [&report.rejects_file, &report.archive_file].map(|file| file_length(file.as_ref()?)),
    };
    let file = job.unfinished.join(LOADED);
    let text = serde_json::to_vec(&loaded).map_err(|error| Failure::of(&error))?;
    fs::write(&file, text).map_err(|error| Failure::unwritten(&file, &error))?;
    Ok(Some((spool, loaded.result)))
}

fn item_counts(report: &load::Report) -> Vec<ItemTypeCount> {
    let books = report.item_types.iter();
    let counts = books.map(|books| ItemTypeCount {
        item_type: books.item_type.clone(),
        items: books.written,
    });
    counts.collect()
}

const SOURCE_CHANGED: &str = "starting over: the source has changed since the unfinished export, or cannot tell whether it has";

/// How reading the items begins.
enum Begun {
    Loading(Box<Opened>, Spool),
    /// An earlier run has read them all.
    Loaded(Spool, Box<LoadedItems>),
}

/// Opens the state and the spool: anew, or as an interrupted run has left them.
fn begin(
    job: &ExportJob,
    inputs: &mut OpenInputs,
    output: &OutputStreams,
) -> Result<Begun, Failure> {
    let mode = if job.fresh {
        ResumeMode::Fresh
    } else {
        ResumeMode::Resume
    };
    let identity = identity(job, inputs);
    let current = stamped(inputs.identity.clone(), &inputs.model).stamp;
    let resume = || Spool::resume(&job.unfinished.join(SPOOL), &job.shown_place());
    let opened = State::open(&job.unfinished.join(STATE), &identity, mode)
        .map_err(|error| state_failure(error, job))?;
    let state = match opened {
        Opened::Again(mut state, earlier) => {
            let stamp = &inputs.identity.stamp;
            let has_stamp = |attempt: &load::state::RunAttempt| attempt.stamp == *stamp;
            let is_unchanged = current.is_some() && earlier.attempts.iter().all(has_stamp);
            if !job.fresh && (is_unchanged || earlier.attempts.is_empty()) {
                if let Some(now) = earlier.now().and_then(|now| now.parse().ok()) {
                    inputs.context.now = now;
                }
                output.note("resuming the unfinished export; --fresh would start over");
                let again = Opened::Again(state, earlier);
                return Ok(Begun::Loading(Box::new(again), resume()?));
            }
            if !job.fresh {
                output.note(SOURCE_CHANGED);
            }
            state.forget_attempts().map_err(load::Failure::from)?;
            state
        }
        Opened::New(state) => {
            if let Some(loaded) = read_loaded(job)?.filter(|_| !job.fresh) {
                let differences = identity.differences(&loaded.identity);
                if let Some(difference) = differences.first() {
                    output.note(&format!("starting over: {difference}"));
                } else if !loaded.has_same_files(job) {
                    output.note(
                        "starting over: its rejects or its archive have been changed or deleted",
                    );
                } else if current.is_some() && loaded.result.manifest.stamp == current {
                    output
                        .note("all rows were already read; resuming with the files of the export");
                    return Ok(Begun::Loaded(resume()?, Box::new(loaded)));
                } else {
                    output.note(SOURCE_CHANGED);
                }
            }
            state
        }
        Opened::Damaged(state, _) => state,
    };
    let spool = Spool::create_in(&job.unfinished.join(SPOOL), &job.shown_place())?;
    // The earlier run's archive is deleted with its items, but not the archive of a complete export.
    let archive = &job.options.archive_file;
    let loaded = read_loaded(job)?;
    let is_its_own = loaded.is_some_and(|loaded| loaded.files[1].is_some());
    if matches!(job.place, ExportPlace::Folder(_)) || is_its_own {
        files::delete(archive)?;
    }
    let unfinished_archive = archive.with_extension("ndjson.part");
    for file in [job.unfinished.join(LOADED), unfinished_archive] {
        files::delete(&file)?;
    }
    let uploaded = job.unfinished.join(UPLOADED);
    if uploaded.exists() {
        // The file marks the parts in the bucket as this export's own. An empty one lists none of them: they are deleted.
        fs::write(&uploaded, "").map_err(|error| Failure::unwritten(&uploaded, &error))?;
    }
    load::clear_rejects(&job.options.rejects_file)?;
    Ok(Begun::Loading(Box::new(Opened::New(state)), spool))
}

/// Why the state cannot be used. No option names its file: the help names the option that moves it.
fn state_failure(error: StateError, job: &ExportJob) -> Failure {
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

/// The mapping, source, place and options. An interrupted export resumes only if they are the same.
fn identity(job: &ExportJob, inputs: &OpenInputs) -> RunIdentity {
    let mut identity = (inputs.written.identity())
        .plain("the source", &inputs.identity.name)
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
    if let Some(secret) = &inputs.context.secret {
        identity = identity.with("the key of `pseudonym`", secret.check(), "a secret");
    }
    identity
}

fn read_loaded(job: &ExportJob) -> Result<Option<LoadedItems>, Failure> {
    let path = job.unfinished.join(LOADED);
    let text = if_there(fs::read(&path)).map_err(|error| Failure::unread("", &path, &error))?;
    // If the run was killed while it wrote the file, its JSON ends early: the items are read again.
    Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// Runs `work`, which sorts the spool, on a thread of its own and shows its progress. `None` if it was cancelled.
async fn run_sorting<T: Send + 'static>(
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
    let (stop_by_watch, cancel) = (stop.clone(), cancel.clone());
    let watch = tokio::spawn(async move {
        cancel.cancelled().await;
        stop_by_watch.store(true, Ordering::Relaxed);
    });
    let joined = tokio::task::spawn_blocking(move || work(&stop, &done)).await;
    watch.abort();
    drop(bar);
    let result =
        joined.map_err(|_| Failure::failed("the sorting of the items ended unexpectedly"))?;
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
    let inputs = OpenInputs::open(url, path, &manifest.selection, Some(now), output).await?;
    let (source, mapping) = (inputs.identity.name.clone(), inputs.written.hash());
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
    let model = inputs.model.clone();
    let cancel = stop_on_signals();
    let report = inputs.load(&spool, options, None, &cancel).await;
    if !report.outcome.is_finished() || !report.balances() {
        return ended(report, false, None, output);
    }
    let (expected, shown) = (report.total.written, place.to_string());
    let table = model.table.clone();
    let compared = run_sorting("comparing items with parts", expected, &cancel, {
        let (spool, manifest, place) = (spool.clone(), manifest.clone(), place.clone());
        move |stop, done| spool.compare(&place, &manifest, &model.table, examples, stop, done)
    })
    .await?;
    let Some(mut comparison) = compared else {
        return Ok(Outcome::Interrupted);
    };
    let expected_manifest = Manifest {
        table: table.name.clone(),
        item_types: item_counts(&report),
        item_bytes: report.total.bytes,
        ..manifest.clone()
    };
    let changed = &mut comparison.changed_parts;
    changed.extend(manifest.differences(&expected_manifest));
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
        // It may be the same database under another address.
        output.warning(&format!(
            "the manifest names the source {}, but the items were compared with {}",
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
