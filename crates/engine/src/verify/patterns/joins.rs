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
    /// Those by which outer joins lead to a unique key.
    followed: Vec<[Of<'a>; 2]>,
    /// Whether each item type's row stands in the result, and no other relation repeats it.
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
        let pairs: Vec<[Of<'a>; 2]> = select.conditions.iter().flat_map(held).chain(on).collect();
        let mut roots = bases.iter().filter(|base| !shape.may_be_missing(**base));
        let found = roots.find_map(|root| follow(shape, select, bases, *root, &pairs));
        Self {
            keeps_rows: found.is_some() || select.relations.len() < 2,
            followed: found.unwrap_or_default(),
            pairs,
        }
    }

    /// Whether the query holds one column equal to another wherever a row has both.
    pub(super) fn equate(&self, one: Of<'_>, other: Of<'_>) -> bool {
        one == other || joined(&self.pairs, one.0, one.1).any(|found| found == other)
    }

    /// Whether a condition says no more than that an outer join leads to a unique key.
    pub(super) fn say(
        &self,
        shape: &Shape<'a>,
        select: &Select,
        condition: &Condition,
        dbms: Dbms,
    ) -> bool {
        let own = pairs(shape, select, condition, dbms);
        let is_followed = |[a, b]: &[Of<'_>; 2]| {
            self.followed.contains(&[*a, *b]) || self.followed.contains(&[*b, *a])
        };
        !own.is_empty() && own.iter().any(is_followed)
    }
}

/// The relations of a query, reached one from the other by outer joins. `None` where one may take rows of the item
/// types away, as every inner join may, or repeat them.
fn follow<'a>(
    shape: &Shape<'a>,
    select: &Select,
    bases: &HashSet<usize>,
    root: usize,
    pairs: &[[Of<'a>; 2]],
) -> Option<Vec<[Of<'a>; 2]>> {
    let mut reached = vec![root];
    let mut followed = Vec::new();
    loop {
        let next = (0..select.relations.len()).find_map(|at| {
            if reached.contains(&at) || !shape.may_be_missing(at) {
                return None;
            }
            // Where an item type's own rows stand beside another's, they are counted row by row.
            let is_base = bases.contains(&at);
            let found = reached.iter().find_map(|other| {
                let back = || {
                    is_base
                        .then(|| by_key(shape, select, at, *other, pairs))
                        .flatten()
                };
                by_key(shape, select, *other, at, pairs).or_else(back)
            });
            (is_base || found.is_some()).then(|| (at, found.unwrap_or_default()))
        });
        let Some((at, pairs)) = next else {
            break;
        };
        reached.push(at);
        followed.extend(pairs);
    }
    (reached.len() == select.relations.len()).then_some(followed)
}

/// The pairs of a whole unique key of a relation that the query holds equal to columns of another.
fn by_key<'a>(
    shape: &Shape<'a>,
    select: &Select,
    from: usize,
    to: usize,
    pairs: &[[Of<'a>; 2]],
) -> Option<Vec<[Of<'a>; 2]>> {
    keys(select.table(to, shape.catalog)?).find_map(|key| {
        let pair = |column: &'a String| {
            let mut others = joined(pairs, to, column);
            let other = others.find(|(of, _)| *of == from)?;
            Some([other, (to, column.as_str())])
        };
        key.iter().map(pair).collect()
    })
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
