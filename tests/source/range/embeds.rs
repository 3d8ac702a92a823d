//! Ranges of parents with their children, and of rows with their own parents.

use std::fmt::Write as _;

use dynafold::scan::{Embed, Join, Match, RangeKey, Scan, ScanColumn};
use dynafold::source::{LeftBehind, Source, connect};
use futures_util::TryStreamExt as _;

use super::{WANTED, read, read_parts, table};
use crate::support::source::Source as Database;
use crate::support::types::scan_of;

const ORDERS: i64 = 200;

/// Customers have orders, orders have lines; `loose` has no index on its reference.
fn shop(_: &str) -> String {
    let mut sql = "CREATE TABLE customer (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE purchase (id INTEGER NOT NULL PRIMARY KEY, customer_id INTEGER, state VARCHAR(9));
        CREATE TABLE line (purchase_id INTEGER NOT NULL, no INTEGER NOT NULL, customer_id INTEGER, PRIMARY KEY (purchase_id, no));
        CREATE TABLE serial (id INTEGER NOT NULL PRIMARY KEY, purchase_id INTEGER, no INTEGER);
        CREATE INDEX serial_line ON serial (purchase_id, no);
        CREATE TABLE loose (id INTEGER NOT NULL PRIMARY KEY, purchase_id INTEGER);"
        .to_owned();
    let insert = |table: &str, rows: Vec<String>| {
        let mut sql = String::new();
        for rows in rows.chunks(500) {
            writeln!(sql, "INSERT INTO {table} VALUES {};", rows.join(", ")).unwrap();
        }
        sql
    };
    sql += &insert(
        "customer",
        (0..20).map(|id| format!("({id}, 'c{id}')")).collect(),
    );
    sql += &insert(
        "purchase",
        (0..ORDERS)
            .map(|id| {
                format!(
                    "({}, {}, '{}')",
                    id * 1000,
                    id % 25,
                    ["open", "done"][usize::from(id % 3 == 0)]
                )
            })
            .collect(),
    );
    // Every tenth has no purchase.
    sql += &insert(
        "line",
        (0..2000)
            .map(|id| format!("({}, {id}, {})", (id % 220) * 1000, id % 7))
            .collect(),
    );
    sql += &insert(
        "serial",
        (0..1500)
            .map(|id| format!("({id}, {}, {})", (id % 220) * 1000, id % 1700))
            .collect(),
    );
    sql + &insert(
        "loose",
        (0..3000)
            .map(|id| format!("({id}, {})", (id % 220) * 1000))
            .collect(),
    )
}

fn on(ours: &str, theirs: &str) -> Match {
    Match {
        join: None,
        ours: ours.into(),
        theirs: theirs.into(),
    }
}

/// Children in the order of their keys.
fn embed(mut rows: Scan, on: Vec<Match>, most: Option<u64>) -> ScanColumn {
    rows.key = vec![0];
    ScanColumn::Embed(Box::new(Embed {
        rows,
        on,
        order: Vec::new(),
        most,
    }))
}

async fn orphans(source: &mut dyn Source, scan: &Scan) -> (u64, u64) {
    let chunks: Vec<_> = source.scan(scan).try_collect().await.unwrap();
    let left = chunks.iter().flat_map(|chunk| &chunk.left);
    left.fold((0, 0), |(orphans, cut), (_, left)| {
        (orphans + left.orphans, cut + left.cut)
    })
}

#[tokio::test]
async fn parents_come_with_their_children_and_the_others_are_told_apart() {
    for database in Database::each(shop).await {
        let product = database.product();
        let mut source = connect(&database.url()).await.unwrap();
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        let of = |name: &str| scan_of(table(&catalog, name));
        let mut lines = of("line");
        lines.key = vec![0, 1];
        lines.joins.push(Join {
            alias: "c".into(),
            table: table(&catalog, "customer").name.clone(),
            on: vec![on("customer_id", "id")],
            is_single: true,
        });
        lines.columns.push(ScanColumn::Column {
            join: Some(0),
            name: "name".into(),
            data_type: table(&catalog, "customer").columns[1].data_type.clone(),
        });
        lines.conditions = vec!["no <> 1999".into()];
        let serials = embed(
            of("serial"),
            vec![on("purchase_id", "purchase_id"), on("no", "no")],
            None,
        );
        lines.columns.push(serials);
        let mut scan = of("purchase");
        scan.key = vec![0];
        let mut lines = embed(lines, vec![on("id", "purchase_id")], Some(5));
        if let ScanColumn::Embed(embed) = &mut lines {
            embed.rows.key = vec![0, 1];
        }
        scan.columns.push(lines);
        scan.joins.push(Join {
            alias: "owner".into(),
            table: table(&catalog, "customer").name.clone(),
            on: vec![on("customer_id", "id")],
            is_single: true,
        });
        for conditions in [
            &[][..],
            &["state = 'open'"],
            &["state = 'open'", "owner.name = 'c3' -- x"],
        ] {
            scan.conditions = conditions.iter().map(|&sql| sql.to_owned()).collect();
            let ranges = source.cut(&scan, WANTED).await.unwrap();
            assert!(ranges.len() > 5, "{product} {conditions:?}: {ranges:?}");
            assert_eq!(ranges[0].by, RangeKey::Key(vec!["id".into()]));
            let whole = read(source.as_mut(), &scan).await;
            assert!(whole.len() > 20, "{product}");
            let (parts, _) = read_parts(source.as_mut(), &scan, &ranges).await;
            assert_eq!(parts, whole, "{product}");
            let (mut lost, mut cut) = (0, 0);
            for range in ranges {
                let mut part = scan.clone();
                part.range = Some(range);
                let left = orphans(source.as_mut(), &part).await;
                (lost, cut) = (lost + left.0, cut + left.1);
            }
            let reported = orphans(source.as_mut(), &scan).await;
            assert_eq!((lost, cut), (0, reported.1), "{product}");
            let counted = source.orphans(&scan).await.unwrap();
            let sum: u64 = counted.iter().map(|(_, left)| left.orphans).sum();
            assert!(sum > 0);
            assert_eq!(sum, reported.0, "{product}");
            let place = scan.columns.len() - 1;
            let right = |(column, left): &(usize, LeftBehind)| *column == place && left.cut == 0;
            assert!(counted.iter().all(right), "{product}: {counted:?}");
        }
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn parents_whose_children_have_no_index_are_read_in_one_piece() {
    for database in Database::each(shop).await {
        let product = database.product();
        let mut source = connect(&database.url()).await.unwrap();
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        let mut scan = scan_of(table(&catalog, "purchase"));
        scan.key = vec![0];
        let children = scan_of(table(&catalog, "loose"));
        scan.columns
            .push(embed(children, vec![on("id", "purchase_id")], None));
        let ranges = source.cut(&scan, WANTED).await.unwrap();
        assert!(ranges.is_empty(), "{product}: {ranges:?}");
        // Nor are they where their table is in parts and goes by another name.
        if product == "postgres" {
            database
                .run("CREATE TABLE many (id int, purchase_id int) PARTITION BY HASH (id); CREATE TABLE many0 PARTITION OF many FOR VALUES WITH (MODULUS 1, REMAINDER 0); INSERT INTO many SELECT g, g FROM generate_series(1, 999) g")
                .await;
            let mut source = connect(&database.url()).await.unwrap();
            let catalog = source.catalog().await.unwrap();
            let mut scan = scan_of(table(&catalog, "purchase"));
            scan.key = vec![0];
            let children = scan_of(table(&catalog, "many"));
            let on = vec![on("id", "purchase_id")];
            scan.columns.push(embed(children, on, None));
            assert_eq!(source.cut(&scan, WANTED).await.unwrap(), []);
        }
        // The same rows without them are cut.
        scan.columns.pop();
        assert!(
            source.cut(&scan, WANTED).await.unwrap().len() > 5,
            "{product}"
        );
        scan.limit = Some(100);
        assert!(source.cut(&scan, WANTED).await.unwrap().is_empty());
        drop(source);
        database.drop().await;
    }
}
