//! DynamoDB's limits on one item (limits.md 1-19), and the units that writing it takes.

/// Most bytes of an item, and of an item together with its local index entries.
pub const MAX_ITEM_BYTES: usize = 409_600;
/// Most bytes of a partition key's value.
pub const MAX_PARTITION_BYTES: usize = 2048;
/// Most bytes of a sort key's value.
pub const MAX_SORT_BYTES: usize = 1024;
/// Most bytes of an attribute's name.
pub const MAX_NAME_BYTES: usize = 65_535;
/// Attributes that all indexes of a table project by name, in sum (limits.md 23).
pub const MAX_PROJECTED: usize = 100;
/// Global indexes of a table, by default (limits.md 23).
pub const MAX_GLOBAL_INDEXES: u8 = 20;
/// Levels of nesting; a value at the top of the item is at the first.
pub const MAX_LEVELS: usize = 32;

/// Bytes that DynamoDB adds to each item and index entry where it bills storage (limits.md 5).
pub const STORED_OVERHEAD: u64 = 100;

/// Most bytes of a key attribute's value.
pub fn max_key_bytes(is_sort: bool) -> usize {
    if is_sort {
        MAX_SORT_BYTES
    } else {
        MAX_PARTITION_BYTES
    }
}

/// Write capacity units of an item or index entry of this size: one for each KB begun.
pub fn write_units(size: usize) -> u64 {
    u64::try_from(size.div_ceil(1024).max(1)).unwrap_or(u64::MAX)
}
