//! Ranges: whatever the key, they cover every row exactly once.

mod dialects;
mod embeds;
mod shapes;

use std::fmt::Write as _;

use dynafold::catalog::{Catalog, Table};
use dynafold::scan::{Range, RangeKey, Scan};
use dynafold::source::{Source, connect};

use crate::support::source::Source as Database;
use crate::support::types::{rows_of, scan_of, shown};

/// Rows that a range is to have.
const WANTED: u64 = 20;

/// A table to be cut.
struct Shape {
    table: &'static str,
    /// Its definition, without the name.
    definition: String,
    /// Its rows, as they are inserted.
    rows: Vec<String>,
    /// Whether it can be cut.
    cut: bool,
}

/// Text as a literal of this dialect.
fn text(dialect: &str, text: &str) -> String {
    match dialect {
        "postgres" => format!("E'{}'", text.replace('\\', r"\\").replace('\'', "''")),
        "mysql" => format!("_utf8mb4 x'{}'", hexadecimal(text.as_bytes())),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in bytes {
        write!(digits, "{byte:02x}").unwrap();
    }
    digits
}

fn quoted(dialect: &str, name: &str) -> String {
    match dialect {
        "mysql" => format!("`{name}`"),
        _ => format!("\"{name}\""),
    }
}

fn script(dialect: &str, shapes: &[Shape]) -> String {
    let mut sql = String::new();
    for shape in shapes {
        let table = quoted(dialect, shape.table);
        writeln!(sql, "CREATE TABLE {table} {};", shape.definition).unwrap();
        for rows in shape.rows.chunks(200) {
            writeln!(sql, "INSERT INTO {table} VALUES {};", rows.join(", ")).unwrap();
        }
    }
    sql
}

fn table<'c>(catalog: &'c Catalog, name: &str) -> &'c Table {
    let found = catalog.find(name);
    found.unwrap_or_else(|| panic!("no table {name}"))
}

/// The rows of a scan, each as text, in some order that is the same for the same rows.
async fn read(source: &mut dyn Source, scan: &Scan) -> Vec<String> {
    let mut rows: Vec<String> = rows_of(source, scan)
        .await
        .iter()
        .map(|row| {
            let values: Vec<String> = row.iter().map(shown).collect();
            values.join(" ")
        })
        .collect();
    rows.sort();
    rows
}

/// Reads a scan range by range, and returns all rows and those of the largest part.
async fn read_parts(
    source: &mut dyn Source,
    scan: &Scan,
    ranges: &[Range],
) -> (Vec<String>, usize) {
    let mut all = Vec::new();
    let mut largest = 0;
    for range in ranges {
        // What a state file keeps of it is enough.
        let json = serde_json::to_string(range).unwrap();
        let part = Scan {
            range: Some(serde_json::from_str(&json).unwrap()),
            ..scan.clone()
        };
        let rows = read(source, &part).await;
        largest = largest.max(rows.len());
        all.extend(rows);
    }
    all.sort();
    (all, largest)
}

#[tokio::test]
async fn ranges_of_any_key_cover_every_row_exactly_once() {
    for database in Database::each(|dialect| script(dialect, &shapes::all(dialect))).await {
        let product = database.product();
        let dialect = if product == "mariadb" {
            "mysql"
        } else {
            product
        };
        let mut source = connect(&database.url()).await.unwrap();
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        for shape in shapes::all(dialect) {
            let scan = scan_of(table(&catalog, shape.table));
            let ranges = source.cut(&scan, WANTED).await.unwrap();
            let named = format!("{product}, {}", shape.table);
            assert_eq!(ranges.is_empty(), !shape.cut, "{named}: {ranges:?}");
            if !shape.cut {
                continue;
            }
            let whole = read(source.as_mut(), &scan).await;
            assert_eq!(whole.len(), shape.rows.len(), "{named}");
            let (parts, largest) = read_parts(source.as_mut(), &scan, &ranges).await;
            assert_eq!(parts, whole, "{named}: {ranges:#?}");
            let place = ranges[0].by == RangeKey::Place && product == "postgres";
            let most = if place { 300 } else { 60 };
            assert!(largest <= most, "{named}: {largest} rows in one part");
            let many = whole.len() / 60;
            assert!(place || ranges.len() >= many, "{named}: {}", ranges.len());
        }
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn dates_of_zeros_are_no_bounds() {
    let rows = |dialect: &str| {
        let day = if dialect == "mysql" {
            "0000-00-00"
        } else {
            "2020-01-10"
        };
        let rows: Vec<String> = (0..100).map(|n| format!("('{day}', {n})")).collect();
        let key = "k DATE NOT NULL, n INT NOT NULL, PRIMARY KEY (k, n)";
        format!(
            "CREATE TABLE t ({key}); INSERT INTO t VALUES {};",
            rows.join(", ")
        )
    };
    for database in Database::each(rows).await {
        let mut source = connect(&database.url()).await.unwrap();
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        let scan = scan_of(table(&catalog, "t"));
        let ranges = source.cut(&scan, WANTED).await.unwrap();
        let (parts, _) = read_parts(source.as_mut(), &scan, &ranges).await;
        assert_eq!(parts.len(), 100, "{}: {ranges:?}", database.product());
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_bound_that_says_more_than_a_value_is_still_one_value() {
    let create =
        "CREATE TABLE t (k VARCHAR(80) NOT NULL PRIMARY KEY); INSERT INTO t VALUES ('a'), ('b');";
    for database in Database::each(|_| create.to_owned()).await {
        let mut source = connect(&database.url()).await.unwrap();
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        let mut scan = scan_of(table(&catalog, "t"));
        for value in [
            "' OR 1 = 1 --",
            r"\' OR 1 = 1 -- ",
            "'' OR 1 = 1 --'",
            "zz'; DROP TABLE t; --",
            "x'61' OR 1 = 1",
            "zz\\",
            "zz'",
        ] {
            scan.range = Some(Range {
                by: RangeKey::Key(vec!["k".to_owned()]),
                after: Some(vec![value.to_owned()]),
                to: Some(vec![value.to_owned()]),
            });
            let rows = read(source.as_mut(), &scan).await;
            assert!(rows.is_empty(), "{}: {value}", database.product());
        }
        scan.range = None;
        assert_eq!(read(source.as_mut(), &scan).await.len(), 2);
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn an_empty_table_and_a_small_one_are_one_range() {
    let create = "CREATE TABLE none (id INTEGER NOT NULL PRIMARY KEY);
        CREATE TABLE few (id INTEGER NOT NULL PRIMARY KEY); INSERT INTO few VALUES (-5), (9);";
    for database in Database::each(|_| create.to_owned()).await {
        let mut source = connect(&database.url()).await.unwrap();
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        for (name, rows) in [("none", 0), ("few", 2)] {
            let scan = scan_of(table(&catalog, name));
            let ranges = source.cut(&scan, WANTED).await.unwrap();
            assert_eq!(ranges.len(), 1, "{ranges:?}");
            let (read, _) = read_parts(source.as_mut(), &scan, &ranges).await;
            assert_eq!(read.len(), rows);
        }
        drop(source);
        database.drop().await;
    }
}
