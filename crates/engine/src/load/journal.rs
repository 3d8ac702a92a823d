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
use super::state::{StateError, head, with};
use crate::proof::Proof;

/// Bytes of a digest, of the header and of the secret behind it.
const DIGEST: u64 = 16;
/// How a journal begins.
const HEADER: &[u8; 16] = b"dynafold sent 3\n";
/// How those of other versions begin too, which hold what this one cannot use.
const OURS: usize = 14;

/// A journal that is written.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    secret: DigestKey,
}

impl Journal {
    /// Begins the journal of a state at a path, in the place of an earlier one.
    pub(super) fn begin(state: &Path) -> Result<Self, Failure> {
        find(&path(state))?;
        let mut how = private::options();
        let how = how.create(true).write(true).truncate(true);
        let journal = Self::open(state, how, DigestKey::random())?;
        let head = [*HEADER, *journal.secret.bytes()];
        let begun = journal.file.lock().write_all(head.as_flattened());
        begun.map_err(|error| failed(&journal.path, error))?;
        Ok(journal)
    }

    /// Goes on with the journal. Where it is gone, so are the digests that were in it.
    pub(super) fn go_on(state: &Path) -> Result<Self, Failure> {
        let ExistingJournal::Journal(secret) = find(&path(state))? else {
            return Self::begin(state);
        };
        let mut how = private::options();
        let journal = Self::open(state, how.create(true).append(true), secret)?;
        let whole = || {
            let file = journal.file.lock();
            let length = file.metadata()?.len();
            // A disk that was full has cut the last digest short.
            file.set_len(length - length % DIGEST)
        };
        whole().map_err(|error| failed(&journal.path, error))?;
        Ok(journal)
    }

    fn open(state: &Path, how: &OpenOptions, secret: DigestKey) -> Result<Self, Failure> {
        let path = path(state);
        let file = how.open(&path).map_err(|error| failed(&path, error))?;
        let file = Mutex::new(file);
        Ok(Self { path, file, secret })
    }

    /// What digests are made under.
    pub(super) fn secret(&self) -> DigestKey {
        self.secret
    }

    /// Takes the digests of a batch that is about to be sent.
    pub(super) fn note(&self, batch: &Batch) -> Result<(), Failure> {
        let put = batch.entries().iter();
        let put = put.filter(|entry| entry.action == Action::Put);
        let digests: Vec<u8> = put.flat_map(|entry| entry.digest.to_le_bytes()).collect();
        let noted = self.file.lock().write_all(&digests);
        noted.map_err(|error| failed(&self.path, error))
    }

    /// Adds all digests to those of items in the table.
    pub(super) fn read(&self, digests: &mut Proof) -> Result<(), Failure> {
        let read = |error| failed(&self.path, error);
        let mut file = BufReader::new(File::open(&self.path).map_err(read)?);
        file.seek(SeekFrom::Start(2 * DIGEST)).map_err(read)?;
        let mut digest = [0; 16];
        loop {
            match file.read_exact(&mut digest) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(read(error)),
            }
            let pushed = digests.push(u128::from_le_bytes(digest), SENT);
            pushed?;
        }
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
    if let Ok(ExistingJournal::Journal(_) | ExistingJournal::Useless) = find(&path(state)) {
        let _ = std::fs::remove_file(path(state));
    }
}

/// What stands where a journal should be.
#[derive(Debug)]
enum ExistingJournal {
    Nothing,
    /// A journal whose beginning was not written whole, or one of another version.
    Useless,
    Journal(DigestKey),
}

/// Looks for a journal; a file that is none is a failure.
fn find(path: &Path) -> Result<ExistingJournal, Failure> {
    let head = if_there(head(path, 32)).map_err(|error| failed(path, error))?;
    let Some(head) = head else {
        return Ok(ExistingJournal::Nothing);
    };
    if let Some(secret) = head.strip_prefix(HEADER)
        && let Ok(secret) = <[u8; 16]>::try_from(secret)
    {
        return Ok(ExistingJournal::Journal(secret.into()));
    }
    if HEADER.iter().zip(&head).take(OURS).all(|(a, b)| a == b) {
        return Ok(ExistingJournal::Useless);
    }
    let path = path.to_owned();
    Err(Failure::from(StateError::Foreign { path }))
}

fn path(state: &Path) -> PathBuf {
    with(state, ".sent")
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
        assert!(Journal::begin(&state).is_err() && Journal::go_on(&state).is_err());
        forget(&state);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "a list of letters that were sent");
    }

    #[test]
    fn a_journal_is_gone_on_with_whole_digests_and_begun_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("shop.state");
        let length = || std::fs::metadata(path(&state)).unwrap().len();
        let earlier = format!("dynafold sent 2\n{}", "k".repeat(32));
        for head in ["", "dynafold se", "dynafold sent 3\nsecre", &earlier] {
            std::fs::write(path(&state), head).unwrap();
            Journal::go_on(&state).unwrap();
            assert_eq!(length(), 2 * DIGEST, "{head:?}");
        }
        let journal = Journal::go_on(&state).unwrap();
        journal.file.lock().write_all(&[7; 40]).unwrap();
        let again = Journal::go_on(&state).unwrap();
        assert_eq!(length(), 4 * DIGEST);
        assert_eq!(journal.secret, again.secret);
        journal.end();
        assert!(!path(&state).exists());
    }
}
