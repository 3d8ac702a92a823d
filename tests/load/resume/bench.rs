//! A source with everything that a load knows.

use serde_json::{Value, json};

pub(super) const MAPPING: &str = r#"dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
  indexes:
    GSI1: { partition: status, sort: placed_at }
  ttl: ends
items:
  CUSTOMER:
    from: customers
    key: { PK: "CUSTOMER#{id | pad(8)}", SK: "CUSTOMER#" }
    attributes:
      addresses:
        $embed: addresses
        $order: [id]
        $each: { street: "{street}" }
  ORDER:
    from: orders
    join: { c: customer_id }
    key: { PK: "CUSTOMER#{customer_id | pad(8)}", SK: "ORDER#{id | pad(10)}" }
    columns: ["*", c.country]
  OPEN:
    from: orders
    where: status = 'open'
    key: { PK: "OPEN#{customer_id | pad(8)}", SK: "{id | pad(10)}" }
    columns: [placed_at]
  LINE:
    from: order_lines
    key: { PK: "ORDER#{order_id | pad(10)}", SK: "LINE#{line_no | pad(4)}" }
  EVENT:
    from: events
    key: { PK: "EVENT#{code}", SK: "EVENT#" }
  SHIPMENT:
    from: docs
    explode: { s: body.shipments }
    key: { PK: "DOC#{id | pad(8)}", SK: "SHIPMENT#{s.$index | pad(3)}" }
    columns: []
    attributes: { weight: "{s.weight}" }
  SESSION:
    from: sessions
    key: { PK: "SESSION#{id | pad(8)}", SK: "SESSION#" }
    expired: archive
"#;

/// Rows of the table with most of them; the others have a share of it.
pub(super) const ROWS: u32 = 900;

/// The tables with their rows. Of the events, some have no code and some share one.
pub(super) fn script(product: &str) -> String {
    let document = if product == "postgres" {
        "JSONB"
    } else {
        "JSON"
    };
    let mut sql = format!(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, email VARCHAR(80) NOT NULL, country CHAR(2));
         CREATE TABLE addresses (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, street VARCHAR(80),
           FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE CASCADE);
         CREATE INDEX addresses_customer ON addresses (customer_id);
         CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, status VARCHAR(20),
           placed_at VARCHAR(20), total INTEGER,
           FOREIGN KEY (customer_id) REFERENCES customers (id));
         CREATE TABLE order_lines (order_id INTEGER NOT NULL, line_no INTEGER NOT NULL, sku VARCHAR(20),
           PRIMARY KEY (order_id, line_no));
         CREATE TABLE events (id INTEGER PRIMARY KEY, code VARCHAR(40), note VARCHAR(200));
         CREATE TABLE docs (id INTEGER PRIMARY KEY, body {document});
         CREATE TABLE sessions (id INTEGER PRIMARY KEY, owner VARCHAR(40), ends BIGINT);\n"
    );
    let customers = ROWS / 5;
    fill(&mut sql, "customers", 1..=customers, |n| {
        format!(
            "({n}, 'c{n}@example.com', '{}')",
            ["DE", "KR", "FR"][index(n) % 3]
        )
    });
    fill(&mut sql, "addresses", 1..=customers * 2, |n| {
        format!("({n}, {}, 'Street {n}')", n % customers + 1)
    });
    fill(&mut sql, "orders", 1..=ROWS, |n| order(n, customers));
    fill(&mut sql, "order_lines", 0..ROWS, |n| {
        format!("({}, {}, 'sku-{n}')", n / 3 + 1, n % 3 + 1)
    });
    fill(&mut sql, "events", 1..=ROWS / 2, event);
    fill(&mut sql, "docs", 1..=ROWS / 5, |n| {
        let shipments: Vec<Value> = (0..n % 4).map(|at| json!({ "weight": n + at })).collect();
        format!("({n}, '{}')", json!({ "shipments": shipments }))
    });
    fill(&mut sql, "sessions", 1..=ROWS / 3, |n| {
        let ends: u64 = if n % 3 == 0 {
            1_700_000_000
        } else {
            4_102_444_800
        };
        format!("({n}, 'owner {n}', {ends})")
    });
    sql
}

fn order(n: u32, customers: u32) -> String {
    let status = ["open", "paid", "sent"][index(n) % 3];
    format!(
        "({n}, {}, '{status}', '2026-01-{:02}', {n})",
        n * 7 % customers + 1,
        n % 28 + 1
    )
}

/// Every hundredth event has no code, and every hundredth that of its neighbour.
fn event(n: u32) -> String {
    match n % 100 {
        13 => format!("({n}, NULL, 'no code')"),
        57 => format!("({n}, 'code-{}', 'late')", n - 1),
        _ => format!("({n}, 'code-{n}', '{}')", "note ".repeat(20)),
    }
}

fn fill(
    sql: &mut String,
    table: &str,
    rows: impl Iterator<Item = u32>,
    row: impl Fn(u32) -> String,
) {
    let rows: Vec<String> = rows.map(row).collect();
    for part in rows.chunks(500) {
        sql.push_str(&format!(
            "INSERT INTO {table} VALUES {};\n",
            part.join(",\n")
        ));
    }
}

fn index(n: u32) -> usize {
    usize::try_from(n).unwrap()
}
