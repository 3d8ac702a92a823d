//! The language as data: which keys there are, what they hold, and what each is for.
//!
//! One description serves three readers: [`validate`] finds unknown, missing, doubled and
//! misshapen keys; [`schema`] writes the JSON Schema that editors use; the help lines of
//! diagnostics quote it. They cannot drift apart.

mod language;
mod schema;
mod validate;

pub use schema::schema;
pub(super) use validate::validate;

pub(super) use language::{DIRECTIVES, MAPPING};

use dynafold_format::joined;

/// What a value may look like.
#[derive(Debug)]
pub(super) enum ValueShape {
    /// Any scalar, taken as text.
    Text,
    Template,
    /// A whole number from 1.
    Integer,
    /// A number above zero.
    Positive,
    Bool,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of values of one shape.
    List(&'static ValueShape),
    /// Such a list with at least one value.
    Some(&'static ValueShape),
    /// A map with known keys.
    Record(&'static [Field]),
    /// A map from names that the user chooses to values of one shape.
    Named(&'static ValueShape),
    /// One of several shapes, told apart by whether a scalar, a list or a map stands there.
    OneOf(&'static [ValueShape]),
    /// A map of templates, maps and lists, with directives.
    Tree,
    /// What such a map has in it: a template, a list, a map or a map of directives.
    Node,
}

/// A key of a record.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: ValueShape,
    /// Whether it must be there.
    pub(super) required: bool,
    /// What it is for, one line.
    pub(super) doc: &'static str,
}

impl Field {
    const fn new(name: &'static str, shape: ValueShape) -> Self {
        Self {
            name,
            shape,
            required: false,
            doc: "",
        }
    }

    const fn required(name: &'static str, shape: ValueShape) -> Self {
        Self {
            required: true,
            ..Self::new(name, shape)
        }
    }

    const fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }
}

/// Words, each in backquotes.
fn quoted(words: &[&str]) -> String {
    joined(words.iter().map(|word| format!("`{word}`")), ", ")
}
