//! Settings that no item depends on: made with the table, read back, and told where they differ.
//!
//! Endpoints that are not AWS ignore some of them without a word, so nothing is taken for set that
//! the endpoint does not show. No setting fails a load.

use std::time::Duration;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    CreateReplicationGroupMemberAction, PointInTimeRecoverySpecification,
    PointInTimeRecoveryStatus, ReplicationGroupUpdate, StreamSpecification, StreamViewType,
    TableClass as SdkClass, TableDescription as SdkTable, Tag, WarmThroughput,
};
use tokio::time::sleep;

use super::Dynamodb;
use crate::mapping::model::{Autoscale, Settings, StreamView, Table, TableClass, Throughput};
use crate::target::Difference;

/// A new table's backups take some seconds before they can be changed: how often to try, and how
/// long to wait in between.
const BACKUPS: (u32, Duration) = (12, Duration::from_secs(5));

/// Why an endpoint did not do or tell something: its error code.
type Code = String;

/// Puts what `CreateTable` takes into its request.
pub(super) fn with_settings(
    request: CreateTableFluentBuilder,
    settings: &Settings,
) -> Result<CreateTableFluentBuilder, aws_sdk_dynamodb::error::BuildError> {
    let tags = settings
        .tags
        .iter()
        .map(|(key, value)| Tag::builder().key(key).value(value).build())
        .collect::<Result<Vec<_>, _>>()?;
    let stream = settings.stream.map(|view| {
        StreamSpecification::builder()
            .stream_enabled(true)
            .stream_view_type(view_type(view))
            .build()
    });
    let warm = settings.warm_throughput.map(|units| {
        WarmThroughput::builder()
            .read_units_per_second(units_of(units.read))
            .write_units_per_second(units_of(units.write))
            .build()
    });
    Ok(request
        .set_stream_specification(stream.transpose()?)
        .set_deletion_protection_enabled(settings.deletion_protection)
        .set_table_class(settings.class.map(class))
        .set_tags((!tags.is_empty()).then_some(tags))
        .set_warm_throughput(warm))
}

impl Dynamodb {
    /// Sets what `CreateTable` cannot, of a table that has just become ACTIVE, and tells what of all
    /// settings the table does not show afterwards.
    pub(super) async fn complete(&self, table: &Table) -> Vec<Difference> {
        let wanted = &table.settings;
        let mut refused = Vec::new();
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
        let mut all = self.settings_of(table).await;
        for difference in &mut all {
            if let Difference::Setting { setting, why, .. } = difference
                && let Some((_, code)) = refused.iter().find(|(name, _)| name == setting)
            {
                *why = Some(code.clone());
            }
        }
        let indexes = table.indexes.iter().filter_map(|index| index.autoscale);
        if let Some(policy) = wanted.autoscale.into_iter().chain(indexes).next() {
            all.push(Difference::Setting {
                setting: "autoscale",
                wanted: followed(policy),
                found: Some("left to your infrastructure".to_owned()),
                why: None,
            });
        }
        all
    }

    /// Tells what of the settings that the mapping names the table does not have.
    pub(super) async fn settings_of(&self, table: &Table) -> Vec<Difference> {
        let wanted = &table.settings;
        if *wanted == Settings::default() {
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut tell = |setting, wanted: String, found: Result<String, Code>| match found {
            Ok(found) if found == wanted => {}
            Ok(found) => all.push(Difference::Setting {
                setting,
                wanted,
                found: Some(found),
                why: None,
            }),
            Err(code) => all.push(Difference::Setting {
                setting,
                wanted,
                found: None,
                why: Some(code),
            }),
        };
        let found = match self.describe_raw(&table.name).await {
            Ok(Some(found)) => found,
            // It has gone meanwhile; the load will say so.
            Ok(None) => return all,
            Err(error) => {
                tell("settings", "others".to_owned(), Err(error.code));
                return all;
            }
        };
        if let Some(view) = wanted.stream {
            tell("stream", view.word().to_owned(), Ok(stream(&found)));
        }
        if let Some(on) = wanted.deletion_protection {
            let found = found.deletion_protection_enabled.unwrap_or(false);
            tell("deletion_protection", on.to_string(), Ok(found.to_string()));
        }
        if let Some(class) = wanted.class {
            let found = class_of(&found).word().to_owned();
            tell("class", class.word().to_owned(), Ok(found));
        }
        if let Some(units) = wanted.warm_throughput {
            let warm = warm(&found);
            let enough = warm.is_some_and(|w| w.read >= units.read && w.write >= units.write);
            let found = warm.map_or_else(none, warmed);
            let found = if enough { warmed(units) } else { found };
            tell("warm_throughput", warmed(units), Ok(found));
        }
        if !wanted.replicas.is_empty() {
            let there = found.replicas().iter();
            let there: Vec<&str> = there.filter_map(|r| r.region_name.as_deref()).collect();
            let mut lacking = wanted.replicas.clone();
            lacking.retain(|region| !there.contains(&region.as_str()));
            if !lacking.is_empty() {
                let found = if there.is_empty() {
                    none()
                } else {
                    there.join(", ")
                };
                tell("replicas", wanted.replicas.join(", "), Ok(found));
            }
        }
        if let Some(on) = wanted.point_in_time_recovery {
            let found = self.recovers(&table.name).await;
            let found = found.map(|on| on.to_string());
            tell("point_in_time_recovery", on.to_string(), found);
        }
        if !wanted.tags.is_empty() {
            let found = self.tags(&found).await;
            let found = found.map(|found| {
                let mut there = wanted.tags.clone();
                there.retain(|tag| found.contains(tag));
                tagged(&there)
            });
            tell("tags", tagged(&wanted.tags), found);
        }
        all
    }

    async fn recover(&self, name: &str) -> Result<(), Code> {
        let (mut tries, pause) = BACKUPS;
        loop {
            let on = PointInTimeRecoverySpecification::builder()
                .point_in_time_recovery_enabled(true)
                .build()
                .map_err(|_| "Request".to_owned())?;
            let updated = self
                .control
                .update_continuous_backups()
                .table_name(name)
                .point_in_time_recovery_specification(on)
                .send()
                .await;
            match updated {
                Ok(_) => return Ok(()),
                Err(error)
                    if error.code() == Some("ContinuousBackupsUnavailableException")
                        && tries > 0 =>
                {
                    tries -= 1;
                    sleep(pause).await;
                }
                Err(error) => {
                    let action = self.action("UpdateContinuousBackups", name);
                    return Err(action.classify(&error).code);
                }
            }
        }
    }

    async fn recovers(&self, name: &str) -> Result<bool, Code> {
        let request = self.control.describe_continuous_backups().table_name(name);
        let answer = request.send().await.map_err(|error| {
            let action = self.action("DescribeContinuousBackups", name);
            action.classify(&error).code
        })?;
        let status = answer
            .continuous_backups_description
            .and_then(|backups| backups.point_in_time_recovery_description)
            .and_then(|recovery| recovery.point_in_time_recovery_status);
        Ok(status == Some(PointInTimeRecoveryStatus::Enabled))
    }

    /// Asks for a replica and waits until the table can be changed again.
    async fn replicate(&self, name: &str, region: &str) -> Result<(), Code> {
        let create = CreateReplicationGroupMemberAction::builder()
            .region_name(region)
            .build()
            .map_err(|_| "Request".to_owned())?;
        let request = self
            .control
            .update_table()
            .table_name(name)
            .replica_updates(ReplicationGroupUpdate::builder().create(create).build());
        match request.send().await {
            Ok(_) => self.wait(name).await.map_err(|error| error.code),
            Err(error) => Err(self.action("UpdateTable", name).classify(&error).code),
        }
    }

    async fn tags(&self, found: &SdkTable) -> Result<Vec<(String, String)>, Code> {
        let name = found.table_name.as_deref().unwrap_or_default();
        let (mut tags, mut from) = (Vec::new(), None);
        loop {
            let request = self
                .control
                .list_tags_of_resource()
                .resource_arn(found.table_arn.as_deref().unwrap_or_default())
                .set_next_token(from);
            let answer = request.send().await.map_err(|error| {
                let action = self.action("ListTagsOfResource", name);
                action.classify(&error).code
            })?;
            let page = answer.tags.unwrap_or_default().into_iter();
            tags.extend(page.map(|tag| (tag.key, tag.value)));
            match answer.next_token {
                Some(next) => from = Some(next),
                None => return Ok(tags),
            }
        }
    }
}

fn none() -> String {
    "none".to_owned()
}

fn units_of(units: u64) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX)
}

fn view_type(view: StreamView) -> StreamViewType {
    match view {
        StreamView::KeysOnly => StreamViewType::KeysOnly,
        StreamView::NewImage => StreamViewType::NewImage,
        StreamView::OldImage => StreamViewType::OldImage,
        StreamView::NewAndOldImages => StreamViewType::NewAndOldImages,
    }
}

/// The stream in the mapping's word.
fn stream(found: &SdkTable) -> String {
    let stream = found.stream_specification.as_ref();
    let view = stream
        .filter(|stream| stream.stream_enabled)
        .and_then(|stream| stream.stream_view_type.clone());
    let known = StreamView::WORDS.iter();
    let word = known.filter(|(_, known)| Some(view_type(*known)) == view);
    word.map(|(word, _)| (*word).to_owned())
        .next()
        .unwrap_or_else(none)
}

fn class(class: TableClass) -> SdkClass {
    match class {
        TableClass::Standard => SdkClass::Standard,
        TableClass::InfrequentAccess => SdkClass::StandardInfrequentAccess,
    }
}

/// A table without a summary is of the standard class.
fn class_of(found: &SdkTable) -> TableClass {
    let summary = found.table_class_summary.as_ref();
    match summary.and_then(|summary| summary.table_class.as_ref()) {
        Some(SdkClass::StandardInfrequentAccess) => TableClass::InfrequentAccess,
        _ => TableClass::Standard,
    }
}

fn warm(found: &SdkTable) -> Option<Throughput> {
    let warm = found.warm_throughput.as_ref()?;
    let count = |units: Option<i64>| u64::try_from(units?).ok();
    Some(Throughput {
        read: count(warm.read_units_per_second)?,
        write: count(warm.write_units_per_second)?,
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
