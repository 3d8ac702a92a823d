//! Puts the answers of several shards in the order of the sort key.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::{Item, Position, sort_order};

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
    use crate::Attribute;

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
