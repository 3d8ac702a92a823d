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

use super::{Ground, define};
use crate::{Basis, Definition, Part};

const MAPPING: &str = r#"
dynafold: 1
table:
  name: shop
  key: { partition: PK, sort: SK }
  indexes:
    BY_EMAIL: { partition: email, project: keys }
  type_attribute: false
items:
  ORDER:
    from: orders
    where: "placed_at IS NOT NULL"
    join: { u: user_id }
    key: { PK: "USER#{user_id | pad(8)}", SK: "ORDER#{placed_at}#{id | pad(8)}" }
    columns: [u.email]
    write_rate: 10
  LINE:
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

fn definition() -> Definition {
    sampled(&[], 0)
}

/// The definition by the first rows, of which at most `rows` were asked for.
fn sampled(samples: &[ItemTypeSample], rows: u64) -> Definition {
    let mut catalog = shop();
    for table in &mut catalog.tables {
        table.estimated_rows = Some(50_000);
    }
    let (model, proofs) = resolved(&catalog);
    let prices = Prices::read(SHIPPED, None).unwrap();
    define(Ground {
        mapping: "shop.yaml",
        model: &model,
        catalog: &catalog,
        proofs: &proofs,
        context: &Context::default(),
        samples,
        rows,
        examples: None,
        shown: 5,
        answers: Vec::new(),
        forecast: None,
        target: &[],
        prices: &prices,
        warnings: Vec::new(),
        accepted: Vec::new(),
    })
}

#[test]
fn attributes_tell_their_columns_through_joins() {
    let definition = definition();
    let order = &definition.item_types[0];
    let facts: Vec<(&str, String, String)> = order
        .attributes
        .iter()
        .map(|attribute| {
            let origins = attribute.origins.iter();
            let origins: Vec<_> = origins
                .map(|o| format!("{}.{}", o.table, o.column))
                .collect();
            (
                attribute.name.as_str(),
                attribute.roles.join(", "),
                origins.join(", "),
            )
        })
        .collect();
    let fact =
        |name: &'static str, roles: &str, origins: &str| (name, roles.into(), origins.into());
    assert_eq!(
        facts,
        [
            fact("PK", "partition key", "orders.user_id"),
            fact("SK", "sort key", "orders.placed_at, orders.id"),
            fact("email", "BY_EMAIL partition key", "users.email"),
        ]
    );
    assert_eq!(order.condition.as_deref(), Some("placed_at IS NOT NULL"));
    let join = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(order.joins, [join("u", "users", "id = user_id")]);
    assert_eq!(order.notes, ["10 writes a second at peak"]);
}

#[test]
fn patterns_read_as_people_write_them() {
    let definition = definition();
    let [orders, lines] = definition.patterns.as_slice() else {
        panic!("{:?}", definition.patterns);
    };
    assert_eq!(
        orders.condition,
        "PK = USER#{userId} and SK between ORDER#{from} and ORDER#{until}$"
    );
    assert_eq!(
        lines.condition,
        "PK = ORDER#{orderId} and SK begins_with LINE#"
    );
    assert_eq!(orders.order, Some(("SK".to_owned(), true)));
    let request = orders.request.as_ref().unwrap();
    assert_eq!(request.operation, "Query");
    for value in ["USER#{userId | pad(8)}", "ORDER#{from}", "ORDER#{until}$"] {
        let value = format!("\"S\": \"{value}\"");
        assert!(request.json.contains(&value), "{value} in {}", request.json);
    }
    let user = &orders.parameters[0];
    assert_eq!(user.written.as_deref(), Some("{userId | pad(8)}"));
    assert_eq!(
        (&*user.origins[0].table, &*user.origins[0].column),
        ("orders", "user_id")
    );
    assert_eq!(orders.parameters[2].origins[0].column, "placed_at");
    assert_eq!(
        lines.command,
        "dynafold query shop.yaml orderLines --orderId NUMBER --target TARGET"
    );
    // Half a unit a call, a hundred calls a second, thirty days, at 0.125 USD a million.
    assert!((orders.cost.usd_per_month.unwrap() - 16.2).abs() < 1e-9);
    assert_eq!(lines.cost.usd_per_month, None);
}

#[test]
fn tables_and_columns_tell_what_becomes_of_them() {
    let definition = definition();
    let parts: Vec<(&str, Part)> = definition
        .sources
        .iter()
        .map(|source| (source.name.as_str(), source.part))
        .collect();
    assert_eq!(
        parts,
        [
            ("Order Details", Part::Read),
            ("orders", Part::Read),
            ("profiles", Part::Beside),
            ("recent", Part::Unread),
            ("users", Part::Read),
        ]
    );
    // Nothing is read of the schema `vault`: what it holds is nobody's affair here.
    let names = definition.catalog.tables.iter();
    assert_eq!(
        names.filter(|table| table.name.schema == "vault").count(),
        0
    );
    let users = &definition.sources[4];
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
        let figures = sampled(samples, 100).figures;
        let lines = &figures.item_types[1];
        let total = figures.total.map(|total| total.write_units);
        (lines.items, lines.about, lines.bytes, total.is_some())
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
    let filter = &definition().patterns[0].filter;
    let wanted = "email = ':f1' OR email = ':f0'";
    assert_eq!(filter.as_deref(), Some(wanted));
}

#[test]
fn without_rows_nothing_is_said_of_sizes() {
    let figures = definition().figures;
    assert_eq!(figures.basis, Basis::Nothing);
    assert_eq!((figures.total, figures.places.len()), (None, 0));
    assert!(figures.item_types.iter().all(|each| each.bytes.is_none()));
    let total = figures.steady_total.unwrap();
    assert!((total.rates.reads - 50.0).abs() < 1e-9, "{total:?}");
    assert!(total.at_least);
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
