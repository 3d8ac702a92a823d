//! What all files of a run need of the file system.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The first bytes of a file, at most `length` of them.
pub(in crate::load) fn first_bytes(path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    File::open(path)?.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The path with a suffix behind its file name.
pub(in crate::load) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
