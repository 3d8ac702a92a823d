//! Templates: what a mapping writes between quotes, `"USER#{id | pad(3)}"`.
//!
//! [`parse`] reads a template into a [`WrittenTemplate`], which knows nothing of any schema. The resolver binds the paths of a [`WrittenTemplate`] to columns and compiles its
//! filter calls ([`Filter::compile`]); the fold evaluates the result. Pure.
//!
//! # The language
//!
//! Text stands for itself. `{path | filter | filter(arguments)}` takes a value from the row; a path
//! is a column, `alias.column` or `document.member.member`, each part backquoted where its name is
//! odd. `[…]` is an optional segment; segments do not nest. `{{`, `}}`, `[[` and `]]` are literal
//! and are read from left to right, before single ones: `[{a}]]]` is an optional segment that ends
//! in a literal `]`.

mod compiled;
mod filter;
mod lookalike;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use compiled::{Escape, Placeholder, Template, TemplatePart, ValuePath};
pub use filter::{
    ApplyError, Context, Filter, FilterEntry, FilterError, FilterTypeError, Period, Secret,
    TimePattern,
};
pub use filter::{FilterTrial, canonical};
pub use lookalike::Lookalike;
pub use parse::parse;
pub use print::Path;

use std::ops::Range;

use dynafold_format::every;

/// A template as it was written, without any knowledge of the schema.
///
/// Neighbouring texts are one text, and no text is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTemplate {
    /// The segments in order; none for the empty template.
    pub segments: Vec<Segment>,
}

/// Binds one placeholder of a template.
type Bind<'b> = &'b mut dyn FnMut(&WrittenPlaceholder) -> Option<Placeholder>;

impl WrittenTemplate {
    /// The parts with their placeholders bound; `None` where one of them is not, after all were tried.
    pub(super) fn parts(&self, bind: Bind<'_>) -> Option<Vec<TemplatePart>> {
        parts(&self.segments, bind)
    }
}

fn parts(segments: &[Segment], bind: Bind<'_>) -> Option<Vec<TemplatePart>> {
    let parts = segments.iter().map(|segment| match segment {
        Segment::Text(text) => Some(TemplatePart::Text(text.clone())),
        Segment::Placeholder(placeholder) => bind(placeholder).map(TemplatePart::Value),
        Segment::Optional(inner) => parts(inner, bind).map(TemplatePart::Optional),
    });
    every(parts)
}

/// A segment of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Text that stands for itself, its escapes undone.
    Text(String),
    /// A value from the row.
    Placeholder(WrittenPlaceholder),
    /// `[…]`: left out, with all later ones, from the first whose placeholder is NULL. Holds texts
    /// and at least one placeholder.
    Optional(Vec<Segment>),
}

/// `{path | filter | …}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPlaceholder {
    /// The parts of the path, backquotes undone; at least one. A lone `*` is `["*"]`.
    pub path: Vec<String>,
    /// Bytes of the template's text that hold the path.
    pub path_span: Range<usize>,
    /// The filters, in order.
    pub filters: Vec<FilterCall>,
    /// Bytes of the template's text from `{` to `}`.
    pub span: Range<usize>,
}

impl WrittenPlaceholder {
    /// The path as a template writes it: `s.service`, `` `Order ID` ``.
    pub fn written_path(&self) -> String {
        print::Path(&self.path).to_string()
    }
}

/// A filter as it was written: `pad(8)`, `upper`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterCall {
    /// The name, which may be unknown.
    pub name: String,
    /// What stands between the parentheses; none also for a filter without parentheses.
    pub arguments: Vec<FilterArgument>,
    /// Bytes of the template's text that hold the name and the arguments.
    pub span: Range<usize>,
}

/// One argument of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterArgument {
    /// `8`, `7d`, `"a, b"`.
    Plain(Literal),
    /// `active: A`; the key `*` without quotes stands for everything else.
    Pair(Literal, Literal),
}

/// A word of an argument, bare or in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The text, quotes and escapes undone.
    pub text: String,
    /// Whether it stood in quotes: then it is text whatever it looks like.
    pub quoted: bool,
}

/// A fault in a template's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// Bytes of the template's text.
    pub span: Range<usize>,
    /// What is wrong, one line.
    pub message: String,
    /// How to mend it.
    pub help: String,
}
