//! The definition document of a mapping: what it says ([`Definition`]), and the two forms in which it
//! is written, a page ([`html()`]) and Markdown ([`markdown()`]). Pure: whoever calls it has read
//! the source and asked the table.

pub mod export;

/// What a page of the document has near its beginning.
pub const HTML_MARKER: &str = r#"<meta name="generator" content="dynafold docs">"#;
/// What a Markdown document begins with.
pub const MARKDOWN_MARKER: &str = "<!-- Written by `dynafold docs`";

/// All that the document says, as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The table's name.
    pub table: String,
}

/// The document as one self-contained page.
#[must_use]
pub fn html(definition: &Definition) -> String {
    format!(
        "<!doctype html>{HTML_MARKER}<title>{}</title>",
        definition.table
    )
}

/// The document as Markdown.
#[must_use]
pub fn markdown(definition: &Definition) -> String {
    format!("{MARKDOWN_MARKER} -->\n\n# {}\n", definition.table)
}
