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

pub(super) use language::MAPPING;

/// What a value may look like.
#[derive(Debug)]
pub(super) enum Shape {
    /// Any scalar, taken as text.
    Text,
    /// A template.
    Template,
    /// A whole number from 1.
    Integer,
    /// A number above zero.
    Positive,
    /// `true` or `false`.
    Bool,
    /// One of some words; the second list holds those that a later version will know.
    Word(&'static [&'static str], &'static [&'static str]),
    /// A list of values of one shape.
    List(&'static Shape),
    /// Such a list with at least one value.
    Some(&'static Shape),
    /// A map with known keys.
    Record(&'static [Field]),
    /// A map from names that the user chooses to values of one shape.
    Named(&'static Shape),
    /// One of several shapes, told apart by whether a scalar, a list or a map stands there.
    OneOf(&'static [Shape]),
    /// A tree of templates: scalars, lists and maps, with directives.
    Tree,
}

/// A key of a record.
#[derive(Debug)]
pub(super) struct Field {
    /// The key.
    pub(super) name: &'static str,
    /// What it holds.
    pub(super) shape: Shape,
    /// Whether it must be there.
    pub(super) required: bool,
    /// Whether the language has it but this version does not.
    pub(super) later: bool,
    /// What it is for, one line.
    pub(super) doc: &'static str,
}

impl Field {
    const fn new(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self {
            name,
            shape,
            required: false,
            later: false,
            doc,
        }
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn later(mut self) -> Self {
        self.later = true;
        self
    }
}

/// Directives that this version knows, each a key of an attribute tree.
pub(super) const DIRECTIVES: &[&str] = &["$spread"];

/// Directives that a later version will know.
pub(super) const LATER_DIRECTIVES: &[&str] = &[
    "$value", "$when", "$type", "$embed", "$match", "$where", "$order", "$limit", "$join", "$each",
    "$as", "$key",
];
