//! Where a load puts its items before they are sorted.
//!
//! A block is its length and CRC-32 (four bytes each, little-endian), and the items: the length of each, and its JSON. A
//! block is written by one call, so that a process that is killed leaves at most the last block of a file unfinished:
//! [`Spool::resume`] cuts it off. The load had not counted it.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use dynafold_dynamodb::{Index, Position, Request, Table};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_128;

use super::{damaged, failed};
use crate::private::if_there;
use crate::{
    Action, Batch, BatchLimit, BatchOutcome, Difference, ItemKey, Page, Result, ScanRequest,
    TableDescription, Target, TargetError, TargetErrorKind, private,
};

/// Files of a spool: one for each value of the hash's first byte.
pub(super) const BUCKETS: usize = 256;
/// Bytes before the items of a block: their length, and their CRC-32.
pub(super) const HEADER_BYTES: usize = 8;
/// Items that go into the files at once, so that each file gets blocks of some size. In memory are a batch for each processor,
/// which is being filled, one that waits, and those that are being written.
const LIMIT: BatchLimit = BatchLimit {
    items: 2_500,
    bytes: 1_000_000,
};
/// Batches that are written at once: into the memory of the operating system, which takes less time than to fill them.
const IN_FLIGHT: usize = 1;

/// A folder of items that are not sorted yet, as the target of a load.
#[derive(Debug, Clone)]
pub struct Spool {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// What the export is called: the folder that the user has named.
    place: String,
    files: Vec<Mutex<Option<File>>>,
}

impl Spool {
    /// Creates an empty spool and deletes an earlier one in the same folder. `place` is its name in messages.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when the folder cannot be emptied or made.
    pub fn create_in(folder: &Path, place: &Path) -> Result<Self> {
        if_there(fs::remove_dir_all(folder)).map_err(|error| failed(folder, "delete", error))?;
        fs::create_dir_all(folder).map_err(|error| failed(folder, "make the folder", error))?;
        Ok(Self::of(folder, place))
    }

    /// The spool of an export that was interrupted.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when it is not there or cannot be read and written.
    pub fn resume(folder: &Path, place: &Path) -> Result<Self> {
        if !folder.is_dir() {
            return Err(damaged(folder, "is not there").with_help("start over with --fresh"));
        }
        let spool = Self::of(folder, place);
        for bucket in 0..BUCKETS {
            let path = spool.path(bucket);
            if path.exists() {
                truncate_partial_block(&path).map_err(|error| failed(&path, "read", error))?;
            }
        }
        Ok(spool)
    }

    fn of(folder: &Path, place: &Path) -> Self {
        let inner = Inner {
            folder: folder.to_owned(),
            place: place.display().to_string(),
            files: std::iter::repeat_with(Mutex::default)
                .take(BUCKETS)
                .collect(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// The file of a bucket; it is there once it holds an item.
    pub(super) fn path(&self, bucket: usize) -> PathBuf {
        self.inner.folder.join(format!("{bucket:02x}"))
    }

    fn put_all(&self, batch: &Batch) -> Result<()> {
        let mut order: Vec<(usize, usize)> = Vec::with_capacity(batch.len());
        for (index, entry) in batch.entries().iter().enumerate() {
            if entry.action != Action::Put {
                return Err(unsupported("delete items from"));
            }
            order.push((bucket(xxh3_128(batch.json_bytes(index))), index));
        }
        order.sort_unstable();
        let mut block = Vec::new();
        for items in order.chunk_by(|one, next| one.0 == next.0) {
            block.clear();
            block.extend_from_slice(&[0; HEADER_BYTES]);
            for (_, index) in items {
                push_item(&mut block, batch.json_bytes(*index));
            }
            write_header(&mut block);
            let Some((bucket, _)) = items.first() else {
                continue;
            };
            self.append(*bucket, &block)?;
        }
        Ok(())
    }

    fn append(&self, bucket: usize, block: &[u8]) -> Result<()> {
        let path = self.path(bucket);
        let write = |file: &Mutex<Option<File>>| {
            let mut file = file.lock();
            let open = match &mut *file {
                Some(open) => open,
                none => none.insert(private::options().append(true).create(true).open(&path)?),
            };
            open.write_all(block)
        };
        let file = self.inner.files.get(bucket);
        let file = file.ok_or_else(|| no_bucket(&path))?;
        write(file).map_err(|error| failed(&path, "write", error))
    }
}

/// Collects single items into blocks of files that are not there yet.
pub(super) struct BlockWriter<'s> {
    /// What the items are of.
    from: &'s Path,
    files: Vec<BlockFile>,
}

/// A file of blocks, which is made with its first one, and the block that is being filled.
struct BlockFile {
    path: PathBuf,
    open: Option<File>,
    block: Vec<u8>,
}

impl<'s> BlockWriter<'s> {
    /// Bytes that are gathered for a file.
    const BYTES: usize = 64 << 10;

    pub(super) fn new(from: &'s Path, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let files = paths.into_iter().map(|path| BlockFile {
            path,
            open: None,
            block: vec![0; HEADER_BYTES],
        });
        let files = files.collect();
        Self { from, files }
    }

    /// Adds an item to one of the files.
    pub(super) fn put(&mut self, file: usize, json: &[u8]) -> Result<()> {
        let file = self.files.get_mut(file);
        let file = file.ok_or_else(|| no_bucket(self.from))?;
        push_item(&mut file.block, json);
        if file.block.len() >= Self::BYTES {
            file.write()?;
        }
        Ok(())
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<()> {
        let left = |file: &&mut BlockFile| file.block.len() > HEADER_BYTES;
        let mut files = self.files.iter_mut().filter(left);
        files.try_for_each(BlockFile::write)
    }
}

impl BlockFile {
    fn write(&mut self) -> Result<()> {
        let Self { path, open, block } = self;
        write_header(block);
        let put = || -> std::io::Result<()> {
            let open = match open {
                Some(open) => open,
                none => none.insert(
                    private::options()
                        .write(true)
                        .create_new(true)
                        .open(&*path)?,
                ),
            };
            open.write_all(block)
        };
        put().map_err(|error| failed(path, "write", error))?;
        block.truncate(HEADER_BYTES);
        Ok(())
    }
}

/// The bucket of a hash: its first byte.
pub(super) fn bucket(hash: u128) -> usize {
    usize::from(hash.to_be_bytes().first().copied().unwrap_or(0))
}

/// Adds an item to a block.
fn push_item(block: &mut Vec<u8>, json: &[u8]) {
    // An item has 400 KB, its JSON a few times as much.
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
    block.extend_from_slice(&length.to_le_bytes());
    block.extend_from_slice(json);
}

/// Writes the header of a block.
fn write_header(block: &mut [u8]) {
    let Some((head, items)) = block.split_at_mut_checked(HEADER_BYTES) else {
        return;
    };
    let length = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let sum = crc32fast::hash(items);
    for (to, from) in head
        .iter_mut()
        .zip(length.to_le_bytes().into_iter().chain(sum.to_le_bytes()))
    {
        *to = from;
    }
}

/// Reads the header of a block: the length of its items, and their CRC-32.
pub(super) fn read_header(header: [u8; HEADER_BYTES]) -> (u32, u32) {
    let half = |from: usize| {
        let bytes = header.get(from..).and_then(|bytes| bytes.first_chunk());
        u32::from_le_bytes(bytes.copied().unwrap_or_default())
    };
    (half(0), half(4))
}

/// Removes an incomplete last block.
fn truncate_partial_block(path: &Path) -> std::io::Result<()> {
    let mut file = private::options().read(true).write(true).open(path)?;
    let size = file.metadata()?.len();
    let mut at = 0;
    let mut buffer = [0; HEADER_BYTES];
    let whole = u64::try_from(HEADER_BYTES).unwrap_or_default();
    while size - at >= whole {
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut buffer)?;
        let next = at + whole + u64::from(read_header(buffer).0);
        if next > size {
            break;
        }
        at = next;
    }
    if at < size { file.set_len(at) } else { Ok(()) }
}

/// The error for an item that has no file: nothing may be dropped without a word.
fn no_bucket(path: &Path) -> TargetError {
    damaged(path, "is not a file of the export's items")
}

fn unsupported(what: &str) -> TargetError {
    let message = format!("an export cannot {what} its files");
    TargetError::of_file(TargetErrorKind::Refused, message)
}

#[async_trait]
impl Target for Spool {
    fn place(&self) -> String {
        self.inner.place.clone()
    }

    fn concurrency(&self) -> usize {
        IN_FLIGHT
    }

    fn batch_limit(&self) -> BatchLimit {
        LIMIT
    }

    fn deletes_expired(&self) -> bool {
        false
    }

    async fn describe(&self, _name: &str) -> Result<Option<TableDescription>> {
        Ok(None)
    }

    async fn create(&self, _table: &Table) -> Result<Option<Vec<Difference>>> {
        Ok(Some(Vec::new()))
    }

    async fn add_index(&self, _there: &Table, _wanted: &Table, _index: &Index) -> Result<()> {
        Err(unsupported("add an index to"))
    }

    async fn start(&self, _table: &Table, _bulk: bool) -> Result<()> {
        Ok(())
    }

    async fn finish(&self) -> Result<()> {
        Ok(())
    }

    async fn write(&self, _table: &Table, batch: &Batch) -> Result<BatchOutcome> {
        let (spool, batch) = (self.clone(), batch.clone());
        let written = tokio::task::spawn_blocking(move || spool.put_all(&batch)).await;
        match written {
            Ok(written) => written.map(|()| BatchOutcome::default()),
            Err(error) => Err(damaged(self.folder(), "could not be written").with_cause(error, 0)),
        }
    }

    async fn write_one(&self, table: &Table, batch: &Batch, index: usize) -> Result<BatchOutcome> {
        self.write(table, &batch.part(&[index])).await
    }

    async fn read(&self, _table: &Table, _keys: &[ItemKey], _consistent: bool) -> Result<Page> {
        Err(unsupported("look up items in"))
    }

    async fn scan(
        &self,
        _table: &Table,
        _wanted: &ScanRequest,
        _from: Option<Position>,
    ) -> Result<Page> {
        Err(unsupported("scan"))
    }

    async fn ask(
        &self,
        _table: &Table,
        _request: &Request,
        _from: Option<Position>,
    ) -> Result<Page> {
        Err(unsupported("query"))
    }

    async fn delete_table(&self, _name: &str, _id: Option<&str>) -> Result<bool> {
        Err(unsupported("delete"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_without_a_file_is_an_error() {
        let spool = Spool::of(Path::new("items"), Path::new("export"));
        let error = spool.append(BUCKETS, &[]).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::File);
    }
}
