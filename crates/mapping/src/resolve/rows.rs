//! What the schema says of the rows that a pass reads.

use std::collections::BTreeSet;

use dynafold_relational::catalog::{Catalog, Table, TableKind, TableName};
use dynafold_relational::scan::{Relation, Scan};
use dynafold_sql::reads_more;

/// The table that a scan reads, where it reads one.
fn base<'c>(scan: &Scan, catalog: &'c Catalog) -> Option<&'c Table> {
    match &scan.from {
        Relation::Table(name) => catalog.table(name),
        Relation::Query(_) => None,
    }
}

/// About how many rows it reads.
pub(super) fn estimated(scan: &Scan, catalog: &Catalog) -> Option<u64> {
    base(scan, catalog)?.estimated_rows
}

/// The columns in which its table never has NULL.
pub(super) fn never_null(scan: &Scan, catalog: &Catalog) -> BTreeSet<String> {
    let columns = base(scan, catalog).map_or(&[][..], |table| &table.columns);
    let solid = columns.iter().filter(|column| !column.nullable);
    solid.map(|column| column.name.clone()).collect()
}

/// Whether its rows come from what may leave rows out that are there, or are joined to such: queries, views, and
/// tables of which row security may hide rows.
pub(super) fn selects(scan: &Scan, catalog: &Catalog) -> bool {
    let is_whole = |table: &Table| table.is_stored() && !table.row_security;
    let mut parents = scan.joins.iter().map(|join| &join.table);
    !base(scan, catalog).is_some_and(is_whole)
        || !parents.all(|name| catalog.table(name).is_some_and(is_whole))
}

/// The tables of which row security may hide rows from it, by the names that people write. Of SQL that reads
/// other rows, a view and a condition among it, it is not known which tables it reads.
pub(super) fn row_security(scan: &Scan, catalog: &Catalog) -> Vec<String> {
    let is_view = |table: &Table| table.kind == TableKind::View;
    let reads = |table: &&Table| {
        // Of a view it is known itself that row security lies behind it.
        let is_it = |name: &TableName| {
            *name == table.name || !is_view(table) && catalog.table(name).is_none_or(is_view)
        };
        let mut sql = scan.foreign_sql().into_iter();
        scan.tables().into_iter().any(is_it) || sql.any(|sql| reads_more(sql, catalog.dbms))
    };
    let hidden = catalog.tables.iter().filter(|table| table.row_security);
    let names = hidden
        .filter(reads)
        .map(|table| catalog.display_name(&table.name));
    names.collect()
}
