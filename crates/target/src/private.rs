//! Files that hold rows, keys or how a load goes: nobody but their owner may read them, from the moment that they are made
//! and whatever the umask says. One that is there already keeps its permissions. And how such files are read and written
//! whole.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result, Write as _};
use std::path::Path;

/// How such a file is opened. Whoever opens it says for what.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// Makes an empty file where none is, for SQLite, which gives what it puts beside a file the same permissions. That it
/// cannot be made is told by whoever opens it.
pub fn make(path: &Path) {
    let _ = options().write(true).create_new(true).open(path);
}

/// What was found, read or deleted of a file; `None` where there is no such file.
///
/// # Errors
///
/// Any other failure.
pub fn if_there<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Writes a file whole, or not at all: beside it, then in its place.
///
/// # Errors
///
/// What the operating system says.
pub fn write_whole(path: &Path, text: &[u8]) -> Result<()> {
    let before = path.with_extension("tmp");
    let mut how = options();
    let mut file = how.write(true).create(true).truncate(true).open(&before)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&before, path)?;
    sync_folder(path)
}

/// Makes a file durable that was made or renamed last. Where folders cannot be opened, as on Windows, there
/// is nothing to do.
///
/// # Errors
///
/// What the operating system says.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = path.parent().map(|folder| match folder {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    });
    let Some(folder) = folder.and_then(|folder| File::open(folder).ok()) else {
        return Ok(());
    };
    match folder.sync_all() {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}
