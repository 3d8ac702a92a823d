//! Rejects: one JSON line for each row that became no item, which [`super::files`] writes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Seek as _, SeekFrom, Write as _};

use dynafold_mapping::item::Reject;
use dynafold_mapping::model::Model;
use dynafold_relational::value::quote;
use tempfile::SpooledTempFile;

use super::count;
use super::report::RejectNote;
use super::row::{RowKey, json, raw, row_json};

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

/// How every line of a rejects file begins.
pub(super) const BEGINNING: &str = "{\"item_type\":";

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

/// Rejected rows of a load that does not begin because of them. Nothing of a load that does.
#[derive(Debug, Default)]
pub(super) struct RefusalRejects {
    pub(super) notes: Vec<RejectNote>,
    pub(super) lines: RejectLines,
}

impl RefusalRejects {
    pub(super) fn write_reject(&mut self, model: &Model, reject: &Rejected) -> std::io::Result<()> {
        if self.notes.len() < NOTED {
            self.notes.push(note(model, reject));
        }
        let mut text = String::new();
        line(&mut text, model, reject);
        self.lines.append(&text)
    }
}

// Lines that blocks of rows leave behind, rejects and archived items, put back into the blocks' order. Blocks
// are folded at the same time and end in any order. What they leave goes to memory first, and to a file
// without a name when it is more than a little.

/// Bytes of lines in memory.
const MEMORY: usize = 1 << 20;

/// The lines of one chunk.
#[derive(Debug)]
pub(super) struct RejectLines {
    /// The block whose turn it is.
    next: u64,
    early: BTreeMap<u64, String>,
    text: SpooledTempFile,
    length: u64,
}

impl Default for RejectLines {
    fn default() -> Self {
        Self {
            next: 0,
            early: BTreeMap::new(),
            text: SpooledTempFile::new(MEMORY),
            length: 0,
        }
    }
}

impl RejectLines {
    /// Takes all that a block leaves behind, be it nothing.
    pub(super) fn put(&mut self, block: u64, lines: String) -> std::io::Result<()> {
        self.early.insert(block, lines);
        while let Some(lines) = self.early.remove(&self.next) {
            self.next += 1;
            self.append(&lines)?;
        }
        Ok(())
    }

    /// Takes a line that belongs to no block: one of an item that the service refused.
    pub(super) fn append(&mut self, lines: &str) -> std::io::Result<()> {
        self.length += count(lines.len());
        self.text.write_all(lines.as_bytes())
    }

    /// All lines, those of blocks whose turn never came too, to be read; `None` without any. They
    /// may be as many as a chunk has rows, and are not held in memory.
    pub(super) fn take(&mut self) -> std::io::Result<Option<SpooledTempFile>> {
        for (_, lines) in std::mem::take(&mut self.early) {
            self.append(&lines)?;
        }
        let Self {
            mut text, length, ..
        } = std::mem::take(self);
        text.seek(SeekFrom::Start(0))?;
        Ok((length > 0).then_some(text))
    }
}
