//! Items: attributes, their sizes, their JSON, and the fold that makes them from rows. Pure.

mod attribute;
mod compress;
mod convert;
mod digest;
mod expiry;
mod explode;
mod fault;
mod fold;
mod json;
mod key;
mod limits;
mod render;

pub use attribute::{Attribute, Item, sort_order};
pub use compress::same_unpacked;
pub use convert::{ConvertError, to_attribute, to_set};
pub(crate) use digest::Secret;
pub use expiry::Expiry;
pub use explode::Elements;
pub(crate) use fault::KEY_NULL;
pub use fault::Reject;
pub(crate) use fold::find;
pub use fold::{Folded, Folder};
pub use json::{item_value, write_attribute, write_item};
pub use json::{readable, write_plain};
pub(crate) use key::BuildFingerprintHasher;
pub use key::{fingerprint, fingerprints, partition_fingerprint};
pub use limits::{
    MAX_ITEM_BYTES, MAX_LEVELS, MAX_NAME_BYTES, MAX_PARTITION_BYTES, MAX_SORT_BYTES, write_units,
};
pub use render::{RenderError, TextError, evaluate, text_of};
