//! Which columns are in items, and which tables are read.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_relational::catalog::{Catalog, Dbms, Table, TableName};
use dynafold_relational::scan::Relation;

use super::Coverage;
use super::facts::{Covered, RelationKind};
use crate::model::ValuePath;
use crate::template::Filter;

/// The columns that items are made of, table by table; whether all of a column's value is in an item.
type Used<'a> = BTreeMap<&'a TableName, BTreeMap<&'a str, bool>>;

/// Counts the columns of the tables that the mapping uses.
pub(crate) fn coverage(covered: &[Covered<'_>], catalog: &Catalog) -> Coverage {
    let mut used = Used::new();
    for each in covered {
        for table in each.scan.tables() {
            used.entry(table).or_default();
        }
        let item = each.subject.item;
        for (_, node) in &item.attributes {
            node.visit_values(&[], &mut |embeds, place, filters| {
                record(&mut used, each, embeds, place, filters);
            });
        }
        for place in &item.spreads {
            record(&mut used, each, &[], place, &[]);
        }
    }
    let mut coverage = Coverage::default();
    // MySQL lists every database of the server; count only those that the mapping reads.
    let is_read = |table: &&Table| used.contains_key(&table.name) || in_query(table, covered);
    let read = catalog.tables.iter().filter(is_read);
    let used_schemas: BTreeSet<&str> = read.map(|table| table.name.schema.as_str()).collect();
    let is_in_scope = |table: &Table| {
        !matches!(catalog.dbms, Dbms::Mysql | Dbms::Mariadb)
            || used_schemas.is_empty()
            || used_schemas.contains(table.name.schema.as_str())
    };
    for table in &catalog.tables {
        match used.get(&table.name) {
            // Which columns a query reads is not known.
            _ if !is_base(table, covered) && in_query(table, covered) => {}
            Some(columns) => add_table(table, columns, covered, catalog, &mut coverage),
            // Views repeat what their tables hold.
            None if table.is_stored() && is_in_scope(table) => {
                let name = catalog.display_name(&table.name);
                let is_read_through = |parent: &&Table| {
                    parent.heirs.contains(&table.name) && used.contains_key(&parent.name)
                };
                match catalog.tables.iter().find(is_read_through) {
                    Some(parent) => add_inheriting_table(&name, table, parent, &mut coverage),
                    None => coverage.unused_tables.push(name),
                }
            }
            None => {}
        }
    }
    let queries = covered.iter().filter(|c| {
        matches!(
            c.subject.facts.origin,
            RelationKind::Query | RelationKind::Unknown
        )
    });
    coverage.queries = queries.map(|c| c.subject.item.name.to_string()).collect();
    coverage
}

fn add_table(
    table: &Table,
    used: &BTreeMap<&str, bool>,
    covered: &[Covered<'_>],
    catalog: &Catalog,
    coverage: &mut Coverage,
) {
    let name = catalog.display_name(&table.name);
    let is_omitted = |column: &str| {
        covered.iter().any(|each| {
            each.scan.from == Relation::Table(table.name.clone()) && each.omitted.contains(&column)
        })
    };
    if catalog.may_hide_names(table) {
        coverage.hiding_names.push(name.clone());
    }
    let shown = table.columns.iter().map(|column| &column.name);
    for column in shown.chain(table.hidden_columns.iter().flatten()) {
        coverage.columns += 1;
        let full = || format!("{name}.{column}");
        match used.get(column.as_str()) {
            Some(true) => coverage.in_items += 1,
            // A member of a document, a position, or what a filter leaves.
            Some(false) => coverage.in_part.push(full()),
            None if is_omitted(column) => coverage.omitted.push(full()),
            None => coverage.in_no_item.push(full()),
        }
    }
}

/// Adds a table whose rows are read through the table it inherits from. Its own columns are in no item.
fn add_inheriting_table(name: &str, table: &Table, parent: &Table, coverage: &mut Coverage) {
    let own = table
        .columns
        .iter()
        .filter(|column| parent.column(&column.name).is_none());
    for column in own {
        coverage.columns += 1;
        coverage.in_no_item.push(format!("{name}.{}", column.name));
    }
}

fn is_base(table: &Table, covered: &[Covered<'_>]) -> bool {
    let mut scans = covered.iter().map(|each| each.scan);
    scans.any(|scan| matches!(&scan.from, Relation::Table(name) if *name == table.name))
}

/// Whether a query holds a table's name, so that it may read it.
fn in_query(table: &Table, covered: &[Covered<'_>]) -> bool {
    let name = table.name.name.to_lowercase();
    let mut queries = covered.iter().filter_map(|each| each.scan.from.sql());
    queries.any(|sql| sql.to_lowercase().contains(&name))
}

/// Records the column of a value. An exploded element counts as the array's column.
fn record<'a>(
    used: &mut Used<'a>,
    each: &Covered<'a>,
    embeds: &[usize],
    place: &ValuePath,
    filters: &[Filter],
) {
    let hides = |filter: &Filter| {
        matches!(
            filter,
            Filter::Redact
                | Filter::Shard(_)
                | Filter::Present { .. }
                | Filter::Truncate(_)
                | Filter::Map { other: Some(_), .. }
        )
    };
    let mut column = place.column;
    let mut is_whole = place.path.is_empty() && !filters.iter().any(hides);
    // The rows of children have no elements. The array of an element may be in that of one before it.
    let explodes = each.subject.item.explodes.iter().rev();
    for explode in explodes.filter(|_| embeds.is_empty()) {
        if [explode.element, explode.index].contains(&column) {
            is_whole &= explode.element == column && explode.array.path.is_empty();
            column = explode.array.column;
        }
    }
    let scan = each.scan.within(embeds);
    if let Some((table, name)) = scan.and_then(|scan| scan.origin(column)) {
        let columns = used.entry(table).or_default();
        *columns.entry(name).or_default() |= is_whole;
    }
}
