//! Rejects: one JSON line for each row that became no item, which [`super::files`] writes.

use std::borrow::Cow;

use dynafold_mapping::item::Reject;
use dynafold_mapping::model::Model;
use dynafold_relational::value::quote;

use super::ordered_lines::OrderedLines;
use super::report::RejectNote;
use super::row::{RowKey, json, raw, row_json};

/// Rejects that the report names.
pub(crate) const MAX_NOTED: usize = 20;

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

/// How every line of a rejects file begins.
pub(super) const LINE_PREFIX: &str = "{\"item_type\":";

/// A reject as the report names it.
pub(crate) fn reject_note(model: &Model, reject: &Rejected) -> RejectNote {
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

/// Appends the line of a reject. By hand: the row and the item are JSON already.
pub(super) fn write_reject_line(out: &mut String, model: &Model, reject: &Rejected) {
    let item_type = model.item_types.get(reject.item_type);
    out.push_str(LINE_PREFIX);
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

/// Rejects that stop a load before its first write. Empty otherwise.
#[derive(Debug, Default)]
pub(super) struct BlockingRejects {
    pub(super) notes: Vec<RejectNote>,
    pub(super) lines: OrderedLines,
}

impl BlockingRejects {
    pub(super) fn write_reject(&mut self, model: &Model, reject: &Rejected) -> std::io::Result<()> {
        if self.notes.len() < MAX_NOTED {
            self.notes.push(reject_note(model, reject));
        }
        let mut text = String::new();
        write_reject_line(&mut text, model, reject);
        self.lines.append(&text)
    }
}
