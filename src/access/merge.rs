//! Puts the answers of several shards in the order of the sort key.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Position;
use crate::item::{Attribute, Item};

/// What one shard answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shard {
    /// Its items, in the order of their sort keys.
    pub items: Vec<Item>,
    /// Where its last page ended, if it has more.
    pub next: Option<Position>,
}

/// Merges the answers of shards by the attributes of `order`. Items behind the place up to which all
/// shards have been read are left out: those that belong between them may be still to come. The
/// second part says whether there is more.
#[must_use]
pub fn merge(shards: Vec<Shard>, order: &[Arc<str>], descending: bool) -> (Vec<Item>, bool) {
    let directed = |order: Ordering| if descending { order.reverse() } else { order };
    let ends = shards.iter().filter_map(|shard| shard.next.as_ref());
    let end = ends
        .map(|next| of_position(next, order))
        .min_by(|a, b| directed(compare(a, b)));
    let mut items: Vec<Item> = shards.into_iter().flat_map(|shard| shard.items).collect();
    if let Some(end) = &end {
        items.retain(|item| directed(compare(&of_item(item, order), end)).is_le());
    }
    let end = end.is_some();
    // Items with one sort key stay in the order of their shards.
    items.sort_by(|a, b| directed(compare(&of_item(a, order), &of_item(b, order))));
    (items, end)
}

fn of_item<'i>(item: &'i Item, order: &[Arc<str>]) -> Vec<Option<&'i Attribute>> {
    order.iter().map(|name| item.get(name)).collect()
}

fn of_position(position: &Position, order: &[Arc<str>]) -> Vec<Option<Attribute>> {
    let find = |name: &Arc<str>| {
        let mut found = position.iter().filter(|(other, _)| other == name);
        found.next().map(|(_, value)| value.clone())
    };
    order.iter().map(find).collect()
}

fn compare<A, B>(a: &[Option<A>], b: &[Option<B>]) -> Ordering
where
    A: std::borrow::Borrow<Attribute>,
    B: std::borrow::Borrow<Attribute>,
{
    let mut orders = a.iter().zip(b).map(|pair| match pair {
        (Some(a), Some(b)) => values(a.borrow(), b.borrow()),
        _ => Ordering::Equal,
    });
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The order of sort keys: numbers by value, text and binary by bytes.
pub(super) fn values(a: &Attribute, b: &Attribute) -> Ordering {
    match (a, b) {
        (Attribute::S(a), Attribute::S(b)) => a.cmp(b),
        (Attribute::N(a), Attribute::N(b)) => a.cmp(b),
        (Attribute::B(a), Attribute::B(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Attribute {
        Attribute::S(text.into())
    }

    fn shard(keys: &[&str], next: Option<&str>) -> Shard {
        let items = keys.iter().map(|key| Item {
            attributes: vec![("SK".into(), text(key))],
        });
        Shard {
            items: items.collect(),
            next: next.map(|key| vec![("SK".into(), text(key))]),
        }
    }

    fn merged(shards: Vec<Shard>, descending: bool) -> (String, bool) {
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
