//! Columns that a join or an embed matches, and that are not equal in the same way in every plan.

use dynafold_mapping::diagnostic::Code;
use dynafold_relational::catalog::{DataType, Dbms};

use super::{catalog, check_with};

/// A type with its name.
type Declared = (&'static str, DataType);

/// The faults of a join and of an embed that match users with their subscriptions, by columns of these types.
fn faults(dbms: Dbms, (users, subscriptions): (&Declared, &Declared)) -> Vec<(Code, String)> {
    let mut catalog = catalog();
    catalog.dbms = dbms;
    for (table, column, (declared, data_type)) in [
        ("users", "id", users),
        ("subscribe_users", "user_id", subscriptions),
    ] {
        let mut tables = catalog.tables.iter_mut();
        let table = tables.find(|found| found.name.name == table).unwrap();
        let mut columns = table.columns.iter_mut();
        let column = columns.find(|found| found.name == column).unwrap();
        (*declared).clone_into(&mut column.declared);
        column.data_type = data_type.clone();
    }
    let items = [
        "from: subscribe_users, join: { u: { table: users, match: { id: user_id } } }, key: { PK: \"S#{subscribe_id}\", SK: \"{u.name}\" }, columns: []",
        "from: users, key: { PK: \"U#{name}\", SK: U }, columns: [], attributes: { x: { $embed: subscribe_users, $match: { user_id: id }, $each: \"{subscribe_id}\" } }",
    ];
    let reported = items.iter().flat_map(|item| {
        let text = format!(
            "dynafold: 1\ntable: {{ name: portal, key: {{ partition: PK, sort: SK }} }}\nitems:\n  A: {{ {item} }}\n"
        );
        check_with(&text, &catalog).1
    });
    let reported = reported.filter(|found| matches!(found.code, Code::Join | Code::Embed));
    reported.map(|found| (found.code, found.message)).collect()
}

#[test]
fn numbers_that_an_index_of_mysql_does_not_find_by_a_double_are_not_matched_with_one() {
    let integer = |bits| DataType::Integer {
        bits,
        unsigned: true,
    };
    let decimal = |precision| DataType::Decimal {
        precision: Some(precision),
        scale: Some(2),
    };
    let float = |bits| DataType::Float { bits };
    let text = DataType::Text {
        max_chars: Some(20),
    };
    let (my, maria) = (Dbms::Mysql, Dbms::Mariadb);
    let bigint = ("bigint unsigned", integer(64));
    let double = ("double", float(64));
    let long = ("decimal(20,2)", decimal(20));
    for (dbms, one, other, is_refused) in [
        (my, &bigint, &double, true),
        (maria, &bigint, &double, true),
        (maria, &bigint, &("float", float(32)), true),
        (my, &long, &double, true),
        // These are only warned of.
        (my, &bigint, &("varchar(20)", text.clone()), false),
        (my, &bigint, &long, false),
        (my, &long, &("decimal(12,2)", decimal(12)), false),
        (my, &("int unsigned", integer(32)), &double, false),
        (my, &("decimal(15,2)", decimal(15)), &double, false),
        (my, &("float", float(32)), &double, false),
        // Both as UUIDs, or as addresses, with and without an index.
        (
            maria,
            &("uuid", DataType::Uuid),
            &("varchar(20)", text.clone()),
            false,
        ),
        (
            maria,
            &("inet6", text.clone()),
            &("varchar(20)", text),
            false,
        ),
        // PostgreSQL uses no index for such a match, and SQLite compares exactly.
        (Dbms::Postgres, &bigint, &double, false),
        (Dbms::Sqlite, &bigint, &double, false),
    ] {
        for (users, subscriptions) in [(one, other), (other, one)] {
            let found = faults(dbms, (users, subscriptions));
            if !is_refused {
                assert!(found.is_empty(), "{found:?}");
                continue;
            }
            let why = "the database compares them as doubles, so different numbers may be equal, and which rows match depends on whether it uses an index";
            let (users, subscriptions) = (users.0, subscriptions.0);
            let expected = [
                (
                    Code::Join,
                    format!("`user_id` is {subscriptions}, and `id` is {users}: {why}"),
                ),
                (
                    Code::Embed,
                    format!("`id` is {users}, and `user_id` is {subscriptions}: {why}"),
                ),
            ];
            assert_eq!(found, expected);
        }
    }
}
