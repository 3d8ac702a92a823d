//! Writes the parts of an export from its spool.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::encode::Encoder;
use super::manifest::sync_folder;
use super::sort::sorted;
use super::spool::{BUCKETS, Spool};
use super::{Compression, Part, damaged, failed};
use crate::{Result, TargetError, private};

/// Bytes of items, as DynamoDB counts them, that a part has at most on average: about 100 MB of DynamoDB JSON.
const PART_BYTES: u64 = 64 << 20;
/// Items that a part has at most on average. An import from S3 wants no more than about 4 million in an object.
const PART_ITEMS: u64 = 1 << 20;
/// Parts are at most 2 to this power: 32,768, below the 50,000 objects that one import takes.
const MOST_BITS: u32 = 15;
/// What stands around an item on its line.
pub(super) const FRAME: (&[u8], &[u8]) = (b"{\"Item\":", b"}\n");

/// Into how many parts items are cut: by the first bits of their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartsPlan {
    bits: u32,
}

impl PartsPlan {
    /// The plan for so many items and bytes, as DynamoDB counts them. The same for the same items, so that an export that
    /// is made again has the same parts.
    #[must_use]
    pub fn of(items: u64, bytes: u64) -> Self {
        let parts = bytes
            .div_ceil(PART_BYTES)
            .max(items.div_ceil(PART_ITEMS))
            .max(1);
        let bits = parts.next_power_of_two().trailing_zeros();
        Self {
            bits: bits.min(MOST_BITS),
        }
    }

    /// Leading bits of a hash that choose its part.
    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// The part of a hash.
    pub(super) fn part(self, hash: u128) -> usize {
        if self.bits == 0 {
            return 0;
        }
        usize::try_from(hash >> (u128::BITS - self.bits)).unwrap_or_default()
    }

    /// Files of the spool that are worked on one after the other: in different groups, parts differ.
    pub(super) fn groups(self) -> Vec<std::ops::Range<usize>> {
        let groups = (1 << self.bits).min(BUCKETS);
        let each = BUCKETS / groups;
        (0..groups)
            .map(|group| group * each..(group + 1) * each)
            .collect()
    }

    /// The name of a part.
    pub(super) fn name(part: usize, compression: Compression) -> String {
        format!("data/part-{part:05}.json{}", compression.ending())
    }
}

impl Spool {
    /// Sorts what it holds and writes the parts into `folder`. `items`: how many the load has written. Blocks.
    /// `stop`: the caller's way to end it. `done` counts the items that are in parts. `None` where it was stopped.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when files cannot be read or written, or when they hold more or fewer items than the load has
    /// written.
    pub fn write_parts(
        &self,
        folder: &Path,
        plan: PartsPlan,
        compression: Compression,
        items: u64,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> Result<Option<Vec<Part>>> {
        let data = folder.join("data");
        let cleared = match fs::remove_dir_all(&data) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(&data),
        };
        cleared.map_err(|error| failed(&data, "make the folder", error))?;
        let groups = plan.groups();
        let work = |group: std::ops::Range<usize>| -> Result<Vec<Part>> {
            let mut parts = PartWriter::new(folder, plan, compression, done);
            for bucket in group {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                sorted(&self.path(bucket), u8::BITS, &mut |hash, json| {
                    parts.put(hash, json)
                })?;
            }
            parts.finish()
        };
        let parts = side_by_side(&groups, &work)?;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let parts: Vec<Part> = parts.into_iter().flatten().collect();
        let written: u64 = parts.iter().map(|part| part.items).sum();
        if written != items {
            let what = format!("holds {written} items, and the load has written {items}");
            return Err(damaged(self.folder(), &what).with_help(
                "files were lost or changed since they were written, such as in a power cut: start over with --fresh",
            ));
        }
        sync_folder(&data.join("part")).map_err(|error| failed(&data, "write", error))?;
        Ok(Some(parts))
    }

    /// Deletes the spool.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when that fails.
    pub fn delete(self) -> Result<()> {
        fs::remove_dir_all(self.folder()).map_err(|error| failed(self.folder(), "delete", error))
    }
}

/// Does something for each group, on as many threads as there are processors; the results in the order of the groups.
pub(super) fn side_by_side<T: Send>(
    groups: &[std::ops::Range<usize>],
    work: &(dyn Fn(std::ops::Range<usize>) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, T)>> = Mutex::default();
    let failure: Mutex<Option<TargetError>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(groups.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(group) = groups.get(at).filter(|_| failure.lock().is_none()) else {
                        return;
                    };
                    match work(group.clone()) {
                        Ok(result) => results.lock().push((at, result)),
                        Err(error) => *failure.lock() = Some(error),
                    }
                }
            });
        }
    });
    if let Some(error) = failure.into_inner() {
        return Err(error);
    }
    let mut results = results.into_inner();
    results.sort_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Writes items, which come in the order of their hashes, into their parts.
struct PartWriter<'w> {
    folder: &'w Path,
    plan: PartsPlan,
    compression: Compression,
    done: &'w AtomicU64,
    open: Option<OpenPart>,
    parts: Vec<Part>,
}

struct OpenPart {
    number: usize,
    path: PathBuf,
    encoder: Encoder,
    items: u64,
    bytes: u64,
}

impl<'w> PartWriter<'w> {
    fn new(
        folder: &'w Path,
        plan: PartsPlan,
        compression: Compression,
        done: &'w AtomicU64,
    ) -> Self {
        Self {
            folder,
            plan,
            compression,
            done,
            open: None,
            parts: Vec::new(),
        }
    }

    fn put(&mut self, hash: u128, json: &[u8]) -> Result<()> {
        let number = self.plan.part(hash);
        if self.open.as_ref().is_none_or(|open| open.number != number) {
            self.close()?;
            let path = self.folder.join(PartsPlan::name(number, self.compression));
            let file = private::options().write(true).create_new(true).open(&path);
            let encoder = file.and_then(|file| Encoder::new(file, self.compression));
            self.open = Some(OpenPart {
                number,
                encoder: encoder.map_err(|error| failed(&path, "write", error))?,
                path,
                items: 0,
                bytes: 0,
            });
        }
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        for piece in [FRAME.0, json, FRAME.1] {
            (open.encoder.write_all(piece)).map_err(|error| failed(&open.path, "write", error))?;
            open.bytes += u64::try_from(piece.len()).unwrap_or_default();
        }
        open.items += 1;
        self.done.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let finished = open.encoder.finish();
        let (bytes, sha256) = finished.map_err(|error| failed(&open.path, "write", error))?;
        self.parts.push(Part {
            file: PartsPlan::name(open.number, self.compression),
            items: open.items,
            uncompressed_bytes: open.bytes,
            bytes,
            sha256,
        });
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Part>> {
        self.close()?;
        Ok(self.parts)
    }
}
