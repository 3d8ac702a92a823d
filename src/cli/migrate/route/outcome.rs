//! What a route came to: DynamoDB's counts beside those of the export, and a comparison of every item.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::OpenRoute;
use super::reports::Reports;
use crate::cli::failure::Failure;
use crate::cli::files::write_whole;
use crate::cli::format::{bytes, count, counted, counted_as};
use crate::cli::{Outcome, mapping, progress, report, target};
use crate::load::{self, Cancel, KeyCheck};
use crate::mapping::model::Model;
use crate::target::parts::Manifest;
use crate::target::private::{self, if_there};
use crate::target::{RouteProgress, RouteStatus, ServiceLoad};
use crate::verify::{
    Finding, FindingKind, Verify, VerifyOptions, VerifyOutcome, VerifyReport, verify,
};

/// Items that become rejects at most; more are only counted.
const REJECTS: usize = 10_000;

/// Findings that the report names.
const NAMED_FINDINGS: usize = 20;

/// What there is to say about a route. As JSON its field names are stable.
#[derive(Serialize)]
pub(super) struct RouteReport {
    route: ServiceLoad,
    /// Where the export is.
    export: String,
    /// Items of the export.
    items: u64,
    /// Its bytes, before they are compressed.
    export_bytes: u64,
    /// Rows that made no item.
    rejected: u64,
    /// Items of item types that are not loaded, whose keys loaded items have.
    shared_outside: u64,
    /// What DynamoDB says.
    operation: RouteProgress,
    /// What its reports hold; nothing for an import, which has none.
    reports: Reports,
    /// The comparison with the source.
    verification: VerifyReport,
    /// Where the items are that are not in the table as the source makes them.
    rejects_file: Option<PathBuf>,
    #[serde(skip)]
    lines: Vec<String>,
}

/// Compares every item with the source.
pub(super) async fn compare(
    open: &OpenRoute,
    manifest: &Manifest,
    model: Arc<Model>,
    cancel: &Cancel,
) -> Result<VerifyReport, Failure> {
    let (source, _, file) = mapping::open(&open.source, &open.arguments.mapping).await?;
    let keys = file.checked.key_check(KeyCheck::First);
    let context = target::context(&model, manifest.now.parse().ok())?;
    Ok(verify(Verify {
        source: Some(source),
        context,
        options: VerifyOptions {
            keys,
            ..VerifyOptions::default()
        },
        target: open.routes.target(),
        examples: REJECTS,
        cancel: cancel.clone(),
        progress: progress::progress(&model),
        model,
    })
    .await)
}

impl RouteReport {
    pub(super) fn of(
        open: &OpenRoute,
        manifest: &Manifest,
        operation: RouteProgress,
        mut verification: VerifyReport,
        reports: Reports,
        (rejected, shared_outside): (u64, u64),
    ) -> Self {
        let kind = open.route.kind;
        let is_reject = |finding: &&Finding| {
            matches!(finding.kind, FindingKind::Missing | FindingKind::Different)
        };
        let rejects = verification.findings.iter().filter(is_reject);
        let lines: Vec<String> = rejects
            .map(|finding| line(finding, kind, &reports))
            .filter(|_| has_ended(&verification))
            .collect();
        verification.findings.truncate(NAMED_FINDINGS);
        Self {
            route: kind,
            export: open.place.to_string(),
            items: manifest.items,
            export_bytes: manifest.uncompressed_bytes(),
            rejected,
            shared_outside,
            operation,
            reports,
            verification,
            rejects_file: (!lines.is_empty()).then(|| open.options.rejects_file.clone()),
            lines,
        }
    }

    /// Writes an item that is not there as it should be as a reject, behind those of the export, in the place of what an earlier
    /// run has said of the table.
    pub(super) fn write_rejects(&self, path: &Path) -> Result<(), Failure> {
        if !has_ended(&self.verification) {
            return Ok(());
        }
        load::check_rejects(path)?;
        let written = || -> std::io::Result<()> {
            let new = self.lines.iter().flat_map(|line| [line.as_str(), "\n"]);
            let new: String = new.collect();
            if if_there(fs::metadata(path))?.is_some_and(|found| !found.is_file()) {
                return private::options()
                    .append(true)
                    .open(path)?
                    .write_all(new.as_bytes());
            }
            let before = if_there(fs::read_to_string(path))?.unwrap_or_default();
            let kept = before
                .split_inclusive('\n')
                .filter(|line| !is_of_table(line));
            let text = kept.collect::<String>() + &new;
            if text == before {
                return Ok(());
            }
            if text.is_empty() {
                return fs::remove_file(path);
            }
            write_whole(path, &text, private::options())
        };
        written().map_err(|error| Failure::unwritten(path, &error))
    }

    pub(super) fn text(&self) -> String {
        let operation = &self.operation;
        let name = loader(self.route);
        let figure_text =
            |figure: Option<u64>| figure.map_or_else(|| "not reported".to_owned(), count);
        let unmet = self.reports.condition_failures;
        let imported = match self.route {
            ServiceLoad::Import => format!("imported {}", figure_text(operation.imported_items)),
            ServiceLoad::Bulk => format!("conditions not met {}", count(unmet)),
        };
        let mut text = format!(
            "{}, {} of DynamoDB JSON in {}\n{name}: processed {}, {imported}, errors {}",
            counted(self.items, "item"),
            bytes(self.export_bytes),
            self.export,
            figure_text(operation.processed_items),
            figure_text(operation.failed_items),
        );
        if let Some((code, why)) = &operation.failure {
            text.push_str(&format!("\n{code}: {why}"));
        }
        if let Some(group) = operation.log_group.as_ref().filter(|_| self.errors() > 0) {
            text.push_str(&format!(
                "\nthe first errors are in the CloudWatch log group {group}"
            ));
        }
        text.push_str(&format!("\n\n{}", report::verification(&self.verification)));
        if let Some(file) = &self.rejects_file {
            text.push_str(&format!(
                "\n{} in {}: `dynafold migrate --retry-rejects` loads their rows once more",
                counted_as(
                    self.lines.len(),
                    "item that the table lacks or has otherwise is listed",
                    "items that the table lacks or has otherwise are listed"
                ),
                file.display()
            ));
        }
        text
    }

    fn errors(&self) -> u64 {
        self.operation.failed_items.unwrap_or_default()
    }

    /// Refused items as the reports have them; an import has no reports.
    fn reported(&self) -> u64 {
        match self.route {
            ServiceLoad::Import => self.errors(),
            ServiceLoad::Bulk => self.reports.errors,
        }
    }

    /// What does not add up.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.verification.warnings.clone();
        if self.shared_outside > 0 {
            warnings.push(format!(
                "{} the key of a loaded one",
                counted_as(
                    self.shared_outside,
                    "item that was not selected has",
                    "items that were not selected have"
                )
            ));
        }
        let items = self.items;
        let (processed, imported) = (
            self.operation.processed_items,
            self.operation.imported_items,
        );
        if let Some(imported) = imported.filter(|imported| *imported != items) {
            warnings.push(format!(
                "the export has {items} items, and ImportTable counts {imported} as imported: it skips the rest of an object at its first line that it cannot read. The comparison names the items that are missing"
            ));
        }
        if let (None, Some(processed)) =
            (imported, processed.filter(|processed| *processed != items))
        {
            warnings.push(format!(
                "the export has {items} items, and DynamoDB has processed {processed}: the comparison names those that are missing"
            ));
        }
        if self.reported() != self.errors() {
            let total = self.operation.failed_items.map_or_else(
                || "gives no number of refused items".to_owned(),
                |items| format!("counts {}", counted(items, "refused item")),
            );
            warnings.push(format!(
                "DynamoDB {total}, but its reports have {}: read them at {}",
                counted_as(self.reported(), "line about one", "lines about such"),
                self.reports.place
            ));
        }
        if self.reports.unread > 0 {
            warnings.push(format!(
                "{} no item that can be found: look into {}",
                counted_as(
                    self.reports.unread,
                    "line of DynamoDB's reports holds",
                    "lines of DynamoDB's reports hold"
                ),
                self.reports.place
            ));
        }
        if self.reports.cut > 0 {
            warnings.push(format!(
                "{} not read to the end, damaged or too long: look into {}",
                counted_as(
                    self.reports.cut,
                    "of DynamoDB's reports was",
                    "of DynamoDB's reports were"
                ),
                self.reports.place
            ));
        }
        if self.lines.len() >= REJECTS {
            warnings.push(format!(
                "the rejects file has the first {REJECTS} items; `dynafold verify` counts all"
            ));
        }
        warnings
    }

    /// How the route ended.
    pub(super) fn outcome(&self) -> Result<Outcome, Failure> {
        let verification = &self.verification;
        let is_well = match &verification.outcome {
            VerifyOutcome::Interrupted => return Ok(Outcome::Interrupted),
            VerifyOutcome::Failed(failure) => return Err(failure.clone().into()),
            _ if !verification.balanced => return Err(Failure::unbalanced()),
            VerifyOutcome::Equal | VerifyOutcome::Repaired => true,
            VerifyOutcome::NothingCompared | VerifyOutcome::Different => false,
        };
        let is_whole = self.rejected + self.shared_outside == 0 && verification.total.rejected == 0;
        let is_refused = self.errors() + self.reported() > 0;
        let is_completed = self.operation.status == RouteStatus::Completed;
        Ok(Outcome::of(
            is_well && is_whole && !is_refused && is_completed,
        ))
    }
}

/// Whether all items were compared: what an earlier run has said of them is not kept then.
fn has_ended(verification: &VerifyReport) -> bool {
    use VerifyOutcome::{Failed, Interrupted};
    !matches!(verification.outcome, Interrupted | Failed(_))
}

/// Who loads, in words.
fn loader(load: ServiceLoad) -> &'static str {
    match load {
        ServiceLoad::Import => "ImportTable",
        ServiceLoad::Bulk => "the bulk operation",
    }
}

/// A line of the rejects file, as a load writes it; numbers of keys with all of their digits.
#[derive(Serialize)]
struct RejectLine<'f> {
    item_type: Option<&'f str>,
    row: Option<&'f RawValue>,
    code: &'f str,
    message: &'f str,
    help: Option<&'f str>,
    attribute: Option<&'f str>,
    item: Option<&'f RawValue>,
    /// The item's key in DynamoDB JSON.
    key: &'f RawValue,
}

/// Whether a line of a rejects file is a [`RejectLine`], and not one of a row that makes no item.
fn is_of_table(line: &str) -> bool {
    #[derive(Deserialize)]
    struct Keyed {
        #[serde(rename = "key")]
        _key: IgnoredAny,
    }
    serde_json::from_str::<Keyed>(line).is_ok()
}

/// The line of an item that is not there as it should be: as rejects of a load are, with what DynamoDB says of it.
fn line(finding: &Finding, kind: ServiceLoad, reports: &Reports) -> String {
    let reported = reports.of(finding.key.get());
    let (code, message) = match (finding.kind, reported) {
        (_, Some(reported)) => (reported.code, reported.message.clone()),
        (FindingKind::Missing, None) => (
            "not-loaded",
            format!("{} has not put the item into the table", loader(kind)),
        ),
        _ => (
            "other-version",
            "the table has another version of the item".to_owned(),
        ),
    };
    let line = RejectLine {
        item_type: finding.item_type.as_deref(),
        row: finding.row.as_deref(),
        code,
        message: &message,
        help: None,
        attribute: None,
        item: None,
        key: &finding.key,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_of_the_export_stay_beside_what_was_said_of_the_table() {
        let row = r#"{"item_type":"A","row":{"id":1},"code":"key-null","message":"\"key\":","help":null,"attribute":"PK","item":{"key":{"S":"x"}}}"#;
        assert!(!is_of_table(row));
        let of_table = RejectLine {
            item_type: Some("A"),
            row: None,
            code: "not-loaded",
            message: "",
            help: None,
            attribute: None,
            item: None,
            key: &RawValue::from_string("{}".to_owned()).unwrap(),
        };
        assert!(is_of_table(&serde_json::to_string(&of_table).unwrap()));
    }
}
