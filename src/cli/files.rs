//! What several commands do with files and folders; a failure names the one that it is about.

use std::fs;
use std::path::Path;

use super::docs;
use super::failure::Failure;
use crate::target::private::if_there;

/// Deletes a file, if it is there.
pub(super) fn delete(path: &Path) -> Result<(), Failure> {
    let deleted = if_there(fs::remove_file(path)).map(drop);
    deleted.map_err(|error| {
        Failure::failed(format!("cannot delete `{}`", path.display())).with_cause(&error)
    })
}

/// Makes a folder, and those that it is in.
pub(super) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| {
        Failure::failed(format!("cannot make the folder `{}`", path.display())).with_cause(&error)
    })
}

/// Writes a file, or says which one could not be written.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = docs::files::write(path, text, fs::File::options());
    written.map_err(|error| Failure::unwritten(path, &error))
}

/// Refuses to write over a file that is not to be overwritten.
pub(super) fn refuse_existing(file: &Path, force: bool) -> Result<(), Failure> {
    if force || file == Path::new("-") || !file.exists() {
        return Ok(());
    }
    let failure = Failure::usage(format!("`{}` exists already", file.display()));
    Err(failure.with_help("use --force to overwrite it, or name another file"))
}
