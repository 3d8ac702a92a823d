//! How a load ends for the user: the exit code, and what there is to say about it.

use crate::cli::failure::Failure;
use crate::cli::output::OutputStreams;
use crate::cli::{Outcome, report};
use crate::load;
use crate::target::TargetErrorKind;

/// The outcome of a report, with what there is to say about it. `would_change`: of a plan. `fresh`: what --fresh does, of a
/// run that can be resumed.
pub(in crate::cli) fn ended(
    report: load::Report,
    would_change: bool,
    fresh: Option<&str>,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let line = report::migration_outcome(&report);
    match report.outcome {
        load::Outcome::Complete | load::Outcome::CompleteWithRejects if !report.balances() => {
            Err(Failure::unbalanced())
        }
        load::Outcome::Complete if would_change => Ok(Outcome::Differs),
        load::Outcome::Complete => Ok(Outcome::Well),
        load::Outcome::CompleteWithRejects => {
            output.warning(&line);
            Ok(Outcome::Differs)
        }
        load::Outcome::Interrupted => {
            output.warning(&line);
            if fresh.is_some() {
                output.note(AGAIN);
            }
            Ok(Outcome::Interrupted)
        }
        load::Outcome::Stopped { .. } => {
            let is_begun = report.resumed || report.total.rows_read > 0;
            let how = fresh.filter(|_| is_begun).map_or_else(
                || "again".to_owned(),
                |does| format!("with `--fresh`, which {does}"),
            );
            Err(Failure::failed(line).with_help(format!(
                "correct the mapping or the rows, and start the same command {how}; --max-rejects N continues past N rejected rows"
            )))
        }
        load::Outcome::Failed(failure) => {
            // Nothing of a table that is gone is done.
            let is_gone = match &*failure {
                load::Failure::Target(error) => error.kind == TargetErrorKind::TableMissing,
                load::Failure::TableReplaced { .. } => true,
                _ => false,
            };
            let mut failure = Failure::from(failure);
            if fresh.is_some() && !is_gone {
                output.note(AGAIN);
                // A source that knows of no state says it otherwise.
                failure.help = failure
                    .help
                    .filter(|help| !help.starts_with("start the same"));
            }
            Err(failure)
        }
    }
}

/// What is said of a run that did not come to its end.
const AGAIN: &str = "start the same command again: it resumes where this run ended";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options::Color;
    use crate::load::{Books, ItemAction, KeysReport, LimitedBy, Report, Traffic, WaitTimes};

    fn report(outcome: load::Outcome, rows_read: u64) -> Report {
        let books = Books {
            rows_read,
            ..Books::default()
        };
        Report {
            outcome,
            table: "app".to_owned(),
            place: "memory".to_owned(),
            now: String::new(),
            doing: ItemAction::Put,
            resumed: false,
            keys: KeysReport::default(),
            item_types: vec![books],
            total: Books::default(),
            claims: Vec::new(),
            left: load::RemainingStale::default(),
            warnings: Vec::new(),
            rejects: Vec::new(),
            rejects_file: None,
            archive_file: None,
            traffic: Traffic::default(),
            throttled_by: std::collections::BTreeMap::new(),
            waits: WaitTimes::default(),
            limited_by: LimitedBy::default(),
            elapsed_seconds: 0.0,
            rows_per_second: 0.0,
        }
    }

    #[test]
    fn books_that_do_not_balance_are_a_failure_with_rejects_too() {
        let output = OutputStreams::new(Color::Never);
        for outcome in [load::Outcome::Complete, load::Outcome::CompleteWithRejects] {
            assert!(ended(report(outcome.clone(), 0), false, None, &output).is_ok());
            assert!(ended(report(outcome, 1), false, None, &output).is_err());
        }
    }
}
