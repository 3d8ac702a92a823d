//! The report of a comparison that has ended.

use std::time::Duration;

use super::Verify;
use super::sheet::Found;
use super::unexpected::Unexpected;
use crate::load::{Failure, Mended, Why, rate};
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
        VerifyReport {
            outcome,
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
        }
    }
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
