//! Reads a mapping file and holds it against a catalog, as several commands do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::catalog::{self, CatalogOrigin};
use super::failure::Failure;
use super::format::{counted, one_line};
use super::output::{OutputStreams, colored};
use crate::catalog::Catalog;
use crate::check::{self, Checked};
use crate::diagnostic::{Code, Diagnostic, Severity, render, to_json};
use crate::load::state::RunIdentity;
use crate::mapping::model::Model;
use crate::mapping::{Outline, Raw, outline};
use crate::source::Source;

/// A mapping file, checked.
pub(super) struct MappingFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) checked: Checked,
    /// What the catalog says of itself: it may explain a fault.
    pub(super) notices: Vec<String>,
}

impl MappingFile {
    /// How many errors and warnings there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        let of = |severity| {
            let all = self.checked.diagnostics.iter();
            all.filter(|diagnostic| diagnostic.severity() == severity)
                .count()
        };
        (of(Severity::Error), of(Severity::Warning))
    }

    /// The summary line of the diagnostics.
    pub(super) fn summary(&self) -> String {
        let path = self.path.display();
        let (errors, warnings) = self.counts();
        let warned = counted(warnings, "warning");
        let summary = match (errors, warnings) {
            (0, 0) => format!("{path}: no errors, no warnings"),
            (0, _) => format!("{path}: no errors, {warned}"),
            (_, 0) => format!("{path}: {}", counted(errors, "error")),
            _ => format!("{path}: {}, {warned}", counted(errors, "error")),
        };
        match self.checked.accepted.len() {
            0 => summary,
            accepted => format!("{summary}, {accepted} accepted"),
        }
    }

    /// The diagnostics of one severity or worse, for people.
    pub(super) fn rendered(&self, least: Severity, color: bool) -> String {
        let wanted: Vec<Diagnostic> = self
            .checked
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity() <= least)
            .cloned()
            .collect();
        let path = self.path.display().to_string();
        colored(&render(&one_line(&path), &self.text, &wanted, color))
    }

    /// The mapping as it is written.
    pub(super) fn written(&self) -> WrittenMapping {
        WrittenMapping {
            path: self.path.clone(),
            text: self.text.clone(),
            variables: self.checked.variables.clone(),
        }
    }

    /// The model, and on stderr what the user may not read of it; or the faults and a failure.
    pub(super) fn into_model(self, output: &OutputStreams) -> Result<Model, Failure> {
        if self.checked.model.is_none() {
            output.warnings(&self.notices);
            output.note(&self.rendered(Severity::Error, output.color_stderr));
            let path = self.path.display().to_string();
            let (_, warnings) = self.counts();
            let help = if warnings == 0 {
                "correct the mapping, and start the same command again"
            } else {
                "`dynafold check` shows the warnings too"
            };
            return Err(Failure {
                diagnostics: Some(Box::new(to_json(
                    &path,
                    &self.text,
                    &self.checked.diagnostics,
                ))),
                ..Failure::failed(self.summary())
                    .with_code("mapping")
                    .with_help(help)
            });
        }
        // Of these, no later report tells: the items lack what cannot be read, and a comparison does not miss it.
        let is_hidden =
            |warning: &&Diagnostic| matches!(warning.code, Code::HiddenColumns | Code::HiddenRows);
        for warning in self.checked.diagnostics.iter().filter(is_hidden) {
            let help = warning.help.as_ref();
            let help = help.map_or_else(String::new, |help| format!("; {help}"));
            output.warning(&format!("{}{help}", warning.message));
        }
        self.checked.model.ok_or_else(Failure::silent)
    }
}

/// A mapping as it is written, and what it takes from the environment, by the names of the variables.
pub(super) struct WrittenMapping {
    path: PathBuf,
    pub(super) text: String,
    variables: Vec<(String, String)>,
}

impl WrittenMapping {
    /// A hash of what it takes from the environment; `None`: nothing. `key`: what tells the key of `pseudonym`.
    pub(super) fn environment(&self, key: Option<&String>) -> Option<String> {
        let takes = !self.variables.is_empty() || key.is_some();
        takes.then(|| hash(format!("{:?}{key:?}", self.variables).as_bytes()))
    }

    /// What tells it from another.
    pub(super) fn hash(&self) -> String {
        hash(format!("{:?}{}", self.variables, self.text).as_bytes())
    }

    /// The facts by which a run of it is told from one of another.
    pub(super) fn identity(&self) -> RunIdentity {
        let shown = self.path.display().to_string();
        let identity = RunIdentity::new().with("the mapping", hash(self.text.as_bytes()), shown);
        if self.variables.is_empty() {
            return identity;
        }
        let names = self.variables.iter().map(|(name, _)| name.as_str());
        let names = names.collect::<BTreeSet<_>>().into_iter();
        let shown = names.collect::<Vec<_>>().join(", ");
        let values = hash(format!("{:?}", self.variables).as_bytes());
        identity.with("the environment of the mapping", values, shown)
    }
}

/// A hash for the identity of a run.
pub(super) fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// Reads a mapping file.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let failure = Failure::unread("the mapping ", path, &error).with_code("mapping");
        failure.with_help(
            "name a file that can be read; `dynafold init --source URL` writes a first mapping",
        )
    })
}

/// A mapping as far as it is understood without a schema.
pub(super) struct Outlined {
    pub(super) outline: Option<Outline>,
    text: String,
    errors: Vec<Diagnostic>,
}

impl Outlined {
    /// Reads and checks it.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = read(path)?;
        let (raw, faults) = Raw::read(&text, &|name| std::env::var(name).ok());
        let (outline, mut errors) = match raw {
            Some(raw) => {
                let mut outline = outline(&raw, faults);
                let faults = std::mem::take(&mut outline.diagnostics);
                (Some(outline), faults)
            }
            None => (None, faults),
        };
        errors.retain(|fault| fault.severity() == Severity::Error);
        Ok(Self {
            outline: outline.filter(|_| errors.is_empty()),
            text,
            errors,
        })
    }

    pub(super) fn print_errors(&self, path: &Path, output: &OutputStreams) {
        if !self.errors.is_empty() {
            let name = one_line(&path.display().to_string());
            let color = output.color_stderr;
            output.note(&colored(&render(&name, &self.text, &self.errors, color)));
        }
    }
}

/// A mapping of which no schema is known; its faults are shown where there is an output.
pub(super) fn outlined(path: &Path, output: Option<&OutputStreams>) -> Result<Outline, Failure> {
    let found = Outlined::read(path).map_err(|failure| {
        failure.with_help("give the path of the mapping that the table was loaded with")
    })?;
    if let Some(output) = output {
        found.print_errors(path, output);
    }
    found.outline.ok_or_else(|| {
        Failure::failed(format!("the mapping `{}` has errors", path.display()))
            .with_help("`dynafold check` shows all of them")
    })
}

/// Opens the source, reads its catalog, and checks a mapping file against both.
pub(super) async fn open(
    url: &str,
    path: &Path,
) -> Result<(Box<dyn Source>, Catalog, MappingFile), Failure> {
    let (mut source, catalog) = catalog::read(url).await?;
    let file = check(path, &catalog, Some(source.as_mut())).await?;
    Ok((source, catalog, file))
}

/// The same, or with a catalog from a file and without a source.
pub(super) async fn open_any(
    origin: &CatalogOrigin,
    path: &Path,
) -> Result<(Option<Box<dyn Source>>, Catalog, MappingFile), Failure> {
    let (mut source, catalog) = origin.read().await?;
    let file = check(path, &catalog, source.as_deref_mut()).await?;
    Ok((source, catalog, file))
}

/// Checks a mapping file against a catalog; with a source, its queries and conditions too.
pub(super) async fn check(
    path: &Path,
    catalog: &Catalog,
    source: Option<&mut (dyn Source + 'static)>,
) -> Result<MappingFile, Failure> {
    check_text(path, read(path)?, catalog, source).await
}

/// Checks the text of a mapping. `path`: what messages call it.
pub(super) async fn check_text(
    path: &Path,
    text: String,
    catalog: &Catalog,
    source: Option<&mut (dyn Source + 'static)>,
) -> Result<MappingFile, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let checked = check::check(&text, &variable, catalog, source).await?;
    Ok(MappingFile {
        path: path.to_owned(),
        text,
        checked,
        notices: catalog.notices.clone(),
    })
}
