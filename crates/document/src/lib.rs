//! The definition document of a mapping: what it says ([`Definition`], made by [`define()`]), and the
//! two forms in which it is written, a page ([`html()`]) and Markdown ([`markdown()`]); and the
//! drawing of the ERD ([`erd`]), which stands by itself. Pure: whoever calls it has read the source
//! and asked the table. Beside it stands what else is made from the same model: [`export`].

pub mod export;

mod define;
mod definition;
pub mod erd;
mod html;
mod markdown;
mod phrases;
pub mod schema;
mod tree;

pub use define::{DefinitionInputs, ForecastTotals, cells, define};
pub use definition::{Definition, ExampleAnswer, ExampleRequest, Examples, Warning};
pub use html::{HTML_MARKER, html};
pub use markdown::{MARKDOWN_MARKER, markdown};
pub use tree::ItemCell;
