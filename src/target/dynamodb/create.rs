//! Making a table, waiting for it, setting its TTL. Safe to repeat, and in races.

use std::time::Duration;

use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, IndexStatus, KeySchemaElement,
    KeyType as Role, LocalSecondaryIndex, Projection as SdkProjection, ProjectionType,
    ProvisionedThroughput, ScalarAttributeType, TableDescription as SdkTable, TableStatus,
    TimeToLiveSpecification,
};
use tokio::time::{Instant, sleep};

use super::settings::with_settings;
use super::{Dynamodb, describe};
use crate::mapping::model::{Billing, Index, KeyAttribute, KeyType, Projection, Table, Throughput};
use crate::target::{Difference, ErrorClass, TargetError, compare};

/// Between two looks at a table that is being made: at first, and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// A table with indexes takes half a minute; one that takes this long will not come.
const PATIENCE: Duration = Duration::from_mins(15);

impl Dynamodb {
    pub(super) async fn create_table(&self, table: &Table) -> Result<Vec<Difference>, TargetError> {
        let action = self.action("CreateTable", &table.name);
        let provisioned = match table.billing {
            Billing::OnDemand => None,
            Billing::Provisioned(units) => Some(units),
        };
        let indexes = some(&table.indexes, |index| global(index, provisioned));
        let request = self
            .control
            .create_table()
            .table_name(&table.name)
            .set_key_schema(Some(
                schema([&table.partition], table.sort.as_slice())
                    .map_err(|error| action.garbled(&error))?,
            ))
            .set_attribute_definitions(Some(
                definitions(table).map_err(|error| action.garbled(&error))?,
            ))
            .set_global_secondary_indexes(indexes.map_err(|error| action.garbled(&error))?)
            .set_local_secondary_indexes(
                some(&table.local_indexes, |index| local(table, index))
                    .map_err(|error| action.garbled(&error))?,
            )
            .billing_mode(match provisioned {
                None => BillingMode::PayPerRequest,
                Some(_) => BillingMode::Provisioned,
            })
            .set_provisioned_throughput(
                provisioned
                    .map(throughput)
                    .transpose()
                    .map_err(|error| action.garbled(&error))?,
            );
        let request = with_settings(request, &table.settings);
        let request = request.map_err(|error| action.garbled(&error))?;
        match request.send().await {
            Ok(_) => self.wait(&table.name).await?,
            // Another run was quicker, or the answer to our first attempt was lost.
            Err(error) if error.code() == Some("ResourceInUseException") => {
                self.wait(&table.name).await?;
                self.same_or_refuse(table).await?;
            }
            Err(error) => return Err(action.classify(&error)),
        }
        self.set_ttl(table).await?;
        Ok(self.complete(table).await)
    }

    /// Waits until the table and all its indexes are ACTIVE.
    pub(super) async fn wait(&self, name: &str) -> Result<(), TargetError> {
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
                    return Err(self.action("DescribeTable", name).error(
                        ErrorClass::Fatal,
                        "ResourceInUseException",
                        &format!("the table did not become ACTIVE; its status is `{status}`"),
                        Some("look at it in the console, and run again once it is ACTIVE"),
                    ));
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(LOOK.1);
        }
    }

    async fn same_or_refuse(&self, table: &Table) -> Result<(), TargetError> {
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
        Err(self.action("CreateTable", &table.name).error(
            ErrorClass::Fatal,
            "ResourceInUseException",
            &format!(
                "a table of this name appeared meanwhile and is another one: {}",
                differences.join("; ")
            ),
            None,
        ))
    }

    async fn set_ttl(&self, table: &Table) -> Result<(), TargetError> {
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
            .map_err(|error| action.garbled(&error))?;
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
                _ => Err(action.classify(&error)),
            },
        }
    }

    async fn has_ttl(&self, name: &str, attribute: &String) -> Result<bool, TargetError> {
        let enabled = self.describe_ttl(name).await?.flatten();
        Ok(enabled.as_ref() == Some(attribute))
    }
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
fn some<T, U>(
    all: &[T],
    make: impl Fn(&T) -> Result<U, BuildError>,
) -> Result<Option<Vec<U>>, BuildError> {
    let list: Vec<U> = all.iter().map(make).collect::<Result<_, _>>()?;
    Ok((!list.is_empty()).then_some(list))
}

/// Exactly the key attributes of the table and its indexes, each once.
fn definitions(table: &Table) -> Result<Vec<AttributeDefinition>, BuildError> {
    let keys = std::iter::once(&table.partition)
        .chain(&table.sort)
        .chain(
            table
                .indexes
                .iter()
                .flat_map(|index| index.partition.iter().chain(&index.sort)),
        )
        .chain(table.local_indexes.iter().flat_map(|index| &index.sort));
    let mut definitions: Vec<AttributeDefinition> = Vec::new();
    for key in keys {
        if definitions.iter().any(|d| d.attribute_name == *key.name) {
            continue;
        }
        let made = AttributeDefinition::builder()
            .attribute_name(&*key.name)
            .attribute_type(match key.key_type {
                KeyType::S => ScalarAttributeType::S,
                KeyType::N => ScalarAttributeType::N,
                KeyType::B => ScalarAttributeType::B,
            });
        definitions.push(made.build()?);
    }
    Ok(definitions)
}

/// A key schema: attributes of one role stand in their order.
fn schema<'a>(
    partition: impl IntoIterator<Item = &'a KeyAttribute>,
    sort: impl IntoIterator<Item = &'a KeyAttribute>,
) -> Result<Vec<KeySchemaElement>, BuildError> {
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

fn global(
    index: &Index,
    provisioned: Option<Throughput>,
) -> Result<GlobalSecondaryIndex, BuildError> {
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

fn local(table: &Table, index: &Index) -> Result<LocalSecondaryIndex, BuildError> {
    LocalSecondaryIndex::builder()
        .index_name(&index.name)
        .set_key_schema(Some(schema([&table.partition], &index.sort)?))
        .projection(projection(&index.projection))
        .build()
}

fn projection(projection: &Projection) -> SdkProjection {
    let builder = SdkProjection::builder();
    match projection {
        Projection::All => builder.projection_type(ProjectionType::All),
        Projection::Keys => builder.projection_type(ProjectionType::KeysOnly),
        Projection::Include(names) => builder
            .projection_type(ProjectionType::Include)
            .set_non_key_attributes(Some(names.clone())),
    }
    .build()
}

fn throughput(units: Throughput) -> Result<ProvisionedThroughput, BuildError> {
    let count = |units: u64| i64::try_from(units).unwrap_or(i64::MAX);
    ProvisionedThroughput::builder()
        .read_capacity_units(count(units.read))
        .write_capacity_units(count(units.write))
        .build()
}
