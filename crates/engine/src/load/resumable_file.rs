//! A file of lines that a run appends to and a later run can go on with: rejects, archive.
//!
//! Lines are appended and synced before the state commits the chunk that they belong to. A resumed run truncates the file to
//! its committed length; a file that has changed since is refused.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dynafold_target::private::{self, sync_folder};
use xxhash_rust::xxh3::xxh3_128;

use super::failure::{Failure, OutputFile};
use super::state::CommittedExtent;

/// How many of the last committed bytes are hashed, in bytes.
const TAIL: u64 = 4096;
/// How much is written at a time, in bytes.
const PIECE: usize = 64 << 10;

/// The open file, positioned at its end.
#[derive(Debug)]
pub(super) struct ResumableFile {
    which: OutputFile,
    file: File,
    path: PathBuf,
    /// The part that is written; the tail is that of the last commit.
    extent: CommittedExtent,
    /// Whether it is a pipe or a device, which is neither truncated nor synced.
    special: bool,
}

impl ResumableFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    ///
    /// [`Failure::File`].
    pub(super) fn create(which: OutputFile, path: &Path) -> Result<Self, Failure> {
        let made = Self::open(which, path, true).and_then(|file| {
            // Lines that are on disk are lost where the file's name is not.
            if !file.special {
                sync_folder(path)?;
            }
            Ok(file)
        });
        made.map_err(|cause| which.unwritable(path, cause))
    }

    /// Opens the file at the end of its committed extent, and truncates it there.
    ///
    /// # Errors
    ///
    /// [`Failure::FileChanged`] when the file does not hold that extent; [`Failure::File`].
    pub(super) fn resume(
        which: OutputFile,
        path: &Path,
        extent: &CommittedExtent,
    ) -> Result<Self, Failure> {
        let failed = |cause| which.unwritable(path, cause);
        let changed = |what| {
            let path = path.to_owned();
            Failure::FileChanged { which, path, what }
        };
        let mut file = match Self::open(which, path, false) {
            Err(cause) if cause.kind() == ErrorKind::NotFound && extent.length > 0 => {
                return Err(changed("it no longer exists"));
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Self::create(which, path),
            opened => opened.map_err(failed)?,
        };
        file.extent = extent.clone();
        if !file.special && extent.length > 0 {
            let found = file.file.metadata().map_err(failed)?.len();
            if found < extent.length {
                return Err(changed("it is shorter"));
            }
            if file.tail().map_err(failed)? != extent.tail {
                return Err(changed("its end is different"));
            }
        }
        file.truncate().map_err(failed)?;
        Ok(file)
    }

    /// Appends lines and syncs them, and gives the extent that the state is to commit. Without lines it only syncs.
    ///
    /// # Errors
    ///
    /// [`Failure::Scratch`] where the lines cannot be read, [`Failure::File`]; the file is then as long as before, as far as
    /// that is possible.
    pub(super) fn append_committed(
        &mut self,
        lines: impl Read,
    ) -> Result<CommittedExtent, Failure> {
        let before = self.extent.clone();
        self.append_uncommitted(lines)?;
        let committed = self.commit().and_then(|()| {
            let tail = self.tail();
            tail.map_err(|cause| self.which.unwritable(&self.path, cause))
        });
        match committed {
            Ok(tail) => self.extent.tail = tail,
            Err(error) => {
                self.roll_back(before);
                return Err(error);
            }
        }
        Ok(self.extent.clone())
    }

    /// Appends lines without a sync; [`ResumableFile::commit`] syncs them.
    ///
    /// # Errors
    ///
    /// As for [`ResumableFile::append_committed`].
    pub(super) fn append_uncommitted(&mut self, lines: impl Read) -> Result<(), Failure> {
        let before = self.extent.clone();
        let written = self.write(lines);
        if written.is_err() {
            self.roll_back(before);
        }
        written
    }

    fn roll_back(&mut self, before: CommittedExtent) {
        self.extent = before;
        // Whatever cannot be truncated now, the resumed run truncates.
        let _truncated = self.truncate();
    }

    fn write(&mut self, mut lines: impl Read) -> Result<(), Failure> {
        let mut piece = vec![0; PIECE];
        loop {
            let read = match lines.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(cause) => return Err(Failure::Scratch(cause)),
            };
            let read = piece.get(..read).unwrap_or_default();
            let written = self.file.write_all(read);
            written.map_err(|cause| self.which.unwritable(&self.path, cause))?;
            self.extent.length += u64::try_from(read.len()).unwrap_or_default();
        }
    }

    /// Syncs all lines to disk.
    ///
    /// # Errors
    ///
    /// [`Failure::File`].
    pub(super) fn commit(&self) -> Result<(), Failure> {
        if self.special {
            return Ok(());
        }
        let synced = self.file.sync_data();
        synced.map_err(|cause| self.which.unwritable(&self.path, cause))
    }

    /// The extent up to the last commit.
    pub(super) fn extent(&self) -> CommittedExtent {
        self.extent.clone()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn open(which: OutputFile, path: &Path, is_new: bool) -> io::Result<Self> {
        let special =
            std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let mut options = private::options();
        options.write(true);
        if !special {
            options.read(true).create(is_new).truncate(is_new);
        }
        Ok(Self {
            which,
            file: options.open(path)?,
            path: path.to_owned(),
            extent: CommittedExtent {
                length: 0,
                tail: hash(&[]),
            },
            special,
        })
    }

    /// Truncates the file to the extent's length and seeks to its end.
    fn truncate(&mut self) -> io::Result<()> {
        if self.special {
            return Ok(());
        }
        self.file.set_len(self.extent.length)?;
        self.file.seek(SeekFrom::Start(self.extent.length))?;
        self.file.sync_all()
    }

    /// A hash of the last bytes of the extent. The file is positioned at their end afterwards.
    fn tail(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        if !self.special {
            let begin = self.extent.length.saturating_sub(TAIL);
            self.file.seek(SeekFrom::Start(begin))?;
            let last = self.extent.length - begin;
            (&self.file).take(last).read_to_end(&mut bytes)?;
        }
        Ok(hash(&bytes))
    }
}

fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

#[cfg(test)]
mod tests;
