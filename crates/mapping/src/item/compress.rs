//! Makes an item that is too large small enough: `oversize: { compress: […] }`.
//!
//! The attribute becomes B and holds a gzip member (RFC 1952) without a time or a name, so that the
//! same value gives the same bytes. Text is compressed as its UTF-8 bytes; lists, maps and sets as
//! their DynamoDB JSON, `{"M":{…}}`. What is binary already stays as it is: nothing would tell a
//! reader that it was compressed. Numbers and booleans stay too.

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item, attribute_json, read_attribute};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::fault::Fault;
use super::limits::{ItemLimits, ItemMeasure};

/// A gzip header: deflate, no time, no name, no particular system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Bytes of a gzip trailer: the CRC-32 and the length of the content, both with the low byte first.
const TRAILER: usize = 8;
/// How much an output grows by when it is full.
const ROOM: usize = 64 << 10;

/// An item that fits after all.
pub(super) struct CompressedItem {
    pub(super) item: Item,
    pub(super) measure: ItemMeasure,
    /// The attributes that are compressed, in the order of the mapping.
    pub(super) compressed: Vec<Arc<str>>,
}

/// Compresses attributes in the order of `names` until the item fits. An attribute that would not
/// get smaller is left as it is.
pub(super) fn shrink(
    item: &Item,
    names: &[Arc<str>],
    limits: &ItemLimits,
    too_large: Fault,
) -> Result<CompressedItem, Fault> {
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
        match limits.measure_item(&smaller) {
            Ok(measure) => {
                return Ok(CompressedItem {
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
        | Attribute::Bs(_) => Some(attribute_json(value).into_bytes()),
        Attribute::N(_) | Attribute::B(_) | Attribute::Bool(_) | Attribute::Null => None,
    }
}

/// A gzip member; `None` where the compressor gives up, which it has no reason to.
fn pack(content: &[u8]) -> Option<Vec<u8>> {
    let mut packed = HEADER.to_vec();
    let mut deflate = Compress::new(Compression::new(6), false);
    loop {
        packed.reserve(ROOM);
        let rest = content.get(usize::try_from(deflate.total_in()).ok()?..)?;
        let status = deflate.compress_vec(rest, &mut packed, FlushCompress::Finish);
        match status {
            Ok(Status::StreamEnd) => break,
            Ok(Status::Ok | Status::BufError) => {}
            Err(_) => return None,
        }
    }
    packed.extend(crc32fast::hash(content).to_le_bytes());
    packed.extend(u32::try_from(content.len()).ok()?.to_le_bytes());
    Some(packed)
}

/// The content of a gzip member of ours; `None` for any other bytes, also between the content and its trailer.
fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (deflated, trailer) = packed
        .strip_prefix(&HEADER)?
        .split_last_chunk::<TRAILER>()?;
    let (crc, length) = trailer.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(length.try_into().ok()?);
    let mut content = Vec::with_capacity(usize::try_from(length).ok()?);
    let mut inflate = Decompress::new(false);
    let status = inflate.decompress_vec(deflated, &mut content, FlushDecompress::Finish);
    let whole = matches!(status, Ok(Status::StreamEnd))
        && usize::try_from(inflate.total_in()).ok()? == deflated.len()
        && content.len() == usize::try_from(length).ok()?
        && crc32fast::hash(&content).to_le_bytes() == *crc;
    whole.then_some(content)
}

/// An item whose named attributes hold again what was compressed; nothing where none of them is compressed.
pub fn unpacked(item: &Item, names: &[Arc<str>]) -> Option<Item> {
    unpacked_as(item, names, |content| {
        let content = String::from_utf8(content).ok()?;
        let members = content
            .starts_with('{')
            .then(|| serde_json::from_str(&content));
        let members = members.and_then(Result::ok).and_then(read_attribute);
        Some(members.unwrap_or_else(|| Attribute::S(content.into())))
    })
}

/// Whether two items are the same once the named attributes are unpacked: another version of the
/// compressor may give other bytes for the same value. Not without names: then nothing was
/// compressed.
pub fn same_unpacked(item: &Item, other: &Item, compressed: &[Arc<str>]) -> bool {
    let unpacked = |item: &Item| {
        let whole = unpacked_as(item, compressed, |content| Some(Attribute::B(content)));
        whole.unwrap_or_else(|| item.clone())
    };
    !compressed.is_empty() && unpacked(item).same(&unpacked(other))
}

/// An item whose named attributes are what `read` makes of their content; nothing where none is compressed.
fn unpacked_as(
    item: &Item,
    names: &[Arc<str>],
    read: impl Fn(Vec<u8>) -> Option<Attribute>,
) -> Option<Item> {
    let mut whole = item.clone();
    let mut is_packed = false;
    for (name, value) in &mut whole.attributes {
        if let Attribute::B(packed) = value
            && names.contains(name)
            && let Some(content) = unpack(packed).and_then(&read)
        {
            *value = content;
            is_packed = true;
        }
    }
    is_packed.then_some(whole)
}

#[cfg(test)]
mod tests {
    use dynafold_relational::value::Number;

    use super::*;

    #[test]
    fn a_value_gives_the_same_bytes_and_they_give_it_back() {
        let lorem = "lorem ipsum ".repeat(100_000);
        let mixed: Vec<u8> = (0..=200_000_u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        for content in [&b""[..], b"a", lorem.as_bytes(), &mixed] {
            let packed = pack(content).unwrap();
            assert_eq!(pack(content).as_ref(), Some(&packed));
            assert_eq!(unpack(&packed).as_deref(), Some(content));
            let mut torn = packed.clone();
            torn[HEADER.len()] ^= 0x55;
            assert_eq!(unpack(&torn), None);
            // Between the content and its CRC, and behind the whole.
            for at in [packed.len() - 8, packed.len()] {
                let mut longer = packed.clone();
                longer.splice(at..at, *b"more");
                assert_eq!(unpack(&longer), None);
            }
        }
        assert_eq!(unpack(b"no gzip"), None);
    }

    #[test]
    fn any_gzip_reads_the_bytes() {
        use std::io::Read as _;
        let packed = pack(b"lorem ipsum lorem ipsum").unwrap();
        let mut text = String::new();
        let mut reader = flate2::read::GzDecoder::new(packed.as_slice());
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "lorem ipsum lorem ipsum");
    }

    #[test]
    fn text_stands_for_itself_documents_as_dynamodb_json_and_the_rest_stays() {
        let json = |value| content(&value).map(|bytes| String::from_utf8(bytes).unwrap());
        let one = || Attribute::N(Number::from(1_i64));
        assert_eq!(json(Attribute::S("héllo".into())).unwrap(), "héllo");
        assert_eq!(
            json(Attribute::M(vec![("a".into(), one())])).unwrap(),
            r#"{"M":{"a":{"N":"1"}}}"#
        );
        assert_eq!(
            json(Attribute::Ss(vec!["x".into()])).unwrap(),
            r#"{"SS":["x"]}"#
        );
        assert_eq!(json(one()), None);
        assert_eq!(json(Attribute::B(b"bytes".to_vec())), None);
        assert_eq!(json(Attribute::Null), None);
    }

    #[test]
    fn other_bytes_for_the_same_content_are_the_same_item() {
        let item = |packed: Vec<u8>| Item {
            attributes: vec![("a".into(), Attribute::B(packed))],
        };
        let ours = item(pack(b"content").unwrap());
        // The content as a stored block, as a compressor that does nothing writes it.
        let mut stored = HEADER.to_vec();
        stored.extend([1, 7, 0, 248, 255]);
        stored.extend(b"content");
        stored.extend(crc32fast::hash(b"content").to_le_bytes());
        stored.extend(7_u32.to_le_bytes());
        let (stored, names) = (item(stored), ["a".into()]);
        assert!(!ours.same(&stored));
        assert!(same_unpacked(&ours, &stored, &names));
        assert!(!same_unpacked(
            &ours,
            &item(pack(b"other").unwrap()),
            &names
        ));
        assert!(!same_unpacked(&ours, &stored, &[]));
    }
}
