//! Rejects: one JSON line for each row that became no item, which [`super::files`] writes.

use std::borrow::Cow;
use std::path::Path;

use dynafold_dynamodb::{Item, Table, write_item};
use dynafold_mapping::item::Reject;
use dynafold_mapping::model::{ItemType, Model};
use dynafold_relational::value::{Value, quote, write_document};
use serde_json::value::RawValue;

use super::ending::Failure;
use super::feed::RowKey;
use super::files::rejects_failure;
use super::report::RejectNote;
use super::state::head;

/// Rejects that the report names.
pub(crate) const NOTED: usize = 20;

/// A reject with the row it belongs to.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) item_type: usize,
    pub(crate) row: RowKey,
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) attribute: Option<String>,
    /// The item as DynamoDB JSON, as far as it got.
    pub(crate) item: Option<String>,
}

impl Rejected {
    pub(crate) fn new(item_type: usize, row: RowKey, reject: Reject) -> Self {
        Self {
            item_type,
            row,
            code: reject.code,
            message: reject.message,
            help: reject.help,
            attribute: reject.attribute,
            item: reject.item_so_far.as_ref().map(json),
        }
    }
}

/// An item as DynamoDB JSON.
pub(crate) fn json(item: &Item) -> String {
    let mut out = String::new();
    write_item(&mut out, item);
    out
}

/// How every line of a rejects file begins.
pub(super) const BEGINNING: &str = "{\"item_type\":";

/// Takes the rejects of an earlier run away, which would be taken for the coming one's.
///
/// # Errors
///
/// [`Failure`] when the file is there and holds something else, or cannot be removed.
pub fn clear_rejects(path: &Path) -> Result<(), Failure> {
    // A mistyped `--rejects` must not cost the mapping, or a SQLite source.
    let refused = refuse_unless(BEGINNING, "the file is there and holds no rejects", path);
    let cleared = refused.and_then(|()| match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => std::fs::remove_file(path),
        _ => Ok(()),
    });
    cleared.map_err(|error| rejects_failure(path, error))
}

/// Refuses a file that is there, holds something, and does not begin so. Pipes and devices hold
/// nothing that could be lost.
pub(super) fn refuse_unless(beginning: &str, why: &str, path: &Path) -> std::io::Result<()> {
    use std::io::{Error, ErrorKind};
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 => {}
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => return Ok(()),
    }
    if head(path, beginning.len())? == beginning.as_bytes() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::AlreadyExists, why))
}

/// A reject as the report names it.
pub(crate) fn note(model: &Model, reject: &Rejected) -> RejectNote {
    let item_type = model.item_types.get(reject.item_type);
    RejectNote {
        item_type: item_type.map(|t| t.name.to_string()).unwrap_or_default(),
        row: raw(item_type.map_or("null".to_owned(), |t| row_json(t, &reject.row))),
        code: reject.code.clone().into_owned(),
        message: reject.message.clone(),
        help: reject.help.clone(),
        attribute: reject.attribute.clone(),
    }
}

/// Appends the line of a reject.
pub(crate) fn line(out: &mut String, model: &Model, reject: &Rejected) {
    let item_type = model.item_types.get(reject.item_type);
    out.push_str(BEGINNING);
    quote(out, item_type.map_or("", |item_type| &item_type.name));
    out.push_str(",\"row\":");
    out.push_str(&item_type.map_or("null".to_owned(), |t| row_json(t, &reject.row)));
    let mut text = |name: &str, value: Option<&str>| {
        out.push_str(",\"");
        out.push_str(name);
        out.push_str("\":");
        match value {
            Some(value) => quote(out, value),
            None => out.push_str("null"),
        }
    };
    text("code", Some(&reject.code));
    text("message", Some(&reject.message));
    text("help", reject.help.as_deref());
    text("attribute", reject.attribute.as_deref());
    out.push_str(",\"item\":");
    out.push_str(reject.item.as_deref().unwrap_or("null"));
    out.push_str("}\n");
}

/// An item's key as a JSON object: `{"PK":{"S":"USER#7"}}`.
pub(crate) fn key_json(table: &Table, item: &Item) -> String {
    let keys = table.key();
    let attributes = keys.filter_map(|key| Some((key.name.clone(), item.get(&key.name)?.clone())));
    let attributes = attributes.collect();
    json(&Item { attributes })
}

/// A row's key as a JSON object: `{"user_id":7,"day":"2024-05-01"}`.
pub(crate) fn row_json(item_type: &ItemType, row: &[Value]) -> String {
    let mut out = String::from("{");
    for (index, ((name, _), value)) in item_type.row_key.iter().zip(row).enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote(&mut out, name);
        out.push(':');
        out.push_str(&write_document(value));
    }
    out.push('}');
    out
}

/// JSON text that we have written ourselves, for a report.
pub(crate) fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
