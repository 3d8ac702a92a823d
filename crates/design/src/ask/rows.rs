//! A read whose rows are those of one item type.

use std::collections::BTreeMap;

use dynafold_relational::catalog::{Dbms, Enforcement, Table};

use super::sql::by_bytes;
use super::{Ask, Reading, Unserved, distinct, is_one_row};
use crate::path::{Path, Step};

impl<'c> Reading<'c, '_> {
    /// What is asked of the rows of a relation to which all others are parents.
    pub(super) fn rows(
        &self,
        root: usize,
        ways: &BTreeMap<usize, Vec<Step>>,
    ) -> Result<Ask<'c>, Unserved> {
        let mut ask = self.bare(root)?;
        self.conditions(root, ways, &mut ask)?;
        let mut is_changed = self.answered(ways, &mut ask)?;
        ask.order = self.order(ways)?;
        is_changed |= self.by_bytes_only(&mut ask);
        // An inner join leaves out rows without the parent.
        for (at, way) in ways {
            let relation = self.select.relations.get(*at);
            if relation.is_some_and(|relation| !relation.may_be_missing) {
                let required = self.required(ask.root, way, &ask.outputs);
                ask.required.extend(required);
            }
        }
        let mut tables = self.tables.iter().enumerate();
        if tables.any(|(at, table)| {
            self.tables
                .iter()
                .skip(at + 1)
                .any(|other| other.name == table.name)
        }) {
            let note =
                "it reads a table twice, and `verify --patterns` does not compare such a query";
            ask.notes.push(note.to_owned());
        }
        if is_changed {
            ask.sql = self.written(root, ways, &[], &ask.outputs, &[])?;
        }
        Ok(ask)
    }

    /// Takes what is selected, and the key: without it a row of the answer is not told from another. Gives whether that is
    /// other than what the query selects.
    fn answered(
        &self,
        ways: &BTreeMap<usize, Vec<Step>>,
        ask: &mut Ask<'c>,
    ) -> Result<bool, Unserved> {
        let mut outputs = Vec::new();
        let (mut computes, mut is_renamed) = (false, false);
        for ((at, column), name, is_computed) in self.outputs()? {
            let Some(way) = ways.get(&at) else { continue };
            let steps = way.clone();
            computes |= is_computed;
            let path = Path { steps, column }.shortened();
            let is_taken = |name: &str| {
                let mut known = outputs.iter();
                known.any(|(other, known): &(Path, String)| known == name && *other != path)
            };
            let name = if is_taken(&name) {
                is_renamed = true;
                let table = path.find(ask.root, self.catalog);
                let table = table.map_or(ask.root, |(table, _)| table);
                format!("{}_{}", table.name.name, path.column)
            } else {
                name
            };
            outputs.push((path, name));
        }
        if is_renamed {
            let note = "columns of one name get the names of their tables too";
            ask.notes.push(note.to_owned());
        }
        if computes {
            let note =
                "the columns that it computes with are answered, and the application computes";
            ask.notes.push(note.to_owned());
        }
        let key = ask.root.row_key().iter();
        let missing =
            key.filter(|column| !outputs.iter().any(|(path, _)| *path == Path::own(column)));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        for column in &missing {
            let is_taken = outputs.iter().any(|(_, known)| known == column);
            let name = if is_taken {
                format!("{}_{column}", ask.root.name.name)
            } else {
                (*column).to_owned()
            };
            outputs.push((Path::own(column), name));
        }
        if !missing.is_empty() {
            let note = format!("its SQL is asked with the key too: {}", missing.join(", "));
            ask.notes.push(note);
        }
        ask.outputs = distinct(outputs);
        Ok(computes || is_renamed || !missing.is_empty())
    }

    /// Notes which texts are compared and sorted by their bytes, as the table does, and not by a collation. Gives whether
    /// there are any.
    fn by_bytes_only(&self, ask: &mut Ask<'c>) -> bool {
        let compared = self.compares_loosely();
        if !compared.is_empty() {
            ask.notes.push(format!(
                "{} is compared by its bytes: write it in one form, such as lower case, where case or accents must not count",
                compared.join(", ")
            ));
        }
        let sorted = ask
            .order
            .iter()
            .filter(|_| !is_one_row(ask))
            .filter_map(|(path, _)| {
                let (_, column) = path.find(ask.root, self.catalog)?;
                by_bytes(column, self.catalog.dbms).map(|_| column.name.clone())
            });
        let sorted: Vec<String> = sorted.collect();
        if !sorted.is_empty() {
            ask.notes.push(format!(
                "{} is sorted by its bytes, not by the collation of the database",
                sorted.join(", ")
            ));
        }
        !compared.is_empty() || !sorted.is_empty()
    }

    /// The column of a parent that tells whether it is there, where a row may be without it.
    fn required(&self, root: &Table, way: &[Step], outputs: &[(Path, String)]) -> Option<Path> {
        let (step, before) = way.split_last()?;
        let child = match before.last() {
            Some(step) => self.catalog.table(&step.table)?,
            None => root,
        };
        let may_lack = step.columns.iter().any(|column| {
            let (steps, column) = (before.to_vec(), column.clone());
            Path { steps, column }.may_be_null(root, self.catalog)
        });
        if !may_lack && self.is_enforced(child, step) {
            return None;
        }
        let parent = self.catalog.table(&step.table)?;
        // One that is answered anyway, or else the parent's key, which the child's reference does not stand for.
        let mut answered = outputs.iter().filter(|(path, _)| path.steps == way);
        let sure = answered.find(|(path, _)| {
            let column = parent.column(&path.column);
            column.is_some_and(|column| !column.nullable)
        });
        Some(Path {
            steps: way.to_vec(),
            column: match sure {
                Some((path, _)) => path.column.clone(),
                None => step.referenced.first()?.clone(),
            },
        })
    }

    /// Whether the database keeps a row's reference from leading nowhere, as far as its declarations tell.
    fn is_enforced(&self, child: &Table, step: &Step) -> bool {
        let mut keys = child.foreign_keys.iter();
        let declared = keys.any(|key| {
            key.references == step.table
                && key.columns.len() == step.columns.len()
                && key
                    .columns
                    .iter()
                    .all(|column| step.columns.contains(column))
                && key.enforcement == Enforcement::Enforced
        });
        declared && self.catalog.dbms != Dbms::Sqlite
    }
}
