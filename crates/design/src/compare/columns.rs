//! The columns of a read: those that it compares, and those to which it gives values.

use dynafold_relational::catalog::{Table, TableName};

use crate::ask::{Ask, Equal, Filter};
use crate::path::Path;

/// A column, with its table.
pub(super) type Place<'p> = (&'p TableName, &'p str);

/// The table and the column that a path ends at.
pub(super) fn place<'p>(root: &'p Table, path: &'p Path) -> Place<'p> {
    let step = path.steps.last();
    let table = step.map_or(&root.name, |step| &step.table);
    (table, path.column.as_str())
}

/// A path in words: its column, and the way to a parent.
pub(super) fn named(root: &Table, path: &Path) -> String {
    let (table, column) = place(root, path);
    let way = path.steps.last().map(|step| step.columns.join(", "));
    let way = way.map_or_else(String::new, |columns| format!(" by {columns}"));
    format!("{}.{column}{way}", table.name)
}

/// The paths of the conditions of a read.
pub(super) fn conditions<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let equal = ask.equal.iter().map(|equal| &equal.path);
    let range = ask.range.iter().map(|range| &range.path);
    let when = ask.when.iter().filter_map(|when| when.filter.as_ref());
    let filters = ask.filters.iter().chain(when).map(|filter| &filter.path);
    equal.chain(range).chain(filters)
}

/// What a read asks of columns by constants.
pub(super) fn constants<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Filter> {
    ask.conditions().filter_map(|when| when.filter.as_ref())
}

/// Whether two paths of one table end at the same value.
pub(super) fn is_one_value(one: &Path, other: &Path) -> bool {
    one.clone().shortened() == other.clone().shortened()
}

/// Whether a read gives a column values by `=` or IN where an access pattern asks for one.
pub(super) fn gives(ask: &Ask<'_>, own: &Equal) -> bool {
    let mut equal = ask.equal.iter();
    let filters = ask.filters.iter().chain(constants(ask));
    let mut filters = filters.filter(|filter| filter.test.gives_values());
    equal.any(|one| is_one_value(&one.path, &own.path) && (own.folds || !one.folds))
        || filters.any(|filter| is_one_value(&filter.path, &own.path))
}
