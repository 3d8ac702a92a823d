//! The hot path of a load, as its workers go it: decoded values in, a batch of requests in
//! BatchWriteItem's JSON out.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dynafold::catalog::{Catalog, Column, DataType, Dbms, Table, TableKind, TableName};
use dynafold::dynamodb::write_item;
use dynafold::item::Folder;
use dynafold::mapping::model::Model;
use dynafold::mapping::template::Context;
use dynafold::mapping::{Described, Raw, resolve};
use dynafold::scan::ScanColumn;
use dynafold::target::{Action, Batch, BatchEntry, BatchLimit, Batcher};
use dynafold::value::{Number, Time, TimeKind, Value, parse_document};

/// The mapping of `scripts/bench`.
const MAPPING: &str = r#"
dynafold: 1
table:
  name: bench
  key: { partition: PK, sort: SK }
items:
  EVENT:
    from: events
    key: { PK: "CUSTOMER#{quantity | pad(6)}", SK: "EVENT#{id | pad(12)}" }
"#;

/// The items of a full batch.
const ROWS: u64 = 25;

fn column(name: &str, data_type: DataType) -> Column {
    Column {
        nullable: false,
        ..Column::new(name.to_owned(), String::new(), data_type)
    }
}

fn catalog() -> Catalog {
    let integer = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    let text = DataType::Text { max_chars: None };
    let columns = vec![
        column("id", integer.clone()),
        column("quantity", integer),
        column(
            "price",
            DataType::Decimal {
                precision: Some(12),
                scale: Some(4),
            },
        ),
        column("code", text.clone()),
        column("note", text),
        column("active", DataType::Boolean),
        column(
            "occurred_at",
            DataType::Timestamp {
                digits: 6,
                zone: true,
            },
        ),
        column("details", DataType::Json),
    ];
    Catalog {
        dbms: Dbms::Postgres,
        version: String::new(),
        database: String::new(),
        search_path: vec!["public".to_owned()],
        own_functions: Vec::new(),
        own_operators: false,
        tables: vec![Table {
            columns,
            primary_key: vec!["id".to_owned()],
            ..Table::new(
                TableName {
                    schema: "public".to_owned(),
                    name: "events".to_owned(),
                },
                TableKind::Table,
            )
        }],
        notices: Vec::new(),
    }
}

fn model() -> Option<Model> {
    let (raw, faults) = Raw::read(MAPPING, &|_| None);
    resolve(&raw?, faults, &catalog(), &Described::new()).model
}

/// The values as a source decodes them, in the order that the mapping's scan asks for.
fn row(model: &Model) -> Option<Vec<Value>> {
    let at = "2020-01-15 06:33:12.123456+00";
    let document = r#"{"size": 41, "tags": ["t3", "t9"], "color": "green", "weight": 12.375}"#;
    let scan = &model.passes.first()?.scan;
    let value = |name: &str| {
        Some(match name {
            "id" => Value::Number(Number::from(1_000_042_i64)),
            "quantity" => Value::Number(Number::from(31_415_i64)),
            "price" => Value::Number(Number::parse("4711.0815").ok()?),
            "code" => Value::Text("C-00271828".into()),
            "note" => Value::Text("Note \"1000042\": 900150983cd24fb0d6963f7d28e17f72 été".into()),
            "active" => Value::Bool(true),
            "occurred_at" => Value::Time(Time::from_sql(at, TimeKind::Instant, 6).ok()?),
            _ => parse_document(document).ok()?,
        })
    };
    let columns = scan.columns.iter();
    columns
        .map(|column| match column {
            ScanColumn::Column { name, .. } => value(name),
            _ => None,
        })
        .collect()
}

fn fold(criterion: &mut Criterion) {
    let prepared = model().and_then(|model| {
        let row = row(&model)?;
        Some((Folder::new(&model, Context::default()), row))
    });
    let Some((folder, row)) = prepared else {
        unreachable!("the mapping fits its catalog");
    };
    let mut group = criterion.benchmark_group("row");
    group.throughput(Throughput::Elements(1));
    group.bench_function("fold", |bencher| {
        bencher.iter(|| folder.fold(0, black_box(&row)));
    });
    group.bench_function("fold and encode", |bencher| {
        bencher.iter(|| {
            let mut json = String::new();
            if let Ok(folded) = folder.fold(0, black_box(&row)) {
                json.reserve(folded.size * 2);
                write_item(&mut json, &folded.item);
            }
            json
        });
    });
    group.throughput(Throughput::Elements(ROWS));
    group.bench_function("fold and batch", |bencher| {
        let mut batcher = Batcher::new(BatchLimit::BATCH_WRITE);
        assert_eq!(
            batch(&folder, &row, &mut batcher).map(|batch| batch.len()),
            usize::try_from(ROWS).ok()
        );
        bencher.iter(|| batch(&folder, black_box(&row), &mut batcher));
    });
    group.finish();
}

/// Folds rows until they fill a batch, with the fingerprints of different keys.
fn batch(folder: &Folder, row: &[Value], batcher: &mut Batcher) -> Option<Batch> {
    let mut full = None;
    for number in 0..u128::from(ROWS) {
        let folded = folder.fold(0, row).ok()?;
        let entry = BatchEntry {
            action: Action::Put,
            size: folded.size,
            units: folded.units,
            item_type: 0,
            fingerprint: folded.fingerprint ^ number,
            partition: folded.partition,
            ..BatchEntry::default()
        };
        full = batcher.push(entry, |out| write_item(out, &folded.item));
    }
    full
}

criterion_group!(benches, fold);
criterion_main!(benches);
