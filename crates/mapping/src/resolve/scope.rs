//! What an item type's names may refer to: its relation's columns and its joined parents.

use std::ops::Range;

use dynafold_relational::catalog::{Catalog, Column, Dbms, Table, TypeFamily};
use dynafold_relational::scan::Relation;

use super::Described;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::raw::{RawFrom, RawItem, Spanned};

/// The relations that the templates of an item type, or of an embed's children, see.
pub(super) struct Scope<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) diagnostics: &'a Diagnostics,
    pub(super) from: Relation,
    /// How the mapping calls the relation.
    pub(super) written: String,
    /// The base table; `None` for a query.
    pub(super) table: Option<&'a Table>,
    /// The base relation's columns; empty when they are not known.
    pub(super) columns: &'a [Column],
    /// Whether the columns are known at all: those of a query are not, offline.
    pub(super) known: bool,
    /// The columns that tell rows apart.
    pub(super) key: Vec<String>,
    /// The joined parents, each before those that it leads to.
    pub(super) joins: Vec<JoinedParent<'a>>,
    /// The elements of arrays that are exploded.
    pub(super) elements: Vec<ExplodedElement>,
    /// Aliases whose declarations are faulty: what names them is no second fault.
    pub(super) broken: Vec<String>,
}

pub(super) struct JoinedParent<'a> {
    pub(super) alias: String,
    pub(super) table: &'a Table,
    pub(super) on: Vec<ColumnPair>,
    /// Whether a row may have no parent.
    pub(super) optional: bool,
    /// Whether a row may have several.
    pub(super) uniqueness: JoinUniqueness,
}

/// What is known of a join giving one row for each of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinUniqueness {
    /// A key of the parent's holds it.
    Enforced,
    /// A key says so that the database may not have enforced, for this reason.
    Supposed(&'static str),
    /// Nothing says so.
    Unknown,
}

impl JoinedParent<'_> {
    /// A fault about a column that it does not have.
    pub(super) fn lacks(&self, name: &str, span: Range<usize>) -> Diagnostic {
        lacks(self.table, &self.alias, name, span)
    }
}

/// Two columns that must be equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnPair {
    /// The alias of whom our column is; `None` for the base relation.
    pub(super) owner: Option<String>,
    pub(super) ours: String,
    pub(super) theirs: String,
}

/// An element of an array, with its places in the row.
pub(super) struct ExplodedElement {
    pub(super) alias: String,
    pub(super) value: usize,
    pub(super) index: usize,
    pub(super) family: TypeFamily,
}

impl<'a> Scope<'a> {
    pub(super) fn open(
        raw: &RawItem,
        described: &'a Described,
        catalog: &'a Catalog,
        diagnostics: &'a Diagnostics,
    ) -> Option<Self> {
        let mut scope = match &raw.from {
            RawFrom::Table(name) => Self::table(name, catalog, diagnostics)?,
            RawFrom::Query { sql, key } => {
                Self::query(raw, (sql, key), described, catalog, diagnostics)?
            }
        };
        scope.join(&raw.joins);
        Some(scope)
    }

    pub(super) fn table(
        name: &Spanned<String>,
        catalog: &'a Catalog,
        diagnostics: &'a Diagnostics,
    ) -> Option<Self> {
        let table = find_table(name, catalog, diagnostics)?;
        if !table.readable {
            let message = format!("the user may not read `{}`", table.name);
            let help = "grant the user SELECT on it";
            let span = name.span.clone();
            diagnostics.add(Code::UnreadableTable, span, message, help);
        }
        Some(Self {
            catalog,
            diagnostics,
            from: Relation::Table(table.name.clone()),
            written: name.value.clone(),
            joins: Vec::new(),
            elements: Vec::new(),
            broken: Vec::new(),
            table: Some(table),
            columns: &table.columns,
            known: true,
            key: table.row_key().to_vec(),
        })
    }

    fn query(
        raw: &RawItem,
        (sql, key): (&Spanned<String>, &[Spanned<String>]),
        described: &'a Described,
        catalog: &'a Catalog,
        diagnostics: &'a Diagnostics,
    ) -> Option<Self> {
        let (columns, known): (&[Column], bool) = match described.get(&sql.value) {
            Some(Ok(columns)) => (columns, true),
            Some(Err(reason)) => {
                let message = "the source refuses this query";
                diagnostics.add(Code::Sql, sql.span.clone(), message, reason);
                return None;
            }
            None => {
                let message = "the columns of this query are not known offline";
                let help =
                    "run `check` with --source to check the query's templates against its columns";
                diagnostics.add(Code::Unchecked, sql.span.clone(), message, help);
                (&[], false)
            }
        };
        let names = || columns.iter().map(|column| column.name.as_str());
        for name in key.iter().filter(|_| known) {
            if names().all(|known| known != name.value) {
                let span = name.span.clone();
                diagnostics.push(unknown_column(&name.value, span, "the query", names()));
            }
        }
        Some(Self {
            catalog,
            diagnostics,
            from: Relation::Query(sql.value.clone()),
            written: raw.name.value.clone(),
            table: None,
            columns,
            known,
            key: key.iter().map(|name| name.value.clone()).collect(),
            joins: Vec::new(),
            elements: Vec::new(),
            broken: Vec::new(),
        })
    }

    /// Whether the relation is a table, so that its constraints are all known.
    pub(super) fn is_table(&self) -> bool {
        self.table.is_some_and(Table::is_stored)
    }

    /// About how many items there are at most: as many as rows, where the catalog knows. It may say
    /// 0 of a table that it has not counted, and elements of arrays it does not count.
    pub(super) fn rows(&self) -> Option<u64> {
        let rows = self.table.and_then(|table| table.estimated_rows);
        rows.filter(|rows| *rows > 0 && self.elements.is_empty())
    }

    /// A joined parent's place in the scope.
    pub(super) fn parent(&self, alias: &str) -> Option<&JoinedParent<'a>> {
        self.joins.iter().find(|parent| parent.alias == alias)
    }

    /// A column of the base relation.
    pub(super) fn base(&self, name: &str) -> Option<&'a Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// What is known of a column: the base relation's, or a joined parent's.
    pub(super) fn column(&self, alias: Option<&str>, name: &str) -> Option<&'a Column> {
        match alias.and_then(|alias| self.parent(alias)) {
            Some(parent) => parent.table.column(name),
            None => self.base(name),
        }
    }

    /// An exploded element's place in the scope.
    pub(super) fn element(&self, alias: &str) -> Option<&ExplodedElement> {
        self.elements.iter().find(|element| element.alias == alias)
    }

    /// A fault about a column that the relation does not have.
    pub(super) fn lacks(&self, name: &str, span: Range<usize>) -> Diagnostic {
        let names = self.columns.iter().map(|column| column.name.as_str());
        let fault = unknown_column(name, span, &format!("`{}`", self.written), names);
        of_hidden(fault, self.table)
    }

    /// Whether a name means something already, so that it can be no alias; that is told.
    pub(super) fn is_taken(&self, alias: &Spanned<String>, code: Code) -> bool {
        let name = &alias.value;
        let is_taken = self.table.is_some_and(|table| table.name.name == *name)
            || self.base(name).is_some()
            || self.parent(name).is_some()
            || self.element(name).is_some();
        if is_taken {
            let message = format!(
                "the alias `{name}` already names something else in `{}`",
                self.written
            );
            let help = "choose another alias";
            self.diagnostics
                .add(code, alias.span.clone(), message, help);
        }
        is_taken
    }
}

/// A fault about a column that is not there, with the nearest name.
pub(super) fn unknown_column<'n>(
    name: &str,
    span: Range<usize>,
    relation: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Diagnostic {
    let help = did_you_mean(name, known.clone()).unwrap_or_else(|| {
        let mut names: Vec<&str> = known.take(21).collect();
        if let Some(beyond) = names.get_mut(20) {
            *beyond = "…";
        }
        format!("its columns are {}", names.join(", "))
    });
    let message = format!("{relation} has no column `{name}`");
    Diagnostic::new(Code::UnknownColumn, span, message).with_help(help)
}

/// A fault about a column that a table does not have. `called`: how the mapping calls the table.
pub(super) fn lacks(table: &Table, called: &str, name: &str, span: Range<usize>) -> Diagnostic {
    let names = table.columns.iter().map(|column| column.name.as_str());
    let fault = unknown_column(name, span, &format!("`{called}`"), names);
    of_hidden(fault, Some(table))
}

/// A fault about a column that a table does not have, or that the user may not read.
pub(super) fn of_hidden(mut fault: Diagnostic, table: Option<&Table>) -> Diagnostic {
    if let Some(table) = table.filter(|table| table.hidden_columns.is_some()) {
        fault.message.push_str(" that this user may read");
        let help = fault.help.unwrap_or_default();
        fault.help = Some(format!("{help}; or ask for GRANT SELECT ON {}", table.name));
    }
    fault
}

/// A table that the mapping names; of one that is not there is told.
pub(super) fn find_table<'a>(
    name: &Spanned<String>,
    catalog: &'a Catalog,
    diagnostics: &Diagnostics,
) -> Option<&'a Table> {
    let found = lookup(&name.value, catalog);
    if found.is_none() {
        let tables = catalog.tables.iter();
        let known: Vec<String> = tables
            .map(|table| catalog.display_name(&table.name))
            .collect();
        let is_mysql = matches!(catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
        let help = did_you_mean(&name.value, known.iter().map(String::as_str));
        let help = help.unwrap_or_else(|| match known.get(..12) {
            _ if is_mysql && catalog.search_path.is_empty() && !name.value.contains('.') => {
                "the URL names no database: name it there, mysql://…/shop, or before the table, shop.orders".to_owned()
            }
            _ if known.is_empty() => "the source shows no tables to this user".to_owned(),
            Some(first) if known.len() > 12 => {
                format!("there are {}, … (see `inspect`)", first.join(", "))
            }
            _ => format!("there are {}", known.join(", ")),
        });
        let message = format!("the source has no table `{}`", name.value);
        let span = name.span.clone();
        diagnostics.add(Code::UnknownTable, span, message, help);
    }
    found
}

/// Finds a table as the mapping writes it: a bare name as it is, `schema.table`, either part in
/// double quotes as in SQL, unquoted parts folded as the database folds them.
fn lookup<'a>(written: &str, catalog: &'a Catalog) -> Option<&'a Table> {
    if let Some(table) = catalog.find(written) {
        return Some(table);
    }
    let parts = split_name(written)?;
    let same = |name: &str, part: &(String, bool)| {
        let (text, quoted) = part;
        name == text
            || (!quoted
                && match catalog.dbms {
                    Dbms::Postgres => name == text.to_lowercase(),
                    _ => name.eq_ignore_ascii_case(text),
                })
    };
    match parts.as_slice() {
        [name] => catalog.search_path.iter().find_map(|schema| {
            let mut tables = catalog.tables.iter();
            tables.find(|table| &table.name.schema == schema && same(&table.name.name, name))
        }),
        [schema, name] => catalog
            .tables
            .iter()
            .find(|table| same(&table.name.schema, schema) && same(&table.name.name, name)),
        _ => None,
    }
}

/// Splits `schema."odd name"` into its parts and whether each was quoted.
fn split_name(written: &str) -> Option<Vec<(String, bool)>> {
    let (mut parts, mut is_inside) = (vec![(String::new(), false)], false);
    let mut letters = written.chars().peekable();
    while let Some(letter) = letters.next() {
        let part = parts.last_mut()?;
        match letter {
            '"' if is_inside && letters.next_if_eq(&'"').is_some() => part.0.push('"'),
            '"' if is_inside || part.0.is_empty() => {
                is_inside = !is_inside;
                part.1 = true;
            }
            '.' if !is_inside => parts.push((String::new(), false)),
            _ if part.1 && !is_inside => return None,
            letter => part.0.push(letter),
        }
    }
    (!is_inside).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::split_name;

    #[test]
    fn names_split_as_in_sql() {
        let parts = |text| {
            split_name(text).map(|parts| parts.into_iter().map(|part| part.0).collect::<Vec<_>>())
        };
        assert_eq!(parts("a.b"), Some(vec!["a".into(), "b".into()]));
        assert_eq!(
            parts("s.\"Order \"\"X\"\" Details\""),
            Some(vec!["s".into(), "Order \"X\" Details".into()])
        );
        assert_eq!(parts("\"open"), None);
        assert_eq!(parts("\"a\"b"), None);
    }
}
