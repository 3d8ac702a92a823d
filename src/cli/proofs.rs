//! What `check` shows of a mapping: one line for each proof, with `--proofs` the reasons, and with `--guarantees` what the
//! database guarantees and what takes its place.

use std::collections::BTreeMap;

use super::format::{bytes, counted, text_if};
use super::output::OutputStreams;
use crate::claim::{Claim, ClaimKind};
use crate::mapping::guarantee::{Guarantee, Guarantees};
use crate::mapping::{Coverage, IndexProof, PatternProof, Proofs, SizeProof};

/// Names that are listed before the rest is counted, unless all is asked for.
const LISTED: usize = 6;
/// Letters of the longest title, and two spaces.
const WIDTH: usize = 12;

/// A line for people, with the reasons below it.
struct ProofLine {
    title: &'static str,
    text: String,
    reasons: Vec<String>,
}

impl ProofLine {
    fn new(title: &'static str, text: String, reasons: impl IntoIterator<Item = String>) -> Self {
        Self {
            title,
            text,
            reasons: reasons.into_iter().collect(),
        }
    }
}

/// The proofs for people.
pub(super) fn text(proofs: &Proofs, detailed: bool, output: &OutputStreams) -> String {
    let (own, pairs): (Vec<&Claim>, Vec<&Claim>) = proofs
        .of(ClaimKind::KeysDiffer)
        .partition(|claim| claim.of.item_types.len() == 1);
    let orders: Vec<&Claim> = proofs.of(ClaimKind::TextOrder).collect();
    let mut lines = vec![keys(&own)];
    lines.extend(types(proofs, &pairs, detailed));
    lines.extend(order(&orders));
    lines.push(coverage(&proofs.coverage, detailed));
    lines.extend(numbered(&proofs.numbered_keys, detailed));
    lines.extend(indexes(proofs, detailed));
    lines.push(sizes(&proofs.sizes, detailed));
    lines.push(writes(&proofs.sizes));
    lines.extend(patterns(proofs));
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

/// What a claim is about.
fn subject(claim: &Claim) -> String {
    let types = claim.of.item_types.join(" and ");
    match &claim.of.attribute {
        Some(attribute) => format!("{attribute} of {types}"),
        None => types,
    }
}

/// A claim for people: what of it was shown, and why.
fn reason(claim: &Claim) -> String {
    let name = subject(claim);
    let verdict = if claim.is_proved() {
        "proved"
    } else {
        "not proved"
    };
    let mut text = format!("{name}: {verdict}, because {}", claim.because);
    if !claim.facts.is_empty() {
        text.push_str(&format!("; relies on {}", claim.facts.join(", ")));
    }
    if let Some(example) = &claim.example {
        text.push_str(&format!(": {example}"));
    }
    text
}

/// What claims are about, of those that were not proved.
fn open(claims: &[&Claim]) -> Vec<String> {
    let open = claims.iter().filter(|claim| !claim.is_proved());
    open.map(|claim| subject(claim)).collect()
}

fn keys(claims: &[&Claim]) -> ProofLine {
    let open = open(claims);
    let proved = claims.len() - open.len();
    let of = text_if(!open.is_empty(), format!("{proved} of "));
    let all = counted(claims.len(), "item type");
    let its = if open.len() == 1 { "its" } else { "their" };
    let text = proved_and_not(
        proved,
        &format!("no two rows make the same key, in {of}{all}"),
        &open,
        &format!("{}, so the load compares {its} keys", open.join(", ")),
    );
    ProofLine::new("keys", text, claims.iter().copied().map(reason))
}

/// What was proved of so many, and what was not.
fn proved_and_not(proved: usize, text: &str, open: &[String], unproved: &str) -> String {
    match (proved, open) {
        (_, []) => text.to_owned(),
        (0, _) => format!("not proved for {unproved}"),
        _ => format!("{text}; not proved for {unproved}"),
    }
}

fn types(proofs: &Proofs, claims: &[&Claim], detailed: bool) -> Option<ProofLine> {
    let by_beginning = proofs.pairs_by_beginning;
    let left = proofs.pairs_not_compared;
    // One claim is of all the pairs that are left.
    let mut compared = claims.to_vec();
    compared.retain(|claim| !claim.of.item_types.is_empty());
    let mut open = open(&compared);
    let apart = by_beginning + compared.len() - open.len();
    let pairs = by_beginning + compared.len() + left;
    if left > 0 {
        open.insert(0, format!("{left} pairs that were not compared"));
    }
    if pairs == 0 {
        return None;
    }
    let all = of_all(apart, pairs, "pair");
    let text = proved_and_not(
        apart,
        &format!("no two item types make the same key, in {all}"),
        &open,
        &listed(&open, detailed),
    );
    let mut reasons = Vec::new();
    if by_beginning > 0 {
        reasons.push(format!(
            "{by_beginning} of the pairs: proved, because their keys begin with different texts"
        ));
    }
    reasons.extend(claims.iter().copied().map(reason));
    Some(ProofLine::new("item types", text, reasons))
}

fn order(claims: &[&Claim]) -> Option<ProofLine> {
    let open = open(claims);
    let proved = claims.len() - open.len();
    let all = of_all(proved, claims.len(), "sort key");
    let text = proved_and_not(
        proved,
        &format!("text order is value order in {all}"),
        &open,
        &open.join(", "),
    );
    let reasons = claims.iter().copied().map(reason);
    (!claims.is_empty()).then(|| ProofLine::new("sort order", text, reasons))
}

/// `1 pair`, `all 3 pairs`, `2 of 3 pairs`.
fn of_all(some: usize, all: usize, noun: &str) -> String {
    let all_of_them = counted(all, noun);
    match some {
        _ if some < all => format!("{some} of {all_of_them}"),
        1 => all_of_them,
        _ => format!("all {all_of_them}"),
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

fn coverage(coverage: &Coverage, detailed: bool) -> ProofLine {
    let mut text = format!(
        "{} of {} columns are in items",
        coverage.in_items, coverage.columns
    );
    let mut say = |what: &str, names: &[String]| {
        if !names.is_empty() {
            text.push_str(&format!("; {what}: {}", listed(names, detailed)));
        }
    };
    say("in items only in part", &coverage.in_part);
    say("in no item", &coverage.in_no_item);
    say(
        "columns not counted, because the server may hide their names, of",
        &coverage.hiding_names,
    );
    say("omitted", &coverage.omitted);
    say("tables not read", &coverage.unused_tables);
    say("tables of queries not counted", &coverage.queries);
    ProofLine::new("coverage", text, None)
}

fn numbered(columns: &[String], detailed: bool) -> Option<ProofLine> {
    let text = format!(
        "the database numbers {}; in DynamoDB the application generates the next value, as a UUID or with a counter item",
        listed(columns, detailed)
    );
    (!columns.is_empty()).then(|| ProofLine::new("numbers", text, None))
}

fn indexes(proofs: &Proofs, detailed: bool) -> Vec<ProofLine> {
    // A mapping without access patterns says nothing of what is asked.
    let is_unasked = |index: &IndexProof| {
        let mut queried = proofs.patterns.iter().map(|pattern| &pattern.index);
        !proofs.patterns.is_empty() && queried.all(|name| name.as_ref() != Some(&index.index))
    };
    let lines = proofs.indexes.iter().enumerate().map(|(at, index)| {
        let of = |always: bool| {
            let items = index.items.iter();
            let held = items.filter(|item| item.when.is_empty() == always);
            held.map(|item| item.item_type.clone()).collect::<Vec<_>>()
        };
        let (always, sparse) = (of(true), of(false));
        let mut text = match (always.is_empty(), sparse.is_empty()) {
            (true, true) => format!("{} stays empty", index.index),
            (false, _) => format!("{} holds every {}", index.index, listed(&always, detailed)),
            (true, false) => format!("{} is sparse", index.index),
        };
        if !sparse.is_empty() {
            text.push_str(&format!("; some {}", listed(&sparse, detailed)));
        }
        if is_unasked(index) && !index.items.is_empty() {
            text.push_str("; no access pattern uses it, and each item in it costs one more write");
        }
        if index.local {
            text.push_str("; it is local: no item collection may pass 10 GB, and it can be neither added nor removed later");
        }
        let reasons = index.items.iter().map(|item| {
            let when = match item.when.as_str() {
                "" => "always",
                when => when,
            };
            let single = item.single_partition.as_ref();
            let single = single.map_or_else(String::new, |value| {
                format!("; all under one partition key value, `{value}`")
            });
            format!("{}: {when}{single}", item.item_type)
        });
        ProofLine::new(if at == 0 { "indexes" } else { "" }, text, reasons)
    });
    lines.collect()
}

fn sizes(sizes: &[SizeProof], detailed: bool) -> ProofLine {
    let limited = sizes
        .iter()
        .filter_map(|size| Some((size.most_bytes?, size)));
    let mut parts = Vec::new();
    if let Some((most, size)) = limited.max_by_key(|(most, _)| *most) {
        parts.push(format!("at most {} ({})", bytes(most), size.item_type));
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
        parts.push(format!("may be over 400 KB: {}", over.join("; ")));
    }
    let reasons = sizes.iter().map(|size| match size.most_bytes {
        Some(most) => format!("{}: at most {}", size.item_type, bytes(most)),
        None => format!(
            "{}: without limit, by {}",
            size.item_type,
            size.without_limit.join(", ")
        ),
    });
    ProofLine::new("size", parts.join("; "), reasons)
}

fn writes(sizes: &[SizeProof]) -> ProofLine {
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
            || "no upper limit".to_owned(),
            |most| format!("at most {most}"),
        );
        format!(
            "{}: {}; at least {}, {most}",
            size.item_type,
            range((writes.indexes.len(), writes.sparse_indexes.len())),
            counted(writes.least_units, "write unit")
        )
    });
    ProofLine::new("one put", parts.join("; "), reasons)
}

/// A line on all patterns, with a reason for each; none where there are no patterns.
fn patterns(proofs: &Proofs) -> Option<ProofLine> {
    let patterns = &proofs.patterns;
    let is_get = |proof: &&PatternProof| proof.operation == "GetItem";
    let gets = patterns.iter().filter(is_get).count();
    let queries = patterns.len() - gets;
    let by = match (gets, queries) {
        (_, 0) => "by GetItem".to_owned(),
        (0, _) => "by Query".to_owned(),
        (gets, queries) => format!("{gets} by GetItem, {queries} by Query"),
    };
    let all = patterns.len();
    let verb = if all == 1 { "is" } else { "are" };
    let mut text = format!("{} {verb} served", counted(all, "access pattern"));
    text.push_str(if gets > 0 && queries > 0 { ": " } else { " " });
    text.push_str(&by);
    (all > 0).then(|| {
        ProofLine::new(
            "patterns",
            text,
            patterns.iter().map(|proof| served(proof, proofs)),
        )
    })
}

/// How a pattern is served, and why it may find others than it is said to.
fn served(proof: &PatternProof, proofs: &Proofs) -> String {
    let of = match &proof.index {
        Some(index) => index.as_str(),
        None => "the table",
    };
    let partitions = match proof.partitions {
        1 => String::new(),
        many => format!("; {many} partitions, merged"),
    };
    let units = match proof.most_units {
        Some(most) if most <= proof.least_units => format!("{most} read units"),
        Some(most) => format!("{} to {most} read units", proof.least_units),
        None => format!("from {} read units, no upper limit", proof.least_units),
    };
    let fetch = text_if(proof.fetches, ", which are then read whole by BatchGetItem");
    let mut claims = proofs.of(ClaimKind::PatternFinds);
    let unproved = claims
        .find(|claim| claim.of.pattern.as_deref() == Some(&*proof.pattern) && !claim.is_proved());
    let others = unproved.map_or_else(String::new, |claim| {
        format!(" (may find others too: {})", claim.because)
    });
    format!(
        "{}: {} on {of}, {}{partitions}; finds {}{others}{fetch}; {units}",
        proof.pattern,
        proof.operation,
        proof.condition,
        proof.finds.join(", ")
    )
}

/// The guarantees for people, table by table.
pub(super) fn guarantees(all: &Guarantees, output: &OutputStreams) -> String {
    let mut text = format!(
        "{}\n",
        output.bold("What your database guaranteed and this table does not")
    );
    if all.guarantees.is_empty() {
        text.push_str("  nothing: no table of the mapping has a guarantee\n");
    }
    for of_table in all.guarantees.chunk_by(|a, b| a.table == b.table) {
        let Some(first) = of_table.first() else {
            continue;
        };
        text.push_str(&format!("{}\n", output.bold(&first.table)));
        for one in of_table {
            add_guarantee(&mut text, one, output);
        }
    }
    for missing in &all.not_read {
        text.push_str(&format!("not read: {missing}\n"));
    }
    text.push('\n');
    text
}

fn add_guarantee(text: &mut String, one: &Guarantee, output: &OutputStreams) {
    let kept = output.bold(one.kept_by.words());
    text.push_str(&format!("  {}\n      {kept}: {}\n", one.declared, one.how));
    if let Some(doubt) = &one.doubt {
        text.push_str(&format!("      in the database: {doubt}\n"));
    }
}
