//! DynamoDB's own vocabulary: attributes and items with their sizes, DynamoDB JSON, fingerprints of keys, the limits on
//! one item, a table's description, requests that read it, and what it all costs ([`price`]). It speaks to no service and knows no database.

mod attribute;
mod definition;
mod digest;
mod fingerprint;
mod json;
mod limits;
pub mod price;
mod request;
mod table;
mod types;

pub use attribute::{Attribute, Item, Scalar, sort_order};
pub use definition::{
    add_index_input, attribute_definition, create_table_input, index_definition, key_schema,
    without_null_and_empty,
};
pub use digest::{DigestKey, DigestSeed};
pub use fingerprint::{
    BuildFingerprintHasher, fingerprint, fingerprints, partition_fingerprint, share_fingerprints,
};
pub use json::{
    attribute_json, attributes_value, item_value, object, read_attribute, read_attributes,
    readable, request_value, write_attribute, write_item, write_plain, write_scalar,
};
pub use limits::{
    MAX_GLOBAL_INDEXES, MAX_ITEM_BYTES, MAX_LEVELS, MAX_NAME_BYTES, MAX_PARTITION_BYTES,
    MAX_PROJECTED, MAX_SORT_BYTES, STORED_OVERHEAD, max_key_bytes, write_units,
};
pub use request::{CallPlan, Position, Query, Request, ShardAnswer, merge};
pub use table::{
    Autoscale, Backups, Billing, Index, KeyAttribute, KeyType, Projection, Settings, StreamView,
    Table, TableClass, Throughput, key_text,
};
pub use types::DynamoType;

/// The word of a value in a list of words.
fn word<T: PartialEq + Copy>(words: &[(&'static str, T)], wanted: T) -> &'static str {
    let found = words.iter().find(|(_, value)| *value == wanted);
    found.map_or("", |(word, _)| word)
}
