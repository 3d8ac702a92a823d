//! What DynamoDB is asked for one call of an access pattern, as data: a target sends it. And the answers of several shards
//! in the order of the sort key.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::{Attribute, Item, KeyAttribute, sort_order};

/// Attributes with their values: a key, or where a page ended.
pub type Position = Vec<(Arc<str>, Attribute)>;

/// What is asked for one call of an access pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPlan {
    /// The requests: one, or one for each shard in the order of their numbers.
    pub requests: Vec<Request>,
    /// The attributes by whose values answers of several requests are merged.
    pub order: Vec<Arc<str>>,
    /// Whether that order descends.
    pub descending: bool,
    /// Most items of the answer.
    pub limit: Option<u32>,
    /// Whether the items that are found are then read whole by their keys: with whether that is strongly consistent.
    pub fetch: Option<bool>,
}

/// A request that serves an access pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// The item of a key.
    Get {
        /// The whole key of the table.
        key: Position,
        /// Whether the read is strongly consistent.
        consistent: bool,
    },
    /// The items that a key condition finds.
    Query(Query),
}

/// The parameters of a `Query`.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The index; the table itself without it.
    pub index: Option<Arc<str>>,
    /// The key condition expression.
    pub condition: String,
    /// The filter expression.
    pub filter: Option<String>,
    /// What `#…` stands for.
    pub names: Vec<(String, Arc<str>)>,
    /// What `:…` stands for.
    pub values: Vec<(String, Attribute)>,
    /// Whether the order of the sort key descends.
    pub descending: bool,
    /// Most items to read. With a filter there is none: it would count what the filter leaves out.
    pub limit: Option<u32>,
    /// Whether the read is strongly consistent.
    pub consistent: bool,
}

impl Query {
    /// Adds a condition on one attribute; names and values are numbered in their order. `operator`: DynamoDB's sign or word
    /// for it.
    pub fn ask(&mut self, key: &KeyAttribute, operator: &str, values: Vec<Attribute>) {
        let name = format!("#k{}", self.names.len());
        self.names.push((name.clone(), key.name.clone()));
        let mut places = Vec::new();
        for value in values {
            let place = format!(":k{}", self.values.len());
            self.values.push((place.clone(), value));
            places.push(place);
        }
        if !self.condition.is_empty() {
            self.condition.push_str(" AND ");
        }
        let places = places.as_slice();
        self.condition.push_str(&match (operator, places) {
            ("begins_with", [prefix]) => format!("begins_with({name}, {prefix})"),
            ("between", [low, high]) => format!("{name} BETWEEN {low} AND {high}"),
            (operator, places) => format!("{name} {operator} {}", places.join(" ")),
        });
    }
}

/// What one shard answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShardAnswer {
    /// Its items, in the order of their sort keys.
    pub items: Vec<Item>,
    /// Where its last page ended, if it has more.
    pub next: Option<Position>,
}

/// Merges the answers of shards by the attributes of `order`. Items behind the place up to which all
/// shards have been read are left out: those that belong between them may be still to come. The
/// second part says whether there is more.
pub fn merge(shards: Vec<ShardAnswer>, order: &[Arc<str>], descending: bool) -> (Vec<Item>, bool) {
    let compare = |a: &Item, b: &Item| {
        let each = order.iter();
        let each = each.map(|name| sort_order(a.get(name), b.get(name)));
        let whole = each.fold(Ordering::Equal, Ordering::then);
        if descending { whole.reverse() } else { whole }
    };
    let ends = shards.iter().filter_map(|shard| shard.next.clone());
    let ends = ends.map(|attributes| Item { attributes });
    let end = ends.min_by(&compare);
    let mut items: Vec<Item> = shards.into_iter().flat_map(|shard| shard.items).collect();
    if let Some(end) = &end {
        items.retain(|item| compare(item, end).is_le());
    }
    // Items with one sort key stay in the order of their shards.
    items.sort_by(compare);
    (items, end.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Attribute {
        Attribute::S(text.into())
    }

    fn shard(keys: &[&str], next: Option<&str>) -> ShardAnswer {
        let items = keys.iter().map(|key| Item {
            attributes: vec![("SK".into(), text(key))],
        });
        ShardAnswer {
            items: items.collect(),
            next: next.map(|key| vec![("SK".into(), text(key))]),
        }
    }

    fn merged(shards: Vec<ShardAnswer>, descending: bool) -> (String, bool) {
        let (items, more) = merge(shards, &["SK".into()], descending);
        let keys = items.iter().map(|item| match item.get("SK") {
            Some(Attribute::S(key)) => key.as_str(),
            _ => "",
        });
        (keys.collect(), more)
    }

    #[test]
    fn whole_answers_are_merged_in_order() {
        let shards = || {
            vec![
                shard(&["a", "d"], None),
                shard(&[], None),
                shard(&["b", "c"], None),
            ]
        };
        assert_eq!(merged(shards(), false), ("abcd".to_owned(), false));
        let shards = vec![shard(&["d", "a"], None), shard(&["c", "b"], None)];
        assert_eq!(merged(shards, true), ("dcba".to_owned(), false));
    }

    #[test]
    fn what_may_have_others_before_it_is_left_for_later() {
        let shards = vec![shard(&["a", "c"], Some("c")), shard(&["b", "d", "f"], None)];
        assert_eq!(merged(shards, false), ("abc".to_owned(), true));
        let shards = vec![shard(&["f", "d"], Some("d")), shard(&["e", "b"], None)];
        assert_eq!(merged(shards, true), ("fed".to_owned(), true));
        // A page may be empty and not the last.
        let shards = vec![shard(&[], Some("a")), shard(&["b"], None)];
        assert_eq!(merged(shards, false), (String::new(), true));
    }
}
