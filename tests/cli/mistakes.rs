//! Fifty mistakes that newcomers make, and what the program says to each. A message tells the place, the
//! cause and the mend; the snapshot is all of them.

use crate::support::cli::{command, run};
use crate::support::sqlite::Database;

const TABLES: &str = "
CREATE TABLE customers (id INTEGER PRIMARY KEY, email VARCHAR(120) NOT NULL UNIQUE, name VARCHAR(80) NOT NULL, vip BOOLEAN NOT NULL DEFAULT 0, avatar BLOB);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), state VARCHAR(12) NOT NULL, placed_at DATETIME NOT NULL);
CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders(id), line_no INTEGER NOT NULL, quantity INTEGER NOT NULL, PRIMARY KEY (order_id, line_no));
";

const MAPPING: &str = r#"dynafold: 1
table:
  name: shop
  key: { partition: PK, sort: SK }
  indexes:
    GSI1: { partition: GSI1PK, sort: GSI1SK }
items:
  CUSTOMER:
    from: customers
    key: { PK: "CUSTOMER#{id | pad(8)}", SK: "PROFILE#" }
    omit: [avatar]
    attributes:
      mail: "{email | lower}"
  ORDER:
    from: orders
    join: { c: customer_id }
    key: { PK: "CUSTOMER#{customer_id | pad(8)}", SK: "ORDER#{state}#{id | pad(8)}" }
    attributes: { GSI1PK: "ORDER#{id | pad(8)}", GSI1SK: "ORDER#", buyer: "{c.name}" }
  LINE:
    from: order_lines
    key: { PK: "ORDER#{order_id | pad(8)}", SK: "LINE#{line_no | pad(4)}" }
access_patterns:
  customerById:
    items: [CUSTOMER]
    key: { PK: "CUSTOMER#{customerId | pad(8)}", SK: "PROFILE#" }
  ordersOfCustomer:
    items: [ORDER]
    key: { PK: "CUSTOMER#{customerId | pad(8)}", SK: { begins_with: "ORDER#" } }
    sql: "SELECT * FROM orders WHERE customer_id = :customerId"
  linesOfOrder:
    items: [LINE]
    key: { PK: "ORDER#{orderId | pad(8)}" }
"#;

/// What is written in the place of what: the mapping is checked with it.
const WRITTEN: &[(&str, &str)] = &[
    ("email | lower}", "email | lowercase}"),
    (
        "{id | pad(8)}\", SK: \"PROFILE",
        "{id | zfill(8)}\", SK: \"PROFILE",
    ),
    ("pad(4)", "pad(four)"),
    ("{email | lower}", "{vip | upper}"),
    ("{email | lower}", "{email.lower()}"),
    ("{email | lower}", "{email | lower"),
    ("\"{email | lower}\"", "{email}"),
    (
        "\"{email | lower}\"",
        "{ $if: \"vip\", $value: \"{email}\" }",
    ),
    (
        "\"{email | lower}\"",
        "{ $type: number, $value: \"{email}\" }",
    ),
    ("\"{email | lower}\"", "{ $embed: order, $as: list }"),
    ("GSI1SK }", "GSI1SK, projection: KEYS_ONLY }"),
    ("partition: PK, sort: SK", "pk: PK, sk: SK"),
    ("partition: PK, sort: SK", "hash: PK, range: SK"),
    ("  indexes:", "  billing: PAY_PER_REQUEST\n  indexes:"),
    ("  indexes:", "  ttl: 30d\n  indexes:"),
    ("  ORDER:\n    from", "   ORDER:\n    from"),
    (
        "  LINE:\n    from: order_lines\n    key:",
        "    LINE:\n      from: order_lines\n      key:",
    ),
    ("    from: orders", "\tfrom: orders"),
    (
        "key: { PK: \"CUSTOMER#{id | pad(8)}\", SK: \"PROFILE#\" }",
        "key: { PK: CUSTOMER #{id}, SK: PROFILE }",
    ),
    (
        "key: { PK: \"CUSTOMER#{id | pad(8)}\", SK: \"PROFILE#\" }",
        "key:\n      PK: CUSTOMER #{id}\n      SK: PROFILE",
    ),
    (
        "key: { PK: \"CUSTOMER#{id | pad(8)}\", SK: \"PROFILE#\" }",
        "key: { PK: \"C#{id}\" }",
    ),
    (
        "\"ORDER#{order_id | pad(8)}\"",
        "\"ORDER#{order_id | pad(8)}",
    ),
    (
        "customerId | pad(8)}\", SK: \"PROFILE",
        "customerId | pad(9)}\", SK: \"PROFILE",
    ),
    (
        "customerId | pad(8)}\", SK: \"PROFILE",
        "customerId}\", SK: \"PROFILE",
    ),
    ("begins_with: \"ORDER#\"", "begins_with: \"ORDERS#\""),
    ("begins_with: \"ORDER#\"", "starts_with: \"ORDER#\""),
    (
        "    items: [LINE]\n",
        "    items: [LINE]\n    where: \"quantity > 1\"\n",
    ),
    (
        "    items: [LINE]\n",
        "    items: [LINE]\n    filter: \"quantity => 1\"\n",
    ),
    (
        "    items: [LINE]\n",
        "    items: [LINE]\n    filter: 'note = \"x\"'\n",
    ),
    (
        "    items: [LINE]\n",
        "    items: [LINE]\n    filter: \"quantty = 1\"\n",
    ),
    (
        "    items: [LINE]\n",
        "    items: [LINE]\n    order: descending\n",
    ),
    ("    items: [LINE]\n", "    items: [LINE]\n    limit: ten\n"),
    (
        "    items: [LINE]\n",
        "    items: [LINE]\n    index: GSI2\n",
    ),
    ("items: [LINE]", "items: LINE"),
    ("items: [LINE]", "items: [LINES]"),
    ("key: { PK: \"ORDER#{orderId | pad(8)}\" }", "key: [PK, SK]"),
    ("omit: [avatar]", "omit: avatar"),
    ("omit: [avatar]", "omit: [avatr]"),
    ("omit: [avatar]", "omit: [avatar]\n    nulls: skip"),
    ("omit: [avatar]", "omit: [avatar]\n    where: \"vip = yes\""),
    ("omit: [avatar]", "omit: [avatar]\n    where: { vip: true }"),
    ("from: order_lines", "from: orderlines"),
    ("    from: order_lines\n", "    from:\n"),
    ("{c.name}", "{customer.name}"),
    ("join: { c: customer_id }", "join: [customer_id]"),
    ("#{state}#{id | pad(8)}", "#{state}"),
    ("access_patterns:", "accessPatterns:"),
    ("items:\n  CUSTOMER", "item:\n  CUSTOMER"),
    ("dynafold: 1", "version: 1"),
    ("customer_id = :customerId", "customerid = :customerId"),
    ("customer_id = :customerId", "customer_id = ?"),
    ("customer_id = :customerId", "customer_id = ':customerId'"),
    ("customer_id = :customerId", "customer_id = {customerId}"),
    (" WHERE customer_id = :customerId", ""),
    ("SELECT * FROM orders", "SELEC * FROM orders"),
    ("SELECT * FROM orders", "UPDATE orders SET state = 'x'"),
    ("dynafold: 1\n", ""),
    ("{c.name}", "{b.name}"),
    ("access_patterns:", "  access_patterns:"),
    ("    from: orders\n", "    from orders\n"),
    (
        "\"CUSTOMER#{id | pad(8)}\", SK",
        "“CUSTOMER#{id | pad(8)}”, SK",
    ),
    ("\"{email | lower}\"", "\"MAIL#\" + email"),
    (
        "\"CUSTOMER#{id | pad(8)}\", SK",
        "\"CUSTOMER#{id | pad(8)}, SK",
    ),
    ("partition: GSI1PK, sort: GSI1SK", "sort: GSI1SK"),
    (
        "{ partition: PK, sort: SK }",
        "{ partition: { name: PK, type: N }, sort: SK }",
    ),
    ("customer_id = :customerId", "customer_id = :id"),
];

const TYPED: &[&str] = &[
    "check nope.yaml --source sqlite:shop.db",
    "check shop.yaml",
    "check shop.yaml --source shop.db",
    "check shop.yaml --source sqlite:nope.db",
    "check shop.yaml --source jdbc:postgresql://localhost/shop",
    "check shop.yaml --source postgres:shop",
    "check shop.yaml --source postgres://app@127.0.0.1:1/shop",
    "check shop.yaml --database sqlite:shop.db",
    "check sqlite:shop.db shop.yaml",
    "check .",
    "inspect sqlite:shop.db",
    "preview shop.yaml --source sqlite:shop.db --limit x",
    "migrate shop.yaml --source sqlite:shop.db --target local --max-rejects -1",
    "preview shop.yaml --source sqlite:shop.db --items ORDERS",
    "preview shop.yaml --source sqlite:shop.db --now yesterday",
    "migrate shop.yaml --source sqlite:shop.db",
    "migrate shop.yaml --source sqlite:shop.db --target dynamo",
    "migrate shop.yaml --source sqlite:shop.db --target http://localhost:8000",
    "verify shop.yaml --source sqlite:shop.db --target local:none.ddb",
    "query shop.yaml customerByID --customerId 1 --target local:shop.ddb",
    "query shop.yaml customerById --target local:shop.ddb",
    "query shop.yaml customerById --id 1 --target local:shop.ddb",
    "query shop.yaml customerById --customerId ann --target local:shop.ddb",
    "query shop.yaml customerById --customerId 1",
];

#[tokio::test]
async fn each_mistake_is_told_with_its_place_its_cause_and_its_mend() {
    let database = Database::new(TABLES).await;
    let folder = database.folder();
    let mut all = String::new();
    let mut reported = |arguments: &str, what: String| {
        let words: Vec<&str> = arguments.split(' ').collect();
        let ran = run(command(&words).current_dir(&folder));
        // What `check` proved stands behind its diagnostics.
        let faults = ran.stdout.split("\nkeys   ").next().unwrap_or_default();
        let reported = format!("{}\n{}", faults.trim_end(), ran.stderr.trim_end());
        all.push_str(&format!(
            "### {what} ({})\n{}\n\n",
            ran.code,
            reported.trim()
        ));
        assert!(
            ["help: ", "tip: ", "targets are", "use `", "write it"]
                .iter()
                .any(|mend| reported.contains(mend)),
            "no mend: {what}\n{reported}"
        );
    };
    std::fs::write(folder.join("shop.yaml"), MAPPING).unwrap();
    for typed in TYPED {
        reported(typed, format!("dynafold {typed}"));
    }
    for (right, wrong) in WRITTEN {
        assert!(MAPPING.contains(right), "{right}");
        std::fs::write(folder.join("shop.yaml"), MAPPING.replacen(right, wrong, 1)).unwrap();
        reported(
            "check shop.yaml --source sqlite:shop.db",
            format!("{} -> {}", right.trim(), wrong.trim()).replace('\n', "⏎"),
        );
    }
    insta::assert_snapshot!(all);
}

/// A mapping whose pseudonyms need a key.
const MASKED: &str = "
dynafold: 1
table: { name: masked, key: { partition: PK } }
items:
  USER:
    from: users
    key: { PK: \"USER#{id}\" }
    columns: []
    attributes: { name: \"{name | pseudonym}\" }
";

#[cfg(unix)]
#[tokio::test]
async fn a_key_for_pseudonyms_that_cannot_be_used_is_not_called_missing() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    let users = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);";
    let database = Database::new(users).await;
    let mapping = database.folder().join("masked.yaml");
    std::fs::write(&mapping, MASKED).unwrap();
    let url = database.url();
    let words = ["preview", mapping.to_str().unwrap(), "--source", &url];
    let with = |key: Option<Vec<u8>>| {
        let mut command = command(&words);
        if let Some(key) = key {
            command.env("DYNAFOLD_PSEUDONYM_KEY", OsString::from_vec(key));
        }
        run(&mut command)
    };
    let needs = "the mapping uses `pseudonym`, which needs a pseudonym key";
    let variable = "DYNAFOLD_PSEUDONYM_KEY";
    for (key, fault) in [
        (None, format!("{needs}\n")),
        (
            Some(Vec::new()),
            format!("{needs}, and {variable} is empty\n"),
        ),
        (
            Some(vec![0xff]),
            format!("{needs}, and {variable} is not UTF-8\n"),
        ),
    ] {
        with(key).exits(2).says(&fault);
    }
    with(Some(b"key".to_vec())).exits(0);
}
