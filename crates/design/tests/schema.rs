//! Tables that are proposed from a schema alone, as `init` does.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::time::{Duration, Instant};

use dynafold_design::{Limits, design, guess};
use dynafold_dynamodb::price::{Prices, SHIPPED};
use dynafold_mapping::{Described, Proofs, Raw, Resolution, resolve};
use dynafold_relational::catalog::sample::shop;
use dynafold_relational::catalog::{
    Catalog, Column, DataType, ForeignKey, ReferentialAction, Table, TableKind, TableName,
    UniqueKey,
};
use dynafold_testing::spent;

fn proposed(catalog: &Catalog) -> String {
    let prices = Prices::read(SHIPPED, None).unwrap();
    design(catalog, &guess(catalog), &prices, &Limits::default()).mapping
}

fn checked(text: &str, catalog: &Catalog) -> Resolution {
    let (raw, faults) = Raw::read(text, &|_| None);
    resolve(&raw.unwrap(), faults, catalog, &Described::new())
}

fn column(name: &str, data_type: DataType) -> Column {
    Column {
        nullable: false,
        ..Column::new(name.to_owned(), String::new(), data_type)
    }
}

/// A schema of so many tables as companies have them: lists, things of their own, children of up to four parents, N:M, and
/// two columns everywhere that say who made and changed a row.
fn company(count: usize) -> Catalog {
    let mut random = fastrand::Rng::with_seed(7);
    let mut catalog = shop();
    let whole = DataType::Integer {
        bits: 32,
        unsigned: false,
    };
    let text = DataType::Text {
        max_chars: Some(80),
    };
    let time = DataType::Timestamp {
        digits: 0,
        zone: false,
    };
    let called = |name: String| TableName {
        schema: catalog.search_path[0].clone(),
        name,
    };
    let mut tables: Vec<Table> = Vec::new();
    let mut parents: Vec<TableName> = Vec::new();
    for number in 0..count {
        let name = called(format!("t{number:03}"));
        let mut table = Table::new(name.clone(), TableKind::Table);
        table.columns = vec![column("id", whole.clone()), column("name", text.clone())];
        table.primary_key = vec!["id".to_owned()];
        let kind = random.f64();
        let mut refer = |table: &mut Table, own: String, to: &TableName| {
            let mut column = column(&own, whole.clone());
            column.nullable = random.f64() < 0.3;
            table.columns.push(column);
            table.foreign_keys.push(ForeignKey {
                name: own.clone(),
                columns: vec![own],
                references: to.clone(),
                referenced_columns: vec!["id".to_owned()],
                on_delete: if random.f64() < 0.2 {
                    ReferentialAction::Cascade
                } else {
                    ReferentialAction::NoAction
                },
                ..ForeignKey::default()
            });
        };
        let near = parents.len().saturating_sub(40);
        for (step, parent) in parents[near..].iter().rev().enumerate() {
            let is_one = match kind {
                _ if kind < 0.2 => false,
                _ if kind < 0.6 => step % 17 == 3,
                _ => step % 11 == 5,
            };
            if is_one {
                refer(&mut table, format!("{}_id", parent.name), parent);
            }
        }
        if let Some(first) = parents.first() {
            refer(&mut table, "created_by".to_owned(), first);
            refer(&mut table, "modified_by".to_owned(), first);
        }
        if kind > 0.9
            && let [one, other, ..] = &table.foreign_keys[..]
        {
            table.primary_key = [one, other].map(|key| key.columns[0].clone()).to_vec();
        } else if kind < 0.1 {
            table.unique_keys.push(UniqueKey {
                name: "by_name".to_owned(),
                columns: vec!["name".to_owned()],
                ..UniqueKey::default()
            });
        }
        table.columns.push(column("created_at", time.clone()));
        for more in 0..random.usize(0..16) {
            table
                .columns
                .push(column(&format!("c{more}"), text.clone()));
        }
        tables.push(table);
        parents.push(name);
    }
    catalog.tables = tables;
    catalog
}

#[test]
fn what_is_proposed_for_five_hundred_tables_passes_check_and_takes_seconds() {
    let catalog = company(500);
    let (begun, clock) = (spent(), Instant::now());
    let text = proposed(&catalog);
    let took = spent()
        .zip(begun)
        .and_then(|(end, begun)| end.checked_sub(begun));
    let took = took.unwrap_or_else(|| clock.elapsed());
    let resolution = checked(&text, &catalog);
    assert!(resolution.model.is_some(), "{:?}", &resolution.diagnostics);
    let keys_differ = resolution.proofs.as_ref().is_some_and(Proofs::keys_differ);
    assert!(keys_differ);
    // Without optimisation; a program that is shipped takes a tenth.
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn what_is_proposed_for_a_small_schema_is_as_reviewed() {
    let catalog = shop();
    let text = proposed(&catalog);
    let resolution = checked(&text, &catalog);
    assert!(
        resolution.model.is_some(),
        "{:#?}\n{text}",
        resolution.diagnostics
    );
    insta::assert_snapshot!(text);
}

#[test]
fn item_types_are_called_first_after_the_tables_that_bare_names_find() {
    let mut catalog = shop();
    let name = "orders";
    let mut other = catalog.find(name).unwrap().clone();
    other.name.schema = "A first schema".to_owned();
    other.foreign_keys.clear();
    catalog.tables.insert(0, other);
    let text = proposed(&catalog);
    let resolution = checked(&text, &catalog);
    assert!(
        resolution.model.is_some(),
        "{:#?}\n{text}",
        resolution.diagnostics
    );
    let item_type = format!("  {}:\n    from: {name}\n", name.to_uppercase());
    assert!(text.contains(&item_type), "{text}");
}
