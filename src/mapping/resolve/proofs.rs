//! Hands item types to the proofs, and tells what does not hold with its place in the file.

use std::ops::Range;

use super::item::Resolved;
use super::pass::Passes;
use crate::catalog::Catalog;
use crate::claim::{self, Claim, ClaimKind, Verdict};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{Node, Table};
use crate::mapping::proof::{
    Apart, Covered, IndexProof, Origin, Proofs, Refused, Shown, SizeProof, Subject, World, apart,
    coverage, disorders, index, key_attributes, order, prove, refused, size, sort_keys,
};
use crate::mapping::raw::Raw;

impl Resolved {
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            item: &self.item,
            facts: &self.facts,
        }
    }

    pub(super) fn place(&self, attribute: &str) -> Range<usize> {
        let written = self.spans.get(attribute).cloned();
        written.unwrap_or_else(|| self.name_span.clone())
    }
}

/// Tells of keys that may meet and of sort keys out of order.
pub(super) fn check(
    table: &Table,
    resolved: &[Resolved],
    world: &World,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for item in resolved {
        keys(item, table, world, diagnostics);
        sort_order(item, table, world, diagnostics);
    }
    let last = table.sort.as_ref().unwrap_or(&table.partition);
    for (later, item) in resolved.iter().enumerate() {
        for earlier in resolved.iter().take(later) {
            let apart = apart(earlier.subject(), item.subject(), table, world);
            let Some(Apart::Not(example)) = apart else {
                continue;
            };
            let message = format!(
                "`{}` and `{}` could make the same key",
                item.item.name, earlier.item.name
            );
            diagnostics.push(
                Diagnostic::new(Code::SameKey, item.place(&last.name), message)
                    .with_label(format!("both can be {example}"))
                    .with_other(earlier.place(&last.name), "the other key")
                    .with_help("begin one of them with a text that the other cannot begin with; else the load will find such rows and reject them"),
            );
        }
    }
}

fn keys(item: &Resolved, table: &Table, world: &World, diagnostics: &mut Vec<Diagnostic>) {
    // Of these `unproven-join` and `unchecked` tell.
    if matches!(item.facts.origin, Origin::Multiplied | Origin::Unknown) {
        return;
    }
    let Some(proof) = prove(item.subject(), table, world) else {
        return;
    };
    let (code, message) = match proof.shown {
        // Of a key that is named nobody wants to hear again that it is; the load checks.
        Shown::Proved | Shown::Supposed => return,
        Shown::Broken => (
            Code::KeyNotUnique,
            format!("two rows of `{}` may have one key", item.item.name),
        ),
        Shown::Open => (
            Code::KeyUnproved,
            format!(
                "that the keys of `{}` are apart cannot be proved: the load will check",
                item.item.name
            ),
        ),
    };
    let mend = help(item, proof.shown);
    let help = match proof.example {
        Some(example) => format!("{example}; {mend}"),
        None => mend,
    };
    let attribute = proof.attribute.unwrap_or(table.partition.name.clone());
    diagnostics.push(
        Diagnostic::new(code, item.place(&attribute), message)
            .with_label(proof.because)
            .with_help(help),
    );
}

fn help(item: &Resolved, shown: Shown) -> String {
    let names: Vec<&str> = item
        .item
        .row_key
        .iter()
        .map(|(name, _)| name.as_ref())
        .collect();
    match (item.facts.origin, names.as_slice()) {
        (Origin::Table, []) => "the load will find rows with one key and reject them".to_owned(),
        (Origin::Query | Origin::View, []) => "say which columns tell its rows apart if you know: from: { sql: …, key: [column] }; the load will find rows with one key and reject them".to_owned(),
        (_, names) if shown == Shown::Broken => format!(
            "put {} into the key; else the load will find rows with one key and reject them",
            names.join(", ")
        ),
        _ => "give values a width (`pad`, `uuid`, `hex`), set them apart by a text that they cannot hold, or accept it: accept: [key-unproved]".to_owned(),
    }
}

fn sort_order(item: &Resolved, table: &Table, world: &World, diagnostics: &mut Vec<Diagnostic>) {
    for name in sort_keys(table) {
        let Some(template) = item.subject().template(name) else {
            continue;
        };
        for disorder in disorders(item.subject(), template, world) {
            let code = match disorder.fault() {
                Some(true) => Code::UnpaddedNumber,
                Some(false) => Code::UnorderedTime,
                None => continue,
            };
            diagnostics.push(
                Diagnostic::new(code, item.place(name), disorder.because())
                    .with_help(disorder.help()),
            );
        }
    }
}

/// Tells of keys that DynamoDB may refuse. Of a query's columns little is known, and of a `where`
/// or a `$when` nothing.
pub(super) fn refusals(
    table: &Table,
    resolved: &[Resolved],
    world: &World,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for item in resolved {
        refused_keys(item, table, world, diagnostics);
    }
}

fn refused_keys(item: &Resolved, table: &Table, world: &World, diagnostics: &mut Vec<Diagnostic>) {
    if item.facts.origin != Origin::Table || item.condition.is_some() {
        return;
    }
    for (key, is_sort) in key_attributes(table) {
        let mut attributes = item.item.attributes.iter();
        if attributes.any(|(name, node)| *name == key.name && has_condition(node)) {
            continue;
        }
        for refusal in refused(item.subject(), key, is_sort, world) {
            let place = item.place(&key.name);
            diagnostics.push(match refusal {
                Refused::Empty(column) => Diagnostic::new(
                    Code::EmptyKey,
                    place,
                    format!("the key `{}` is empty where `{column}` is, and then the row is rejected", key.name),
                )
                .with_help(if is_own(table, &key.name) {
                    format!("put text around it, or leave such rows out: where: {column} <> ''")
                } else {
                    format!("put text around it, or leave such rows out of the index with this under `attributes`: {}: {{ $value: \"{{{column}}}\", $when: \"{column} <> ''\" }}", key.name)
                }),
                Refused::Long { bytes, most, columns } => Diagnostic::new(
                    Code::LongKey,
                    place,
                    format!("the key `{}` may have {bytes} bytes by its columns' limits; DynamoDB takes {most}", key.name),
                )
                .with_help(format!("shorten {} with `truncate(n)`, or leave it out; a longer key rejects its row", columns.join(", "))),
            });
        }
    }
}

/// Whether an attribute is there for some rows only.
pub(super) fn has_condition(node: &Node) -> bool {
    match node {
        Node::When { .. } => true,
        Node::Typed { value, .. } => has_condition(value),
        _ => false,
    }
}

/// Whether an attribute is of the table's own key, which no item can do without.
fn is_own(table: &Table, name: &str) -> bool {
    let own = std::iter::once(&table.partition).chain(&table.sort);
    own.into_iter().any(|own| &*own.name == name)
}

/// Everything that was shown.
pub(super) fn report(
    raw: &Raw,
    table: &Table,
    resolved: &[Resolved],
    passes: &Passes,
    catalog: &Catalog,
    world: &World,
) -> Proofs {
    let subjects: Vec<Subject<'_>> = resolved.iter().map(Resolved::subject).collect();
    let scans: Vec<_> = resolved
        .iter()
        .map(|each| passes.so_far(each.item.pass))
        .collect();
    let covered = resolved.iter().zip(&scans).filter_map(|(each, scan)| {
        let written = raw.items.iter();
        let mut written = written.filter(|item| item.name.value.as_str() == &*each.item.name);
        let omit = written.next().map(|item| item.omit.as_slice());
        Some(Covered {
            subject: each.subject(),
            scan: scan.as_ref()?,
            omitted: omit
                .unwrap_or_default()
                .iter()
                .map(|name| name.value.as_str())
                .collect(),
        })
    });
    let covered: Vec<Covered<'_>> = covered.collect();
    let own = std::slice::from_ref(&table.partition);
    let global = table
        .indexes
        .iter()
        .map(|each| index(each, &each.partition, table, &subjects, world));
    let local = table
        .local_indexes
        .iter()
        .map(|each| index(each, own, table, &subjects, world));
    let indexes: Vec<IndexProof> = global.chain(local).collect();
    let sizes = subjects.iter().map(|subject| size(*subject, table, world));
    let sizes: Vec<SizeProof> = sizes.collect();
    let mut claims: Vec<Claim> = Vec::new();
    claims.extend(
        subjects
            .iter()
            .filter_map(|subject| own_keys(*subject, table, world)),
    );
    let pairs_by_beginning = keys_of_pairs(table, &subjects, world, &mut claims);
    claims.extend(
        subjects
            .iter()
            .flat_map(|subject| order(*subject, table, world)),
    );
    claims.extend(indexes.iter().flat_map(in_index));
    claims.extend(sizes.iter().map(sized));
    Proofs {
        claims,
        pairs_by_beginning,
        coverage: coverage(&covered, catalog),
        indexes,
        sizes,
        patterns: Vec::new(),
    }
}

/// What is claimed of item types, without facts or an example.
fn claimed(kind: ClaimKind, item_types: &[&str], verdict: Verdict, because: String) -> Claim {
    Claim {
        kind,
        of: claim::Subject {
            item_types: item_types.iter().map(|name| (*name).to_owned()).collect(),
            ..claim::Subject::default()
        },
        verdict,
        because,
        facts: Vec::new(),
        example: None,
    }
}

fn own_keys(subject: Subject<'_>, table: &Table, world: &World) -> Option<Claim> {
    let proof = prove(subject, table, world)?;
    let verdict = match proof.shown {
        Shown::Proved => Verdict::Proved,
        Shown::Supposed | Shown::Open | Shown::Broken => Verdict::NotProved,
    };
    Some(Claim {
        facts: proof.facts,
        example: proof.example,
        ..claimed(
            ClaimKind::KeysDiffer,
            &[&subject.item.name],
            verdict,
            proof.because,
        )
    })
}

/// Item types that are always in an index, and that it is empty.
fn in_index(proof: &IndexProof) -> Vec<Claim> {
    let within = |claim: Claim| Claim {
        of: claim::Subject {
            index: Some(proof.index.clone()),
            ..claim.of
        },
        ..claim
    };
    if proof.items.is_empty() {
        let because = "no item type makes its key attributes".to_owned();
        let empty = claimed(ClaimKind::IndexEmpty, &[], Verdict::Proved, because);
        return vec![within(empty)];
    }
    let always = proof
        .items
        .iter()
        .filter(|item| item.when.is_empty())
        .map(|item| {
            let because = "every item has its key attributes".to_owned();
            let types = [item.item_type.as_str()];
            within(claimed(
                ClaimKind::AlwaysInIndex,
                &types,
                Verdict::Proved,
                because,
            ))
        });
    always.collect()
}

fn sized(size: &SizeProof) -> Claim {
    let (verdict, because) = match size.most_bytes {
        Some(most) => (
            Verdict::Proved,
            format!("at most {most} bytes by the limits of its columns"),
        ),
        None => (
            Verdict::NotProved,
            format!("without limit, by {}", size.without_limit.join(", ")),
        ),
    };
    claimed(ClaimKind::ItemSize, &[&size.item_type], verdict, because)
}

/// What an access pattern finds; `odd` are item types that it finds where values hold what the templates
/// set between them.
pub(super) fn found(pattern: &str, finds: &[String], odd: &[String]) -> Claim {
    let types: Vec<&str> = finds.iter().map(String::as_str).collect();
    let (verdict, because) = if odd.is_empty() {
        let because = "the keys of no other item type fit its condition".to_owned();
        (Verdict::Proved, because)
    } else {
        let because = format!(
            "odd values, that hold what keys set between them, would make it find {} too",
            odd.join(", ")
        );
        (Verdict::NotProved, because)
    };
    let mut claim = claimed(ClaimKind::PatternFinds, &types, verdict, because);
    claim.of.pattern = Some(pattern.to_owned());
    claim
}

/// Claims of every pair of item types whose keys do not differ by their beginning; gives the number of
/// the others.
fn keys_of_pairs(
    table: &Table,
    subjects: &[Subject<'_>],
    world: &World,
    claims: &mut Vec<Claim>,
) -> usize {
    let mut by_beginning = 0;
    for (later, item) in subjects.iter().enumerate() {
        for earlier in subjects.iter().take(later) {
            let types: [&str; 2] = [&earlier.item.name, &item.item.name];
            let claimed =
                |verdict, because| claimed(ClaimKind::KeysDiffer, &types, verdict, because);
            match apart(*earlier, *item, table, world) {
                None | Some(Apart::Beginning) => by_beginning += 1,
                Some(Apart::Form(because)) => claims.push(claimed(Verdict::Proved, because)),
                Some(Apart::Not(example)) => claims.push(Claim {
                    example: Some(format!("both can be {example}")),
                    ..claimed(
                        Verdict::NotProved,
                        "their templates have a key in common".to_owned(),
                    )
                }),
            }
        }
    }
    by_beginning
}
