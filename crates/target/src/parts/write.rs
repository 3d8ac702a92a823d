//! Writes the parts of an export from its spool.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::encode::Encoder;
use super::lines::{LineFrame, plain};
use super::plan::PartsPlan;
use super::sort::FileSorter;
use super::spool::Spool;
use super::{Compression, ExportPlace, ItemLines, Part, WrittenPart, damaged, failed};
use crate::private::{self, if_there, sync_folder};
use crate::s3::S3Object;
use crate::{Result, TargetError};

/// Bytes of lines that are gathered before they are encoded: each call of a compressor costs as much as an item.
const BLOCK: usize = 256 << 10;

/// How parts are written.
#[derive(Debug, Clone)]
pub struct PartsJob {
    /// Where they go.
    pub place: ExportPlace,
    /// Into how many the items are cut.
    pub plan: PartsPlan,
    /// How items are written.
    pub lines: ItemLines,
    /// How parts are compressed.
    pub compression: Compression,
    /// How many items the load has written.
    pub items: u64,
    /// Whose parts these are.
    pub of: PartsOf,
}

/// Whose parts are written.
#[derive(Debug, Clone)]
pub enum PartsOf {
    /// Those of an export; what else is in its place is deleted. The file that keeps which are in a bucket already.
    Export(PathBuf),
    /// Those of one chunk of an export, beside those of others. How their names begin: two attempts at a chunk write the same
    /// objects.
    Chunk(String),
}

impl PartsJob {
    fn name(&self, part: usize) -> String {
        let number = match &self.of {
            PartsOf::Export(_) => format!("{part:05}"),
            PartsOf::Chunk(name) => format!("{name}-{part:05}"),
        };
        PartsPlan::name(&number, &self.lines, self.compression)
    }
}

impl Spool {
    /// Sorts what it holds and writes the parts. Blocks. `stop`: the caller's way to end it. `done` counts the items that are in
    /// parts. `None` where it was stopped. Parts that are in a bucket already are not made again.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when files cannot be read or written, or when they hold more or fewer items than the load has
    /// written.
    pub fn write_parts(
        &self,
        job: &PartsJob,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> Result<Option<Vec<WrittenPart>>> {
        let Some(parts) = self.sorted_parts(job, stop, done)? else {
            return Ok(None);
        };
        let written: u64 = parts.iter().map(|one| one.part.items).sum();
        // Rows of a chunk that make the same item share its key, which whoever ends the export finds.
        let lost = match job.of {
            PartsOf::Export(_) => written != job.items,
            PartsOf::Chunk(_) => written > job.items || (written == 0 && job.items > 0),
        };
        if lost {
            let what = format!("holds {written} items, but the load wrote {}", job.items);
            return Err(damaged(self.folder(), &what).with_help(
                "files were lost or changed since they were written, such as in a power cut: start over with --fresh",
            ));
        }
        if let ExportPlace::Folder(folder) = &job.place {
            let part = folder.join("data/part");
            sync_folder(&part).map_err(|error| failed(&part, "write", error))?;
        }
        Ok(Some(parts))
    }

    /// The same, however many items there are.
    pub(super) fn sorted_parts(
        &self,
        job: &PartsJob,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> Result<Option<Vec<WrittenPart>>> {
        let uploaded = match (&job.of, &job.place) {
            (PartsOf::Export(uploaded), ExportPlace::Bucket(_)) => {
                Some(UploadedParts::open(uploaded, &job.place.objects()?)?)
            }
            _ => None,
        };
        let known = |name: &str| uploaded.as_ref().and_then(|parts| parts.get(name));
        if matches!(job.of, PartsOf::Export(_)) {
            let own = (0..1 << job.plan.bits()).map(|part| job.name(part));
            let own: HashSet<String> = own.collect();
            let kept = |name: &str| own.contains(name) && known(name).is_some();
            job.place.clear(&kept)?;
        }
        let groups = job.plan.groups();
        // One for each processor: a thread without one makes its part durable meanwhile.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let sorters: Vec<Mutex<FileSorter>> = std::iter::repeat_with(Mutex::default)
            .take(processors)
            .collect();
        let work = |group: std::ops::Range<usize>| -> Result<Vec<WrittenPart>> {
            let mut parts = PartWriter::new(job, uploaded.as_ref(), done);
            let first = known(&job.name(job.plan.first_part(&group)));
            if let Some(known) = first.filter(|_| job.plan.bits() <= u8::BITS) {
                done.fetch_add(known.part.items, Ordering::Relaxed);
                return Ok(vec![known.clone()]);
            }
            let free = sorters.iter().find_map(Mutex::try_lock);
            let next = || {
                let index = group.start / group.len().max(1) % sorters.len();
                sorters.get(index).map(Mutex::lock)
            };
            let Some(mut sorter) = free.or_else(next) else {
                return Ok(Vec::new());
            };
            for bucket in group {
                sorter.sorted(&self.path(bucket), u8::BITS, &mut |hash, json| {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    parts.put(hash, json)
                })?;
                // A part that is not whole is dropped: it never appears.
                if stop.load(Ordering::Relaxed) {
                    return Ok(Vec::new());
                }
            }
            drop(sorter);
            parts.finish()
        };
        let parts = side_by_side(&groups, &work)?;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(Some(parts.into_iter().flatten().collect()))
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

/// Does something for each group, on one thread more than there are processors, so that none is idle while a part
/// waits for the disk; the results in the order of the groups.
pub(super) fn side_by_side<T: Send>(
    groups: &[std::ops::Range<usize>],
    work: &(dyn Fn(std::ops::Range<usize>) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, T)>> = Mutex::default();
    let failure: Mutex<Option<TargetError>> = Mutex::default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..(processors + 1).min(groups.len()) {
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
    job: &'w PartsJob,
    uploaded: Option<&'w UploadedParts>,
    /// What stands around an item; `None` where items are written as plain JSON.
    frame: Option<LineFrame>,
    /// Lines that are not encoded yet.
    lines: Vec<u8>,
    done: &'w AtomicU64,
    open: Option<OpenPart>,
    /// The part, of those that are in the bucket already, whose items are passed over.
    passed: Option<usize>,
    parts: Vec<WrittenPart>,
}

struct OpenPart {
    number: usize,
    name: String,
    path: PathBuf,
    encoder: Encoder,
    items: u64,
    /// Of these, those that are counted as done.
    counted: u64,
    bytes: u64,
}

impl OpenPart {
    /// Encodes lines, of which none are left, and counts their items as done.
    fn encode(&mut self, lines: &mut Vec<u8>, done: &AtomicU64) -> Result<()> {
        let encoded = self.encoder.write_all(lines);
        lines.clear();
        done.fetch_add(self.items - self.counted, Ordering::Relaxed);
        self.counted = self.items;
        encoded.map_err(|error| failed(&self.path, "write", error))
    }
}

impl<'w> PartWriter<'w> {
    fn new(job: &'w PartsJob, uploaded: Option<&'w UploadedParts>, done: &'w AtomicU64) -> Self {
        Self {
            job,
            uploaded,
            frame: job.lines.frame(),
            lines: Vec::with_capacity(2 * BLOCK),
            done,
            open: None,
            passed: None,
            parts: Vec::new(),
        }
    }

    fn put(&mut self, hash: u128, json: &[u8]) -> Result<()> {
        let number = self.job.plan.part(hash);
        if self.passed == Some(number) {
            return Ok(());
        }
        if self.open.as_ref().is_none_or(|open| open.number != number) {
            self.close()?;
            self.open(number)?;
        }
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let before = self.lines.len();
        match &self.frame {
            Some(frame) => {
                for piece in [&frame.before[..], json, &frame.after] {
                    self.lines.extend_from_slice(piece);
                }
            }
            None => plain(json, &mut self.lines).ok_or_else(|| {
                damaged(&open.path, "cannot be made: an item is not DynamoDB JSON")
            })?,
        }
        open.bytes += u64::try_from(self.lines.len() - before).unwrap_or_default();
        open.items += 1;
        if self.lines.len() >= BLOCK {
            open.encode(&mut self.lines, self.done)?;
        }
        Ok(())
    }

    /// Begins a part, or passes over it.
    fn open(&mut self, number: usize) -> Result<()> {
        let name = self.job.name(number);
        if let Some(known) = self.uploaded.and_then(|uploaded| uploaded.get(&name)) {
            self.done.fetch_add(known.part.items, Ordering::Relaxed);
            self.parts.push(known.clone());
            self.passed = Some(number);
            return Ok(());
        }
        let path = self.job.place.named(&name);
        let file = self.job.place.create(&name);
        let encoder = file.and_then(|file| Encoder::new(file, self.job.compression));
        self.open = Some(OpenPart {
            number,
            encoder: encoder.map_err(|error| failed(&path, "write", error))?,
            name,
            path,
            items: 0,
            counted: 0,
            bytes: 0,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        open.encode(&mut self.lines, self.done)?;
        let finished = open.encoder.finish();
        let (bytes, sha256, etag) = finished.map_err(|error| failed(&open.path, "write", error))?;
        let part = Part {
            file: open.name,
            items: open.items,
            uncompressed_bytes: open.bytes,
            bytes,
            sha256,
        };
        let written = WrittenPart { part, etag };
        if let Some(uploaded) = self.uploaded {
            uploaded.add(&written)?;
        }
        self.parts.push(written);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<WrittenPart>> {
        self.close()?;
        Ok(self.parts)
    }
}

/// The parts that are in a bucket already, so that an export that was interrupted does not upload them again. They are kept
/// in a file, one on each line.
struct UploadedParts {
    path: PathBuf,
    file: Mutex<File>,
    /// Those whose objects are there as they were written.
    known: BTreeMap<String, WrittenPart>,
}

impl UploadedParts {
    /// Reads the file, and leaves out what is not among the objects.
    fn open(path: &Path, objects: &[S3Object]) -> Result<Self> {
        let text = if_there(fs::read_to_string(path))
            .map_err(|error| failed(path, "read", error))?
            .unwrap_or_default();
        // A last line that is not whole was being written when the process was killed: its part is made again.
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<WrittenPart>(line).ok());
        let known = lines
            .filter(WrittenPart::is_among(objects))
            .map(|one| (one.part.file.clone(), one))
            .collect();
        let file = private::options().append(true).create(true).open(path);
        let mut file = file.map_err(|error| failed(path, "write", error))?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")
                .map_err(|error| failed(path, "write", error))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            known,
        })
    }

    /// The part of a name, where its object is there.
    fn get(&self, name: &str) -> Option<&WrittenPart> {
        self.known.get(name)
    }

    /// Enters a part whose object is there.
    fn add(&self, part: &WrittenPart) -> Result<()> {
        let put = || -> std::io::Result<()> {
            let mut line = serde_json::to_vec(part)?;
            line.push(b'\n');
            let mut file = self.file.lock();
            file.write_all(&line)?;
            file.sync_data()
        };
        put().map_err(|error| failed(&self.path, "write", error))
    }
}
