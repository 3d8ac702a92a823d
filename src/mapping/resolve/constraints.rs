//! What the schema tells of an item type's rows: keys, what they determine, what may be NULL.

use std::sync::Arc;

use super::bind::Binder;
use super::place::unknown;
use super::scope::Parent;
use crate::catalog::Column;

impl Binder<'_> {
    /// What tells source rows apart: names and indices into the row.
    pub(super) fn row_key(&mut self) -> Vec<(Arc<str>, usize)> {
        self.indices(&self.scope.key)
            .into_iter()
            .zip(&self.scope.key)
            .map(|(index, name)| (name.as_str().into(), index))
            .collect()
    }

    /// The sets of columns that are unique, as indices into the row.
    pub(super) fn unique_keys(&mut self) -> Vec<Vec<usize>> {
        let scope = self.scope;
        let unique = scope.table.iter().flat_map(|table| &table.unique_keys);
        let mut keys: Vec<&[String]> = unique.map(|key| key.columns.as_slice()).collect();
        keys.insert(0, &scope.key);
        keys.retain(|key| !key.is_empty());
        keys.into_iter().map(|key| self.indices(key)).collect()
    }

    /// What a parent's unique keys tell of the row: where all of these columns are known, so are
    /// those, because the foreign key leads to one parent.
    pub(super) fn determined(&mut self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let scope = self.scope;
        let mut determined = Vec::new();
        for parent in &scope.joins {
            let ours: Vec<String> = parent
                .join
                .on
                .iter()
                .map(|(ours, _)| ours.clone())
                .collect();
            let unique = parent
                .table
                .unique_keys
                .iter()
                .map(|key| key.columns.as_slice());
            let keys = std::iter::once(parent.table.primary_key.as_slice()).chain(unique);
            for key in keys.filter(|key| !key.is_empty()) {
                let alias = Some(parent.join.alias.as_str());
                let theirs = key.iter().map(|name| self.pass.find(alias, name));
                if let Some(theirs) = theirs.collect::<Option<Vec<usize>>>() {
                    determined.push((theirs, self.indices(&ours)));
                }
            }
        }
        determined
    }

    fn indices(&mut self, names: &[String]) -> Vec<usize> {
        let scope = self.scope;
        let columns = names.iter().map(|name| {
            let known = scope.columns.iter().find(|column| &column.name == name);
            known.cloned().unwrap_or_else(|| unknown(name))
        });
        let columns: Vec<Column> = columns.collect();
        columns
            .iter()
            .map(|column| self.pass.column(None, &column.name, &column.data_type))
            .collect()
    }

    /// The columns of the row so far that may hold NULL.
    pub(super) fn nullable(&mut self) -> Vec<usize> {
        let scope = self.scope;
        let base = scope.columns.iter().filter(|column| column.nullable);
        let base = base.map(|column| (None, column));
        let of_parent = |parent: &'_ Parent<'_>| {
            let (alias, optional) = (parent.join.alias.clone(), parent.optional);
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
        nullable
    }
}
