//! What the file system says of the database's files, as a proof that they did not change.
//!
//! The files themselves are not opened: closing one would let go of the locks that SQLite holds on
//! it for this process. Times are only as fine as the kernel's tick, so files that changed a moment
//! ago prove nothing: a second change might have the same times.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::super::{Result, SourceError};

/// How long files must have been left alone for their times to prove it.
const SETTLED: Duration = Duration::from_secs(2);

/// The device and the number of a file.
pub(super) type FileId = (u64, u64);

/// Folders in which a system lists what this process has open.
const OPEN_FILES: &[&str] = &["/proc/self/fd", "/dev/fd"];

/// What tells whether a file was written to: its size, and when it was written last. Neither a new name of it nor other
/// rights are anything written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    /// Which file it is, whatever its name comes to mean.
    pub(super) id: FileId,
    size: u64,
    written: SystemTime,
}

impl FileStamp {
    /// Looks at the file of a name; `None` where the system does not tell enough.
    pub(super) fn named(file: &Path) -> Option<Self> {
        Some(look(file)?.0)
    }

    /// Looks again at the same file, which this process has open, whatever its name has come to mean. Where the system
    /// does not say what is open, at the file of the name.
    pub(super) fn now(&self, file: &Path) -> Option<Self> {
        let folders = OPEN_FILES
            .iter()
            .filter_map(|it| std::fs::read_dir(it).ok());
        let open = folders.flatten().flatten();
        let mut open = open.filter_map(|entry| Self::named(&entry.path()));
        let found = open.find(|seen| seen.id == self.id);
        found.or_else(|| Self::named(file))
    }
}

/// What there is to see of a file, and when its entry was changed last, which nobody can set: without that a file that
/// was put back may look like one that was left alone.
#[cfg(unix)]
fn look(file: &Path) -> Option<(FileStamp, SystemTime)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(file).ok()?;
    let nanos = u32::try_from(found.ctime_nsec()).ok()?;
    let changed = Duration::new(u64::try_from(found.ctime()).ok()?, nanos);
    let stamp = FileStamp {
        id: (found.dev(), found.ino()),
        size: found.len(),
        written: found.modified().ok()?,
    };
    Some((stamp, SystemTime::UNIX_EPOCH.checked_add(changed)?))
}

#[cfg(not(unix))]
fn look(_: &Path) -> Option<(FileStamp, SystemTime)> {
    None
}

/// What there is to see of the database's file and its write-ahead log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileState(Vec<(FileStamp, SystemTime)>);

impl FileState {
    /// Looks; `None` where the system does not tell enough.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let mut files = vec![look(file)?];
        let log = log_of(file);
        match std::fs::metadata(&log) {
            Ok(found) if found.len() > 0 => files.push(look(&log)?),
            _ => {}
        }
        Some(Self(files))
    }

    /// The stamp of a snapshot that was taken between two looks, the first of them after `began`.
    pub(super) fn stamp(
        before: Option<Self>,
        after: Option<Self>,
        began: SystemTime,
    ) -> Option<String> {
        let (before, after) = before.zip(after)?;
        let times = before
            .0
            .iter()
            .flat_map(|(file, changed)| [file.written, *changed]);
        let settled = times.max()?.checked_add(SETTLED)? < began;
        (settled && before == after).then(|| format!("{:?}", before.0))
    }
}

/// The write-ahead log of a database's file.
pub(super) fn log_of(file: &Path) -> PathBuf {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

/// Makes a new database file and runs scripts in it: the demo's source. Nothing else here ever writes.
///
/// # Errors
///
/// [`SourceError::Connect`] when the file cannot be made, [`SourceError::Query`] when a script
/// fails.
pub async fn create(file: &Path, scripts: &[&str]) -> Result<()> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true);
    let place = format!("sqlite:{}", file.display());
    let mut connection = match options.connect().await {
        Ok(connection) => connection,
        Err(cause) => {
            let help = "choose a folder that can be written".to_owned();
            return Err(SourceError::Connect { place, help, cause });
        }
    };
    let done = async {
        for script in scripts {
            let script = sqlx::raw_sql(AssertSqlSafe((*script).to_owned()));
            script.execute(&mut connection).await?;
        }
        connection.close().await
    };
    let object = place;
    done.await
        .map_err(|cause| SourceError::Query { object, cause })
}
