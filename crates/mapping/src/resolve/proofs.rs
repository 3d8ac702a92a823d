//! Hands item types to the proofs, and tells what does not hold with its place in the file.

use std::collections::BTreeSet;

use dynafold_dynamodb::Index;
use dynafold_format::{counted, joined};
use dynafold_relational::catalog::{DataType, Dbms};

use super::reached::PatternFinds;
use super::{ResolvedItem, ResolvedMapping};
use crate::claim::{self, Claim, ClaimKind, ClaimVerdict};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{AttributeNode, Template};
use crate::proof::{
    ApartReason, Covered, IndexProof, KeyProofEnd, MOST_PAIRS, Pairs, ProofSubject, Proofs,
    RelationKind, SizeProof, coverage, disorders, guarantees, index, key_attributes, numbered_keys,
    order, prove, refused, size, sort_keys,
};
use crate::template::Filter;

/// Tells of keys that may meet and of sort keys out of order.
pub(super) fn check(whole: &ResolvedMapping<'_>, pairs: &Pairs) {
    for item in whole.resolved {
        keys(whole, item);
        sort_order(whole, item);
    }
    same_keys(whole, pairs);
}

/// Other item types that a diagnostic names.
const NAMED_ITEM_TYPES: usize = 3;

/// Tells of item types that could make one key with those before them: once for each.
fn same_keys(whole: &ResolvedMapping<'_>, pairs: &Pairs) {
    let diagnostics = whole.diagnostics;
    let (table, resolved) = (whole.table, whole.resolved);
    let last = table.sort.as_ref().unwrap_or(&table.partition);
    for of_one in pairs.compared.chunk_by(|(a, _), (b, _)| a[1] == b[1]) {
        let Some(item) = of_one
            .first()
            .and_then(|([_, later], _)| resolved.get(*later))
        else {
            continue;
        };
        let others = |wanted: fn(&ApartReason) -> bool| -> Vec<(&ResolvedItem, &ApartReason)> {
            let nearest_first = of_one.iter().rev();
            nearest_first
                .filter(|(_, apart)| wanted(apart))
                .filter_map(|([earlier, _], apart)| Some((resolved.get(*earlier)?, apart)))
                .collect()
        };
        let apart_fault =
            |code, others: &[(&ResolvedItem, &ApartReason)], message, label, help: &str| {
                let diagnostic = Diagnostic::new(code, item.place(&last.name), message)
                    .with_label(label)
                    .with_help(help);
                others
                    .iter()
                    .take(NAMED_ITEM_TYPES)
                    .fold(diagnostic, |diagnostic, (other, _)| {
                        diagnostic.with_other(other.place(&last.name), "the other key")
                    })
            };
        let name = &item.item.name;
        let meet = others(|apart| matches!(apart, ApartReason::Not(_)));
        if let [(other, ApartReason::Not(example)), more @ ..] = meet.as_slice() {
            let (message, label) = match more {
                [] => (
                    format!("`{name}` and `{}` could make the same key", other.item.name),
                    format!("both can be {example}"),
                ),
                _ => (
                    format!("`{name}` could make the same key as {}", listed(&meet)),
                    format!("as `{}` it can be {example}", other.item.name),
                ),
            };
            diagnostics.push(apart_fault(Code::SameKey, &meet, message, label, "begin one of them with a text that the other cannot begin with; otherwise, the load finds rows with the same key and rejects all but one"));
        }
        let unknown = others(|apart| *apart == ApartReason::Unknown);
        if !unknown.is_empty() {
            let message = format!(
                "it is not known whether `{name}` makes the same key as {}: the load will check",
                listed(&unknown)
            );
            let label = "too many segments and values to be compared".to_owned();
            diagnostics.push(apart_fault(Code::KeyUnproved, &unknown, message, label, "begin one of them with a text that the other cannot begin with, or accept it: accept: [key-unproved]"));
        }
    }
    if let Some(first) = resolved.first().filter(|_| pairs.left > 0) {
        let message = format!("{}: the load will check", not_compared(pairs.left));
        let help = "begin the keys of each item type with a text of its own, or accept it: accept: [key-unproved]";
        diagnostics.add(Code::KeyUnproved, first.place(&last.name), message, help);
    }
}

fn listed(others: &[(&ResolvedItem, &ApartReason)]) -> String {
    let named = others.iter().take(NAMED_ITEM_TYPES);
    let quoted = named.map(|(other, _)| format!("`{}`", other.item.name));
    let names = joined(quoted, ", ");
    match others.len().saturating_sub(NAMED_ITEM_TYPES) {
        0 => names,
        more => format!("{names} and {}", counted(more, "more item type")),
    }
}

fn not_compared(left: usize) -> String {
    format!(
        "{left} pairs of item types whose keys may begin alike were not compared, because more than {MOST_PAIRS} pairs, or fewer large ones, take too long"
    )
}

fn keys<'a>(whole: &ResolvedMapping<'a>, item: &'a ResolvedItem) {
    // Of these `unproven-join` and `unchecked` apart_fault.
    if matches!(
        item.facts.origin,
        RelationKind::Multiplied | RelationKind::Unknown
    ) {
        return;
    }
    let Some(proof) = prove(whole.subject(item)) else {
        return;
    };
    let name = &item.item.name;
    let (code, message) = match proof.shown {
        // Of a key that is named nobody wants to hear again that it is; the load checks.
        KeyProofEnd::Proved | KeyProofEnd::Supposed => return,
        KeyProofEnd::Broken => (
            Code::KeyNotUnique,
            format!("two rows of `{name}` may have the same key"),
        ),
        KeyProofEnd::Open => (
            Code::KeyUnproved,
            format!("it cannot be proved that the keys of `{name}` differ: the load will check"),
        ),
    };
    let mend = help(item, proof.shown, proof.mend.as_deref());
    let help = match proof.example {
        Some(example) => format!("{example}; {mend}"),
        None => mend,
    };
    let attribute = proof
        .attribute
        .unwrap_or(whole.table.partition.name.clone());
    whole.diagnostics.push(
        Diagnostic::new(code, item.place(&attribute), message)
            .with_label(proof.because)
            .with_help(help),
    );
}

fn help(item: &ResolvedItem, shown: KeyProofEnd, mend: Option<&str>) -> String {
    let found = "the load finds rows with the same key and rejects all but one";
    match (item.facts.origin, item.item.row_key.as_slice()) {
        (RelationKind::Table, []) => found.to_owned(),
        (RelationKind::Query | RelationKind::View, []) => "name the columns that identify its rows, if you know them: from: { sql: …, key: [column] }; the load finds rows with the same key and rejects all but one".to_owned(),
        _ if shown == KeyProofEnd::Broken => mend.map_or_else(
            || found.to_owned(),
            |mend| format!("{mend}; otherwise, {found}"),
        ),
        _ => "give values a width (`pad`, `uuid`, `hex`), separate them by a text that they cannot contain, or accept it: accept: [key-unproved]".to_owned(),
    }
}

fn sort_order<'a>(whole: &ResolvedMapping<'a>, item: &'a ResolvedItem) {
    let diagnostics = whole.diagnostics;
    for name in sort_keys(whole.table) {
        let Some(template) = item.item.template(name) else {
            continue;
        };
        for disorder in disorders(whole.subject(item), template) {
            if let Some((code, help)) = disorder.fault {
                diagnostics.add(code, item.place(name), disorder.because, help);
            }
        }
    }
}

/// Tells of keys that DynamoDB may refuse. Of a query's columns little is known, and of a `where`
/// or a `$when` nothing.
pub(super) fn refusals(whole: &ResolvedMapping<'_>) {
    let diagnostics = whole.diagnostics;
    let is_judged = |item: &&ResolvedItem| {
        item.facts.origin == RelationKind::Table && item.item.condition.is_none()
    };
    for item in whole.resolved.iter().filter(is_judged) {
        for (key, is_sort) in key_attributes(whole.table) {
            if item.item.node(&key.name).is_some_and(has_condition) {
                continue;
            }
            let is_never_empty = is_never_empty(whole, item, &key.name);
            let refusals = refused(whole.subject(item), key, is_sort, is_never_empty);
            for (code, message, help) in refusals {
                diagnostics.add(code, item.place(&key.name), message, help);
            }
        }
    }
}

/// Whether a key attribute is a column of which a CHECK or an enum lists the values, and none is empty. MySQL and MariaDB may
/// write an empty text for what is no label of an enum, unless they are strict.
fn is_never_empty(whole: &ResolvedMapping<'_>, item: &ResolvedItem, key: &str) -> bool {
    let Some(value) = item.item.template(key).and_then(Template::single) else {
        return false;
    };
    let mut filters = value.filters.iter();
    let is_whole = value.place.path.is_empty()
        && filters.all(|filter| matches!(filter, Filter::Lower | Filter::Upper));
    let column = || {
        let scan = whole.passes.so_far(item.item.pass)?;
        let (table, column) = scan.origin(value.place.column)?;
        whole.catalog.table(table)?.column(column)
    };
    let values: &[String] = column().map_or(&[], |column| match &column.data_type {
        DataType::Enum { values } if whole.catalog.dbms == Dbms::Postgres => values,
        _ => &column.listed,
    });
    is_whole && !values.is_empty() && values.iter().all(|value| !value.is_empty())
}

/// Whether an attribute is there for some rows only.
pub(super) fn has_condition(node: &AttributeNode) -> bool {
    match node {
        AttributeNode::When { .. } => true,
        AttributeNode::Typed { value, .. } => has_condition(value),
        _ => false,
    }
}

/// Everything that was shown.
pub(super) fn report(
    whole: &ResolvedMapping<'_>,
    subjects: &[ProofSubject<'_>],
    pairs: &Pairs,
) -> Proofs {
    let covered = subjects.iter().filter_map(|subject| {
        let mut items = whole.raw.items.iter();
        let written = items.find(|item| *item.name.value == *subject.item.name);
        let omitted = written.into_iter().flat_map(|item| &item.omit);
        Some(Covered {
            subject: *subject,
            scan: whole.passes.so_far(subject.item.pass)?,
            omitted: omitted.map(|name| name.value.as_str()).collect(),
        })
    });
    let covered: Vec<Covered<'_>> = covered.collect();
    let of = |local| move |each: &Index| index(each, local, subjects);
    let global = whole.table.indexes.iter().map(of(false));
    let local = whole.table.local_indexes.iter().map(of(true));
    let indexes: Vec<IndexProof> = global.chain(local).collect();
    let each = || subjects.iter().copied();
    let sizes: Vec<SizeProof> = each().map(size).collect();
    let mut claims: Vec<Claim> = each().filter_map(own_keys).collect();
    claims.extend(keys_of_pairs(subjects, pairs));
    let of_pairs = claims.iter().filter(|claim| claim.of.item_types.len() != 1);
    let of_pairs = of_pairs.filter(|claim| !claim.is_proved());
    let mut meeting: BTreeSet<&str> = of_pairs
        .flat_map(|claim| claim.of.item_types.iter().map(String::as_str))
        .collect();
    if pairs.left > 0 {
        meeting.extend(subjects.iter().map(|subject| &*subject.item.name));
    }
    let guarantees = guarantees(&covered, whole.catalog, &meeting);
    claims.extend(each().flat_map(order));
    claims.extend(indexes.iter().flat_map(in_index));
    claims.extend(sizes.iter().map(sized));
    Proofs {
        claims,
        pairs_by_beginning: pairs.by_beginning,
        pairs_not_compared: pairs.left,
        coverage: coverage(&covered, whole.catalog),
        numbered_keys: numbered_keys(&covered, whole.catalog, whole.table),
        indexes,
        sizes,
        patterns: Vec::new(),
        guarantees,
    }
}

/// What is claimed of item types, without facts or an example.
fn claimed(kind: ClaimKind, item_types: &[&str], verdict: ClaimVerdict, because: String) -> Claim {
    let of = claim::ClaimSubject {
        item_types: item_types.iter().map(|name| (*name).to_owned()).collect(),
        ..claim::ClaimSubject::default()
    };
    Claim::new(kind, of, (verdict, because))
}

fn own_keys(subject: ProofSubject<'_>) -> Option<Claim> {
    let proof = prove(subject)?;
    let verdict = match proof.shown {
        KeyProofEnd::Proved => ClaimVerdict::Proved,
        KeyProofEnd::Supposed | KeyProofEnd::Open | KeyProofEnd::Broken => ClaimVerdict::NotProved,
    };
    let (kind, types) = (ClaimKind::KeysDiffer, [&*subject.item.name]);
    Some(Claim {
        facts: proof.facts,
        example: proof.example,
        ..claimed(kind, &types, verdict, proof.because)
    })
}

/// Item types that are always in an index, and that it is empty.
fn in_index(proof: &IndexProof) -> Vec<Claim> {
    let claimed = |kind, item_types: &[&str], because: &str| {
        let mut claim = claimed(kind, item_types, ClaimVerdict::Proved, because.to_owned());
        claim.of.index = Some(proof.index.clone());
        claim
    };
    if proof.items.is_empty() {
        let because = "no item type makes its key attributes";
        return vec![claimed(ClaimKind::IndexEmpty, &[], because)];
    }
    let because = "every item has its key attributes";
    let always = proof.items.iter().filter(|item| item.when.is_empty());
    always
        .map(|item| claimed(ClaimKind::AlwaysInIndex, &[&item.item_type], because))
        .collect()
}

fn sized(size: &SizeProof) -> Claim {
    let (verdict, because) = match size.most_bytes {
        Some(most) => (
            ClaimVerdict::Proved,
            format!("at most {most} bytes by the limits of its columns"),
        ),
        None => (
            ClaimVerdict::NotProved,
            format!("without limit, by {}", size.without_limit.join(", ")),
        ),
    };
    claimed(ClaimKind::ItemSize, &[&size.item_type], verdict, because)
}

/// What an access pattern finds.
pub(super) fn found(pattern: &str, finds: &PatternFinds) -> Claim {
    let PatternFinds {
        item_types,
        barely,
        unknown,
        ..
    } = finds;
    let types: Vec<&str> = item_types.iter().map(String::as_str).collect();
    let (verdict, because) = if !unknown.is_empty() {
        let because = format!(
            "it is not known whether its condition fits the keys of {}: they have too many segments and values to be compared",
            unknown.join(", ")
        );
        (ClaimVerdict::NotProved, because)
    } else if barely.is_empty() {
        let because = "the keys of no other item type fit its condition".to_owned();
        (ClaimVerdict::Proved, because)
    } else {
        let because = format!(
            "values that contain the delimiters of the keys would make it find {} too",
            barely.join(", ")
        );
        (ClaimVerdict::NotProved, because)
    };
    let mut claim = claimed(ClaimKind::PatternFinds, &types, verdict, because);
    claim.of.pattern = Some(pattern.to_owned());
    claim
}

/// Claims of every pair of item types that was compared, and one of those that were not.
fn keys_of_pairs(subjects: &[ProofSubject<'_>], pairs: &Pairs) -> Vec<Claim> {
    let claim = |(places, apart): &([usize; 2], ApartReason)| {
        let names = places.map(|place| subjects.get(place).map_or("", |each| &each.item.name));
        let (verdict, because) = match apart {
            ApartReason::Form(because) => (ClaimVerdict::Proved, because.as_str()),
            ApartReason::Not(_) => (
                ClaimVerdict::NotProved,
                "their templates have a key in common",
            ),
            ApartReason::Unknown => (
                ClaimVerdict::NotProved,
                "their templates have too many segments and values to be compared",
            ),
        };
        let mut claim = claimed(ClaimKind::KeysDiffer, &names, verdict, because.to_owned());
        if let ApartReason::Not(example) = apart {
            claim.example = Some(format!("both can be {example}"));
        }
        claim
    };
    let mut claims: Vec<Claim> = pairs.compared.iter().map(claim).collect();
    if pairs.left > 0 {
        let (verdict, because) = (ClaimVerdict::NotProved, not_compared(pairs.left));
        claims.push(claimed(ClaimKind::KeysDiffer, &[], verdict, because));
    }
    claims
}
