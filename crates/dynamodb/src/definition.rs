//! A table as `CreateTable` takes it; CloudFormation's templates have the same words.

use std::slice;

use serde_json::{Value, json};

use crate::{Index, KeyAttribute, Table, TableClass, Throughput};

/// What a table is made with: keys, indexes, billing, and the settings that it can be made with. Its name is not in it.
pub fn definition(table: &Table) -> Value {
    let (own, settings) = (slice::from_ref(&table.partition), &table.settings);
    let provisioned = table.billing.provisioned();
    let global = table.indexes.iter().map(|index| {
        let capacity = provisioned.map(|whole| units(index.throughput.unwrap_or(whole)));
        index_definition(
            index,
            &index.partition,
            "ProvisionedThroughput",
            capacity.as_ref(),
        )
    });
    let local_indexes = table.local_indexes.iter();
    let local =
        local_indexes.map(|index| index_definition(index, own, "ProvisionedThroughput", None));
    let tags = settings.tags.iter();
    let tags = tags.map(|(key, value)| json!({ "Key": key, "Value": value }));
    without_empty(&json!({
        "AttributeDefinitions": attribute_definitions(table.key_attributes()),
        "KeySchema": key_schema(own, table.sort.as_slice()),
        "BillingMode": table.billing.service_word(),
        "ProvisionedThroughput": provisioned.map(units),
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

/// What `UpdateTable` takes to add a global index of the `wanted` table to the one that is `there`. The attributes of
/// all keys are declared, those of the table as it is among them. How capacity is paid for is the table's own
/// matter; where it is provisioned, the index gets what is wanted for it, or else what the table has.
pub fn index_addition(there: &Table, wanted: &Table, index: &Index) -> Value {
    let mut attributes = there.key_attributes();
    for key in index.key() {
        if !attributes.iter().any(|known| known.name == key.name) {
            attributes.push(key);
        }
    }
    let own = index.throughput.or(wanted.billing.provisioned());
    let provisioned = there.billing.provisioned();
    let capacity = provisioned.map(|whole| units(own.unwrap_or(whole)));
    let create = index_definition(
        index,
        &index.partition,
        "ProvisionedThroughput",
        capacity.as_ref(),
    );
    json!({
        "AttributeDefinitions": attribute_definitions(attributes),
        "GlobalSecondaryIndexUpdates": [{ "Create": create }],
    })
}

fn attribute_definitions(keys: Vec<&KeyAttribute>) -> Value {
    let definition = |key: &KeyAttribute| json!({ "AttributeName": &*key.name, "AttributeType": key.key_type.word() });
    keys.into_iter().map(definition).collect()
}

fn units(units: Throughput) -> Value {
    json!({ "ReadCapacityUnits": units.read, "WriteCapacityUnits": units.write })
}

/// An index with its capacity, under the name that this has there.
pub fn index_definition(
    index: &Index,
    partition: &[KeyAttribute],
    name: &str,
    capacity: Option<&Value>,
) -> Value {
    let (kind, names) = index.projection.service_words();
    without_empty(&json!({
        "IndexName": index.name,
        "KeySchema": key_schema(partition, &index.sort),
        "Projection": { "ProjectionType": kind, "NonKeyAttributes": names },
        name: capacity,
    }))
}

/// The attributes of a key in their order, each with its role.
fn key_schema(partition: &[KeyAttribute], sort: &[KeyAttribute]) -> Value {
    let element =
        |key: &KeyAttribute, role: &str| json!({ "AttributeName": &*key.name, "KeyType": role });
    let partition = partition.iter().map(|key| element(key, "HASH"));
    partition
        .chain(sort.iter().map(|key| element(key, "RANGE")))
        .collect()
}

/// The value without what is null or an empty list.
pub fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let members = map
                .iter()
                .map(|(name, value)| (name.clone(), without_empty(value)));
            let is_empty = |value: &Value| value.is_null() || *value == json!([]);
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(all) => all.iter().map(without_empty).collect(),
        value => value.clone(),
    }
}
