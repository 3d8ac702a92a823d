//! Files that hold rows, keys or how a load goes: only their owner may read them, from the moment that they are created and
//! whatever the umask says. An existing file keeps its permissions.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result, Write as _};
use std::path::Path;

/// Options that create such a file; the caller adds what it opens it for.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// Creates an empty file where none is, before SQLite opens it: SQLite gives the files that it puts beside it the same
/// permissions. A failure is left to SQLite to report.
pub fn create_empty(path: &Path) {
    let _ = options().write(true).create_new(true).open(path);
}

/// The result of asking for a file, reading it or deleting it; `None` where there is no such file.
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

/// Writes a file whole, or not at all: first beside it, ending in `.tmp`, then in its place.
///
/// # Errors
///
/// What the operating system says.
pub fn write_whole(path: &Path, text: &[u8]) -> Result<()> {
    replace(path, &path.with_extension("tmp"), text, options())
}

/// Writes a file whole, or not at all: first beside it, to a file that is created with these options, then in its place.
/// What an earlier run has left beside it is removed, and never written to: it may be a link, or another user's file.
///
/// # Errors
///
/// What the operating system says.
pub fn replace(path: &Path, beside: &Path, text: &[u8], mut options: OpenOptions) -> Result<()> {
    if_there(std::fs::remove_file(beside))?;
    let mut file = options.write(true).create_new(true).open(beside)?;
    let written = file
        .write_all(text)
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(beside, path));
    if written.is_err() {
        // What is left of it is of no use; that it cannot be removed is not what went wrong.
        let _ = std::fs::remove_file(beside);
    }
    written?;
    sync_folder(path)
}

/// Makes durable that a file in its folder was created or renamed. Does nothing where folders cannot be opened or synced, as
/// on Windows.
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
    folder.sync_all().or_else(|error| match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    })
}
