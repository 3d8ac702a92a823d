//! The mapping language: every fault with its place, every code with a case.

mod broken;
mod collation;
mod conditions;
mod faults;
mod guarantees;
mod injective;
mod many;
mod matches;
mod own_keys;
mod range_end;
mod refused;
mod roll_up;

use dynafold_mapping::claim::ClaimKind;
use dynafold_mapping::diagnostic::{Code, Diagnostic, render};
use dynafold_mapping::model::Model;
use dynafold_mapping::{Described, Raw, resolve};
use dynafold_relational::catalog::{Catalog, DataType, Dbms, UniqueKey};
use dynafold_relational::scan::ScanColumn;

/// The catalog of pattern 1, as `inspect --format json` wrote it, but for the numbers of rows: of a
/// few rows fewer risks are told.
fn catalog() -> Catalog {
    let mut catalog: Catalog = serde_json::from_str(include_str!("check/catalog.json")).unwrap();
    for table in &mut catalog.tables {
        table.estimated_rows = None;
    }
    catalog
}

/// Checks a mapping against a catalog, with no variable set.
fn check_with(text: &str, catalog: &Catalog) -> (Option<Model>, Vec<Diagnostic>) {
    let (raw, faults) = Raw::read(text, &|_| None);
    match raw {
        Some(raw) => {
            let resolution = resolve(&raw, faults, catalog, &Described::new());
            (resolution.model, resolution.diagnostics)
        }
        None => (None, faults),
    }
}

fn check(text: &str) -> (Option<Model>, Vec<Diagnostic>) {
    check_with(text, &catalog())
}

#[test]
fn a_mapping_with_many_mistakes_reports_them_all_in_one_run() {
    let text = include_str!("check/mistakes.yaml");
    let (model, diagnostics) = check(text);
    assert!(model.is_none());
    insta::assert_snapshot!(render("mistakes.yaml", text, &diagnostics, false));
}

#[test]
fn every_mistake_has_a_place_and_a_mend() {
    let text = include_str!("check/mistakes.yaml");
    let (_, diagnostics) = check(text);
    let marked = text.matches("# mistake").count();
    assert!(marked >= 10, "the file should have ten mistakes or more");
    assert_eq!(diagnostics.len(), marked, "{diagnostics:#?}");
    for diagnostic in &diagnostics {
        assert!(!diagnostic.span.is_empty(), "{diagnostic:?}");
        assert!(diagnostic.help.is_some(), "{diagnostic:?}");
        let line = text[diagnostic.span.start..].lines().next().unwrap();
        assert!(
            line.contains("# mistake"),
            "no mistake is marked at: {line}"
        );
    }
}

#[test]
fn the_example_mapping_of_pattern_1_has_no_faults_and_the_risks_that_it_should_have() {
    let text = include_str!("../../../mappings/personalization.yaml");
    let (model, diagnostics) = check(text);
    assert!(model.is_some());
    insta::assert_snapshot!(render("personalization.yaml", text, &diagnostics, false));
}

#[test]
fn a_constant_that_is_no_number_of_dynamodbs_is_a_fault_and_a_code_is_text() {
    let mapping = |constant: &str| {
        format!(
            "
dynafold: 1
table: {{ name: portal, key: {{ partition: PK, sort: SK }} }}
items:
  USER:
    from: users
    key: {{ PK: \"USER#{{id}}\", SK: \"USER#\" }}
    attributes: {{ code: {constant} }}
"
        )
    };
    for constant in ["123456789012345678901234567890123456789", "[1, 1e126]"] {
        let (model, diagnostics) = check(&mapping(constant));
        assert!(model.is_none());
        assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
        assert_eq!(diagnostics[0].code.as_str(), "wrong-value");
    }
    for (constant, expected) in [
        ("01234", "Template"),
        ("-01234", "Template"),
        ("0x1F", "Template"),
        ("'12345678901234567890123456789012345678901'", "Template"),
        ("-12", "Constant"),
        ("0.5", "Constant"),
    ] {
        let (model, diagnostics) = check(&mapping(constant));
        let model = model.unwrap_or_else(|| panic!("{constant}: {diagnostics:#?}"));
        let attributes = format!("{:?}", model.item_types[0].attributes);
        let code = attributes.split("\"code\"").nth(1).unwrap();
        assert!(
            code.starts_with(&format!(", {expected}")),
            "{constant}: {code}"
        );
    }
}

#[test]
fn item_types_of_one_table_share_a_pass_and_its_conditions() {
    let text = "
dynafold: 1
table: { name: portal, key: { partition: PK, sort: SK }, type_attribute: false }
items:
  USER:
    from: users
    where: gender IS NOT NULL
    key: { PK: \"USER#{id}\", SK: \"USER#\" }
    columns: [email]
  NAME:
    from: users
    key: { PK: \"USER#{id}\", SK: \"NAME#\" }
    columns: [name]
  SUBSCRIPTION:
    from: subscribe_users
    join: { s: subscribe_id }
    where: s.service = 'news'
    key: { PK: \"USER#{user_id}\", SK: \"SUBSCRIBE#{subscribe_id | pad(8)}\" }
    columns: [s.title]
";
    let (model, diagnostics) = check(text);
    let model = model.unwrap_or_else(|| panic!("{diagnostics:#?}"));
    assert_eq!(model.passes.len(), 2);
    assert_eq!(model.passes[0].item_types, [0, 1]);
    assert_eq!(model.passes[0].scan.conditions, ["gender IS NOT NULL"]);
    assert!(model.passes[0].scan.keep_unmatched, "NAME takes every row");
    assert_eq!(
        model.item_types[0].condition,
        Some(model.passes[0].scan.columns.len())
    );
    assert_eq!(model.item_types[1].condition, None);
    assert_eq!(model.passes[1].scan.joins.len(), 1);
    assert!(!model.passes[1].scan.keep_unmatched);
}

#[test]
fn what_is_omitted_is_neither_read_nor_warned_of() {
    let mut catalog = catalog();
    for table in &mut catalog.tables {
        for column in table.columns.iter_mut().filter(|c| c.name == "gender") {
            column.data_type = DataType::Printed;
        }
    }
    let text = "
dynafold: 1
table: { name: portal, key: { partition: PK, sort: SK }, type_attribute: false }
items:
  USER:
    from: users
    key: { PK: \"USER#{id | pad(3)}\", SK: \"USER#\" }
    omit: [gender]
";
    let (model, diagnostics) = check_with(text, &catalog);
    assert_eq!(diagnostics, Vec::new());
    let columns = &model.unwrap().passes[0].scan.columns;
    assert!(
        columns
            .iter()
            .all(|column| !matches!(column, ScanColumn::Column { name, .. } if name == "gender"))
    );
    let (_, diagnostics) = check_with(&text.replace("    omit: [gender]", ""), &catalog);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
}

/// What a proof of unique keys goes by, for a table whose `gender` is unique where it is not NULL.
#[test]
fn the_reason_for_an_order_is_true_of_what_the_last_filter_gives() {
    for (sort, because) in [
        ("{id | pad(5)}", "`id` is padded"),
        (
            "{id | pad(5) | shard(20)}",
            "`id` after `shard` is in the order of its bytes",
        ),
        (
            "{id | pad(5) | truncate(4)}",
            "`id` after `truncate` is in the order of its bytes",
        ),
        (
            "{id | pad(3) | replace(0, '')}",
            "`id` after `replace` is in the order of its bytes",
        ),
        ("{name}", "`name` is in the order of its bytes"),
    ] {
        let text = format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems: {{ USER: {{ from: users, key: {{ PK: USERS, SK: \"{sort}\" }} }} }}\n"
        );
        let (raw, faults) = Raw::read(&text, &|_| None);
        let resolution = resolve(&raw.unwrap(), faults, &catalog(), &Described::new());
        let proofs = resolution.proofs.unwrap();
        let claim = proofs.of(ClaimKind::TextOrder).next().unwrap();
        assert!(claim.is_proved(), "{sort}: {claim:?}");
        assert_eq!(claim.because, because, "{sort}");
    }
}

#[test]
fn a_type_that_its_database_sorts_otherwise_than_its_text_is_in_no_order() {
    let text = "dynafold: 1\ntable: { name: app, key: { partition: PK, sort: SK } }\nitems: { USER: { from: users, key: { PK: USERS, SK: \"{name | lower}\" } } }\n";
    for (dbms, declared, data_type, is_in_order) in [
        (Dbms::Mariadb, "uuid", DataType::Uuid, false),
        (Dbms::Postgres, "uuid", DataType::Uuid, true),
        (
            Dbms::Mariadb,
            "inet6",
            DataType::Text { max_chars: None },
            false,
        ),
        (
            Dbms::Postgres,
            "inet",
            DataType::Text { max_chars: None },
            false,
        ),
        (
            Dbms::Postgres,
            "extensions.ltree",
            DataType::Text { max_chars: None },
            false,
        ),
        // A domain, which may be one over inet.
        (
            Dbms::Postgres,
            "address",
            DataType::Text { max_chars: None },
            false,
        ),
        (
            Dbms::Postgres,
            "character varying(40)",
            DataType::Text {
                max_chars: Some(40),
            },
            true,
        ),
        (
            Dbms::Postgres,
            "macaddr",
            DataType::Text { max_chars: None },
            true,
        ),
    ] {
        let mut catalog = catalog();
        catalog.dbms = dbms;
        let users = catalog.tables.iter_mut().find(|t| t.name.name == "users");
        let mut columns = users.unwrap().columns.iter_mut();
        let name = columns.find(|column| column.name == "name").unwrap();
        declared.clone_into(&mut name.declared);
        name.data_type = data_type;
        let (raw, faults) = Raw::read(text, &|_| None);
        let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
        let proofs = resolution.proofs.unwrap();
        let claim = proofs.of(ClaimKind::TextOrder).next().unwrap();
        assert_eq!(claim.is_proved(), is_in_order, "{declared}: {claim:?}");
        let said = format!("`name` ({declared}) in another order");
        assert_eq!(claim.because.contains(&said), !is_in_order, "{claim:?}");
    }
}

#[test]
fn keys_are_proved_unique_by_what_can_be_read_back() {
    let mut catalog = catalog();
    let users = catalog.tables.iter_mut().find(|t| t.name.name == "users");
    let users = users.unwrap();
    users.unique_keys.push(UniqueKey {
        name: "once".into(),
        columns: vec!["gender".into()],
        ..UniqueKey::default()
    });
    let codes = |key: &str| {
        let text = format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: {{ name: SK, type: N }} }} }}\n\
             items: {{ U: {{ from: users, key: {{ {key} }}, columns: [] }}, V: {{ from: users, key: {{ PK: \"V{{id}}\", SK: 1 }} }} }}"
        );
        let (_, diagnostics) = check_with(&text, &catalog);
        let codes: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
        codes
    };
    for (key, expected) in [
        ("PK: \"U{id}\", SK: 1", vec![]),
        ("PK: \"U\", SK: \"{id}\"", vec![Code::SinglePartition]),
        // Optional, but never NULL.
        ("PK: \"U[#{email}][#{id | pad(9)}]\", SK: 1", vec![]),
        ("PK: \"U[#{email}][#{id}]\", SK: 1", vec![Code::KeyUnproved]),
        // Several rows may have NULL there.
        ("PK: \"U[#{gender}]\", SK: 1", vec![Code::KeyNotUnique]),
        (
            "PK: \"U[#{gender}][#{id}]\", SK: 1",
            vec![Code::KeyNotUnique],
        ),
        ("PK: \"U{email}{id}\", SK: 1", vec![Code::KeyUnproved]),
        ("PK: \"U{email}{id | pad(9)}\", SK: 1", vec![]),
        // Constants prove nothing, and may meet.
        ("PK: \"U{name}\", SK: 1", vec![Code::KeyNotUnique]),
        ("PK: \"V{id}\", SK: 1", vec![Code::SameKey]),
        ("PK: \"V{id}\", SK: 2", vec![]),
        ("PK: \"V{name}\", SK: \"{id}\"", vec![Code::SameKey]),
    ] {
        assert_eq!(codes(key), expected, "{key}");
    }
    // Without a sort key, the partition key alone is unique.
    for (key, expected) in [("U{id}", vec![]), ("U{name}", vec![Code::KeyNotUnique])] {
        let text = format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK }} }}\nitems: {{ U: {{ from: users, key: {{ PK: \"{key}\" }}, columns: [] }} }}"
        );
        let (_, diagnostics) = check_with(&text, &catalog);
        let codes: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, expected, "{key}");
    }
}
