//! The files that chunks leave: keys, rejects and archived items.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};

use dynafold_format::whole;
use dynafold_target::private;

use super::FinishError;
use crate::load::failure::{Failure, OutputFile};
use crate::load::files::{clear_rejects, is_filled, refuse_unless};
use crate::load::handed::{KEY, digest};
use crate::load::handout::result::{DoneChunk, FileLines};
use crate::load::rejects::LINE_PREFIX;
use crate::proof::Proof;

/// Bytes of an archived item's line that hold the name of its first attribute.
const MAX_BEGINNING_BYTES: u64 = 2_048;

/// Fails unless the chunk has one key for each of its items.
pub(super) fn expect_keys(chunk: usize, done: &DoneChunk, keys: u64) -> Result<(), FinishError> {
    let made = done.made();
    if keys == made {
        return Ok(());
    }
    Err(FinishError::ChunkKeys { chunk, made, keys })
}

/// Adds the keys of a chunk to a comparison, each under the chunk's number.
pub(super) fn push_keys(
    folder: &Path,
    name: &str,
    (chunk, done): (usize, &DoneChunk),
    all: &mut Proof,
) -> Result<(), FinishError> {
    let unreadable = |cause| FinishError::Unreadable {
        path: folder.join(name),
        cause,
    };
    let file = open_unaltered(folder, name)?;
    let length = file.metadata().map_err(unreadable)?.len();
    expect_keys(chunk, done, length / whole(KEY))?;
    let mut reader = BufReader::new(file);
    let mut key = [0; KEY];
    for _ in 0..done.made() {
        reader.read_exact(&mut key).map_err(unreadable)?;
        let pushed = all.push(u128::from_be_bytes(key), whole(chunk));
        pushed.map_err(Failure::from)?;
    }
    Ok(())
}

/// Opens a file of a chunk, once its content has the digest that its name contains.
fn open_unaltered(folder: &Path, name: &str) -> Result<File, FinishError> {
    let path = folder.join(name);
    let opened = || -> io::Result<_> {
        let mut file = File::open(&path)?;
        let found = digest(&file)?;
        file.rewind()?;
        Ok((file, found))
    };
    match opened() {
        Ok((file, found)) if name.contains(&format!("-{found}.")) => Ok(file),
        Ok(_) => Err(FinishError::Altered(path)),
        Err(cause) => Err(FinishError::Unreadable { path, cause }),
    }
}

/// The beginning of an archived item's line: the name and the type of its partition key.
fn beginning_of(line: &str) -> &str {
    let key = line.find("\":{\"").map_or(0, |at| at + "\":{\"S\":".len());
    line.get(..key).unwrap_or_default()
}

/// Fails unless a chunk has as many lines as its books count.
fn expect_lines(
    (chunk, which): (usize, OutputFile),
    expected: u64,
    lines: u64,
) -> Result<(), FinishError> {
    if lines == expected {
        return Ok(());
    }
    Err(FinishError::ChunkLines {
        chunk,
        what: match which {
            OutputFile::Archive => "archived item",
            OutputFile::Rejects | OutputFile::Keys => "reject",
        },
        expected,
        lines,
    })
}

/// Copies all lines, and counts them.
fn copy_lines(from: File, to: &mut impl Write) -> io::Result<u64> {
    let (mut from, mut line, mut lines) = (BufReader::new(from), Vec::new(), 0);
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        line.clear();
        lines += 1;
    }
    Ok(lines)
}

/// Writes the lines of all chunks into one file, in the order of the chunks. It replaces the file of an earlier run. Without any
/// line there is no file (`None`): earlier rejects are removed, and an earlier archive is an error, because no other file may hold its
/// items.
pub(super) fn gather<'f>(
    folder: &Path,
    files: impl Iterator<Item = (usize, FileLines<'f>)>,
    (which, path): (OutputFile, &Path),
) -> Result<Option<PathBuf>, FinishError> {
    let mut named = Vec::new();
    for (chunk, FileLines { file, lines }) in files {
        match file {
            Some(name) => named.push((chunk, name, lines)),
            None => expect_lines((chunk, which), lines, 0)?,
        }
    }
    let other = |cause| FinishError::OtherFile {
        path: path.to_owned(),
        cause,
    };
    if which == OutputFile::Rejects {
        let why = "it is not a rejects file";
        refuse_unless(LINE_PREFIX, why, path).map_err(other)?;
        clear_rejects(path)?;
    }
    let Some((_, first, _)) = named.first() else {
        if which == OutputFile::Archive && is_filled(path).map_err(other)? {
            return Err(FinishError::OlderArchive(path.to_owned()));
        }
        return Ok(None);
    };
    let unwritten = |cause| which.unwritable(path, cause);
    if which == OutputFile::Archive {
        let mut line = Vec::new();
        let read = open_unaltered(folder, first)?.take(MAX_BEGINNING_BYTES);
        BufReader::new(read)
            .read_until(b'\n', &mut line)
            .map_err(unwritten)?;
        let line = String::from_utf8_lossy(&line);
        let why = "it is not an archive of this table";
        refuse_unless(beginning_of(&line), why, path).map_err(other)?;
    }
    let mut options = private::options();
    let out = (options.write(true).create(true).truncate(true))
        .open(path)
        .map_err(unwritten)?;
    let mut out = BufWriter::new(out);
    for (chunk, name, expected) in named {
        let lines = copy_lines(open_unaltered(folder, name)?, &mut out).map_err(unwritten)?;
        expect_lines((chunk, which), expected, lines)?;
    }
    out.flush().map_err(unwritten)?;
    out.get_ref().sync_all().map_err(unwritten)?;
    Ok(Some(path.to_owned()))
}
