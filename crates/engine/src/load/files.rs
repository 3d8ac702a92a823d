//! The files beside the table: rejects, and the items of rows that have expired already.
//!
//! Each is made when it gets its first line, never in the place of a file that holds something
//! else. A line that cannot be written ends the run: a reject that nobody sees would be a lost row. Lines
//! are on disk before the state counts them; what a killed run wrote beyond is cut off
//! when it goes on. Archived items go to `FILE.part`, which takes the archive's place when the run
//! has read everything: a run that is cut short leaves the archive of an earlier one as it was.

use std::path::{Path, PathBuf};

use dynafold_dynamodb::Table;
use dynafold_mapping::model::{Expired, Model};
use dynafold_relational::value::quote;
use dynafold_target::private::{if_there, sync_folder};

use super::failure::{Failure, OutputFile};
use super::ordered_lines::OrderedLines;
use super::rejects::{LINE_PREFIX, Rejected, write_reject_line};
use super::resumable_file::ResumableFile;
use super::state::{CommittedExtent, first_bytes, with_suffix};

/// One of the files.
#[derive(Debug)]
pub(crate) struct LineFile {
    pub(super) which: OutputFile,
    /// Where people look for it.
    path: PathBuf,
    /// How each of its lines begins.
    beginning: String,
    open: Option<ResumableFile>,
    /// Lines of [`LineFile::append_reject`].
    pub(crate) lines: u64,
    /// Whether lines of it were lost, which its failure tells: nobody is sent to look for them.
    broken: bool,
}

impl LineFile {
    fn new(which: OutputFile, path: PathBuf, beginning: String) -> Self {
        Self {
            which,
            path,
            beginning,
            open: None,
            lines: 0,
            broken: false,
        }
    }

    pub(crate) fn rejects(path: PathBuf) -> Self {
        Self::new(OutputFile::Rejects, path, LINE_PREFIX.to_owned())
    }

    /// No file: its lines are dropped.
    pub(super) fn nowhere() -> Self {
        Self::rejects(PathBuf::new())
    }

    pub(super) fn archive(path: PathBuf, table: &Table) -> Self {
        Self::new(OutputFile::Archive, path, beginning(table))
    }

    /// Goes on where an earlier attempt's lines end that count.
    pub(super) fn resume(&mut self, extent: &CommittedExtent) -> Result<(), Failure> {
        self.open = None;
        let place = self.place();
        let moved = || {
            // It was in its place already when the run was killed.
            let length = std::fs::metadata(&self.path).map_or(0, |found| found.len());
            place != self.path && !place.exists() && length == extent.length
        };
        if extent.length == 0 {
            return self.clear(&place);
        }
        let resume = |path: &Path| ResumableFile::resume(self.which, path, extent);
        if moved() && resume(&self.path).is_ok() {
            std::fs::rename(&self.path, &place)
                .map_err(|cause| self.which.unwritable(&place, cause))?;
        }
        self.open = Some(resume(&place)?);
        Ok(())
    }

    /// Takes lines away of which none counts.
    fn clear(&self, place: &Path) -> Result<(), Failure> {
        let is_file = std::fs::metadata(place).is_ok_and(|metadata| metadata.is_file());
        if is_file && refuse_unless(&self.beginning, "", place).is_ok() {
            return std::fs::remove_file(place)
                .map_err(|cause| self.which.unwritable(place, cause));
        }
        Ok(())
    }

    /// Appends the lines of a chunk; they are on disk afterwards. After a failure there are no more.
    pub(super) fn append(&mut self, lines: &mut OrderedLines) -> Result<(), Failure> {
        let lines = lines.take()?;
        let Some(lines) = lines else { return Ok(()) };
        self.write(|file| file.append_committed(lines).map(drop))
    }

    /// Appends the line of a reject as it comes, which is on disk when the file is closed. After a failure
    /// there are no more.
    pub(crate) fn append_reject(
        &mut self,
        model: &Model,
        reject: &Rejected,
    ) -> Result<(), Failure> {
        let mut line = String::new();
        write_reject_line(&mut line, model, reject);
        self.write(|file| file.append_uncommitted(line.as_bytes()))?;
        self.lines += 1;
        Ok(())
    }

    fn write(
        &mut self,
        append: impl FnOnce(&mut ResumableFile) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.path.as_os_str().is_empty() || self.broken {
            return Ok(());
        }
        let file = match self.open.take() {
            Some(file) => Ok(file),
            None => self.make(),
        };
        let appended = file.and_then(|file| append(self.open.insert(file)));
        self.broken = appended.is_err();
        appended
    }

    /// How far it counts; `None` without lines.
    pub(super) fn extent(&self) -> Option<CommittedExtent> {
        self.open.as_ref().map(ResumableFile::extent)
    }

    /// Ends it. `finished`: everything was read. Gives its path, where it has lines, and all of them.
    pub(crate) fn close(&mut self, finished: bool) -> Result<Option<PathBuf>, Failure> {
        let Some(file) = self.open.take().filter(|_| !self.broken) else {
            return Ok(None);
        };
        let place = file.path().to_owned();
        file.commit()?;
        drop(file);
        if finished && place != self.path {
            // The state says that the run is complete only when the archive is in its place for
            // good.
            std::fs::rename(&place, &self.path)
                .and_then(|()| sync_folder(&self.path))
                .map_err(|cause| self.which.unwritable(&self.path, cause))?;
            return Ok(Some(self.path.clone()));
        }
        Ok(Some(place))
    }

    fn make(&self) -> Result<ResumableFile, Failure> {
        let place = self.place();
        let why = "the file exists and contains something else";
        refuse_unless(&self.beginning, why, &place)
            .map_err(|cause| self.which.unwritable(&place, cause))?;
        ResumableFile::create(self.which, &place)
    }

    /// The file that is written: the archive's own only where that is a pipe or a device.
    fn place(&self) -> PathBuf {
        let special = std::fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file());
        match self.which {
            OutputFile::Archive if !special => part(&self.path),
            _ => self.path.clone(),
        }
    }
}

/// The file beside the archive that a run writes.
fn part(path: &Path) -> PathBuf {
    with_suffix(path, ".part")
}

/// How every line of a table's archive begins: with the item's partition key.
fn beginning(table: &Table) -> String {
    let mut out = String::from("{");
    quote(&mut out, &table.partition.name);
    out.push_str(&format!(":{{\"{:?}\":", table.partition.key_type));
    out
}

/// Refuses an archive file, where the model has one, that holds something else than an earlier archive of the table: a
/// mistyped `--archive` must not cost the mapping, or a `SQLite` source.
///
/// # Errors
///
/// [`Failure`] when the file, or the one beside it that a run writes, is there and holds something
/// else.
pub fn check_archive(path: &Path, model: &Model) -> Result<(), Failure> {
    let mut item_types = model.item_types.iter();
    if !item_types.any(|item| item.expired == Expired::Archive) {
        return Ok(());
    }
    let beginning = beginning(&model.table);
    [path, &part(path)].into_iter().try_for_each(|path| {
        let why = "the file exists and is not an archive of this table";
        refuse_unless(&beginning, why, path)
            .map_err(|cause| OutputFile::Archive.unwritable(path, cause))
    })
}

/// Refuses a rejects file that holds something else: a mistyped `--rejects` must not cost the mapping, or a `SQLite` source.
///
/// # Errors
///
/// [`Failure`] when it does, or cannot be read.
pub fn check_rejects(path: &Path) -> Result<(), Failure> {
    let why = "the file exists and is not a rejects file";
    refuse_unless(LINE_PREFIX, why, path)
        .map_err(|cause| OutputFile::Rejects.unwritable(path, cause))
}

/// Takes the rejects of an earlier run away, which would be taken for the coming one's.
///
/// # Errors
///
/// [`Failure`] when the file exists and contains something else, or cannot be removed.
pub fn clear_rejects(path: &Path) -> Result<(), Failure> {
    check_rejects(path)?;
    let cleared = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => std::fs::remove_file(path),
        _ => Ok(()),
    };
    cleared.map_err(|cause| OutputFile::Rejects.unwritable(path, cause))
}

/// Whether a file is there and holds something. Pipes and devices hold nothing that could be lost.
pub(super) fn is_filled(path: &Path) -> std::io::Result<bool> {
    let found = if_there(std::fs::metadata(path))?;
    Ok(found.is_some_and(|metadata| metadata.is_file() && metadata.len() > 0))
}

/// Refuses a file that is there, holds something, and does not begin so.
pub(super) fn refuse_unless(beginning: &str, why: &str, path: &Path) -> std::io::Result<()> {
    use std::io::{Error, ErrorKind};
    if !is_filled(path)? || first_bytes(path, beginning.len())? == beginning.as_bytes() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::AlreadyExists, why))
}
