//! How each access pattern is served, for the report of `check`.

use super::patterns::Bound;
use crate::item::MAX_ITEM_BYTES;
use crate::mapping::model::{AccessPattern, SortCondition};
use crate::mapping::proof::{PatternProof, SizeProof};

/// Bytes that one read unit reads.
const UNIT: usize = 4096;

/// How a pattern is served. `finds`: the item types that it finds.
pub(super) fn served(bound: &Bound, finds: Vec<String>, sizes: &[SizeProof]) -> PatternProof {
    let pattern = &bound.pattern;
    let partitions = pattern.shards.unwrap_or(1);
    let unit = if pattern.consistent { 1.0 } else { 0.5 };
    let is_whole = pattern.is_whole_key() && pattern.filter.is_none() && partitions == 1;
    let limit = if is_whole { Some(1) } else { pattern.limit };
    let most = sizes.iter().filter(|size| finds.contains(&size.item_type));
    let most = most.map(|size| {
        size.most_bytes
            .unwrap_or(MAX_ITEM_BYTES)
            .min(MAX_ITEM_BYTES)
    });
    let most = most.max();
    let most_units = limit
        .zip(most)
        .filter(|_| pattern.filter.is_none())
        .map(|(limit, bytes)| {
            let items = usize::try_from(limit).unwrap_or(usize::MAX);
            let units = items.saturating_mul(bytes).div_ceil(UNIT);
            f64::from(u32::try_from(units).unwrap_or(u32::MAX)) * unit * f64::from(partitions)
        });
    PatternProof {
        pattern: pattern.name.to_string(),
        operation: if is_whole { "GetItem" } else { "Query" },
        index: pattern.index.as_ref().map(ToString::to_string),
        condition: condition(pattern),
        finds,
        partitions,
        least_units: f64::from(partitions) * unit,
        most_units,
    }
}

/// The key condition as people write it.
fn condition(pattern: &AccessPattern) -> String {
    let partition = pattern
        .partition
        .iter()
        .map(|(key, template)| format!("{} = {template}", key.name));
    let sort = pattern.sort.iter().map(|(key, condition)| {
        let name = &key.name;
        match condition {
            SortCondition::Is(one) => format!("{name} = {one}"),
            SortCondition::BeginsWith(one) => format!("{name} begins with {one}"),
            SortCondition::Between(low, high) => format!("{name} between {low} and {high}"),
            SortCondition::Less(one) => format!("{name} < {one}"),
            SortCondition::LessOrEqual(one) => format!("{name} <= {one}"),
            SortCondition::Greater(one) => format!("{name} > {one}"),
            SortCondition::GreaterOrEqual(one) => format!("{name} >= {one}"),
        }
    });
    partition.chain(sort).collect::<Vec<_>>().join(", ")
}
