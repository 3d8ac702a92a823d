//! The MySQL source against real servers: MariaDB always, MySQL where it runs.

mod catalog;
mod reading;

use std::fmt::Write as _;

use dynafold::catalog::{Catalog, Table, TableKind};
use dynafold::source::{Source, connect};
use url::Url;

use crate::support::datasets::folder;
use crate::support::mysql::{Database, servers};
use crate::support::types::{
    cases, compare, compare_relations, read_all, read_everything, script, shown,
};

async fn open(url: &Url) -> Box<dyn Source> {
    connect(url.as_str()).await.unwrap()
}

fn table<'c>(catalog: &'c Catalog, name: &str) -> &'c Table {
    catalog
        .find(name)
        .unwrap_or_else(|| panic!("no table {name}"))
}

#[tokio::test]
async fn every_type_arrives_as_the_file_of_cases_says() {
    for (product, server) in servers() {
        let file = include_str!("../types/mysql.txt");
        let cases = cases(file, &[product]);
        let database = Database::new(&server).await;
        database.run(&script(file, &cases)).await;
        let mut source = open(&database.url()).await;
        compare(source.as_mut(), &cases).await;
        compare_relations(source.as_mut(), &cases).await;
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn floats_come_back_bit_for_bit() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        let mut generator = fastrand::Rng::with_seed(7);
        let mut script = String::from("CREATE TABLE t (n INT PRIMARY KEY, f FLOAT, d DOUBLE);");
        let mut expected = Vec::new();
        for n in 0..400 {
            let single = f32::from_bits(generator.u32(..));
            // Within what DynamoDB holds, so that every double is a number.
            let double = f64::from_bits(generator.u64(..)).abs().log10().abs() % 100.0;
            let double = 10f64.powf(double - 50.0) * generator.f64();
            let single = if single.is_finite() { single } else { 1.5 };
            let wide = f64::from(single);
            writeln!(script, "INSERT INTO t VALUES ({n}, {wide:e}, {double:e});").unwrap();
            expected.push((single, double));
        }
        database.run(&script).await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let rows = read_all(source.as_mut(), table(&catalog, "t")).await;
        for (row, (single, double)) in rows.iter().zip(expected) {
            let text = |index: usize| {
                let shown = shown(&row[index]);
                shown
                    .trim_matches(|c: char| !c.is_ascii_digit() && c != '-')
                    .to_owned()
            };
            assert_eq!(text(1).parse(), Ok(single));
            assert_eq!(text(2).parse(), Ok(double));
        }
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_login_that_fails_says_what_to_do_and_no_secret() {
    for (_, server) in servers() {
        let mut database = Database::new(&server).await;
        let user = database.user(&[]).await;
        let mut wrong = user.clone();
        wrong.set_password(Some("Wr0ng%21")).unwrap();
        let mut nowhere = server.clone();
        nowhere.set_path("no_such_database");
        let mut closed = server.clone();
        closed.set_port(Some(1)).unwrap();
        let mut unknown = server.clone();
        unknown.set_host(Some("no-such-host.invalid")).unwrap();
        for (url, words) in [
            (wrong, "refuses this user or password"),
            (user, "may not use the database"),
            (nowhere, "no database of this name"),
            (closed, "nothing answers there"),
            (unknown, "is the host's name right"),
        ] {
            let error = connect(url.as_str()).await.err().unwrap();
            assert!(error.help().unwrap().contains(words), "{error:?}");
            let said = format!("{error} {error:?} {:?}", error.help());
            for secret in ["S3cret", "Wr0ng", server.password().unwrap()] {
                assert!(!said.contains(secret), "{said}");
            }
        }
        let url = server.as_str().replacen("mysql:", "mariadb:", 1);
        let source = connect(&url).await.unwrap();
        drop(source);
        let no_database = server.join("/").unwrap();
        let mut source = connect(no_database.as_str()).await.unwrap();
        assert!(source.catalog().await.unwrap().search_path.is_empty());
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn published_databases_read_in_full() {
    let Some(datasets) = folder() else { return };
    for (product, server) in servers() {
        for (name, files, rows) in [
            ("Chinook", vec!["chinook/Chinook_MySql.sql.gz"], 15_607),
            (
                "sakila",
                vec![
                    "sakila-mysql/01-sakila-schema.sql.gz",
                    "sakila-mysql/02-sakila-data.sql.gz",
                ],
                47_273,
            ),
        ] {
            let database = Database::new(&server).await;
            for file in files {
                database.load(&datasets.join(file), name, "");
            }
            let mut source = open(&database.url()).await;
            let mut catalog = source.catalog().await.unwrap();
            catalog
                .tables
                .retain(|table| table.name.schema == database.name());
            // MariaDB itself takes a quarter of a minute for this one.
            catalog
                .tables
                .retain(|table| table.name.name != "sales_by_store");
            source.begin(&[]).await.unwrap();
            read_everything(source.as_mut(), &catalog).await;
            catalog
                .tables
                .retain(|table| table.kind == TableKind::Table);
            let read = read_everything(source.as_mut(), &catalog).await;
            assert_eq!(read, (rows, 0), "{product} {name}");
            let unread = catalog.tables.iter().find(|table| !table.readable);
            assert_eq!(unread, None);
            drop(source);
            database.drop().await;
        }
    }
}
