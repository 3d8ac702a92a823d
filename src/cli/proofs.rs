//! What `check` shows of a mapping: one line for each proof, and with `--proofs` the reasons.

mod patterns;

use std::collections::BTreeMap;

use super::format::{bytes, counted};
use super::output::Output;
use crate::mapping::{
    Coverage, IndexProof, KeyProof, Membership, OrderProof, Proofs, SizeProof, TypesProof, Verdict,
};

/// Names that are listed before the rest is counted, unless all is asked for.
const LISTED: usize = 6;
/// Letters of the longest title, and two spaces.
const WIDTH: usize = 12;

/// A line for people, with the reasons below it.
struct Line {
    title: &'static str,
    text: String,
    reasons: Vec<String>,
}

/// The proofs for people.
pub(super) fn text(proofs: &Proofs, detailed: bool, output: &Output) -> String {
    let mut lines = vec![
        keys(&proofs.keys),
        types(&proofs.item_types),
        order(&proofs.order),
        coverage(&proofs.coverage, detailed),
    ];
    lines.extend(indexes(&proofs.indexes, detailed));
    lines.push(sizes(&proofs.sizes, detailed));
    lines.push(writes(&proofs.sizes));
    lines.extend(patterns::line(&proofs.patterns));
    let mut text = String::new();
    for line in lines {
        let title = output.bold(line.title);
        let space = " ".repeat(WIDTH.saturating_sub(line.title.len()));
        text.push_str(&format!("{title}{space}{}\n", line.text));
        for reason in line.reasons.iter().filter(|_| detailed) {
            text.push_str(&format!("{}{reason}\n", " ".repeat(WIDTH)));
        }
    }
    text.push('\n');
    text
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::Unproved => "not proved",
        Verdict::Refuted => "refuted",
    }
}

fn reason(proof: &KeyProof) -> String {
    let example = proof.example.as_ref();
    let example = example.map_or_else(String::new, |example| format!(": {example}"));
    format!(
        "{}: {}, because {}{example}",
        proof.item_type,
        word(proof.verdict),
        proof.because
    )
}

fn keys(keys: &[KeyProof]) -> Line {
    let of = |verdict| {
        let those = keys.iter().filter(|proof| proof.verdict == verdict);
        let names: Vec<&str> = those.map(|proof| proof.item_type.as_str()).collect();
        names
    };
    let proved = of(Verdict::Proved).len();
    let mut text = if proved == keys.len() {
        format!("no two rows make one key, in {}", types_of(proved))
    } else {
        format!(
            "no two rows make one key, in {proved} of {}",
            types_of(keys.len())
        )
    };
    let (unproved, refuted) = (of(Verdict::Unproved), of(Verdict::Refuted));
    if !unproved.is_empty() {
        text.push_str(&format!("; the load will check {}", unproved.join(", ")));
    }
    if !refuted.is_empty() {
        text.push_str(&format!("; two rows may in {}", refuted.join(", ")));
    }
    Line {
        title: "keys",
        text,
        reasons: keys.iter().map(reason).collect(),
    }
}

fn types_of(count: usize) -> String {
    counted(u64::try_from(count).unwrap_or(u64::MAX), "item type")
}

fn types(types: &TypesProof) -> Line {
    let others = types.others.iter();
    let unproved: Vec<&str> = others
        .filter(|proof| proof.verdict != Verdict::Proved)
        .map(|proof| proof.item_type.as_str())
        .collect();
    let proved = types.pairs - unproved.len();
    let text = match (types.pairs, unproved.as_slice()) {
        (0, _) => "there is one item type alone".to_owned(),
        (pairs, []) => format!("no two item types make one key: all {pairs} pairs are apart"),
        (pairs, unproved) => format!(
            "{proved} of {pairs} pairs are apart; not proved of {}",
            unproved.join("; ")
        ),
    };
    let mut reasons = Vec::new();
    if types.by_beginning > 0 {
        reasons.push(format!(
            "{} of the pairs: proved, because their keys begin with different texts",
            types.by_beginning
        ));
    }
    reasons.extend(types.others.iter().map(reason));
    Line {
        title: "item types",
        text,
        reasons,
    }
}

fn order(order: &[OrderProof]) -> Line {
    let wrong = order
        .iter()
        .filter(|proof| proof.verdict != Verdict::Proved);
    let wrong: Vec<String> = wrong
        .map(|proof| format!("{} of {}", proof.attribute, proof.item_type))
        .collect();
    let text = if wrong.is_empty() {
        format!("text order is value order in all {} sort keys", order.len())
    } else {
        format!(
            "text order is value order in {} of {} sort keys; not in {}",
            order.len() - wrong.len(),
            order.len(),
            wrong.join(", ")
        )
    };
    let reasons = order.iter().map(|proof| {
        format!(
            "{} of {}: {}, because {}",
            proof.attribute,
            proof.item_type,
            word(proof.verdict),
            proof.because
        )
    });
    Line {
        title: "sort order",
        text,
        reasons: reasons.collect(),
    }
}

/// Names, the first of them if there are many.
fn listed(names: &[String], detailed: bool) -> String {
    match names.get(..LISTED) {
        Some(first) if !detailed && names.len() > LISTED + 1 => {
            format!("{} and {} more", first.join(", "), names.len() - LISTED)
        }
        _ => names.join(", "),
    }
}

fn coverage(coverage: &Coverage, detailed: bool) -> Line {
    let mut text = format!(
        "{} of {} columns are in items",
        coverage.in_items, coverage.columns
    );
    let mut say = |what: &str, names: &[String]| {
        if !names.is_empty() {
            text.push_str(&format!("; {what}: {}", listed(names, detailed)));
        }
    };
    say("in no item", &coverage.in_no_item);
    say("omitted", &coverage.omitted);
    say("tables not read", &coverage.unused_tables);
    say("tables of queries not counted", &coverage.queries);
    Line {
        title: "coverage",
        text,
        reasons: Vec::new(),
    }
}

fn indexes(indexes: &[IndexProof], detailed: bool) -> Vec<Line> {
    let lines = indexes.iter().enumerate().map(|(at, index)| {
        let of = |membership| {
            let those = index
                .items
                .iter()
                .filter(|item| item.membership == membership);
            let names: Vec<String> = those.map(|item| item.item_type.clone()).collect();
            names
        };
        let (always, sparse) = (of(Membership::Always), of(Membership::Sparse));
        let mut text = match (always.is_empty(), sparse.is_empty()) {
            (true, true) => format!("{} stays empty", index.index),
            (false, _) => format!("{} holds every {}", index.index, listed(&always, detailed)),
            (true, false) => format!("{} is sparse", index.index),
        };
        if !sparse.is_empty() {
            text.push_str(&format!("; some {}", listed(&sparse, detailed)));
        }
        let reasons = index.items.iter().map(|item| {
            let when = match item.membership {
                Membership::Always => "always".to_owned(),
                Membership::Sparse => item.because.clone(),
            };
            let single = item.single_partition.as_ref();
            let single = single.map_or_else(String::new, |value| {
                format!("; all under one partition key value, `{value}`")
            });
            format!("{}: {when}{single}", item.item_type)
        });
        Line {
            title: if at == 0 { "indexes" } else { "" },
            text,
            reasons: reasons.collect(),
        }
    });
    lines.collect()
}

fn size(bytes_of: usize) -> String {
    bytes(u64::try_from(bytes_of).unwrap_or(u64::MAX))
}

fn sizes(sizes: &[SizeProof], detailed: bool) -> Line {
    let limited = sizes
        .iter()
        .filter_map(|size| Some((size.most_bytes?, size)));
    let mut parts = Vec::new();
    if let Some((most, size)) = limited.max_by_key(|(most, _)| *most) {
        parts.push(format!("at most {} ({})", self::size(most), size.item_type));
    }
    let without = sizes.iter().filter(|size| !size.without_limit.is_empty());
    let without: Vec<String> = without.map(|size| size.item_type.clone()).collect();
    if !without.is_empty() {
        parts.push(format!("without limit: {}", listed(&without, detailed)));
    }
    let over = sizes.iter().filter(|size| !size.largest.is_empty());
    let over: Vec<String> = over
        .map(|size| format!("{} by {}", size.item_type, size.largest.join(", ")))
        .collect();
    if !over.is_empty() {
        parts.push(format!("may pass 400 KB: {}", over.join("; ")));
    }
    let reasons = sizes.iter().map(|size| match size.most_bytes {
        Some(most) => format!("{}: at most {}", size.item_type, self::size(most)),
        None => format!(
            "{}: without limit, by {}",
            size.item_type,
            size.without_limit.join(", ")
        ),
    });
    Line {
        title: "size",
        text: parts.join("; "),
        reasons: reasons.collect(),
    }
}

fn writes(sizes: &[SizeProof]) -> Line {
    // Item types by what one put of theirs writes.
    let mut groups: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for size in sizes {
        let indexes = (size.writes.indexes.len(), size.writes.sparse_indexes.len());
        groups.entry(indexes).or_default().push(&size.item_type);
    }
    let range = |(always, sparse): (usize, usize)| match (always, always + sparse) {
        (0, 0) => "1 table write".to_owned(),
        (1, 1) => "1 table + 1 index write".to_owned(),
        (least, most) if least == most => format!("1 table + {most} index writes"),
        (least, most) => format!("1 table + {least} to {most} index writes"),
    };
    let one = groups.len() == 1;
    let parts = groups.iter().map(|(indexes, names)| {
        if one {
            range(*indexes)
        } else {
            format!("{} ({})", range(*indexes), names.join(", "))
        }
    });
    let parts: Vec<String> = parts.collect();
    let reasons = sizes.iter().map(|size| {
        let writes = &size.writes;
        let most = writes.most_units.map_or_else(
            || "no limit above".to_owned(),
            |most| format!("at most {most}"),
        );
        format!(
            "{}: {}; at least {}, {most}",
            size.item_type,
            range((writes.indexes.len(), writes.sparse_indexes.len())),
            counted(writes.least_units, "write unit")
        )
    });
    Line {
        title: "one put",
        text: parts.join("; "),
        reasons: reasons.collect(),
    }
}
