//! A table as `CreateTable` takes it; CloudFormation's templates have the same words.

use std::slice;

use serde_json::{Value, json};

use crate::{Index, KeyAttribute, Table, TableClass, Throughput};

/// The member for the capacity of a table or index.
const THROUGHPUT: &str = "ProvisionedThroughput";

/// The input of `CreateTable` (keys, indexes, billing, and the settings that it takes), without the table's name.
pub fn create_table_input(table: &Table) -> Value {
    let (own, settings) = (slice::from_ref(&table.partition), &table.settings);
    let provisioned = table.billing.provisioned();
    let global = table.indexes.iter().map(|index| {
        let capacity = provisioned.map(|whole| capacity_units(index.throughput.unwrap_or(whole)));
        index_definition(index, &index.partition, (THROUGHPUT, capacity))
    });
    let local = table.local_indexes.iter();
    let local = local.map(|index| index_definition(index, own, (THROUGHPUT, None)));
    let tags = settings.tags.iter();
    let tags = tags.map(|(key, value)| json!({ "Key": key, "Value": value }));
    without_null_and_empty(&json!({
        "AttributeDefinitions": attribute_definitions(table.key_attributes()),
        "KeySchema": key_elements(own, table.sort.as_slice()),
        "BillingMode": table.billing.service_word(),
        THROUGHPUT: provisioned.map(capacity_units),
        "GlobalSecondaryIndexes": global.collect::<Value>(),
        "LocalSecondaryIndexes": local.collect::<Value>(),
        "StreamSpecification": settings.stream.map(|view| json!({
            "StreamEnabled": true,
            "StreamViewType": view.service_word(),
        })),
        "WarmThroughput": settings.warm_throughput.map(|units| json!({
            "ReadUnitsPerSecond": units.read,
            "WriteUnitsPerSecond": units.write,
        })),
        "DeletionProtectionEnabled": settings.deletion_protection,
        "TableClass": settings.class.map(TableClass::service_word),
        "Tags": tags.collect::<Value>(),
    }))
}

/// The input of `UpdateTable` that adds a global index of the `wanted` table to the `existing` one. The attributes of all
/// keys are declared, those of the existing table among them. The billing mode is the existing table's. If it is
/// provisioned, the index gets its own capacity from the mapping, or else the table's.
pub fn add_index_input(existing: &Table, wanted: &Table, index: &Index) -> Value {
    let mut attributes = existing.key_attributes();
    for key in index.key() {
        if !attributes.iter().any(|known| known.name == key.name) {
            attributes.push(key);
        }
    }
    let own = index.throughput.or(wanted.billing.provisioned());
    let provisioned = existing.billing.provisioned();
    let capacity = provisioned.map(|whole| capacity_units(own.unwrap_or(whole)));
    let create = index_definition(index, &index.partition, (THROUGHPUT, capacity));
    json!({
        "AttributeDefinitions": attribute_definitions(attributes),
        "GlobalSecondaryIndexUpdates": [{ "Create": create }],
    })
}

fn attribute_definitions(keys: Vec<&KeyAttribute>) -> Value {
    keys.into_iter().map(attribute_definition).collect()
}

/// A key attribute with its type.
pub fn attribute_definition(key: &KeyAttribute) -> Value {
    json!({ "AttributeName": &*key.name, "AttributeType": key.key_type.word() })
}

fn capacity_units(throughput: Throughput) -> Value {
    json!({ "ReadCapacityUnits": throughput.read, "WriteCapacityUnits": throughput.write })
}

/// An index with its capacity, and the member that holds that: CloudFormation's global tables use another.
pub fn index_definition(
    index: &Index,
    partition: &[KeyAttribute],
    (capacity_key, capacity): (&str, Option<Value>),
) -> Value {
    let (kind, names) = index.projection.service_words();
    without_null_and_empty(&json!({
        "IndexName": index.name,
        "KeySchema": key_elements(partition, &index.sort),
        "Projection": { "ProjectionType": kind, "NonKeyAttributes": names },
        capacity_key: capacity,
    }))
}

/// The attributes of a key in their order, each with DynamoDB's word for its role.
pub fn key_schema<'k>(
    partition: &'k [KeyAttribute],
    sort: &'k [KeyAttribute],
) -> impl Iterator<Item = (&'k str, &'static str)> {
    let partition = partition.iter().map(|key| (key.name.as_ref(), "HASH"));
    partition.chain(sort.iter().map(|key| (key.name.as_ref(), "RANGE")))
}

fn key_elements(partition: &[KeyAttribute], sort: &[KeyAttribute]) -> Value {
    key_schema(partition, sort)
        .map(|(name, role)| json!({ "AttributeName": name, "KeyType": role }))
        .collect()
}

/// The value without members that are null or an empty list.
pub fn without_null_and_empty(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let members = map
                .iter()
                .map(|(name, value)| (name.clone(), without_null_and_empty(value)));
            let is_empty = |value: &Value| value.is_null() || *value == json!([]);
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(all) => all.iter().map(without_null_and_empty).collect(),
        value => value.clone(),
    }
}
