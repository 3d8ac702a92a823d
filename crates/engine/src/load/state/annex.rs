//! A file that grows with a run and is cut back to what counts: rejects, archive.
//!
//! Lines are appended and synced before the state counts the chunk that they belong to. What a
//! killed run wrote beyond is cut off when it goes on; a file that somebody has changed meanwhile
//! is refused.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dynafold_target::private;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::hex;
use super::paths::sync_folder;

/// Bytes at the end that are told by their hash.
const TAIL: u64 = 4096;
/// Bytes that are written at a time.
const PIECE: usize = 64 << 10;

/// How far a file counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Extent {
    /// Its bytes.
    pub length: u64,
    /// A hash of the last 4 KiB of them.
    pub tail: String,
}

/// The open file, positioned at its end.
#[derive(Debug)]
pub struct Annex {
    file: File,
    path: PathBuf,
    length: u64,
    /// The last bytes written, for the hash.
    tail: Vec<u8>,
    /// A pipe or a device: nothing to cut off, nothing to be synced.
    special: bool,
}

/// An annex cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnnexError {
    /// It does not hold what the run wrote.
    #[error("the file {} was changed since the run wrote it: {what}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// How that shows.
        what: String,
    },
    /// What is to be appended cannot be read.
    #[error("cannot read back what is to be appended")]
    Unread {
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// It cannot be read or written.
    #[error("cannot write the file {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
}

impl AnnexError {
    pub(in crate::load) fn unwritable(path: &Path, cause: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unwritable { path, cause }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "put the file back as it was, or begin anew with --fresh",
            Self::Unread { .. } => "make room for temporary files",
            Self::Unwritable { .. } => "make room or name another file",
        }
    }
}

impl Annex {
    /// Begins the file anew; what was in it is gone.
    ///
    /// # Errors
    ///
    /// [`AnnexError::Unwritable`].
    pub fn create(path: &Path) -> Result<Self, AnnexError> {
        let made = Self::open(path, true).and_then(|annex| {
            // Lines that are on disk are lost where the file's name is not.
            if !annex.special {
                sync_folder(path)?;
            }
            Ok(annex)
        });
        made.map_err(|cause| AnnexError::unwritable(path, cause))
    }

    /// Goes on after an extent that counts, and cuts off what is beyond.
    ///
    /// # Errors
    ///
    /// [`AnnexError::Changed`] when the file does not hold that extent; [`AnnexError::Unwritable`].
    pub fn resume(path: &Path, extent: &Extent) -> Result<Self, AnnexError> {
        let failed = |cause| AnnexError::unwritable(path, cause);
        let changed = |what: &str| AnnexError::Changed {
            path: path.to_owned(),
            what: what.to_owned(),
        };
        let mut annex = match Self::open(path, false) {
            Err(cause) if cause.kind() == ErrorKind::NotFound && extent.length > 0 => {
                return Err(changed("it is gone"));
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Self::create(path),
            opened => opened.map_err(failed)?,
        };
        annex.length = extent.length;
        if annex.special || extent.length == 0 {
            annex.cut().map_err(failed)?;
            return Ok(annex);
        }
        let found = annex.file.metadata().map_err(failed)?.len();
        if found < extent.length {
            return Err(changed("it is shorter"));
        }
        annex.tail = tail(&mut annex.file, extent.length).map_err(failed)?;
        if annex.extent() != *extent {
            return Err(changed("its end is another"));
        }
        annex.cut().map_err(failed)?;
        Ok(annex)
    }

    /// Appends lines, piece by piece, and gives the extent that counts when they do. They are on
    /// disk when this returns. Without lines it only syncs.
    ///
    /// # Errors
    ///
    /// [`AnnexError::Unread`], [`AnnexError::Unwritable`]; the file is then as long as before, as
    /// far as that is possible.
    pub fn append_committed(&mut self, lines: impl Read) -> Result<Extent, AnnexError> {
        self.append(lines, true)?;
        Ok(self.extent())
    }

    /// Appends lines that [`Annex::commit`] is to bring to disk.
    ///
    /// # Errors
    ///
    /// As for [`Annex::append_committed`].
    pub fn append_uncommitted(&mut self, lines: impl Read) -> Result<(), AnnexError> {
        self.append(lines, false)
    }

    /// Brings all lines to disk.
    ///
    /// # Errors
    ///
    /// [`AnnexError::Unwritable`].
    pub fn commit(&self) -> Result<(), AnnexError> {
        self.sync()
            .map_err(|cause| AnnexError::unwritable(&self.path, cause))
    }

    fn append(&mut self, lines: impl Read, commits: bool) -> Result<(), AnnexError> {
        let mut tail = self.tail.clone();
        let written = self.write(lines, &mut tail);
        let written = written.and_then(|added| {
            if commits {
                self.commit()?;
            }
            Ok(added)
        });
        match written {
            Ok(added) => {
                self.length = self.length.saturating_add(added);
                self.tail = tail;
                Ok(())
            }
            Err(error) => {
                // What is left beyond is cut off by the run that goes on.
                let _cut = self.cut();
                Err(error)
            }
        }
    }

    /// Writes; gives the bytes, and keeps the last of them.
    fn write(&self, mut lines: impl Read, tail: &mut Vec<u8>) -> Result<u64, AnnexError> {
        let kept = usize::try_from(TAIL).unwrap_or(usize::MAX);
        let failed = |cause| AnnexError::unwritable(&self.path, cause);
        let mut piece = vec![0; PIECE];
        let mut added = 0;
        loop {
            let read = match lines.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(cause) => return Err(AnnexError::Unread { cause }),
            };
            let read = piece.get(..read).unwrap_or_default();
            (&self.file).write_all(read).map_err(failed)?;
            added += u64::try_from(read.len()).unwrap_or_default();
            let last = read.len().saturating_sub(kept);
            tail.extend_from_slice(read.get(last..).unwrap_or_default());
            tail.drain(..tail.len().saturating_sub(kept));
        }
        Ok(added)
    }

    /// How far it counts.
    #[must_use]
    pub fn extent(&self) -> Extent {
        Extent {
            length: self.length,
            tail: hex(xxh3_128(&self.tail)),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open(path: &Path, anew: bool) -> io::Result<Self> {
        let special =
            std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let mut options = private::options();
        options.write(true);
        if !special {
            options.read(true).create(anew).truncate(anew);
        }
        Ok(Self {
            file: options.open(path)?,
            path: path.to_owned(),
            length: 0,
            tail: Vec::new(),
            special,
        })
    }

    /// Cuts off what is beyond the length and goes there.
    fn cut(&mut self) -> io::Result<()> {
        if self.special {
            return Ok(());
        }
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.sync_all()
    }

    fn sync(&self) -> io::Result<()> {
        if self.special {
            return Ok(());
        }
        self.file.sync_data()
    }
}

/// The last bytes before a place.
fn tail(file: &mut File, end: u64) -> io::Result<Vec<u8>> {
    let begin = end.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(end - begin).read_to_end(&mut bytes)?;
    Ok(bytes)
}
