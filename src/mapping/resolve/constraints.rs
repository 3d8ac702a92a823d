//! What the schema tells of an item type's rows: keys, what they determine, what may be NULL.

use std::sync::Arc;

use super::bind::Binder;
use super::place::unknown;
use super::scope::Parent;

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

    /// The sets of columns that are unique, as indices into the row.
    pub(super) fn unique_keys(&mut self) -> Vec<Vec<usize>> {
        let scope = self.scope;
        let unique = scope.table.iter().flat_map(|table| &table.unique_keys);
        let mut keys: Vec<&[String]> = unique.map(|key| key.columns.as_slice()).collect();
        keys.insert(0, &scope.key);
        keys.retain(|key| !key.is_empty());
        let positions = || scope.elements.iter().map(|element| element.index);
        keys.into_iter()
            .map(|key| self.indices(key).into_iter().chain(positions()).collect())
            .collect()
    }

    /// What a parent's unique keys tell of the row: where all of these columns are known, so are
    /// those, because the join leads to one parent.
    pub(super) fn determined(&mut self) -> Vec<(Vec<usize>, Vec<usize>)> {
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

    /// A column's place in the row, whoever's it is.
    fn index(&mut self, alias: Option<&str>, name: &str) -> usize {
        let columns = match alias.and_then(|alias| self.scope.parent(alias)) {
            Some(parent) => &parent.table.columns,
            None => self.scope.columns,
        };
        let known = columns.iter().find(|column| column.name == name);
        let column = known.cloned().unwrap_or_else(|| unknown(name));
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
