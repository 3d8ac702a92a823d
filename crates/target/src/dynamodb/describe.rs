//! A table as the service describes it, in the model's words.

use std::sync::Arc;

use dynafold_dynamodb::{
    Billing, Index, KeyAttribute, KeyType, Projection, Settings, Table, Throughput,
};
use serde::Deserialize;
use serde_json::{Number, json};

use super::Dynamodb;
use crate::{IndexChange, Result, TableDescription, UnreadyIndex};

/// What a description can lack.
#[derive(Debug, thiserror::Error)]
enum Incomplete {
    /// When a table or index has no partition key.
    #[error("the description of a table has no key")]
    Key,
    /// When a key attribute has no type, or one that keys cannot have.
    #[error("the description of a table has no type for a key attribute")]
    Type,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DescribeTableResponse {
    table: Option<ServiceTable>,
}

/// The service's own description of a table.
#[derive(Debug, Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ServiceTable {
    table_name: Option<String>,
    pub(super) table_arn: String,
    pub(super) table_id: Option<String>,
    /// As the service spells it.
    pub(super) table_status: String,
    creation_date_time: Option<Number>,
    item_count: Option<u64>,
    attribute_definitions: Vec<AttributeDefinition>,
    key_schema: Vec<KeySchemaElement>,
    global_secondary_indexes: Vec<ServiceIndex>,
    local_secondary_indexes: Vec<ServiceIndex>,
    billing_mode_summary: Option<BillingModeSummary>,
    provisioned_throughput: Option<ProvisionedThroughput>,
    pub(super) stream_specification: Option<StreamSpecification>,
    pub(super) deletion_protection_enabled: bool,
    pub(super) table_class_summary: Option<TableClassSummary>,
    pub(super) warm_throughput: Option<WarmThroughput>,
    pub(super) replicas: Vec<Replica>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AttributeDefinition {
    attribute_name: String,
    attribute_type: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct KeySchemaElement {
    attribute_name: String,
    key_type: String,
}

#[derive(Debug, Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ServiceIndex {
    index_name: String,
    /// DynamoDB Local and the embedded engine have been seen to leave it out.
    index_status: Option<String>,
    backfilling: bool,
    key_schema: Vec<KeySchemaElement>,
    projection: ServiceProjection,
    provisioned_throughput: Option<ProvisionedThroughput>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct ServiceProjection {
    projection_type: String,
    non_key_attributes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BillingModeSummary {
    billing_mode: Option<String>,
}

#[derive(Debug, Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "PascalCase", default)]
struct ProvisionedThroughput {
    read_capacity_units: u64,
    write_capacity_units: u64,
}

#[derive(Debug, Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct StreamSpecification {
    pub(super) stream_enabled: bool,
    pub(super) stream_view_type: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct TableClassSummary {
    pub(super) table_class: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct WarmThroughput {
    pub(super) read_units_per_second: Option<u64>,
    pub(super) write_units_per_second: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Replica {
    pub(super) region_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DescribeTimeToLiveResponse {
    time_to_live_description: Option<TimeToLive>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TimeToLive {
    time_to_live_status: Option<String>,
    attribute_name: Option<String>,
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
        let indexes = found.global_secondary_indexes.iter();
        let unready = indexes.filter_map(|index| {
            Some(UnreadyIndex {
                name: index.index_name.clone(),
                change: match index.index_status.as_deref() {
                    Some("CREATING") if index.backfilling => IndexChange::Backfill,
                    Some("CREATING") => IndexChange::Create,
                    Some("DELETING") => IndexChange::Delete,
                    _ => return None,
                },
            })
        });
        Ok(Some(TableDescription {
            unready_indexes: unready.collect(),
            id: found.id(),
            status: found.table_status,
            ttl_known: ttl.is_some(),
            item_count: found.item_count,
            table,
        }))
    }

    /// The service's own description; `None` where there is no such table.
    pub(super) async fn describe_raw(&self, name: &str) -> Result<Option<ServiceTable>> {
        let request = json!({ "TableName": name });
        let asked = self.control("DescribeTable", name, &request);
        let answer: Result<DescribeTableResponse> = asked.await;
        match answer {
            Ok(answer) => answer
                .table
                .map(Some)
                .ok_or_else(|| self.action("DescribeTable", name).incomplete("Table")),
            Err(error) if error.code == "ResourceNotFoundException" => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The TTL attribute; `None` where it cannot be known, because its permission is missing, the endpoint does not
    /// know the operation, or the table is not ACTIVE: DynamoDB may call one that is being deleted not found.
    pub(super) async fn describe_ttl(&self, name: &str) -> Result<Option<Option<String>>> {
        let request = json!({ "TableName": name });
        let asked = self.control("DescribeTimeToLive", name, &request);
        let answer: Result<DescribeTimeToLiveResponse> = asked.await;
        match answer {
            Ok(answer) => {
                let ttl = answer.time_to_live_description.filter(|ttl| {
                    let status = ttl.time_to_live_status.as_deref();
                    matches!(status, Some("ENABLED" | "ENABLING"))
                });
                Ok(Some(ttl.and_then(|ttl| ttl.attribute_name)))
            }
            Err(error)
                if [
                    "AccessDeniedException",
                    "UnknownOperationException",
                    "ResourceNotFoundException",
                ]
                .contains(&error.code.as_str()) =>
            {
                tracing::warn!(table = name, "the TTL of the table cannot be read");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl ServiceTable {
    /// The table's own id, or else when it was made.
    pub(super) fn id(&self) -> Option<String> {
        let made = || self.creation_date_time.as_ref().map(Number::to_string);
        self.table_id.clone().or_else(made)
    }

    /// Whether the table and all its indexes can be used.
    pub(super) fn is_active(&self) -> bool {
        let mut indexes = self.global_secondary_indexes.iter();
        let is = |status: &str| status == "ACTIVE";
        is(&self.table_status) && indexes.all(|index| index.index_status.as_deref().is_none_or(is))
    }

    /// The key attributes of one role, in their order.
    fn keys(
        &self,
        schema: &[KeySchemaElement],
        role: &str,
    ) -> Result<Vec<KeyAttribute>, Incomplete> {
        let elements = schema.iter().filter(|element| element.key_type == role);
        let keys = elements.map(|KeySchemaElement { attribute_name, .. }| {
            let mut definitions = self.attribute_definitions.iter();
            let definition = definitions.find(|known| known.attribute_name == *attribute_name);
            let key_type = match definition.map(|known| known.attribute_type.as_str()) {
                Some("S") => KeyType::S,
                Some("N") => KeyType::N,
                Some("B") => KeyType::B,
                _ => return Err(Incomplete::Type),
            };
            Ok(KeyAttribute {
                name: Arc::from(attribute_name.as_str()),
                key_type,
            })
        });
        keys.collect()
    }

    fn index(&self, found: &ServiceIndex, whole: Option<Throughput>) -> Result<Index, Incomplete> {
        let own = whole
            .and(found.provisioned_throughput)
            .map(Throughput::from);
        let names = &found.projection.non_key_attributes;
        Ok(Index {
            name: found.index_name.clone(),
            partition: self.keys(&found.key_schema, "HASH")?,
            sort: self.keys(&found.key_schema, "RANGE")?,
            projection: match found.projection.projection_type.as_str() {
                "KEYS_ONLY" => Projection::Keys,
                "INCLUDE" => Projection::Include(names.clone()),
                _ => Projection::All,
            },
            throughput: own.filter(|own| Some(*own) != whole),
            autoscale: None,
        })
    }
}

impl From<ProvisionedThroughput> for Throughput {
    fn from(units: ProvisionedThroughput) -> Self {
        Self {
            read: units.read_capacity_units,
            write: units.write_capacity_units,
        }
    }
}

fn translate(name: &str, found: &ServiceTable) -> Result<Table, Incomplete> {
    let partition = found.keys(&found.key_schema, "HASH")?;
    // A table that was made provisioned has no summary of its billing.
    let summary = found.billing_mode_summary.as_ref();
    let mode = summary.and_then(|summary| summary.billing_mode.as_deref());
    let billing = match (mode, found.provisioned_throughput) {
        (Some("PAY_PER_REQUEST"), _) | (_, None) => Billing::OnDemand,
        (_, Some(units)) => Billing::Provisioned(units.into()),
    };
    let global = found.global_secondary_indexes.iter();
    let local = found.local_secondary_indexes.iter();
    Ok(Table {
        name: found.table_name.clone().unwrap_or_else(|| name.to_owned()),
        partition: partition.into_iter().next().ok_or(Incomplete::Key)?,
        sort: found.keys(&found.key_schema, "RANGE")?.into_iter().next(),
        indexes: global
            .map(|index| found.index(index, billing.provisioned()))
            .collect::<Result<_, _>>()?,
        local_indexes: local
            .map(|index| found.index(index, None))
            .collect::<Result<_, _>>()?,
        ttl: None,
        billing,
        settings: Settings::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_an_id_is_known_by_when_it_was_made() {
        for (described, id) in [
            (
                json!({"TableId": "t-1", "CreationDateTime": 1.5}),
                Some("t-1"),
            ),
            (json!({"CreationDateTime": 1.5}), Some("1.5")),
            (json!({}), None),
        ] {
            let table = ServiceTable::deserialize(described).unwrap();
            assert_eq!(table.id().as_deref(), id);
        }
    }
}
