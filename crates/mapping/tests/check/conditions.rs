//! Conditions of `where`: those that surely never hold, and those that an index surely answers as an expression does.

use dynafold_mapping::diagnostic::Code;
use dynafold_relational::catalog::{Catalog, DataType, Dbms};

use super::check_with;

/// The catalog as MySQL has it: a gender is an enum, and rows have times.
fn catalog() -> Catalog {
    let mut catalog = super::catalog();
    catalog.dbms = Dbms::Mysql;
    let users = catalog
        .tables
        .iter_mut()
        .find(|table| table.name.name == "users");
    let users = users.unwrap();
    for column in &mut users.columns {
        if column.name == "gender" {
            let values = ["open", "straße", "ccs"].map(str::to_owned).to_vec();
            column.data_type = DataType::Enum { values };
        }
    }
    let mut time = users.columns[1].clone();
    for (name, nullable) in [("born", false), ("gone", true)] {
        name.clone_into(&mut time.name);
        time.data_type = DataType::Date;
        time.nullable = nullable;
        users.columns.push(time.clone());
    }
    catalog
}

fn mapping(condition: &str) -> String {
    let condition = condition.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "dynafold: 1
table: {{ name: portal, key: {{ partition: PK, sort: SK }} }}
items:
  USER: {{ from: users, where: \"{condition}\", key: {{ PK: \"USER#{{id}}\", SK: U }}, columns: [] }}
"
    )
}

#[test]
fn a_collation_decides_what_an_enum_is_equal_to() {
    let catalog = catalog();
    for (condition, is_reported) in [
        ("gender = 'open'", false),
        ("gender = 'OPEN '", false),
        ("gender = 'öpen'", false),
        ("gender = 'strasse'", false),
        // In Hungarian.
        ("gender = 'cscs'", false),
        ("gender IN ('shut', 'öpen')", false),
        ("'öpen' = 'open'", false),
        ("gender = ''", false),
    ] {
        let (_, diagnostics) = check_with(&mapping(condition), &catalog);
        let mut reported = diagnostics.iter();
        let reported = reported.any(|diagnostic| diagnostic.code == Code::NeverMatches);
        assert_eq!(reported, is_reported, "{condition}: {diagnostics:?}");
    }
    let mut ascii = catalog;
    let users = ascii
        .tables
        .iter_mut()
        .find(|table| table.name.name == "users");
    for column in &mut users.unwrap().columns {
        if let DataType::Enum { values } = &mut column.data_type {
            *values = ["open", "closed"].map(str::to_owned).to_vec();
        }
    }
    for (condition, is_reported) in [
        ("gender = 'shut'", true),
        ("gender IN ('shut', 'gone')", true),
        ("gender IN ('shut', 'OPEN')", false),
        ("'name' = 'Ann'", true),
    ] {
        let (_, diagnostics) = check_with(&mapping(condition), &ascii);
        let mut reported = diagnostics.iter();
        let reported = reported.any(|diagnostic| diagnostic.code == Code::NeverMatches);
        assert_eq!(reported, is_reported, "{condition}: {diagnostics:?}");
    }
}

#[test]
fn an_index_answers_what_compares_a_column_with_its_own_kind() {
    let catalog = catalog();
    for (condition, is_plain) in [
        ("name = 'open'", true),
        ("'open' = name", true),
        ("id IN (7, -8) AND name IN ('a', 'b_1')", true),
        ("id >= 7", true),
        ("email IS NOT NULL", true),
        ("gone IS NULL", true),
        // The error value of an enum, and the zero dates of a column that is NOT NULL.
        ("gender = 'open'", false),
        ("born IS NULL", false),
        ("born IS NULL AND id = 7", false),
        ("gone IS UNKNOWN", false),
        // What is converted, and what has more than one reading.
        ("name = 7", false),
        ("id = '7'", false),
        ("id = 9223372036854775808", false),
        ("born > '2020-01-01'", false),
        ("name > 'a'", false),
        ("name = ''", false),
        ("name = 'a '", false),
        ("name = 'ä'", false),
        ("name LIKE 'a%'", false),
        ("name COLLATE utf8mb4_bin = 'a'", false),
        ("name = \"id\"", false),
        ("id = 7 /*! OR born IS NULL */", false),
        ("id = 7 OR id = 8", false),
        ("NOT id = 7", false),
    ] {
        let (model, diagnostics) = check_with(&mapping(condition), &catalog);
        let model = model.unwrap_or_else(|| panic!("{condition}: {diagnostics:?}"));
        let plain = &model.passes[0].scan.plain;
        assert_eq!(
            plain.contains(&condition.to_owned()),
            is_plain,
            "{condition}"
        );
    }
}
