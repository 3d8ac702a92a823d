//! What an item must have to be in an index.

use dynafold_dynamodb::Index;

use super::facts::Subject;
use crate::model::Node;

/// What an item must have to be in an index; `None` where its item type lacks an attribute. What the
/// table's own key needs every item has.
pub(super) fn conditions(subject: Subject<'_>, index: &Index) -> Option<Vec<String>> {
    let mut found: Vec<Need> = Vec::new();
    let keys = subject.table.key();
    let own = keys.filter_map(|key| subject.item.node(&key.name));
    let has: Vec<Need> = own.flat_map(|node| needs(subject, node)).collect();
    for key in index.key() {
        let new = match subject.item.node(&key.name) {
            Some(node) => needs(subject, node),
            None if subject.item.spreads.is_empty() => return None,
            None => vec![Need::Member(key.name.to_string())],
        };
        for need in new {
            if !found.contains(&need) && !has.contains(&need) {
                found.push(need);
            }
        }
    }
    let mut words: Vec<String> = found.iter().map(Need::words).collect();
    words.dedup();
    Some(words)
}

/// What an attribute needs to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// That its `$when` holds, which is this value of the row.
    When(usize),
    /// That what is written so is not NULL.
    Value(String),
    /// That a document has this member.
    Member(String),
}

impl Need {
    fn words(&self) -> String {
        match self {
            Self::When(_) => "where its `$when` holds".to_owned(),
            Self::Value(written) => format!("where `{written}` is not NULL"),
            Self::Member(name) => format!("where a document has `{name}`"),
        }
    }
}

/// What a key attribute needs: the empty text, or a value of another type, rejects the row, so that it
/// leaves nothing out of an index.
fn needs(subject: Subject<'_>, node: &Node) -> Vec<Need> {
    match node {
        Node::When { flag, value } => {
            let mut needs = needs(subject, value);
            needs.insert(0, Need::When(*flag));
            needs
        }
        Node::Typed { value, .. } => needs(subject, value),
        Node::Template(template) => {
            let nullable = template.mandatory().filter(|one| {
                let domain = subject.domain(one);
                domain.through_all(&one.filters, subject.time_zone).nullable
            });
            nullable
                .map(|placeholder| Need::Value(placeholder.place.written.to_string()))
                .collect()
        }
        _ => Vec::new(),
    }
}
