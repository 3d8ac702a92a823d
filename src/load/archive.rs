//! The archive file: the items of rows that have expired already, as DynamoDB JSON, one a line.
//!
//! Lines go to a file of their own beside it, `FILE.part`, which takes the archive's place when the
//! run has read everything: a run that is cut short leaves the archive of an earlier one as it was.
//! A line that cannot be written ends the run, since its item would be nowhere.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::books::Failure;
use super::rejects::refuse_unless;
use crate::item::{Item, write_item};
use crate::mapping::model::Table;
use crate::value::quote;

/// Where archived items go. The file is made when there is one.
#[derive(Debug)]
pub(super) struct Archive {
    path: PathBuf,
    beginning: String,
    open: Option<Open>,
    line: String,
}

#[derive(Debug)]
struct Open {
    file: BufWriter<File>,
    /// The file's own path: the archive's where that is a pipe or a device.
    path: PathBuf,
}

impl Archive {
    pub(super) fn new(path: PathBuf, table: &Table) -> Self {
        Self {
            path,
            beginning: beginning(table),
            open: None,
            line: String::new(),
        }
    }

    /// Appends an item.
    pub(super) fn write(&mut self, item: &Item) -> Result<(), Failure> {
        self.line.clear();
        write_item(&mut self.line, item);
        self.line.push('\n');
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                open(&self.path, &self.beginning).map_err(|error| failure(&self.path, error))?
            }
        };
        let open = self.open.insert(open);
        let written = open.file.write_all(self.line.as_bytes());
        written.map_err(|error| failure(&self.path, error))
    }

    /// Ends the file: its lines are on disk afterwards. `finished`: the run has read everything,
    /// so that the file takes the archive's place. Gives the path of what was written, if anything
    /// was.
    pub(super) fn close(&mut self, finished: bool) -> (Result<(), Failure>, Option<PathBuf>) {
        let Some(Open { file, path }) = self.open.take() else {
            return (Ok(()), None);
        };
        let ended = end(file).and_then(|()| {
            if finished && path != self.path {
                std::fs::rename(&path, &self.path)?;
                return Ok(self.path.clone());
            }
            Ok(path.clone())
        });
        match ended {
            Ok(path) => (Ok(()), Some(path)),
            Err(error) => (Err(failure(&self.path, error)), Some(path)),
        }
    }
}

fn open(path: &Path, beginning: &str) -> std::io::Result<Open> {
    let special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    let path = if special { path.to_owned() } else { part(path) };
    refuse_unless(beginning, NO_ARCHIVE, &path)?;
    let file = BufWriter::new(File::create(&path)?);
    Ok(Open { file, path })
}

fn end(file: BufWriter<File>) -> std::io::Result<()> {
    let file = file
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?;
    match file.sync_all() {
        // Pipes and devices cannot be synced; there is nothing to be lost there.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// The file beside the archive that a run writes.
fn part(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".part");
    PathBuf::from(name)
}

const NO_ARCHIVE: &str = "the file is there and holds no archive of this table";

/// How every line of a table's archive begins: with the item's partition key.
fn beginning(table: &Table) -> String {
    let mut out = String::from("{");
    quote(&mut out, &table.partition.name);
    out.push_str(&format!(":{{\"{:?}\":", table.partition.key_type));
    out
}

/// Refuses an archive file that holds something else than an earlier archive of the table: a
/// mistyped `--archive` must not cost the mapping, or a `SQLite` source.
///
/// # Errors
///
/// [`Failure`] when the file, or the one beside it that a run writes, is there and holds something
/// else.
pub fn check_archive(path: &Path, table: &Table) -> Result<(), Failure> {
    let beginning = beginning(table);
    [path, &part(path)].into_iter().try_for_each(|path| {
        refuse_unless(&beginning, NO_ARCHIVE, path).map_err(|error| failure(path, error))
    })
}

/// The archive file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the archive file {}", path.display())]
struct ArchiveError {
    path: PathBuf,
    #[source]
    cause: std::io::Error,
}

fn failure(path: &Path, cause: std::io::Error) -> Failure {
    let error = ArchiveError {
        path: path.to_owned(),
        cause,
    };
    let help = "make room or name another file with --archive; without it an item would be nowhere";
    Failure::new("archive-file", &error, Some(help))
}
