//! The SQL of an answer, where it is other than the query's own.

use std::collections::BTreeMap;

use dynafold_relational::catalog::{Column, Dbms, Table};
use dynafold_sql::{Condition, RowLimit, qualified};

use super::{ChildAsk, REWRITE, Reading, Unserved, unserved};
use crate::path::{Path, Step};

/// The ways from each relation to its parents.
type Ways = [BTreeMap<usize, Vec<Step>>];

impl<'c> Reading<'c, '_> {
    /// The query of an answer, written anew: without what the application computes, and with outer joins to children.
    pub(super) fn written(
        &self,
        root: usize,
        ways: &BTreeMap<usize, Vec<Step>>,
        children: &[(usize, ChildAsk<'c>)],
        outputs: &[(Path, String)],
        all: &Ways,
    ) -> Result<String, Unserved> {
        let selected = self.selected(ways, children, outputs, all);
        let joined = self.joined(root, ways, !children.is_empty(), all)?;
        let mut text = format!("SELECT {} FROM {joined}", selected.join(", "));
        let conditions = self
            .conditions
            .iter()
            .filter_map(|condition| self.exactly(condition).or_else(|| self.aliased(condition)));
        let conditions: Vec<String> = conditions.collect();
        if !conditions.is_empty() {
            text.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
        }
        let is_sorted = match children {
            [] => true,
            [(_, child)] => !child.order.is_empty(),
            _ => false,
        };
        let terms = self.sort_terms();
        if is_sorted && !terms.is_empty() {
            text.push_str(&format!(" ORDER BY {}", terms.join(", ")));
        }
        if let RowLimit::Rows(rows) = self.query.limit {
            text.push_str(&format!(" LIMIT {rows}"));
        }
        Ok(text)
    }

    /// What the query calls a relation.
    fn alias(&self, at: usize) -> String {
        let relation = self.select.relations.get(at);
        let called = relation.and_then(|relation| relation.called.as_ref());
        called.map_or_else(String::new, |called| {
            identifier(&called.text, self.catalog.dbms)
        })
    }

    fn column_of(&self, at: usize, column: &str) -> String {
        format!(
            "{}.{}",
            self.alias(at),
            identifier(column, self.catalog.dbms)
        )
    }

    fn selected(
        &self,
        ways: &BTreeMap<usize, Vec<Step>>,
        children: &[(usize, ChildAsk<'c>)],
        outputs: &[(Path, String)],
        all: &Ways,
    ) -> Vec<String> {
        let mut selected: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut add = |ways: &BTreeMap<usize, Vec<Step>>,
                       path: &Path,
                       name: String,
                       names: &mut Vec<String>| {
            let mut known = ways.iter();
            let Some((at, _)) = known.find(|(_, way)| **way == path.steps) else {
                return;
            };
            let own = self.column_of(*at, &path.column);
            selected.push(if path.column == name {
                own
            } else {
                format!("{own} AS {}", identifier(&name, self.catalog.dbms))
            });
            names.push(name);
        };
        for (path, name) in outputs {
            add(ways, path, name.clone(), &mut names);
        }
        for (at, child) in children {
            let Some(ways) = all.get(*at) else { continue };
            let before = names.clone();
            for (path, name) in &child.outputs {
                let name = child_name(&before, child.table, name);
                add(ways, path, name, &mut names);
            }
        }
        selected
    }

    /// The tables with their joins.
    fn joined(
        &self,
        root: usize,
        ways: &BTreeMap<usize, Vec<Step>>,
        has_children: bool,
        all: &Ways,
    ) -> Result<String, Unserved> {
        // Two lists of children are held against the parent, not against each other.
        let is_related = |one: usize, other: usize| {
            let leads =
                |from: usize, to: usize| all.get(from).is_some_and(|ways| ways.contains_key(&to));
            !has_children || leads(one, other) || leads(other, one)
        };
        let mut text = self.from(root);
        let mut from = vec![root];
        loop {
            let mut rest = (0..self.tables.len()).filter(|at| !from.contains(at));
            let next = rest.find_map(|at| {
                let sides = self.pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
                let sides =
                    sides.filter(|(a, b)| a.0 == at && from.contains(&b.0) && is_related(at, b.0));
                let on = sides.map(|(a, b)| {
                    format!(
                        "{} = {}",
                        self.column_of(a.0, &a.1),
                        self.column_of(b.0, &b.1)
                    )
                });
                let on: Vec<String> = on.collect();
                (!on.is_empty()).then_some((at, on))
            });
            let Some((at, on)) = next else { break };
            let relation = self.select.relations.get(at);
            let is_outer =
                !ways.contains_key(&at) || relation.is_some_and(|relation| relation.may_be_missing);
            let join = if is_outer { "LEFT JOIN" } else { "JOIN" };
            text.push_str(&format!(
                " {join} {} ON {}",
                self.from(at),
                on.join(" AND ")
            ));
            from.push(at);
        }
        if from.len() != self.tables.len() {
            return unserved("joins tables without saying by which columns", REWRITE);
        }
        Ok(text)
    }

    fn sort_terms(&self) -> Vec<String> {
        let keys = self.query.order.iter().flatten();
        let terms = keys.filter_map(|key| {
            let (at, column) = self.column(key.column.as_ref()?)?;
            let direction = if key.descending { " DESC" } else { "" };
            let found = self.tables.get(at)?.column(&column)?;
            let bytes = by_bytes(found, self.catalog.dbms).unwrap_or_default();
            Some(format!("{}{bytes}{direction}", self.column_of(at, &column)))
        });
        terms.collect()
    }

    /// A condition with the query's aliases before its columns.
    fn aliased(&self, condition: &Condition) -> Option<String> {
        let owner = |owner: Option<&str>, name: &str| {
            let mut relations = self.select.relations.iter();
            let found = match owner {
                Some(owner) => relations.position(|relation| {
                    let called = relation.called.as_ref();
                    called.is_some_and(|called| called.is(owner))
                })?,
                None => self.tables.iter().position(|table| {
                    let mut columns = table.columns.iter();
                    columns.any(|column| column.name.eq_ignore_ascii_case(name))
                })?,
            };
            let called = self.select.relations.get(found)?.called.as_ref()?;
            Some(called.text.clone())
        };
        qualified(&condition.text, self.catalog.dbms, &owner)
    }

    /// An equality with a parameter that holds for the same bytes alone, where the column's collation takes other texts for
    /// equal too.
    fn exactly(&self, condition: &Condition) -> Option<String> {
        let [left, right] = condition.equal()?;
        let (column, parameter) = left.column().zip(right.parameter())?;
        let (at, name) = self.column(column)?;
        let found = self.tables.get(at)?.column(&name)?;
        let dbms = self.catalog.dbms;
        let own = self.column_of(at, &name);
        found.insensitive.then(|| match dbms {
            Dbms::Postgres => format!("CAST({own} AS text) COLLATE \"C\" = :{parameter}"),
            Dbms::Sqlite => format!("{own} COLLATE BINARY = :{parameter}"),
            Dbms::Mysql | Dbms::Mariadb => {
                format!(
                    "CAST(CONVERT({own} USING utf8mb4) AS BINARY) = CAST(:{parameter} AS BINARY)"
                )
            }
        })
    }

    /// The columns that it compares by a collation that takes different texts for equal.
    pub(super) fn compares_loosely(&self) -> Vec<String> {
        let named = self
            .conditions
            .iter()
            .filter(|one| self.exactly(one).is_some());
        let columns = named.filter_map(|one| Some(one.equal()?[0].column()?.name.text.clone()));
        columns.collect()
    }

    /// A table in FROM, with its alias where it has one.
    fn from(&self, at: usize) -> String {
        let (name, alias) = (self.table_name(at), self.alias(at));
        if name == alias {
            name
        } else {
            format!("{name} {alias}")
        }
    }

    fn table_name(&self, at: usize) -> String {
        let Some(table) = self.tables.get(at) else {
            return String::new();
        };
        let dbms = self.catalog.dbms;
        let name = identifier(&table.name.name, dbms);
        let is_found = self
            .catalog
            .find(&table.name.name)
            .is_some_and(|found| found.name == table.name);
        if is_found {
            name
        } else {
            format!("{}.{name}", identifier(&table.name.schema, dbms))
        }
    }
}

/// What makes a database sort a column by its bytes, where it does not.
pub(super) fn by_bytes(column: &Column, dbms: Dbms) -> Option<String> {
    let collation = column.collation.as_ref()?;
    Some(match dbms {
        Dbms::Postgres => " COLLATE \"C\"".to_owned(),
        Dbms::Sqlite => " COLLATE BINARY".to_owned(),
        Dbms::Mysql | Dbms::Mariadb => {
            // A collation begins with its character set.
            let charset = collation.split('_').next().unwrap_or("utf8mb4");
            format!(" COLLATE {charset}_bin")
        }
    })
}

/// What a child's column is called in a result that has one of that name already.
#[must_use]
pub(crate) fn child_name(taken: &[String], table: &Table, name: &str) -> String {
    if taken.iter().any(|known| known == name) {
        format!("{}_{name}", table.name.name)
    } else {
        name.to_owned()
    }
}

/// A name as SQL takes it: in quotes where it needs them.
#[must_use]
pub(crate) fn identifier(name: &str, dbms: Dbms) -> String {
    let quote = match dbms {
        Dbms::Mysql | Dbms::Mariadb => '`',
        Dbms::Postgres | Dbms::Sqlite => '"',
    };
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(is_inner)
        && !dynafold_sql::is_keyword(name);
    if is_plain {
        return name.to_owned();
    }
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}
