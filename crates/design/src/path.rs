//! Columns as an item type reaches them: its table's own, and those of the parents that a row leads to.

use dynafold_format::{free_name, joined};
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, Enforcement, ForeignKey, Table, TableName, TypeFamily,
};
use dynafold_sql::{identifier, table_reference};

/// A column of a table, or of a parent that its rows lead to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Path {
    /// The way to the parent, from the table on; nothing for a column of its own.
    pub(crate) steps: Vec<Step>,
    pub(crate) column: String,
}

/// From a row to its parent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Step {
    /// The columns that hold the parent's key.
    pub(crate) columns: Vec<String>,
    pub(crate) table: TableName,
    /// The parent's columns that they are equal to: a key.
    pub(crate) referenced: Vec<String>,
}

impl Step {
    /// The step to a parent by pairs of columns that hold the two together, the child's first: a key in its order, and what is
    /// equal besides.
    pub(crate) fn by(parent: &Table, pairs: &[(&str, &str)], dbms: Dbms) -> Self {
        let own = |column: &String| pairs.iter().find(|(_, there)| there == column);
        let mut keys = parent.keys(dbms);
        let key = keys.find(|key| key.columns.iter().all(|column| own(column).is_some()));
        let of_key = key.into_iter().flat_map(|key| key.columns);
        let mut step = Self {
            columns: Vec::new(),
            table: parent.name.clone(),
            referenced: Vec::new(),
        };
        for (own, there) in of_key.filter_map(own).chain(pairs) {
            if !step.referenced.iter().any(|known| known == there) {
                step.columns.push((*own).to_owned());
                step.referenced.push((*there).to_owned());
            }
        }
        step
    }

    /// Whether the database sees to it that a row's reference leads to a parent.
    pub(crate) fn is_enforced(&self, child: &Table, catalog: &Catalog) -> bool {
        let key = self.foreign_key(child);
        key.is_some_and(|key| key.enforcement == Enforcement::Enforced)
            && catalog.dbms != Dbms::Sqlite
    }

    /// The condition that rows meet whose reference leads to no parent, over the name of their table; `None` if the database sees
    /// to it that there are none, or the parents cannot be read.
    pub(crate) fn orphan_condition(&self, child: &Table, catalog: &Catalog) -> Option<String> {
        let parent = catalog.table(&self.table).filter(|table| table.readable)?;
        if self.is_enforced(child, catalog) {
            return None;
        }
        let name = |name: &str| identifier(name, catalog.dbms);
        let is_child = |name: &str| child.name.name.eq_ignore_ascii_case(name);
        let alias = free_name("parent", &is_child);
        let own = |column: &String| format!("{}.{}", name(&child.name.name), name(column));
        let is_set = self
            .columns
            .iter()
            .map(|column| format!("{} IS NOT NULL", own(column)));
        let pairs = self.columns.iter().zip(&self.referenced);
        let pairs =
            pairs.map(|(column, there)| format!("{alias}.{} = {}", name(there), own(column)));
        Some(format!(
            "{} AND NOT EXISTS (SELECT 1 FROM {} AS {alias} WHERE {})",
            joined(is_set, " AND "),
            table_reference(catalog, &parent.name),
            joined(pairs, " AND ")
        ))
    }

    /// The foreign key that it follows.
    pub(crate) fn foreign_key<'t>(&self, child: &'t Table) -> Option<&'t ForeignKey> {
        child.foreign_keys.iter().find(|key| {
            let declared = || key.columns.iter().zip(&key.referenced_columns);
            let mut pairs = self.columns.iter().zip(&self.referenced);
            key.references == self.table
                && key.columns.len() == self.columns.len()
                && pairs.all(|pair| declared().any(|other| other == pair))
        })
    }
}

impl Path {
    /// A column of the table itself.
    pub(crate) fn own(column: &str) -> Self {
        Self {
            steps: Vec::new(),
            column: column.to_owned(),
        }
    }

    /// The columns of the table itself that decide what it ends at: the column, or the reference that the way begins with.
    pub(crate) fn own_columns(&self) -> &[String] {
        match self.steps.first() {
            Some(step) => &step.columns,
            None => std::slice::from_ref(&self.column),
        }
    }

    /// A column of the parent at the end of a way.
    pub(crate) fn of(way: &[Step], column: &str) -> Self {
        Self {
            steps: way.to_vec(),
            column: column.to_owned(),
        }
    }

    /// Whether it has one value in all rows that lead to one parent, at the end of a way: it is their reference to it, or a column of it.
    pub(crate) fn is_told_by(&self, way: &[Step]) -> bool {
        match way {
            [step] if self.steps.is_empty() => step.columns.contains(&self.column),
            _ => self.steps == way,
        }
    }

    /// The same value by the shortest way: a parent's key stands in the child too.
    pub(crate) fn shortened(mut self) -> Self {
        while let Some(step) = self.steps.last() {
            let mut pairs = step.referenced.iter().zip(&step.columns);
            let Some((_, own)) = pairs.find(|(referenced, _)| **referenced == self.column) else {
                break;
            };
            self.column.clone_from(own);
            self.steps.pop();
        }
        self
    }

    /// The same, but the parent's own spelling of a text that the database takes for equal to the child's.
    pub(crate) fn spelled(self, table: &Table, catalog: &Catalog) -> Self {
        let short = self.clone().shortened();
        let column = short.column_of(table, catalog);
        if column.is_some_and(|column| column.insensitive) {
            self
        } else {
            short
        }
    }

    /// The parents on the way, each with its place and the columns that are read of it: the references to the next one, and at last
    /// the path's own column.
    pub(crate) fn parents(&self) -> impl Iterator<Item = (usize, &Step, &[String])> {
        self.steps.iter().enumerate().map(|(place, step)| {
            let next = self.steps.get(place + 1);
            let own = std::slice::from_ref(&self.column);
            (place, step, next.map_or(own, |next| &*next.columns))
        })
    }

    /// Whether INSERT and DELETE of the parent at one of the steps may change what rows have of it: no foreign key leads to it.
    pub(crate) fn may_come(&self, place: usize, table: &Table, catalog: &Catalog) -> bool {
        let before = place.checked_sub(1).and_then(|place| self.steps.get(place));
        let child = before.map_or(Some(table), |step| catalog.table(&step.table));
        let step = child.zip(self.steps.get(place));
        step.is_none_or(|(child, step)| step.foreign_key(child).is_none())
    }

    /// The column that it ends at, with its table.
    pub(crate) fn find<'c>(
        &self,
        table: &'c Table,
        catalog: &'c Catalog,
    ) -> Option<(&'c Table, &'c Column)> {
        let table = match self.steps.last() {
            Some(step) => catalog.table(&step.table)?,
            None => table,
        };
        Some((table, table.column(&self.column)?))
    }

    /// The column that it ends at, without its table.
    pub(crate) fn column_of<'c>(
        &self,
        table: &'c Table,
        catalog: &'c Catalog,
    ) -> Option<&'c Column> {
        Some(self.find(table, catalog)?.1)
    }

    /// Whether it ends at a column whose values are as long as they like.
    pub(crate) fn is_loose(&self, table: &Table, catalog: &Catalog) -> bool {
        self.column_of(table, catalog).is_some_and(is_loose)
    }

    /// Whether it may be NULL in an item: the column may be, or one on the way to it, or the way may lead nowhere.
    pub(crate) fn may_be_null(&self, table: &Table, catalog: &Catalog) -> bool {
        let mut at = table;
        for step in &self.steps {
            let nullable = |name: &String| nullable(at, name);
            if step.columns.iter().any(nullable) || !step.is_enforced(at, catalog) {
                return true;
            }
            let Some(next) = catalog.table(&step.table) else {
                return true;
            };
            at = next;
        }
        nullable(at, &self.column)
    }

    /// The column at which its foreign keys end: of a child's reference that of the parent's key, so that both stand under
    /// one partition key value.
    pub(crate) fn concept(&self, table: &Table, catalog: &Catalog) -> (TableName, String) {
        let (mut at, mut column) = match self.find(table, catalog) {
            Some((table, column)) => (table, column.name.clone()),
            None => (table, self.column.clone()),
        };
        // A cycle of references ends somewhere.
        for _ in 0..8 {
            let mut keys = at.foreign_keys.iter();
            let next = keys.find_map(|key| {
                let place = key.columns.iter().position(|name| *name == column)?;
                let there = key.referenced_columns.get(place)?;
                let is_itself = key.references == at.name && *there == column;
                (!is_itself).then_some((catalog.table(&key.references)?, there.clone()))
            });
            match next {
                Some(found) => (at, column) = found,
                None => break,
            }
        }
        (at.name.clone(), column)
    }
}

/// Whether a column may be NULL. A declared primary key is taken to hold none, also in SQLite: `check` says so.
fn nullable(table: &Table, name: &str) -> bool {
    let is_key = table.primary_key.iter().any(|key| key == name);
    !is_key && table.column(name).is_none_or(|column| column.nullable)
}

/// Whether values of a column are as long as they like: text before something else breaks the order.
pub(crate) fn is_loose(column: &Column) -> bool {
    column.data_type.family() == TypeFamily::Text && !matches!(column.data_type, DataType::Uuid)
        || column.data_type.family() == TypeFamily::Any
}
