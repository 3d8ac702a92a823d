//! `dynafold export`: the items as files, for `ImportTable` and other programs; and the comparison of such files with
//! the source.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;

use super::failure::Failure;
use super::mapping::WrittenMapping;
use super::options::{Format, SourceArguments, moment};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::{Outcome, mapping, progress, report, selection, target};
use crate::load::state::{Opened, ResumeMode, RunIdentity, State, TableAtStart};
use crate::load::{self, Cancel, KeyCheck, Load, LoadOptions, ReadyTable};
use crate::mapping::model::{Expired, Model};
use crate::mapping::template::Context;
use crate::source::{Source, SourceIdentity};
use crate::target::TargetError;
use crate::target::parts::{Compression, ItemTypeCount, Manifest, PartsPlan, Spool, import_table};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold export shop.yaml --source postgres://app@db/shop --to shop-export
  dynafold export shop.yaml --source postgres://app@db/shop --to shop-export --compress zstd
  dynafold verify shop.yaml --source postgres://app@db/shop --against-export shop-export

It writes no table. Equal keys are refused before the first item is written, because an import overwrites them in silence.
An export that was interrupted, by Ctrl-C or a crash, resumes when the same command is started again.")]
pub(super) struct Export {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// The folder of the export: a new or empty one, or one whose export was interrupted
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// How the parts are compressed
    #[arg(long, value_name = "HOW", default_value = "gzip")]
    compress: CompressOption,
    /// Continue until more than N rows are rejected
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    max_rejects: u64,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    items: Vec<String>,
    /// Connections that read in parallel, on PostgreSQL [default: one a processor, 8 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    readers: Option<u16>,
    /// Start over instead of resuming an interrupted export
    #[arg(long)]
    fresh: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompressOption {
    Gzip,
    Zstd,
    None,
}

/// The folder of an export, and what stands in it.
struct ExportFolder<'a>(&'a Path);

impl ExportFolder<'_> {
    /// What is deleted when the export is complete.
    fn unfinished(&self) -> PathBuf {
        self.0.join("unfinished")
    }

    fn spool(&self) -> PathBuf {
        self.unfinished().join("items")
    }

    fn state(&self) -> PathBuf {
        self.unfinished().join("state")
    }

    /// The manifest without parts, of an export whose items have all been read.
    fn loaded(&self) -> PathBuf {
        self.unfinished().join("loaded")
    }

    /// Refuses a folder that is not for this export.
    fn check(&self) -> Result<(), Failure> {
        let shown = self.0.display();
        if Manifest::is_in(self.0) && !self.unfinished().exists() {
            let message = format!("`{shown}` holds an export that is complete");
            return Err(Failure::failed(message).with_help(
                "name another folder, or delete this one; `dynafold verify --against-export` compares it with the source",
            ));
        }
        let entries = fs::read_dir(self.0).map(|mut entries| entries.next().is_some());
        match entries {
            Ok(true) if !self.unfinished().exists() => {
                let message = format!("the folder `{shown}` is not empty");
                Err(Failure::failed(message).with_help("name a new or empty folder"))
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::failed(format!("cannot read `{shown}`")).with_cause(&error))
            }
            _ => Ok(()),
        }
    }

    /// Makes the folder.
    fn make(&self) -> Result<(), Failure> {
        fs::create_dir_all(self.unfinished()).map_err(|error| {
            let message = format!("cannot make the folder `{}`", self.0.display());
            Failure::failed(message).with_cause(&error)
        })
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
        let table = ReadyTable {
            table_at_start: TableAtStart::Empty,
            ..ReadyTable::default()
        };
        begun.run(table).await
    }
}

pub(super) async fn run(arguments: Export, output: &OutputStreams) -> Result<Outcome, Failure> {
    let folder = ExportFolder(&arguments.to);
    folder.check()?;
    let url = arguments.source.url()?;
    let making = Making::of(
        url,
        &arguments.mapping,
        &arguments.items,
        arguments.now,
        output,
    )
    .await?;
    let options = LoadOptions {
        max_rejects: Some(arguments.max_rejects),
        rejects_file: arguments.to.join("rejects.ndjson"),
        archive_file: arguments.to.join("archive.ndjson"),
        readers: arguments.readers.map(usize::from),
        ..LoadOptions::default()
    };
    let mut item_types = making.model.item_types.iter();
    if item_types.any(|item| item.expired == Expired::Archive) {
        load::check_archive(&options.archive_file, &making.model.table)?;
    }
    folder.make()?;
    let model = making.model.clone();
    let cancel = stop_on_signals();
    let (spool, loaded) =
        match Box::pin(items(&arguments, &folder, making, options, &cancel, output)).await? {
            Loaded::All(spool, loaded) => (spool, *loaded),
            Loaded::Not(outcome) => return Ok(outcome),
        };
    let LoadedItems {
        mut manifest,
        rejected,
    } = loaded;
    manifest.compression = match arguments.compress {
        CompressOption::Gzip => Compression::Gzip,
        CompressOption::Zstd => Compression::Zstd,
        CompressOption::None => Compression::None,
    };
    let (compression, items) = (manifest.compression, manifest.items);
    let plan = PartsPlan::of(items, manifest.item_bytes);
    let to = arguments.to.clone();
    let parts = sorting("sorting and writing parts", items, &cancel, {
        let spool = spool.clone();
        move |stop, done| spool.write_parts(&to, plan, compression, items, stop, done)
    })
    .await?;
    let Some(parts) = parts else {
        output.note("start the same command again: it goes on with the parts");
        return Ok(Outcome::Interrupted);
    };
    manifest.parts = parts;
    let (_, later) = import_table(&arguments.to, &model.table, compression)?;
    manifest.write(&arguments.to)?;
    spool.delete()?;
    fs::remove_dir_all(folder.unfinished()).map_err(|error| {
        let shown = folder.unfinished();
        Failure::failed(format!("cannot delete `{}`", shown.display())).with_cause(&error)
    })?;
    match arguments.format {
        Format::Text => output.text(&report::export(&manifest, &arguments.to))?,
        Format::Json => output.json(&manifest)?,
    }
    if !later.is_empty() {
        output.note(&format!(
            "ImportTable makes the table with its key, billing and global indexes; it does not set {}",
            later.join(", ")
        ));
    }
    Ok(if rejected > 0 {
        Outcome::Differs
    } else {
        Outcome::Well
    })
}

/// What came of reading the items.
enum Loaded {
    /// All are in the spool.
    All(Spool, Box<LoadedItems>),
    Not(Outcome),
}

/// What is kept between reading the items and writing the parts.
#[derive(Serialize, serde::Deserialize)]
struct LoadedItems {
    manifest: Manifest,
    rejected: u64,
}

/// Reads the items into the spool, or finds that an earlier run has.
async fn items(
    arguments: &Export,
    folder: &ExportFolder<'_>,
    mut making: Making,
    options: LoadOptions,
    cancel: &Cancel,
    output: &OutputStreams,
) -> Result<Loaded, Failure> {
    let (state, spool) = match begin(arguments, folder, &mut making, output)? {
        Begun::Loading(state, spool) => (*state, spool),
        Begun::Loaded(spool, loaded) => return Ok(Loaded::All(spool, loaded)),
    };
    let now = making.context.now;
    let (written, source) = (making.written.hash(), making.identity.clone());
    let table = making.model.table.name.clone();
    let loaded = folder.loaded();
    let report = making.load(&spool, options, Some(state), cancel).await;
    if !report.outcome.is_finished() || !report.balanced {
        if arguments.format == Format::Json {
            output.json(&report)?;
        } else {
            output.text(&report::migration(&report))?;
        }
        return super::migrate::ended(report, false, true, output).map(Loaded::Not);
    }
    output.warnings(&report.warnings);
    let total = &report.total;
    let manifest = Manifest {
        version: Manifest::VERSION,
        table,
        compression: Compression::default(),
        mapping: written,
        source: source.name,
        stamp: source.stamp.map(|stamp| mapping::hash(stamp.as_bytes())),
        now: now.to_string(),
        selection: arguments.items.clone(),
        item_types: (report.item_types.iter())
            .map(|books| ItemTypeCount {
                item_type: books.item_type.clone(),
                items: books.written,
            })
            .collect(),
        items: total.written,
        item_bytes: total.bytes,
        parts: Vec::new(),
    };
    let kept = LoadedItems {
        manifest,
        rejected: total.rejected,
    };
    let text = serde_json::to_vec(&kept).map_err(|error| Failure::of(&error))?;
    fs::write(&loaded, text).map_err(|error| Failure::unwritten(&loaded, &error))?;
    Ok(Loaded::All(spool, Box::new(kept)))
}

/// How reading the items begins.
enum Begun {
    Loading(Box<Opened>, Spool),
    /// An earlier run has read them all.
    Loaded(Spool, Box<LoadedItems>),
}

/// Opens the state, whose lock is held until all items are read, and the spool: anew, or as an interrupted run has left
/// them.
fn begin(
    arguments: &Export,
    folder: &ExportFolder<'_>,
    making: &mut Making,
    output: &OutputStreams,
) -> Result<Begun, Failure> {
    let mode = if arguments.fresh {
        ResumeMode::Fresh
    } else {
        ResumeMode::Resume
    };
    let identity = identity(arguments, making);
    let go_on = || Spool::go_on(&folder.spool(), &arguments.to);
    let opened = State::open(&folder.state(), &identity, mode).map_err(load::Failure::from)?;
    let state = match opened {
        Opened::Again(mut state, earlier) => {
            let stamp = making.identity.stamp.as_deref();
            let fickle = making.model.passes.iter().any(|pass| pass.fickle);
            let same = |attempt: &load::state::RunAttempt| attempt.stamp.as_deref() == stamp;
            let unchanged = stamp.is_some() && !fickle && earlier.attempts.iter().all(same);
            if !arguments.fresh && (unchanged || earlier.attempts.is_empty()) {
                if let Some(now) = earlier.now().and_then(|now| now.parse().ok()) {
                    making.context.now = now;
                }
                output.note("resuming the unfinished export; --fresh would start over");
                let again = Opened::Again(state, earlier);
                return Ok(Begun::Loading(Box::new(again), go_on()?));
            }
            if !arguments.fresh {
                output.note("starting over: the source has changed since the unfinished export, or cannot tell whether it has");
            }
            state.forget_attempts().map_err(load::Failure::from)?;
            state
        }
        Opened::New(state) => {
            let loaded = read_loaded(folder)?.filter(|_| !arguments.fresh);
            let is_same = |loaded: &LoadedItems| {
                let manifest = &loaded.manifest;
                manifest.mapping == making.written.hash()
                    && manifest.source == making.identity.name
                    && manifest.selection == arguments.items
            };
            if let Some(loaded) = loaded.filter(is_same) {
                output.note("all items were read; going on with the parts");
                return Ok(Begun::Loaded(go_on()?, Box::new(loaded)));
            }
            state
        }
        Opened::Damaged(state, _) => state,
    };
    let spool = Spool::begin(&folder.spool(), &arguments.to)?;
    // What an earlier run has read is gone.
    match fs::remove_file(folder.loaded()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::unwritten(&folder.loaded(), &error));
        }
        _ => {}
    }
    Ok(Begun::Loading(Box::new(Opened::New(state)), spool))
}

/// What tells this export from another into the same folder.
fn identity(arguments: &Export, making: &Making) -> RunIdentity {
    let folder = arguments.to.display().to_string();
    let mut identity = (making.written.identity())
        .plain("the source", &making.identity.name)
        .plain("the folder", folder);
    if !arguments.items.is_empty() {
        identity = identity.plain("--items", arguments.items.join(", "));
    }
    if let Some(now) = arguments.now {
        identity = identity.plain("--now", now.to_string());
    }
    if let Some(secret) = &making.context.secret {
        identity = identity.with("the key of `pseudonym`", secret.check(), "a secret");
    }
    identity
}

fn read_loaded(folder: &ExportFolder<'_>) -> Result<Option<LoadedItems>, Failure> {
    let path = folder.loaded();
    match fs::read(&path) {
        // One that is not whole was being written when the run was killed: the items are read again.
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read `{}`", path.display());
            Err(Failure::failed(message).with_cause(&error))
        }
    }
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
    export: &Path,
    (format, examples): (Format, usize),
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let manifest = Manifest::read(export)?;
    let now = manifest.now.parse().ok();
    let making = Making::of(url, path, &manifest.selection, now, output).await?;
    let temporary = tempfile::tempdir().map_err(|error| {
        Failure::failed("cannot make a temporary folder")
            .with_cause(&error)
            .with_help("set TMPDIR to a writable folder with room for all items")
    })?;
    let spool = Spool::begin(&temporary.path().join("items"), temporary.path())?;
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
        return super::migrate::ended(report, false, false, output);
    }
    let (expected, folder) = (report.total.written, export.to_owned());
    let compared = sorting("comparing items with parts", expected, &cancel, {
        let (spool, manifest) = (spool.clone(), manifest.clone());
        move |stop, done| spool.compare(&folder, &manifest, &model.table, examples, stop, done)
    })
    .await?;
    let Some(comparison) = compared else {
        return Ok(Outcome::Interrupted);
    };
    let found = report::ExportVerification {
        export: export.display().to_string(),
        expected,
        rejected: report.total.rejected,
        comparison,
    };
    match format {
        Format::Text => output.text(&report::export_verification(&found))?,
        Format::Json => output.json(&found)?,
    }
    Ok(if found.comparison.is_equal() && found.rejected == 0 {
        Outcome::Well
    } else {
        Outcome::Differs
    })
}
