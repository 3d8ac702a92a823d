//! Which item types are in an index, and what a key attribute may hold that DynamoDB refuses.

use dynafold_dynamodb::{Attribute, Index, KeyAttribute, Table};

use super::facts::ProofSubject;
use super::{IndexProof, MembershipProof};
use crate::model::{AttributeNode, ItemType};

/// Which item types are in an index, and when. `local`: whether it is a local one.
pub(crate) fn index(index: &Index, local: bool, subjects: &[ProofSubject<'_>]) -> IndexProof {
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
        local,
        items: within.collect(),
    }
}

/// The value of a partition key, where every item has the same.
pub(crate) fn fixed(item: &ItemType, partition: &[KeyAttribute]) -> Option<String> {
    let one = |key: &KeyAttribute| match item.node(&key.name)?.inner() {
        AttributeNode::Template(template) => match template.prefix() {
            (text, true) => Some(text.to_owned()),
            _ => template.has_one_value().then(|| template.to_string()),
        },
        AttributeNode::Constant(Attribute::N(number)) => Some(number.to_string()),
        _ => None,
    };
    let values: Option<Vec<String>> = partition.iter().map(one).collect();
    Some(values?.join(" / "))
}

/// The key attributes of a table and its indexes, each with whether it is a sort key of any.
pub(crate) fn key_attributes(table: &Table) -> Vec<(&KeyAttribute, bool)> {
    let of_indexes = table.all_indexes().flat_map(|index| &index.sort);
    let sorts = table.sort.iter().chain(of_indexes);
    let is_sort = |key: &KeyAttribute| sorts.clone().any(|sort| sort.name == key.name);
    let keys = table.key_attributes().into_iter();
    keys.map(|key| (key, is_sort(key))).collect()
}

/// What an item must have to be in an index, beyond what the table's own key demands of every item; `None` where its item
/// type lacks a key attribute of the index.
pub(super) fn conditions(subject: ProofSubject<'_>, index: &Index) -> Option<Vec<String>> {
    let mut found: Vec<MembershipNeed> = Vec::new();
    let given = given(subject);
    for key in index.key() {
        let new = match subject.item.node(&key.name) {
            Some(node) => needs(subject, node),
            None if subject.item.spreads.is_empty() => return None,
            None => vec![MembershipNeed::Member(key.name.to_string())],
        };
        for need in new {
            if !found.contains(&need) && !given.contains(&need) {
                found.push(need);
            }
        }
    }
    let mut words: Vec<String> = found.iter().map(MembershipNeed::words).collect();
    words.dedup();
    Some(words)
}

/// Whether some items of a type lack an attribute.
pub(crate) fn may_lack(subject: ProofSubject<'_>, attribute: &str) -> bool {
    let given = given(subject);
    subject.item.node(attribute).is_none_or(|node| {
        let mut needs = needs(subject, node).into_iter();
        needs.any(|need| !given.contains(&need))
    })
}

/// What the table's own key demands of every item.
fn given(subject: ProofSubject<'_>) -> Vec<MembershipNeed> {
    let keys = subject.table.key();
    let nodes = keys.filter_map(|key| subject.item.node(&key.name));
    nodes.flat_map(|node| needs(subject, node)).collect()
}

/// What an attribute depends on to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MembershipNeed {
    /// Its `$when` holds; the index of the condition in the row.
    When(usize),
    /// The value that is written so is not NULL.
    Value(String),
    /// A document has this member.
    Member(String),
}

impl MembershipNeed {
    fn words(&self) -> String {
        match self {
            Self::When(_) => "where its `$when` holds".to_owned(),
            Self::Value(written) => format!("where `{written}` is not NULL"),
            Self::Member(name) => format!("where a document has `{name}`"),
        }
    }
}

/// What a key attribute depends on. An empty text or a value of another type is no such need: it rejects the row.
fn needs(subject: ProofSubject<'_>, node: &AttributeNode) -> Vec<MembershipNeed> {
    match node {
        AttributeNode::When { flag, value } => {
            let mut needs = needs(subject, value);
            needs.insert(0, MembershipNeed::When(*flag));
            needs
        }
        AttributeNode::Typed { value, .. } => needs(subject, value),
        AttributeNode::Template(template) => {
            let nullable = template.mandatory().filter(|one| {
                let domain = subject.domain(one);
                domain.through_all(&one.filters, subject.time_zone).nullable
            });
            nullable
                .map(|placeholder| MembershipNeed::Value(placeholder.place.written.to_string()))
                .collect()
        }
        _ => Vec::new(),
    }
}
