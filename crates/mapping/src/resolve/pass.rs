//! Gathers item types into passes: one read of a relation for all that come from it.

use dynafold_relational::catalog::{Catalog, DataType, TableName};
use dynafold_relational::scan::{Embed, Join, Match, Relation, Scan, ScanColumn};

use super::fickle::is_fickle;
use super::rows;
use super::scope::{On, Scope};
use crate::model::{ItemType, Pass};

/// The passes of a mapping, while its item types are resolved.
#[derive(Debug, Default)]
pub(super) struct Passes {
    passes: Vec<PassBuilder>,
}

/// A pass on its way, or the rows of an embed.
#[derive(Debug, Clone)]
pub(super) struct PassBuilder {
    from: Relation,
    name: String,
    columns: Vec<ScanColumn>,
    /// Which columns tell rows apart, where somebody must know.
    pub(super) key: Vec<usize>,
    joins: Vec<Alias>,
    conditions: Vec<String>,
}

/// A joined parent, known by its alias.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Alias {
    name: String,
    table: TableName,
    on: Vec<On>,
}

impl Passes {
    /// Finds the pass that reads a scope's relation, or begins one. Two item types share a pass
    /// unless they call different parents by one alias.
    pub(super) fn join(&mut self, scope: &Scope<'_>) -> usize {
        let aliases = aliases(scope);
        let compatible = |pass: &PassBuilder| {
            pass.from == scope.from
                && aliases.iter().all(|alias| {
                    let mut same = pass.joins.iter().filter(|j| j.name == alias.name);
                    same.all(|join| join == alias)
                })
        };
        let index = match self.passes.iter().position(compatible) {
            Some(index) => index,
            None => {
                let mut new = PassBuilder::new(scope);
                new.joins.clear();
                self.passes.push(new);
                self.passes.len() - 1
            }
        };
        if let Some(pass) = self.passes.get_mut(index) {
            for alias in aliases {
                if !pass.joins.contains(&alias) {
                    pass.joins.push(alias);
                }
            }
        }
        index
    }

    pub(super) fn get(&mut self, index: usize) -> Option<&mut PassBuilder> {
        self.passes.get_mut(index)
    }

    /// The scan of a pass as it is so far.
    pub(super) fn so_far(&self, index: usize) -> Option<Scan> {
        Some(self.passes.get(index)?.clone().scan())
    }

    /// Completes the passes and the item types' places in them.
    pub(super) fn finish(self, item_types: &mut [ItemType], catalog: &Catalog) -> Vec<Pass> {
        let complete = |(index, pass): (usize, PassBuilder)| {
            let mut members = Vec::new();
            let mut keep_unmatched = false;
            let own = item_types.iter_mut().enumerate();
            for (member, item) in own.filter(|(_, item)| item.pass == index) {
                members.push(member);
                match &mut item.condition {
                    // Conditions stand behind the columns in every row.
                    Some(condition) => *condition += pass.columns.len(),
                    None => keep_unmatched = true,
                }
            }
            let name = pass.name.clone();
            let scan = Scan {
                keep_unmatched,
                ..pass.scan()
            };
            Pass {
                fickle: is_fickle(&scan, catalog),
                estimated_rows: rows::estimated(&scan, catalog),
                never_null: rows::never_null(&scan, catalog),
                selects: rows::selects(&scan, catalog),
                row_security: rows::row_security(&scan, catalog),
                scan,
                name,
                item_types: members,
            }
        };
        self.passes.into_iter().enumerate().map(complete).collect()
    }
}

fn aliases(scope: &Scope<'_>) -> Vec<Alias> {
    let joins = scope.joins.iter();
    joins
        .map(|parent| Alias {
            name: parent.alias.clone(),
            table: parent.table.name.clone(),
            on: parent.on.clone(),
        })
        .collect()
}

impl Passes {
    /// The tables' columns that a pass's rows have, by their places in the row.
    pub(super) fn origins(&self, pass: usize) -> Vec<Option<(TableName, String)>> {
        let Some(scan) = self.so_far(pass) else {
            return Vec::new();
        };
        let origins = (0..scan.columns.len()).map(|at| scan.origin(at));
        origins
            .map(|origin| origin.map(|(table, name)| (table.clone(), name.to_owned())))
            .collect()
    }

    /// The alias of a parent that a pass joins by these columns: whose, ours, theirs.
    pub(super) fn joined(
        &self,
        pass: usize,
        table: &TableName,
        by: &[(Option<&str>, &str, &str)],
    ) -> Option<&str> {
        let joins = &self.passes.get(pass)?.joins;
        let is_on = |on: &On| by.contains(&(on.owner.as_deref(), &on.ours, &on.theirs));
        let mut found = joins.iter().filter(|join| join.table == *table);
        let found = found.find(|join| join.on.len() == by.len() && join.on.iter().all(is_on))?;
        Some(&found.name)
    }

    /// Whether a pass has a joined parent of this alias.
    pub(super) fn has_alias(&self, pass: usize, alias: &str) -> bool {
        let joins = self.passes.get(pass).map(|pass| &pass.joins);
        joins.is_some_and(|joins| joins.iter().any(|join| join.name == alias))
    }
}

impl PassBuilder {
    /// The rows of a scope's relation with its parents.
    pub(super) fn new(scope: &Scope<'_>) -> Self {
        Self {
            from: scope.from.clone(),
            name: scope.written.clone(),
            columns: Vec::new(),
            key: Vec::new(),
            joins: aliases(scope),
            conditions: Vec::new(),
        }
    }

    /// The scan, with rows that meet no condition left out.
    pub(super) fn scan(self) -> Scan {
        Scan {
            joins: self.joins(),
            key: self.key,
            conditions: self.conditions,
            ..Scan::of(self.from, self.columns)
        }
    }

    /// A scan of the same relation and parents with one condition and no columns.
    pub(super) fn alone(&self, condition: &str) -> Scan {
        Scan {
            joins: self.joins(),
            conditions: vec![condition.to_owned()],
            ..Scan::of(self.from.clone(), Vec::new())
        }
    }

    fn joins(&self) -> Vec<Join> {
        let joins = self.joins.iter();
        joins
            .map(|join| Join {
                alias: join.name.clone(),
                table: join.table.clone(),
                on: self.matches(&join.on),
            })
            .collect()
    }

    /// Matches with aliases as places among the joins.
    pub(super) fn matches(&self, on: &[On]) -> Vec<Match> {
        on.iter()
            .map(|on| Match {
                join: on.owner.as_deref().and_then(|alias| self.join(alias)),
                ours: on.ours.clone(),
                theirs: on.theirs.clone(),
            })
            .collect()
    }

    fn join(&self, alias: &str) -> Option<usize> {
        self.joins.iter().position(|join| join.name == alias)
    }

    /// The places of the row so far, each with the alias of the parent that it is a column of.
    pub(super) fn places(&self) -> impl Iterator<Item = (&ScanColumn, Option<&str>)> {
        self.columns.iter().map(|column| {
            let join = match column {
                ScanColumn::Column { join, .. } => *join,
                _ => None,
            };
            let alias = join.and_then(|join| self.joins.get(join));
            (column, alias.map(|alias| alias.name.as_str()))
        })
    }

    /// The index of a column in the row, asked for if nobody has yet. `alias` names the parent.
    pub(super) fn column(
        &mut self,
        alias: Option<&str>,
        name: &str,
        data_type: &DataType,
    ) -> usize {
        self.find(alias, name).unwrap_or_else(|| {
            let join = alias.and_then(|alias| self.join(alias));
            self.push(ScanColumn::Column {
                join,
                name: name.to_owned(),
                data_type: data_type.clone(),
            })
        })
    }

    /// The index of a column that somebody has asked for.
    pub(super) fn find(&self, alias: Option<&str>, name: &str) -> Option<usize> {
        let wanted = match alias {
            Some(alias) => Some(self.join(alias)?),
            None => None,
        };
        let mut columns = self.columns.iter();
        columns.position(|column| {
            matches!(column, ScanColumn::Column { join, name: other, .. }
                if *join == wanted && other == name)
        })
    }

    /// The place of a condition's value that leaves out no row.
    pub(super) fn flag(&mut self, sql: &str) -> usize {
        self.shared(ScanColumn::Flag(sql.to_owned()))
    }

    /// The place of children.
    pub(super) fn embed(&mut self, embed: Embed) -> usize {
        self.shared(ScanColumn::Embed(Box::new(embed)))
    }

    /// A new place that the source leaves alone.
    pub(super) fn slot(&mut self) -> usize {
        self.push(ScanColumn::Slot)
    }

    fn shared(&mut self, column: ScanColumn) -> usize {
        let found = self.columns.iter().position(|other| *other == column);
        found.unwrap_or_else(|| self.push(column))
    }

    fn push(&mut self, column: ScanColumn) -> usize {
        self.columns.push(column);
        self.columns.len() - 1
    }

    /// The number of a condition among the pass's conditions.
    pub(super) fn condition(&mut self, sql: &str) -> usize {
        let found = self.conditions.iter().position(|other| other == sql);
        found.unwrap_or_else(|| {
            self.conditions.push(sql.to_owned());
            self.conditions.len() - 1
        })
    }
}
