//! A small mapping over the catalog of a shop, and what the definition says of it.

use dynafold_dynamodb::price::{Prices, SHIPPED};
use dynafold_dynamodb::{Attribute, Item};
use dynafold_mapping::access::recover;
use dynafold_mapping::item::text_of;
use dynafold_mapping::model::{Expired, Model};
use dynafold_mapping::sample::{ItemTypeSample, SampleItem};
use dynafold_mapping::template::Context;
use dynafold_mapping::{Described, Proofs, Raw, resolve};
use dynafold_relational::catalog::{Catalog, DataType, sample};

use super::figures::Basis;
use super::{DocumentFacts, Inputs, define, places};
use crate::markdown;
use crate::tree::TableRole;

const MAPPING: &str = r#"
dynafold: 1
table:
  name: shop
  key: { partition: PK, sort: SK }
  indexes:
    BY_EMAIL: { partition: email, project: keys }
  type_attribute: false
  description: What the shop sells
items:
  ORDER:
    from: orders
    where: "placed_at IS NOT NULL"
    join: { u: user_id }
    key: { PK: "USER#{user_id | pad(8)}", SK: "ORDER#{placed_at}#{id | pad(8)}" }
    columns: [u.email]
    write_rate: 10
  LINE:
    description: A position of an order
    from: '"Order Details"'
    key: { PK: "ORDER#{`Order ID` | pad(8)}", SK: "LINE#{no | pad(4)}" }
    columns: [price]
access_patterns:
  ordersOfUser:
    items: [ORDER]
    key: { PK: "USER#{userId | pad(8)}", SK: { between: ["ORDER#{from}", "ORDER#{until}$"] } }
    order: desc
    filter: "email = ':f1' OR email = ':f0'"
    rate: 100
  orderLines:
    description: The lines of an order
    items: [LINE]
    key: { PK: "ORDER#{orderId | pad(8)}", SK: { begins_with: "LINE#" } }
"#;

/// The shop with the types of its columns, which the sample leaves to be printed.
fn shop() -> Catalog {
    let mut shop = sample::shop();
    let columns = shop.tables.iter_mut().flat_map(|table| &mut table.columns);
    for column in columns {
        column.data_type = match column.declared.as_str() {
            "bigint" | "smallint" => DataType::Integer {
                bits: 64,
                unsigned: false,
            },
            "timestamp with time zone" => DataType::Timestamp {
                digits: 6,
                zone: true,
            },
            _ => DataType::Text { max_chars: None },
        };
    }
    shop
}

fn resolved(catalog: &Catalog) -> (Model, Proofs) {
    let (raw, faults) = Raw::read(MAPPING, &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, catalog, &Described::new());
    let messages: Vec<_> = resolution.diagnostics.iter().map(|d| &d.message).collect();
    let model = resolution.model.unwrap_or_else(|| panic!("{messages:#?}"));
    (model, resolution.proofs.unwrap())
}

/// What is found out without rows.
fn found<T>(of: impl FnOnce(&DocumentFacts<'_>) -> T) -> T {
    sampled(&[], 0, of)
}

/// What is found out by the first rows, of which at most `rows` were asked for.
fn sampled<T>(
    samples: &[ItemTypeSample],
    rows: u64,
    of: impl FnOnce(&DocumentFacts<'_>) -> T,
) -> T {
    let mut catalog = shop();
    for table in &mut catalog.tables {
        table.estimated_rows = Some(50_000);
    }
    of_catalog(&catalog, samples, rows, of)
}

/// What is found out with a catalog.
fn of_catalog<T>(
    catalog: &Catalog,
    samples: &[ItemTypeSample],
    rows: u64,
    of: impl FnOnce(&DocumentFacts<'_>) -> T,
) -> T {
    let (model, proofs) = resolved(catalog);
    let prices = Prices::read(SHIPPED, None).unwrap();
    of(&DocumentFacts::of(&Inputs {
        mapping: "shop.yaml",
        model: &model,
        catalog,
        proofs: &proofs,
        context: &Context::default(),
        samples,
        rows,
        examples: None,
        shown: 5,
        answers: Vec::new(),
        forecast: None,
        target: &[],
        schema: String::new(),
        needs_schema: Vec::new(),
        prices: &prices,
        warnings: Vec::new(),
        accepted: Vec::new(),
    }))
}

#[test]
fn comments_descriptions_and_domains_stand_in_the_definition_tables() {
    let mut catalog = shop();
    for table in &mut catalog.tables {
        table.comment = Some(format!("comment of {}", table.name.name));
        for column in &mut table.columns {
            column.comment = Some(format!("meaning of {}", column.name));
            if column.name == "price" {
                let values = ["low", "high"].map(str::to_owned).to_vec();
                column.data_type = DataType::Enum { values };
            }
        }
    }
    let text = of_catalog(&catalog, &[], 0, |facts| markdown(&define(facts.inputs)));
    for expected in [
        "- Description: What the shop sells",
        "A position of an order",
        "comment of orders",
        "meaning of email",
        "meaning of price; one of low, high",
    ] {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
}

#[test]
fn ttl_tells_that_it_is_late_and_what_it_costs_in_replicas() {
    let (model, _) = resolved(&shop());
    let mut table = model.table;
    let told = |table: &_| format!("{:?}", places::settings(table));
    assert!(!told(&table).contains("locks"));
    table.ttl = Some("expires".into());
    let alone = told(&table);
    assert!(
        alone.contains("late") && alone.contains("filter on expires"),
        "{alone}"
    );
    assert!(alone.contains("cost no write units"), "{alone}");
    table.settings.replicas = vec!["eu-west-1".to_owned()];
    let replicated = told(&table);
    assert!(
        replicated.contains("cost write units in each replica"),
        "{replicated}"
    );
}

#[test]
fn merged_attributes_tell_what_each_item_type_puts_into_them() {
    let table = section("Table and indexes");
    let (_, merged) = table.split_once("### Merged attributes").unwrap();
    let rows: Vec<&str> = merged.lines().filter(|line| line.contains("](#")).collect();
    assert_eq!(rows.len(), 5, "{merged}");
    assert!(rows[0].starts_with("| `PK` | [ORDER]"), "{merged}");
    assert!(rows[1].starts_with("|  | [LINE]"), "{merged}");
    assert!(rows[2].starts_with("| `SK` | [ORDER]"), "{merged}");
    assert!(rows[3].contains("LINE#{no \\| pad(4)}"), "{merged}");
    // A key that one item type alone fills.
    assert!(rows[4].starts_with("| `email` | [ORDER]"), "{merged}");
}

/// A section of the document without rows, as Markdown.
fn section(title: &str) -> String {
    let text = found(|facts| markdown(&define(facts.inputs)));
    let section = text.split(&format!("\n## {title}\n")).nth(1).unwrap();
    section.split("\n## ").next().unwrap().to_owned()
}

#[test]
fn attributes_tell_their_columns_through_joins() {
    insta::assert_snapshot!(section("Item types"));
}

#[test]
fn patterns_read_as_people_write_them() {
    insta::assert_snapshot!(section("Each access pattern"));
}

#[test]
fn tables_and_columns_tell_what_becomes_of_them() {
    let (catalog, sources) = found(|facts| (facts.catalog.clone(), facts.sources.clone()));
    let parts: Vec<(&str, TableRole)> = sources
        .iter()
        .map(|source| (source.name.as_str(), source.part))
        .collect();
    assert_eq!(
        parts,
        [
            ("Order Details", TableRole::Read),
            ("orders", TableRole::Read),
            ("profiles", TableRole::Beside),
            ("recent", TableRole::Unread),
            ("users", TableRole::Read),
        ]
    );
    // Nothing is read of the schema `vault`: what it holds is nobody's affair here.
    let names = catalog.tables.iter();
    assert_eq!(
        names.filter(|table| table.name.schema == "vault").count(),
        0
    );
    let users = &sources[4];
    assert_eq!(users.item_types, ["ORDER"]);
    assert_eq!(users.patterns, ["ordersOfUser"]);
    let [id, email] = users.columns.as_slice() else {
        panic!("{users:?}");
    };
    assert!(id.leads && id.carriers.is_empty(), "{id:?}");
    assert_eq!(
        email.carriers,
        [("ORDER".to_owned(), vec!["email".to_owned()])]
    );
}

/// What so many rows of orders and of lines became: the items made, and the expired.
fn first_rows(made: [usize; 2], expired: [usize; 2], is_cut: bool) -> [ItemTypeSample; 2] {
    let item = || SampleItem {
        item: Item::default(),
        size: 1_500,
        units: 2,
        compressed: Vec::new(),
        row: serde_json::value::RawValue::from_string("{}".to_owned()).unwrap(),
    };
    [0, 1].map(|at| ItemTypeSample {
        item_type: ["ORDER", "LINE"][at].to_owned(),
        from: String::new(),
        items: vec![item(); made[at]],
        on_expiry: Expired::Skip,
        expired: vec![item(); expired[at]],
        rejects: Vec::new(),
        read: u64::try_from(made[at] + expired[at]).unwrap(),
        is_cut,
    })
}

#[test]
fn what_was_not_read_is_no_count() {
    let lines = |samples: &[ItemTypeSample]| {
        sampled(samples, 100, |facts| {
            let lines = &facts.figures.item_types[1];
            let is_known = !facts.figures.places.is_empty();
            (lines.items, lines.about, lines.bytes, is_known)
        })
    };
    // All rows of the type were read.
    let whole = first_rows([100, 56], [0, 0], false);
    assert_eq!(lines(&whole), (Some(56), false, Some(84_000), true));
    // They were large, and there are more.
    let cut = first_rows([100, 56], [0, 0], true);
    assert_eq!(lines(&cut), (Some(50_000), false, Some(75_000_000), true));
    // Of four rows one became an item.
    let some = first_rows([100, 25], [0, 75], false);
    assert_eq!(lines(&some), (Some(12_500), true, Some(18_750_000), true));
    // None did: that tells nothing of the others.
    let none = first_rows([100, 0], [0, 100], false);
    assert_eq!(lines(&none), (None, true, None, false));
}

#[test]
fn a_filter_is_shown_with_what_it_compares() {
    let filter = "- Filter: `email = ':f1' OR email = ':f0'`\n";
    assert!(section("Each access pattern").contains(filter));
}

#[test]
fn without_rows_nothing_is_said_of_sizes() {
    found(|facts| {
        let figures = &facts.figures;
        assert_eq!(figures.basis, Basis::Nothing);
        assert_eq!(figures.places.len(), 0);
        assert!(figures.item_types.iter().all(|each| each.bytes.is_none()));
        let [table] = &*figures.steady(facts) else {
            panic!("not the table alone")
        };
        assert!((table.rates.reads - 50.0).abs() < 1e-9, "{table:?}");
        assert!(table.reads_at_least);
    });
}

#[test]
fn parameters_are_recovered_from_keys() {
    let (model, _) = resolved(&shop());
    let item = |partition: &str, sort: &str| Item {
        attributes: vec![
            ("PK".into(), Attribute::S(partition.into())),
            ("SK".into(), Attribute::S(sort.into())),
        ],
    };
    let texts = |pattern: usize, first: &Item, last: &Item| -> Option<Vec<String>> {
        let values = recover(&model.patterns[pattern], first, last);
        let values: Vec<dynafold_relational::value::Value> =
            values.into_iter().collect::<Option<_>>()?;
        let texts = values
            .iter()
            .map(|value| text_of(value).unwrap().to_owned());
        Some(texts.collect())
    };
    let first = item(
        "USER#00000007",
        "ORDER#2026-01-01T00:00:00.000000Z#00000001",
    );
    let last = item(
        "USER#00000007",
        "ORDER#2026-02-01T00:00:00.000000Z#00000009",
    );
    let found = texts(0, &first, &last).unwrap();
    assert_eq!(found[0], "7");
    assert!(
        found[1].starts_with("2026-01-01T") && found[2].starts_with("2026-02-01T"),
        "{found:?}"
    );
    let line = item("ORDER#00000012", "LINE#0001");
    assert_eq!(texts(1, &line, &line), Some(vec!["12".to_owned()]));
    assert_eq!(texts(1, &first, &first), None);
}
