//! Which parent a table's items stand beside.

use dynafold_relational::catalog::{Catalog, ForeignKey, Table};

/// Mean number of children that may stand beside a parent, where the key does not ask for it.
const MOST_CHILDREN: u64 = 100;

/// The foreign key to the parent in whose partition a table's items stand: one that is never NULL and
/// leads to the parent's key, with that parent. The one that the primary key begins with comes first, then others
/// within the primary key, then those to a table that has no parent itself.
pub(super) fn owner<'t>(
    catalog: &'t Catalog,
    table: &'t Table,
) -> Option<(&'t ForeignKey, &'t Table)> {
    let stands_alone = |key: &ForeignKey| {
        let parent = catalog.table(&key.references);
        parent.is_some_and(|parent| !has_parent(catalog, parent))
    };
    let place = |key: &&ForeignKey| {
        let places = key.columns.iter().map(|column| {
            let mut row_key = table.row_key().iter();
            row_key
                .position(|other| other == column)
                .unwrap_or(usize::MAX)
        });
        places.max()
    };
    let keys = table.foreign_keys.iter();
    let key = keys
        .filter(|key| leads_to_key(catalog, table, key))
        .filter(|key| place(key) != Some(usize::MAX) || !gathers_too_many(catalog, table, key))
        .min_by_key(|key| (place(key), !stands_alone(key)))?;
    Some((key, catalog.table(&key.references)?))
}

/// Whether a parent is a short list, such as languages, whose few rows would each gather a large
/// part of this table in one partition.
fn gathers_too_many(catalog: &Catalog, table: &Table, key: &ForeignKey) -> bool {
    let parents = catalog
        .table(&key.references)
        .and_then(|parent| parent.estimated_rows);
    match (table.estimated_rows, parents) {
        (Some(rows), Some(parents)) => rows / parents.max(1) > MOST_CHILDREN,
        _ => false,
    }
}

fn has_parent(catalog: &Catalog, table: &Table) -> bool {
    table
        .foreign_keys
        .iter()
        .any(|key| leads_to_key(catalog, table, key))
}

fn leads_to_key(catalog: &Catalog, table: &Table, key: &ForeignKey) -> bool {
    // A declared key is taken to have no NULL, also in SQLite.
    let never_null = |name: &String| {
        let column = table.column(name);
        column.is_some_and(|column| !column.nullable) || table.primary_key.contains(name)
    };
    let of_parent = catalog.table(&key.references).is_some_and(|parent| {
        parent.readable
            && parent.is_stored()
            && !parent.row_key().is_empty()
            && parent.row_key().len() == key.referenced_columns.len()
            && parent
                .row_key()
                .iter()
                .all(|column| key.referenced_columns.contains(column))
    });
    key.references != table.name && of_parent && key.columns.iter().all(never_null)
}
