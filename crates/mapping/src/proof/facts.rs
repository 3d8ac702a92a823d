//! What a proof relies on: what the schema says about the rows of one item type.

use std::sync::Arc;

use dynafold_dynamodb::Table;
use dynafold_relational::catalog::{DataType, Dbms};
use dynafold_relational::scan::Scan;
use jiff::tz::TimeZone;

use super::domain::Domain;
use super::forms::KnownTemplate;
use crate::model::{AttributeNode, ItemType, Placeholder, Template};

/// What the schema says about an item type's rows.
#[derive(Debug, Clone)]
pub(crate) struct RowFacts {
    /// The table, view or query as the mapping names it.
    pub relation: String,
    /// The row's columns.
    pub columns: Vec<ColumnFact>,
    /// The sets of columns that are unique.
    pub unique: Vec<UniqueColumns>,
    /// Functional dependencies: the first columns determine the second. A parent's unique key determines the foreign key
    /// that leads to it.
    pub determined: Vec<(Vec<usize>, Vec<usize>)>,
    /// Columns that a parent's key would determine, had the database enforced that key at all times.
    pub unenforced: Vec<usize>,
    /// What the rows are read from.
    pub origin: RelationKind,
    /// Whether a `where` leaves rows out.
    pub filtered: bool,
}

/// What the schema says about one column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnFact {
    /// How the mapping writes it: `id`, `s.service`.
    pub written: String,
    /// Its type, where it is known.
    pub data_type: Option<DataType>,
    /// What its values are.
    pub domain: Domain,
    /// Most bytes of an attribute that carries it as it is.
    pub bytes: Option<usize>,
    /// Its type in the database's words, where the database may sort its values in another order than that of their text.
    pub own_order: Option<String>,
    /// Whether the schema does not say which texts it can hold.
    pub unclear: bool,
    /// Whether values that fit, and that the database keeps apart, may be one text once they are read.
    pub is_ambiguous: bool,
    /// The database that enforces the bounds of its type; `None` where none does, as in SQLite, or where it is not known,
    /// as for a view.
    pub bounds: Option<TypeBounds>,
}

/// How the bounds of a column's type are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeBounds {
    pub dbms: Dbms,
    /// Whether each has all the letters or bytes that the type has.
    pub fixed: bool,
}

/// Columns that are unique together.
#[derive(Debug, Clone)]
pub(crate) struct UniqueColumns {
    /// Its name in messages: `the primary key`.
    pub called: String,
    /// Indices into the row.
    pub columns: Vec<usize>,
    /// Why two rows may be equal in it all the same, where the database does not always enforce it.
    pub doubt: Option<&'static str>,
}

/// What rows are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelationKind {
    /// A table, whose constraints are all known.
    Table,
    /// A table that others inherit from: its keys do not hold over their rows.
    Inherited,
    /// A relation with a join that may give a row several times.
    Multiplied,
    /// A view or a foreign table.
    View,
    Query,
    /// A query whose columns are not known without a connection.
    Unknown,
}

/// An item type with what the schema says about its rows, and the table that it is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProofSubject<'a> {
    pub item: &'a ItemType,
    pub facts: &'a RowFacts,
    pub table: &'a Table,
    /// What times without a zone mean.
    pub time_zone: &'a TimeZone,
}

/// An item type with what is read for it.
pub(crate) struct Covered<'a> {
    pub subject: ProofSubject<'a>,
    /// The scan of its pass.
    pub scan: &'a Scan,
    /// The columns that `omit` names.
    pub omitted: Vec<&'a str>,
}

impl<'a> ProofSubject<'a> {
    /// A template with what is known of its values.
    pub(super) fn known(self, template: &Template) -> KnownTemplate<'_> {
        KnownTemplate::new(template, self.time_zone, &|one| self.domain(one))
    }

    /// The nodes of the table's key; `None` where one of them is faulty.
    pub(super) fn key(self) -> Option<Vec<(&'a Arc<str>, &'a AttributeNode)>> {
        let keys = self.table.key();
        keys.map(|key| Some((&key.name, self.item.node(&key.name)?)))
            .collect()
    }

    /// What is known of the value at a placeholder's place, before its filters.
    pub(super) fn domain(self, placeholder: &Placeholder) -> Domain {
        if !placeholder.place.path.is_empty() {
            return Domain::unknown("the members of a document are not known");
        }
        match self.facts.columns.get(placeholder.place.column) {
            Some(column) => column.domain.clone(),
            None => Domain::unknown("nothing is known about it"),
        }
    }

    /// A column of the row as messages name it.
    pub(super) fn column(self, index: usize) -> &'a str {
        let column = self.facts.columns.get(index);
        column.map_or("?", |column| column.written.as_str())
    }
}
