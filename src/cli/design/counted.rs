//! The workload that the source has counted.

use crate::catalog::Catalog;
use crate::cli::failure::Failure;
use crate::cli::format::{counted, seconds};
use crate::cli::output::OutputStreams;
use crate::design::workload::Statement;
use crate::design::{self, CountedWorkload, Counts};
use crate::source::{Activity, Source};

/// Reads it, and says what is to be known of its figures.
pub(super) async fn read(
    source: &mut dyn Source,
    catalog: &Catalog,
    output: &OutputStreams,
) -> Result<Vec<Statement>, Failure> {
    let Activity {
        statements,
        seconds: counted_for,
        writes,
        notices,
    } = source.activity().await?;
    let counts = Counts {
        statements,
        seconds: counted_for,
        writes,
    };
    let CountedWorkload {
        statements,
        left_out,
    } = design::counted(catalog, &counts);
    output.warnings(&notices);
    if statements.is_empty() {
        return Err(
            Failure::failed("the source has counted no statement that uses its tables").with_help(
                "let the application run for a while, or write a workload: --workload FILE",
            ),
        );
    }
    let found = counted(statements.len(), "statement");
    output.note(&match counted_for {
        Some(time) => format!(
            "{found}, counted for {}: rates are means over that time",
            seconds(time)
        ),
        None => {
            format!("{found}; the source does not say when counting began, so they have no rates")
        }
    });
    if left_out > 0 {
        output.note(&format!("{left_out} less frequent statements are left out"));
    }
    Ok(statements)
}
