//! Mapping files: whatever the text, reading it, holding it against a catalog and showing its faults does not panic,
//! every place lies inside the file, and a mapping without faults folds rows.

use std::sync::LazyLock;

use dynafold::catalog::{Catalog, DataType};
use dynafold::diagnostic::{Diagnostic, Severity, render, to_json};
use dynafold::item::{ExplodedElements, Folder};
use dynafold::mapping::model::Model;
use dynafold::mapping::template::{Context, Secret};
use dynafold::mapping::{Described, Raw, Resolution, resolve};
use dynafold::scan::{Scan, ScanColumn};
use dynafold::value::{Number, Time, TimeKind, Value, parse_document};

/// A schema with a cycle of foreign keys, keys of two columns, and a column of every kind.
static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let catalog = serde_json::from_str(include_str!("catalog.json"));
    catalog.expect("catalog.json is a catalog")
});

pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let resolution = match read(text) {
        Ok(resolution) => resolution,
        Err(faults) => return shown(text, &faults),
    };
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity() == Severity::Error;
    let broken = resolution.diagnostics.iter().any(is_error);
    assert_eq!(resolution.model.is_none(), broken, "{text:?}");
    shown(text, &resolution.diagnostics);
    let places = resolution.passes.iter();
    for place in places.chain(
        resolution
            .conditions
            .iter()
            .map(|condition| &condition.span),
    ) {
        assert!(text.get(place.clone()).is_some(), "{text:?}: {place:?}");
    }
    if let Some(model) = &resolution.model {
        assert_eq!(model.passes.len(), resolution.passes.len(), "{text:?}");
        folds(model);
    }
}

/// Holds a text against the catalog, or gives the faults of one that is not understood at all.
pub(crate) fn read(text: &str) -> Result<Resolution, Vec<Diagnostic>> {
    let variables = |name: &str| (name == "SET").then(|| "value".to_owned());
    let (raw, faults) = Raw::read(text, &variables);
    let Some(raw) = raw else {
        assert!(!faults.is_empty(), "{text:?} is refused without a word");
        return Err(faults);
    };
    // Every second query is understood.
    let mut described = Described::new();
    for (at, query) in raw.queries().enumerate() {
        let columns = match at % 2 {
            0 => Ok(CATALOG.tables[0].columns.clone()),
            _ => Err("refused".to_owned()),
        };
        described.insert(query.value.clone(), columns);
    }
    Ok(resolve(&raw, faults, &CATALOG, &described))
}

/// Shows the diagnostics in every way there is.
fn shown(text: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let others = diagnostic.others.iter().map(|other| &other.span);
        for place in std::iter::once(&diagnostic.span).chain(others) {
            assert!(
                text.get(place.clone()).is_some(),
                "{text:?}: {diagnostic:?}"
            );
        }
    }
    let plain = render("mapping.yaml", text, diagnostics, false);
    assert_eq!(plain.is_empty(), diagnostics.is_empty());
    assert_eq!(
        render("mapping.yaml", text, diagnostics, true).is_empty(),
        plain.is_empty()
    );
    let json = to_json("mapping.yaml", text, diagnostics);
    assert_eq!(json.as_array().map(Vec::len), Some(diagnostics.len()));
}

/// Folds a row of values and a row of NULLs into every item type, twice.
fn folds(model: &Model) {
    let context = Context {
        time_zone: model.time_zone.clone(),
        secret: Secret::new(b"key"),
        ..Context::default()
    };
    let folder = Folder::new(model, context);
    for pass in &model.passes {
        for row in [
            sample(&pass.scan),
            vec![Value::Null; pass.scan.columns.len()],
        ] {
            for item_type in &pass.item_types {
                let mut row = row.clone();
                let mut elements = ExplodedElements::new(&model.item_types[*item_type].explodes);
                loop {
                    match elements.advance(&mut row) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(_) => continue,
                    }
                    let folded = folder.fold(*item_type, &row);
                    assert_eq!(folder.fold(*item_type, &row), folded);
                }
            }
        }
    }
}

/// A row as the source gives it.
fn sample(scan: &Scan) -> Vec<Value> {
    let value = |column: &ScanColumn| match column {
        ScanColumn::Column { data_type, .. } => value_of(data_type),
        ScanColumn::Flag(_) => Value::Bool(true),
        ScanColumn::Embed(embed) => Value::List(vec![Value::List(sample(&embed.rows)); 2]),
        ScanColumn::Slot => Value::Null,
    };
    scan.columns.iter().map(value).collect()
}

fn value_of(data_type: &DataType) -> Value {
    let time = |text: &str, kind| Value::Time(Time::canonical(text.into(), kind));
    let number = || Value::Number(Number::from(31_i64));
    let document = || parse_document(r#"{"a":[{"b":1.5},null],"c":"x"}"#).unwrap_or(Value::Null);
    match data_type {
        DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } => number(),
        DataType::Boolean => Value::Bool(true),
        DataType::Date => time("2026-01-31", TimeKind::Date),
        DataType::Time { .. } => time("14:05:00", TimeKind::TimeOfDay),
        DataType::Timestamp { zone: true, .. } => time("2026-01-31T14:05:00Z", TimeKind::Instant),
        DataType::Timestamp { .. } => time("2026-01-31T14:05:00", TimeKind::Timestamp),
        DataType::Binary { .. } => Value::Bytes(vec![0, 255]),
        DataType::Json => document(),
        DataType::Array { element } => Value::List(vec![value_of(element), Value::Null]),
        DataType::Set { .. } => Value::Set(vec![Value::Text("a".into())]),
        DataType::Composite { fields } => {
            let fields = fields.iter();
            Value::Map(
                fields
                    .map(|(name, t)| (name.as_str().into(), value_of(t)))
                    .collect(),
            )
        }
        DataType::Hstore | DataType::Range { .. } => document(),
        DataType::Uuid => Value::Text("00010203-0405-0607-0809-0a0b0c0d0e0f".into()),
        _ => Value::Text("text".into()),
    }
}
