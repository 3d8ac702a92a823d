//! Files that hold rows, keys or how a load goes: nobody but their owner may read them, from the moment that they are made
//! and whatever the umask says. One that is there already keeps its permissions.

use std::fs::OpenOptions;
use std::path::Path;

/// How such a file is opened. Whoever opens it says for what.
#[must_use]
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
