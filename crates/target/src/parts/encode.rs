//! The bytes of a part: compressed or not, counted and digested on the way.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use dynafold_format::hex;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::s3::Upload;

/// How parts are compressed. All are what `ImportTable` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// gzip.
    Gzip,
    /// Zstandard: half the time of gzip, and fewer bytes.
    #[default]
    Zstd,
    /// As they are.
    None,
}

impl Compression {
    /// What follows `.json` in the names of parts.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
            Self::None => "",
        }
    }

    /// What `ImportTable` calls it.
    pub fn service_word(self) -> &'static str {
        match self {
            Self::Gzip => "GZIP",
            Self::Zstd => "ZSTD",
            Self::None => "NONE",
        }
    }
}

/// A writer of one part, which is given many lines at a time.
pub(super) enum Encoder {
    Gzip(GzEncoder<Counted>),
    Zstd(zstd::Encoder<'static, Counted>),
    None(Counted),
}

impl Encoder {
    pub(super) fn new(file: PartFile, compression: Compression) -> io::Result<Self> {
        let file = Counted {
            file,
            bytes: 0,
            digest: Sha256::new(),
        };
        Ok(match compression {
            // Level 1 takes a third of the time of level 6, for a tenth more bytes.
            Compression::Gzip => Self::Gzip(GzEncoder::new(file, flate2::Compression::fast())),
            Compression::Zstd => Self::Zstd(zstd::Encoder::new(file, 1)?),
            Compression::None => Self::None(file),
        })
    }

    /// Writes what is left: the bytes of the file, their SHA-256, and the `ETag` of an object.
    pub(super) fn finish(self) -> io::Result<(u64, String, Option<String>)> {
        let counted = match self {
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
            Self::None(counted) => counted,
        };
        let etag = counted.file.finish()?;
        Ok((counted.bytes, hex(&counted.digest.finalize()), etag))
    }
}

impl Write for Encoder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
            Self::None(counted) => counted.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
            Self::None(counted) => counted.flush(),
        }
    }
}

/// A file, its bytes and their digest.
pub(super) struct Counted {
    file: PartFile,
    bytes: u64,
    digest: Sha256,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(bytes.get(..written).unwrap_or_default());
        self.bytes += u64::try_from(written).unwrap_or_default();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads a part line by line.
pub(super) fn reader(path: &Path, compression: Compression) -> io::Result<Box<dyn BufRead + Send>> {
    let file = BufReader::with_capacity(1 << 18, File::open(path)?);
    Ok(match compression {
        Compression::Gzip => Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(file))),
        Compression::Zstd => Box::new(BufReader::with_capacity(
            1 << 18,
            zstd::Decoder::with_buffer(file)?,
        )),
        Compression::None => Box::new(file),
    })
}

/// Reads bytes that may be compressed, as their first ones say.
///
/// # Errors
///
/// [`io::Error`] when the reader cannot be made.
pub fn unpacked(bytes: &[u8]) -> io::Result<Box<dyn Read + Send + '_>> {
    Ok(match bytes {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(bytes)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(zstd::Decoder::with_buffer(bytes)?),
        _ => Box::new(bytes),
    })
}

/// The SHA-256 of a file.
pub(super) fn digest(path: &Path) -> io::Result<String> {
    let mut digest = DigestWriter::default();
    io::copy(&mut File::open(path)?, &mut digest)?;
    Ok(digest.finish())
}

/// The SHA-256 of what is written to it.
#[derive(Default)]
pub(super) struct DigestWriter(Sha256);

impl DigestWriter {
    pub(super) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

impl Write for DigestWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::None => "not compressed",
        })
    }
}

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
