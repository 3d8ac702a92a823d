//! The items of a spool's file in the order of their hashes, each once.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::spool::{BlockWriter, HEADER_BYTES, read_header};
use super::{damaged, failed};
use crate::{Result, TargetError};

/// Bytes of a file that are sorted at once, by each thread.
const AT_ONCE: u64 = 12 << 20;

/// Sorts files one after the other, in the same memory.
#[derive(Default)]
pub(super) struct FileSorter {
    /// A whole file.
    bytes: Vec<u8>,
    /// The hashes of its items, and where they stand in it.
    items: Vec<(u128, Range<usize>)>,
}

impl FileSorter {
    /// Gives `each` the items of a file, in the order of hash and bytes; equal ones once. `known`: leading bits of the
    /// hash that are the same for all of them. The file is left as it is.
    pub(super) fn sorted(
        &mut self,
        path: &Path,
        known: u32,
        each: &mut dyn FnMut(u128, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let size = match fs::metadata(path) {
            Ok(about) => about.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(path, "read", error)),
        };
        if size <= AT_ONCE || known >= u128::BITS {
            return self.at_once(path, size, each);
        }
        // The parts are about half as large as may be sorted at once, and no more than the process may open.
        let wanted = (size / (AT_ONCE / 2)).next_power_of_two().trailing_zeros();
        let bits = wanted.clamp(1, 5).min(u128::BITS - known);
        let parts = split(path, known, bits)?;
        for part in &parts {
            self.sorted(part, known + bits, each)?;
            fs::remove_file(part)
                .or_else(|error| match error.kind() {
                    ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                })
                .map_err(|error| failed(part, "delete", error))?;
        }
        Ok(())
    }

    /// Sorts a file in memory.
    fn at_once(
        &mut self,
        path: &Path,
        size: u64,
        each: &mut dyn FnMut(u128, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let Self { bytes, items } = self;
        bytes.clear();
        items.clear();
        // Files are about as large as each other: to double the room for the next would be too much.
        bytes.reserve_exact(usize::try_from(size).unwrap_or_default());
        File::open(path)
            .and_then(|mut file| file.read_to_end(bytes))
            .map_err(|error| failed(path, "read", error))?;
        let mut at = 0;
        while let Some((first, rest)) = bytes.get(at..).and_then(<[u8]>::split_first_chunk) {
            let block = whole(*first, rest).ok_or_else(|| not_whole(path))?;
            at += HEADER_BYTES;
            for item in ranges(block) {
                let item = item.ok_or_else(|| not_whole(path))?;
                let json = block.get(item.clone()).unwrap_or_default();
                items.push((xxh3_128(json), at + item.start..at + item.end));
            }
            at += block.len();
        }
        if at < bytes.len() {
            return Err(not_whole(path));
        }
        let json = |at: &Range<usize>| bytes.get(at.clone()).unwrap_or_default();
        items.sort_unstable_by(|(one, at), (other, there)| {
            one.cmp(other).then_with(|| json(at).cmp(json(there)))
        });
        items.dedup_by(|(one, at), (other, there)| one == other && json(at) == json(there));
        items
            .iter()
            .try_for_each(|(hash, at)| each(*hash, json(at)))
    }
}

/// Spreads a file over others, by some bits of the hash.
fn split(path: &Path, known: u32, bits: u32) -> Result<Vec<PathBuf>> {
    let count = 1_usize << bits;
    let paths: Vec<PathBuf> = (0..count)
        .map(|part| path.with_extension(format!("{known}-{part:02x}")))
        .collect();
    for left in paths.iter().filter(|path| path.exists()) {
        fs::remove_file(left).map_err(|error| failed(left, "delete", error))?;
    }
    let mut blocks = BlockWriter::new(path, paths.iter().cloned());
    in_order(path, &mut |hash, json| {
        let part = (hash << known) >> (u128::BITS - bits);
        blocks.put(usize::try_from(part).unwrap_or_default(), json)
    })?;
    blocks.finish()?;
    Ok(paths)
}

/// Reads the items of a file in the order in which they were written.
fn in_order(path: &Path, each: &mut dyn FnMut(u128, &[u8]) -> Result<()>) -> Result<()> {
    let unreadable = |error| failed(path, "read", error);
    let file = File::open(path).map_err(unreadable)?;
    let mut left = file.metadata().map_err(unreadable)?.len();
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut block = Vec::new();
    let mut first = [0; HEADER_BYTES];
    while left > 0 {
        file.read_exact(&mut first)
            .map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => not_whole(path),
                _ => unreadable(error),
            })?;
        let (length, _) = read_header(first);
        left = left
            .checked_sub(u64::from(length) + u64::try_from(HEADER_BYTES).unwrap_or_default())
            .ok_or_else(|| not_whole(path))?;
        block.resize(usize::try_from(length).unwrap_or_default(), 0);
        file.read_exact(&mut block).map_err(unreadable)?;
        let block = whole(first, &block).ok_or_else(|| not_whole(path))?;
        for item in ranges(block) {
            let item = item.ok_or_else(|| not_whole(path))?;
            let json = block.get(item).unwrap_or_default();
            each(xxh3_128(json), json)?;
        }
    }
    Ok(())
}

/// The block behind its head; `None` where it is not what was written.
fn whole(first: [u8; HEADER_BYTES], rest: &[u8]) -> Option<&[u8]> {
    let (length, sum) = read_header(first);
    let block = rest.get(..usize::try_from(length).ok()?)?;
    (crc32fast::hash(block) == sum).then_some(block)
}

/// Where the items of a block stand in it; `None` where one ends beyond it.
fn ranges(block: &[u8]) -> impl Iterator<Item = Option<Range<usize>>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let length = block.get(at..)?.first_chunk::<4>()?;
        let from = at + length.len();
        let end = from.checked_add(usize::try_from(u32::from_le_bytes(*length)).ok()?);
        at = end.unwrap_or(usize::MAX);
        Some((at <= block.len()).then_some(from..at))
    })
}

fn not_whole(path: &Path) -> TargetError {
    damaged(path, "is damaged: a block is not what was written")
        .with_help("start over with --fresh; if this happens again, the disk may be failing")
}
