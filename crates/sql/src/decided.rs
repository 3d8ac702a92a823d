//! Whether a query's ORDER BY decides which of its rows come first: without that a LIMIT may take any of several.

use std::mem::discriminant;

use dynafold_relational::catalog::{Catalog, Column, Table, sorts_by_bytes};

use super::condition::{Condition, ConditionTest};
use super::operand::ColumnRef;
use super::origin::ColumnOrigin;
use super::query::SqlQuery;
use super::select::Select;

impl SqlQuery {
    /// Whether no two rows of its result are equal under its ORDER BY: of each table that it reads the order has a whole key, or
    /// what is held equal to a value or to the columns of a row that is decided; of groups all that they are grouped by. A key
    /// counts as it is declared.
    pub fn order_decides(&self, catalog: &Catalog) -> bool {
        let (Some(select), Some(order)) = (self.select(), &self.order) else {
            return false;
        };
        if select.distinct || !select.strange.is_empty() || !self.strange.is_empty() {
            return false;
        }
        // An outer join that leaves the first relation without a row has NULL where a key is meant.
        let first = select.relations.first();
        if first.is_some_and(|first| first.may_be_missing) {
            return false;
        }
        let mut decided = Decided {
            select,
            catalog,
            columns: Vec::new(),
            rows: Vec::new(),
        };
        for key in order {
            // Another collation may take texts for equal that differ; that of bytes takes none.
            let collation = key.collation.as_ref();
            let is_exact = collation.is_none_or(|name| {
                sorts_by_bytes(&name.text, catalog.dbms) && !ignores_blanks(&name.text)
            });
            if let Some(column) = key.column.as_ref().filter(|_| is_exact) {
                decided.take(column);
            }
        }
        decided.follow();
        if select.groups {
            let by = select.grouped_by.as_ref();
            return by.is_some_and(|by| by.iter().all(|column| decided.has_column(column)));
        }
        (0..select.relations.len()).all(|at| decided.rows.contains(&at))
    }
}

/// A column of a relation, by the relation's number in FROM.
type RelationColumn<'c> = (usize, &'c str);

/// What is the same in all rows of a result that are equal under its order.
struct Decided<'q, 'c> {
    select: &'q Select,
    catalog: &'c Catalog,
    columns: Vec<RelationColumn<'c>>,
    /// The relations of which these rows have the same row.
    rows: Vec<usize>,
}

impl<'c> Decided<'_, 'c> {
    fn take(&mut self, column: &ColumnRef) {
        let origin = self.select.origin(column, self.catalog);
        self.columns
            .extend(origin.map(|(at, _, column)| (at, column.name.as_str())));
    }

    fn has_column(&self, column: &ColumnRef) -> bool {
        let origin = self.select.origin(column, self.catalog);
        origin.is_some_and(|(at, _, column)| self.has(at, &column.name))
    }

    fn has(&self, at: usize, column: &str) -> bool {
        self.rows.contains(&at) || self.columns.contains(&(at, column))
    }

    /// Goes from what the order has to all that follows from it.
    fn follow(&mut self) {
        for condition in &self.select.conditions {
            let Some(column) = fixed(condition) else {
                continue;
            };
            self.take(column);
        }
        let pairs = self.pairs();
        loop {
            let known = (self.columns.len(), self.rows.len());
            for [from, to] in &pairs {
                if self.has(from.0, from.1) && !self.has(to.0, to.1) {
                    self.columns.push(*to);
                }
            }
            for at in 0..self.select.relations.len() {
                let table = self.select.table(at, self.catalog);
                if !self.rows.contains(&at)
                    && table.is_some_and(|table| self.has_key(at, table, &pairs))
                {
                    self.rows.push(at);
                }
            }
            if known == (self.columns.len(), self.rows.len()) {
                return;
            }
        }
    }

    /// Whether a whole key of a relation is decided, in which no two rows have NULL.
    fn has_key(&self, at: usize, table: &Table, pairs: &[[RelationColumn<'_>; 2]]) -> bool {
        let is_there = |name: &String| table.column(name).is_some_and(|column| !column.nullable);
        let is_held = |name: &String| pairs.iter().any(|[_, to]| *to == (at, name.as_str()));
        let mut keys = table.keys(self.catalog.dbms);
        keys.any(|key| {
            let mut columns = key.columns.iter();
            columns.all(|name| {
                self.has(at, name) && (key.name.is_none() || is_there(name) || is_held(name))
            })
        })
    }

    /// Columns that are equal wherever the row of the second is there: what an outer join asks says nothing of the rows before it.
    fn pairs(&self) -> Vec<[RelationColumn<'c>; 2]> {
        let (select, catalog) = (self.select, self.catalog);
        let mut found = Vec::new();
        let mut add = |one: ColumnOrigin<'c>, other: ColumnOrigin<'c>, outer: Option<usize>| {
            for (from, to) in [(one, other), (other, one)] {
                let is_led = outer.is_none_or(|at| to.0 == at);
                if is_led && from.0 != to.0 && are_alike(from.2, to.2) {
                    found.push([from, to].map(|(at, _, column)| (at, column.name.as_str())));
                }
            }
        };
        let on = select.relations.iter().enumerate();
        let on = on.flat_map(|(at, relation)| relation.on.iter().map(move |one| (one, Some(at))));
        for (condition, outer) in select.conditions.iter().map(|one| (one, None)).chain(on) {
            if let ConditionTest::Using(name) = &condition.test {
                let sides = select.columns_called(name, catalog);
                if let [one, other] = sides.as_slice() {
                    add(*one, *other, outer);
                }
            } else if let Some([left, right]) = condition.equal()
                && let Some((left, right)) = left.column().zip(right.column())
                && let Some((left, right)) = select
                    .origin(left, catalog)
                    .zip(select.origin(right, catalog))
            {
                add(left, right, outer);
            }
        }
        found
    }
}

/// The column that a condition holds equal to a value, or to NULL.
fn fixed(condition: &Condition) -> Option<&ColumnRef> {
    if let ConditionTest::Null {
        operand,
        negated: false,
    } = &condition.test
    {
        return operand.column();
    }
    condition.fixed()
}

/// Whether one value of a column is equal to one value of another at most, as far as their types tell.
fn are_alike(one: &Column, other: &Column) -> bool {
    discriminant(&one.data_type) == discriminant(&other.data_type)
        && one.collation == other.collation
}

/// Whether a binary collation of MySQL or MariaDB takes texts for equal that differ in blanks at the end.
fn ignores_blanks(collation: &str) -> bool {
    let name = collation.to_ascii_lowercase();
    name.ends_with("_bin") && !name.ends_with("_nopad_bin") && name != "utf8mb4_0900_bin"
}
