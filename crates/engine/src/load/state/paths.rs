//! What all files of a run need of the file system.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// How a file begins.
pub(in crate::load) fn head(path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    File::open(path)?.take(length).read_to_end(&mut head)?;
    Ok(head)
}

/// Makes a file that was made or renamed last. Where folders cannot be opened, as on Windows, there
/// is nothing to do.
pub(in crate::load) fn sync_folder(path: &Path) -> std::io::Result<()> {
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

/// The path with this at its end.
pub(in crate::load) fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}
