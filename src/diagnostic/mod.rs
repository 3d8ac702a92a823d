//! What `check` says: faults and risks, each with a stable code and a place in the mapping file.

mod code;
mod place;
mod render;

pub use code::Code;
pub use render::{render, to_json};

use std::ops::Range;

/// Whether a diagnostic makes the mapping unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The mapping cannot be used.
    Error,
    /// The mapping can be used; this is a risk.
    Warning,
}

/// A second place that has to do with a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Bytes of the mapping file.
    pub span: Range<usize>,
    /// What is there.
    pub text: String,
}

/// One fault or risk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, which decides the severity and the documentation's anchor.
    pub code: Code,
    /// One line: what is wrong.
    pub message: String,
    /// Bytes of the mapping file that the caret underlines.
    pub span: Range<usize>,
    /// What stands at the caret, in a few words; may be empty.
    pub label: String,
    /// Other places that have to do with it.
    pub others: Vec<Label>,
    /// How to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic at a place, to be completed with the `with_` methods.
    #[must_use]
    pub fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span,
            label: String::new(),
            others: Vec::new(),
            help: None,
        }
    }

    /// Says how to mend it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what stands at the caret.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn with_other(mut self, span: Range<usize>, text: impl Into<String>) -> Self {
        self.others.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Whether it is a fault or a risk.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// The name among `known` that is most like `wrong`, if one is like it at all.
#[must_use]
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&lower, &name.to_lowercase()),
                name,
            )
        })
        .filter(|(distance, name)| *distance <= name.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
