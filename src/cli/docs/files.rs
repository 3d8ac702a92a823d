//! The files that `docs` writes: their formats, where each goes, and whose it is that stands there already.
//!
//! The files are made again and again. One that `docs` wrote is known by its marker and is
//! replaced: written beside, then renamed, so that a reader never sees half of it. Any other is
//! somebody's work and stays unless `--force` is said.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::failure::Failure;
use crate::cli::files::write;
use crate::cli::format::printable;
use crate::cli::output::OutputStreams;
use crate::document::export::ExportFormat;
use crate::target::private::if_there;

/// How much of a file is looked into for a marker.
const BEGINNING: u64 = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum DocsFormat {
    /// The definition document as one self-contained page
    Html,
    /// The definition document for review in a pull request
    Markdown,
    /// The table and what belongs to it as a CloudFormation template
    Cloudformation,
    /// The same as a Terraform configuration
    Terraform,
    /// A NoSQL Workbench data model with the example items
    Workbench,
    /// The IAM policy to migrate, verify and query this table
    IamMigration,
    /// The IAM policy of `migrate --route import:…`
    IamImport,
    /// The IAM policy of `migrate --route bulk:…`
    IamBulk,
    /// The IAM policy of an application that uses the access patterns
    IamApplication,
}

impl DocsFormat {
    /// What is written where nothing is said.
    pub(super) const USUAL: [Self; 2] = [Self::Html, Self::Markdown];

    /// How the file's name goes on after the mapping's stem, and the export that it is: `None` for the definition document.
    fn file(self) -> (&'static str, Option<ExportFormat>) {
        match self {
            Self::Html => ("html", None),
            Self::Markdown => ("md", None),
            Self::Cloudformation => ("cloudformation.yaml", Some(ExportFormat::Cloudformation)),
            Self::Terraform => ("tf", Some(ExportFormat::Terraform)),
            Self::Workbench => ("workbench.json", Some(ExportFormat::Workbench)),
            Self::IamMigration => ("iam-migration.json", Some(ExportFormat::IamMigration)),
            Self::IamImport => ("iam-import.json", Some(ExportFormat::IamImport)),
            Self::IamBulk => ("iam-bulk.json", Some(ExportFormat::IamBulk)),
            Self::IamApplication => ("iam-application.json", Some(ExportFormat::IamApplication)),
        }
    }

    /// What stands near the beginning of each file of this format, so that it is known again.
    pub(super) fn marker(self) -> &'static str {
        match (self, self.export()) {
            (_, Some(export)) => export.marker(),
            (Self::Markdown, _) => crate::document::MARKDOWN_MARKER,
            _ => crate::document::HTML_MARKER,
        }
    }

    /// The export that it is; `None` for the definition document.
    pub(super) fn export(self) -> Option<ExportFormat> {
        self.file().1
    }
}

/// The place of a text that goes to standard output.
const STDOUT: &str = "-";

/// Where each format goes. Says so now if one of them must not be written.
pub(super) fn places(
    formats: &[DocsFormat],
    mapping: &Path,
    output: Option<&Path>,
    force: bool,
) -> Result<Vec<(DocsFormat, PathBuf)>, Failure> {
    let to_stdout = output == Some(Path::new(STDOUT));
    let named = |format: &DocsFormat| {
        let mut name = OsString::from(mapping.file_stem().unwrap_or_default());
        name.push(".");
        name.push(format.file().0);
        (*format, output.unwrap_or(Path::new("")).join(name))
    };
    let places: Vec<(DocsFormat, PathBuf)> = match (formats, output) {
        ([_, _, ..], Some(path)) if to_stdout || path.is_file() => {
            let message = if to_stdout {
                "only one format can go to standard output".to_owned()
            } else {
                let file = path.display();
                format!("`{file}` is a file, and several files are to be written")
            };
            return Err(
                Failure::usage(message).with_help("use --as once, or name a folder with --output")
            );
        }
        ([only], Some(path)) if to_stdout || !is_folder(path) => vec![(*only, path.to_owned())],
        _ => formats.iter().map(named).collect(),
    };
    for (format, place) in places.iter().filter(|_| !force && !to_stdout) {
        refuse_foreign(place, *format)?;
    }
    Ok(places)
}

/// Whether a path is a folder, or says that it is to be one.
fn is_folder(path: &Path) -> bool {
    let text = path.as_os_str().to_string_lossy();
    path.is_dir() || text.ends_with(std::path::is_separator)
}

/// Refuses a file that somebody else wrote. Pipes and devices hold nothing that could be lost.
fn refuse_foreign(path: &Path, format: DocsFormat) -> Result<(), Failure> {
    let unreadable = |error: io::Error| {
        Failure::unread("", path, &error)
            .with_help("it exists already; name another place with --output")
    };
    match if_there(std::fs::metadata(path)).map_err(unreadable)? {
        Some(metadata) if metadata.is_file() => {}
        Some(metadata) if metadata.is_dir() => {
            let message = format!("`{}` is a folder", path.display());
            return Err(Failure::failed(message).with_help("name another place with --output"));
        }
        _ => return Ok(()),
    }
    let mut beginning = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(BEGINNING)
        .read_to_end(&mut beginning)
        .map_err(unreadable)?;
    if String::from_utf8_lossy(&beginning).contains(format.marker()) {
        return Ok(());
    }
    let message = format!(
        "`{}` exists already and was not written by `docs`",
        path.display()
    );
    Err(Failure::usage(message)
        .with_help("use --force to overwrite it, or name another place with --output"))
}

/// Puts a text where it belongs.
pub(super) fn put(place: &Path, text: &str, output: &OutputStreams) -> Result<(), Failure> {
    let text = &*printable(text);
    if place == Path::new(STDOUT) {
        return output.text(text);
    }
    write(place, text)?;
    output.note(&format!("wrote {}", place.display()));
    Ok(())
}
