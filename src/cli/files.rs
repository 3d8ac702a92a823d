//! What several commands do with files and folders; a failure names the one that it is about.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use super::failure::Failure;
use crate::target::private::{if_there, replace};

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
    let written = write_whole(path, text, fs::File::options());
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

/// Writes a file whole or not at all: beside it, created with these options, then in its place.
pub(super) fn write_whole(path: &Path, text: &str, options: OpenOptions) -> io::Result<()> {
    if let Ok(metadata) = fs::metadata(path)
        && !metadata.is_file()
    {
        return fs::File::options()
            .write(true)
            .open(path)?
            .write_all(text.as_bytes());
    }
    // A link stays one: what it leads to is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut beside = path.clone().into_os_string();
    beside.push(format!(".{}.new", std::process::id()));
    replace(&path, Path::new(&beside), text.as_bytes(), options)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::target::private;

    #[test]
    fn what_is_beside_a_file_is_removed_and_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        // The place of the file is known without links, as it is where it is written.
        let folder = folder.path().canonicalize().unwrap();
        let (file, other) = (folder.join("rejects"), folder.join("other"));
        let beside = folder.join(format!("rejects.{}.new", std::process::id()));
        std::fs::write(&other, "theirs").unwrap();
        symlink(&other, &beside).unwrap();
        write_whole(&file, "first", private::options()).unwrap();
        // What was left there, and others may read.
        std::fs::write(&beside, "half of").unwrap();
        write_whole(&file, "second", private::options()).unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!([read(&file), read(&other)], ["second", "theirs"]);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!beside.exists());
    }
}
