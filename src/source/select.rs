//! Writes the rows of one relation as a SELECT, the same shape for the three databases.

use std::fmt::Write as _;

use super::range::Literal;
use super::{Join, Match, Relation, Scan, ScanColumn};
use crate::catalog::{DataType, TableName};

/// What differs between the databases' SQL.
pub trait Dialect: Send + Sync {
    /// Quotes an identifier.
    fn quote(&self, identifier: &str) -> String;

    /// The expression that asks for a column of this type in the form that the decoder reads.
    /// `column` is quoted and qualified already.
    fn expression(&self, column: &str, data_type: &DataType) -> String {
        let _ = data_type;
        column.to_owned()
    }

    /// A condition as an expression that is 1, or 0 for false and NULL alike.
    fn flag(&self, condition: &str) -> String {
        format!("CASE WHEN ({condition}\n) THEN 1 ELSE 0 END")
    }

    /// A table's name in full.
    fn table(&self, name: &TableName) -> String {
        format!("{}.{}", self.quote(&name.schema), self.quote(&name.name))
    }

    /// Whether a UNION wants a type for every NULL of its first part.
    fn types_nulls(&self) -> bool {
        false
    }

    /// A value of a range as a literal.
    fn literal(&self, value: &str) -> String {
        Literal::parse(value).sql()
    }

    /// The name of the place where a row lies.
    fn place(&self) -> &'static str {
        "_rowid_"
    }

    /// Whether an index is used for the comparison of rows: `(a, b) > (1, 2)`.
    fn compares_rows(&self) -> bool {
        true
    }

    /// Joins children (a derived table of this name) to the few parents before them, so that no more
    /// children are read than those have.
    fn children(&self, derived: &str, name: &str, on: &str) -> String {
        let _ = name;
        format!("CROSS JOIN {derived} ON {on}")
    }
}

/// One relation of a scan with its parents, from which columns can be asked.
///
/// The base table goes by its own name, a query by `q`, parents by their aliases: so conditions may
/// name columns as the mapping does. Where there are parents, a condition that names none of them is
/// put to the base relation alone, so that a column's name that a parent has too is not ambiguous. A
/// newline ends each condition, so that one that ends in a comment cannot swallow what follows.
pub(super) struct Rows<'a> {
    dialect: &'a dyn Dialect,
    scan: &'a Scan,
    base: String,
    /// The conditions and flags in the order of the scan, as they are asked for.
    flags: Vec<Flag<'a>>,
}

/// A condition that becomes a value of the row.
struct Flag<'a> {
    sql: &'a str,
    /// Whether it is put to the base relation before parents are joined.
    inner: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn new(dialect: &'a dyn Dialect, scan: &'a Scan) -> Self {
        let base = match &scan.from {
            Relation::Table(name) => dialect.quote(&name.name),
            Relation::Query(_) => dialect.quote("q"),
        };
        let flags = scan.columns.iter().filter_map(|column| match column {
            ScanColumn::Flag(sql) => Some(sql),
            _ => None,
        });
        let flags = scan.conditions.iter().chain(flags).map(|sql| Flag {
            sql,
            inner: !scan.joins.is_empty() && !names_one(sql, &scan.joins),
        });
        Self {
            dialect,
            scan,
            base,
            flags: flags.collect(),
        }
    }

    fn inner_name(&self, index: usize) -> String {
        self.dialect.quote(&format!("dynafold_condition_{index}"))
    }

    fn flag(&self, index: usize) -> Option<String> {
        let flag = self.flags.get(index)?;
        Some(if flag.inner {
            format!("{}.{}", self.base, self.inner_name(index))
        } else {
            self.dialect.flag(flag.sql)
        })
    }

    fn owner(&self, join: Option<usize>) -> String {
        join.and_then(|index| self.scan.joins.get(index))
            .map_or_else(|| self.base.clone(), |join| self.dialect.quote(&join.alias))
    }

    /// One of the scan's columns; `None` for what the database is not asked for.
    pub(super) fn column(&self, index: usize) -> Option<String> {
        match self.scan.columns.get(index)? {
            ScanColumn::Column {
                join,
                name,
                data_type,
            } => {
                let qualified = format!("{}.{}", self.owner(*join), self.dialect.quote(name));
                Some(self.dialect.expression(&qualified, data_type))
            }
            ScanColumn::Flag(_) => {
                let before = self.scan.columns.get(..index)?.iter();
                let before = before.filter(|column| matches!(column, ScanColumn::Flag(_)));
                self.flag(self.scan.conditions.len() + before.count())
            }
            ScanColumn::Embed(_) | ScanColumn::Slot => None,
        }
    }

    /// A column of the base relation as it is stored: an index knows its order.
    pub(super) fn stored(&self, index: usize) -> Option<String> {
        match self.scan.columns.get(index)? {
            ScanColumn::Column {
                join: None, name, ..
            } => Some(format!("{}.{}", self.base, self.dialect.quote(name))),
            _ => None,
        }
    }

    /// One of the scan's conditions as a value.
    pub(super) fn condition(&self, index: usize) -> Option<String> {
        self.flag(index)
    }

    /// A column of ours that something must be equal to, as it is stored.
    pub(super) fn ours(&self, on: &Match) -> String {
        format!("{}.{}", self.owner(on.join), self.dialect.quote(&on.ours))
    }

    /// A column of the base relation, as it is stored.
    pub(super) fn theirs(&self, on: &Match) -> String {
        format!("{}.{}", self.base, self.dialect.quote(&on.theirs))
    }

    /// Whether the scan leaves out rows.
    pub(super) fn restricts(&self) -> bool {
        !self.scan.keep_unmatched && !self.scan.conditions.is_empty()
    }

    /// 1 for the rows that the scan wants, 0 for those that it leaves out.
    pub(super) fn wanted(&self) -> String {
        match self.any() {
            Some(any) => format!("CASE WHEN {any} THEN 1 ELSE 0 END"),
            None => "1".to_owned(),
        }
    }

    /// The condition under which a row is wanted, where any are left out.
    fn any(&self) -> Option<String> {
        if !self.restricts() {
            return None;
        }
        let all = self.flags.iter().take(self.scan.conditions.len());
        let any: Vec<String> = all
            .enumerate()
            .map(|(index, flag)| {
                if flag.inner {
                    format!("{}.{} = 1", self.base, self.inner_name(index))
                } else {
                    format!("({}\n)", flag.sql)
                }
            })
            .collect();
        Some(any.join(" OR "))
    }

    /// The statement that asks for these outputs. `restrict`: only of rows that the scan wants.
    pub(super) fn select(&self, outputs: &[String], restrict: bool) -> String {
        let from = match &self.scan.from {
            Relation::Table(name) => self.dialect.table(name),
            Relation::Query(sql) => format!("({}\n)", sql.trim().trim_end_matches(';')),
        };
        let base = &self.base;
        let inner = self.flags.iter().enumerate().filter(|(_, flag)| flag.inner);
        let inner: Vec<String> = inner
            .map(|(index, flag)| {
                let value = self.dialect.flag(flag.sql);
                format!(", {value} AS {}", self.inner_name(index))
            })
            .collect();
        let restriction = self.any().filter(|_| restrict);
        let range = self.scan.range.as_ref();
        let range = range.and_then(|range| range.condition(self.dialect, base));
        // The range comes first, and the others as one.
        let and = |others: Option<String>| match (&range, others) {
            (Some(range), Some(others)) => format!("\nWHERE {range} AND ({others})"),
            (Some(range), None) => format!("\nWHERE {range}"),
            (None, Some(others)) => format!("\nWHERE {others}"),
            (None, None) => String::new(),
        };
        // Where no condition names a parent, rows are left out before parents are looked up.
        let conditions = self.flags.iter().take(self.scan.conditions.len());
        let early = !inner.is_empty() && conditions.clone().all(|flag| flag.inner);
        let mut sql = format!("SELECT {}", outputs.join(", "));
        // Writing to a String cannot fail.
        let _ = if inner.is_empty() {
            write!(sql, "\nFROM {from} AS {base}")
        } else {
            let rows = and(restriction.as_ref().filter(|_| early).map(|_| {
                let any: Vec<String> = conditions.map(|c| format!("({}\n)", c.sql)).collect();
                any.join(" OR ")
            }));
            let flags = inner.concat();
            write!(
                sql,
                "\nFROM (SELECT {base}.*{flags}\nFROM {from} AS {base}{rows}) AS {base}"
            )
        };
        for join in &self.scan.joins {
            self.join(&mut sql, join);
        }
        let restriction = restriction.filter(|_| !early);
        sql.push_str(&if inner.is_empty() {
            and(restriction)
        } else {
            restriction.map_or_else(String::new, |any| format!("\nWHERE {any}"))
        });
        sql
    }

    fn join(&self, sql: &mut String, join: &Join) {
        let alias = self.dialect.quote(&join.alias);
        let on = join.on.iter().map(|on| {
            let theirs = self.dialect.quote(&on.theirs);
            format!("{alias}.{theirs} = {}", self.ours(on))
        });
        let on: Vec<String> = on.collect();
        let table = self.dialect.table(&join.table);
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "\nLEFT JOIN {table} AS {alias} ON {}",
            on.join(" AND ")
        );
    }
}

/// Gives the outputs of a statement their names: `c0`, `c1` and so on.
pub(super) fn named(outputs: impl IntoIterator<Item = String>) -> Vec<String> {
    let outputs = outputs.into_iter().enumerate();
    let named: Vec<String> = outputs
        .map(|(index, output)| format!("{output} AS c{index}"))
        .collect();
    if named.is_empty() {
        return vec!["1 AS c0".to_owned()];
    }
    named
}

fn names_one(condition: &str, joins: &[Join]) -> bool {
    joins.iter().any(|join| mentions(condition, &join.alias))
}

/// Whether a condition seems to name a column of an alias: `s.` with no letter before it. One that
/// only looks so, in a string say, still means the same.
fn mentions(condition: &str, alias: &str) -> bool {
    let (condition, alias) = (condition.to_lowercase(), alias.to_lowercase());
    condition.match_indices(&alias).any(|(at, _)| {
        let before = condition
            .get(..at)
            .and_then(|text| text.chars().next_back());
        let after = condition.get(at + alias.len()..).unwrap_or_default();
        let after = after.trim_start_matches(['"', '`']).trim_start();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && after.starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn an_alias_is_told_from_the_end_of_a_word() {
        assert!(mentions("p.x = 1", "p"));
        assert!(mentions("(\"p\".x) = 1", "p"));
        assert!(!mentions("shop.x = 1", "p"));
        assert!(!mentions("price > 1", "p"));
    }
}
