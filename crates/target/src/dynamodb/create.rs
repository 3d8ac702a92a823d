//! Making a table, waiting for it, setting its TTL. Safe to repeat, and in races.

use std::time::Duration;

use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata};
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, CreateReplicationGroupMemberAction, GlobalSecondaryIndex, IndexStatus,
    KeySchemaElement, KeyType as Role, LocalSecondaryIndex, PointInTimeRecoverySpecification,
    PointInTimeRecoveryStatus, Projection as SdkProjection, ProvisionedThroughput,
    ReplicationGroupUpdate, StreamSpecification, TableClass as SdkClass,
    TableDescription as SdkTable, TableStatus, Tag, TimeToLiveSpecification, WarmThroughput,
};
use dynafold_dynamodb::{
    Autoscale, Index, KeyAttribute, Projection, Settings, StreamView, Table, TableClass, Throughput,
};
use tokio::time::{Instant, sleep};

use super::super::{Difference, ErrorClass, Result, TargetError, TargetErrorKind, compare};
use super::{Dynamodb, describe};

/// Between two looks at a table that is being made: at first, and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// A table with indexes takes half a minute; one that takes this long will not come.
const PATIENCE: Duration = Duration::from_mins(15);

impl Dynamodb {
    pub(super) async fn create_table(&self, table: &Table) -> Result<Vec<Difference>> {
        let action = self.action("CreateTable", &table.name);
        let request = with_keys(self.control.create_table(), table)
            .and_then(|request| with_settings(request, &table.settings))
            .map_err(|error| action.garbled(error))?;
        match request.send().await {
            Ok(_) => self.wait(&table.name).await?,
            // Another run was quicker, or the answer to our first attempt was lost.
            Err(error) if error.code() == Some("ResourceInUseException") => {
                self.wait(&table.name).await?;
                self.same_or_refuse(table).await?;
            }
            Err(error) => return Err(action.classify(error)),
        }
        self.set_ttl(table).await?;
        Ok(self.complete(table).await)
    }

    /// Waits until the table and all its indexes are ACTIVE.
    pub(super) async fn wait(&self, name: &str) -> Result<()> {
        let begun = Instant::now();
        let mut pause = LOOK.0;
        loop {
            let found = self.describe_raw(name).await?;
            match &found {
                Some(found) if is_active(found) => return Ok(()),
                // Just made, it may not be visible yet.
                _ if begun.elapsed() < PATIENCE => {}
                _ => {
                    let status = found.as_ref().map_or_else(String::new, describe::status);
                    let message =
                        format!("the table did not become ACTIVE; its status is `{status}`");
                    return Err(self
                        .in_use("DescribeTable", name, &message)
                        .with_help("look at it in the console, and run again once it is ACTIVE"));
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

    async fn set_ttl(&self, table: &Table) -> Result<()> {
        let Some(attribute) = &table.ttl else {
            return Ok(());
        };
        let action = self.action("UpdateTimeToLive", &table.name);
        // Enabling it twice is an error.
        if self.has_ttl(&table.name, attribute).await? {
            return Ok(());
        }
        let ttl = TimeToLiveSpecification::builder()
            .enabled(true)
            .attribute_name(attribute)
            .build()
            .map_err(|error| action.garbled(error))?;
        let updated = self
            .control
            .update_time_to_live()
            .table_name(&table.name)
            .time_to_live_specification(ttl)
            .send()
            .await;
        match updated {
            Ok(_) => Ok(()),
            // Another run that made the same table may have enabled it in between.
            Err(error) => match self.has_ttl(&table.name, attribute).await {
                Ok(true) => Ok(()),
                _ => Err(action.classify(error)),
            },
        }
    }

    async fn has_ttl(&self, name: &str, attribute: &String) -> Result<bool> {
        let enabled = self.describe_ttl(name).await?.flatten();
        Ok(enabled.as_ref() == Some(attribute))
    }
}

/// A part of a request.
type Built<T> = Result<T, BuildError>;

/// Puts the table, its indexes and its billing into the request that makes it.
fn with_keys(request: CreateTableFluentBuilder, table: &Table) -> Built<CreateTableFluentBuilder> {
    let provisioned = table.billing.provisioned();
    Ok(request
        .table_name(&table.name)
        .set_key_schema(Some(schema([&table.partition], table.sort.as_slice())?))
        .set_attribute_definitions(Some(definitions(table)?))
        .set_global_secondary_indexes(some(&table.indexes, |index| global(index, provisioned))?)
        .set_local_secondary_indexes(some(&table.local_indexes, |index| local(table, index))?)
        .billing_mode(table.billing.service_word().into())
        .set_provisioned_throughput(provisioned.map(throughput).transpose()?))
}

fn is_active(found: &SdkTable) -> bool {
    found.table_status == Some(TableStatus::Active)
        && found
            .global_secondary_indexes()
            .iter()
            // DynamoDB Local and the embedded engine have been seen to leave it out.
            .all(|index| {
                index
                    .index_status
                    .as_ref()
                    .is_none_or(|status| *status == IndexStatus::Active)
            })
}

/// `None` for an empty list, which the service refuses.
fn some<T, U>(all: &[T], make: impl Fn(&T) -> Built<U>) -> Built<Option<Vec<U>>> {
    let list: Vec<U> = all.iter().map(make).collect::<Result<_, _>>()?;
    Ok((!list.is_empty()).then_some(list))
}

/// Exactly the key attributes of the table and its indexes, each once.
fn definitions(table: &Table) -> Built<Vec<AttributeDefinition>> {
    let definition = |key: &KeyAttribute| {
        AttributeDefinition::builder()
            .attribute_name(&*key.name)
            .attribute_type(key.key_type.word().into())
            .build()
    };
    table.key_attributes().into_iter().map(definition).collect()
}

/// A key schema: attributes of one role stand in their order.
fn schema<'a>(
    partition: impl IntoIterator<Item = &'a KeyAttribute>,
    sort: impl IntoIterator<Item = &'a KeyAttribute>,
) -> Built<Vec<KeySchemaElement>> {
    let element = |role: Role, key: &KeyAttribute| {
        KeySchemaElement::builder()
            .attribute_name(&*key.name)
            .key_type(role)
            .build()
    };
    let partition = partition.into_iter().map(|key| element(Role::Hash, key));
    let sort = sort.into_iter().map(|key| element(Role::Range, key));
    partition.chain(sort).collect()
}

fn global(index: &Index, provisioned: Option<Throughput>) -> Built<GlobalSecondaryIndex> {
    GlobalSecondaryIndex::builder()
        .index_name(&index.name)
        .set_key_schema(Some(schema(&index.partition, &index.sort)?))
        .projection(projection(&index.projection))
        .set_provisioned_throughput(
            provisioned
                .map(|whole| throughput(index.throughput.unwrap_or(whole)))
                .transpose()?,
        )
        .build()
}

fn local(table: &Table, index: &Index) -> Built<LocalSecondaryIndex> {
    LocalSecondaryIndex::builder()
        .index_name(&index.name)
        .set_key_schema(Some(schema([&table.partition], &index.sort)?))
        .projection(projection(&index.projection))
        .build()
}

fn projection(projection: &Projection) -> SdkProjection {
    let (kind, names) = projection.service_words();
    SdkProjection::builder()
        .projection_type(kind.into())
        .set_non_key_attributes((!names.is_empty()).then(|| names.to_vec()))
        .build()
}

fn throughput(units: Throughput) -> Built<ProvisionedThroughput> {
    ProvisionedThroughput::builder()
        .read_capacity_units(units_of(units.read))
        .write_capacity_units(units_of(units.write))
        .build()
}

// Deleting a table, and waiting until it is gone. Safe to repeat.

impl Dynamodb {
    pub(super) async fn remove_table(&self, name: &str) -> Result<()> {
        let begun = Instant::now();
        let (mut pause, mut asked) = (LOOK.0, false);
        loop {
            if !asked {
                let request = self.control.delete_table().table_name(name);
                match request.send().await {
                    Ok(_) => asked = true,
                    Err(error) => match error.code() {
                        Some("ResourceNotFoundException") => return Ok(()),
                        // It is being made or changed, or is being deleted already.
                        Some("ResourceInUseException") if begun.elapsed() < PATIENCE => {}
                        _ => return Err(self.action("DeleteTable", name).classify(error)),
                    },
                }
            }
            let Some(found) = self.describe_raw(name).await? else {
                return Ok(());
            };
            if begun.elapsed() >= PATIENCE {
                let status = describe::status(&found);
                let message = format!("the table was not deleted; its status is `{status}`");
                return Err(self
                    .in_use("DescribeTable", name, &message)
                    .with_help("look at it in the console, and run again once it is gone"));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LOOK.1);
        }
    }
}

// Settings that no item depends on: made with the table, read back, and told where they differ.
//
// Endpoints that are not AWS ignore some of them without a word, so nothing is taken for set that
// the endpoint does not show. No setting fails a load.

/// A new table's backups take some seconds before they can be changed: how often to try, and how
/// long to wait in between.
const BACKUPS: (u32, Duration) = (12, Duration::from_secs(5));

/// Why an endpoint did not do or tell something: its error code.
type Code = String;

/// Puts what `CreateTable` takes of the settings into its request.
fn with_settings(
    request: CreateTableFluentBuilder,
    settings: &Settings,
) -> Built<CreateTableFluentBuilder> {
    let tags = settings
        .tags
        .iter()
        .map(|(key, value)| Tag::builder().key(key).value(value).build())
        .collect::<Result<Vec<_>, _>>()?;
    let stream = settings.stream.map(|view| {
        StreamSpecification::builder()
            .stream_enabled(true)
            .stream_view_type(view.service_word().into())
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
        .set_table_class(settings.class.map(|class| class.service_word().into()))
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

    /// Tells what of the settings that the mapping names the table does not have. `refused`: those that the
    /// endpoint did not set.
    pub(super) async fn settings_of(
        &self,
        table: &Table,
        refused: &[(&str, Code)],
    ) -> Vec<Difference> {
        let wanted = &table.settings;
        if *wanted == Settings::default() {
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut tell = |setting: &str, wanted: String, found: Result<String, Code>| {
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
                    return Err(action.classify(error).code);
                }
            }
        }
    }

    async fn recovers(&self, name: &str) -> Result<bool, Code> {
        let request = self.control.describe_continuous_backups().table_name(name);
        let answer = request.send().await.map_err(|error| {
            let action = self.action("DescribeContinuousBackups", name);
            action.classify(error).code
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
            Err(error) => Err(self.action("UpdateTable", name).classify(error).code),
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
                action.classify(error).code
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

/// The stream in the mapping's word.
fn stream(found: &SdkTable) -> String {
    let stream = found.stream_specification.as_ref();
    let view = stream
        .filter(|stream| stream.stream_enabled)
        .and_then(|stream| stream.stream_view_type());
    let is_it = |known: StreamView| view.is_some_and(|view| view.as_str() == known.service_word());
    let mut known = StreamView::WORDS.iter();
    let found = known.find(|(_, known)| is_it(*known));
    found.map_or_else(none, |(word, _)| (*word).to_owned())
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
