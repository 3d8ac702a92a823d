//! What the proof of access patterns found.

use crate::cli::format::{counted, seconds};
use crate::verify::patterns::{
    DifferentCall, Example, ExampleKind, PatternReport, PatternState, PatternsOutcome,
    PatternsReport,
};

/// What the proof of access patterns found.
pub(in crate::cli) fn patterns(report: &PatternsReport) -> String {
    let mut out: Vec<String> = report.patterns.iter().flat_map(pattern).collect();
    out.push(String::new());
    out.push(format!(
        "{} at {}: {} in {}",
        report.table,
        report.place,
        number(report.patterns.iter().map(|one| one.calls).sum(), "call"),
        seconds(report.elapsed_seconds),
    ));
    out.push(format!(
        "{}: {} proved, {} different, {} not proved, {} without SQL",
        number(report.patterns.len(), "access pattern"),
        report.proved,
        report.different,
        report.not_proved,
        report.without_sql,
    ));
    out.push(ending(report));
    out.join("\n")
}

fn number(count: usize, noun: &str) -> String {
    counted(u64::try_from(count).unwrap_or(u64::MAX), noun)
}

fn pattern(report: &PatternReport) -> Vec<String> {
    let name = &report.pattern;
    let mut out = vec![match report.state {
        PatternState::Proved => format!("proved       {name}: {}", asked(report)),
        PatternState::Different => format!(
            "different    {name}: {} in {} of {}",
            number(report.differences, "difference"),
            report.different_calls,
            number(report.calls, "call"),
        ),
        PatternState::NotProved => {
            let reason = report.reason.as_deref().unwrap_or_default();
            format!("not proved   {name}: {reason}")
        }
        PatternState::WithoutSql => format!("without SQL  {name}"),
    }];
    if matches!(report.state, PatternState::Proved | PatternState::Different) {
        for of in &report.item_types {
            let mut line = format!("  {} by {}", of.item_type, of.compared.join(", "));
            if !of.not_compared.is_empty() {
                line.push_str(&format!("; not compared: {}", of.not_compared.join(", ")));
            }
            out.push(line);
        }
        if !report.unused_columns.is_empty() {
            let columns = report.unused_columns.join(", ");
            out.push(format!(
                "  columns of the SQL that are no attribute: {columns}"
            ));
        }
    }
    out.extend(report.notes.iter().map(|note| format!("  note: {note}")));
    out.extend(report.examples.iter().flat_map(call));
    let more = report.different_calls.saturating_sub(report.examples.len());
    if more > 0 {
        out.push(format!("  and {} more", number(more, "call")));
    }
    out
}

/// What was asked and answered.
fn asked(report: &PatternReport) -> String {
    let how = if report.in_order {
        "in order"
    } else {
        "as sets"
    };
    let all = if report.all_values {
        ", all values that there are"
    } else {
        ""
    };
    format!(
        "{}{all}, {} and {}, {how}",
        number(report.calls, "call"),
        number(report.rows, "row"),
        number(report.items, "item"),
    )
}

fn call(call: &DifferentCall) -> Vec<String> {
    let parameters = call.parameters.iter();
    let parameters: Vec<String> = parameters
        .map(|(name, value)| format!("--{name} {value}"))
        .collect();
    let mut out = vec![format!(
        "  {}: {} by SQL, {} from the table",
        if parameters.is_empty() {
            "without parameters".to_owned()
        } else {
            parameters.join(" ")
        },
        number(call.rows, "row"),
        number(call.items, "item"),
    )];
    out.extend(call.examples.iter().map(example));
    let more = call.differences.saturating_sub(call.examples.len());
    if more > 0 {
        out.push(format!("    and {} more", number(more, "difference")));
    }
    out
}

fn example(example: &Example) -> String {
    let item_type = example.item_type.as_deref().unwrap_or("item");
    let of = format!("{item_type} {}", example.key);
    match example.kind {
        ExampleKind::Missing => format!("    missing: {of}"),
        ExampleKind::Extra => format!("    extra: {of}"),
        ExampleKind::Differs => {
            let names = example.attributes.iter().map(|name| format!("`{name}`"));
            let names: Vec<String> = names.collect();
            format!("    differs: {of}: {}", names.join(", "))
        }
        ExampleKind::Order => format!("    out of order: {of}"),
    }
}

/// The last line.
fn ending(report: &PatternsReport) -> String {
    match &report.outcome {
        PatternsOutcome::Proved if report.without_sql > 0 => {
            "verified: every access pattern with SQL answers what its SQL answers".to_owned()
        }
        PatternsOutcome::Proved => {
            "verified: every access pattern answers what its SQL answers".to_owned()
        }
        PatternsOutcome::NotProved if report.proved == 0 => "nothing is proved".to_owned(),
        PatternsOutcome::NotProved => {
            "not every access pattern is proved; none was seen to differ".to_owned()
        }
        PatternsOutcome::Different => "answers differ from those of the SQL".to_owned(),
        PatternsOutcome::Interrupted => {
            "interrupted before every access pattern was asked".to_owned()
        }
        PatternsOutcome::Failed(failure) => failure.message.clone(),
    }
}
