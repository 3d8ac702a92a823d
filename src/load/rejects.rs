//! The rejects file: one JSON line for each row that became no item.
//!
//! Lines are written as they come, unbuffered, so that a run that is killed leaves them. A line
//! that cannot be written ends the run: a reject that nobody sees would be a lost row.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::ending::Failure;
use super::feed::RowKey;
use super::report::RejectNote;
use crate::item::{Item, Reject, write_item};
use crate::mapping::model::{ItemType, Model};
use crate::private;
use crate::value::{Value, quote, write_document};

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

/// Where the rejects go.
#[derive(Debug)]
pub(crate) struct Rejects {
    path: PathBuf,
    file: Option<File>,
}

impl Rejects {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// Makes the file, if it is not there yet.
    fn open(&mut self) -> Result<&mut File, Failure> {
        let made = match self.file.take() {
            Some(file) => Ok(file),
            None => refuse_other_files(&self.path).and_then(|()| {
                let mut how = private::options();
                how.write(true).create(true).truncate(true).open(&self.path)
            }),
        };
        made.map(|file| self.file.insert(file))
            .map_err(|error| failure(&self.path, error))
    }

    /// Writes a reject's line.
    pub(crate) fn write(&mut self, model: &Model, reject: &Rejected) -> Result<(), Failure> {
        let mut text = String::new();
        line(&mut text, model, reject);
        let written = self.open()?.write_all(text.as_bytes());
        written.map_err(|error| failure(&self.path, error))
    }

    /// Ends the file: its lines are on disk afterwards. Gives its path, where there are any.
    pub(crate) fn close(self) -> (Result<(), Failure>, Option<PathBuf>) {
        let Some(file) = self.file else {
            return (Ok(()), None);
        };
        let synced = match file.sync_all() {
            // Pipes and devices cannot be synced; there is nothing to be lost there.
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
            synced => synced.map_err(|error| failure(&self.path, error)),
        };
        (synced, Some(self.path))
    }
}

/// How every line of a rejects file begins.
pub(super) const BEGINNING: &str = "{\"item_type\":";

/// Takes the rejects of an earlier run away, which would be taken for the coming one's.
///
/// # Errors
///
/// [`Failure`] when the file is there and holds something else, or cannot be removed.
pub fn clear_rejects(path: &Path) -> Result<(), Failure> {
    let cleared = refuse_other_files(path).and_then(|()| match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => std::fs::remove_file(path),
        _ => Ok(()),
    });
    cleared.map_err(|error| failure(path, error))
}

/// Refuses to take the place of a file that is no older rejects file: a mistyped `--rejects` must
/// not cost the mapping, or a SQLite source.
fn refuse_other_files(path: &Path) -> std::io::Result<()> {
    refuse_unless(BEGINNING, "the file is there and holds no rejects", path)
}

/// Refuses a file that is there, holds something, and does not begin so. Pipes and devices hold
/// nothing that could be lost.
pub(super) fn refuse_unless(beginning: &str, why: &str, path: &Path) -> std::io::Result<()> {
    use std::io::{Error, ErrorKind, Read as _};
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 => {}
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => return Ok(()),
    }
    let mut head = Vec::new();
    let wanted = u64::try_from(beginning.len()).unwrap_or(u64::MAX);
    File::open(path)?.take(wanted).read_to_end(&mut head)?;
    if head == beginning.as_bytes() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::AlreadyExists, why))
}

/// The rejects file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the rejects file {}", path.display())]
struct RejectsError {
    path: PathBuf,
    #[source]
    cause: std::io::Error,
}

fn failure(path: &Path, cause: std::io::Error) -> Failure {
    let error = RejectsError {
        path: path.to_owned(),
        cause,
    };
    Failure::new(
        "rejects-file",
        &error,
        Some(
            "make room or name another file with --rejects; without it a rejected row would be lost",
        ),
    )
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
pub(super) fn line(out: &mut String, model: &Model, reject: &Rejected) {
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
