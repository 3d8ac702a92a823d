//! Gathers item types into passes: one read of a relation for all that come from it.

use super::scope::Scope;
use crate::catalog::DataType;
use crate::mapping::model::{ItemType, Pass};
use crate::source::{Join, Relation, Scan, ScanColumn};

/// The passes of a mapping, while its item types are resolved.
#[derive(Debug, Default)]
pub(super) struct Passes {
    passes: Vec<PassBuilder>,
}

/// A pass on its way.
#[derive(Debug)]
pub(super) struct PassBuilder {
    from: Relation,
    name: String,
    columns: Vec<ScanColumn>,
    joins: Vec<Join>,
    conditions: Vec<String>,
}

impl Passes {
    /// Finds the pass that reads a scope's relation, or begins one. Two item types share a pass
    /// unless they call different parents by one alias.
    pub(super) fn join(&mut self, scope: &Scope<'_>) -> usize {
        let compatible = |pass: &PassBuilder| {
            pass.from == scope.from
                && scope.joins.iter().all(|parent| {
                    let mut same = pass.joins.iter().filter(|j| j.alias == parent.join.alias);
                    same.all(|join| *join == parent.join)
                })
        };
        let index = match self.passes.iter().position(compatible) {
            Some(index) => index,
            None => {
                self.passes.push(PassBuilder {
                    from: scope.from.clone(),
                    name: scope.written.clone(),
                    columns: Vec::new(),
                    joins: Vec::new(),
                    conditions: Vec::new(),
                });
                self.passes.len() - 1
            }
        };
        if let Some(pass) = self.passes.get_mut(index) {
            for parent in &scope.joins {
                if !pass.joins.contains(&parent.join) {
                    pass.joins.push(parent.join.clone());
                }
            }
        }
        index
    }

    pub(super) fn get(&mut self, index: usize) -> Option<&mut PassBuilder> {
        self.passes.get_mut(index)
    }

    /// A scan of a pass's relation and parents with one condition and no columns.
    pub(super) fn alone(&self, index: usize, condition: &str) -> Option<Scan> {
        let pass = self.passes.get(index)?;
        Some(Scan {
            from: pass.from.clone(),
            columns: Vec::new(),
            joins: pass.joins.clone(),
            conditions: vec![condition.to_owned()],
            keep_unmatched: false,
            limit: None,
        })
    }

    /// Completes the passes and the item types' places in them.
    pub(super) fn finish(self, item_types: &mut [ItemType]) -> Vec<Pass> {
        let complete = |(index, pass): (usize, PassBuilder)| {
            let members: Vec<usize> = item_types
                .iter()
                .enumerate()
                .filter(|(_, item)| item.pass == index)
                .map(|(member, _)| member)
                .collect();
            // Conditions stand behind the columns in every row.
            for member in &members {
                if let Some(condition) = item_types
                    .get_mut(*member)
                    .and_then(|item| item.condition.as_mut())
                {
                    *condition += pass.columns.len();
                }
            }
            let unconditional = members.iter().any(|member| {
                item_types
                    .get(*member)
                    .is_some_and(|item| item.condition.is_none())
            });
            Pass {
                scan: Scan {
                    from: pass.from,
                    columns: pass.columns,
                    joins: pass.joins,
                    conditions: pass.conditions,
                    keep_unmatched: unconditional,
                    limit: None,
                },
                name: pass.name,
                item_types: members,
            }
        };
        self.passes.into_iter().enumerate().map(complete).collect()
    }
}

impl PassBuilder {
    /// The index of a column in the row, asked for if nobody has yet. `alias` names the parent.
    pub(super) fn column(
        &mut self,
        alias: Option<&str>,
        name: &str,
        data_type: &DataType,
    ) -> usize {
        let join = alias.and_then(|alias| self.joins.iter().position(|join| join.alias == alias));
        let found = self
            .columns
            .iter()
            .position(|column| column.join == join && column.name == name);
        found.unwrap_or_else(|| {
            self.columns.push(ScanColumn {
                join,
                name: name.to_owned(),
                data_type: data_type.clone(),
            });
            self.columns.len() - 1
        })
    }

    /// The index of a column that somebody has asked for.
    pub(super) fn find(&self, alias: Option<&str>, name: &str) -> Option<usize> {
        let join = match alias {
            Some(alias) => Some(self.joins.iter().position(|join| join.alias == alias)?),
            None => None,
        };
        let mut columns = self.columns.iter();
        columns.position(|column| column.join == join && column.name == name)
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
