//! A file of lines that a run appends to and a later run can go on with: rejects, archive.
//!
//! Lines are appended and synced before the state commits the chunk that they belong to. A resumed run truncates the file to
//! its committed length; a file that has changed since is refused.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dynafold_target::private::{self, sync_folder};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::hex;

/// How many of the last committed bytes are hashed, in bytes.
const TAIL: u64 = 4096;
/// How much is written at a time, in bytes.
const PIECE: usize = 64 << 10;

/// The committed part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommittedExtent {
    /// Its bytes.
    pub length: u64,
    /// A hash of the last 4 KiB of them.
    pub tail: String,
}

/// The open file, positioned at its end.
#[derive(Debug)]
pub(in crate::load) struct ResumableFile {
    file: File,
    path: PathBuf,
    /// The part that is written; the tail is that of the last commit.
    extent: CommittedExtent,
    /// Whether it is a pipe or a device, which is neither truncated nor synced.
    special: bool,
}

/// Why a file of lines cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub(in crate::load) enum ResumableFileError {
    /// It does not hold what the run wrote.
    #[error("the file {} has been changed since the run wrote it: {what}", path.display())]
    Changed { path: PathBuf, what: &'static str },
    /// What is to be appended cannot be read.
    #[error("cannot read back the data that is to be appended")]
    Unread {
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// It cannot be read or written.
    #[error("cannot write the file {}", path.display())]
    Unwritable {
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
}

impl ResumableFileError {
    pub(in crate::load) fn unwritable(path: &Path, cause: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unwritable { path, cause }
    }
}

impl ResumableFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    ///
    /// [`ResumableFileError::Unwritable`].
    pub(in crate::load) fn create(path: &Path) -> Result<Self, ResumableFileError> {
        let made = Self::open(path, true).and_then(|file| {
            // Lines that are on disk are lost where the file's name is not.
            if !file.special {
                sync_folder(path)?;
            }
            Ok(file)
        });
        made.map_err(|cause| ResumableFileError::unwritable(path, cause))
    }

    /// Opens the file at the end of its committed extent, and truncates it there.
    ///
    /// # Errors
    ///
    /// [`ResumableFileError::Changed`] when the file does not hold that extent; [`ResumableFileError::Unwritable`].
    pub(in crate::load) fn resume(
        path: &Path,
        extent: &CommittedExtent,
    ) -> Result<Self, ResumableFileError> {
        let failed = |cause| ResumableFileError::unwritable(path, cause);
        let changed = |what| ResumableFileError::Changed {
            path: path.to_owned(),
            what,
        };
        let mut file = match Self::open(path, false) {
            Err(cause) if cause.kind() == ErrorKind::NotFound && extent.length > 0 => {
                return Err(changed("it no longer exists"));
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Self::create(path),
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
    /// [`ResumableFileError::Unread`], [`ResumableFileError::Unwritable`]; the file is then as long as before, as
    /// far as that is possible.
    pub(in crate::load) fn append_committed(
        &mut self,
        lines: impl Read,
    ) -> Result<CommittedExtent, ResumableFileError> {
        let before = self.extent.clone();
        self.append_uncommitted(lines)?;
        let committed = self.commit().and_then(|()| {
            let tail = self.tail();
            tail.map_err(|cause| ResumableFileError::unwritable(&self.path, cause))
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
    pub(in crate::load) fn append_uncommitted(
        &mut self,
        lines: impl Read,
    ) -> Result<(), ResumableFileError> {
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

    fn write(&mut self, mut lines: impl Read) -> Result<(), ResumableFileError> {
        let mut piece = vec![0; PIECE];
        loop {
            let read = match lines.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(cause) => return Err(ResumableFileError::Unread { cause }),
            };
            let read = piece.get(..read).unwrap_or_default();
            let written = self.file.write_all(read);
            written.map_err(|cause| ResumableFileError::unwritable(&self.path, cause))?;
            self.extent.length += u64::try_from(read.len()).unwrap_or_default();
        }
    }

    /// Syncs all lines to disk.
    ///
    /// # Errors
    ///
    /// [`ResumableFileError::Unwritable`].
    pub(in crate::load) fn commit(&self) -> Result<(), ResumableFileError> {
        if self.special {
            return Ok(());
        }
        let synced = self.file.sync_data();
        synced.map_err(|cause| ResumableFileError::unwritable(&self.path, cause))
    }

    /// The extent up to the last commit.
    pub(in crate::load) fn extent(&self) -> CommittedExtent {
        self.extent.clone()
    }

    pub(in crate::load) fn path(&self) -> &Path {
        &self.path
    }

    fn open(path: &Path, is_new: bool) -> io::Result<Self> {
        let special =
            std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let mut options = private::options();
        options.write(true);
        if !special {
            options.read(true).create(is_new).truncate(is_new);
        }
        Ok(Self {
            file: options.open(path)?,
            path: path.to_owned(),
            extent: CommittedExtent {
                length: 0,
                tail: hex(xxh3_128(&[])),
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
        Ok(hex(xxh3_128(&bytes)))
    }
}
