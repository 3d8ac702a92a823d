//! One run at a time: a lock on a file beside the state.
//!
//! The operating system holds it and frees it when the process ends, however it ends. The file
//! stays: a lock on a file that was deleted would keep nobody out. What it says about the holder is
//! only for the message.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::StateError;

/// How every lock file of ours begins.
const BEGINNING: &str = "{\"dynafold\":\"lock\"";
/// What a holder takes to say who it is.
const INTRODUCTION: Duration = Duration::from_millis(30);

/// The lock; dropping it frees it.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Holder {
    dynafold: String,
    pid: Option<u32>,
    host: Option<String>,
    since: Option<String>,
}

impl Lock {
    /// Takes the lock of a state, or says who has it.
    pub(super) fn take(state: &Path) -> Result<Self, StateError> {
        let path = path(state);
        let failed = |cause| StateError::io(&path, cause);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(state, file)),
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        introduce(&mut file).map_err(failed)?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    /// At once, and not when a process that is being started has closed what it inherits.
    fn drop(&mut self) {
        let _freed = self.file.unlock();
    }
}

/// Where the lock of a state is.
pub(super) fn path(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Whether a state of ours has been at a path before: its lock is there, and is one. `Err`: a file
/// has the lock's name that is none.
pub(super) fn is_there(state: &Path) -> Result<bool, StateError> {
    let path = path(state);
    let mut head = Vec::new();
    match fs::metadata(&path) {
        Ok(metadata) if metadata.len() == 0 => return Ok(metadata.is_file()),
        Ok(_) => {}
        Err(_) => return Ok(false),
    }
    let wanted = u64::try_from(BEGINNING.len()).unwrap_or(u64::MAX);
    let read = File::open(&path).and_then(|file| file.take(wanted).read_to_end(&mut head));
    match read {
        Ok(_) if head == BEGINNING.as_bytes() => Ok(true),
        // A power cut leaves zeros where the name of the holder was to be.
        Ok(_) if head.iter().all(|byte| *byte == 0) => Ok(true),
        Ok(_) => Err(StateError::Foreign { path }),
        Err(cause) => Err(StateError::io(&path, cause)),
    }
}

fn introduce(file: &mut File) -> std::io::Result<()> {
    let holder = Holder {
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

fn held(state: &Path, mut file: File) -> StateError {
    // It may have taken the lock in this very moment.
    sleep(INTRODUCTION);
    let mut text = String::new();
    let holder: Holder = match file.read_to_string(&mut text) {
        Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => Holder::default(),
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
