//! Notes on a read, for the report.

use std::borrow::Borrow;
use std::fmt;

/// What the answer of a read leaves to the application, or how its SQL was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    /// The index holds only the rows that meet this condition. The note is removed where the read has no such index.
    IndexHoldsOnly(String),
    /// The SQL skips rows by OFFSET. The note is removed where the application sorts, and so reads all pages.
    Offset,
    /// How the application merges the answers of several requests. The note is removed where the application sorts all rows.
    Merge(&'static str),
    Text(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexHoldsOnly(condition) => {
                write!(f, "the index holds only the rows that meet `{condition}`")
            }
            Self::Offset => f.write_str(
                "DynamoDB has no OFFSET: this reads the first page, and each next page starts after the last item of the previous one (LastEvaluatedKey)",
            ),
            Self::Merge(text) => f.write_str(text),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<T: Into<String>> From<T> for Note {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

/// Adds one note with a sentence about these names, unless there are none. Returns whether it did.
pub(super) fn note_names<S: Borrow<str>>(
    notes: &mut Vec<Note>,
    names: &[S],
    sentence: impl FnOnce(String) -> String,
) -> bool {
    if !names.is_empty() {
        notes.push(sentence(names.join(", ")).into());
    }
    !names.is_empty()
}
