//! What is known of the data's size: from the catalog's estimates. They price a design and prove nothing.

use dynafold_format::{float, whole};
use dynafold_relational::catalog::{Catalog, Column, DataType, Table};

use crate::ask::Ask;
use crate::path::Path;

/// Rows that a table is taken to have where the database does not say.
const ROWS: f64 = 1_000.0;
/// The share of rows that meet a condition of which nothing is known.
const SOME: f64 = 0.1;

/// Rows of a table; one at least.
#[must_use]
pub(crate) fn rows(table: &Table) -> f64 {
    table.estimated_rows.map_or(ROWS, float).max(1.0)
}

/// Bytes of an item with these columns: names and values.
#[must_use]
pub(crate) fn bytes<'c>(columns: impl Iterator<Item = &'c Column>) -> f64 {
    // The keys and the type of an item take about this much.
    columns
        .map(|column| float(whole(column.name.len())) + width(column))
        .sum::<f64>()
        + 60.0
}

/// Bytes of a parent's column in an item.
#[must_use]
pub(crate) fn copied(path: &Path, table: &Table, catalog: &Catalog) -> f64 {
    let column = path.find(table, catalog).filter(|_| !path.steps.is_empty());
    column.map_or(0.0, |(_, column)| {
        float(whole(column.name.len())) + width(column)
    })
}

/// Bytes of a value, by its type.
fn width(column: &Column) -> f64 {
    match &column.data_type {
        DataType::Integer { .. } | DataType::Float { .. } => 6.0,
        DataType::Decimal { .. } => 8.0,
        DataType::Boolean => 1.0,
        DataType::Date => 10.0,
        DataType::Time { .. } => 8.0,
        DataType::Timestamp { .. } => 24.0,
        DataType::Uuid => 36.0,
        DataType::Text { max_chars } => {
            max_chars.map_or(24.0, |most| (float(most) / 2.0).clamp(2.0, 64.0))
        }
        DataType::Enum { .. } | DataType::Set { .. } | DataType::Interval => 12.0,
        DataType::Binary { max_bytes } => {
            max_bytes.map_or(64.0, |most| float(most).clamp(2.0, 256.0))
        }
        _ => 64.0,
    }
}

/// About how many values a column has.
fn distinct(path: &Path, table: &Table, catalog: &Catalog) -> f64 {
    let Some((at, column)) = path.find(table, catalog) else {
        return 1.0;
    };
    if at.row_key() == [column.name.clone()] {
        return rows(at);
    }
    if let Some(distinct) = column.distinct {
        return float(distinct).max(1.0);
    }
    if !column.listed.is_empty() {
        return float(whole(column.listed.len()));
    }
    match &column.data_type {
        DataType::Boolean => return 2.0,
        DataType::Enum { values } => return float(whole(values.len())).max(1.0),
        _ => {}
    }
    let mut keys = at.foreign_keys.iter();
    let parent = keys.find(|key| key.columns == [column.name.clone()]);
    let parent = parent.and_then(|key| catalog.table(&key.references));
    parent.map_or_else(|| rows(at).sqrt(), rows)
}

/// About how many rows of its item type a read finds.
#[must_use]
pub(crate) fn found(ask: &Ask<'_>, catalog: &Catalog) -> f64 {
    let all = rows(ask.root);
    let is_asked = |column: &String| {
        ask.equal
            .iter()
            .any(|equal| equal.path == Path::own(column))
    };
    let mut keys = ask.root.keys(catalog.dbms);
    if keys.any(|key| !key.columns.is_empty() && key.columns.iter().all(is_asked)) {
        return 1.0;
    }
    let mut share = 1.0;
    for equal in &ask.equal {
        share /= distinct(&equal.path, ask.root, catalog);
    }
    if ask.range.is_some() {
        share *= SOME;
    }
    for _ in &ask.when {
        share *= SOME;
    }
    let found = (all * share).max(1.0);
    ask.limit.map_or(found, |limit| found.min(float(limit)))
}
