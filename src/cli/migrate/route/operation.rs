//! DynamoDB's own load: asked for once, waited for, ended on request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::OpenRoute;
use super::saved::{SavedRoute, look};
use crate::cli::failure::Failure;
use crate::cli::format::text_if;
use crate::cli::output::OutputStreams;
use crate::cli::{Outcome, files, progress};
use crate::dynamodb::{Table, without_null_and_empty};
use crate::load::Cancel;
use crate::target::parts::{ExportPlace, Manifest, import_table};
use crate::target::{
    ErrorClass, RouteProgress, RouteStatus, ServiceLoad, TargetError, TargetErrorKind, account_of,
};

/// Between two looks: at first, and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));
/// How long DynamoDB may not be reached, or give a status that is not known, while its load goes on without us.
const PATIENCE: Duration = Duration::from_mins(15);

/// A load of DynamoDB's own that is under way.
pub(super) struct Operation<'r> {
    open: &'r OpenRoute,
    table: String,
    items: u64,
    arn: String,
    saved: SavedRoute,
    /// Where reports go, below the export's place.
    pub(super) output: String,
}

impl<'r> Operation<'r> {
    /// Asks for it, or finds that an earlier run has.
    pub(super) async fn start(
        open: &'r OpenRoute,
        mut saved: SavedRoute,
        manifest: &Manifest,
        table: &Table,
        output: &OutputStreams,
    ) -> Result<Self, Failure> {
        let reports = saved.reports();
        let arn = match saved.arn.clone() {
            Some(arn) => {
                output.note("an earlier run has started the operation; waiting for it");
                arn
            }
            None => {
                let file = &open.saved_file;
                // Of a request that an earlier run has sent the answer is not known: it may have begun.
                let is_first = !saved.begun();
                saved.sent = true;
                saved.write(file)?;
                let request = request(open, &saved.token, &reports, manifest, table)?;
                let load = open.route.kind;
                let begun = open.routes.start(load, &table.name, &request).await;
                let is_refused = |error: &TargetError| {
                    use TargetErrorKind::{AccessDenied, Refused};
                    matches!(error.kind, Refused | AccessDenied)
                };
                let begun = match begun {
                    Err(error) if is_refused(&error) && is_first => {
                        // Nothing has begun.
                        files::delete(file)?;
                        return Err(error.into());
                    }
                    Err(error) if is_refused(&error) => {
                        let failure = Failure::from(error);
                        let help = failure.help.clone().map(|help| format!("{help}; or "));
                        let help = help.unwrap_or_default() + &look(file);
                        return Err(failure.with_help(help));
                    }
                    begun => begun?,
                };
                saved.arn = Some(begun.arn.clone());
                saved.write(file)?;
                begun.arn
            }
        };
        Ok(Self {
            open,
            table: table.name.clone(),
            items: manifest.items,
            arn,
            saved,
            output: reports,
        })
    }

    /// Waits until nothing more comes of it. `None` where the user did not want to wait.
    pub(super) async fn wait(
        &self,
        cancel: &Cancel,
        output: &OutputStreams,
    ) -> Result<Option<RouteProgress>, Failure> {
        let done = Arc::new(AtomicU64::new(0));
        let what = match self.open.route.kind {
            ServiceLoad::Import => "DynamoDB imports",
            ServiceLoad::Bulk => "DynamoDB puts items",
        };
        let _bar = progress::counted(what, self.items, done.clone());
        let (mut pause, mut is_ending) = (LOOK.0, false);
        let (mut reached, mut unknown) = (Instant::now(), None);
        loop {
            match self.look().await {
                Ok(found) if found.status.is_final() => return Ok(Some(found)),
                Ok(found) => {
                    done.store(found.processed_items.unwrap_or_default(), Ordering::Relaxed);
                    is_ending |= found.status == RouteStatus::Cancelling;
                    if let RouteStatus::Other(status) = found.status {
                        if reached.elapsed() >= PATIENCE {
                            return Err(self.unknown(&status));
                        }
                        if unknown.as_ref() != Some(&status) {
                            output.warning(&format!("DynamoDB gives the operation the status `{status}`, which this version does not know; waiting until it has another"));
                            unknown = Some(status);
                        }
                    } else {
                        reached = Instant::now();
                    }
                }
                // It goes on without us.
                Err(error)
                    if matches!(error.class, ErrorClass::Transient | ErrorClass::Throttle)
                        && reached.elapsed() < PATIENCE => {}
                Err(error) => return Err(self.unseen(error)),
            }
            if is_ending {
                sleep(pause).await;
            } else {
                tokio::select! {
                    () = sleep(pause) => {}
                    () = cancel.cancelled() => {
                        if !self.is_cancelled_by_user(output).await? {
                            return Ok(None);
                        }
                        is_ending = true;
                    }
                }
            }
            pause = (pause * 2).min(LOOK.1);
        }
    }

    async fn look(&self) -> crate::target::Result<RouteProgress> {
        let load = self.open.route.kind;
        self.open
            .routes
            .describe(load, &self.table, &self.arn)
            .await
    }

    /// Why it cannot be looked at: the credentials may be of another account than those that began it.
    fn unseen(&self, error: TargetError) -> Failure {
        use TargetErrorKind::{AccessDenied, Other, Refused, TableMissing};
        if ["ResourceNotFoundException", "ImportNotFoundException"].contains(&&*error.code) {
            return self.gone(&error);
        }
        let is_answer = matches!(error.kind, AccessDenied | Other | Refused | TableMissing);
        let failure = Failure::from(error);
        let Some(account) = account_of(&self.arn).filter(|_| is_answer) else {
            return failure;
        };
        let help = failure.help.clone().map(|help| format!("; or {help}"));
        failure.with_help(format!(
            "the operation was begun in the AWS account {account}: start the same command again with credentials of that account{}",
            help.unwrap_or_default()
        ))
    }

    /// Why it cannot be looked at where DynamoDB knows of none.
    fn gone(&self, error: &TargetError) -> Failure {
        let message = format!("DynamoDB does not know the operation {}", self.arn);
        let place = account_of(&self.arn).zip(self.arn.split(':').nth(3));
        let elsewhere = place.map_or_else(String::new, |(account, region)| {
            format!(
                "the operation was begun in the AWS account {account}, in the region {region}: start the same command again with credentials of that account, for that region; "
            )
        });
        let failure = Failure::failed(message).with_code("route");
        failure.with_cause(error).with_help(format!(
            "{elsewhere}if it ended long ago, DynamoDB has forgotten it: compare the table with the source by `dynafold verify`, and delete `{}` before another load",
            self.open.saved_file.display()
        ))
    }

    /// Why the wait for it ends.
    fn unknown(&self, status: &str) -> Failure {
        let message = format!(
            "the operation still has the status `{status}`, which this version does not know: {}",
            self.arn
        );
        Failure::failed(message)
            .with_code("route")
            .with_help("look at it in the console; start the same command again to wait for it")
    }

    /// After Ctrl-C: says what goes on, and ends what can be ended if the user wants that.
    async fn is_cancelled_by_user(&self, output: &OutputStreams) -> Result<bool, Failure> {
        if self.open.route.kind == ServiceLoad::Import {
            output.note("the import continues: DynamoDB cannot cancel an import. Start the same command again to wait for it");
            return Ok(false);
        }
        let question = "Cancel the bulk operation? What it has written stays.";
        let refused = "";
        if !OutputStreams::can_ask() || OutputStreams::agree(false, "", question, refused).is_err()
        {
            output.note(&format!(
                "the bulk operation continues. Start the same command again to wait for it; `aws dynamodb cancel-bulk-operation --bulk-operation-arn {}` ends it",
                self.arn
            ));
            return Ok(false);
        }
        self.open.routes.cancel_bulk(&self.table, &self.arn).await?;
        output.note("DynamoDB ends the bulk operation; waiting until it has");
        Ok(true)
    }

    /// Why it has failed. `is_there`: whether the table is.
    pub(super) fn failed(&self, progress: &RouteProgress, is_there: bool) -> Failure {
        let what = match (self.open.route.kind, &progress.status) {
            (ServiceLoad::Import, RouteStatus::Cancelled) => "the import was cancelled",
            (ServiceLoad::Import, _) => "the import failed",
            (ServiceLoad::Bulk, RouteStatus::Cancelled) => "the bulk operation was cancelled",
            (ServiceLoad::Bulk, _) => "the bulk operation failed",
        };
        let (code, text) = progress.failure.clone().unwrap_or_default();
        let code = text_if(!code.is_empty(), format!(" ({code})"));
        let looked = progress.processed_items.unwrap_or_default();
        let message = format!(
            "{what}{code} after {looked} of {} items: {}",
            self.items, self.arn
        );
        let mut failure = Failure::failed(message).with_code("route");
        if !text.is_empty() {
            failure.causes.push(text);
        }
        failure.with_help(match self.open.route.kind {
            ServiceLoad::Import if is_there => "delete the table, then start the same command again: it continues with the complete export",
            ServiceLoad::Import => "start the same command again: it continues with the complete export",
            ServiceLoad::Bulk => "some items may have been written; `dynafold verify` shows which are missing. Start the same command again: a new bulk operation loads all items",
        })
    }

    /// Keeps that a bulk operation has ended, whatever it came to: started again, it would go over all items once more, at its
    /// price. The table says it of an import. What was not compared to its end is compared by the next run.
    pub(super) fn end(mut self, outcome: Outcome) -> Result<(), Failure> {
        match (self.open.route.kind, outcome) {
            (_, Outcome::Interrupted) => Ok(()),
            (ServiceLoad::Bulk, Outcome::Well | Outcome::Differs) => {
                self.saved.is_complete = true;
                self.saved.differs = outcome == Outcome::Differs;
                self.saved.write(&self.open.saved_file)
            }
            (ServiceLoad::Import, _) => self.forget(),
        }
    }

    /// Forgets it: the next run begins another.
    pub(super) fn forget(&self) -> Result<(), Failure> {
        files::delete(&self.open.saved_file)
    }
}

/// What DynamoDB is asked with.
fn request(
    open: &OpenRoute,
    token: &str,
    reports: &str,
    manifest: &Manifest,
    table: &Table,
) -> Result<Value, Failure> {
    let ExportPlace::Bucket(bucket) = &open.place else {
        return Err(Failure::failed("a route begins in S3"));
    };
    let location = bucket.location();
    let input = json!({
        "S3Bucket": location.bucket(),
        "S3KeyPrefix": location.key("data/"),
    });
    let (mut request, _) = import_table(table, manifest.compression);
    if open.route.kind == ServiceLoad::Import {
        if let Some(members) = request.as_object_mut() {
            members.insert("ClientToken".to_owned(), json!(token));
            members.insert("S3BucketSource".to_owned(), input);
        }
        return Ok(request);
    }
    Ok(without_null_and_empty(&json!({
        "ClientToken": token,
        "TableName": table.name,
        "InputS3Configuration": {
            "S3Bucket": location.bucket(),
            "S3KeyPrefix": location.key("data/"),
            "InputFormat": "DYNAMODB_JSON",
            "InputCompressionType": manifest.compression.service_word(),
        },
        "OutputS3Configuration": {
            "S3Bucket": location.bucket(),
            "S3KeyPrefix": location.key(reports),
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
        },
        "MaxWriteRequestUnits": open.arguments.rate.max_wcu,
        "PerformanceTier": open.arguments.tier,
    })))
}
