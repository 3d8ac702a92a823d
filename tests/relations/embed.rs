//! Children inside their parents.

use serde_json::{Value, json};

use super::{load_everywhere, mapping};

const SHOP: &str = "
    CREATE TABLE customer (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, boss_id INTEGER);
    CREATE TABLE product (sku VARCHAR(20) NOT NULL PRIMARY KEY, title VARCHAR(20) NOT NULL, maker_id INTEGER);
    CREATE TABLE purchase (
        id INTEGER NOT NULL PRIMARY KEY, customer_id INTEGER, placed INTEGER, state VARCHAR(10),
        FOREIGN KEY (customer_id) REFERENCES customer (id));
    CREATE TABLE line (
        purchase_id INTEGER NOT NULL, no INTEGER NOT NULL, sku VARCHAR(20), price DECIMAL(12,4),
        PRIMARY KEY (purchase_id, no),
        FOREIGN KEY (purchase_id) REFERENCES purchase (id), FOREIGN KEY (sku) REFERENCES product (sku));
    CREATE TABLE serial (
        purchase_id INTEGER NOT NULL, no INTEGER NOT NULL, serial VARCHAR(20) NOT NULL,
        PRIMARY KEY (purchase_id, no, serial), FOREIGN KEY (purchase_id, no) REFERENCES line (purchase_id, no));
    CREATE TABLE tag (purchase_id INTEGER, tag VARCHAR(20));
    INSERT INTO customer VALUES (1, 'Ann', NULL), (2, 'Bob', 1), (3, 'Cho', 1), (4, 'Dae', 9);
    INSERT INTO product VALUES ('p-1', 'Pen', 1), ('p-2', 'Ink', NULL);
    INSERT INTO purchase VALUES (9, 1, 100, 'open'), (31, 1, 90, 'done'), (32, 1, 100, 'done'), (40, 2, 1, 'open'),
        (50, NULL, 5, 'open'), (51, NULL, 5, 'done');
    INSERT INTO line VALUES (9, 10, 'p-1', 1.5), (9, 9, 'p-2', NULL), (31, 1, NULL, 12345678.1234), (40, 1, 'p-1', 2);
    INSERT INTO serial VALUES (9, 10, 'z'), (9, 10, 'B'), (9, 9, 'a');
    INSERT INTO tag VALUES (9, 'x'), (9, NULL), (9, 'a'), (31, 'x'), (31, 'x'), (77, 'lost');";

#[tokio::test]
async fn embeds_nest_to_three_levels_in_order() {
    let text = mapping(
        "  CUSTOMER:
    from: customer
    key: { PK: \"C#{id}\", SK: \"C#\" }
    columns: [name]
    attributes:
      orders:
        $embed: purchase
        $order: [placed desc, id]
        $each:
          id: \"{id}\"
          lines:
            $embed: line
            $join: { p: sku }
            $each:
              - \"{p.title}\"
              - \"{price}\"
              - { $embed: serial, $each: \"{serial}\" }
",
    );
    let loaded = load_everywhere(|_| SHOP.to_owned(), &text).await;
    let nothing = json!({ "NULL": true });
    assert_eq!(
        loaded.item("C#1")["orders"],
        json!({ "L": [
            { "M": { "id": { "N": "9" }, "lines": { "L": [
                { "L": [{ "S": "Ink" }, nothing, { "L": [{ "S": "a" }] }] },
                { "L": [{ "S": "Pen" }, { "N": "1.5" }, { "L": [{ "S": "B" }, { "S": "z" }] }] },
            ] } } },
            { "M": { "id": { "N": "32" }, "lines": { "L": [] } } },
            { "M": { "id": { "N": "31" }, "lines": { "L": [
                { "L": [nothing, { "N": "12345678.1234" }, { "L": [] }] },
            ] } } },
        ] })
    );
    assert_eq!(loaded.item("C#3")["orders"], json!({ "L": [] }));
    assert_eq!(loaded.report["total"]["orphans"], 2);
}

#[tokio::test]
async fn children_are_gathered_as_lists_maps_and_sets() {
    let text = mapping(
        "  PURCHASE:
    from: purchase
    where: state = 'open' AND customer_id IS NOT NULL
    key: { PK: \"P#{id}\", SK: \"P#\" }
    columns: []
    attributes:
      lines: { $embed: line, $as: map, $key: \"L{no}\", $each: { sku: \"{sku}\", price: \"{price}\" } }
      all: { $embed: line, $limit: 1 }
      skus: { $embed: line, $as: set, $each: \"{sku}\" }
      tags: { $embed: tag, $match: { purchase_id: id }, $each: \"{tag}\" }
      prices: { $embed: line, $where: price IS NOT NULL, $as: set, $each: \"{price}\" }
",
    );
    let loaded = load_everywhere(|_| SHOP.to_owned(), &text).await;
    let item = loaded.item("P#9");
    assert_eq!(
        item["lines"],
        json!({ "M": {
            "L9": { "M": { "sku": { "S": "p-2" } } },
            "L10": { "M": { "sku": { "S": "p-1" }, "price": { "N": "1.5" } } },
        } })
    );
    // Without `$each` every column, without `$order` the key; of two children one is cut.
    assert_eq!(
        item["all"],
        json!({ "L": [{ "M": { "purchase_id": { "N": "9" }, "no": { "N": "9" }, "sku": { "S": "p-2" } } }] })
    );
    assert_eq!(item["skus"], json!({ "SS": ["p-1", "p-2"] }));
    // NULL comes first, and a list keeps it.
    assert_eq!(
        item["tags"],
        json!({ "L": [{ "NULL": true }, { "S": "a" }, { "S": "x" }] })
    );
    assert_eq!(item["prices"], json!({ "NS": ["1.5"] }));
    let total = &loaded.report["total"];
    assert_eq!((&total["cut"], &total["orphans"]), (&json!(1), &json!(1)));
    assert_eq!(total["made"], 2);
}

#[tokio::test]
async fn what_a_set_or_a_map_would_lose_rejects_the_parent() {
    let text = mapping(
        "  TAGS:
    from: purchase
    key: { PK: \"P#{id}\", SK: \"TAGS#\" }
    columns: []
    attributes:
      tags: { $embed: tag, $match: { purchase_id: id }, $as: set, $each: \"{tag}\" }
  NAMES:
    from: purchase
    key: { PK: \"P#{id}\", SK: \"NAMES#\" }
    columns: []
    attributes:
      tags: { $embed: tag, $match: { purchase_id: id }, $as: map, $key: \"{tag}\", $each: 1 }
",
    );
    let loaded = load_everywhere(|_| SHOP.to_owned(), &text).await;
    let types = &loaded.report["item_types"];
    // Purchase 9 has a NULL among its tags, 31 the same tag twice.
    assert_eq!(
        types[0]["rejects_by_code"],
        json!({ "set-mixed": 1, "set-duplicate": 1 })
    );
    assert_eq!(types[1]["rejects_by_code"], json!({ "embed-key": 2 }));
    // No children: no set, an empty map.
    let names = loaded
        .items
        .lines()
        .filter(|line| line.contains("\"tags\":{\"M\":{}}"));
    assert_eq!(names.count(), 4);
}

#[tokio::test]
async fn children_of_joined_parents_and_of_the_table_itself() {
    let text = mapping(
        "  LINE:
    from: line
    join: { p: sku, o: purchase_id }
    key: { PK: \"L#{purchase_id}#{no}\", SK: \"L#\" }
    columns: []
    attributes:
      maker: { $embed: customer, $match: { id: p.maker_id }, $each: \"{name}\" }
      siblings: { $embed: purchase, $match: { customer_id: o.customer_id }, $where: \"state = 'done'\", $each: \"{id}\" }
  BOSS:
    from: customer
    where: boss_id IS NULL
    key: { PK: \"C#{id}\", SK: \"BOSS#\" }
    columns: []
    attributes:
      team: { $embed: customer, $match: { boss_id: id }, $order: name DESC, $each: \"{name}\" }
",
    );
    let loaded = load_everywhere(|_| SHOP.to_owned(), &text).await;
    let list = |ids: &[u32]| {
        let ids: Vec<Value> = ids
            .iter()
            .map(|id| json!({ "N": id.to_string() }))
            .collect();
        json!({ "L": ids })
    };
    assert_eq!(
        loaded.item("L#9#10")["maker"],
        json!({ "L": [{ "S": "Ann" }] })
    );
    // Several lines have the same purchases beside them.
    assert_eq!(loaded.item("L#9#10")["siblings"], list(&[31, 32]));
    assert_eq!(loaded.item("L#31#1")["siblings"], list(&[31, 32]));
    assert_eq!(loaded.item("L#31#1")["maker"], json!({ "L": [] }));
    assert_eq!(
        loaded.item("C#1")["team"],
        json!({ "L": [{ "S": "Cho" }, { "S": "Bob" }] })
    );
}

/// Keys that are equal to the database and differ in their bytes.
fn any_case(dialect: &str) -> String {
    let (before, word) = match dialect {
        "postgres" => (
            "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);",
            "VARCHAR(20) COLLATE any_case",
        ),
        "mysql" => ("", "VARCHAR(20) COLLATE utf8mb4_general_ci"),
        _ => ("", "VARCHAR(20) COLLATE NOCASE"),
    };
    format!(
        "{before}
        CREATE TABLE author (code {word} NOT NULL PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE book (id INTEGER NOT NULL PRIMARY KEY, author_code {word}, title VARCHAR(20), FOREIGN KEY (author_code) REFERENCES author (code));
        CREATE TABLE page (book_id INTEGER NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (book_id, no), FOREIGN KEY (book_id) REFERENCES book (id));
        INSERT INTO author VALUES ('b', 'Bea'), ('A', 'Ada'), ('c', 'Cy');
        INSERT INTO book VALUES (1, 'a', 'one'), (2, 'A', 'two'), (3, 'B', 'three'), (4, NULL, 'four');
        INSERT INTO page VALUES (1, 1), (3, 9), (3, 31), (4, 1);"
    )
}

#[tokio::test]
async fn references_that_are_equal_under_a_collation_find_their_parents() {
    let text = mapping(
        "  AUTHOR:
    from: author
    key: { PK: \"{code}\", SK: \"AUTHOR\" }
    attributes:
      books:
        $embed: book
        $order: title
        $each: { title: \"{title}\", as: \"{author_code}\", pages: { $embed: page, $each: \"{no}\" } }
",
    );
    let loaded = load_everywhere(any_case, &text).await;
    assert_eq!(
        loaded.item("A")["books"],
        json!({ "L": [
            { "M": { "title": { "S": "one" }, "as": { "S": "a" }, "pages": { "L": [{ "N": "1" }] } } },
            { "M": { "title": { "S": "two" }, "as": { "S": "A" }, "pages": { "L": [] } } },
        ] })
    );
    assert_eq!(
        loaded.item("b")["books"]["L"][0]["M"]["pages"],
        json!({ "L": [{ "N": "9" }, { "N": "31" }] })
    );
    assert_eq!(loaded.item("c")["books"], json!({ "L": [] }));
    // A book without an author, and its page.
    assert_eq!(loaded.report["total"]["orphans"], 2);
}

#[tokio::test]
async fn a_key_that_is_none_rejects_the_parents_instead_of_mixing_their_children() {
    let text = mapping(
        "  STATE:
    from: { sql: \"SELECT state, id FROM purchase\", key: [state] }
    key: { PK: \"{state}#{id}\", SK: \"STATE\" }
    columns: []
    attributes:
      lines: { $embed: line, $match: { purchase_id: id }, $each: \"{no}\" }
",
    );
    let loaded = load_everywhere(
        |_| SHOP.to_owned(),
        &text.replace("FROM purchase", "FROM purchase WHERE id < 50"),
    )
    .await;
    assert_eq!(
        loaded.report["total"]["rejects_by_code"],
        json!({ "unfit-value": 4 })
    );
    assert_eq!(loaded.items, "\n");
}

#[tokio::test]
async fn attributes_under_a_condition_and_of_a_given_type() {
    let text = mapping(
        "  PURCHASE:
    from: purchase
    key: { PK: \"P#{id}\", SK: \"P#\" }
    columns: []
    attributes:
      open_since: { $value: \"{placed}\", $when: \"state = 'open'\" }
      number: { $value: \"{id}\", $type: S }
      lines: { $value: { $embed: line, $each: { no: { $value: \"{no}\", $when: \"no > 5\" } } }, $when: \"placed < 100\" }
",
    );
    let loaded = load_everywhere(|_| SHOP.to_owned(), &text).await;
    let nine = loaded.item("P#9");
    assert_eq!(
        (&nine["open_since"], &nine["number"]),
        (&json!({ "N": "100" }), &json!({ "S": "9" }))
    );
    assert_eq!(nine.get("lines"), None);
    assert_eq!(loaded.item("P#31").get("open_since"), None);
    assert_eq!(loaded.item("P#31")["lines"], json!({ "L": [{ "M": {} }] }));
}

#[tokio::test]
async fn keys_that_differ_far_behind_are_told_apart() {
    let script = |product: &str| {
        let collate = match product {
            "mysql" => "CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
            _ => "",
        };
        let long = |last: &str| format!("{}{last}", "x".repeat(690));
        let mut sql = format!(
            "CREATE TABLE t (k VARCHAR(700) {collate} PRIMARY KEY, n INTEGER NOT NULL);
             CREATE TABLE child (id INTEGER PRIMARY KEY, parent VARCHAR(700) {collate});",
        );
        for (n, last) in ["b", "c", "a"].iter().enumerate() {
            let key = long(last);
            sql += &format!(
                "INSERT INTO t VALUES ('{key}', {n});
                 INSERT INTO child VALUES ({n}, '{key}'), (1{n}, '{key}');"
            );
        }
        sql
    };
    let items = "  PARENT:
    from: t
    key: { PK: \"P#{n}\", SK: P }
    columns: [n]
    attributes: { children: { $embed: child, $match: { parent: k }, $each: \"{id}\" } }
";
    let loaded = load_everywhere(script, &mapping(items)).await;
    for n in 0..3 {
        let children = &loaded.item(&format!("P#{n}"))["children"]["L"];
        assert_eq!(
            *children,
            serde_json::json!([{ "N": format!("{n}") }, { "N": format!("1{n}") }])
        );
    }
}
