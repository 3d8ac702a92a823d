//! Markdown.
use super::Definition;
/// What a Markdown document begins with.
pub const MARKDOWN_MARKER: &str = "<!-- Written by `dynafold docs`";
/// The document as Markdown.
#[must_use]
pub fn markdown(definition: &Definition) -> String {
    definition.table.clone()
}
