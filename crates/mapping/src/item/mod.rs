//! Items: attributes, their sizes, their JSON, and the fold that makes them from rows. Pure.

mod compress;
mod convert;
mod embed;
mod expiry;
mod explode;
mod fault;
mod fold;
mod limits;
mod render;
mod sink;
mod write;
mod write_plan;

pub use compress::{readings, same_unpacked};
pub use convert::{to_attribute, to_set};
pub use expiry::{Expiry, is_past, moment_of};
pub use explode::ExplodedElements;
pub use fault::{DUPLICATE_KEY, KEY_NULL, Reject};
pub use fold::{Folded, Folder, RefusedAttribute, find};
pub use limits::IndexEntrySizes;
pub use render::{RenderError, evaluate, text_of};
pub use write::{ItemFacts, ItemText};
