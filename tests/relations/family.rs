//! Embeds against a plain reference: whatever the rows are, every child stands in its parent.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{load, mapping};
use crate::support::source::Source;

/// Parents by id, children with their parents', grandchildren with theirs; references may lead nowhere.
#[derive(Debug, Clone)]
struct Rows {
    parents: Vec<u8>,
    children: Vec<(u8, Option<u8>)>,
    grandchildren: Vec<(u8, Option<u8>)>,
}

fn rows() -> impl Strategy<Value = Rows> {
    let keyed = || {
        proptest::collection::btree_map(0_u8..60, proptest::option::of(0_u8..14), 0..40)
            .prop_map(|rows| rows.into_iter().collect())
    };
    (
        proptest::collection::btree_set(0_u8..12, 0..8),
        keyed(),
        keyed(),
    )
        .prop_map(|(parents, children, grandchildren)| Rows {
            parents: parents.into_iter().collect(),
            children,
            grandchildren,
        })
}

fn script(rows: &Rows) -> String {
    let mut sql = "CREATE TABLE parent (id INTEGER NOT NULL PRIMARY KEY);
        CREATE TABLE child (id INTEGER NOT NULL PRIMARY KEY, up INTEGER);
        CREATE TABLE grandchild (id INTEGER NOT NULL PRIMARY KEY, up INTEGER);"
        .to_owned();
    for id in &rows.parents {
        write!(sql, "INSERT INTO parent VALUES ({id});").unwrap();
    }
    for (table, rows) in [
        ("child", &rows.children),
        ("grandchild", &rows.grandchildren),
    ] {
        for (id, up) in rows {
            let up = up.map_or("NULL".to_owned(), |up| up.to_string());
            write!(sql, "INSERT INTO {table} VALUES ({id}, {up});").unwrap();
        }
    }
    sql
}

const LIMIT: usize = 3;

/// What the items must be, and how many children are orphans or cut.
fn expected(rows: &Rows) -> (String, usize, usize) {
    let below = |rows: &[(u8, Option<u8>)], up: u8| -> Vec<u8> {
        let rows = rows.iter().filter(|row| row.1 == Some(up));
        rows.map(|row| row.0).collect()
    };
    let numbers = |ids: &[u8]| {
        let ids: Vec<String> = ids.iter().map(|id| format!(r#"{{"N":"{id}"}}"#)).collect();
        format!(r#"{{"L":[{}]}}"#, ids.join(","))
    };
    let (mut cut, mut carried) = (0, 0);
    let mut lines = Vec::new();
    for parent in &rows.parents {
        let mut children = below(&rows.children, *parent);
        children.reverse();
        carried += children.len();
        cut += children.len().saturating_sub(LIMIT);
        for child in &children {
            carried += below(&rows.grandchildren, *child).len();
        }
        children.truncate(LIMIT);
        let maps = children.iter().map(|child| {
            let below = numbers(&below(&rows.grandchildren, *child));
            format!(r#"{{"M":{{"below":{below},"id":{{"N":"{child}"}}}}}}"#)
        });
        let maps: Vec<String> = maps.collect();
        lines.push(format!(
            r#"{{"PK":{{"S":"{parent}"}},"SK":{{"S":"P"}},"children":{{"L":[{}]}}}}"#,
            maps.join(",")
        ));
    }
    lines.sort_unstable();
    let all = rows.children.len() + rows.grandchildren.len();
    (lines.join("\n") + "\n", all - carried, cut)
}

fn check(source: &Source, rows: &Rows, runtime: &tokio::runtime::Runtime) {
    let text = mapping(
        "  PARENT:
    from: parent
    key: { PK: \"{id | string}\", SK: P }
    columns: []
    attributes:
      children:
        $embed: child
        $match: { up: id }
        $order: id desc
        $limit: 3
        $each: { id: \"{id}\", below: { $embed: grandchild, $match: { up: id }, $each: \"{id}\" } }
",
    );
    let loaded = runtime.block_on(load(source, &text));
    let (items, orphans, cut) = expected(rows);
    assert_eq!(loaded.items, items);
    assert_eq!(loaded.report["total"]["orphans"], orphans);
    assert_eq!(loaded.report["total"]["cut"], cut);
}

#[test]
fn every_child_stands_in_its_parent() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config {
        cases: 12,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&rows(), |rows| {
            for source in runtime.block_on(Source::each(|_| script(&rows))) {
                check(&source, &rows, &runtime);
                runtime.block_on(source.drop());
            }
            Ok(())
        })
        .unwrap();
}
