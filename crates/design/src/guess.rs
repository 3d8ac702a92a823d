//! Without a workload: what a schema's keys and foreign keys let one expect to be asked.

use dynafold_relational::catalog::{Catalog, ForeignKey, Table, TypeFamily};

use crate::ask::identifier;
use crate::facts::rows;
use crate::workload::Statement;

/// Mean number of children beyond which nobody lists them all.
const LISTED: f64 = 1_000.0;

/// A read by key of each table, of the children of each parent, and by each unique key.
#[must_use]
pub fn guess(catalog: &Catalog) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    for table in &catalog.tables {
        if !table.is_stored() || !table.readable || table.row_key().is_empty() {
            continue;
        }
        let name = &table.name.name;
        let mut add = |name: String, columns: &[String], order: &str, about: String| {
            if !found.iter().any(|known| known.name == name) {
                found.push(Statement {
                    name,
                    about,
                    sql: sql(catalog, table, columns, order),
                    ..Statement::default()
                });
            }
        };
        let key = table.row_key();
        add(
            format!("{name}_by_{}", key.join("_")),
            key,
            "",
            format!("one {name}"),
        );
        for unique in &table.unique_keys {
            if unique.columns != key && !unique.prefix {
                let columns = unique.columns.join("_");
                add(
                    format!("{name}_by_{columns}"),
                    &unique.columns,
                    "",
                    format!("one {name} by {columns}"),
                );
            }
        }
        for foreign in &table.foreign_keys {
            let Some(parent) = catalog
                .table(&foreign.references)
                .filter(|_| is_asked(foreign))
            else {
                continue;
            };
            if rows(table) / rows(parent) > LISTED || foreign.columns == key {
                continue;
            }
            let order = order(catalog, table, key);
            let parent = &parent.name.name;
            let mut pattern = format!("{name}_of_{parent}");
            let twice = table
                .foreign_keys
                .iter()
                .filter(|other| other.references == foreign.references)
                .count()
                > 1;
            if twice {
                pattern = format!("{pattern}_by_{}", foreign.columns.join("_"));
            }
            add(
                pattern,
                &foreign.columns,
                &order,
                format!("the rows of {name} of one {parent}"),
            );
        }
    }
    found
}

/// Newest first where one column tells when a row came, else by the key.
fn order(catalog: &Catalog, table: &Table, key: &[String]) -> String {
    let is_time = |name: &str| {
        let name = name.to_lowercase();
        let says = ["created", "date", "placed", "time", "_at", "_on"];
        let not = [
            "update", "modif", "chang", "birth", "delet", "expire", "end",
        ];
        says.iter().any(|word| name.contains(word)) && !not.iter().any(|word| name.contains(word))
    };
    let mut times = table.columns.iter().filter(|column| {
        column.data_type.family() == TypeFamily::Time && !column.nullable && is_time(&column.name)
    });
    let column = |name: &String| identifier(name, catalog.dbms);
    let key: Vec<String> = key.iter().map(column).collect();
    match (times.next(), times.next()) {
        (Some(time), None) => {
            let rest = key
                .iter()
                .filter(|name| **name != column(&time.name))
                .map(|name| format!("{name} DESC"));
            let terms: Vec<String> = std::iter::once(format!("{} DESC", column(&time.name)))
                .chain(rest)
                .collect();
            terms.join(", ")
        }
        _ => key.join(", "),
    }
}

/// Whether a foreign key leads to a parent that people ask from: not to who made or changed a row.
fn is_asked(key: &ForeignKey) -> bool {
    !key.columns.iter().any(|column| {
        let column = column.to_lowercase();
        let column = column.strip_suffix("_id").unwrap_or(&column);
        column == "creator" || column.ends_with("_by") || column.ends_with("_creator")
    })
}

fn sql(catalog: &Catalog, table: &Table, columns: &[String], order: &str) -> String {
    let dbms = catalog.dbms;
    let name = identifier(&table.name.name, dbms);
    let is_found = catalog
        .find(&table.name.name)
        .is_some_and(|found| found.name == table.name);
    let name = if is_found {
        name
    } else {
        format!("{}.{name}", identifier(&table.name.schema, dbms))
    };
    let parameter = |column: &str| {
        let sign = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let plain: String = column.chars().map(sign).collect();
        let is_odd = plain == "now" || plain.starts_with(|c: char| c.is_ascii_digit());
        if is_odd { format!("_{plain}") } else { plain }
    };
    let each = columns
        .iter()
        .map(|column| format!("{} = :{}", identifier(column, dbms), parameter(column)));
    let conditions: Vec<String> = each.collect();
    let order = if order.is_empty() {
        String::new()
    } else {
        format!(" ORDER BY {order}")
    };
    format!(
        "SELECT * FROM {name} WHERE {}{order}",
        conditions.join(" AND ")
    )
}
