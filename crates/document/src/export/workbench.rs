//! NoSQL Workbench data models, version 3.0: the table, its global indexes, and one facet for each
//! item type with its sampled items.
//!
//! The format has no published reference: this follows published models. What they cannot express is
//! reported as a warning.

use std::sync::Arc;

use dynafold_dynamodb::{
    Attribute, Billing, Index, KeyAttribute, Table, Throughput, attribute_definition, item_value,
    object,
};
use dynafold_format::{each_once, joined};
use dynafold_mapping::model::{ItemType, Model};
use dynafold_mapping::sample::ItemTypeSample;
use dynafold_relational::catalog::TypeFamily;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::infrastructure::{ScalingBounds, autoscale_policy};
use super::{Export, ExportOptions};

/// The Workbench's own default capacity, written for on-demand tables.
const DEFAULT_CAPACITY: Throughput = Throughput { read: 5, write: 5 };
/// The role that scales capacity.
const ROLE: &str = "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable";

pub(super) fn write(model: &Model, samples: &[ItemTypeSample], options: &ExportOptions) -> Export {
    let table = &model.table;
    let mut warnings = unsupported_features(model);
    let attributes = attributes(model, samples, &mut warnings);
    let typed: Vec<Value> = attributes
        .iter()
        .filter(|(name, _)| !table.is_key(name))
        .map(|(name, kind)| json!({ "AttributeName": name.as_ref(), "AttributeType": kind }))
        .collect();
    let facets = model.item_types.iter().map(|item_type| {
        let sample = samples.iter().find(|s| s.item_type == *item_type.name);
        facet(table, item_type, sample)
    });
    let date = date(options.now);
    let text = json!({
        "ModelName": table.name,
        "ModelMetadata": {
            "Author": "dynafold docs",
            "DateCreated": date,
            "DateLastModified": date,
            "Description": format!("The DynamoDB table {}", table.name),
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [{
            "TableName": table.name,
            "KeyAttributes": key(&table.partition, table.sort.as_ref()),
            "NonKeyAttributes": typed,
            "TableFacets": facets.collect::<Vec<Value>>(),
            "GlobalSecondaryIndexes": table.indexes.iter().filter_map(global_index).collect::<Vec<Value>>(),
            "TableData": [],
            "DataAccess": { "MySql": {} },
            "BillingMode": "PROVISIONED",
            "ProvisionedCapacitySettings": capacity(table),
        }],
    });
    Export {
        text: format!("{text:#}\n"),
        warnings,
    }
}

/// What the format cannot say of a table.
fn unsupported_features(model: &Model) -> Vec<String> {
    let (table, settings) = (&model.table, &model.table.settings);
    let mut warnings = Vec::new();
    if let Some(names) = index_names(&table.indexes, is_wide) {
        warnings.push(format!(
            "NoSQL Workbench has no multi-attribute keys: the model leaves out {names}"
        ));
    }
    if let Some(names) = index_names(&table.local_indexes, |_| true) {
        warnings.push(format!(
            "a Workbench model cannot describe local indexes: it leaves out {names}"
        ));
    }
    if table.billing == Billing::OnDemand {
        warnings.push(format!(
            "a Workbench model cannot describe on-demand billing: it has {} read and {} write units, the Workbench's own default",
            DEFAULT_CAPACITY.read, DEFAULT_CAPACITY.write
        ));
    }
    if let Some(names) = index_names(&table.indexes, |index| index.throughput.is_some()) {
        warnings.push(format!(
            "a Workbench model cannot describe the capacity of an index: it leaves out the capacity of {names}"
        ));
    }
    let settings_left_out = [
        ("ttl", table.ttl.is_some()),
        ("stream", settings.stream.is_some()),
        (
            "point_in_time_recovery",
            settings.point_in_time_recovery.is_some(),
        ),
        (
            "deletion_protection",
            settings.deletion_protection.is_some(),
        ),
        ("class", settings.class.is_some()),
        ("tags", !settings.tags.is_empty()),
        ("warm_throughput", settings.warm_throughput.is_some()),
        ("replicas", !settings.replicas.is_empty()),
        ("backups", settings.backups.is_some()),
        ("roll_up", !model.roll_ups.is_empty()),
    ];
    let names = settings_left_out.into_iter().filter(|(_, is_set)| *is_set);
    let names = joined(names.map(|(name, _)| format!("`{name}`")), ", ");
    if !names.is_empty() {
        warnings.push(format!("a Workbench model cannot describe {names}"));
    }
    warnings
}

/// The names of the indexes that match; `None` without any.
fn index_names(indexes: &[Index], matches: impl Fn(&Index) -> bool) -> Option<String> {
    let names = indexes.iter().filter(|index| matches(index));
    let names: Vec<String> = names.map(|index| format!("`{}`", index.name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Whether an index's key has more attributes than the format knows.
fn is_wide(index: &Index) -> bool {
    index.partition.len() > 1 || index.sort.len() > 1
}

fn key(partition: &KeyAttribute, sort: Option<&KeyAttribute>) -> Value {
    object([
        ("PartitionKey", Some(attribute_definition(partition))),
        ("SortKey", sort.map(attribute_definition)),
    ])
}

/// A global index; `None` for one with a wide key, which `unsupported_features` has named.
fn global_index(index: &Index) -> Option<Value> {
    let [partition] = index.partition.as_slice() else {
        return None;
    };
    let sort = match index.sort.as_slice() {
        [] => None,
        [sort] => Some(sort),
        _ => return None,
    };
    let (kind, names) = index.projection.service_words();
    let projection = object([
        ("ProjectionType", Some(json!(kind))),
        (
            "NonKeyAttributes",
            (!names.is_empty()).then(|| json!(names)),
        ),
    ]);
    Some(json!({
        "IndexName": index.name,
        "KeyAttributes": key(partition, sort),
        "Projection": projection,
    }))
}

/// An item type: how its key is made, which attributes it has, and its items.
fn facet(table: &Table, item_type: &ItemType, sample: Option<&ItemTypeSample>) -> Value {
    let alias = |key: &KeyAttribute| {
        let made = item_type.template(&key.name);
        json!(made.map_or_else(|| key.name.to_string(), ToString::to_string))
    };
    let aliases = object([
        ("PartitionKeyAlias", Some(alias(&table.partition))),
        ("SortKeyAlias", table.sort.as_ref().map(alias)),
    ]);
    let sampled = sample.map_or(&[][..], |sample| &sample.items);
    let items: Vec<Value> = sampled.iter().map(|item| item_value(&item.item)).collect();
    let in_items = sampled.iter().flat_map(|item| &item.item.attributes);
    let own = item_type.attributes.iter().map(|(name, _)| name);
    let names = each_once(
        own.chain(in_items.map(|(name, _)| name))
            .filter(|name| !table.is_key(name))
            .map(AsRef::<str>::as_ref),
    );
    json!({
        "FacetName": &*item_type.name,
        "KeyAttributeAlias": aliases,
        "TableData": items,
        "NonKeyAttributes": names,
        "DataAccess": { "MySql": {} },
    })
}

/// All attributes with their types: what key attributes must be, what sampled items show, what the
/// mapping tells.
fn attributes(
    model: &Model,
    samples: &[ItemTypeSample],
    warnings: &mut Vec<String>,
) -> Vec<(Arc<str>, &'static str)> {
    let mut known: Vec<(Arc<str>, &'static str)> = Vec::new();
    let mut mixed: Vec<String> = Vec::new();
    let mut add = |name: &Arc<str>, kind: &'static str| {
        match known.iter().find(|(other, _)| other == name) {
            None => known.push((name.clone(), kind)),
            // NULL stands for a value of any type.
            Some((_, other)) if *other == kind || kind == "NULL" => {}
            Some(_) => {
                if !mixed.contains(&format!("`{name}`")) {
                    mixed.push(format!("`{name}`"));
                }
            }
        }
    };
    for index in &model.table.indexes {
        for key in index.key() {
            add(&key.name, key.key_type.word());
        }
    }
    for item_type in &model.item_types {
        let sample = samples.iter().find(|s| s.item_type == *item_type.name);
        let items = || sample.iter().flat_map(|sample| &sample.items);
        for (name, node) in &item_type.attributes {
            let values = items().filter_map(|item| item.item.get(name));
            let mut seen = values.map(Attribute::type_name);
            let seen = seen.find(|kind| *kind != "NULL");
            add(
                name,
                seen.unwrap_or_else(|| node.type_name(&type_of_family)),
            );
        }
        for (name, value) in items().flat_map(|item| &item.item.attributes) {
            add(name, value.type_name());
        }
    }
    if !mixed.is_empty() {
        warnings.push(format!(
            "a Workbench model allows one type per attribute, and has the first of those with several: {}",
            mixed.join(", ")
        ));
    }
    known
}

/// DynamoDB's name for the type that values of a family become, where no item shows it; text where only rows can.
fn type_of_family(family: TypeFamily) -> &'static str {
    match family {
        TypeFamily::Number => "N",
        TypeFamily::Boolean => "BOOL",
        TypeFamily::Binary => "B",
        TypeFamily::List => "L",
        TypeFamily::Map | TypeFamily::Document => "M",
        TypeFamily::Set => "SS",
        TypeFamily::Text | TypeFamily::Time | TypeFamily::Any => "S",
    }
}

fn capacity(table: &Table) -> Value {
    let units = table.billing.provisioned().unwrap_or(DEFAULT_CAPACITY);
    let scaling = |initial: u64| {
        let bounds = ScalingBounds::of(autoscale_policy(table, None), initial);
        json!({
            "ScalableTargetRequest": {
                "MinCapacity": bounds.min,
                "MaxCapacity": bounds.max,
                "ServiceRole": ROLE,
            },
            "ScalingPolicyConfiguration": { "TargetValue": bounds.target_percent },
        })
    };
    json!({
        "ProvisionedThroughput": {
            "ReadCapacityUnits": units.read,
            "WriteCapacityUnits": units.write,
        },
        "AutoScalingRead": scaling(units.read),
        "AutoScalingWrite": scaling(units.write),
    })
}

/// A date as the Workbench writes it: `May 17, 2021, 03:17 PM`.
fn date(now: Option<Timestamp>) -> String {
    let time = now.unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC);
    time.strftime("%b %d, %Y, %I:%M %p").to_string()
}
