//! What makes DynamoDB refuse a whole request, before any limit is looked at. The engine behind the
//! endpoint refuses more; the map nothing else.

use std::collections::HashSet;

use dynoxide::types::{AttributeValue, Item, item_size};

use super::answer::ServiceAnswer;
use super::schema::Schema;
use super::table::RowKey;

const ITEM: usize = 409_600;
const PARTITION: usize = 2_048;
const SORT: usize = 1_024;

/// Checks an item against the keys of its table and the indexes.
pub(crate) fn item(schema: &Schema, item: &Item) -> Result<(), ServiceAnswer> {
    dynoxide::validation::validate_item_attribute_values(item)?;
    if item_size(item) > ITEM {
        return Err(ServiceAnswer::invalid(
            "Item size has exceeded the maximum allowed size",
        ));
    }
    keys(schema, item)?;
    for index in &schema.indexes {
        let partition = index.partition.iter().map(|name| (name, PARTITION));
        let sort = index.sort.iter().map(|name| (name, SORT));
        for (name, most) in partition.chain(sort) {
            let Some(value) = item.get(name) else {
                continue;
            };
            let expected = schema.types.get(name).map_or("", String::as_str);
            if value.type_name() != expected {
                return Err(ServiceAnswer::invalid(&format!(
                    "One or more parameter values were invalid: Type mismatch for Index Key {name} \
                     Expected: {expected} Actual: {} IndexName: {}",
                    value.type_name(),
                    index.name
                )));
            }
            length(name, value, most)?;
        }
    }
    Ok(())
}

/// Checks the key of an item, or a key alone.
pub(crate) fn keys(schema: &Schema, item: &Item) -> Result<(), ServiceAnswer> {
    let sort = schema.sort.iter().map(|name| (name, SORT));
    for (name, most) in [(&schema.partition, PARTITION)].into_iter().chain(sort) {
        let expected = schema.types.get(name).map_or("", String::as_str);
        match item.get(name) {
            Some(value) if value.type_name() == expected => length(name, value, most)?,
            Some(value) => {
                return Err(ServiceAnswer::invalid(&format!(
                    "One or more parameter values were invalid: Type mismatch for key {name} \
                     expected: {expected} actual: {}",
                    value.type_name()
                )));
            }
            None => {
                return Err(ServiceAnswer::invalid(&format!(
                    "One or more parameter values were invalid: Missing the key {name} in the item"
                )));
            }
        }
    }
    Ok(())
}

fn length(name: &str, value: &AttributeValue, most: usize) -> Result<(), ServiceAnswer> {
    let size = match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.len(),
        _ => 1,
    };
    if size == 0 {
        return Err(ServiceAnswer::invalid(&format!(
            "One or more parameter values are not valid. The AttributeValue for a key attribute \
             cannot contain an empty string value. Key: {name}"
        )));
    }
    if size > most {
        return Err(ServiceAnswer::invalid(&format!(
            "One or more parameter values were invalid: Size of the key {name} has exceeded the \
             maximum size limit of {most} bytes"
        )));
    }
    Ok(())
}

/// Refuses two writes of one item.
pub(crate) fn unique<'k>(
    keys: impl Iterator<Item = (&'k str, &'k RowKey)>,
) -> Result<(), ServiceAnswer> {
    let mut seen = HashSet::new();
    for (table, key) in keys {
        if !seen.insert((table, key.partition.as_ref(), key.sort.as_ref())) {
            return Err(ServiceAnswer::invalid(
                "Provided list of item keys contains duplicates",
            ));
        }
    }
    Ok(())
}
