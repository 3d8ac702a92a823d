//! Which item types are in an index, and what a key attribute may hold that DynamoDB refuses.

use dynafold_dynamodb::{
    Attribute, Index, KeyAttribute, KeyType, MAX_PARTITION_BYTES, MAX_SORT_BYTES, Table,
};

use super::facts::Subject;
use super::needs::conditions;
use super::size::{bytes, largest};
use super::{IndexProof, MembershipProof};
use crate::model::{ItemType, Node};

/// Which item types are in an index, and when.
pub(crate) fn index(index: &Index, subjects: &[Subject<'_>]) -> IndexProof {
    let within = subjects.iter().filter_map(|subject| {
        let conditions = conditions(*subject, index)?;
        Some(MembershipProof {
            item_type: subject.item.name.to_string(),
            when: conditions.join(", "),
            single_partition: fixed(subject.item, &index.partition),
        })
    });
    IndexProof {
        index: index.name.clone(),
        items: within.collect(),
    }
}

/// The one value that a partition key has in every item: all of its attributes have one.
pub(crate) fn fixed(item: &ItemType, partition: &[KeyAttribute]) -> Option<String> {
    let one = |key: &KeyAttribute| match item.node(&key.name)?.inner() {
        Node::Template(template) => match template.prefix() {
            (text, true) => Some(text.to_owned()),
            _ => None,
        },
        Node::Constant(Attribute::N(number)) => Some(number.to_string()),
        _ => None,
    };
    let values: Option<Vec<String>> = partition.iter().map(one).collect();
    Some(values?.join(" / "))
}

/// What a key attribute may hold that DynamoDB refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The empty text: this column is all there is to it.
    Empty(String),
    /// More bytes than there may be: this many, by these columns.
    Long {
        bytes: usize,
        most: usize,
        columns: Vec<String>,
    },
}

/// What the text of a key attribute may be that DynamoDB refuses, by the limits of columns.
/// Columns without a limit are not told of.
pub(crate) fn refused(subject: Subject<'_>, key: &KeyAttribute, is_sort: bool) -> Vec<Refused> {
    let mut refused = Vec::new();
    let template = subject.item.template(&key.name);
    let Some(template) = template.filter(|_| key.key_type == KeyType::S) else {
        return refused;
    };
    let known = subject.known(template);
    if let Some(text) = known.uses.first()
        && known.shapes.iter().any(super::forms::Shape::may_be_empty)
    {
        refused.push(Refused::Empty(text.placeholder.place.written.to_string()));
    }
    let most = if is_sort {
        MAX_SORT_BYTES
    } else {
        MAX_PARTITION_BYTES
    };
    if let Some(bytes) = bytes(&known).filter(|bytes| *bytes > most) {
        refused.push(Refused::Long {
            bytes,
            most,
            columns: largest(&known),
        });
    }
    refused
}

/// The key attributes of a table and its indexes, each with whether it is a sort key of any.
pub(crate) fn key_attributes(table: &Table) -> Vec<(&KeyAttribute, bool)> {
    let mut found: Vec<(&KeyAttribute, bool)> = Vec::new();
    let mut add = |key, is_sort: bool| {
        let key: &KeyAttribute = key;
        match found.iter_mut().find(|(other, _)| other.name == key.name) {
            Some((_, sorts)) => *sorts |= is_sort,
            None => found.push((key, is_sort)),
        }
    };
    add(&table.partition, false);
    table.sort.iter().for_each(|key| add(key, true));
    for index in table.all_indexes() {
        index.partition.iter().for_each(|key| add(key, false));
        index.sort.iter().for_each(|key| add(key, true));
    }
    found
}
