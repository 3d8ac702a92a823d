//! What the schema tells of an item type's rows: keys, what they determine, what may be NULL.

use std::sync::Arc;

use super::bind::Binder;
use super::place::unknown;
use super::scope::{On, Parent, Scope};
use crate::catalog::{Column, DataType, Dbms, TableKind};
use crate::mapping::proof::{ColumnFact, Domain, Facts, Origin, UniqueKey, column_bytes};
use crate::source::ScanColumn;

impl Binder<'_> {
    /// What tells source rows apart: names and indices into the row. Of a row that is exploded,
    /// the positions of the elements too.
    pub(super) fn row_key(&mut self) -> Vec<(Arc<str>, usize)> {
        let columns = self.indices(&self.scope.key).into_iter();
        let names = self.scope.key.iter().map(|name| name.as_str().into());
        let elements = self.scope.elements.iter();
        let positions = elements.map(|e| (format!("{}.$index", e.alias).into(), e.index));
        names.zip(columns).chain(positions).collect()
    }

    /// What a proof goes by.
    pub(super) fn facts(&mut self, filtered: bool) -> Facts {
        let (unique, determined) = (self.unique_keys(), self.determined());
        Facts {
            unique,
            determined,
            origin: origin(self.scope),
            filtered,
            columns: self.column_facts(),
        }
    }

    /// The sets of columns that are unique, as indices into the row. There are none where a joined
    /// view may give a row several times, nor over the rows of tables that inherit.
    fn unique_keys(&mut self) -> Vec<UniqueKey> {
        let scope = self.scope;
        if matches!(origin(scope), Origin::Inherited | Origin::Multiplied) {
            return Vec::new();
        }
        let mut keys: Vec<(String, &[String])> = Vec::new();
        let called = match scope.table {
            Some(table) if !table.primary_key.is_empty() => "the primary key",
            Some(_) => "the first unique key",
            None => "the `key` that the mapping names",
        };
        keys.push((called.to_owned(), &scope.key));
        for key in scope.table.iter().flat_map(|table| &table.unique_keys) {
            keys.push((format!("the unique key {}", key.name), &key.columns));
        }
        keys.retain(|(_, columns)| !columns.is_empty());
        let positions = || scope.elements.iter().map(|element| element.index);
        let unique = keys.into_iter().map(|(called, columns)| UniqueKey {
            called,
            columns: self
                .indices(columns)
                .into_iter()
                .chain(positions())
                .collect(),
        });
        unique.collect()
    }

    /// What is known of each column of the row so far.
    fn column_facts(&self) -> Vec<ColumnFact> {
        let scope = self.scope;
        let places = self.pass.places().enumerate();
        let facts = places.map(|(index, place)| match place {
            (ScanColumn::Column { name, .. }, None) => {
                let column = scope.columns.iter().find(|column| column.name == *name);
                self.fact(column, name, name.clone(), None)
            }
            (ScanColumn::Column { name, .. }, Some(alias)) => {
                let written = format!("{alias}.{name}");
                match scope.parent(alias) {
                    Some(parent) => {
                        self.fact(parent.table.column(name), name, written, Some(parent))
                    }
                    None => self.fact(None, name, written, None),
                }
            }
            _ => self.place_fact(index),
        });
        facts.collect()
    }

    fn fact(
        &self,
        column: Option<&Column>,
        name: &str,
        written: String,
        parent: Option<&Parent<'_>>,
    ) -> ColumnFact {
        let unknown = unknown(name);
        let data_type = column.map(|column| column.data_type.clone());
        let column = column.unwrap_or(&unknown);
        let nullable = column.nullable
            || parent.is_some_and(|parent| parent.optional)
            || (parent.is_none() && self.may_hide_null(column));
        let dbms = self.catalog.dbms;
        let domain = match &column.ambiguous_charset {
            None => Domain::of(&column.data_type, &column.declared, dbms, nullable),
            Some(charset) => Domain::unknown(format!(
                "`{charset}` may have several codes for one character"
            )),
        };
        // SQLite keeps any value in any column.
        let bytes = match dbms {
            Dbms::Sqlite => domain.bytes(),
            _ => column_bytes(&column.data_type, domain.bytes()),
        };
        ColumnFact {
            written,
            data_type,
            domain,
            bytes,
        }
    }

    /// SQLite lets NULL into primary keys, but for the one column that is the row's number.
    fn may_hide_null(&self, column: &Column) -> bool {
        let is_number = column.declared.eq_ignore_ascii_case("INTEGER");
        self.catalog.dbms == Dbms::Sqlite
            && self.scope.table.is_some_and(|table| {
                table.primary_key.contains(&column.name)
                    && !(is_number && table.primary_key.len() == 1)
            })
    }

    /// An element of an array, its position, or what no template names.
    fn place_fact(&self, index: usize) -> ColumnFact {
        let position = DataType::Integer {
            bits: 32,
            unsigned: true,
        };
        let mut elements = self.scope.elements.iter();
        let found = elements.find(|element| index == element.index || index == element.value);
        match found {
            Some(element) if index == element.index => ColumnFact {
                written: format!("{}.$index", element.alias),
                domain: Domain::of(&position, "", Dbms::Postgres, false),
                data_type: Some(position),
                bytes: Some(7),
            },
            found => ColumnFact {
                written: found.map_or_else(String::new, |element| element.alias.clone()),
                data_type: None,
                domain: Domain::unknown("elements of an array may be equal"),
                bytes: None,
            },
        }
    }

    /// What a parent's unique keys tell of the row: where all of these columns are known, so are
    /// those, because the join leads to one parent. Text is left out: two texts may be equal to
    /// the join, in a collation without case, and different in the key.
    fn determined(&mut self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let scope = self.scope;
        let mut determined = Vec::new();
        // A parent of a parent tells that parent's columns first, and these tell ours.
        for parent in scope.joins.iter().rev() {
            let unique = parent.table.unique_keys.iter();
            let unique = unique.map(|key| key.columns.as_slice());
            let keys = std::iter::once(parent.table.primary_key.as_slice()).chain(unique);
            for key in keys.filter(|key| !key.is_empty()) {
                let alias = Some(parent.alias.as_str());
                let theirs = key.iter().map(|name| self.pass.find(alias, name));
                let Some(theirs) = theirs.collect::<Option<Vec<usize>>>() else {
                    continue;
                };
                if !parent.on.iter().all(|on| self.is_exact(parent, on)) {
                    continue;
                }
                let ours = parent
                    .on
                    .iter()
                    .map(|on| self.index(on.owner.as_deref(), &on.ours));
                let ours = ours.collect();
                determined.push((theirs, ours));
            }
        }
        determined
    }

    /// Whether values of a join's column that are equal to the join are one value.
    fn is_exact(&self, parent: &Parent<'_>, on: &On) -> bool {
        let exact = |data_type: &DataType| match data_type {
            DataType::Integer { .. } => true,
            DataType::Decimal { .. } | DataType::Uuid | DataType::Date | DataType::Boolean => {
                self.catalog.dbms != Dbms::Sqlite
            }
            _ => false,
        };
        let ours = self.column(on.owner.as_deref(), &on.ours);
        let both = ours.zip(parent.table.column(&on.theirs));
        both.is_some_and(|(ours, theirs)| exact(&ours.data_type) && exact(&theirs.data_type))
    }

    fn column(&self, alias: Option<&str>, name: &str) -> Option<&Column> {
        let columns = match alias.and_then(|alias| self.scope.parent(alias)) {
            Some(parent) => &parent.table.columns,
            None => self.scope.columns,
        };
        columns.iter().find(|column| column.name == name)
    }

    /// A column's place in the row, whoever's it is.
    fn index(&mut self, alias: Option<&str>, name: &str) -> usize {
        let column = self.column(alias, name).cloned();
        let column = column.unwrap_or_else(|| unknown(name));
        self.pass.column(alias, &column.name, &column.data_type)
    }

    /// The places of base columns in the row.
    pub(super) fn indices(&mut self, names: &[String]) -> Vec<usize> {
        names.iter().map(|name| self.index(None, name)).collect()
    }

    /// The columns of the row so far that may hold NULL.
    pub(super) fn nullable(&mut self) -> Vec<usize> {
        let scope = self.scope;
        let base = scope.columns.iter().filter(|column| column.nullable);
        let base = base.map(|column| (None, column));
        let of_parent = |parent: &'_ Parent<'_>| {
            let (alias, optional) = (parent.alias.clone(), parent.optional);
            let columns = parent.table.columns.clone().into_iter();
            columns
                .filter(move |column| optional || column.nullable)
                .map(move |column| (alias.clone(), column))
                .collect::<Vec<_>>()
        };
        let mut nullable: Vec<usize> = base
            .filter_map(|(alias, column)| self.pass.find(alias, &column.name))
            .collect();
        for parent in &scope.joins {
            for (alias, column) in of_parent(parent) {
                nullable.extend(self.pass.find(Some(&alias), &column.name));
            }
        }
        nullable.extend(scope.elements.iter().map(|element| element.value));
        nullable
    }
}

fn origin(scope: &Scope<'_>) -> Origin {
    let is_one = |parent: &Parent<'_>| {
        let theirs: Vec<String> = parent.on.iter().map(|on| on.theirs.clone()).collect();
        parent.table.is_unique(&theirs)
    };
    match scope.table {
        _ if !scope.joins.iter().all(is_one) => Origin::Multiplied,
        None if scope.known => Origin::Query,
        None => Origin::Unknown,
        Some(table) if table.inherited => Origin::Inherited,
        Some(table) if matches!(table.kind, TableKind::Table | TableKind::Partitioned) => {
            Origin::Table
        }
        Some(_) => Origin::View,
    }
}
