//! Checks a mapping: against a schema, and against the source that has it.
//!
//! What the source must be asked is asked before a model is handed out: what columns its queries have, and whether it
//! takes every condition and statement. No row is read. A model that [`check`] made with a source is as good as one
//! that the command line loads.

use std::ops::Range;

use dynafold_mapping::claim::{Claim, ClaimKind};
use dynafold_mapping::diagnostic::{Code, Diagnostic};
use dynafold_mapping::model::Model;
use dynafold_mapping::template::Context;
use dynafold_mapping::{Described, Proofs, Raw, Resolution, Spanned, resolve};
use dynafold_relational::catalog::{Catalog, Dbms};
use dynafold_source::{Source, SourceError, database_message, values_of_no_rows};
use dynafold_sql::{RowLimit, Sql, SqlQuery, UnreadableSql};

use crate::load::{Cancel, Failure, KeyCheck};
use crate::verify::patterns::{DrawContext, Proving, unprovable_patterns};

/// A mapping, checked as far as it goes.
#[derive(Debug, Default)]
pub struct Checked {
    /// What it takes from the environment: names of variables and their values.
    pub variables: Vec<(String, String)>,
    /// What can be loaded, if the mapping has no errors.
    pub model: Option<Model>,
    /// Errors and warnings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The warnings that the mapping accepts.
    pub accepted: Vec<Diagnostic>,
    /// What was shown of the mapping, if it has no errors.
    pub proofs: Option<Proofs>,
    pattern_sql: Vec<PatternSql>,
}

/// The SQL of an access pattern.
#[derive(Debug)]
struct PatternSql {
    pattern: String,
    /// Its place in the file.
    span: Range<usize>,
    /// Whether the mapping accepts that its answers cannot be proved.
    is_accepted: bool,
}

impl Checked {
    /// How a load finds shared keys: not at all where it is proved from the schema that there are none, else `otherwise`.
    pub fn key_check(&self, otherwise: KeyCheck) -> KeyCheck {
        match &self.proofs {
            Some(proofs) if proofs.keys_differ() => KeyCheck::Proved,
            _ => otherwise,
        }
    }

    /// What is claimed of the item types that each access pattern finds.
    pub fn finds(&self) -> Vec<Claim> {
        let proofs = self.proofs.iter();
        let claims = proofs.flat_map(|proofs| proofs.of(ClaimKind::PatternFinds));
        claims.cloned().collect()
    }

    /// Adds a warning for each access pattern whose answers cannot be compared with those of its SQL.
    ///
    /// # Errors
    ///
    /// When the source cannot be asked.
    pub async fn warn_of_unprovable_answers(
        &mut self,
        catalog: &Catalog,
        source: &mut dyn Source,
    ) -> Result<(), Failure> {
        let Some(model) = &self.model else {
            return Ok(());
        };
        let cancel = Cancel::default();
        let context = Context {
            time_zone: model.time_zone.clone(),
            ..Context::default()
        };
        let proving = Proving {
            draw_context: DrawContext {
                catalog,
                model,
                context: &context,
            },
            finds: self.finds(),
            names: &[],
            values: 0,
            examples: 0,
            cancel: &cancel,
            progress: &|_, _, _, _| {},
        };
        for (name, why) in unprovable_patterns(&proving, source).await? {
            let Some(sql) = self.pattern_sql.iter().find(|sql| sql.pattern == name) else {
                continue;
            };
            let message = format!("the answers of `{name}` cannot be proved: {why}");
            let warning = Diagnostic::new(Code::UnprovedAnswer, sql.span.clone(), message).with_help(
                "change this if you want `verify --patterns` to prove them; if you need no proof: accept: [unproved-answer]",
            );
            if sql.is_accepted {
                self.accepted.push(warning);
            } else {
                self.diagnostics.push(warning);
            }
        }
        for list in [&mut self.diagnostics, &mut self.accepted] {
            list.sort_by_key(|diagnostic| diagnostic.span.start);
        }
        Ok(())
    }
}

/// Checks the text of a mapping against a catalog; with a source, its queries and conditions too. `variable` gives the
/// value of an environment variable.
///
/// # Errors
///
/// When the source cannot be asked. What it refuses is a diagnostic.
pub async fn check(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    catalog: &Catalog,
    mut source: Option<&mut (dyn Source + 'static)>,
) -> Result<Checked, SourceError> {
    let (raw, faults) = Raw::read(text, variable);
    let Some(raw) = raw else {
        return Ok(Checked {
            diagnostics: faults,
            ..Checked::default()
        });
    };
    let pattern_sql = raw.pattern_sql().map(|(name, sql)| PatternSql {
        pattern: name.to_owned(),
        span: sql.span.clone(),
        is_accepted: raw.accepts(Code::UnprovedAnswer, sql.span.start),
    });
    let described = match source.as_deref_mut() {
        Some(source) => describe_queries(&raw, source).await?,
        None => Described::new(),
    };
    let mut resolution = resolve(&raw, faults, catalog, &described);
    if let Some(source) = source {
        let refusals = refusals(&raw, &resolution, catalog, source).await?;
        if !refusals.is_empty() {
            resolution.model = None;
            resolution.proofs = None;
            resolution.diagnostics.extend(refusals);
            resolution
                .diagnostics
                .sort_by_key(|diagnostic| diagnostic.span.start);
        }
    }
    let variables = raw.variables();
    Ok(Checked {
        variables: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        pattern_sql: pattern_sql.collect(),
        model: resolution.model,
        diagnostics: resolution.diagnostics,
        accepted: resolution.accepted,
        proofs: resolution.proofs,
    })
}

/// What the source refuses of a mapping: conditions, statements that read items, the SQL of access patterns. No row is
/// read.
async fn refusals(
    raw: &Raw,
    resolution: &Resolution,
    catalog: &Catalog,
    source: &mut dyn Source,
) -> Result<Vec<Diagnostic>, SourceError> {
    let mut refusals = Vec::new();
    for condition in &resolution.conditions {
        if let Err(error) = source.prepare(&condition.value).await {
            let message = format!("the source refuses this condition: {}", reason(error)?);
            let fault = Diagnostic::new(Code::Sql, condition.span.clone(), message);
            refusals.push(
                fault.with_help("write it as you would after WHERE, with text in single quotes"),
            );
        }
    }
    // After a refused condition the statements that hold it would only be refused once more.
    let model = resolution.model.as_ref().filter(|_| refusals.is_empty());
    // What is joined and embedded is one statement; the parts alone may all be well.
    let passes = model.iter().flat_map(|model| &model.passes);
    for (pass, span) in passes.zip(&resolution.passes) {
        if let Err(error) = source.prepare(&pass.scan).await {
            let message = format!(
                "the source refuses the statement that reads `{}`",
                pass.name
            );
            let fault = Diagnostic::new(Code::Sql, span.clone(), message);
            refusals.push(fault.with_help(reason(error)?));
            continue;
        }
        // PostgreSQL refuses such a statement as soon as it has another column.
        let asked = values_of_no_rows(source.dialect(), &pass.scan)
            .filter(|_| catalog.dbms != Dbms::Postgres);
        let Some(sql) = asked else { continue };
        let counted = source.numbers(&sql, &pass.scan).await?;
        if counted.iter().flatten().any(|rows| *rows > 0) {
            let message = format!(
                "a subquery in a condition of `{}` has an aggregate of the outer relation's columns only, and all its rows would become one",
                pass.name
            );
            let fault = Diagnostic::new(Code::Sql, span.clone(), message);
            refusals.push(fault.with_help(
                "in the subquery, use `max`, `count` and other aggregates over a column of the subquery's own tables",
            ));
        }
    }
    for (_, sql) in raw.pattern_sql() {
        if let Some(message) = refused_sql(sql, catalog, source).await? {
            let fault = Diagnostic::new(Code::Sql, sql.span.clone(), message);
            refusals.push(fault.with_help(
                "write the SQL as in the database's own client, with parameters as `:name`; it is sent unchanged",
            ));
        }
    }
    Ok(refusals)
}

/// The columns of each query of a mapping, or why the source refuses the query.
///
/// # Errors
///
/// When the source cannot be asked.
pub async fn describe_queries(
    raw: &Raw,
    source: &mut dyn Source,
) -> Result<Described, SourceError> {
    let mut described = Described::new();
    for sql in raw.queries() {
        let columns = match source.describe(&sql.value).await {
            Ok(columns) => Ok(columns),
            Err(error) => Err(reason(error)?),
        };
        described.insert(sql.value.clone(), columns);
    }
    Ok(described)
}

/// Why the SQL of an access pattern is no query, or why the source refuses it. SQL that only our parser cannot read is no
/// fault: the source has the last word.
async fn refused_sql(
    sql: &Spanned<String>,
    catalog: &Catalog,
    source: &mut dyn Source,
) -> Result<Option<String>, SourceError> {
    let (written, rows) = match SqlQuery::read(&sql.value, Some(catalog.dbms)) {
        Ok(query) => (query.sql, vec![query.limit, query.offset]),
        Err(why @ (UnreadableSql::NoQuery | UnreadableSql::Writes(_) | UnreadableSql::Several)) => {
            return Ok(Some(format!("its `sql` {why}")));
        }
        Err(UnreadableSql::Syntax(_)) => match Sql::read(&sql.value, Some(catalog.dbms)) {
            Ok(written) => (written, Vec::new()),
            Err(_) => return Ok(None),
        },
        Err(_) => return Ok(None),
    };
    // MySQL takes no NULL in a LIMIT, and a function may take one number and no NULL.
    let is_rows = |name: &str| {
        rows.iter()
            .any(|rows| matches!(rows, RowLimit::Parameter(own) if own == name))
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

/// Why the source refuses a statement; a source that went away is an error of its own.
fn reason(error: SourceError) -> Result<String, SourceError> {
    match error {
        SourceError::Query { cause, .. } => Ok(database_message(&cause)),
        SourceError::Permission { ref help, .. } => Ok(format!("{error}: {help}")),
        error => Err(error),
    }
}
