//! The rows and items that a load is about.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::job::MigrateJob;
use crate::cli::failure::Failure;
use crate::cli::selection;
use crate::load::{RunSelection, SelectedRows};
use crate::mapping::model::{ItemType, Model};
use crate::value::quote;

/// The rows and items that a run is about.
pub(super) fn of(job: &MigrateJob, model: &Model) -> Result<RunSelection, Failure> {
    Ok(RunSelection {
        partition: selection::partition(job.arguments.partition.as_deref(), &model.table)?,
        rows: (job.arguments.retry_rejects.as_deref())
            .map(|path| rows(path, model).map(Arc::new))
            .transpose()?,
    })
}

#[derive(Deserialize)]
struct Line {
    item_type: String,
    row: Box<RawValue>,
}

fn rows(path: &Path, model: &Model) -> Result<SelectedRows, Failure> {
    let shown = path.display();
    let unread = |error: &std::io::Error| {
        Failure::usage(format!("cannot read the rejects file {shown}")).with_cause(error)
    };
    let file = std::fs::File::open(path).map_err(|error| unread(&error))?;
    let mut rows = HashSet::new();
    let names = model.item_types.iter().map(|one| &*one.name);
    for (number, line) in (1_u64..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(|error| unread(&error))?;
        let Line { item_type, row } = serde_json::from_str(&line).map_err(|error| {
            Failure::usage(format!("{shown}, line {number}, is not a reject"))
                .with_cause(&error)
                .with_help("use a file that `migrate --rejects` has written")
        })?;
        let Some(known) = model.item_type(&item_type) else {
            let of = format!("{shown}, line {number}: the mapping");
            return Err(Failure::unknown((&of, "item type"), &item_type, names));
        };
        let unidentified = if known.is_keyless() {
            Some(("rows", "their source has no key"))
        } else if key_has_null(known, row.get()) {
            Some(("row", "its key contains NULL"))
        } else {
            None
        };
        if let Some((what, why)) = unidentified {
            let message = format!(
                "{shown}, line {number}: the {what} of {item_type} cannot be identified, because {why}"
            );
            return Err(Failure::usage(message).with_help(format!(
                "load all rows of the item type: --items {item_type} --changes-only; and the other rows from a copy of the file without the lines of {item_type}"
            )));
        }
        let row = whole_row_key(known, row.get());
        rows.insert((Arc::<str>::from(item_type), row));
    }
    Ok(rows.into_iter().collect())
}

/// Whether a row key contains NULL: several rows may have it, whatever their source says of the key.
fn key_has_null(item_type: &ItemType, row: &str) -> bool {
    let values: HashMap<String, &RawValue> = serde_json::from_str(row).unwrap_or_default();
    let mut own = item_type.row_key.iter().take(item_type.key_columns());
    own.any(|(name, _)| {
        values
            .get(&**name)
            .is_some_and(|value| value.get() == "null")
    })
}

/// A row key without the positions of elements, which come last: the whole row is loaded again.
fn whole_row_key(item_type: &ItemType, row: &str) -> String {
    let position = item_type.row_key.get(item_type.key_columns());
    let end = position.and_then(|(name, _)| {
        let mut text = String::from(",");
        quote(&mut text, name);
        text.push(':');
        row.find(&text)
    });
    match end {
        Some(end) => format!("{}}}", row.get(..end).unwrap_or(row)),
        None => row.to_owned(),
    }
}
