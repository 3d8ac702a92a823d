//! What the proof of access patterns found.

use super::FAILED;
use crate::claim::ClaimVerdict;
use crate::cli::format::{self, counted, seconds};
use crate::verify::patterns::{
    DifferentCall, DrawReason, PatternReport, PatternsOutcome, PatternsReport,
};

/// What the proof of access patterns found.
pub(in crate::cli) fn patterns(report: &PatternsReport) -> String {
    let mut out: Vec<String> = report
        .patterns
        .iter()
        .flat_map(|one| pattern(report, one))
        .collect();
    out.push(String::new());
    out.push(format!(
        "{} at {}: {} in {}",
        report.table,
        report.place,
        counted(
            report.patterns.iter().map(|one| one.calls).sum::<usize>(),
            "call"
        ),
        seconds(report.elapsed_seconds),
    ));
    out.push(format!(
        "{}: {} proved, {} agree, {} differ, {} not proved, {} without SQL",
        counted(report.patterns.len(), "access pattern"),
        report.proved,
        report.agrees,
        report.different,
        report.not_proved,
        report.without_sql,
    ));
    out.push(ending(report));
    out.join("\n")
}

fn pattern(all: &PatternsReport, report: &PatternReport) -> Vec<String> {
    let name = &report.pattern;
    let Some(claim) = all.claim(report) else {
        return vec![format!("without SQL: {name}")];
    };
    let verdict = match claim.verdict {
        ClaimVerdict::Proved => "proved".to_owned(),
        ClaimVerdict::Agrees {
            asked,
            possible: Some(possible),
        } => {
            format!(
                "agrees: {} of {} asked",
                format::count(asked),
                format::counted(possible, "value")
            )
        }
        ClaimVerdict::Agrees {
            asked,
            possible: None,
        } => {
            format!(
                "agrees: {} asked, of an unlimited number",
                format::counted(asked, "value")
            )
        }
        ClaimVerdict::NotProved => "not proved".to_owned(),
        ClaimVerdict::Differs => "differs".to_owned(),
    };
    let mut out = vec![format!("{verdict}: {name}: {}", claim.because)];
    out.extend(claim.facts.iter().map(|fact| format!("  {fact}")));
    out.extend(report.notes.iter().map(|note| format!("  note: {note}")));
    out.extend(report.examples.iter().flat_map(call));
    let more = report.different_calls.saturating_sub(report.examples.len());
    if more > 0 {
        out.push(format!("  and {} more", counted(more, "call")));
    }
    out
}

fn call(call: &DifferentCall) -> Vec<String> {
    let (rows, items) = (counted(call.rows, "row"), counted(call.items, "item"));
    let mut out = vec![format!("  {call}: {rows} by SQL, {items} from the table")];
    if call.drawn == DrawReason::Variant {
        out.push("    a variant of a value that occurs (such as another case, another accent, blanks at its end): the source compares by the column's collation and type, the table by bytes".to_owned());
    }
    out.extend(call.examples.iter().map(|example| format!("    {example}")));
    let more = call.differences.saturating_sub(call.examples.len());
    if more > 0 {
        out.push(format!("    and {} more", counted(more, "difference")));
    }
    out
}

/// Nothing is claimed of what others write meanwhile.
const PROVED: &str = "verified, for the rows and items that were read: every access pattern";

fn ending(report: &PatternsReport) -> String {
    match &report.outcome {
        PatternsOutcome::Proved if report.without_sql > 0 => {
            format!("{PROVED} with SQL answers what its SQL answers")
        }
        PatternsOutcome::Proved => {
            format!("{PROVED} answers what its SQL answers")
        }
        PatternsOutcome::Agrees => {
            "verified for the calls that were asked: none has an answer that differs from its SQL's"
                .to_owned()
        }
        PatternsOutcome::NotProved if report.proved + report.agrees == 0 => {
            "nothing is proved".to_owned()
        }
        PatternsOutcome::NotProved => {
            "not every access pattern is proved; no difference was found".to_owned()
        }
        PatternsOutcome::Different => "answers differ from those of the SQL".to_owned(),
        PatternsOutcome::Interrupted => {
            "interrupted before every access pattern was asked".to_owned()
        }
        // Why is said where the command ends.
        PatternsOutcome::Failed(_) => FAILED.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::load::Failure;

    fn ended(outcome: PatternsOutcome) -> String {
        patterns(&PatternsReport {
            table: "app".to_owned(),
            place: "memory".to_owned(),
            now: String::new(),
            claims: Vec::new(),
            patterns: Vec::new(),
            proved: 0,
            agrees: 0,
            different: 0,
            not_proved: 0,
            without_sql: 0,
            elapsed_seconds: 0.0,
            outcome,
        })
    }

    #[test]
    fn a_proof_is_of_what_was_read() {
        let text = ended(PatternsOutcome::Proved);
        assert!(text.contains(PROVED), "{text}");
    }

    #[test]
    fn why_a_proof_failed_is_not_said_before_the_command_ends_with_it() {
        let failure = Failure::Internal("a task died");
        let text = ended(PatternsOutcome::Failed(Arc::new(failure)));
        assert!(text.ends_with(FAILED), "{text}");
    }
}
