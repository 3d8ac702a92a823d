//! Checks a mapping against a catalog: names become indices, templates are compiled, and the result is a model that cannot be
//! invalid. Every fault is reported, not only the first.

mod accept;
mod anchor;
mod bind;
mod carried;
mod constraints;
mod embed;
mod equality;
mod expired;
mod insensitive;
mod item;
mod join;
mod keys;
mod life;
mod outline;
mod pass;
mod patterns;
mod proofs;
mod rates;
mod reached;
mod risks;
mod roll_up;
mod scope;
mod table;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::Table;
use dynafold_relational::catalog::{Catalog, Column};
use dynafold_relational::scan::Scan;
use jiff::tz::TimeZone;

use super::model::{AccessPattern, ItemType, Model, RollUp, RowDomains};
use super::proof::{Pairs, ProofSubject, Proofs, RowFacts, key_texts, pairs};
use super::raw::{Raw, Spanned};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};

pub use outline::{Outline, OutlinedItemType, outline};
pub use pass::fickle_part;
pub use patterns::{aligned, kind_of, writing};

use pass::Passes;
use patterns::{BoundPattern, KnownAttributes, PatternContext};
use reached::PatternFinds;
use scope::Scope;

/// What `from: { sql }` queries give, by their text: their columns, or why the source refuses.
pub type Described = HashMap<String, Result<Vec<Column>, String>>;

/// The result of checking a mapping against a catalog.
#[derive(Debug)]
pub struct Resolution {
    /// The model; there only if no diagnostic is an error.
    pub model: Option<Model>,
    /// Every fault and risk, in the order of the file, but for what is accepted.
    pub diagnostics: Vec<Diagnostic>,
    /// The risks that the mapping accepts, in the order of the file.
    pub accepted: Vec<Diagnostic>,
    /// What was proved of the mapping; there only if no diagnostic is an error.
    pub proofs: Option<Proofs>,
    /// The conditions, each as a scan of its own, for the source to check. They are there without a model too, so that their
    /// faults are reported with all others.
    pub conditions: Vec<Spanned<Scan>>,
    /// For each of the model's passes, where its first item type stands.
    pub passes: Vec<Range<usize>>,
}

/// Resolves a mapping. `faults`: what [`Raw::read`] found, which becomes part of the diagnostics.
pub fn resolve(
    raw: &Raw,
    faults: Vec<Diagnostic>,
    catalog: &Catalog,
    described: &Described,
) -> Resolution {
    let found = Diagnostics::of(faults);
    let (table, time_zone) = table::resolve(&raw.table, &found);
    let (resolved, passes) = resolve_items(raw, &table, catalog, described, &found);
    let mapping = ResolvedMapping {
        raw,
        catalog,
        diagnostics: &found,
        table: &table,
        time_zone: &time_zone,
        resolved: &resolved,
        passes: &passes,
    };
    let checked = mapping.check();
    let mut diagnostics = found.take();
    let accepted = accept::take(&raw.acceptances, &checked.suppressed, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    let conditions = resolved.iter().flat_map(|item| &item.conditions);
    let mut resolution = Resolution {
        model: None,
        accepted,
        proofs: None,
        conditions: conditions.cloned().collect(),
        passes: mapping.pass_spans(),
        diagnostics,
    };
    if resolution.diagnostics.iter().any(is_error) {
        return resolution;
    }
    resolution.proofs = Some(mapping.proofs(&checked));
    let subjects = mapping.subjects().into_iter();
    let item_types = subjects.map(|subject| ItemType {
        key_texts: key_texts(subject),
        domains: RowDomains::of(subject, catalog.dbms),
        ..subject.item.clone()
    });
    let mut item_types: Vec<ItemType> = item_types.collect();
    let patterns = checked.patterns.into_iter();
    resolution.model = Some(Model {
        passes: passes.finish(&mut item_types, catalog),
        table,
        type_attribute: outline::type_attribute(raw),
        item_types,
        unproved_pairs: checked.pairs.unproved(),
        patterns: patterns.map(|bound| bound.pattern).collect(),
        roll_ups: checked.roll_ups,
        description: raw.table.description.clone(),
        time_zone,
    });
    resolution
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity() == Severity::Error
}

/// The item types that can be resolved, and the passes that read their rows.
fn resolve_items(
    raw: &Raw,
    table: &Table,
    catalog: &Catalog,
    described: &Described,
    diagnostics: &Diagnostics,
) -> (Vec<ResolvedItem>, Passes) {
    let mut passes = Passes::default();
    // A condition is checked beside all parents that its pass joins: every scope is open before the first item type is resolved.
    let mut scopes = Vec::new();
    for item in &raw.items {
        if let Some(scope) = Scope::open(item, described, catalog, diagnostics) {
            scopes.push((item, passes.join(&scope), scope));
        }
    }
    let resolved = scopes.into_iter().filter_map(|(item, pass, scope)| {
        let pass = (pass, passes.get(pass)?);
        Some(item::resolve(item, raw, table, scope, pass))
    });
    (resolved.collect(), passes)
}

/// An item type on its way into the model, with the places that later checks point at.
#[derive(Debug)]
struct ResolvedItem {
    item: ItemType,
    name_span: Range<usize>,
    /// The conditions, its own and those of `$when` and of embeds, each as a scan of its own.
    conditions: Vec<Spanned<Scan>>,
    /// Where each attribute was written.
    spans: HashMap<Arc<str>, Range<usize>>,
    /// What the schema says about the rows.
    facts: RowFacts,
    /// Columns of the row that may be NULL.
    nullable: Vec<usize>,
    /// Columns of the row that its `where` says are not NULL.
    not_null: Vec<usize>,
    /// Whether the relation is a table whose constraints are known.
    is_table: bool,
    /// About how many items there are at most, where the catalog knows.
    rows: Option<u64>,
}

impl ResolvedItem {
    /// Where an attribute was written.
    fn place(&self, attribute: &str) -> Range<usize> {
        let written = self.spans.get(attribute).cloned();
        written.unwrap_or_else(|| self.name_span.clone())
    }
}

/// A mapping with its item types resolved, for the checks and proofs that need all of them.
struct ResolvedMapping<'a> {
    raw: &'a Raw,
    catalog: &'a Catalog,
    diagnostics: &'a Diagnostics,
    table: &'a Table,
    time_zone: &'a TimeZone,
    resolved: &'a [ResolvedItem],
    passes: &'a Passes,
}

/// What the checks of a whole mapping have found out besides diagnostics.
struct CheckedMapping {
    /// The access patterns that have no faults of their own.
    patterns: Vec<BoundPattern>,
    /// The roll-ups that have no faults of their own.
    roll_ups: Vec<RollUp>,
    /// What each of `patterns` finds; empty where a diagnostic is an error.
    finds: Vec<PatternFinds>,
    /// Which item types may share keys.
    pairs: Pairs,
    /// Warnings that only more rows bring: they are not reported, and may be accepted.
    suppressed: Vec<Diagnostic>,
}

impl<'a> ResolvedMapping<'a> {
    /// Whether every item type is resolved; a faulty one is not.
    fn is_complete(&self) -> bool {
        self.resolved.len() == self.raw.written.len()
    }

    /// Where an access pattern is written.
    fn pattern_place(&self, pattern: &AccessPattern) -> Range<usize> {
        let mut patterns = self.raw.patterns.iter();
        let written = patterns.find(|raw| raw.name.value == *pattern.name);
        written.map_or(0..0, |raw| raw.name.span.clone())
    }

    fn subject(&self, item: &'a ResolvedItem) -> ProofSubject<'a> {
        ProofSubject {
            item: &item.item,
            facts: &item.facts,
            table: self.table,
            time_zone: self.time_zone,
        }
    }

    fn subjects(&self) -> Vec<ProofSubject<'a>> {
        self.resolved
            .iter()
            .map(|item| self.subject(item))
            .collect()
    }

    /// Checks the item types against each other, then the access patterns, then what only a mapping without errors is
    /// asked: a faulty key would give further, false diagnostics.
    fn check(&self) -> CheckedMapping {
        accept::check(self);
        keys::check(self);
        let suppressed = risks::check(self);
        let pairs = pairs(&self.subjects());
        proofs::check(self, &pairs);
        let patterns = self.bind_patterns();
        insensitive::check(self, &patterns);
        let roll_ups = roll_up::check(self);
        let mut finds = Vec::new();
        if !self.diagnostics.any(is_error) {
            proofs::refusals(self);
            finds = reached::check(self, &patterns);
            rates::check(self, &patterns, &finds);
            expired::check(self, &patterns, &finds);
        }
        if self.raw.items.is_empty() && self.diagnostics.count() == 0 {
            let message = "the mapping has no item types";
            let help =
                "list the item types under `items`, each with the table that it is made `from`";
            self.diagnostics.add(Code::MissingKey, 0..0, message, help);
        }
        CheckedMapping {
            patterns,
            roll_ups,
            finds,
            pairs,
            suppressed,
        }
    }

    fn bind_patterns(&self) -> Vec<BoundPattern> {
        let items = self.resolved.iter();
        let makes: Vec<KnownAttributes> = items
            .map(|item| KnownAttributes::of(item, self.passes))
            .collect();
        let context = PatternContext {
            table: self.table,
            makes: &makes,
            is_complete: self.is_complete(),
            catalog: Some(self.catalog),
            diagnostics: self.diagnostics,
        };
        let bound = patterns::bind(self.raw, &context);
        patterns::projections(self.raw, &context);
        bound
    }

    /// For each pass, where its first item type stands.
    fn pass_spans(&self) -> Vec<Range<usize>> {
        let first_of_pass = |pass| self.resolved.iter().find(|each| each.item.pass == pass);
        let first_items = (0..).map_while(first_of_pass);
        first_items.map(|item| item.name_span.clone()).collect()
    }

    /// What is proved, once no diagnostic is an error.
    fn proofs(&self, checked: &CheckedMapping) -> Proofs {
        let mut proofs = proofs::report(self, &self.subjects(), &checked.pairs);
        for (bound, finds) in checked.patterns.iter().zip(&checked.finds) {
            let found = proofs::found(&bound.pattern.name, finds);
            proofs.claims.push(found);
            let served = carried::served(bound, finds.item_types.clone(), &proofs.sizes);
            proofs.patterns.push(served);
        }
        proofs
    }
}
