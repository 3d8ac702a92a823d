//! The journal of a run: the keys of the items that it has sent.
//!
//! When a load goes on and rows have gone from the source meanwhile, their items are in the table.
//! The journal tells them from items that somebody else has put there. It stands beside the state,
//! 16 bytes for each item, appended before the item is sent: a process that is killed leaves the key
//! of everything that it has sent. It is not synced. After a power cut the last keys may be missing,
//! and an item whose key is missing is only kept.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Error, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::failure::Failure;
use super::rules::SENT;
use super::state::StateError;
use crate::proof::Proof;
use crate::target::{Action, Batch};

/// Bytes of a key.
const KEY: u64 = 16;

/// A journal that is written.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Begins the journal of a state at a path, in the place of an earlier one.
    pub(super) fn begin(state: &Path) -> Result<Self, Failure> {
        let mut how = OpenOptions::new();
        Self::open(state, how.create(true).write(true).truncate(true))
    }

    /// Goes on with the journal. Where it is gone, so are the keys that were in it.
    pub(super) fn go_on(state: &Path) -> Result<Self, Failure> {
        let mut how = OpenOptions::new();
        let journal = Self::open(state, how.create(true).append(true))?;
        let whole = || {
            let file = journal.lock();
            let length = file.metadata()?.len();
            // A disk that was full has cut the last key short.
            file.set_len(length - length % KEY)
        };
        whole().map_err(|error| failed(&journal.path, error))?;
        Ok(journal)
    }

    fn open(state: &Path, how: &OpenOptions) -> Result<Self, Failure> {
        let path = path(state);
        let file = how.open(&path).map_err(|error| failed(&path, error))?;
        let file = Mutex::new(file);
        Ok(Self { path, file })
    }

    /// Takes the keys of a batch that is about to be sent.
    pub(super) fn note(&self, batch: &Batch) -> Result<(), Failure> {
        let put = batch.entries().iter();
        let put = put.filter(|entry| entry.action == Action::Put);
        let keys: Vec<u8> = put
            .flat_map(|entry| entry.fingerprint.to_le_bytes())
            .collect();
        let noted = self.lock().write_all(&keys);
        noted.map_err(|error| failed(&self.path, error))
    }

    /// Adds all keys to those of the run.
    pub(super) fn read(&self, keys: &mut Proof) -> Result<(), Failure> {
        let read = |error| failed(&self.path, error);
        let mut file = BufReader::new(File::open(&self.path).map_err(read)?);
        let mut key = 0_u128.to_le_bytes();
        loop {
            match file.read_exact(&mut key) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(read(error)),
            }
            let pushed = keys.push(u128::from_le_bytes(key), SENT);
            pushed.map_err(|error| Failure::new("keys", &error, Some(error.help())))?;
        }
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the journal away, of a run that has ended well.
    pub(super) fn end(&self) {
        // One that cannot be removed is begun anew by the next run.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes away what is left of the journal of an earlier run.
pub(super) fn forget(state: &Path) {
    // No run reads one that it has not begun.
    let _ = std::fs::remove_file(path(state));
}

fn path(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".sent");
    PathBuf::from(name)
}

fn failed(path: &Path, cause: Error) -> Failure {
    Failure::of_state(&StateError::io(path, cause))
}
