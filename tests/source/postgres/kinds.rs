//! Relations of several kinds: partitioned tables, views, and tables that inherit. A parent's rows
//! are its own and those of its children, and its keys hold over its own alone.

use dynafold::catalog::{Catalog, TableKind};
use dynafold::claim::ClaimKind;
use dynafold::mapping::{Described, Raw, Resolution, resolve};
use dynafold::scan::Relation;

use super::{catalog, connect, foreign_key, name, rows, strings, table};
use crate::support::postgres::Database;
use crate::support::types::scan_of;

#[tokio::test]
async fn a_partitioned_table_is_seen_as_one_and_views_as_what_they_are() {
    let database = Database::with(
        "CREATE TABLE place (id int PRIMARY KEY);
         CREATE TABLE visit (id int, day date, place_id int REFERENCES place, PRIMARY KEY (id, day))
             PARTITION BY RANGE (day);
         CREATE TABLE visit_2025 PARTITION OF visit
             FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
         CREATE TABLE visit_2026 PARTITION OF visit
             FOR VALUES FROM ('2026-01-01') TO ('2027-01-01') PARTITION BY LIST (id);
         CREATE TABLE visit_2026_rest PARTITION OF visit_2026 DEFAULT;
         CREATE TABLE note (visit_id int, visit_day date, FOREIGN KEY (visit_id, visit_day) REFERENCES visit);
         CREATE TABLE parent (id int); CREATE TABLE child (more text) INHERITS (parent);
         INSERT INTO place SELECT generate_series(1, 10);
         INSERT INTO visit SELECT n, '2025-12-20'::date + n, 1 FROM generate_series(1, 20) AS n;
         CREATE VIEW recent AS SELECT * FROM visit WHERE day > '2026-01-01';
         CREATE MATERIALIZED VIEW totals AS SELECT day, count(*) FROM visit GROUP BY day;
         CREATE UNIQUE INDEX totals_day ON totals (day);
         CREATE MATERIALIZED VIEW unread AS SELECT 1 AS one WITH NO DATA;
         CREATE TABLE log (id int, place_id int) PARTITION BY LIST (id);
         CREATE TABLE log_1 PARTITION OF log FOR VALUES IN (1);
         CREATE TABLE log_2 PARTITION OF log FOR VALUES IN (2);
         CREATE TABLE log_3 PARTITION OF log FOR VALUES IN (3);
         ALTER TABLE log_1 ADD FOREIGN KEY (place_id) REFERENCES place;
         ALTER TABLE log_2 ADD FOREIGN KEY (place_id) REFERENCES place;
         ANALYZE place, visit, visit_2025, visit_2026_rest;",
    )
    .await;
    let catalog = catalog(&database).await;
    let kinds: Vec<(&str, TableKind)> = (catalog.tables.iter())
        .map(|table| (table.name.name.as_str(), table.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("child", TableKind::Table),
            ("log", TableKind::Partitioned),
            ("note", TableKind::Table),
            ("parent", TableKind::Table),
            ("place", TableKind::Table),
            ("recent", TableKind::View),
            ("totals", TableKind::MaterializedView),
            ("unread", TableKind::MaterializedView),
            ("visit", TableKind::Partitioned),
        ]
    );
    let visit = table(&catalog, "visit");
    assert_eq!(visit.primary_key, ["id", "day"]);
    assert_eq!(visit.foreign_keys.len(), 1);
    assert_eq!(visit.estimated_rows, Some(20));
    assert_eq!(visit.estimated_bytes, Some(2 * 8192));
    let log = table(&catalog, "log");
    assert_eq!(
        log.foreign_keys,
        [foreign_key(
            "log_1_place_id_fkey",
            &["place_id"],
            name("public", "place"),
            &["id"]
        )]
    );
    assert_eq!(log.estimated_rows, None);
    assert_eq!(
        catalog.notices,
        [
            "public.unread has no data and cannot be read: REFRESH MATERIALIZED VIEW \"public\".\"unread\" first"
        ]
    );
    let note = table(&catalog, "note");
    assert_eq!(note.foreign_keys.len(), 1);
    assert_eq!(note.foreign_keys[0].columns, ["visit_id", "visit_day"]);
    assert_eq!(note.foreign_keys[0].references.name, "visit");
    assert_eq!(note.estimated_rows, None);
    assert_eq!(table(&catalog, "totals").unique_keys[0].columns, ["day"]);
    let recent = table(&catalog, "recent");
    assert_eq!(
        (recent.estimated_rows, recent.estimated_bytes),
        (None, None)
    );
    assert!(recent.column("day").expect("day").nullable);

    let mut source = connect(&database.url()).await;
    source.begin(&[]).await.expect("a snapshot");
    let from = Relation::Table(visit.name.clone());
    assert_eq!(source.count(&from).await.expect("a count"), 20);
    let read = rows(source.as_mut(), &scan_of(visit)).await.expect("rows");
    assert_eq!(read.len(), 20);
}

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

/// Whether `check` proves the keys of one item type, and the codes of what it warns of.
fn checked(catalog: &Catalog, item: &str) -> (Option<bool>, Vec<&'static str>) {
    let checked = resolved(catalog, item);
    let codes = checked.diagnostics.iter().map(|d| d.code.as_str());
    let codes = codes.collect();
    let proofs = checked.proofs;
    let proved =
        proofs.and_then(|proofs| Some(proofs.of(ClaimKind::KeysDiffer).next()?.is_proved()));
    (proved, codes)
}

/// A mapping of one item type, held against the catalog.
fn resolved(catalog: &Catalog, item: &str) -> Resolution {
    let text = format!(
        "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems:\n  T: {{ {item} }}\n"
    );
    let (raw, faults) = Raw::read(&text, &|_| None);
    resolve(&raw.expect("a mapping"), faults, catalog, &Described::new())
}

#[tokio::test]
async fn a_key_of_a_table_that_others_inherit_from_proves_nothing() {
    let database = Database::with(VEHICLES).await;
    let catalog = catalog(&database).await;
    let inherited = catalog
        .tables
        .iter()
        .filter(|table| !table.heirs.is_empty());
    let inherited: Vec<&str> = inherited.map(|table| table.name.name.as_str()).collect();
    // A partitioned table's keys hold over its partitions; a table without children is like any other.
    assert_eq!(inherited, ["car", "vehicle"]);
    let id = strings(&["id"]);
    let vehicle = table(&catalog, "vehicle");
    assert_eq!(vehicle.primary_key, id);
    let plate = strings(&["plate"]);
    let is_declared = |columns| vehicle.is_declared_unique(columns, catalog.dbms);
    assert!(!is_declared(&id) && !is_declared(&plate));
    assert!(table(&catalog, "taxi").is_unique(&id, catalog.dbms));

    let key = "key: { PK: \"V#{id}\", SK: V }";
    for (from, proved) in [("vehicle", false), ("car", false), ("taxi", true)] {
        let (found, codes) = checked(&catalog, &format!("from: {from}, {key}"));
        assert_eq!(found, Some(proved), "{from}");
        let warned = codes.contains(&"key-unproved");
        assert_eq!(warned, !proved, "{from}: {codes:?}");
    }
    // A trip could come once for each vehicle with its number.
    let trip = "from: trip, key: { PK: \"T#{id}\", SK: T }";
    let (_, codes) = checked(&catalog, &format!("{trip}, join: {{ v: vehicle_id }}"));
    assert_eq!(codes, ["join"]);

    // Tables that inherit are read with the table, but for their own columns.
    let vehicles = resolved(
        &catalog,
        "from: vehicle, key: { PK: \"V#{id}\", SK: \"{plate}\" }",
    );
    let coverage = vehicles.proofs.expect("proofs").coverage;
    assert_eq!(coverage.unused_tables, ["trip", "visit"]);
    assert_eq!(coverage.in_no_item, ["car.doors", "taxi.doors"]);

    // The proof would have been wrong.
    let mut source = connect(&database.url()).await;
    let read = rows(source.as_mut(), &scan_of(vehicle)).await;
    assert_eq!(read.expect("rows").len(), 5);
}
