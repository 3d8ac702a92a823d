//! The journal of a run: digests of the items that it has sent.
//!
//! When a load goes on and rows have gone from the source meanwhile, their items are in the table.
//! The journal tells them from items that somebody else has put there or changed. It stands beside
//! the state, 16 bytes for each item, appended before the item is sent: a process that is killed leaves
//! the digest of everything that it has sent. It is not synced. After a power cut the last digests may
//! be missing, and an item whose digest is missing is only kept. It begins with a line of its own, and
//! the secret of its digests: a file of that name which somebody else has made is neither written over
//! nor removed.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Error, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dynafold_dynamodb::DigestKey;
use dynafold_target::private::{self, if_there};
use dynafold_target::{Action, Batch};
use parking_lot::Mutex;

use super::failure::Failure;
use super::scope::SENT;
use super::state::{StateError, first_bytes, with_suffix};
use crate::proof::Proof;

/// Bytes of a digest, and of each of the two blocks before them: the header and the secret.
const BLOCK: u64 = 16;
const HEADER: &[u8; 16] = b"dynafold sent 3\n";
/// So many bytes of the header are those of every version. This one cannot use the journals of others.
const VERSIONLESS: usize = 14;

/// The open journal of a run.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    secret: DigestKey,
}

impl Journal {
    /// Begins the journal beside a state file, in the place of an earlier one.
    pub(super) fn begin(state: &Path) -> Result<Self, Failure> {
        find(&path(state))?;
        let mut options = private::options();
        options.create(true).write(true).truncate(true);
        let journal = Self::open(state, &options, DigestKey::random())?;
        let head = [*HEADER, *journal.secret.bytes()];
        let begun = journal.file.lock().write_all(head.as_flattened());
        begun.map_err(|error| failed(&journal.path, error))?;
        Ok(journal)
    }

    /// Continues the journal of an interrupted run; begins one where it is gone, without the earlier digests.
    pub(super) fn resume(state: &Path) -> Result<Self, Failure> {
        let ExistingJournal::Journal(secret) = find(&path(state))? else {
            return Self::begin(state);
        };
        let mut options = private::options();
        let journal = Self::open(state, options.create(true).append(true), secret)?;
        let cut_to_whole_digests = || {
            let file = journal.file.lock();
            let length = file.metadata()?.len();
            // A full disk may have cut the last digest short.
            file.set_len(length - length % BLOCK)
        };
        cut_to_whole_digests().map_err(|error| failed(&journal.path, error))?;
        Ok(journal)
    }

    fn open(state: &Path, options: &OpenOptions, secret: DigestKey) -> Result<Self, Failure> {
        let path = path(state);
        let file = options.open(&path).map_err(|error| failed(&path, error))?;
        let file = Mutex::new(file);
        Ok(Self { path, file, secret })
    }

    /// The key that digests are made with.
    pub(super) fn secret(&self) -> DigestKey {
        self.secret
    }

    /// Appends the digests of the items that a batch is about to put.
    pub(super) fn append(&self, batch: &Batch) -> Result<(), Failure> {
        let entries = batch.entries().iter();
        let puts = entries.filter(|entry| entry.action == Action::Put);
        let digests: Vec<u8> = puts.flat_map(|entry| entry.digest.to_le_bytes()).collect();
        let appended = self.file.lock().write_all(&digests);
        appended.map_err(|error| failed(&self.path, error))
    }

    /// Pushes all digests to those of the items in the table.
    pub(super) fn read(&self, digests: &mut Proof) -> Result<(), Failure> {
        let unread = |error| failed(&self.path, error);
        let mut file = BufReader::new(File::open(&self.path).map_err(unread)?);
        file.seek(SeekFrom::Start(2 * BLOCK)).map_err(unread)?;
        let mut digest = [0; 16];
        loop {
            match file.read_exact(&mut digest) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(unread(error)),
            }
            digests.push(u128::from_le_bytes(digest), SENT)?;
        }
    }

    /// Removes the journal of a run that has ended well.
    pub(super) fn remove(&self) {
        // Should that fail, the next run writes over it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes what is left of the journal of an earlier run.
pub(super) fn remove_leftover(state: &Path) {
    // Should that fail, nothing is lost: a run reads only a journal that it has begun.
    if let Ok(ExistingJournal::Journal(_) | ExistingJournal::Unusable) = find(&path(state)) {
        let _ = std::fs::remove_file(path(state));
    }
}

/// What stands where a journal should be.
#[derive(Debug)]
enum ExistingJournal {
    Nothing,
    /// A journal whose beginning was not written whole, or one of another version.
    Unusable,
    Journal(DigestKey),
}

/// Looks for a journal; a file that is none is a failure.
fn find(path: &Path) -> Result<ExistingJournal, Failure> {
    let length = HEADER.len() + size_of::<DigestKey>();
    let head = if_there(first_bytes(path, length)).map_err(|error| failed(path, error))?;
    let Some(head) = head else {
        return Ok(ExistingJournal::Nothing);
    };
    if let Some(secret) = head.strip_prefix(HEADER)
        && let Ok(secret) = <[u8; 16]>::try_from(secret)
    {
        return Ok(ExistingJournal::Journal(secret.into()));
    }
    if HEADER
        .iter()
        .zip(&head)
        .take(VERSIONLESS)
        .all(|(a, b)| a == b)
    {
        return Ok(ExistingJournal::Unusable);
    }
    let path = path.to_owned();
    Err(Failure::from(StateError::Foreign { path }))
}

fn path(state: &Path) -> PathBuf {
    with_suffix(state, ".sent")
}

fn failed(path: &Path, cause: Error) -> Failure {
    Failure::from(StateError::io(path, cause))
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
        assert!(Journal::begin(&state).is_err() && Journal::resume(&state).is_err());
        remove_leftover(&state);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "a list of letters that were sent");
    }

    #[test]
    fn a_journal_is_resumed_with_whole_digests_and_begun_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("shop.state");
        let length = || std::fs::metadata(path(&state)).unwrap().len();
        let earlier = format!("dynafold sent 2\n{}", "k".repeat(32));
        for head in ["", "dynafold se", "dynafold sent 3\nsecre", &earlier] {
            std::fs::write(path(&state), head).unwrap();
            Journal::resume(&state).unwrap();
            assert_eq!(length(), 2 * BLOCK, "{head:?}");
        }
        let journal = Journal::resume(&state).unwrap();
        journal.file.lock().write_all(&[7; 40]).unwrap();
        let again = Journal::resume(&state).unwrap();
        assert_eq!(length(), 4 * BLOCK);
        assert_eq!(journal.secret, again.secret);
        journal.remove();
        assert!(!path(&state).exists());
    }
}
