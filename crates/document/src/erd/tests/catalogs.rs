//! Catalogs to draw: made to order, of common shape, and any.

use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, ForeignKey, Table, TableKind, TableName, UniqueKey,
};
use proptest::prelude::*;

fn name(name: &str) -> TableName {
    TableName {
        schema: "public".to_owned(),
        name: name.to_owned(),
    }
}

fn column(name: &str, nullable: bool) -> Column {
    let declared = "bigint".to_owned();
    Column {
        nullable,
        ..Column::new(name.to_owned(), declared, DataType::Printed)
    }
}

/// Tables with a key, so many other columns, and a column for each foreign key.
pub(super) fn catalog(tables: &[(&str, usize)], keys: &[(&str, &str)]) -> Catalog {
    let table = |(own, others): &(&str, usize)| {
        let mut table = Table::new(name(own), TableKind::Table);
        table.primary_key = vec!["id".to_owned()];
        table.columns = vec![column("id", false)];
        let of_own = keys.iter().filter(|key| key.0 == *own);
        for (number, (_, parent)) in of_own.enumerate() {
            let column_name = format!("{parent}_{number}");
            table.columns.push(column(&column_name, number % 2 == 1));
            table.foreign_keys.push(ForeignKey {
                name: format!("{own}_{number}"),
                columns: vec![column_name],
                references: name(parent),
                referenced_columns: vec!["id".to_owned()],
                ..ForeignKey::default()
            });
        }
        let others = (0..*others).map(|number| column(&format!("column_{number}"), true));
        table.columns.extend(others);
        table
    };
    Catalog {
        dbms: Dbms::Postgres,
        version: "17.2".to_owned(),
        database: "test".to_owned(),
        search_path: vec!["public".to_owned()],
        own_functions: Vec::new(),
        own_operators: false,
        tables: tables.iter().map(table).collect(),
        notices: Vec::new(),
    }
}

/// A public schema, as a file of `tests/` has it: tables, and below each its columns with their types. `!` stands
/// behind a column of the primary key, `?` behind one that may be NULL, and the column that it refers to at the end.
pub(super) fn public_schema(text: &str) -> Catalog {
    let mut catalog = catalog(&[], &[]);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(' ') {
            let table = Table::new(name(line), TableKind::Table);
            catalog.tables.push(table);
            continue;
        }
        let table = catalog.tables.last_mut().unwrap();
        let own = words[0].trim_end_matches(['!', '?']).to_owned();
        if words[0].ends_with('!') {
            table.primary_key.push(own.clone());
        }
        if let Some((parent, referenced)) = words.get(2).and_then(|to| to.split_once('.')) {
            table.foreign_keys.push(ForeignKey {
                name: own.clone(),
                columns: vec![own.clone()],
                references: name(parent),
                referenced_columns: vec![referenced.to_owned()],
                ..ForeignKey::default()
            });
        }
        table.columns.push(Column {
            declared: words[1].replace('_', " "),
            ..column(&own, words[0].ends_with('?'))
        });
    }
    catalog
}

/// A shop that lends films, with as many tables and ties as the public sample databases.
pub(super) fn rentals() -> Catalog {
    let tables = [
        ("actor", 3),
        ("address", 7),
        ("category", 2),
        ("city", 2),
        ("country", 2),
        ("customer", 7),
        ("film", 11),
        ("film_actor", 1),
        ("film_category", 1),
        ("inventory", 1),
        ("language", 2),
        ("payment", 3),
        ("rental", 3),
        ("staff", 8),
        ("store", 2),
    ];
    let keys = [
        ("address", "city"),
        ("city", "country"),
        ("customer", "address"),
        ("customer", "store"),
        ("film", "language"),
        ("film", "language"),
        ("film_actor", "actor"),
        ("film_actor", "film"),
        ("film_category", "category"),
        ("film_category", "film"),
        ("inventory", "film"),
        ("inventory", "store"),
        ("payment", "customer"),
        ("payment", "rental"),
        ("payment", "staff"),
        ("rental", "customer"),
        ("rental", "inventory"),
        ("rental", "staff"),
        ("staff", "address"),
        ("staff", "store"),
        ("store", "address"),
        ("store", "staff"),
    ];
    catalog(&tables, &keys)
}

/// Any catalog: some tables, foreign keys between any of them, names of any characters.
pub(super) fn any_catalog() -> impl Strategy<Value = Catalog> {
    let table = (any::<String>(), 0_usize..24, any::<bool>());
    let key = (0_usize..14, 0_usize..14, any::<bool>(), 0_usize..3);
    let tables = prop::collection::vec(table, 0..14);
    (tables, prop::collection::vec(key, 0..24)).prop_map(|(tables, keys)| {
        // Numbers make the names differ.
        let names: Vec<(String, usize)> = (tables.iter().enumerate())
            .map(|(number, (name, columns, _))| (format!("{name}{number}"), *columns))
            .collect();
        let named: Vec<(&str, usize)> = names.iter().map(|(n, c)| (n.as_str(), *c)).collect();
        let mut catalog = catalog(&named, &[]);
        for (child, parent, nullable, shared) in keys {
            let Some(references) = catalog.tables.get(parent).map(|t| t.name.clone()) else {
                continue;
            };
            let Some(table) = catalog.tables.get_mut(child) else {
                continue;
            };
            // Some keys share a column, and some are of two.
            let column_name = format!("k{shared}");
            if table.column(&column_name).is_none() {
                table.columns.push(column(&column_name, nullable));
            }
            table.foreign_keys.push(ForeignKey {
                name: String::new(),
                columns: vec![column_name, "id".to_owned()],
                references,
                referenced_columns: vec!["id".to_owned(), "column_0".to_owned()],
                ..ForeignKey::default()
            });
        }
        for (table, (_, _, unique)) in catalog.tables.iter_mut().zip(&tables) {
            if *unique {
                let columns = vec!["k0".to_owned(), "id".to_owned()];
                table.unique_keys.push(UniqueKey {
                    name: String::new(),
                    columns,
                    ..UniqueKey::default()
                });
            }
        }
        catalog
    })
}
