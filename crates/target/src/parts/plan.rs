//! Into which parts an export is cut.

use super::spool::BUCKETS;
use super::{Compression, ItemLines};

/// Bytes of items, as DynamoDB counts them, that a part has at most on average: about 100 MB of DynamoDB JSON.
const PART_BYTES: u64 = 64 << 20;
/// Items that a part has at most on average. An import from S3 wants no more than about 4 million in an object.
const PART_ITEMS: u64 = 1 << 20;
/// Parts of an export at least, where each has bytes enough: they are made side by side, and the last of a few would be made
/// while other processors have nothing to do.
const PARTS: u64 = 16;
/// Bytes of items that are enough for a part.
const ENOUGH_BYTES: u64 = 16 << 20;
/// Parts are at most 2 to this power: 32,768, below the 50,000 objects that one import takes.
const MOST_BITS: u32 = 15;

/// Into how many parts items are cut: by the first bits of their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartsPlan {
    bits: u32,
}

impl PartsPlan {
    /// The plan for so many items and bytes, as DynamoDB counts them. The same for the same items, so that an export that
    /// is made again has the same parts.
    pub fn of(items: u64, bytes: u64) -> Self {
        Self::cut(least(items, bytes).max(PARTS.min(bytes / ENOUGH_BYTES)))
    }

    /// The plan for a chunk of an export: of many chunks there are parts enough.
    pub fn of_chunk(items: u64, bytes: u64) -> Self {
        Self::cut(least(items, bytes))
    }

    fn cut(parts: u64) -> Self {
        let bits = parts.max(1).next_power_of_two().trailing_zeros();
        Self {
            bits: bits.min(MOST_BITS),
        }
    }

    /// Parts at most: those without an item are left out.
    pub fn parts(self) -> u64 {
        1 << self.bits
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

    /// The first part of a group; the only one, unless parts are more than the files of the spool.
    pub(super) fn first_part(self, group: &std::ops::Range<usize>) -> usize {
        let index = group.start / group.len().max(1);
        index << self.bits.saturating_sub(u8::BITS)
    }

    /// The name of a part. `number`: what tells it from the others.
    pub(super) fn name(number: &str, lines: &ItemLines, compression: Compression) -> String {
        format!(
            "data/part-{number}{}{}",
            lines.ending(),
            compression.ending()
        )
    }
}

/// Into how many parts items are cut at least.
fn least(items: u64, bytes: u64) -> u64 {
    bytes.div_ceil(PART_BYTES).max(items.div_ceil(PART_ITEMS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_cut_into_enough_parts_to_make_them_side_by_side() {
        const MIB: u64 = 1 << 20;
        for (bytes, whole, chunk) in [
            (0, 1, 1),
            (31 * MIB, 1, 1),
            (32 * MIB, 2, 1),
            (100 * MIB, 8, 2),
            (256 * MIB, 16, 4),
            (1024 * MIB, 16, 16),
            (1025 * MIB, 32, 32),
        ] {
            assert_eq!(PartsPlan::of(1, bytes).parts(), whole, "{bytes}");
            assert_eq!(PartsPlan::of_chunk(1, bytes).parts(), chunk, "{bytes}");
        }
        assert_eq!(PartsPlan::of(PART_ITEMS * 3, 0).parts(), 4);
    }
}
