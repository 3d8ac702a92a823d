//! What a table's description says about keys, indexes and throughput.

use std::collections::HashMap;

use serde_json::Value;

use super::settings::Billing;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schema {
    pub(crate) name: String,
    pub(crate) arn: String,
    pub(crate) partition: String,
    pub(crate) sort: Option<String>,
    /// The types of all key attributes.
    pub(crate) types: HashMap<String, String>,
    /// Global ones first.
    pub(crate) indexes: Vec<IndexSchema>,
    pub(crate) billing: Billing,
    pub(crate) declared_wcu: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexSchema {
    pub(crate) name: String,
    /// A local index takes its units from the table.
    pub(crate) local: bool,
    pub(crate) partition: Vec<String>,
    pub(crate) sort: Vec<String>,
    pub(crate) projection: Projection,
    pub(crate) declared_wcu: Option<f64>,
}

/// Which attributes an index holds besides all keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Projection {
    All,
    Only(Vec<String>),
}

impl Schema {
    /// Reads a `TableDescription`; None where it lacks what each has.
    pub(crate) fn read(table: &Value) -> Option<Self> {
        let (partition, sort) = keys(table)?;
        let types = table.get("AttributeDefinitions")?.as_array()?;
        let types = types.iter().filter_map(|definition| {
            let text = |member| definition.get(member)?.as_str().map(str::to_owned);
            Some((text("AttributeName")?, text("AttributeType")?))
        });
        let on_demand = "PAY_PER_REQUEST";
        let mode = table.pointer("/BillingModeSummary/BillingMode");
        let global = indexes(table, "GlobalSecondaryIndexes", false);
        let local = indexes(table, "LocalSecondaryIndexes", true);
        Some(Self {
            name: table.get("TableName")?.as_str()?.to_owned(),
            arn: table.get("TableArn")?.as_str()?.to_owned(),
            partition: partition.into_iter().next()?,
            sort: sort.into_iter().next(),
            types: types.collect(),
            indexes: global.chain(local).collect(),
            billing: match mode.and_then(Value::as_str) {
                Some(mode) if mode == on_demand => Billing::OnDemand,
                _ => Billing::Provisioned,
            },
            declared_wcu: declared(table),
        })
    }
}

fn indexes(table: &Value, member: &str, local: bool) -> impl Iterator<Item = IndexSchema> {
    let list = table.get(member).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(move |index| {
        let (partition, sort) = keys(index)?;
        let projection = index.get("Projection")?;
        let kind = projection.get("ProjectionType").and_then(Value::as_str);
        let named = projection.get("NonKeyAttributes").and_then(Value::as_array);
        let named = named.into_iter().flatten().filter_map(Value::as_str);
        Some(IndexSchema {
            name: index.get("IndexName")?.as_str()?.to_owned(),
            local,
            partition,
            sort,
            projection: match kind {
                Some("ALL") => Projection::All,
                _ => Projection::Only(named.map(str::to_owned).collect()),
            },
            declared_wcu: declared(index),
        })
    })
}

/// The partition and the sort attributes; an index may have several of each.
fn keys(of: &Value) -> Option<(Vec<String>, Vec<String>)> {
    let (mut partition, mut sort) = (Vec::new(), Vec::new());
    for element in of.get("KeySchema")?.as_array()? {
        let name = element.get("AttributeName")?.as_str()?.to_owned();
        match element.get("KeyType")?.as_str()? {
            "HASH" => partition.push(name),
            _ => sort.push(name),
        }
    }
    Some((partition, sort))
}

fn declared(of: &Value) -> Option<f64> {
    let units = of.pointer("/ProvisionedThroughput/WriteCapacityUnits");
    units.and_then(Value::as_f64).filter(|units| *units > 0.0)
}
