//! Reads a mapping file and holds it against a catalog, as several commands do.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::format::{counted, one_line};
use super::output::{Output, colored};
use crate::catalog::Catalog;
use crate::claim::{Claim, ClaimKind};
use crate::diagnostic::{Code, Diagnostic, Severity, render, to_json};
use crate::load::KeyCheck;
use crate::mapping::model::Model;
use crate::mapping::{Described, Outline, Proofs, Raw, Resolution, Spanned, outline, resolve};
use crate::source::{Source, SourceError};
use crate::sql::{Limit, Query, Sql, Unread};

/// A mapping file, checked as far as it goes.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// What it takes from the environment, by the names of the variables.
    pub(super) variables: Vec<(String, String)>,
    pub(super) model: Option<Model>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The warnings that the mapping accepts.
    pub(super) accepted: Vec<Diagnostic>,
    /// What was shown of the mapping, if it has no errors.
    pub(super) proofs: Option<Proofs>,
    /// Access patterns with SQL, where it stands, and whether a doubt about it is accepted.
    pub(super) answers: Vec<(String, Range<usize>, bool)>,
    /// What the catalog says of itself: it may explain a fault.
    pub(super) notices: Vec<String>,
}

impl Checked {
    /// How many errors and warnings there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        let of = |severity| {
            let all = self.diagnostics.iter();
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
        match self.accepted.len() {
            0 => summary,
            accepted => format!("{summary}, {accepted} accepted"),
        }
    }

    /// The diagnostics of one severity or worse, for people.
    pub(super) fn rendered(&self, least: Severity, color: bool) -> String {
        let wanted: Vec<Diagnostic> = self
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity() <= least)
            .cloned()
            .collect();
        let path = self.path.display().to_string();
        colored(&render(&one_line(&path), &self.text, &wanted, color))
    }

    /// How shared keys are found: not at all where it is proved from the schema that there are none, else
    /// `otherwise`.
    pub(super) fn key_check(&self, otherwise: KeyCheck) -> KeyCheck {
        match &self.proofs {
            Some(proofs) if proofs.keys_differ() => KeyCheck::Proved,
            _ => otherwise,
        }
    }

    /// What is claimed of the item types that each access pattern finds.
    pub(super) fn finds(&self) -> Vec<Claim> {
        let claims = self.proofs.iter();
        let claims = claims.flat_map(|proofs| proofs.of(ClaimKind::PatternFinds));
        claims.cloned().collect()
    }

    /// The model, or the faults on stderr and a failure.
    pub(super) fn into_model(self, output: &Output) -> Result<Model, Failure> {
        if self.model.is_none() {
            output.warnings(&self.notices);
            output.note(&self.rendered(Severity::Error, output.color_stderr()));
            let path = self.path.display().to_string();
            return Err(Failure {
                diagnostics: Some(Box::new(to_json(&path, &self.text, &self.diagnostics))),
                ..Failure::failed(self.summary())
                    .with_code("mapping")
                    .with_help("`dynafold check` shows the warnings too")
            });
        }
        self.model.ok_or_else(Failure::silent)
    }
}

/// Reads a mapping file.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let failure = Failure::failed(format!("cannot read the mapping `{}`", path.display()));
        failure.with_code("mapping").with_cause(&error).with_help(
            "name a file that can be read; `dynafold init --source URL` writes a starter mapping",
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

    /// Shows its errors.
    pub(super) fn tell(&self, path: &Path, output: &Output) {
        if !self.errors.is_empty() {
            let name = one_line(&path.display().to_string());
            let color = output.color_stderr();
            output.note(&colored(&render(&name, &self.text, &self.errors, color)));
        }
    }
}

/// Checks a mapping against a catalog; with a source, its queries and conditions too.
pub(super) async fn check(
    path: &Path,
    catalog: &Catalog,
    mut source: Option<&mut (dyn Source + 'static)>,
) -> Result<Checked, Failure> {
    let text = read(path)?;
    let (raw, faults) = Raw::read(&text, &|name| std::env::var(name).ok());
    let Some(raw) = raw else {
        return Ok(Checked {
            path: path.to_owned(),
            text,
            diagnostics: faults,
            ..Checked::default()
        });
    };
    let variables = raw.variables();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let variables = variables.collect();
    let answers = raw.answers().map(|(name, sql)| {
        let accepted = raw.accepts(Code::UnprovedAnswer, sql.span.start);
        (name.to_owned(), sql.span.clone(), accepted)
    });
    let answers = answers.collect();
    let mut described = Described::new();
    if let Some(source) = source.as_deref_mut() {
        for sql in raw.queries() {
            let columns = match source.describe(&sql.value).await {
                Ok(columns) => Ok(columns),
                Err(error) => Err(reason(error)?),
            };
            described.insert(sql.value.clone(), columns);
        }
    }
    let Resolution {
        mut model,
        mut diagnostics,
        accepted,
        proofs,
        conditions,
        passes,
    } = resolve(&raw, faults, catalog, &described);
    if let Some(source) = source {
        for condition in conditions {
            if let Err(error) = source.prepare(&condition.value).await {
                let message = format!("the source refuses this condition: {}", reason(error)?);
                let fault = Diagnostic::new(Code::Sql, condition.span, message);
                diagnostics.push(fault.with_help(
                    "write it as it stands behind WHERE in the source's SQL; texts stand in single quotes",
                ));
                model = None;
            }
        }
        // What is joined and embedded is one statement; the parts alone may all be well.
        let whole = model.iter().flat_map(|model| &model.passes).zip(passes);
        let mut refused = false;
        for (pass, span) in whole {
            if let Err(error) = source.prepare(&pass.scan).await {
                let message = format!("the source refuses to read `{}` like this", pass.name);
                let fault = Diagnostic::new(Code::Sql, span, message);
                diagnostics.push(fault.with_help(reason(error)?));
                refused = true;
            }
        }
        for (_, sql) in raw.answers() {
            if let Some(message) = refused_sql(sql, catalog, source).await? {
                let fault = Diagnostic::new(Code::Sql, sql.span.clone(), message);
                diagnostics.push(fault.with_help(
                    "write it as the source's own client would ask, with parameters as `:name`: it is sent as it stands",
                ));
                refused = true;
            }
        }
        if refused {
            model = None;
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    }
    Ok(Checked {
        path: path.to_owned(),
        text,
        variables,
        proofs: proofs.filter(|_| model.is_some()),
        model,
        diagnostics,
        accepted,
        answers,
        notices: catalog.notices.clone(),
    })
}

/// Why the SQL of an access pattern is no query, or the source refuses it; nothing is read. Who only cannot read it
/// leaves it to the source.
async fn refused_sql(
    sql: &Spanned<String>,
    catalog: &Catalog,
    source: &mut dyn Source,
) -> Result<Option<String>, Failure> {
    let (written, rows) = match Query::read(&sql.value, Some(catalog.dbms)) {
        Ok(query) => (query.sql, vec![query.limit, query.offset]),
        Err(why @ (Unread::NoQuery | Unread::Writes(_) | Unread::Several)) => {
            return Ok(Some(format!("its `sql` {why}")));
        }
        Err(Unread::Syntax(_)) => match Sql::read(&sql.value, Some(catalog.dbms)) {
            Ok(written) => (written, Vec::new()),
            Err(_) => return Ok(None),
        },
        Err(_) => return Ok(None),
    };
    // MySQL takes no NULL in a LIMIT, and a function may take one number and no NULL.
    let is_rows = |name: &str| {
        rows.iter()
            .any(|rows| matches!(rows, Limit::Parameter(own) if own == name))
    };
    let nulls = |name: &str| Some(if is_rows(name) { "1" } else { "NULL" }.to_owned());
    let numbers = |_: &str| Some("1".to_owned());
    let mut refused = None;
    for filled in [written.fill(&nulls), written.fill(&numbers)] {
        match source.describe_answer(&filled).await {
            Ok(_) => return Ok(None),
            Err(error) => {
                let why = reason(error)?;
                refused.get_or_insert(why);
            }
        }
    }
    Ok(refused.map(|why| format!("the source refuses this query: {why}")))
}

/// Why the source refuses a statement; a source that went away is a failure of its own.
fn reason(error: SourceError) -> Result<String, Failure> {
    match error {
        SourceError::Query { cause, .. } => Ok(match cause.as_database_error() {
            Some(error) => error.message().to_owned(),
            None => cause.to_string(),
        }),
        SourceError::Permission { ref help, .. } => Ok(format!("{error}: {help}")),
        error => Err(error.into()),
    }
}
