//! The page.
use super::Definition;
/// What a page of the document has near its beginning.
pub const HTML_MARKER: &str = r#"<meta name="generator" content="dynafold docs">"#;
/// The document as one self-contained page.
#[must_use]
pub fn html(definition: &Definition) -> String {
    definition.table.clone()
}
