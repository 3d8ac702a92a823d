//! `design --workload source:`: the statements that the databases themselves have counted.

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection};

use crate::support::cli::{Ran, dynafold};
use crate::support::mysql;
use crate::support::postgres;

const ROWS: &str = "
    CREATE TABLE customers (id int PRIMARY KEY, email varchar(40) NOT NULL UNIQUE, name varchar(40) NOT NULL);
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers (id), placed_at date NOT NULL, total int NOT NULL);
    CREATE TABLE marks (id int PRIMARY KEY, what varchar(10) NOT NULL);
    INSERT INTO customers VALUES (1, 'ada@a', 'Ada'), (2, 'ben@a', 'Ben');
    INSERT INTO orders VALUES (1, 1, '2026-01-01', 10), (2, 1, '2026-01-02', 20), (3, 2, '2026-01-03', 30);
    INSERT INTO marks VALUES (1, 'a'), (2, 'b');";

/// What an application asks, each so often that nobody forgets it.
fn asked() -> String {
    let each = (0..30).map(|at| {
        format!(
            "SELECT id, name FROM customers WHERE email = 'someone{at}@secret';
             SELECT id, total FROM orders WHERE customer_id = {at} ORDER BY placed_at DESC, id DESC LIMIT 5;
             SELECT id, total FROM orders WHERE id IN ({at}, 2, 3);
             UPDATE orders SET total = {at} WHERE id = 1;"
        )
    });
    each.collect()
}

const NAMES: [&str; 4] = [
    "customers_by_email",
    "orders_by_customer_id",
    "orders_by_id",
    "update_orders",
];

fn design(source: &str, output: &str) -> Ran {
    dynafold(&[
        "design",
        "--source",
        source,
        "--workload",
        "source:",
        "-o",
        output,
        "--force",
        "--format",
        "json",
    ])
}

/// Each statement is in the report with its rate, and the mapping has the parameters by the names of columns and no value.
fn is_reported(report: &Value, mapping: &str) {
    let reads = report["reads"].as_array().unwrap().iter();
    let writes = report["writes"].as_array().unwrap().iter();
    let all: Vec<&Value> = reads.chain(writes).collect();
    for name in NAMES {
        let found = all.iter().find(|one| one["name"] == name);
        let rate = found.and_then(|one| one["rate"].as_f64());
        assert!(rate.is_some_and(|rate| rate > 0.0), "{name}: {report:#}");
    }
    assert!(mapping.contains(":customer_id"), "{mapping}");
    assert!(mapping.contains(":email"), "{mapping}");
    assert!(!mapping.contains("secret"), "{mapping}");
}

fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("design.yaml").display().to_string();
    (folder, file)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pg_stat_statements_is_a_workload() {
    let (_folder, file) = folder();
    let mut database = postgres::Database::with(ROWS).await;
    let without = design(&database.url(), &file).exits(1);
    without.says("CREATE EXTENSION pg_stat_statements");
    database.run("CREATE SCHEMA stats; CREATE EXTENSION pg_stat_statements SCHEMA stats; SELECT pg_stat_reset();").await;
    database.run(&asked()).await;
    let url = database.url();
    let ran = design(&url, &file).exits(0);
    ran.says("rates are means over that time");
    let mapping = std::fs::read_to_string(&file).unwrap();
    is_reported(&ran.json(), &mapping);
    // What another user asked is not shown to everybody.
    let reader = database.role("reader").await;
    database.run(&format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}; GRANT USAGE ON SCHEMA stats TO {reader};")).await;
    let refused = design(&database.url_as(&reader, "secret"), &file).exits(1);
    refused.says("GRANT pg_read_all_stats");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_digests_are_a_workload() {
    let (_folder, file) = folder();
    for (product, server) in mysql::servers() {
        let database = mysql::Database::new(&server).await;
        database.run(ROWS).await;
        // Other tests fill the table, which takes no more then.
        database
            .run("TRUNCATE TABLE performance_schema.events_statements_summary_by_digest")
            .await;
        // One by one: of statements that are sent together MariaDB counts the first.
        let mut connection = MySqlConnection::connect(database.url().as_str())
            .await
            .unwrap();
        for statement in asked().split_terminator(';') {
            sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
                .execute(&mut connection)
                .await
                .unwrap();
        }
        let ran = design(database.url().as_str(), &file).exits(0);
        let mapping = std::fs::read_to_string(&file).unwrap();
        is_reported(&ran.json(), &mapping);
        // Rows that no counted statement wrote: those of the script.
        let report = ran.json();
        let mut writes = report["writes"].as_array().unwrap().iter();
        assert!(
            writes.any(|one| one["name"] == "rows_inserted_customers"),
            "{product}: {report:#}"
        );
        database.drop().await;
    }
}

#[tokio::test]
async fn sqlite_counts_no_statements() {
    let (_folder, file) = folder();
    let source = crate::support::sqlite::Database::new(ROWS).await;
    let refused = design(&source.url(), &file).exits(1);
    refused.says("SQLite counts no statements");
    let refused = dynafold(&[
        "design",
        "--catalog",
        &file,
        "--workload",
        "source:",
        "-o",
        &file,
    ]);
    assert_ne!(refused.code, 0);
}
