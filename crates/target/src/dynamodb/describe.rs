//! A table as the service describes it, in the model's words.

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::{
    BillingMode, GlobalSecondaryIndexDescription, KeySchemaElement, KeyType as Role,
    LocalSecondaryIndexDescription, Projection as SdkProjection, ProjectionType,
    ProvisionedThroughputDescription, ScalarAttributeType, TableDescription as SdkTable,
    TimeToLiveStatus,
};
use dynafold_dynamodb::{
    Billing, Index, KeyAttribute, KeyType, Projection, Settings, Table, Throughput,
};

use super::Dynamodb;
use crate::{Result, TableDescription};

type KeyTypes = HashMap<String, KeyType>;

/// What a description can lack.
#[derive(Debug, thiserror::Error)]
enum Incomplete {
    /// When a table or index has no partition key.
    #[error("the description of a table lacks its key")]
    Key,
    /// When a key attribute has no type, or one that keys cannot have.
    #[error("the description of a table lacks the type of a key attribute")]
    Type,
}

impl Dynamodb {
    pub(super) async fn describe_table(&self, name: &str) -> Result<Option<TableDescription>> {
        let Some(found) = self.describe_raw(name).await? else {
            return Ok(None);
        };
        let mut table = translate(name, &found)
            .map_err(|error| self.action("DescribeTable", name).garbled(error))?;
        let ttl = self.describe_ttl(name).await?;
        table.ttl = ttl.clone().flatten();
        Ok(Some(TableDescription {
            status: status(&found),
            ttl_known: ttl.is_some(),
            id: identity(&found),
            item_count: found.item_count.and_then(|count| u64::try_from(count).ok()),
            table,
        }))
    }

    /// The service's own description; `None` where there is no such table.
    pub(super) async fn describe_raw(&self, name: &str) -> Result<Option<SdkTable>> {
        let action = self.action("DescribeTable", name);
        let ask = || async {
            match self.control.describe_table().table_name(name).send().await {
                Ok(answer) => answer
                    .table
                    .map(Some)
                    .ok_or_else(|| action.incomplete("Table")),
                Err(error) if error.code() == Some("ResourceNotFoundException") => Ok(None),
                Err(error) => Err(action.classify(error)),
            }
        };
        self.wire.renewing(&action, ask).await
    }

    /// The TTL attribute; `None` where it cannot be known, because its permission is missing or
    /// the endpoint does not know the operation.
    pub(super) async fn describe_ttl(&self, name: &str) -> Result<Option<Option<String>>> {
        let answer = self
            .control
            .describe_time_to_live()
            .table_name(name)
            .send()
            .await;
        match answer {
            Ok(answer) => Ok(Some(
                answer
                    .time_to_live_description
                    .filter(|ttl| {
                        matches!(
                            ttl.time_to_live_status,
                            Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)
                        )
                    })
                    .and_then(|ttl| ttl.attribute_name),
            )),
            Err(error)
                if matches!(
                    error.code(),
                    Some("AccessDeniedException" | "UnknownOperationException")
                ) =>
            {
                tracing::warn!(table = name, "the TTL of the table cannot be read");
                Ok(None)
            }
            Err(error) => Err(self.action("DescribeTimeToLive", name).classify(error)),
        }
    }
}

/// The table's own id, or else when it was made.
fn identity(found: &SdkTable) -> Option<String> {
    let made = || {
        found
            .creation_date_time
            .map(|time| time.as_nanos().to_string())
    };
    found.table_id.clone().or_else(made)
}

/// The table's status as the service spells it.
pub(super) fn status(found: &SdkTable) -> String {
    found
        .table_status
        .as_ref()
        .map_or_else(String::new, |status| status.as_str().to_owned())
}

fn translate(name: &str, found: &SdkTable) -> Result<Table, Incomplete> {
    let types: KeyTypes = found
        .attribute_definitions()
        .iter()
        .filter_map(|definition| {
            let key_type = match definition.attribute_type {
                ScalarAttributeType::S => KeyType::S,
                ScalarAttributeType::N => KeyType::N,
                ScalarAttributeType::B => KeyType::B,
                _ => return None,
            };
            Some((definition.attribute_name.clone(), key_type))
        })
        .collect();
    let (partition, sort) = keys(found.key_schema(), &types)?;
    let billing = billing(found);
    let whole = billing.provisioned();
    let global = |found: &GlobalSecondaryIndexDescription| {
        let own = whole.and(found.provisioned_throughput.as_ref());
        let own = own.map(throughput).filter(|own| Some(*own) != whole);
        let (schema, held) = (found.key_schema(), found.projection());
        Ok(Index {
            throughput: own,
            ..index(found.index_name(), schema, held, &types)?
        })
    };
    let local = |found: &LocalSecondaryIndexDescription| {
        let (schema, held) = (found.key_schema(), found.projection());
        index(found.index_name(), schema, held, &types)
    };
    Ok(Table {
        name: found.table_name.clone().unwrap_or_else(|| name.to_owned()),
        partition: partition.into_iter().next().ok_or(Incomplete::Key)?,
        sort: sort.into_iter().next(),
        indexes: found
            .global_secondary_indexes()
            .iter()
            .map(global)
            .collect::<Result<_, _>>()?,
        local_indexes: found
            .local_secondary_indexes()
            .iter()
            .map(local)
            .collect::<Result<_, _>>()?,
        ttl: None,
        billing,
        settings: Settings::default(),
    })
}

fn index(
    name: Option<&str>,
    schema: &[KeySchemaElement],
    held: Option<&SdkProjection>,
    types: &KeyTypes,
) -> Result<Index, Incomplete> {
    let (partition, sort) = keys(schema, types)?;
    Ok(Index {
        name: name.unwrap_or_default().to_owned(),
        partition,
        sort,
        projection: projection(held),
        throughput: None,
        autoscale: None,
    })
}

/// Partition and sort key attributes, each in their order.
fn keys(
    schema: &[KeySchemaElement],
    types: &KeyTypes,
) -> Result<(Vec<KeyAttribute>, Vec<KeyAttribute>), Incomplete> {
    let of = |role: &Role| {
        schema
            .iter()
            .filter(|element| element.key_type == *role)
            .map(|element| {
                let key_type = types.get(&element.attribute_name).ok_or(Incomplete::Type)?;
                Ok(KeyAttribute {
                    name: Arc::from(element.attribute_name.as_str()),
                    key_type: *key_type,
                })
            })
            .collect::<Result<Vec<_>, Incomplete>>()
    };
    Ok((of(&Role::Hash)?, of(&Role::Range)?))
}

fn projection(found: Option<&SdkProjection>) -> Projection {
    let kind = found.and_then(|projection| projection.projection_type.as_ref());
    match kind {
        Some(ProjectionType::KeysOnly) => Projection::Keys,
        Some(ProjectionType::Include) => Projection::Include(
            found
                .map(|projection| projection.non_key_attributes().to_vec())
                .unwrap_or_default(),
        ),
        _ => Projection::All,
    }
}

/// A table that was made provisioned has no summary of its billing.
fn billing(found: &SdkTable) -> Billing {
    let mode = found
        .billing_mode_summary
        .as_ref()
        .and_then(|summary| summary.billing_mode.as_ref());
    match (mode, &found.provisioned_throughput) {
        (Some(BillingMode::PayPerRequest), _) | (_, None) => Billing::OnDemand,
        (_, Some(units)) => Billing::Provisioned(throughput(units)),
    }
}

fn throughput(units: &ProvisionedThroughputDescription) -> Throughput {
    let count = |units: Option<i64>| units.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    Throughput {
        read: count(units.read_capacity_units),
        write: count(units.write_capacity_units),
    }
}
