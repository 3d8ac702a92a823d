//! Items a line each, to standard output or into a new file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::PreviewFormat;
use crate::cli::failure::Failure;
use crate::cli::format::printable;
use crate::dynamodb::write_item;
use crate::preview::{ItemSink, ItemTypeSample, SampleItem, SurveyedItem};
use crate::target::private;
use crate::value::quote;

/// Makes a file that is not there yet. A mistyped name must not cost the mapping, or a SQLite
/// source; pipes and devices hold nothing that could be lost.
pub(super) fn create_new_file(path: &Path) -> Result<File, Failure> {
    let made = match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => File::options().write(true).open(path),
        // Rows may be private: only the user may read the file.
        _ => private::options().write(true).create_new(true).open(path),
    };
    made.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::failed(format!("the file `{}` exists already", path.display()))
                .with_help("remove it, or name another with --output")
        }
        _ => Failure::unwritten(path, &error),
    })
}

/// Writes items as they come.
pub(super) struct ItemLines {
    out: BufWriter<Box<dyn Write + Send>>,
    format: PreviewFormat,
    line: String,
}

impl ItemLines {
    pub(super) fn new(file: Option<&Path>, format: PreviewFormat) -> Result<Self, Failure> {
        let out: Box<dyn Write + Send> = match file {
            Some(path) => Box::new(create_new_file(path)?),
            None => Box::new(io::stdout()),
        };
        Ok(Self {
            out: BufWriter::with_capacity(64 << 10, out),
            format,
            line: String::new(),
        })
    }
}

impl ItemSink for ItemLines {
    fn item(&mut self, item: &SurveyedItem<'_>) -> io::Result<()> {
        self.line.clear();
        match self.format {
            PreviewFormat::Ndjson => write_line(
                &mut self.line,
                &item.item_type.name,
                &item.row_json(),
                item.size,
                item.units,
                item.json,
            ),
            PreviewFormat::DynamodbJson | PreviewFormat::Table | PreviewFormat::Json => {
                self.line.push_str(item.json);
            }
        }
        self.line.push('\n');
        self.out.write_all(printable(&self.line).as_bytes())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// An item of a sample, without the newline.
pub(super) fn sampled(out: &mut String, sample: &ItemTypeSample, item: &SampleItem) {
    let mut json = String::new();
    write_item(&mut json, &item.item);
    write_line(
        out,
        &sample.item_type,
        item.row.get(),
        item.size,
        item.units,
        &json,
    );
}

fn write_line(out: &mut String, item_type: &str, row: &str, size: usize, units: u64, item: &str) {
    out.push_str("{\"item_type\":");
    quote(out, item_type);
    out.push_str(&format!(
        ",\"row\":{row},\"size\":{size},\"write_units\":{units},\"item\":{item}}}"
    ));
}
