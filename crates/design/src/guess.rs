//! Without a workload: what a schema's keys and foreign keys let one expect to be asked.

use dynafold_format::{free_name, joined, text_if};
use dynafold_relational::catalog::{Catalog, Table, TypeFamily};

use crate::has_items;
use crate::owner::is_audit;
use crate::workload::Statement;
use dynafold_sql::{identifier, table_reference};

/// A read by key of each table, of the children of each parent, and by each unique key.
pub fn guess(catalog: &Catalog) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    for table in catalog.tables.iter().filter(|table| has_items(table)) {
        let name = &table.name.name;
        let mut add = |name: String, columns: &[String], order: &str, about: String| {
            // A name that a shell takes without quotes.
            let name = name.replace(|c: char| !c.is_alphanumeric(), "_");
            let guessed = Some((table.name.clone(), columns.to_vec()));
            // A table of another schema may have it.
            let is_taken = |name: &str| {
                let mut known = found.iter().filter(|known| known.name == name);
                known.any(|known| known.guessed != guessed)
            };
            let name = free_name(&name, &is_taken);
            if found.iter().all(|known| known.name != name) {
                found.push(Statement {
                    name,
                    about,
                    sql: sql(catalog, table, columns, order),
                    guessed,
                    ..Statement::default()
                });
            }
        };
        let key = table.row_key();
        add(
            format!("{name}_by_{}", key.join("_")),
            key,
            "",
            format!("one row of {name}, by its key"),
        );
        for unique in &table.unique_keys {
            if unique.columns != key && !unique.coarse {
                let columns = unique.columns.join("_");
                add(
                    format!("{name}_by_{columns}"),
                    &unique.columns,
                    "",
                    format!("one row of {name}, by {columns}"),
                );
            }
        }
        for foreign in &table.foreign_keys {
            let is_listed = foreign.columns != key && !is_audit(foreign);
            let parent = catalog.table(&foreign.references);
            let Some(parent) = parent.filter(|_| is_listed) else {
                continue;
            };
            let order = order(catalog, table, key);
            let parent = &parent.name.name;
            let mut pattern = format!("{name}_of_{parent}");
            let keys = table.foreign_keys.iter();
            let to_parent = keys.filter(|other| other.references == foreign.references);
            if to_parent.count() > 1 {
                pattern = format!("{pattern}_by_{}", foreign.columns.join("_"));
            }
            add(
                pattern,
                &foreign.columns,
                &order,
                format!("the rows of {name} of one row of {parent}"),
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
            let time = format!("{} DESC", column(&time.name));
            joined(std::iter::once(time).chain(rest), ", ")
        }
        _ => key.join(", "),
    }
}

fn sql(catalog: &Catalog, table: &Table, columns: &[String], order: &str) -> String {
    let dbms = catalog.dbms;
    let parameter = |column: &str| {
        let plain = column.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let is_odd = plain == "now" || plain.starts_with(|c: char| c.is_ascii_digit());
        if is_odd { format!("_{plain}") } else { plain }
    };
    let each = columns
        .iter()
        .map(|column| format!("{} = :{}", identifier(column, dbms), parameter(column)));
    let conditions = joined(each, " AND ");
    let order = text_if(!order.is_empty(), format!(" ORDER BY {order}"));
    // The database refuses `*` of a table of which it hides columns from the user.
    let selected = if table.hidden_columns.is_some() {
        let columns = table.columns.iter().filter(|column| !column.invisible);
        joined(columns.map(|column| identifier(&column.name, dbms)), ", ")
    } else {
        "*".to_owned()
    };
    let table = table_reference(catalog, &table.name);
    format!("SELECT {selected} FROM {table} WHERE {conditions}{order}")
}
