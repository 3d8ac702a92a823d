//! A small mapping over the catalog of a shop, and what the definition says of it.

use dynafold_design::Report;
use dynafold_dynamodb::price::{Prices, SHIPPED};
use dynafold_dynamodb::{Attribute, Item};
use dynafold_mapping::access::recover;
use dynafold_mapping::forecast::{
    HeaviestKeys, HotKey, ItemTypeForecast, LittleRead, PlaceForecast, PlaceKind, RatedReads,
    RatedWrites, ReadKey, WideItems,
};
use dynafold_mapping::item::text_of;
use dynafold_mapping::model::{Expired, Model};
use dynafold_mapping::sample::{ItemTypeSample, SampleItem};
use dynafold_mapping::template::Context;
use dynafold_mapping::{Described, Proofs, Raw, resolve};
use dynafold_relational::catalog::{Catalog, DataType, sample};

use super::figures::Basis;
use super::{DefinitionInputs, DocumentFacts, ForecastTotals, define, patterns, places};
use crate::definition::{Examples, Warning};
use crate::tree::{DocBlock, TableRole};
use crate::{html, markdown};

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

/// The shop with 50,000 rows a table and the types of its columns, which the sample leaves to be printed.
fn shop() -> Catalog {
    let mut shop = sample::shop();
    for table in &mut shop.tables {
        table.estimated_rows = Some(50_000);
        for column in &mut table.columns {
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
    }
    shop
}

fn resolved(catalog: &Catalog) -> (Model, Proofs) {
    resolved_of(MAPPING, catalog)
}

fn resolved_of(mapping: &str, catalog: &Catalog) -> (Model, Proofs) {
    let (raw, faults) = Raw::read(mapping, &|_| None);
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
    of_catalog(&shop(), samples, rows, of)
}

/// What is found out with a catalog.
fn of_catalog<T>(
    catalog: &Catalog,
    samples: &[ItemTypeSample],
    rows: u64,
    of: impl FnOnce(&DocumentFacts<'_>) -> T,
) -> T {
    of_mapping(MAPPING, catalog, samples, rows, |_| {}, of)
}

/// What is found out of a mapping, with other inputs than usual.
fn of_mapping<T>(
    mapping: &str,
    catalog: &Catalog,
    samples: &[ItemTypeSample],
    rows: u64,
    change: impl for<'g> FnOnce(&mut DefinitionInputs<'g>),
    of: impl FnOnce(&DocumentFacts<'_>) -> T,
) -> T {
    let (model, proofs) = resolved_of(mapping, catalog);
    let prices = Prices::read(SHIPPED, None).unwrap();
    let mut inputs = DefinitionInputs {
        mapping: "shop.yaml",
        model: &model,
        catalog,
        proofs: &proofs,
        context: &Context::default(),
        samples,
        row_limit: rows,
        examples: None,
        example_limit: 5,
        answers: Vec::new(),
        forecast: None,
        target: &[],
        schema: String::new(),
        needs_schema: Vec::new(),
        prices: &prices,
        warnings: Vec::new(),
        accepted: Vec::new(),
        proposal: None,
    };
    change(&mut inputs);
    of(&DocumentFacts::of(&inputs))
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
            if column.name == "email" {
                column.list(vec!["a@b".to_owned(), "c@d".to_owned()]);
            }
        }
    }
    let text = of_catalog(&catalog, &[], 0, |facts| markdown(&define(facts.inputs)));
    for expected in [
        "- Description: What the shop sells",
        "A position of an order",
        "comment of orders",
        "meaning of email; one of a@b, c@d (CHECK)",
        "meaning of price; one of low, high",
    ] {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
}

#[test]
fn a_proposal_tells_of_each_statement_and_of_what_lost() {
    let report = r#"{
        "reads": [
            { "name": "gone", "about": "", "rate": 20.0, "why_not": null, "instead": null, "served": {
                "request": "Query", "index": "GSI1", "items": ["ORDER"], "requests": 4, "fetches": 0, "found": 9.3, "units": 0.5,
                "usd_month": 32.4, "consistent": null, "notes": ["one more column"] } },
            { "name": "search", "about": "", "rate": null, "served": null,
                "why_not": "searches a text", "instead": "a search index" }
        ],
        "writes": [{ "name": "pay", "kind": "UPDATE", "item": "ORDER", "rate": 2.0, "units": 3.0, "usd_month": 9.72 }],
        "indexes": [{ "name": "GSI1", "items": ["ORDER"], "reads": ["gone"] }],
        "sum": { "reads": 32.4, "writes": 9.72, "storage": 0.0, "all": 42.12 },
        "alternatives": [{ "indexes": 0, "usd_month": null, "unserved": ["gone", "search"], "not_consistent": 0 }],
        "gap_usd_month": 0.0, "warnings": [{ "kind": "hot key", "concerned": ["gone"], "why": "it is hot" }], "not_guessed": [], "left_out": ["log: it has no key that identifies its rows"]
    }"#;
    let report: &Report = Box::leak(Box::new(serde_json::from_str(report).unwrap()));
    let catalog = shop();
    let text = of_mapping(
        MAPPING,
        &catalog,
        &[],
        0,
        |inputs| inputs.proposal = Some(report),
        |facts| markdown(&define(facts.inputs)),
    );
    let (_, text) = text.split_once("\n## The proposal\n").unwrap();
    for expected in [
        "About 42.12 USD a month on demand: reads 32.40, writes 9.72, storage 0.00; the search was complete",
        "It no longer has these access patterns: gone.",
        "| gone | 4 × Query on GSI1 | ORDER | 20/s | 9.3 | 0.5 | 32.40 |",
        "| pay | UPDATE | ORDER | 2/s | 3 | 9.72 |",
        "- `gone`: one more column",
        "| 1 index: this one | 42.12 | 1 read not served |",
        "| 0 indexes | - | the search found no way to serve 2 reads (gone, search) |",
        "- `search`: it searches a text. Instead: a search index",
        "- hot key: gone: it is hot",
        "- log: it has no key that identifies its rows",
    ] {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
}

#[test]
fn ttl_tells_that_it_is_late_and_what_it_costs_in_replicas() {
    let (model, _) = resolved(&shop());
    let mut table = model.table;
    let reported = |table: &_| format!("{:?}", places::settings(table));
    assert!(!reported(&table).contains("locks"));
    table.ttl = Some("expires".into());
    let alone = reported(&table);
    assert!(
        alone.contains("late") && alone.contains("filter on expires"),
        "{alone}"
    );
    assert!(alone.contains("cost no write units"), "{alone}");
    assert!(alone.contains("locks"), "{alone}");
    table.settings.replicas = vec!["eu-west-1".to_owned()];
    let replicated = reported(&table);
    assert!(
        replicated.contains("cost write units in each replica"),
        "{replicated}"
    );
}

#[test]
fn local_indexes_tell_whose_capacity_they_use_and_what_they_limit() {
    assert!(!section("Table and indexes").contains("10 GB"));
    let local = "  local_indexes: { BY_NAME: { sort: email } }\n";
    let mapping = MAPPING.replace(
        "  type_attribute: false",
        &format!("{local}  type_attribute: false"),
    );
    let text = section_of(
        |of| of_mapping(&mapping, &shop(), &[], 0, |_| {}, of),
        "Table and indexes",
    );
    for reported in [
        "| BY\\_NAME – local secondary index |",
        "| the table's |",
        "use its capacity",
        "no item collection may pass 10 GB",
        "none can be added or removed later",
    ] {
        assert!(text.contains(reported), "{reported}: {text}");
    }
}

#[test]
fn merged_attributes_tell_what_each_item_type_puts_into_them() {
    let table = section("Table and indexes");
    let (_, merged) = table.split_once("### Merged attributes").unwrap();
    let rows: Vec<&str> = merged.lines().filter(|line| line.contains("](#")).collect();
    assert_eq!(rows.len(), 5, "{merged}");
    assert!(
        rows[0].starts_with("| `PK` partition key | [ORDER]"),
        "{merged}"
    );
    assert!(rows[0].contains(") | S | `"), "{merged}");
    assert!(rows[1].starts_with("|  | [LINE]"), "{merged}");
    assert!(rows[2].starts_with("| `SK` sort key"), "{merged}");
    assert!(rows[3].contains("LINE#{no \\| pad(4)}"), "{merged}");
    // A key that one item type alone fills.
    assert!(rows[4].starts_with("| `email` "), "{merged}");
    assert!(rows[4].contains(" partition key | [ORDER]"), "{merged}");
}

/// A section of the document without rows, as Markdown.
fn section(title: &str) -> String {
    section_of(found, title)
}

/// A section of a document, as Markdown.
fn section_of(
    found: impl FnOnce(fn(&DocumentFacts<'_>) -> String) -> String,
    title: &str,
) -> String {
    let text = found(|facts| markdown(&define(facts.inputs)));
    let section = text.split(&format!("\n## {title}\n")).nth(1).unwrap();
    section.split("\n## ").next().unwrap().to_owned()
}

#[test]
fn attributes_tell_their_columns_through_joins() {
    insta::assert_snapshot!(section("Item types"));
}

#[test]
fn the_parent_of_a_document_that_a_map_spreads_is_looked_up() {
    let mapping = MAPPING.replace(
        "join: { u: user_id }",
        "join: { u: user_id, w: user_id }\n    attributes: { about: { $spread: w.email | json } }",
    );
    let text = section_of(
        |of| of_mapping(&mapping, &shop(), &[], 0, |_| {}, of),
        "Item types",
    );
    let told = "- Looks up: `users` as `w`: `id = user_id`";
    assert!(text.contains(told), "{text}");
}

#[test]
fn patterns_read_as_people_write_them() {
    insta::assert_snapshot!(section("Each access pattern"));
}

#[test]
fn tables_and_columns_tell_what_becomes_of_them() {
    let (catalog, sources) = found(|facts| (facts.catalog.clone(), facts.sources.clone()));
    let roles: Vec<(&str, TableRole)> = sources
        .iter()
        .map(|source| (source.name.as_str(), source.role))
        .collect();
    assert_eq!(
        roles,
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

/// The section of a title with all rows read: 900 orders and 100 lines.
fn of_all_rows(title: &str, names_keys: bool) -> String {
    let made = |name: &str, made, rejected| ItemTypeForecast {
        item_type: name.to_owned(),
        made,
        rejected,
        bytes: made * 1_500,
        write_units: made * 2,
        ..ItemTypeForecast::default()
    };
    let item_types = vec![made("ORDER", 900, 3), made("LINE", 100, 0)].leak();
    let read = |key: &str, units: f64| ReadKey {
        key: key.to_owned(),
        units_per_second: units,
        patterns: [("ordersOfUser".to_owned(), units)].into(),
    };
    let place = |name: &str, kind, items: u64| PlaceForecast {
        name: name.to_owned(),
        kind,
        items,
        bytes: items * 1_500,
        write_units: items * 2,
        hottest: Some(HeaviestKeys {
            total: items * 2,
            error: 0,
            distinct: Some(2),
            keys: vec![HotKey {
                key: "USER#00000007".to_owned(),
                least: 1_200,
                most: 1_200,
                share: 0.6,
            }],
            others_at_most: 0,
        }),
        rated: None,
        reads: None,
    };
    let table = PlaceForecast {
        rated: Some(RatedWrites {
            too_few_rows: false,
            units_per_second: 20.0,
            error: 0.0,
            keys: vec![("USER#00000009".to_owned(), 18.0)],
        }),
        reads: Some(RatedReads {
            error: 0.5,
            keys: vec![read("USER#00000007", 3_500.0), read("USER#00000009", 40.0)],
        }),
        ..place("shop", PlaceKind::Table, 1_000)
    };
    let places = vec![table, place("BY_EMAIL", PlaceKind::GlobalIndex, 900)].leak();
    let wide = vec![WideItems {
        item_type: "ORDER".to_owned(),
        large: 800,
        items: 900,
        mean_bytes: 6_000,
        mean_write_units: 6,
        patterns: vec![LittleRead {
            pattern: "ordersOfUser".to_owned(),
            mean_bytes: 35,
            read_units: 1.0,
            read_units_apart: 0.5,
            write_units_apart: 1,
        }],
    }]
    .leak();
    let samples = first_rows([100, 100], [0, 0], false);
    let all = |inputs: &mut DefinitionInputs<'_>| {
        inputs.forecast = Some(ForecastTotals {
            item_types,
            places,
            wide,
            import_bytes: 2_000_000,
        });
        inputs.examples = names_keys.then_some(Examples {
            rows: 100,
            whole: false,
            asked: None,
        });
    };
    section_of(
        |of| of_mapping(MAPPING, &shop(), &samples, 100, all, of),
        title,
    )
}

/// What the overview says of one thing, and how it is known.
fn overview_row<'o>(overview: &'o str, what: &str) -> (&'o str, &'o str) {
    let begin = format!("| {what} | ");
    let row = overview.lines().find_map(|line| line.strip_prefix(&begin));
    let row = row.unwrap_or_else(|| panic!("{what} is missing:\n{overview}"));
    row.trim_end_matches(" |").split_once(" | ").unwrap()
}

#[test]
fn large_items_of_which_little_is_read_are_named_as_preview_names_them() {
    let figures = of_all_rows("Sizes, capacity and cost", true);
    let lines = "- `ORDER`: 800 of 900 items are larger than 4 KB: 5.86 KiB and 6 write units each on average\n\
        - `ordersOfUser` needs 35 B of each; as an item of its own, that part takes 0.50 read units instead of 1.00, and 1 write unit instead of 6\n";
    assert!(figures.contains(lines), "{figures}");
    assert!(figures.contains("vertical partitioning"), "{figures}");
}

#[test]
fn without_a_source_the_overview_says_what_is_not_known() {
    let overview = section("Overview");
    let unknown = "not known without --source";
    for what in [
        "Storage",
        "Duration of the load",
        "A month without any request",
    ] {
        assert_eq!(overview_row(&overview, what).0, unknown, "{what}");
    }
    // The catalog counts rows.
    let (items, basis) = overview_row(&overview, "Items");
    assert_eq!(items, "at most about 100,000");
    assert!(basis.ends_with("no row was read"), "{basis}");
    let (rated, basis) = overview_row(&overview, "A month at the declared rates");
    // 10 writes of one unit and 100 reads of half a unit, a second: 10 × $1.62 and 50 × $0.324.
    assert_eq!(
        rated,
        "about \\$32.40 or more on demand, about \\$9.36 or more if as many units are provisioned; and storage, which is not known without --source"
    );
    assert!(
        basis.contains("of 1 of 2 access patterns and of 1 of 2 item types"),
        "{basis}"
    );
    let (_, basis) = overview_row(&overview, "Warnings");
    assert!(basis.ends_with("not known without `--source`"), "{basis}");
    let cost = section("Sizes, capacity and cost");
    assert!(
        cost.contains("| shop | ≥ 50 | ≥ 10 | ≥ \\$32.40 | ≥ \\$9.36 |"),
        "{cost}"
    );
    assert!(cost.contains("No item of ORDER was read: "), "{cost}");
    assert!(cost.contains("not known without `--all`"), "{cost}");
    assert!(!cost.contains("| Load |"), "{cost}");
}

#[test]
fn the_overview_of_first_rows_is_an_estimate() {
    let samples = first_rows([100, 100], [0, 0], false);
    let overview = section_of(|of| sampled(&samples, 100, of), "Overview");
    // 50,000 items of 1,500 bytes and 100 more of each type; the index has none of these empty items.
    let (storage, basis) = overview_row(&overview, "Storage");
    assert_eq!(storage, "at most about 152.59 MiB, indexes included");
    assert!(
        basis.starts_with("the database's own counts of rows"),
        "{basis}"
    );
    let (load, basis) = overview_row(&overview, "Duration of the load");
    // 200,000 units at 4,000 a second.
    assert_eq!(
        load,
        "at best about 50.00 s (on demand, new table), for at most about \\$0.125"
    );
    assert!(basis.contains("limited by what shop takes"), "{basis}");
    assert!(basis.ends_with("not known without `--all`"), "{basis}");
    let (month, _) = overview_row(&overview, "A month without any request");
    assert_eq!(month, "at most about \\$0.04");
}

#[test]
fn the_overview_of_all_rows_counts_what_is_rejected() {
    let overview = of_all_rows("Overview", true);
    let (items, basis) = overview_row(&overview, "Items");
    assert_eq!(items, "1,000");
    assert_eq!(
        basis,
        "every row was read; 3 rows are rejected and in no item"
    );
    let (storage, _) = overview_row(&overview, "Storage");
    assert_eq!(storage, "2.90 MiB, indexes included");
    let (load, basis) = overview_row(&overview, "Duration of the load");
    // 1,200 units of one partition key, at 1,000 a second.
    assert_eq!(load, "at best 1.20 s (on demand, new table), for \\$0.0024");
    assert_eq!(
        basis,
        "limited by one partition key of shop; reading the source may take longer"
    );
    let cost = of_all_rows("Sizes, capacity and cost", true);
    assert!(
        cost.contains("| import from S3 | not promised | "),
        "{cost}"
    );
}

#[test]
fn provisioned_capacity_is_paid_without_requests() {
    let mapping = MAPPING.replace(
        "  type_attribute: false",
        "  type_attribute: false\n  billing: { read: 10, write: 5 }\n  stream: keys-only",
    );
    let overview = section_of(
        |of| of_mapping(&mapping, &shop(), &[], 0, |_| {}, of),
        "Overview",
    );
    let (month, _) = overview_row(&overview, "A month without any request");
    // 10 reads at $0.00013 and 5 writes at $0.00065, 720 hours, of the table and of its index.
    assert_eq!(
        month,
        "\\$6.552 for capacity, and storage, which is not known without --source"
    );
    assert!(
        overview.contains("Not in the costs: data transfer; reading the stream."),
        "{overview}"
    );
}

#[test]
fn a_warm_table_is_not_called_slow() {
    let mapping = MAPPING.replace(
        "  type_attribute: false",
        "  type_attribute: false\n  warm_throughput: { read: 12000, write: 20000 }",
    );
    let samples = first_rows([100, 100], [0, 0], false);
    let overview = section_of(
        |of| of_mapping(&mapping, &shop(), &samples, 100, |_| {}, of),
        "Overview",
    );
    let (load, _) = overview_row(&overview, "Duration of the load");
    // 200,000 units at the 40,000 a second that a table can be warmed for.
    assert_eq!(load, "at best about 5.00 s (on demand, warmed)");
    assert!(
        overview.contains("data transfer; the warm throughput."),
        "{overview}"
    );
}

#[test]
fn rows_do_not_count_items_of_exploded_arrays() {
    let mapping = MAPPING.replace(
        "    from: orders\n",
        "    from: orders\n    explode: { n: \"note | json\" }\n    accept: [key-unproved, key-not-unique]\n",
    );
    let mut catalog = shop();
    let orders = catalog
        .tables
        .iter_mut()
        .find(|table| table.name.name == "orders")
        .unwrap();
    let mut note = orders.columns[0].clone();
    note.name = "note".to_owned();
    note.declared = "text".to_owned();
    note.data_type = DataType::Text { max_chars: None };
    orders.columns.push(note);
    let overview = section_of(
        |of| of_mapping(&mapping, &catalog, &[], 0, |_| {}, of),
        "Overview",
    );
    assert_eq!(
        overview_row(&overview, "Items").0,
        "not known without --source"
    );
}

#[test]
fn warnings_stand_by_weight() {
    let warning = |code: &str| Warning {
        code: code.to_owned(),
        message: format!("a {code}"),
        line: 1,
        column: 1,
        label: String::new(),
        help: None,
    };
    let written = |title| {
        let change = |inputs: &mut DefinitionInputs<'_>| {
            inputs.warnings = ["hot-reads", "text-order", "same-key", "empty-key"]
                .map(warning)
                .into();
            inputs.accepted = vec![warning("range-end")];
        };
        section_of(|of| of_mapping(MAPPING, &shop(), &[], 0, change, of), title)
    };
    let overview = written("Overview");
    assert_eq!(
        overview_row(&overview, "Warnings").0,
        "2 about rows or values that may be in no item<br>1 about answers that may differ from the database's<br>1 about requests that may be throttled<br>1 accepted by the mapping"
    );
    let list = written("Warnings");
    let at = |text: &str| list.find(text).unwrap_or_else(|| panic!("{text}: {list}"));
    let order = [
        "a same-key",
        "a empty-key",
        "a text-order",
        "a hot-reads",
        "a range-end",
    ]
    .map(at);
    assert!(order.is_sorted(), "{list}");
}

#[test]
fn every_guarantee_is_in_the_document() {
    let mut catalog = shop();
    for table in &mut catalog.tables {
        table.checks = None;
    }
    let (_, proofs) = resolved(&catalog);
    let found = &proofs.guarantees.guarantees;
    assert!(found.len() > 3, "{found:?}");
    let title = "What your database guaranteed and this table does not";
    let section = section_of(|of| of_catalog(&catalog, &[], 0, of), title);
    for one in found {
        assert!(
            section.contains(&format!("| `{}`", one.declared)),
            "{one:?}\n{section}"
        );
    }
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    assert_eq!(rows.count(), found.len(), "{section}");
    assert!(section.contains("- CHECK constraints of "), "{section}");
    let overview = section_of(|of| of_catalog(&catalog, &[], 0, of), "Overview");
    let (kept, basis) = overview_row(&overview, "Guarantees of the database");
    let numbers = kept.split_once("to be kept: ").unwrap().1.split(", ");
    let sum: usize = numbers
        .map(|part| part.split(' ').next().unwrap().parse::<usize>().unwrap())
        .sum();
    assert_eq!(sum, found.len(), "{kept}");
    assert!(basis.contains("could not be read"), "{basis}");
}

#[test]
fn the_filter_begins_with_words_of_this_table() {
    let (html, patterns) = found(|facts| (html(&define(facts.inputs)), patterns::table(facts)));
    let Some(DocBlock::Filter { example, .. }) = patterns.first() else {
        panic!("{patterns:?}");
    };
    assert_eq!(example, "PK ORDER");
    assert!(html.contains("placeholder=\"PK ORDER\""));
    let DocBlock::Table(table) = &patterns[1] else {
        panic!("{patterns:?}");
    };
    let row = format!("{:?}", table.rows[0]);
    assert!(example.split(' ').all(|word| row.contains(word)), "{row}");
}

#[test]
fn the_keys_that_rates_fall_on_are_named_where_values_may_be() {
    let title = "Sizes, capacity and cost";
    let named = of_all_rows(title, true);
    let over = "| `shop` | `USER#00000007` | 3,500 – more than the 3,000 that a partition takes | [ordersOfUser](#pattern-ordersofuser) |";
    assert!(named.contains(over), "{named}");
    assert!(
        named.contains("| `shop` | `USER#00000009` | 40 | "),
        "{named}"
    );
    assert!(
        named.contains("| `shop` | `USER#00000009` | 18 |\n"),
        "{named}"
    );
    assert!(
        named.contains("each key may have up to 0.5 more"),
        "{named}"
    );
    assert!(named.contains("or cache the answers"), "{named}");
    let hidden = of_all_rows(title, false);
    assert!(
        hidden.contains("| `shop` | key 1 | 18 |\n")
            && hidden.contains("| `shop` | key 2 | 3,500 – more")
            && hidden.contains("| `shop` | key 1 | 40 | "),
        "{hidden}"
    );
    assert!(!hidden.contains("USER#0000000"), "{hidden}");
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
