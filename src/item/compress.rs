//! Makes an item that is too large small enough: `oversize: { compress: […] }`.
//!
//! The attribute becomes B and holds a gzip member (RFC 1952) without a time or a name, so that the
//! same value gives the same bytes. Text is compressed as its UTF-8 bytes; lists, maps and sets as
//! their DynamoDB JSON, `{"M":{…}}`. What is binary already stays as it is: nothing would tell a
//! reader that it was compressed. Numbers and booleans stay too.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};

use super::fault::Fault;
use super::limits::{Limits, Measure};
use super::{Attribute, Item, write_attribute};

/// A gzip header's value for "no particular system", so that none shows in the bytes.
const NO_SYSTEM: u8 = 255;

/// An item that fits after all.
pub(super) struct Shrunk {
    pub(super) item: Item,
    pub(super) measure: Measure,
    /// The attributes that are compressed, in the order of the mapping.
    pub(super) compressed: Vec<Arc<str>>,
}

/// Compresses attributes in the order of `names` until the item fits. An attribute that would not
/// get smaller is left as it is.
pub(super) fn shrink(
    item: &Item,
    names: &[Arc<str>],
    limits: &Limits,
    too_large: Fault,
) -> Result<Shrunk, Fault> {
    let mut smaller = item.clone();
    let mut compressed = Vec::new();
    let mut after = None;
    for name in names {
        let mut attributes = smaller.attributes.iter_mut();
        let Some((_, value)) = attributes.find(|(other, _)| other == name) else {
            continue;
        };
        let Some(packed) = content(value).and_then(|content| pack(&content)) else {
            continue;
        };
        if packed.len() >= value.size() {
            continue;
        }
        *value = Attribute::B(packed);
        compressed.push(name.clone());
        match limits.measure(&smaller) {
            Ok(measure) => {
                return Ok(Shrunk {
                    item: smaller,
                    measure,
                    compressed,
                });
            }
            Err(fault) => after = Some(fault),
        }
    }
    Err(match after {
        Some(after) => too_large.still(&compressed, &after),
        None => too_large,
    })
}

/// What of an attribute is compressed; nothing of what a reader could not tell, or is never large.
fn content(value: &Attribute) -> Option<Vec<u8>> {
    match value {
        Attribute::S(text) => Some(text.as_bytes().to_vec()),
        Attribute::L(_)
        | Attribute::M(_)
        | Attribute::Ss(_)
        | Attribute::Ns(_)
        | Attribute::Bs(_) => {
            let mut json = String::new();
            write_attribute(&mut json, value);
            Some(json.into_bytes())
        }
        Attribute::N(_) | Attribute::B(_) | Attribute::Bool(_) | Attribute::Null => None,
    }
}

/// Writing to memory does not fail; if it did, the attribute would stay as it is.
fn pack(content: &[u8]) -> Option<Vec<u8>> {
    let builder = GzBuilder::new().mtime(0).operating_system(NO_SYSTEM);
    let mut packed = builder.write(Vec::new(), Compression::new(6));
    packed.write_all(content).ok()?;
    packed.finish().ok()
}

/// Whether two items are the same once the named attributes are unpacked: another version of the
/// compressor may give other bytes for the same value. Not without names: then nothing was
/// compressed.
#[must_use]
pub fn same_unpacked(item: &Item, other: &Item, compressed: &[Arc<str>]) -> bool {
    if compressed.is_empty() {
        return false;
    }
    let unpacked = |item: &Item| {
        let mut item = item.clone();
        for (name, value) in &mut item.attributes {
            if let Attribute::B(packed) = value
                && compressed.contains(name)
                && let Some(content) = unpack(packed)
            {
                *value = Attribute::B(content);
            }
        }
        item
    };
    unpacked(item).same(&unpacked(other))
}

/// Bytes that unpack to more are none of ours: a thousand to one is what gzip can do at best.
const MOST: u64 = 1100 * 409_600;

fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let read = GzDecoder::new(packed).take(MOST).read_to_end(&mut content);
    read.ok().map(|_| content)
}
