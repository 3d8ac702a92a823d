//! Tables that inherit: a parent's rows are its own and those of its children, and its keys hold
//! over its own alone.

use dynafold::catalog::Catalog;
use dynafold::mapping::{Described, Raw, Verdict, resolve};

use super::{catalog, connect, rows, strings, table};
use crate::support::postgres::Database;
use crate::support::types::scan_of;

const VEHICLES: &str = "
    CREATE TABLE vehicle (id int PRIMARY KEY, plate text NOT NULL UNIQUE);
    CREATE TABLE car (doors int, PRIMARY KEY (id)) INHERITS (vehicle);
    CREATE TABLE taxi (PRIMARY KEY (id)) INHERITS (car);
    CREATE TABLE trip (id int PRIMARY KEY, vehicle_id int NOT NULL REFERENCES vehicle);
    CREATE TABLE visit (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
    CREATE TABLE visit_all PARTITION OF visit DEFAULT;
    INSERT INTO vehicle VALUES (1, 'A 1'), (2, 'A 2');
    INSERT INTO car VALUES (1, 'A 1', 4);
    INSERT INTO taxi VALUES (1, 'A 1', 5), (3, 'A 3', 5);
";

/// What `check` says of the keys of one item type, and the codes of what it warns of.
fn checked(catalog: &Catalog, item: &str) -> (Option<Verdict>, Vec<&'static str>) {
    let text = format!(
        "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems:\n  T: {{ {item} }}\n"
    );
    let (raw, faults) = Raw::read(&text, &|_| None);
    let checked = resolve(&raw.expect("a mapping"), faults, catalog, &Described::new());
    let codes = checked.diagnostics.iter().map(|d| d.code.as_str());
    let verdict = checked.proofs.map(|proofs| proofs.keys[0].verdict);
    (verdict, codes.collect())
}

#[tokio::test]
async fn a_key_of_a_table_that_others_inherit_from_proves_nothing() {
    let database = Database::with(VEHICLES).await;
    let catalog = catalog(&database).await;
    let inherited = catalog.tables.iter().filter(|table| table.inherited);
    let inherited: Vec<&str> = inherited.map(|table| table.name.name.as_str()).collect();
    // A partitioned table's keys hold over its partitions; a table without children is like any other.
    assert_eq!(inherited, ["car", "vehicle"]);
    let id = strings(&["id"]);
    let vehicle = table(&catalog, "vehicle");
    assert_eq!(vehicle.primary_key, id);
    assert!(!vehicle.is_unique(&id) && !vehicle.is_unique(&strings(&["plate"])));
    assert!(table(&catalog, "taxi").is_unique(&id));

    let key = "key: { PK: \"V#{id}\", SK: V }";
    for (from, verdict) in [
        ("vehicle", Verdict::Unproved),
        ("car", Verdict::Unproved),
        ("taxi", Verdict::Proved),
    ] {
        let (found, codes) = checked(&catalog, &format!("from: {from}, {key}"));
        assert_eq!(found, Some(verdict), "{from}");
        let warned = codes.contains(&"key-unproved");
        assert_eq!(warned, verdict != Verdict::Proved, "{from}: {codes:?}");
    }
    // A trip could come once for each vehicle with its number.
    let trip = "from: trip, key: { PK: \"T#{id}\", SK: T }";
    let (_, codes) = checked(&catalog, &format!("{trip}, join: {{ v: vehicle_id }}"));
    assert_eq!(codes, ["join"]);

    // The proof would have been wrong.
    let mut source = connect(&database.url()).await;
    let read = rows(source.as_mut(), &scan_of(vehicle)).await;
    assert_eq!(read.expect("rows").len(), 5);
}
