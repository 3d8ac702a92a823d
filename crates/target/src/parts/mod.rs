//! A table as files, in a folder or in S3: items in DynamoDB JSON, one a line, in parts that `ImportTable` reads.
//!
//! A load writes its items into a [`Spool`], which stands for a table: blocks of items in 256 files, by a hash of the
//! item's own JSON. When the load is complete, [`Spool::write_parts`] sorts each file by that hash and writes the parts. So
//! the order of a part does not follow partition keys, the same items give the same bytes, and an item that
//! a resumed load has written twice is one item: its lines are equal. A [`Manifest`] says what the parts hold.
//! [`Spool::compare`] holds parts against the items of another load.
//!
//! Memory does not grow with the data: a file that is too large to be sorted at once is cut further.

mod compare;
mod encode;
mod lines;
mod manifest;
mod place;
mod plan;
mod sort;
mod spool;
mod write;

use std::io;
use std::path::Path;

pub use compare::{PartsComparison, PartsDifference, PartsDifferenceKind};
pub use encode::{Compression, unpacked};
pub use lines::ItemLines;
pub use manifest::{IMPORT_TABLE, ItemTypeCount, Manifest, Part, WrittenPart, import_table};
pub use place::{ExportPlace, PlaceContents};
pub use plan::PartsPlan;
pub use spool::Spool;
pub use write::{PartsJob, PartsOf};

use super::{TargetError, TargetErrorKind};

/// What an error of the operating system means for an export.
pub(super) fn failed(path: &Path, what: &str, error: io::Error) -> TargetError {
    // What a bucket did not take says so itself.
    if let Some(failure) = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<TargetError>())
    {
        return failure.clone();
    }
    let shown = path.display();
    let failure = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            let message = format!("no space is left for {shown}");
            TargetError::of_file(TargetErrorKind::DiskFull, message)
                .with_help("free some disk space and start the same command again: an export needs room for its uncompressed items until it ends, and for its parts")
        }
        _ => TargetError::of_file(TargetErrorKind::File, format!("cannot {what} {shown}")),
    };
    failure.with_cause(error, 0)
}

/// What is wrong with the files of an export.
pub(super) fn damaged(path: &Path, what: &str) -> TargetError {
    TargetError::of_file(TargetErrorKind::File, format!("{} {what}", path.display()))
}
