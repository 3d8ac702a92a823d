//! The access patterns of a mapping, as `query` knows them: with a schema or without.

use std::path::Path;

use jiff::Timestamp;

use crate::access::given;
use crate::catalog::Dbms;
use crate::cli::catalog::CatalogOrigin;
use crate::cli::failure::Failure;
use crate::cli::format::shell_word;
use crate::cli::output::OutputStreams;
use crate::cli::{mapping, target};
use crate::dynamodb::Table;
use crate::mapping::model::AccessPattern;
use crate::mapping::template::{Context, Filter};

/// What is asked, and how.
pub(in crate::cli) struct QueryContext {
    pub(in crate::cli) table: Table,
    pub(in crate::cli) time_zone: jiff::tz::TimeZone,
    pub(in crate::cli) patterns: Vec<AccessPattern>,
    /// The product of the schema, if one is named.
    pub(super) dbms: Option<Dbms>,
}

impl QueryContext {
    /// The pattern of a name.
    pub(in crate::cli) fn find(&self, name: &str) -> Result<&AccessPattern, Failure> {
        let mut patterns = self.patterns.iter();
        if let Some(found) = patterns.find(|pattern| &*pattern.name == name) {
            return Ok(found);
        }
        let names = self.patterns.iter().map(|pattern| &*pattern.name);
        Err(Failure::unknown(
            ("the mapping", "access pattern"),
            name,
            names,
        ))
    }

    /// What templates need besides parameters.
    pub(in crate::cli) fn context(
        &self,
        pattern: &AccessPattern,
        now: Option<Timestamp>,
    ) -> Result<Context, Failure> {
        let mut placeholders = pattern.placeholders();
        let masks =
            placeholders.any(|placeholder| placeholder.filters.contains(&Filter::Pseudonym));
        target::context_of(self.time_zone.clone(), masks, now)
    }
}

/// Reads the patterns of a mapping, with the schema if one is named.
pub(super) async fn read(
    path: &Path,
    schema: Option<&CatalogOrigin>,
    output: &OutputStreams,
) -> Result<QueryContext, Failure> {
    let Some(schema) = schema else {
        return outlined(path, Some(output));
    };
    let (_, catalog, file) = mapping::open_any(schema, path).await?;
    let model = file.into_model(output)?;
    Ok(QueryContext {
        table: model.table,
        time_zone: model.time_zone,
        patterns: model.patterns,
        dbms: Some(catalog.dbms),
    })
}

/// Reads them without a schema; faults of the mapping are shown where there is an output.
pub(in crate::cli) fn outlined(
    path: &Path,
    output: Option<&OutputStreams>,
) -> Result<QueryContext, Failure> {
    let outline = mapping::outlined(path, output)?;
    Ok(QueryContext {
        table: outline.table,
        time_zone: outline.time_zone,
        patterns: outline.patterns,
        dbms: None,
    })
}

/// A pattern with its parameters, as it is called in a shell: `name --userId NUMBER`.
pub(in crate::cli) fn synopsis(pattern: &AccessPattern) -> String {
    let parameters = pattern.parameters.iter().map(|parameter| {
        let word = given(&parameter.name, parameter.kind.placeholder());
        match parameter.from_clock {
            Some(_) => format!(" [{word}]"),
            None => format!(" {word}"),
        }
    });
    format!(
        "{}{}",
        shell_word(&pattern.name),
        parameters.collect::<String>()
    )
}

/// The patterns, each with what it is for.
pub(in crate::cli) fn list(query_context: &QueryContext) -> String {
    let mut out = String::new();
    for pattern in &query_context.patterns {
        out.push_str(&format!("  {}\n", synopsis(pattern)));
        if let Some(description) = &pattern.description {
            out.push_str(&format!("      {description}\n"));
        }
    }
    out
}
