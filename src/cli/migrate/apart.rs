//! Files that a load writes are files of their own: of two options that name one, the later would
//! take the other's for damaged or for somebody else's, after it was begun.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::target::TargetSpec;

/// Refuses options that name one file, said or not, and names them.
pub(super) fn files(
    target: &TargetSpec,
    state: &Path,
    rejects: &Path,
    archive: &Path,
) -> Result<(), Failure> {
    let target = match target {
        TargetSpec::Local { file } => file.as_deref(),
        TargetSpec::Dynamodb { .. } => None,
    };
    let files: Vec<(&str, PathBuf)> = [
        ("--target", target),
        ("--state", Some(state)),
        ("--rejects", Some(rejects)),
        ("--archive", Some(archive)),
    ]
    .into_iter()
    .filter_map(|(name, file)| Some((name, real(file?))))
    .collect();
    for (at, (name, file)) in files.iter().enumerate() {
        let mut before = files.iter().take(at);
        if let Some((other, _)) = before.find(|(_, before)| before == file) {
            return Err(
                Failure::usage(format!("{other} and {name} name the same file"))
                    .with_help("give each a file of its own"),
            );
        }
    }
    Ok(())
}

/// The file behind a name, which need not be there yet.
fn real(file: &Path) -> PathBuf {
    if let Ok(real) = file.canonicalize() {
        return real;
    }
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => whole,
    }
}
