//! What the database guarantees, and what is said to take its place.

use std::fmt::Write as _;

use dynafold_mapping::guarantee::{Guarantees, KeptBy};
use dynafold_mapping::{Described, Raw, resolve};
use dynafold_relational::catalog::{Catalog, DataType, Dbms, Table};

/// A shop with a guarantee of each kind.
fn shop() -> Catalog {
    serde_json::from_str(include_str!("guarantees.json")).unwrap()
}

fn guarantees(catalog: &Catalog, items: &str) -> Guarantees {
    let text = format!(
        "dynafold: 1\ntable: {{ name: shop, key: {{ partition: PK, sort: SK }} }}\nitems:\n{items}\n"
    );
    let (raw, faults) = Raw::read(&text, &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, catalog, &Described::new());
    let proofs = resolution.proofs;
    let proofs = proofs.unwrap_or_else(|| panic!("{items}: {:#?}", resolution.diagnostics));
    proofs.guarantees
}

/// What takes the place of a table's declaration.
fn of(found: &Guarantees, table: &str, declared: &str) -> (KeptBy, Option<String>, String) {
    let mut all = found.guarantees.iter();
    let found = all.find(|one| one.table == table && one.declared.starts_with(declared));
    let found = found.unwrap_or_else(|| panic!("{table}: {declared}"));
    (found.kept_by, found.item_type.clone(), found.how.clone())
}

fn keeps_email(items: &str) -> (KeptBy, Option<String>, String) {
    of(&guarantees(&shop(), items), "users", "UNIQUE (email)")
}

const ITEMS: &str = r#"
  USER: { from: users, key: { PK: "USER#{id}", SK: "USER#" } }
  ORDER:
    from: orders
    key: { PK: "USER#{user_id}", SK: "ORDER#{id}" }
    attributes:
      lines: { $embed: order_lines, $each: { no: "{no}", price: "{price}" } }
"#;

#[test]
fn what_expires_takes_the_place_of_no_unique_key() {
    let with_ttl = |ttl: &str| {
        let text = format!(
            "dynafold: 1\ntable: {{ name: shop, key: {{ partition: PK, sort: SK }}{ttl} }}\nitems:\n  USER: {{ from: users, key: {{ PK: \"U#{{email}}\", SK: U }}, attributes: {{ ends: \"{{id | number}}\" }} }}\n"
        );
        let (raw, faults) = Raw::read(&text, &|_| None);
        let proofs = resolve(&raw.unwrap(), faults, &shop(), &Described::new()).proofs;
        of(&proofs.unwrap().guarantees, "users", "UNIQUE (email)").2
    };
    let (kept, expiring) = (with_ttl(""), with_ttl(", ttl: ends"));
    assert!(!kept.contains("expire"), "{kept}");
    assert!(expiring.contains("its items expire"), "{expiring}");
}

#[test]
fn a_part_of_the_embedded_rows_takes_the_place_of_no_unique_key() {
    let kept_in = |embed: &str| {
        let items = format!(
            "  USER: {{ from: users, key: {{ PK: \"U#{{id}}\", SK: U }} }}\n  ORDER:\n    from: orders\n    key: {{ PK: \"U#{{user_id}}\", SK: \"O#{{id}}\" }}\n    attributes:\n      lines: {{ $embed: order_lines, {embed}$each: {{ no: \"{{no}}\" }} }}\n"
        );
        of(&guarantees(&shop(), &items), "order_lines", "PRIMARY KEY").2
    };
    let whole = kept_in("");
    assert!(
        whole.contains("where all are that could be equal"),
        "{whole}"
    );
    for part in ["$order: no, $limit: 1, ", "$where: \"no > 1\", "] {
        let part = kept_in(part);
        assert!(
            !part.contains("where all are that could be equal"),
            "{part}"
        );
    }
}

#[test]
fn every_kind_of_guarantee_is_told_with_what_takes_its_place() {
    let found = guarantees(&shop(), ITEMS);
    let mut text = String::new();
    for one in &found.guarantees {
        let doubt = one.doubt.as_ref();
        let doubt = doubt.map_or_else(String::new, |doubt| format!(" (but {doubt})"));
        let kept = one.kept_by.words();
        let _ = writeln!(
            text,
            "{}: {}{doubt}\n    {kept}: {}",
            one.table, one.declared, one.how
        );
    }
    let _ = writeln!(text, "not read: {}", found.not_read.join("; "));
    insta::assert_snapshot!(text);
}

#[test]
fn a_key_takes_the_place_of_a_unique_key_only_where_it_is_made_of_exactly_its_columns() {
    let key = |key: &str| keeps_email(&format!("  USER: {{ from: users, key: {key} }}"));
    for exact in [
        "{ PK: \"EMAIL#{email}\", SK: USER }",
        "{ PK: \"EMAIL#{email}\", SK: \"{email}\" }",
        "{ PK: \"{email | shard(8)}\", SK: \"{email}\" }",
        "{ PK: USER, SK: \"{email}\" }",
        // It is never NULL.
        "{ PK: \"USER[#{email}]\", SK: USER }",
    ] {
        let (by, item_type, how) = key(exact);
        assert_eq!(
            (by, item_type.as_deref()),
            (KeptBy::Key, Some("USER")),
            "{exact}: {how}"
        );
    }
    for (other, because) in [
        (
            "{ PK: \"USER#{id}\", SK: USER }",
            "no item key is made of exactly",
        ),
        (
            "{ PK: \"USER#{id}\", SK: \"{email}\" }",
            "no item key is made of exactly",
        ),
        (
            "{ PK: \"{email | lower}\", SK: USER }",
            "different values may make one key",
        ),
        (
            "{ PK: \"{email | shard(8)}\", SK: USER }",
            "different values may make one key",
        ),
    ] {
        let (by, _, how) = key(other);
        assert_eq!(by, KeptBy::GuardItem, "{other}");
        assert!(how.contains(because), "{other}: {how}");
    }
}

#[test]
fn a_column_that_may_be_null_is_kept_unique_where_it_cannot_be_left_out() {
    let phone = |key: &str| {
        let items = format!("  USER: {{ from: users, key: {{ PK: \"{key}\", SK: USER }} }}");
        of(&guarantees(&shop(), &items), "users", "UNIQUE (phone)")
    };
    let (by, _, how) = phone("PHONE#{phone}");
    assert_eq!(by, KeptBy::Key);
    assert!(
        how.ends_with("a row with a NULL there makes no such item"),
        "{how}"
    );
    let (by, _, how) = phone("PHONE[#{phone}]");
    assert_eq!(by, KeptBy::GuardItem);
    assert!(how.contains("different values may make one key"), "{how}");
}

#[test]
fn a_key_is_none_of_rows_with_null_where_the_database_takes_null_for_a_value() {
    let mut catalog = shop();
    let users = catalog
        .tables
        .iter_mut()
        .find(|table| table.name.name == "users");
    for key in &mut users.unwrap().unique_keys {
        key.nulls_equal = true;
    }
    let items = "  USER: { from: users, key: { PK: \"PHONE#{phone}\", SK: USER } }";
    let found = guarantees(&catalog, items);
    let (by, _, how) = of(&found, "users", "UNIQUE NULLS NOT DISTINCT (phone)");
    assert_eq!(by, KeptBy::GuardItem);
    assert!(
        how.contains("a row with NULL there has no item of `USER`"),
        "{how}"
    );
}

#[test]
fn a_key_of_some_rows_or_one_that_others_make_too_keeps_nothing_unique() {
    let (by, _, how) = keeps_email(
        "  USER: { from: users, where: \"id > 5\", key: { PK: \"EMAIL#{email}\", SK: USER } }",
    );
    assert_eq!(by, KeptBy::GuardItem);
    assert!(how.contains("only rows that its `where` takes"), "{how}");

    let (by, _, how) = keeps_email(
        "  USER: { from: users, key: { PK: \"EMAIL#{email}\", SK: USER } }\n  OTHER: { from: orders, key: { PK: \"EMAIL#{state}\", SK: USER } }",
    );
    assert_eq!(by, KeptBy::GuardItem);
    assert!(
        how.contains("no other item type makes the same key"),
        "{how}"
    );
}

#[test]
fn values_that_the_database_takes_for_equal_need_one_spelling_in_a_guard_item() {
    let mut catalog = shop();
    let users = catalog
        .tables
        .iter_mut()
        .find(|table| table.name.name == "users");
    users.unwrap().columns[1].insensitive = true;
    let items = "  USER: { from: users, key: { PK: \"EMAIL#{email}\", SK: USER } }";
    let (by, _, how) = of(&guarantees(&catalog, items), "users", "UNIQUE (email)");
    assert_eq!(by, KeptBy::GuardItem);
    assert!(how.contains("equal may make different keys"), "{how}");
    assert!(how.contains("its texts have one spelling"), "{how}");
}

#[test]
fn an_item_type_of_its_own_guards_a_unique_key() {
    let items = "  USER: { from: users, key: { PK: \"USER#{id}\", SK: USER } }\n  EMAIL: { from: users, key: { PK: \"EMAIL#{email}\", SK: EMAIL } }";
    let (by, item_type, how) = keeps_email(items);
    assert_eq!((by, item_type.as_deref()), (KeptBy::Key, Some("EMAIL")));
    assert!(
        how.contains("`USER` of the same row goes with it in one transaction"),
        "{how}"
    );
}

/// The shop whose users have another unique `email`.
fn shop_with(dbms: Dbms, change: impl Fn(&mut Table)) -> Catalog {
    let mut catalog = shop();
    catalog.dbms = dbms;
    let mut tables = catalog.tables.iter_mut();
    change(tables.find(|table| table.name.name == "users").unwrap());
    catalog
}

#[test]
fn a_key_that_takes_more_for_equal_than_its_columns_is_kept_by_no_item_key() {
    for (dbms, compares) in [
        (Dbms::Mysql, "the database compares a beginning"),
        (Dbms::Postgres, "the database compares them by a collation"),
        (Dbms::Sqlite, "the database compares them by a collation"),
    ] {
        let catalog = shop_with(dbms, |users| users.unique_keys[0].coarse = true);
        let items = "  USER: { from: users, key: { PK: \"EMAIL#{email}\", SK: USER } }";
        let (by, _, how) = of(&guarantees(&catalog, items), "users", "UNIQUE (email)");
        assert_eq!(by, KeptBy::GuardItem, "{dbms:?}");
        assert!(how.contains(compares), "{how}");
    }
}

/// A number that DynamoDB cannot hold stays the text that it is, zeros at its end with it.
#[test]
fn numbers_without_declared_digits_are_kept_by_no_item_key() {
    let by = |precision| {
        let data_type = DataType::Decimal {
            precision,
            scale: precision.map(|_| 2),
        };
        let catalog = shop_with(Dbms::Postgres, |users| {
            let mut columns = users.columns.iter_mut();
            let email = columns.find(|column| column.name == "email").unwrap();
            email.data_type = data_type.clone();
            email.collation = None;
        });
        let items = "  USER: { from: users, key: { PK: \"EMAIL#{email | string}\", SK: USER } }";
        of(&guarantees(&catalog, items), "users", "UNIQUE (email)").0
    };
    assert_eq!(by(Some(10)), KeptBy::Key);
    assert_eq!(by(None), KeptBy::GuardItem);
}

#[test]
fn a_parent_is_looked_up_by_a_condition_only_where_its_key_is_made_of_what_the_reference_holds() {
    let reference = |user: &str| {
        let items = format!(
            "  USER: {{ from: users, key: {user} }}\n  ORDER: {{ from: orders, key: {{ PK: \"ORDER#{{id}}\", SK: \"ORDER#\" }} }}"
        );
        of(
            &guarantees(&shop(), &items),
            "orders",
            "FOREIGN KEY (user_id)",
        )
    };
    let (by, item_type, how) = reference("{ PK: \"USER#{id}\", SK: USER }");
    assert_eq!(
        (by, item_type.as_deref()),
        (KeptBy::ConditionCheck, Some("USER"))
    );
    assert!(how.contains("attribute_exists(PK)"), "{how}");
    let (by, _, how) = reference("{ PK: \"EMAIL#{email}\", SK: USER }");
    assert_eq!(by, KeptBy::Application);
    assert!(how.contains("looks the parent up"), "{how}");
}

#[test]
fn what_a_catalog_of_an_older_version_lacks_is_told() {
    let mut json: serde_json::Value =
        serde_json::from_str(include_str!("guarantees.json")).unwrap();
    for table in json["tables"].as_array_mut().unwrap() {
        let table = table.as_object_mut().unwrap();
        for added in ["checks", "triggers", "exclusions"] {
            table.remove(added);
        }
        for key in table["foreign_keys"].as_array_mut().unwrap() {
            key.as_object_mut().unwrap().remove("on_update");
        }
    }
    let catalog: Catalog = serde_json::from_value(json).unwrap();
    let found = guarantees(&catalog, ITEMS);
    assert_eq!(
        found.not_read,
        [
            "CHECK constraints of order_lines, orders, users",
            "triggers of order_lines, orders, users",
            "ON UPDATE of the foreign keys of order_lines, orders",
            "checks of domains, and rules",
        ]
    );
}

#[test]
fn what_is_declared_of_columns_that_the_user_may_not_read_is_told_to_be_not_read() {
    let catalog = shop_with(Dbms::Sqlite, |users| {
        users.hidden_columns = Some(vec!["secret".to_owned()]);
    });
    let found = guarantees(
        &catalog,
        "  USER: { from: users, key: { PK: \"USER#{id}\", SK: USER } }",
    );
    let hidden = "declarations with columns that this user may not read, of users";
    assert!(
        found.not_read.iter().any(|one| one == hidden),
        "{:?}",
        found.not_read
    );
}

#[test]
fn tables_in_queries_are_told_to_be_not_looked_into() {
    let items = "  USER: { from: { sql: \"SELECT id FROM users\", key: [id] }, key: { PK: \"USER#{id}\", SK: USER } }";
    let text = format!(
        "dynafold: 1\ntable: {{ name: shop, key: {{ partition: PK, sort: SK }} }}\nitems:\n{items}\n"
    );
    let (raw, faults) = Raw::read(&text, &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, &shop(), &Described::new());
    let found = resolution.proofs.unwrap().guarantees;
    assert_eq!(found.guarantees, []);
    assert_eq!(found.not_read[0], "the tables in the queries of USER");
}
