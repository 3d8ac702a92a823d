//! Loads that DynamoDB does itself, from objects in S3: `ImportTable` into a new table, `StartBulkPutItems` into one that
//! exists. Each request carries a client token: DynamoDB starts one load for a token, however often the request is sent
//! within eight hours.
//!
//! The requests of bulk operations follow the service's public model of November 2026, which the SDK does not know yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynafold_dynamodb::{Table, create_table_input};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Dynamodb;
use super::client::open;
use crate::{Difference, Result, ServiceOptions, Target, TargetError, TargetErrorKind};

/// A client for the loads that DynamoDB does itself.
#[derive(Debug)]
pub struct TableRoutes {
    dynamodb: Arc<Dynamodb>,
}

/// The status of a load that DynamoDB does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteStatus {
    /// It is running.
    InProgress,
    /// A cancellation was requested, and it has not ended yet.
    Cancelling,
    /// All items were processed, and none was refused.
    Completed,
    /// All items were processed, and some were refused.
    CompletedWithErrors,
    /// It was cancelled; the items that it had written stay.
    Cancelled,
    /// It has failed; it may have written items before.
    Failed,
    /// A status that this version does not know, as the service writes it.
    #[serde(untagged)]
    Other(String),
}

/// A load that DynamoDB does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceLoad {
    /// `ImportTable`, into a new table.
    Import,
    /// `StartBulkPutItems`, into a table that exists.
    Bulk,
}

impl RouteStatus {
    /// Whether it has ended.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::InProgress | Self::Cancelling | Self::Other(_))
    }

    fn of(word: String) -> Self {
        match word.as_str() {
            "IN_PROGRESS" => Self::InProgress,
            "CANCELLING" => Self::Cancelling,
            "COMPLETED" => Self::Completed,
            "COMPLETED_WITH_ERRORS" => Self::CompletedWithErrors,
            "CANCELLED" => Self::Cancelled,
            "FAILED" => Self::Failed,
            _ => Self::Other(word),
        }
    }
}

/// What DynamoDB reports of a load that it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteProgress {
    /// The ARN of the import or of the bulk operation.
    pub arn: String,
    /// Whether it runs, or how it ended.
    pub status: RouteStatus,
    /// Items that were processed, where DynamoDB reports the number.
    pub processed_items: Option<u64>,
    /// Items that an import has written; `None` for a bulk operation, which does not report it.
    pub imported_items: Option<u64>,
    /// Items that were refused.
    pub failed_items: Option<u64>,
    /// Bytes of the objects in S3 that were read.
    pub processed_bytes: Option<u64>,
    /// Bytes of all objects, once DynamoDB knows them; `None` for an import, which does not report it.
    pub total_bytes: Option<u64>,
    /// Why it failed or was cancelled: the service's code and message.
    pub failure: Option<(String, String)>,
    /// Where an import logs the first errors.
    pub log_group: Option<String>,
    /// DynamoDB's id of the table that an import has made.
    #[serde(skip)]
    pub table_id: Option<String>,
}

/// What has become of the table that an import has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportedTable {
    /// It is there, as far as the service gives ids.
    There,
    /// There is no table of its name.
    Gone,
    /// Another one has its name.
    Replaced,
}

/// The description of an import or of a bulk operation: each has the members with its own names.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Description {
    import_arn: Option<String>,
    import_status: Option<String>,
    error_count: Option<u64>,
    processed_size_bytes: Option<u64>,
    imported_item_count: Option<u64>,
    cloud_watch_log_group_arn: Option<String>,
    table_id: Option<String>,
    bulk_operation_arn: Option<String>,
    bulk_operation_status: Option<String>,
    failed_item_count: Option<u64>,
    processed_input_bytes: Option<u64>,
    total_input_bytes: Option<u64>,
    processed_item_count: Option<u64>,
    failure_code: Option<String>,
    failure_message: Option<String>,
}

impl Description {
    fn progress(self) -> Option<RouteProgress> {
        let status = self.import_status.or(self.bulk_operation_status)?;
        let failure = self
            .failure_code
            .map(|code| (code, self.failure_message.unwrap_or_default()));
        Some(RouteProgress {
            arn: self.import_arn.or(self.bulk_operation_arn)?,
            status: RouteStatus::of(status),
            processed_items: self.processed_item_count,
            imported_items: self.imported_item_count,
            failed_items: self.error_count.or(self.failed_item_count),
            processed_bytes: self.processed_size_bytes.or(self.processed_input_bytes),
            total_bytes: self.total_input_bytes,
            failure,
            log_group: self.cloud_watch_log_group_arn,
            table_id: self.table_id,
        })
    }
}

impl TableRoutes {
    /// Opens DynamoDB. Sends nothing yet.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] with the code `Region`, `Credentials` or `Connection`.
    pub async fn open(options: &ServiceOptions) -> Result<Self> {
        let dynamodb = Arc::new(open(options).await?);
        Ok(Self { dynamodb })
    }

    /// The table's target.
    pub fn target(&self) -> Arc<dyn Target> {
        self.dynamodb.clone()
    }

    /// Asks for a load. `request`: what the operation takes, its client token among it.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when the service refuses it.
    pub async fn start(
        &self,
        load: ServiceLoad,
        table: &str,
        request: &Value,
    ) -> Result<RouteProgress> {
        let operation = match load {
            ServiceLoad::Import => "ImportTable",
            ServiceLoad::Bulk => "StartBulkPutItems",
        };
        self.route(operation, load, table, request).await
    }

    /// Looks at a load.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when there is none, or it cannot be looked at.
    pub async fn describe(
        &self,
        load: ServiceLoad,
        table: &str,
        arn: &str,
    ) -> Result<RouteProgress> {
        let (operation, member) = match load {
            ServiceLoad::Import => ("DescribeImport", "ImportArn"),
            ServiceLoad::Bulk => ("DescribeBulkOperation", "BulkOperationArn"),
        };
        let request = json!({ member: arn });
        self.route(operation, load, table, &request).await
    }

    /// Asks for the end of a bulk operation. What it has written stays.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when there is none, or the service refuses.
    pub async fn cancel_bulk(&self, table: &str, arn: &str) -> Result<()> {
        let request = json!({ "BulkOperationArn": arn });
        let asked = self
            .dynamodb
            .control("CancelBulkOperation", table, &request)
            .await;
        asked.map(|IgnoredAny| ())
    }

    async fn route(
        &self,
        operation: &'static str,
        load: ServiceLoad,
        table: &str,
        request: &Value,
    ) -> Result<RouteProgress> {
        let member = match load {
            ServiceLoad::Import => "ImportTableDescription",
            ServiceLoad::Bulk => "BulkOperationDescription",
        };
        let asked = self.dynamodb.control(operation, table, request);
        let mut answer: BTreeMap<String, Value> = asked.await?;
        let action = self.dynamodb.action(operation, table);
        let incomplete = || action.incomplete(member);
        let description = answer.remove(member).ok_or_else(incomplete)?;
        let description: Description =
            serde_json::from_value(description).map_err(|error| action.garbled(error))?;
        description.progress().ok_or_else(incomplete)
    }

    /// The AWS account of a table; `None` where there is no such table, or its ARN names none.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when the service cannot be asked.
    pub async fn account(&self, table: &str) -> Result<Option<String>> {
        let found = self.dynamodb.describe_raw(table).await?;
        Ok(found.and_then(|found| account_of(&found.table_arn).map(str::to_owned)))
    }

    /// What has become of the table that an import has made.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when the service cannot be asked.
    pub async fn imported(&self, import: &RouteProgress, table: &str) -> Result<ImportedTable> {
        let Some(found) = self.dynamodb.describe_raw(table).await? else {
            return Ok(ImportedTable::Gone);
        };
        let ids = found.table_id.zip(import.table_id.as_ref());
        Ok(match ids {
            Some((found, made)) if found != *made => ImportedTable::Replaced,
            _ => ImportedTable::There,
        })
    }

    /// Sets what an import does not set: stream, deletion protection, table class, warm throughput, tags, TTL,
    /// point-in-time recovery and replicas. Returns the settings that the table does not show afterwards, with the service's
    /// error code where it refused one.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when the table cannot be described, its TTL cannot be set, or the service cannot be asked. A
    /// setting that it refuses is no error.
    pub async fn complete(&self, table: &Table) -> Result<Vec<Difference>> {
        let name = &table.name;
        self.dynamodb.wait(name, false).await?;
        let wanted = create_table_input(table);
        // A setting that the table has already is refused too: `complete` reports only those that it does not have.
        let mut refused = Vec::new();
        // DynamoDB takes one change of a table at a time.
        for (setting, member) in [
            ("stream", "StreamSpecification"),
            ("deletion_protection", "DeletionProtectionEnabled"),
            ("class", "TableClass"),
            ("warm_throughput", "WarmThroughput"),
        ] {
            let Some(value) = wanted.get(member) else {
                continue;
            };
            let request = json!({ "TableName": name, member: value });
            match self.dynamodb.control("UpdateTable", name, &request).await {
                Ok(IgnoredAny) => self.dynamodb.wait(name, false).await?,
                Err(error) => refused.push((setting, refusal(error)?)),
            }
        }
        if let Some(tags) = wanted.get("Tags")
            && let Some(found) = self.dynamodb.describe_raw(name).await?
        {
            let request = json!({ "ResourceArn": found.table_arn, "Tags": tags });
            match self.dynamodb.control("TagResource", name, &request).await {
                Ok(IgnoredAny) => {}
                Err(error) => refused.push(("tags", refusal(error)?)),
            }
        }
        self.dynamodb.set_ttl(table).await?;
        Ok(self.dynamodb.complete(table, refused).await)
    }
}

/// The AWS account that an ARN names.
pub fn account_of(arn: &str) -> Option<&str> {
    let account = arn.split(':').nth(4);
    account.filter(|account| !account.is_empty())
}

/// The code with which the service refuses a setting; what else has failed is an error. An endpoint may not know a setting
/// (`Other`), and a quota may forbid it: a table changes its class twice in 30 days.
fn refusal(error: TargetError) -> Result<String> {
    use TargetErrorKind::{AccessDenied, Other, Quota, Refused};
    match error.kind {
        Refused | AccessDenied | Quota | Other => Ok(error.code),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;

    #[test]
    fn statuses_are_known_by_the_words_of_the_service() {
        for (word, status, is_final, json) in [
            ("IN_PROGRESS", RouteStatus::InProgress, false, "in_progress"),
            ("CANCELLING", RouteStatus::Cancelling, false, "cancelling"),
            ("COMPLETED", RouteStatus::Completed, true, "completed"),
            (
                "COMPLETED_WITH_ERRORS",
                RouteStatus::CompletedWithErrors,
                true,
                "completed_with_errors",
            ),
            ("CANCELLED", RouteStatus::Cancelled, true, "cancelled"),
            ("FAILED", RouteStatus::Failed, true, "failed"),
            (
                "PAUSED",
                RouteStatus::Other("PAUSED".to_owned()),
                false,
                "PAUSED",
            ),
        ] {
            let description = json!({ "ImportArn": "arn", "ImportStatus": word });
            let description: Description = serde_json::from_value(description).unwrap();
            let found = description.progress().unwrap().status;
            assert_eq!((&found, found.is_final()), (&status, is_final));
            assert_eq!(json!(found), json);
        }
    }

    #[test]
    fn only_what_the_service_refuses_is_a_refused_setting() {
        let error = |kind| TargetError::new(kind, ErrorClass::Fatal, "Code", "said".to_owned());
        assert_eq!(refusal(error(TargetErrorKind::Refused)).unwrap(), "Code");
        assert!(refusal(error(TargetErrorKind::Connection)).is_err());
        assert!(refusal(error(TargetErrorKind::Credentials)).is_err());
    }
}
