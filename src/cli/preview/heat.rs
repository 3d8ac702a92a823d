//! Hot partitions and large item collections, as people read them.

use crate::cli::format::{bytes, count, counted, one_line, text_if};
use crate::dynamodb::price::{PARTITION_READS, PARTITION_WRITES};
use crate::mapping::forecast::{HOT_READS_HELP, TOO_FEW_ROWS, WIDE_ITEMS_HELP};
use crate::preview::{HeaviestKeys, ItemCollections, PlaceForecast, PlaceKind, WideItems};

/// Patterns that are named beside a key.
const PATTERNS: usize = 3;

pub(super) fn kind_and_name(place: &PlaceForecast) -> String {
    let kind = match place.kind {
        PlaceKind::Table => "table",
        PlaceKind::GlobalIndex => "index",
        PlaceKind::LocalIndex => "local index",
    };
    format!("{kind} {}", place.name)
}

pub(super) fn hottest_keys(places: &[PlaceForecast]) -> String {
    let mut out = Vec::new();
    let with = places
        .iter()
        .filter_map(|place| Some((place, place.hottest.as_ref()?)));
    for (place, hot) in with.filter(|(place, _)| place.items > 0) {
        out.push(format!(
            " {}: {} write units{}{}{}",
            kind_and_name(place),
            count(hot.total),
            text_if(hot.total > place.write_units, " with its local indexes"),
            hot.distinct
                .map_or(String::new(), |keys| format!(", {}", counted(keys, "key"))),
            accuracy(hot, |units| format!("{} write units", count(units))),
        ));
        out.extend(heavy(hot, count));
    }
    out.join("\n")
}

/// How far figures may be off.
fn accuracy(heaviness: &HeaviestKeys, figure: impl Fn(u64) -> String) -> String {
    if heaviness.error == 0 {
        return ", exact".to_owned();
    }
    let most = figure(heaviness.error);
    format!("; approximate: each key may have up to {most} more")
}

fn heavy(heaviness: &HeaviestKeys, figure: impl Fn(u64) -> String) -> Vec<String> {
    let keys = heaviness.keys.iter();
    let mut lines: Vec<String> = keys
        .map(|hot| {
            format!(
                "   {:>6.2} %  {:>12}  {}",
                hot.share * 100.0,
                figure(hot.least),
                one_line(&hot.key)
            )
        })
        .collect();
    if heaviness.error > 0 {
        let other = if lines.is_empty() { "no" } else { "no other" };
        lines.push(format!(
            "   {other} key has more than {}",
            figure(heaviness.others_at_most)
        ));
    }
    lines
}

pub(super) fn write_rates(places: &[PlaceForecast]) -> Option<String> {
    let mut out = Vec::new();
    for place in places {
        let Some(rated) = &place.rated else { continue };
        let accuracy = text_if(
            rated.error > 0.0,
            format!(
                "; approximate: each key may have up to {:.1} more",
                rated.error
            ),
        );
        out.push(format!(
            " {}: {:.1} a second{accuracy}",
            kind_and_name(place),
            rated.units_per_second
        ));
        if rated.too_few_rows {
            out.push(format!("   {TOO_FEW_ROWS}"));
        }
        for (key, rate) in &rated.keys {
            let over = text_if(
                *rate > PARTITION_WRITES,
                format!("  more than the {PARTITION_WRITES} that a partition takes"),
            );
            out.push(format!("   {rate:>10.1}  {}{over}", one_line(key)));
        }
    }
    (!out.is_empty()).then(|| out.join("\n"))
}

/// What access patterns read a second, and what to do where a partition cannot answer so much.
pub(super) fn read_rates(places: &[PlaceForecast]) -> Option<String> {
    let mut out = Vec::new();
    let mut is_over = false;
    for place in places {
        let Some(reads) = &place.reads else { continue };
        let accuracy = text_if(
            reads.error > 0.0,
            format!(
                " (approximate: each key may have up to {:.1} more)",
                reads.error
            ),
        );
        out.push(format!(" {}{accuracy}", kind_and_name(place)));
        for key in &reads.keys {
            let mut patterns: Vec<(&String, &f64)> = key.patterns.iter().collect();
            patterns.sort_by(|one, other| other.1.total_cmp(one.1));
            let names = patterns.iter().map(|(name, _)| name.as_str());
            let names: Vec<&str> = names.take(PATTERNS).collect();
            let more = text_if(patterns.len() > names.len(), ", …");
            let is_too_hot = key.units_per_second > PARTITION_READS;
            is_over |= is_too_hot;
            let over = text_if(
                is_too_hot,
                format!("; more than the {PARTITION_READS} that a partition takes"),
            );
            out.push(format!(
                "   {:>10.1}  {}  ({}{more}{over})",
                key.units_per_second,
                one_line(&key.key),
                names.join(", "),
            ));
        }
    }
    if is_over {
        out.push(format!(" help: {HOT_READS_HELP}"));
    }
    (!out.is_empty()).then(|| out.join("\n"))
}

/// Large items of which patterns need little.
pub(super) fn large_items(wide: &[WideItems]) -> String {
    let mut out = Vec::new();
    for one in wide {
        out.push(format!(" {}: {}", one.item_type, one.sizes()));
        let reads = one.patterns.iter();
        out.extend(reads.map(|read| format!("   {} {}", read.pattern, one.need(read))));
    }
    out.push(format!(" help: {WIDE_ITEMS_HELP}"));
    out.join("\n")
}

pub(super) fn item_collections(found: &ItemCollections) -> String {
    let mut out = vec![format!(
        " items with their local index entries: {}{}",
        bytes(found.largest.total),
        accuracy(&found.largest, bytes),
    )];
    out.extend(heavy(&found.largest, bytes));
    for hot in &found.over {
        let certain = hot.least > found.limit;
        out.push(format!(
            " {} {} the limit: between {} and {}",
            one_line(&hot.key),
            if certain { "is over" } else { "may be over" },
            bytes(hot.least),
            bytes(hot.most),
        ));
    }
    out.push(match (found.over.is_empty(), found.complete) {
        (true, true) => " no item collection is over the limit".to_owned(),
        (false, true) => " every other item collection is below it".to_owned(),
        (_, false) => {
            " others may be over the limit too: the total is too large to tell".to_owned()
        }
    });
    out.join("\n")
}
