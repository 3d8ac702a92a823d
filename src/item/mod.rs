//! Items: attributes, their sizes, their JSON, and the fold that makes them from rows. Pure.

mod attribute;
mod convert;
mod json;
mod render;

pub use attribute::{Attribute, Item};
pub use convert::{ConvertError, to_attribute};
pub use json::{write_attribute, write_item};
pub use render::{RenderError, TextError, evaluate, text_of};
