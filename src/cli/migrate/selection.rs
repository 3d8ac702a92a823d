//! What a run is about: `--items`, `--partition`, `--retry-rejects`.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cli::args::Migrate;
use crate::cli::failure::Failure;
use crate::diagnostic::nearest;
use crate::item::Attribute;
use crate::load::Selection;
use crate::mapping::model::{KeyType, Model};
use crate::value::Number;

/// Leaves out of a mapping the item types that are not named, if any are.
pub(super) fn item_types(mut model: Model, names: &[String]) -> Result<Model, Failure> {
    if names.is_empty() {
        return Ok(model);
    }
    for name in names {
        let mut all = model.item_types.iter().map(|item| &*item.name);
        if !all.clone().any(|other| other == name) {
            let near = nearest(name, all.clone());
            let known: Vec<&str> = all.by_ref().collect();
            let help = near.map_or_else(
                || format!("item types are {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("the mapping has no item type `{name}`");
            return Err(Failure::usage(message).with_help(help));
        }
    }
    let wanted = |index: &usize| {
        let item_type = model.item_types.get(*index);
        item_type.is_some_and(|item| names.iter().any(|name| *name == *item.name))
    };
    let passes = model.passes.iter().map(|pass| {
        let mut pass = pass.clone();
        pass.item_types.retain(wanted);
        pass
    });
    // Passes keep their places, since item types name them by these.
    model.passes = passes.collect();
    Ok(model)
}

/// The rows and items that a run is about.
pub(super) fn of(arguments: &Migrate, model: &Model) -> Result<Selection, Failure> {
    let partition = arguments.partition.as_deref();
    Ok(Selection {
        partition: partition.map(|text| value(text, model)).transpose()?,
        rows: arguments.retry_rejects.as_deref().map(rows).transpose()?,
    })
}

fn value(text: &str, model: &Model) -> Result<Attribute, Failure> {
    let key = &model.table.partition;
    match key.key_type {
        KeyType::S => Ok(Attribute::S(text.to_owned())),
        KeyType::N => Number::parse(text).map(Attribute::N).map_err(|error| {
            Failure::usage(format!("--partition {text}: {error}"))
                .with_help(format!("the partition key `{}` is a number", key.name))
        }),
        KeyType::B => Err(Failure::usage(format!(
            "--partition cannot name a value of `{}`, which is binary",
            key.name
        ))),
    }
}

#[derive(Deserialize)]
struct Line {
    item_type: String,
    row: Box<RawValue>,
}

fn rows(path: &Path) -> Result<HashSet<(Arc<str>, String)>, Failure> {
    let shown = path.display();
    let unread = |error: &std::io::Error| {
        Failure::usage(format!("cannot read the rejects file {shown}")).with_cause(error)
    };
    let file = std::fs::File::open(path).map_err(|error| unread(&error))?;
    let mut rows = HashSet::new();
    for (number, line) in (1_u64..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(|error| unread(&error))?;
        let Line { item_type, row } = serde_json::from_str(&line).map_err(|error| {
            Failure::usage(format!("{shown}, line {number}, is no reject: {error}"))
                .with_help("it takes a file that `migrate --rejects` has written")
        })?;
        rows.insert((item_type.into(), row.get().to_owned()));
    }
    Ok(rows)
}
