//! The journal of a run: the keys of the items that it has sent.
//!
//! When a load goes on and rows have gone from the source meanwhile, their items are in the table.
//! The journal tells them from items that somebody else has put there. It stands beside the state,
//! 16 bytes for each item, appended before the item is sent: a process that is killed leaves the key
//! of everything that it has sent. It is not synced. After a power cut the last keys may be missing,
//! and an item whose key is missing is only kept. It begins with a line of its own: a file of that name
//! which somebody else has made is neither written over nor removed.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Error, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ending::Failure;
use super::state::StateError;
use super::worker::SENT;
use crate::private;
use crate::proof::Proof;
use crate::target::{Action, Batch};

/// Bytes of a key.
const KEY: u64 = 16;
/// How a journal begins; as long as a key.
const HEADER: &[u8; 16] = b"dynafold sent 1\n";

/// A journal that is written.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Begins the journal of a state at a path, in the place of an earlier one.
    pub(super) fn begin(state: &Path) -> Result<Self, Failure> {
        ours(&path(state))?;
        let mut how = private::options();
        let journal = Self::open(state, how.create(true).write(true).truncate(true))?;
        let begun = journal.lock().write_all(HEADER);
        begun.map_err(|error| failed(&journal.path, error))?;
        Ok(journal)
    }

    /// Goes on with the journal. Where it is gone, so are the keys that were in it.
    pub(super) fn go_on(state: &Path) -> Result<Self, Failure> {
        if !ours(&path(state))? {
            return Self::begin(state);
        }
        let mut how = private::options();
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
        let mut key = *HEADER;
        file.read_exact(&mut key).map_err(read)?;
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
    if let Ok(true) = ours(&path(state)) {
        let _ = std::fs::remove_file(path(state));
    }
}

/// Whether there is a journal; a file that is none is a failure. One whose first line was not written
/// whole has no keys.
fn ours(path: &Path) -> Result<bool, Failure> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(path, error)),
    };
    let mut head = Vec::new();
    let read = file.take(KEY).read_to_end(&mut head);
    read.map_err(|error| failed(path, error))?;
    if HEADER.starts_with(&head) {
        return Ok(head.len() == HEADER.len());
    }
    let path = path.to_owned();
    Err(Failure::of_state(&StateError::Foreign { path }))
}

fn path(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".sent");
    PathBuf::from(name)
}

fn failed(path: &Path, cause: Error) -> Failure {
    Failure::of_state(&StateError::io(path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_somebody_else_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("shop.state");
        let file = path(&state);
        std::fs::write(&file, "a list of letters that were sent").unwrap();
        assert!(Journal::begin(&state).is_err() && Journal::go_on(&state).is_err());
        forget(&state);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "a list of letters that were sent");
    }

    #[test]
    fn a_journal_is_gone_on_with_whole_keys_and_begun_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("shop.state");
        let length = || std::fs::metadata(path(&state)).unwrap().len();
        for head in ["", "dynafold se"] {
            std::fs::write(path(&state), head).unwrap();
            Journal::go_on(&state).unwrap();
            assert_eq!(length(), KEY, "{head:?}");
        }
        let journal = Journal::go_on(&state).unwrap();
        journal.lock().write_all(&[7; 40]).unwrap();
        let journal = Journal::go_on(&state).unwrap();
        assert_eq!(length(), 3 * KEY);
        journal.end();
        assert!(!path(&state).exists());
    }
}
