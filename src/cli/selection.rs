//! What a run is about: `--items` and `--partition`, as `migrate`, `verify` and `erase` take them.

use super::failure::Failure;
use super::format::{joined, text_if};
use crate::dynamodb::{Attribute, KeyType, Table};
use crate::mapping::model::{AttributeNode, ItemType, Model};
use crate::value::Number;

/// Every item type that is named is one of the mapping's.
pub(super) fn check(names: &[String], model: &Model) -> Result<(), Failure> {
    let known = model.item_types.iter().map(|item| &*item.name);
    Failure::unless_known(("the mapping", "item type"), names, known)
}

/// Leaves out of a mapping the item types that are not named, if any are.
pub(super) fn item_types(mut model: Model, names: &[String]) -> Result<Model, Failure> {
    if names.is_empty() {
        return Ok(model);
    }
    check(names, &model)?;
    let wanted = |index: &usize| {
        let item_type = model.item_types.get(*index);
        item_type.is_some_and(|item| names.iter().any(|name| *name == *item.name))
    };
    let passes = model.passes.iter().map(|pass| {
        let mut pass = pass.clone();
        pass.item_types.retain(wanted);
        pass
    });
    // Passes keep their places, since item types name them by these.
    model.passes = passes.collect();
    Ok(model)
}

/// The value of the partition key that is named, if one is.
pub(super) fn partition(text: Option<&str>, table: &Table) -> Result<Option<Attribute>, Failure> {
    text.map(|text| partition_value(text, table)).transpose()
}

/// A value of the table's partition key, as `--partition` writes it.
pub(super) fn partition_value(text: &str, table: &Table) -> Result<Attribute, Failure> {
    let key = &table.partition;
    if text.is_empty() {
        return Err(Failure::usage(
            "--partition names no value: a key is never empty",
        ));
    }
    Ok(match key.key_type {
        KeyType::S => Attribute::S(text.into()),
        KeyType::N => Attribute::N(Number::parse(text).map_err(|error| {
            Failure::usage(format!("--partition {text} cannot be read"))
                .with_cause(&error)
                .with_help(format!(
                    "write a number: the partition key `{}` is a number",
                    key.name
                ))
        })?),
        KeyType::B => {
            let message = format!(
                "--partition cannot name a value of `{}`, which is binary",
                key.name
            );
            return Err(Failure::usage(message));
        }
    })
}

/// What is said of a `--partition` under which no row makes an item.
pub(super) fn nothing_under(partition: &str, model: &Model) -> String {
    let key = &model.table.partition.name;
    let is_read = |at: &usize| model.passes.iter().any(|pass| pass.item_types.contains(at));
    let all = model.item_types.iter().enumerate();
    let read = all.filter(|(at, _)| is_read(at));
    let read: Vec<&ItemType> = read.map(|(_, item)| item).collect();
    let names = joined(read.iter().map(|item| &*item.name), " or ");
    let of = text_if(read.len() < model.item_types.len(), format!(" of {names}"));
    let makes = read.iter().filter_map(|item| match item.node(key)? {
        AttributeNode::Template(template) => Some(format!("`{template}` ({})", item.name)),
        _ => None,
    });
    format!(
        "no row{of} makes an item whose `{key}` is `{partition}`; it is made like this: {}",
        makes.collect::<Vec<_>>().join(", ")
    )
}
