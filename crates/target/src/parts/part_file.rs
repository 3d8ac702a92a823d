//! A file of an export that is being written, on the disk or in S3.

use std::fs::File;
use std::io::{self, Write};

use crate::s3::Upload;

/// A file of an export that is being written.
pub(super) enum PartFile {
    File(File),
    Object(Box<Upload>),
}

impl PartFile {
    /// Makes it durable. The `ETag` of an object.
    pub(super) fn finish(self) -> io::Result<Option<String>> {
        match self {
            Self::File(file) => file.sync_all().map(|()| None),
            Self::Object(upload) => upload.finish().map(Some).map_err(io::Error::other),
        }
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Object(upload) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Object(upload) => upload.flush(),
        }
    }
}
