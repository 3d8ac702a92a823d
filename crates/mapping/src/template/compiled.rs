//! Templates whose paths are bound to places of the row, and whose filters are read.

use std::sync::Arc;

use dynafold_relational::catalog::Family;

use super::{Escape, Filter};

/// A compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The parts in order. A template of exactly one [`Part::Value`] keeps the value's type;
    /// any other makes text.
    pub parts: Vec<Part>,
}

impl Template {
    /// A template of one value and nothing around it.
    #[must_use]
    pub fn of(value: Placeholder) -> Self {
        let parts = vec![Part::Value(value)];
        Self { parts }
    }

    /// The values that the template takes, those of optional segments included.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.flat().into_iter().filter_map(|part| match part {
            Part::Value(placeholder) => Some(placeholder),
            _ => None,
        })
    }

    /// The values that must not be NULL.
    pub fn mandatory(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(placeholder) => Some(placeholder),
            _ => None,
        })
    }

    /// The text that every value of this template begins with, and whether that is all of it.
    #[must_use]
    pub fn prefix(&self) -> (&str, bool) {
        match self.parts.as_slice() {
            [] => ("", true),
            [Part::Text(text)] => (text, true),
            [Part::Text(text), ..] => (text, false),
            _ => ("", false),
        }
    }

    /// The one value that the template is; `None` where text or another value stands beside it.
    #[must_use]
    pub fn single(&self) -> Option<&Placeholder> {
        match self.parts.as_slice() {
            [Part::Value(only)] => Some(only),
            _ => None,
        }
    }

    /// The parts with those of optional segments among them.
    #[must_use]
    pub fn flat(&self) -> Vec<&Part> {
        let parts = self.parts.iter().flat_map(|part| match part {
            Part::Optional(inner) => inner.as_slice(),
            part => std::slice::from_ref(part),
        });
        parts.collect()
    }

    /// The kind of value that comes out.
    #[must_use]
    pub fn family(&self) -> Family {
        match self.parts.as_slice() {
            [Part::Value(placeholder)] => placeholder.family,
            _ => Family::Text,
        }
    }
}

/// A part of a compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself.
    Text(String),
    /// A value from the row.
    Value(Placeholder),
    /// An optional segment: left out, with all later ones, from the first whose value is NULL.
    Optional(Vec<Part>),
}

/// A value from the row, through filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// Where the value stands.
    pub place: Place,
    /// The filters, in order.
    pub filters: Vec<Filter>,
    /// What kind of value comes out, as far as the column's type and the filters tell.
    pub family: Family,
    /// What is escaped in its text, after all filters: see `key_escape`.
    pub escape: Option<Arc<Escape>>,
}

impl Placeholder {
    /// A whole column as it is.
    #[must_use]
    pub fn of_column(column: usize, written: impl Into<Arc<str>>, family: Family) -> Self {
        Self {
            place: Place::of_column(column, written),
            filters: Vec::new(),
            family,
            escape: None,
        }
    }

    /// Whether a filter puts something for NULL.
    #[must_use]
    pub fn replaces_null(&self) -> bool {
        let replaces =
            |filter: &Filter| matches!(filter, Filter::Default(_) | Filter::Present { .. });
        self.filters.iter().any(replaces)
    }
}

/// Where a value stands: a column, or a member of a document in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Index into the row.
    pub column: usize,
    /// Members to go down into, for documents and composites.
    pub path: Vec<Arc<str>>,
    /// How the mapping writes it: `id`, `s.service`, `setting.color`.
    pub written: Arc<str>,
    /// Whether what stands there is text that holds JSON, of `explode` and `$spread`.
    pub is_json: bool,
}

impl Place {
    /// A whole column.
    #[must_use]
    pub fn of_column(column: usize, written: impl Into<Arc<str>>) -> Self {
        Self {
            column,
            path: Vec::new(),
            written: written.into(),
            is_json: false,
        }
    }
}

impl Escape {
    /// What a template's values escape; `None` where nothing stands around its value, which then
    /// keeps its type and its text.
    #[must_use]
    pub fn of(template: &Template) -> Option<Self> {
        if let [] | [Part::Text(_) | Part::Value(_)] = template.parts.as_slice() {
            return None;
        }
        let mut characters = vec!['%'];
        collect(&template.parts, &mut characters);
        characters.sort_unstable();
        characters.dedup();
        Some(Self { characters })
    }
}

fn collect(parts: &[Part], characters: &mut Vec<char>) {
    for part in parts {
        match part {
            Part::Text(text) => characters.extend(text.chars()),
            Part::Value(_) => {}
            Part::Optional(inner) => collect(inner, characters),
        }
    }
}
