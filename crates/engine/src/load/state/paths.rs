//! What all files of a run need of the file system.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// How a file begins.
pub(in crate::load) fn head(path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    File::open(path)?.take(length).read_to_end(&mut head)?;
    Ok(head)
}

/// The path with this at its end.
pub(in crate::load) fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}
