//! Where the state of a run is on disk, how a new one replaces it, and the lock beside it.
//!
//! A state is written under another name and renamed when it is complete and synced: a crash leaves either the old one or the
//! new one.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use std::{fs, io};

use dynafold_target::private::{self, if_there, sync_folder};
use serde::{Deserialize, Serialize};

use super::StateError;
use super::log::{BEGINNING as STATE, LogEntry, StateLog};
use super::paths::{first_bytes, with_suffix};

/// The folder for states beside the mapping.
const FOLDER: &str = ".dynafold";

/// Where the state of a mapping's runs is: `.dynafold/<stem>.state` beside the mapping.
pub fn default_path(mapping: &Path) -> PathBuf {
    let stem = mapping.file_stem().unwrap_or_else(|| "mapping".as_ref());
    mapping
        .with_file_name(FOLDER)
        .join(with_suffix(Path::new(stem), ".state"))
}

/// Creates `.dynafold` where the state is to be in it, and resolves symbolic links, so that there is one lock for each state.
pub(super) fn prepare(path: &Path) -> Result<PathBuf, StateError> {
    let Some(name) = path.file_name() else {
        return Err(StateError::io(path, ErrorKind::IsADirectory.into()));
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if folder.file_name().is_some_and(|name| name == FOLDER) {
        make_folder(folder).map_err(|cause| StateError::io(folder, cause))?;
    }
    if let Ok(real) = fs::canonicalize(path) {
        return Ok(real);
    }
    let folder = fs::canonicalize(folder).map_err(|cause| StateError::io(folder, cause))?;
    Ok(folder.join(name))
}

/// Creates the folder, with a `.gitignore` for all of it.
fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let note = folder.join(".gitignore");
    match OpenOptions::new().write(true).create_new(true).open(note) {
        Ok(mut note) => note.write_all(b"*\n"),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether a state is at a path, complete or damaged; an empty file is none. Called before anything is written there, the lock
/// included. Any other file is refused: a mistyped `--state` must not overwrite the mapping, or a SQLite source.
pub(super) fn is_present(path: &Path) -> Result<bool, StateError> {
    let has_lock = has_lock_file(path)?;
    let found = if_there(fs::metadata(path)).map_err(|error| StateError::io(path, error))?;
    match found {
        None => Ok(false),
        Some(found) if found.is_dir() => Err(StateError::io(path, ErrorKind::IsADirectory.into())),
        Some(found) if found.is_file() && has_lock => Ok(true),
        Some(found) if found.is_file() && found.len() == 0 => Ok(false),
        Some(found) if found.is_file() && begins_as_state(path)? => Ok(true),
        Some(_) => Err(StateError::Foreign {
            path: path.to_owned(),
        }),
    }
}

/// The same once the lock is held, whose file is there now: an empty file that had no lock before is still no state.
pub(super) fn is_present_under_lock(path: &Path, before: bool) -> Result<bool, StateError> {
    let empty = || fs::metadata(path).is_ok_and(|found| found.len() == 0);
    if !before && empty() {
        return Ok(false);
    }
    is_present(path)
}

/// Whether a file begins as a state does.
fn begins_as_state(path: &Path) -> Result<bool, StateError> {
    let head = first_bytes(path, STATE.len()).map_err(|cause| StateError::io(path, cause))?;
    Ok(head == STATE.as_bytes())
}

/// Writes the first entry of a new state and replaces the old one, if there is one.
pub(super) fn begin(path: &Path, begun: LogEntry) -> Result<StateLog, StateError> {
    let new = with_suffix(path, ".new");
    let log = StateLog::create(&new, path, begun)?;
    fs::rename(&new, path)
        .and_then(|()| sync_folder(path))
        .map_err(|cause| StateError::io(path, cause))?;
    Ok(log)
}

/// Links or copies a damaged state to a new name, `.damaged-1` and so on.
pub(super) fn set_aside(path: &Path) -> Result<(), StateError> {
    let mut number = 1_u32;
    let mut aside = with_suffix(path, ".damaged-1");
    while aside.exists() {
        number += 1;
        aside = with_suffix(path, &format!(".damaged-{number}"));
    }
    // Not all file systems have links.
    fs::hard_link(path, &aside)
        .or_else(|_| fs::copy(path, &aside).map(drop))
        .and_then(|()| sync_folder(path))
        .map_err(|cause| StateError::io(path, cause))
}

// One run at a time: a lock on a file beside the state.
//
// The operating system holds it and frees it when the process ends, however it ends. The file
// stays: a lock on a file that was deleted would keep nobody out. What it says about the holder is
// only for the message.

/// How every lock file begins.
const BEGINNING: &str = "{\"dynafold\":\"lock\"";
/// How long a process may take to write its name after it has the lock.
const INTRODUCTION: Duration = Duration::from_millis(30);

/// The lock; dropping it frees it.
#[derive(Debug)]
pub struct StateLock {
    file: File,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct LockHolder {
    dynafold: String,
    pid: Option<u32>,
    host: Option<String>,
    since: Option<String>,
}

impl StateLock {
    /// Takes the lock of a state, or fails with the process that holds it.
    pub(super) fn take(state: &Path) -> Result<Self, StateError> {
        let path = lock_path(state);
        let failed = |cause| StateError::io(&path, cause);
        let mut file = private::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held_by_another(state, file)),
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        write_holder(&mut file).map_err(failed)?;
        Ok(Self { file })
    }
}

impl Drop for StateLock {
    /// Unlocks at once: a child process may have inherited the file and keep it open.
    fn drop(&mut self) {
        let _freed = self.file.unlock();
    }
}

/// The path of a state's lock file.
pub(super) fn lock_path(state: &Path) -> PathBuf {
    with_suffix(state, ".lock")
}

/// Whether the state has a lock file, which shows that a state has been here before. `Err` where another file has that name.
pub(super) fn has_lock_file(state: &Path) -> Result<bool, StateError> {
    let path = lock_path(state);
    match fs::metadata(&path) {
        Ok(metadata) if metadata.len() == 0 => return Ok(metadata.is_file()),
        Ok(_) => {}
        Err(_) => return Ok(false),
    }
    match first_bytes(&path, BEGINNING.len()) {
        Ok(head) if head == BEGINNING.as_bytes() => Ok(true),
        // After a power cut the file may hold zeros instead of the holder's name.
        Ok(head) if head.iter().all(|byte| *byte == 0) => Ok(true),
        Ok(_) => Err(StateError::Foreign { path }),
        Err(cause) => Err(StateError::io(&path, cause)),
    }
}

fn write_holder(file: &mut File) -> std::io::Result<()> {
    let holder = LockHolder {
        dynafold: String::from("lock"),
        pid: Some(std::process::id()),
        host: host(),
        since: Some(
            jiff::Timestamp::now()
                .strftime("%Y-%m-%d %H:%M:%S UTC")
                .to_string(),
        ),
    };
    let line = serde_json::to_string(&holder)?;
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(line.as_bytes())
}

fn held_by_another(state: &Path, mut file: File) -> StateError {
    // The holder may have taken the lock just now, and not have written its name yet.
    sleep(INTRODUCTION);
    let mut text = String::new();
    let holder: LockHolder = match file.read_to_string(&mut text) {
        Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => LockHolder::default(),
    };
    StateError::Held {
        path: state.to_owned(),
        pid: holder.pid,
        host: holder.host,
        since: holder.since,
    }
}

fn host() -> Option<String> {
    let read = |path| fs::read_to_string(path).ok();
    let name = read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname"))?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
