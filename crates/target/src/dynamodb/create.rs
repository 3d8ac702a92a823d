//! Making a table, waiting for it, setting its TTL. Safe to repeat, and in races.

use std::time::Duration;

use dynafold_dynamodb::{
    Autoscale, Index, Settings, StreamView, Table, TableClass, Throughput, add_index_input,
    create_table_input,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::super::{
    Difference, ErrorClass, Result, ScanRequest, TargetError, TargetErrorKind, compare,
};
use super::Dynamodb;
use super::describe::ServiceTable;

/// Between two looks at a table that is being made: at first, and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// A table with indexes takes half a minute; one that takes this long will not come.
const PATIENCE: Duration = Duration::from_mins(15);

impl Dynamodb {
    pub(super) async fn create_table(&self, table: &Table) -> Result<Option<Vec<Difference>>> {
        let request = of_table(&table.name, create_table_input(table));
        let asked = self.control("CreateTable", &table.name, &request).await;
        let made = match asked {
            Ok(IgnoredAny) => true,
            // Another run was quicker, or the answer to our first attempt was lost.
            Err(error) if error.code == "ResourceInUseException" => false,
            Err(error) => return Err(error),
        };
        self.wait(&table.name, true).await?;
        if !made {
            self.same_or_refuse(table).await?;
            let keys = ScanRequest::keys(table);
            let page = self.scan_page(table, &keys, None).await?;
            // Our TTL would delete another run's items.
            if !page.items.is_empty() || page.next.is_some() {
                return Ok(None);
            }
        }
        self.set_ttl(table).await?;
        let unset = self.complete(table, Vec::new()).await;
        Ok(made.then_some(unset))
    }

    pub(super) async fn update_table_with(
        &self,
        there: &Table,
        wanted: &Table,
        index: &Index,
    ) -> Result<()> {
        let request = of_table(&there.name, add_index_input(there, wanted, index));
        let asked = self.control("UpdateTable", &there.name, &request).await;
        asked.map(|IgnoredAny| ())
    }

    /// Waits until the table and all its indexes are ACTIVE. `is_new`: just made, it may not be visible yet.
    pub(super) async fn wait(&self, name: &str, is_new: bool) -> Result<()> {
        let begun = Instant::now();
        let mut pause = LOOK.0;
        loop {
            let found = self.describe_raw(name).await?;
            match &found {
                Some(found) if found.is_active() => return Ok(()),
                None if !is_new => {
                    let action = self.action("DescribeTable", name);
                    let message = "the table was deleted meanwhile";
                    let (kind, code) = (TargetErrorKind::TableMissing, "ResourceNotFoundException");
                    return Err(action.error(kind, ErrorClass::Fatal, code, message));
                }
                _ if begun.elapsed() < PATIENCE => {}
                _ => {
                    let status = found.map_or_else(String::new, |found| found.table_status);
                    let message =
                        format!("the table did not become ACTIVE; its status is `{status}`");
                    return Err(self
                        .in_use("DescribeTable", name, &message)
                        .with_help("look at the table in the console, and start the same command again once it is ACTIVE"));
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(LOOK.1);
        }
    }

    async fn same_or_refuse(&self, table: &Table) -> Result<()> {
        let found = self.describe_table(&table.name).await?;
        let differences: Vec<String> = found
            .iter()
            .flat_map(|found| compare(table, found))
            .filter(Difference::is_breaking)
            .map(|difference| difference.to_string())
            .collect();
        if differences.is_empty() {
            return Ok(());
        }
        let message = format!(
            "a table of this name was created in the meantime, and it differs: {}",
            differences.join("; ")
        );
        Err(self.in_use("CreateTable", &table.name, &message))
    }

    fn in_use(&self, operation: &'static str, name: &str, message: &str) -> TargetError {
        self.action(operation, name).error(
            TargetErrorKind::TableInUse,
            ErrorClass::Fatal,
            "ResourceInUseException",
            message,
        )
    }

    pub(super) async fn set_ttl(&self, table: &Table) -> Result<()> {
        let Some(attribute) = &table.ttl else {
            return Ok(());
        };
        // Enabling it twice is an error.
        if self.has_ttl(&table.name, attribute).await? {
            return Ok(());
        }
        let request = json!({
            "TableName": table.name,
            "TimeToLiveSpecification": { "Enabled": true, "AttributeName": attribute },
        });
        let name = &table.name;
        match self.control("UpdateTimeToLive", name, &request).await {
            Ok(IgnoredAny) => Ok(()),
            // Another run that made the same table may have enabled it in between.
            Err(error) => match self.has_ttl(name, attribute).await {
                Ok(true) => Ok(()),
                _ => Err(error),
            },
        }
    }

    async fn has_ttl(&self, name: &str, attribute: &String) -> Result<bool> {
        let enabled = self.describe_ttl(name).await?.flatten();
        Ok(enabled.as_ref() == Some(attribute))
    }
}

impl Dynamodb {
    /// Deletes a table, and waits until it is gone. Safe to repeat. `id`: that of the table which may be deleted, where
    /// it is known.
    pub(super) async fn remove_table(&self, name: &str, id: Option<&str>) -> Result<bool> {
        let begun = Instant::now();
        let (mut pause, mut asked, mut is_going) = (LOOK.0, false, false);
        let mut id = id.map(str::to_owned);
        let created_again = |operation, message, undone| {
            self.in_use(operation, name, message).with_help(format!(
                "nothing was {undone}: make sure that no other run uses this name, then start the same command again",
            ))
        };
        if id.is_some() {
            let Some(found) = self.describe_raw(name).await? else {
                return Ok(false);
            };
            if is_other(id.as_ref(), found.id().as_ref()) {
                let message = "the table was created again since its deletion was agreed to";
                return Err(created_again("DescribeTable", message, "deleted"));
            }
        }
        loop {
            // A second request could delete a table that another run has created meanwhile.
            if !asked && !is_going {
                let request = json!({ "TableName": name });
                let answer: Result<Value> = self.control("DeleteTable", name, &request).await;
                match answer {
                    Ok(answer) => {
                        asked = true;
                        let deleted = answer
                            .get("TableDescription")
                            .and_then(|it| ServiceTable::deserialize(it).ok())
                            .and_then(|deleted| deleted.id());
                        if is_other(id.as_ref(), deleted.as_ref()) {
                            let message = "the table was deleted, somebody created it again, and this run has deleted the new one";
                            return Err(created_again("DeleteTable", message, "loaded"));
                        }
                        id = deleted.or(id);
                    }
                    Err(error) => match error.code.as_str() {
                        "ResourceNotFoundException" => return Ok(false),
                        // It is being made or changed, or is being deleted already.
                        "ResourceInUseException" if begun.elapsed() < PATIENCE => {}
                        _ => return Err(error),
                    },
                }
            }
            let Some(found) = self.describe_raw(name).await? else {
                return Ok(asked);
            };
            let found_id = found.id();
            if is_other(id.as_ref(), found_id.as_ref()) {
                let message = "the table was deleted, and somebody created it again";
                return Err(created_again("DescribeTable", message, "loaded"));
            }
            id = id.or(found_id);
            is_going |= found.table_status == "DELETING";
            if begun.elapsed() >= PATIENCE {
                let status = found.table_status;
                let message = format!("the table was not deleted; its status is `{status}`");
                return Err(self.in_use("DescribeTable", name, &message).with_help(
                    "look at the table in the console, and start the same command again once it no longer exists",
                ));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LOOK.1);
        }
    }
}

/// What is asked of a table, with its name.
fn of_table(name: &str, mut request: Value) -> Value {
    if let Some(members) = request.as_object_mut() {
        members.insert("TableName".to_owned(), json!(name));
    }
    request
}

/// Whether two ids are known, and of two tables.
fn is_other(id: Option<&String>, found: Option<&String>) -> bool {
    id.zip(found).is_some_and(|(id, found)| id != found)
}

// Settings that no item depends on: made with the table, read back, and told where they differ.
//
// Endpoints that are not AWS ignore some of them without a word, so nothing is taken for set that
// the endpoint does not show. No setting fails a load.

/// A new table's backups take some seconds before they can be changed: how often to try, and how
/// long to wait in between.
const BACKUPS: (u32, Duration) = (12, Duration::from_secs(5));

/// Why an endpoint did not do or tell something: its error code.
type ErrorCode = String;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TagsResponse {
    #[serde(default)]
    tags: Vec<Tag>,
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Tag {
    key: String,
    value: String,
}

impl Dynamodb {
    /// Sets what `CreateTable` cannot set, on a table that has just become ACTIVE. Returns the settings that the table
    /// does not show afterwards. `refused`: the settings that the endpoint has refused already, each with its error code.
    pub(super) async fn complete(
        &self,
        table: &Table,
        mut refused: Vec<(&'static str, ErrorCode)>,
    ) -> Vec<Difference> {
        let wanted = &table.settings;
        if wanted.point_in_time_recovery == Some(true)
            && let Err(code) = self.recover(&table.name).await
        {
            refused.push(("point_in_time_recovery", code));
        }
        for region in &wanted.replicas {
            if let Err(code) = self.replicate(&table.name, region).await {
                refused.push(("replicas", code));
            }
        }
        let mut all = self.settings_of(table, &refused).await;
        let indexes = table.indexes.iter().filter_map(|index| index.autoscale);
        if let Some(policy) = wanted.autoscale.into_iter().chain(indexes).next() {
            let found = Some("left to your infrastructure");
            all.push(Difference::setting(
                "autoscale",
                &followed(policy),
                found,
                None,
            ));
        }
        all
    }

    /// The settings of the mapping that the table does not have. `refused`: those that the endpoint did not set, each
    /// with its error code.
    pub(super) async fn settings_of(
        &self,
        table: &Table,
        refused: &[(&str, ErrorCode)],
    ) -> Vec<Difference> {
        let wanted = &table.settings;
        if *wanted == Settings::default() {
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut differs = |setting: &str, wanted: String, found: Result<String, ErrorCode>| {
            if found.as_ref() == Ok(&wanted) {
                return;
            }
            let refused = refused.iter().find(|(name, _)| *name == setting);
            let why = refused.map(|(_, code)| code).or(found.as_ref().err());
            let (found, why) = (found.as_deref().ok(), why.map(String::as_str));
            all.push(Difference::setting(setting, &wanted, found, why));
        };
        let found = match self.describe_raw(&table.name).await {
            Ok(Some(found)) => found,
            // It has gone meanwhile; the load will say so.
            Ok(None) => return all,
            Err(error) => {
                differs("settings", "others".to_owned(), Err(error.code));
                return all;
            }
        };
        if let Some(view) = wanted.stream {
            differs("stream", view.word().to_owned(), Ok(stream(&found)));
        }
        if let Some(on) = wanted.deletion_protection {
            let found = found.deletion_protection_enabled;
            differs("deletion_protection", on.to_string(), Ok(found.to_string()));
        }
        if let Some(class) = wanted.class {
            let found = class_of(&found).word().to_owned();
            differs("class", class.word().to_owned(), Ok(found));
        }
        if let Some(units) = wanted.warm_throughput {
            let warm = warm(&found);
            let enough = warm.is_some_and(|w| w.read >= units.read && w.write >= units.write);
            let found = warm.map_or_else(none, warmed);
            let found = if enough { warmed(units) } else { found };
            differs("warm_throughput", warmed(units), Ok(found));
        }
        if !wanted.replicas.is_empty() {
            let replicas = found.replicas.iter();
            let there: Vec<&str> = replicas.filter_map(|r| r.region_name.as_deref()).collect();
            let mut lacking = wanted.replicas.clone();
            lacking.retain(|region| !there.contains(&region.as_str()));
            if !lacking.is_empty() {
                let found = if there.is_empty() {
                    none()
                } else {
                    there.join(", ")
                };
                differs("replicas", wanted.replicas.join(", "), Ok(found));
            }
        }
        if let Some(on) = wanted.point_in_time_recovery {
            let found = self.recovers(&table.name).await.map(|on| on.to_string());
            differs("point_in_time_recovery", on.to_string(), found);
        }
        if !wanted.tags.is_empty() {
            let found = self.tags(&found, &table.name).await;
            let found = found.map(|found| {
                let mut there = wanted.tags.clone();
                there.retain(|tag| found.contains(tag));
                tagged(&there)
            });
            differs("tags", tagged(&wanted.tags), found);
        }
        all
    }

    async fn recover(&self, name: &str) -> Result<(), ErrorCode> {
        let request = json!({
            "TableName": name,
            "PointInTimeRecoverySpecification": { "PointInTimeRecoveryEnabled": true },
        });
        let (mut tries, pause) = BACKUPS;
        loop {
            let asked = self.control("UpdateContinuousBackups", name, &request);
            match asked.await {
                Ok(IgnoredAny) => return Ok(()),
                Err(error)
                    if error.code == "ContinuousBackupsUnavailableException" && tries > 0 =>
                {
                    tries -= 1;
                    sleep(pause).await;
                }
                Err(error) => return Err(error.code),
            }
        }
    }

    async fn recovers(&self, name: &str) -> Result<bool, ErrorCode> {
        let request = json!({ "TableName": name });
        let asked = self.control("DescribeContinuousBackups", name, &request);
        let answer: Result<Value> = asked.await;
        let status = "/ContinuousBackupsDescription/PointInTimeRecoveryDescription/PointInTimeRecoveryStatus";
        let answer = answer.map_err(|error| error.code)?;
        Ok(answer.pointer(status) == Some(&json!("ENABLED")))
    }

    /// Asks for a replica and waits until the table can be changed again.
    async fn replicate(&self, name: &str, region: &str) -> Result<(), ErrorCode> {
        let create = json!({ "Create": { "RegionName": region } });
        let request = json!({ "TableName": name, "ReplicaUpdates": [create] });
        let asked: Result<IgnoredAny> = self.control("UpdateTable", name, &request).await;
        asked.map_err(|error| error.code)?;
        self.wait(name, false).await.map_err(|error| error.code)
    }

    async fn tags(
        &self,
        found: &ServiceTable,
        name: &str,
    ) -> Result<Vec<(String, String)>, ErrorCode> {
        let (mut tags, mut request) = (Vec::new(), json!({ "ResourceArn": found.table_arn }));
        loop {
            let asked = self.control("ListTagsOfResource", name, &request);
            let answer: Result<TagsResponse> = asked.await;
            let answer = answer.map_err(|error| error.code)?;
            tags.extend(answer.tags.into_iter().map(|tag| (tag.key, tag.value)));
            match answer.next_token {
                Some(next) => {
                    request = json!({ "ResourceArn": found.table_arn, "NextToken": next });
                }
                None => return Ok(tags),
            }
        }
    }
}

fn none() -> String {
    "none".to_owned()
}

/// The stream in the mapping's word.
fn stream(found: &ServiceTable) -> String {
    let stream = found.stream_specification.as_ref();
    let stream = stream.filter(|stream| stream.stream_enabled);
    let view = stream.map(|stream| stream.stream_view_type.as_str());
    let mut known = StreamView::WORDS.iter();
    let found = known.find(|(_, known)| view == Some(known.service_word()));
    found.map_or_else(none, |(word, _)| (*word).to_owned())
}

/// A table without a summary is of the standard class.
fn class_of(found: &ServiceTable) -> TableClass {
    let summary = found.table_class_summary.as_ref();
    let class = summary.and_then(|summary| summary.table_class.as_deref());
    if class == Some(TableClass::InfrequentAccess.service_word()) {
        TableClass::InfrequentAccess
    } else {
        TableClass::Standard
    }
}

fn warm(found: &ServiceTable) -> Option<Throughput> {
    let warm = found.warm_throughput.as_ref()?;
    Some(Throughput {
        read: warm.read_units_per_second?,
        write: warm.write_units_per_second?,
    })
}

fn warmed(units: Throughput) -> String {
    format!("{} reads and {} writes a second", units.read, units.write)
}

fn followed(policy: Autoscale) -> String {
    format!("up to {} units at {} percent", policy.max, policy.target)
}

fn tagged(tags: &[(String, String)]) -> String {
    if tags.is_empty() {
        return none();
    }
    let tags: Vec<String> = tags
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    tags.join(", ")
}
