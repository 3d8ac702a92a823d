//! Cases of types, as files of lines: a column type, a SQL literal, and what the value is in
//! DynamoDB. The real database is the oracle: it takes the literal and hands it to the source.
//!
//! A line is `type | literal | expected`, with a space on either side of each bar. Expected is
//! DynamoDB JSON, `absent`, or `unfit: Reason`. `[tag]` before the type keeps a line for what has
//! that tag, one of [`TAGS`]. `!` starts a line of SQL that runs first, `#` a
//! comment.

use dynafold::catalog::{Catalog, Table};
use dynafold::dynamodb::write_attribute;
use dynafold::item::to_attribute;
use dynafold::mapping::template::ApplyError;
use dynafold::scan::{Embed, Join, Match, Relation, Scan, ScanColumn};
use dynafold::source::{Chunk, Row, Source};
use dynafold::value::Value;
use futures_util::TryStreamExt;

/// Products, and versions of PostgreSQL from one on.
const TAGS: [&str; 3] = ["mysql", "mariadb", "14+"];

#[derive(Debug)]
pub(crate) struct Case {
    line: usize,
    column_type: String,
    literal: String,
    expected: String,
}

/// The cases that hold for these tags.
pub(crate) fn cases(file: &str, tags: &[&str]) -> Vec<Case> {
    let lines = file.lines().enumerate();
    lines
        .filter(|(_, text)| !text.trim().is_empty() && !text.starts_with(['#', '!']))
        .filter_map(|(index, text)| {
            let text = match text.strip_prefix('[') {
                Some(tagged) => {
                    let (only, text) = tagged.split_once("] ").expect("a closing bracket");
                    assert!(TAGS.contains(&only), "no test has the tag `{only}`");
                    if !tags.contains(&only) {
                        return None;
                    }
                    text
                }
                None => text,
            };
            let mut parts = text.splitn(3, " | ").map(str::trim);
            let mut part = || parts.next().expect("three parts").to_owned();
            Some(Case {
                line: index + 1,
                column_type: part(),
                literal: part(),
                expected: part(),
            })
        })
        .collect()
}

/// The SQL of a file that runs first, and then makes a table for each type, `t0` and so on, with
/// the literals in it.
pub(crate) fn script(file: &str, cases: &[Case]) -> String {
    use std::fmt::Write as _;
    let mut sql = String::new();
    for first in file.lines().filter_map(|text| text.strip_prefix('!')) {
        writeln!(sql, "{first};").unwrap();
    }
    for (index, column_type) in types(cases).iter().enumerate() {
        writeln!(
            sql,
            "CREATE TABLE t{index} (line INTEGER PRIMARY KEY, v {column_type} NULL);"
        )
        .unwrap();
        for case in cases.iter().filter(|c| c.column_type == **column_type) {
            let Case { line, literal, .. } = case;
            writeln!(sql, "INSERT INTO t{index} VALUES ({line}, {literal});").unwrap();
        }
    }
    sql
}

fn types(cases: &[Case]) -> Vec<&String> {
    let mut types: Vec<&String> = Vec::new();
    for case in cases {
        if !types.contains(&&case.column_type) {
            types.push(&case.column_type);
        }
    }
    types
}

/// Reads the tables back and compares, naming every line that differs.
pub(crate) async fn compare(source: &mut dyn Source, cases: &[Case]) {
    assert!(cases.len() > 50, "{} cases", cases.len());
    let catalog = source.catalog().await.unwrap();
    source.begin(&[]).await.unwrap();
    let mut faults = Vec::new();
    for (index, column_type) in types(cases).iter().enumerate() {
        let rows = read_all(source, catalog.find(&format!("t{index}")).unwrap()).await;
        let mut rows = rows.iter();
        for case in cases.iter().filter(|c| c.column_type == **column_type) {
            let read = shown(&rows.next().unwrap()[1]);
            if read != case.expected {
                let Case {
                    line,
                    literal,
                    expected,
                    ..
                } = case;
                faults.push(format!(
                    "line {line}: {column_type} {literal}\n  expected {expected}\n      read {read}"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Reads the tables again, each with its own rows as children and those within them, and the
/// children with a joined parent: a value is the same wherever it stands. The snapshot is begun
/// already.
pub(crate) async fn compare_relations(source: &mut dyn Source, cases: &[Case]) {
    let catalog = source.catalog().await.unwrap();
    let mut faults = Vec::new();
    for (index, column_type) in types(cases).iter().enumerate() {
        let table = catalog.find(&format!("t{index}")).unwrap();
        let flat = read_all(source, table).await;
        let families = rows_of(source, &families_of(table)).await;
        assert_eq!(flat.len(), families.len(), "{column_type}");
        for flat in &flat {
            let line = &flat[0];
            let family = families.iter().find(|row| row[0] == *line).unwrap();
            let child = only_row(&family[2]);
            let places = [
                ("the parent", &family[1]),
                ("the child", &child[1]),
                ("the child's child", &only_row(&child[3])[1]),
                ("the child's joined parent", &child[2]),
            ];
            for (place, value) in places {
                if *value != flat[1] {
                    let (value, flat) = (shown(value), shown(&flat[1]));
                    faults.push(format!(
                        "{column_type}, line {}: {place} has {value}, alone it is {flat}",
                        shown(line)
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn only_row(children: &Value) -> &[Value] {
    match children {
        Value::List(rows) => match rows.as_slice() {
            [Value::List(row)] => row,
            rows => panic!("{} rows", rows.len()),
        },
        other => panic!("{other:?}"),
    }
}

/// A scan of a table of cases, each row with itself as its child, and in that again.
fn families_of(table: &Table) -> Scan {
    let on = |join| Match {
        join,
        ours: "line".into(),
        theirs: "line".into(),
    };
    let embed = |rows| {
        ScanColumn::Embed(Box::new(Embed {
            rows,
            on: vec![on(None)],
            order: Vec::new(),
            most: None,
        }))
    };
    let scan = || Scan {
        key: vec![0],
        ..scan_of(table)
    };
    let mut child = scan();
    child.joins.push(Join {
        alias: "again".into(),
        table: table.name.clone(),
        on: vec![on(None)],
        is_single: true,
    });
    child.columns.push(ScanColumn::Column {
        join: Some(0),
        name: "v".into(),
        data_type: table.column("v").unwrap().data_type.clone(),
    });
    child.columns.push(embed(scan()));
    let mut parent = scan();
    parent.columns.push(embed(child));
    parent
}

/// A value as a line of a file of cases says it.
pub(crate) fn shown(value: &Value) -> String {
    match to_attribute(value, false) {
        Ok(Some(attribute)) => {
            let mut json = String::new();
            write_attribute(&mut json, &attribute);
            json
        }
        Ok(None) => "absent".to_owned(),
        Err(ApplyError::Unfit(why)) => format!("unfit: {why:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// A scan of every column.
pub(crate) fn scan_of(table: &Table) -> Scan {
    Scan::of(
        Relation::Table(table.name.clone()),
        columns_of(&table.columns),
    )
}

/// Columns of the base relation.
pub(crate) fn columns_of(columns: &[dynafold::catalog::Column]) -> Vec<ScanColumn> {
    let columns = columns
        .iter()
        .map(|column| ScanColumn::base(&column.name, column.data_type.clone()));
    columns.collect()
}

/// All rows of a table.
pub(crate) async fn read_all(source: &mut dyn Source, table: &Table) -> Vec<Row> {
    rows_of(source, &scan_of(table)).await
}

/// All rows of a scan.
pub(crate) async fn rows_of(source: &mut dyn Source, scan: &Scan) -> Vec<Row> {
    source.prepare(scan).await.unwrap();
    let chunks: Vec<Chunk> = source.scan(scan).try_collect().await.unwrap();
    chunks.into_iter().flat_map(|chunk| chunk.rows).collect()
}

/// Reads every readable relation in full. Returns rows and the values that are unfit.
pub(crate) async fn read_everything(source: &mut dyn Source, catalog: &Catalog) -> (usize, usize) {
    let (mut rows, mut unfit) = (0, 0);
    for table in catalog.tables.iter().filter(|table| table.readable) {
        let read = read_all(source, table).await;
        let from = Relation::Table(table.name.clone());
        let counted = source.count(&from).await.unwrap();
        assert_eq!(
            u64::try_from(read.len()).unwrap(),
            counted,
            "{}",
            table.name
        );
        rows += read.len();
        let values = read.iter().flat_map(|row| row.iter());
        unfit += values.filter(|v| shown(v).starts_with("unfit")).count();
    }
    (rows, unfit)
}
