//! Whether the joins of a pattern's SQL leave the rows of its item types as they are: each once, and all of them.

use std::collections::HashSet;

use dynafold_relational::catalog::{Column, DataType, Dbms, Table};
use dynafold_sql::{Condition, Origin, Select, Test};

use super::shape::{Shape, is_exact};

/// A column of a relation, by the relation's number in FROM.
type Of<'a> = (usize, &'a str);

/// What the joins of a query say, beside its conditions.
pub(super) struct Joins<'a> {
    /// Pairs of columns that the query holds equal.
    pairs: Vec<[Of<'a>; 2]>,
    /// Whether each row of the one item type stands in the result, and no other relation repeats it.
    pub(super) keeps_rows: bool,
}

impl<'a> Joins<'a> {
    /// `bases`: the relations that stand for the pattern's item types.
    pub(super) fn of(
        shape: &Shape<'a>,
        select: &Select,
        bases: &HashSet<usize>,
        dbms: Dbms,
    ) -> Self {
        let held = |condition| pairs(shape, select, condition, dbms);
        // Of two other relations it says nothing where there is no row of its own.
        let on = select.relations.iter().enumerate().flat_map(|(at, own)| {
            let pairs = own.on.iter().flat_map(held);
            pairs.filter(move |pair| pair.iter().any(|(of, _)| *of == at))
        });
        let on: Vec<[Of<'a>; 2]> = on.collect();
        // A row of one of several item types may have none of the other's beside it, on either side.
        let mut all = bases.iter();
        let root = all.next().filter(|_| all.next().is_none());
        let keeps =
            |root: &usize| !shape.may_be_missing(*root) && follows(shape, select, *root, &on);
        Self {
            keeps_rows: select.relations.len() < 2 || root.is_some_and(keeps),
            pairs: select.conditions.iter().flat_map(held).chain(on).collect(),
        }
    }

    /// Whether the query holds one column equal to another wherever a row has both.
    pub(super) fn equate(&self, one: Of<'_>, other: Of<'_>) -> bool {
        one == other || joined(&self.pairs, one.0, one.1).any(|found| found == other)
    }
}

/// Whether all relations of a query are reached one from the other by outer joins along whole unique keys. Any other join
/// may take rows away, or repeat them. `on`: pairs of columns that the joins hold equal.
fn follows(shape: &Shape<'_>, select: &Select, root: usize, on: &[[Of<'_>; 2]]) -> bool {
    let mut reached = vec![root];
    let next = |reached: &[usize]| {
        (0..select.relations.len()).find(|at| {
            let mut from = reached.iter();
            !reached.contains(at)
                && shape.may_be_missing(*at)
                && from.any(|from| by_key(shape, select, *from, *at, on))
        })
    };
    while let Some(at) = next(&reached) {
        reached.push(at);
    }
    reached.len() == select.relations.len()
}

/// Whether the joins hold a whole unique key of a relation equal to columns of another.
fn by_key(shape: &Shape<'_>, select: &Select, from: usize, to: usize, on: &[[Of<'_>; 2]]) -> bool {
    let is_held = |column: &String| joined(on, to, column).any(|(of, _)| of == from);
    let table = select.table(to, shape.catalog);
    table.is_some_and(|table| keys(table).any(|key| key.iter().all(is_held)))
}

/// What a column is held equal to.
fn joined<'p, 'a: 'p>(
    pairs: &'p [[Of<'a>; 2]],
    at: usize,
    column: &'p str,
) -> impl Iterator<Item = Of<'a>> + 'p {
    pairs.iter().filter_map(
        move |[a, b]| match (*a == (at, column), *b == (at, column)) {
            (true, _) => Some(*b),
            (_, true) => Some(*a),
            _ => None,
        },
    )
}

/// The keys of a table that no two of its rows share.
fn keys(table: &Table) -> impl Iterator<Item = &Vec<String>> + '_ {
    let unique = table.unique_keys.iter().map(|key| &key.columns);
    std::iter::once(&table.primary_key)
        .chain(unique)
        .filter(|key| !key.is_empty() && !table.inherited)
}

/// The columns of two relations that a condition holds equal, by one idea of equality.
fn pairs<'a>(
    shape: &Shape<'a>,
    select: &Select,
    condition: &Condition,
    dbms: Dbms,
) -> Vec<[Of<'a>; 2]> {
    if let Test::Using(name) = &condition.test {
        let by_name = |[a, b]: &&[Of<'a>; 2]| name.is(a.1) && name.is(b.1);
        return shape.equated.iter().filter(by_name).copied().collect();
    }
    let sides = shape.columns_equal(select, condition);
    let is_one =
        |[one, other]: &[Origin<'_>; 2]| one.0 != other.0 && same_equality(*one, *other, dbms);
    let found = sides
        .filter(is_one)
        .map(|sides| sides.map(|(of, _, column)| (of, column.name.as_str())));
    found.into_iter().collect()
}

/// Whether two columns are equal to the database where their values are the same, and only there.
fn same_equality(own: Origin<'_>, theirs: Origin<'_>, dbms: Dbms) -> bool {
    let exact = is_exact(own.1, own.2, dbms) && is_exact(theirs.1, theirs.2, dbms);
    let plain =
        |column: &Column| !column.insensitive && !matches!(column.data_type, DataType::Text { .. });
    exact || own.2.data_type == theirs.2.data_type && plain(own.2) && plain(theirs.2)
}
