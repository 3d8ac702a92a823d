//! What the file system says of the database's files, as a proof that they did not change.
//!
//! The files themselves are not opened: closing one would let go of the locks that SQLite holds on
//! it for this process. Times are only as fine as the kernel's tick, so files that changed a moment
//! ago prove nothing: a second change might have the same times.

use std::path::Path;
use std::time::{Duration, SystemTime};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::super::{Result, SourceError};

/// How long files must have been left alone for their times to prove it.
const SETTLED: Duration = Duration::from_secs(2);

/// What there is to see of the database's file and its write-ahead log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileState {
    text: String,
    newest: SystemTime,
}

impl FileState {
    /// Looks; `None` where the system does not tell enough.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let mut state = Self {
            text: String::new(),
            newest: SystemTime::UNIX_EPOCH,
        };
        state.add(file)?;
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        match std::fs::metadata(&log) {
            Ok(found) if found.len() > 0 => state.add(Path::new(&log))?,
            _ => {}
        }
        Some(state)
    }

    /// The stamp of a snapshot that was taken between two looks, the first of them after `began`.
    pub(super) fn stamp(
        before: Option<Self>,
        after: Option<Self>,
        began: SystemTime,
    ) -> Option<String> {
        let (before, after) = before.zip(after)?;
        let settled = before.newest.checked_add(SETTLED)? < began;
        (settled && before == after).then_some(before.text)
    }

    #[cfg(unix)]
    fn add(&mut self, file: &Path) -> Option<()> {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(file).ok()?;
        let second = |at: i64, nanos: i64| {
            let at = Duration::new(u64::try_from(at).ok()?, u32::try_from(nanos).ok()?);
            SystemTime::UNIX_EPOCH.checked_add(at)
        };
        let changed = second(found.ctime(), found.ctime_nsec())?;
        let written = second(found.mtime(), found.mtime_nsec())?;
        self.newest = self.newest.max(changed).max(written);
        self.text.push_str(&format!(
            "{}:{}:{}:{}.{:09}:{}.{:09};",
            found.dev(),
            found.ino(),
            found.len(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec()
        ));
        Some(())
    }

    // Without the time of the last change of the file's own entry, which nobody can set, a file that
    // was put back may look like one that was left alone.
    #[cfg(not(unix))]
    fn add(&mut self, _: &Path) -> Option<()> {
        None
    }
}

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
    #[cfg(unix)]
    pub(super) fn named(file: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(file).ok()?;
        Some(Self {
            id: (found.dev(), found.ino()),
            size: found.len(),
            written: found.modified().ok()?,
        })
    }

    #[cfg(not(unix))]
    pub(super) fn named(_: &Path) -> Option<Self> {
        None
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

// Makes a SQLite file from scripts: the demo's source. Nothing else here ever writes.

/// Makes a new database file and runs scripts in it.
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
