//! The same rows give the same items, byte for byte: twice, on any thread, in chunks of any size.

use std::collections::HashMap;
use std::sync::Arc;

use dynafold::catalog::Catalog;
use dynafold::dynamodb::write_item;
use dynafold::item::Folder;
use dynafold::load::LoadOptions;
use dynafold::mapping::model::Model;
use dynafold::mapping::template::{Context, Secret};
use dynafold::mapping::{Described, Raw, resolve};
use dynafold::scan::ScanColumn;
use dynafold::value::{Text, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::tempdir;

use crate::load::{load, options};
use crate::support::faults::{FakeSource, FakeTarget};
use crate::support::values::{texts, values};
use dynafold_testing::model::number;

const MAPPING: &str = r#"
dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, indexes: { GSI1: { partition: shard, sort: order } } }
items:
  SETTING:
    from: personal_settings
    key: { PK: "USER#{user_id | pad(20)}", SK: "SETTING#{service | lower}[#{setting_type | trim}]" }
    columns: [user_id, setting]
    attributes:
      shard: "{service | shard(20)}"
      order: "{user_id | ordered}"
      masked: "{user_id | pseudonym}"
      all: { text: "{setting | string}", list: ["{service | pseudonym}", "{setting_type | upper}", "{setting.a}"] }
  MEMBERS:
    from: personal_settings
    key: { PK: "USER#{user_id | pad(20)}", SK: "MEMBERS#" }
    columns: []
    attributes: { $spread: setting }
"#;

fn model(mapping: &str) -> Model {
    let catalog: Catalog = serde_json::from_str(include_str!(
        "../../crates/mapping/tests/check/catalog.json"
    ))
    .unwrap();
    let (raw, faults) = Raw::read(mapping, &|_| None);
    let resolution = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
    resolution
        .model
        .unwrap_or_else(|| panic!("{:#?}", resolution.diagnostics))
}

fn context() -> Context {
    Context {
        secret: Secret::new(b"key"),
        ..Context::default()
    }
}

/// What a row holds besides its number.
#[derive(Debug, Clone)]
struct Setting {
    service: String,
    kind: Option<String>,
    document: Value,
}

fn settings() -> impl Strategy<Value = Vec<Setting>> {
    let document = vec(("[a-zA-Z_가]{1,3}", values()), 0..4).prop_map(|members| {
        let mut members: Vec<(Text, Value)> = members
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect();
        members.sort_by(|a, b| b.0.cmp(&a.0));
        members.dedup_by(|a, b| a.0 == b.0);
        Value::Map(members)
    });
    let document = prop_oneof![9 => document, 1 => values()];
    let setting = (texts(), prop::option::of(texts()), document);
    vec(
        setting.prop_map(|(service, kind, document)| Setting {
            service,
            kind,
            document,
        }),
        1..40,
    )
}

/// Rows as the model's only pass reads them.
fn rows(model: &Model, settings: &[Setting]) -> Vec<Vec<Value>> {
    let value = |at: usize, setting: &Setting, column: &ScanColumn| match column {
        ScanColumn::Column { name, .. } => match name.as_str() {
            "user_id" => number(i64::try_from(at).unwrap() * 37),
            "service" => Value::Text(setting.service.clone().into()),
            "setting_type" => setting
                .kind
                .clone()
                .map_or(Value::Null, |text| Value::Text(text.into())),
            "setting" => setting.document.clone(),
            other => panic!("the column {other}"),
        },
        other => panic!("{other:?}"),
    };
    let columns = &model.passes[0].scan.columns;
    let row = |(at, setting)| columns.iter().map(|c| value(at, setting, c)).collect();
    settings.iter().enumerate().map(row).collect()
}

/// All that comes of a row: the item as it is sent, or why there is none.
fn folded(folder: &Folder, row: &[Value]) -> Vec<String> {
    let item = |item_type| match folder.fold(item_type, row) {
        Ok(folded) => {
            let mut json = String::new();
            write_item(&mut json, &folded.item);
            format!(
                "{json} {} {} {:x}",
                folded.size, folded.units, folded.fingerprint
            )
        }
        Err(reject) => format!("{reject:?}"),
    };
    vec![item(0), item(1)]
}

/// What is in the table after a load, by the keys' fingerprints, and how many rows were rejected.
async fn loaded(
    model: &Model,
    rows: &[Vec<Value>],
    chunk: usize,
    writers: usize,
) -> (HashMap<u128, String>, u64) {
    let folder = tempdir().unwrap();
    let mut source = FakeSource::default().with(&model.passes[0].scan.from, rows.to_vec());
    source.chunk = Some(chunk);
    let target = Arc::new(FakeTarget::willing());
    let options = LoadOptions {
        writers: Some(writers),
        ..options(folder.path(), None)
    };
    let report = load(source, target.clone(), model.clone(), options).await;
    assert!(report.outcome.is_finished(), "{report:#?}");
    let items = target.items.lock().unwrap().clone();
    (items, report.total.rejected)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_row_gives_the_same_item_twice_and_on_any_thread(settings in settings()) {
        let model = model(MAPPING);
        let rows = rows(&model, &settings);
        let folder = Folder::new(&model, context());
        let expected: Vec<Vec<String>> = rows.iter().map(|row| folded(&folder, row)).collect();
        let fold = |thread: usize| {
            // Every thread in an order of its own, half of them with a fold of their own.
            let own = Folder::new(&model, context());
            let folder = if thread.is_multiple_of(2) { &folder } else { &own };
            let mut all: Vec<(usize, Vec<String>)> = (0..rows.len())
                .map(|at| (at + thread * 7) % rows.len())
                .map(|at| (at, folded(folder, &rows[at])))
                .collect();
            all.sort();
            all.into_iter().map(|(_, folded)| folded).collect::<Vec<_>>()
        };
        let threads = std::thread::scope(|scope| {
            let fold = &fold;
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || fold(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for all in threads {
            prop_assert_eq!(&all, &expected);
        }
    }

    #[test]
    fn a_load_writes_the_same_bytes_in_chunks_of_any_size(settings in settings()) {
        // A load of a test has no key for pseudonyms.
        let model = model(&MAPPING.replace(" | pseudonym", ""));
        let rows = rows(&model, &settings);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .unwrap();
        let expected = runtime.block_on(loaded(&model, &rows, 1, 1));
        for (chunk, writers) in [(3, 1), (7, 4), (256, 2)] {
            prop_assert_eq!(&runtime.block_on(loaded(&model, &rows, chunk, writers)), &expected);
        }
    }
}
