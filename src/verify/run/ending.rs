//! The report of a comparison that has ended.

use std::time::Duration;

use super::Verify;
use super::sheet::Found;
use super::unexpected::Unexpected;
use crate::claim::{Claim, ClaimKind, Subject, Verdict};
use crate::item::write_attribute;
use crate::load::{Failure, Mended, Why, rate, selected};
use crate::mapping::model::Model;
use crate::verify::report::{Compared, VerifyOutcome, VerifyReport};

/// Everything that a run has come to.
pub(super) struct Ending {
    pub(super) why: Option<Why>,
    pub(super) found: Found,
    pub(super) mended: Mended,
    pub(super) unexpected: Unexpected,
    pub(super) warnings: Vec<String>,
    pub(super) elapsed: Duration,
    /// Whether every chunk was read.
    pub(super) whole: bool,
}

impl Ending {
    pub(super) fn report(self, verify: &Verify) -> VerifyReport {
        let item_types = books(&verify.model, self.found.books, &self.mended);
        let mut total = Compared::default();
        for books in &item_types {
            total.add(books);
        }
        let unexpected = self.unexpected;
        let outcome = outcome(self.why, &total, &unexpected);
        let mut findings = self.found.findings.into_vec();
        findings.extend(unexpected.findings);
        findings.truncate(verify.examples);
        let mut rejects = self.found.rejects.into_vec();
        rejects.extend(self.mended.refused);
        let balanced = item_types.iter().all(Compared::balances);
        let mut report = VerifyReport {
            outcome,
            claims: Vec::new(),
            table: verify.model.table.name.clone(),
            place: verify.target.place(),
            now: verify.context.now.to_string(),
            balanced,
            sample: verify.options.sample,
            unexpected: unexpected.items,
            unexpected_why_not: unexpected.why_not,
            elsewhere: unexpected.elsewhere,
            lingering: unexpected.lingering,
            findings,
            rejects,
            repair: verify.options.repair.then_some(self.mended.traffic),
            warnings: self.warnings,
            elapsed_seconds: self.elapsed.as_secs_f64(),
            items_per_second: rate(total.expected - total.uncompared, self.elapsed),
            total,
            item_types,
        };
        report.claims = vec![claim(&report, verify, self.whole)];
        report
    }
}

/// What the comparison claims. `whole`: every chunk was read.
fn claim(report: &VerifyReport, verify: &Verify, whole: bool) -> Claim {
    let (verdict, mut because) = verdict(report, whole);
    let hiding = &verify.options.row_security;
    if !hiding.is_empty() && !matches!(report.outcome, VerifyOutcome::Failed(_)) {
        because.insert_str(0, "of the rows that row security lets this reader see: ");
    }
    let total = &report.total;
    let mut facts = vec![
        format!("{} rows read", total.rows_read),
        format!("{} items compared", total.expected - total.uncompared),
    ];
    if report.unexpected.is_some() {
        facts.push("the keys of all items in the table read".to_owned());
    }
    let hiding = hiding.iter();
    facts.extend(hiding.map(|table| format!("row security may hide rows of {table}")));
    let example = report.findings.first().map(|finding| {
        let item_type = finding.item_type.as_deref().unwrap_or("item");
        format!("{item_type} {}", finding.key)
    });
    let selected = selected(&verify.model);
    let names = verify.model.item_types.iter().zip(&selected);
    let names = names.filter(|(_, selected)| **selected);
    let part = selected.contains(&false);
    Claim {
        kind: ClaimKind::TableEqual,
        of: Subject {
            item_types: names
                .filter(|_| part)
                .map(|(item_type, _)| item_type.name.to_string())
                .collect(),
            partition: verify.options.partition.as_ref().map(|partition| {
                let mut text = String::new();
                write_attribute(&mut text, partition);
                text
            }),
            ..Subject::default()
        },
        verdict,
        because,
        facts,
        example,
    }
}

fn verdict(report: &VerifyReport, whole: bool) -> (Verdict, String) {
    let total = &report.total;
    let counted = |items: u64, what: &str| match items {
        1 => format!("1 {what}"),
        items => format!("{items} {what}s"),
    };
    match &report.outcome {
        VerifyOutcome::Failed(failure) => return (Verdict::NotProved, failure.message.clone()),
        VerifyOutcome::Interrupted => {
            let because = "interrupted before everything was compared";
            return (Verdict::NotProved, because.to_owned());
        }
        VerifyOutcome::Different => {
            let because = "the table differs from what the source makes";
            return (Verdict::Differs, because.to_owned());
        }
        VerifyOutcome::Equal | VerifyOutcome::Repaired => {}
    }
    if total.rejected > 0 {
        let make = if total.rejected == 1 { "makes" } else { "make" };
        let rows = counted(total.rejected, "row");
        let because = format!("every item is as the source makes it, but {rows} {make} no item");
        return (Verdict::NotProved, because);
    }
    if report.sample.is_some() {
        let because = format!(
            "the sample of {} is as the source makes it",
            counted(total.expected, "item")
        );
        let verdict = Verdict::Agrees {
            asked: total.expected,
            possible: whole.then_some(total.expected + total.unsampled),
        };
        return (verdict, because);
    }
    if let Some(why) = &report.unexpected_why_not {
        let because = format!(
            "every item is as the source makes it; what it does not make was not looked for: {why}"
        );
        return (Verdict::NotProved, because);
    }
    let beside = [
        (
            report.elsewhere.unwrap_or(0),
            "item",
            "that is not the mapping's",
            "that are not the mapping's",
        ),
        (
            report.lingering,
            "expired item",
            "that DynamoDB has yet to delete",
            "that DynamoDB has yet to delete",
        ),
    ];
    let beside: Vec<String> = beside
        .into_iter()
        .filter(|(items, ..)| *items > 0)
        .map(|(items, what, one, many)| {
            format!(
                "{} {}",
                counted(items, what),
                if items == 1 { one } else { many }
            )
        })
        .collect();
    let because = if beside.is_empty() {
        "the table holds exactly what the source makes".to_owned()
    } else {
        format!(
            "the table holds what the source makes, and {}",
            beside.join(", and ")
        )
    };
    (Verdict::Proved, because)
}

/// The books with their names, and with what was repaired.
fn books(model: &Model, found: Vec<Compared>, mended: &Mended) -> Vec<Compared> {
    let mut all = Vec::with_capacity(model.item_types.len());
    let mut found = found.into_iter();
    for (index, item_type) in model.item_types.iter().enumerate() {
        let mut books = found.next().unwrap_or_default();
        books.item_type = item_type.name.to_string();
        books.from = model
            .passes
            .get(item_type.pass)
            .map(|pass| pass.name.clone())
            .unwrap_or_default();
        if let Some(mended) = mended.books.get(index) {
            books.repaired = mended.written;
            books.refused = mended.rejected_by_service;
        }
        all.push(books);
    }
    all
}

fn outcome(why: Option<Why>, total: &Compared, unexpected: &Unexpected) -> VerifyOutcome {
    match why {
        Some(Why::Cancelled | Why::TooManyRejects) => VerifyOutcome::Interrupted,
        Some(Why::Failed(failure)) => VerifyOutcome::Failed(failure),
        None if unexpected.items.is_none() && unexpected.why_not.is_none() => {
            VerifyOutcome::Failed(Failure::internal("the table was not scanned to its end"))
        }
        None if total.uncompared > 0 => {
            VerifyOutcome::Failed(Failure::internal("not every item was compared"))
        }
        None if total.amiss() > 0 || unexpected.items.is_some_and(|items| items > 0) => {
            VerifyOutcome::Different
        }
        None if total.repaired > 0 => VerifyOutcome::Repaired,
        None => VerifyOutcome::Equal,
    }
}
