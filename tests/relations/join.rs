//! Lookups of parents: chains, cycles, relations that nobody declared.

use serde_json::json;

use super::{load_everywhere, mapping};

/// Regions lead to countries and countries to their capital region: a cycle of foreign keys.
const GEOGRAPHY: &str = "
    CREATE TABLE country (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, capital INTEGER);
    CREATE TABLE region (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, country_id INTEGER REFERENCES country (id));
    CREATE TABLE person (
        id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, region_id INTEGER, boss_id INTEGER, nick VARCHAR(20),
        FOREIGN KEY (region_id) REFERENCES region (id), FOREIGN KEY (boss_id) REFERENCES person (id));
    CREATE TABLE alias (nick VARCHAR(20) NOT NULL, since INTEGER NOT NULL, said VARCHAR(20), PRIMARY KEY (nick, since));
    CREATE VIEW latest AS SELECT nick, max(since) AS since FROM alias GROUP BY nick;
    INSERT INTO country VALUES (1, 'Korea', 11), (2, 'Nowhere', NULL);
    INSERT INTO region VALUES (11, 'Seoul', 1), (12, 'Jeju', 1), (21, 'Void', 2), (31, 'Adrift', NULL);
    INSERT INTO person VALUES (1, 'Ann', 12, NULL, 'a#b'), (2, 'Bob', 11, 1, NULL), (3, 'Cho', 21, 2, 'nobody'),
        (4, 'Dae', 31, 3, 'a#b'), (5, 'Eun', NULL, 5, NULL);
    INSERT INTO alias VALUES ('a#b', 7, 'seven'), ('a#b', 9, 'nine');";

/// A script with its cycle closed, where the database can alter a table.
fn geography(dialect: &str) -> String {
    let cycle = "ALTER TABLE country ADD FOREIGN KEY (capital) REFERENCES region (id);";
    match dialect {
        "sqlite" => GEOGRAPHY.replace(
            "capital INTEGER)",
            "capital INTEGER REFERENCES region (id))",
        ),
        "mysql" => {
            GEOGRAPHY.replace(
                "country_id INTEGER REFERENCES country (id)",
                "country_id INTEGER, FOREIGN KEY (country_id) REFERENCES country (id)",
            ) + cycle
        }
        _ => format!("{GEOGRAPHY}{cycle}"),
    }
}

#[tokio::test]
async fn joins_chain_through_aliases_and_go_round_cycles() {
    let loaded = load_everywhere(
        geography,
        &mapping(
            "  PERSON:
    from: person
    join: { r: region_id, c: r.country_id, cap: c.capital, again: cap.country_id, b: boss_id, bb: b.boss_id }
    key: { PK: \"PERSON#{id}\", SK: \"PERSON#\" }
    columns: [name]
    attributes:
      lives: \"{r.name}[, {c.name}]\"
      capital: \"{cap.name}\"
      round: \"{again.name}\"
      chief: \"{bb.name | default(none)}\"
",
        ),
    )
    .await;
    let attributes = |id: &str| {
        let mut item = loaded.item(id);
        let item = item.as_object_mut().unwrap();
        item.retain(|name, _| name != "PK" && name != "SK");
        serde_json::to_value(item).unwrap()
    };
    assert_eq!(
        attributes("PERSON#1"),
        json!({ "name": { "S": "Ann" }, "lives": { "S": "Jeju, Korea" }, "capital": { "S": "Seoul" },
            "round": { "S": "Korea" }, "chief": { "S": "none" } })
    );
    assert_eq!(
        attributes("PERSON#3"),
        json!({ "name": { "S": "Cho" }, "lives": { "S": "Void, Nowhere" }, "chief": { "S": "Ann" } })
    );
    // A parent without a parent, and no parent at all: NULLs, and the row stays.
    assert_eq!(
        attributes("PERSON#4"),
        json!({ "name": { "S": "Dae" }, "lives": { "S": "Adrift" }, "chief": { "S": "Bob" } })
    );
    assert_eq!(
        attributes("PERSON#5"),
        json!({ "name": { "S": "Eun" }, "chief": { "S": "Eun" } })
    );
}

#[tokio::test]
async fn relations_that_are_not_declared_are_matched() {
    let loaded = load_everywhere(
        geography,
        &mapping(
            "  PERSON:
    from: { sql: \"SELECT id, nick FROM person WHERE id < 5\", key: [id] }
    join:
      l: { table: latest, match: { nick: nick } }
      a: { table: alias, match: { nick: l.nick, since: l.since } }
    key: { PK: \"PERSON#{id}\", SK: \"PERSON#\" }
    columns: []
    attributes: { said: \"{a.said}\" }
",
        ),
    )
    .await;
    assert_eq!(loaded.item("PERSON#1")["said"], json!({ "S": "nine" }));
    assert_eq!(loaded.item("PERSON#4")["said"], json!({ "S": "nine" }));
    assert_eq!(loaded.item("PERSON#3").get("said"), None);
    assert_eq!(loaded.report["total"]["made"], 4);
}
