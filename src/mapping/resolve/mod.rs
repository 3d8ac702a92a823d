//! Holds a mapping against a catalog: names become indices, templates are compiled, and what
//! comes out is a model that cannot be invalid. Every fault is reported, not the first alone.

mod accept;
mod anchor;
mod bind;
mod carried;
mod constraints;
mod directed;
mod embed;
mod fickle;
mod insensitive;
mod item;
mod join;
mod keys;
mod life;
mod outline;
mod pass;
mod patterns;
mod place;
mod proofs;
mod reached;
mod risks;
mod scope;
mod settings;
mod table;

use std::collections::HashMap;
use std::ops::Range;

use super::model::{ItemType, Model};
use super::proof::{Proofs, World, key_texts, pairs};
use super::raw::{Raw, Spanned};
use crate::catalog::{Catalog, Column};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::source::Scan;

pub(crate) use fickle::{is_fickle_query, reads_more};
pub use outline::{Outline, outline};
pub(crate) use patterns::{aligned, kind_of, writing};

use item::Resolved;
use pass::Passes;
use patterns::{Ground, Make};

/// What `from: { sql }` queries give, by their text: their columns, or why the source refuses.
pub type Described = HashMap<String, Result<Vec<Column>, String>>;

/// A mapping held against a catalog.
#[derive(Debug)]
pub struct Resolution {
    /// The model; there only if no diagnostic is an error.
    pub model: Option<Model>,
    /// Every fault and risk, in the order of the file, but for what is accepted.
    pub diagnostics: Vec<Diagnostic>,
    /// The risks that the mapping accepts, in the order of the file.
    pub accepted: Vec<Diagnostic>,
    /// What was shown of the mapping; there only if no diagnostic is an error.
    pub proofs: Option<Proofs>,
    /// The conditions, each as a scan of its own, for the source to look at. They are there even
    /// where there is no model, so that their faults are told with all others.
    pub conditions: Vec<Spanned<Scan>>,
    /// For each of the model's passes, where its first item type stands.
    pub passes: Vec<Range<usize>>,
}

/// Resolves a mapping. `faults` is what [`Raw::read`] found; it is among the diagnostics.
#[must_use]
pub fn resolve(
    raw: &Raw,
    faults: Vec<Diagnostic>,
    catalog: &Catalog,
    described: &Described,
) -> Resolution {
    let mut diagnostics = faults;
    let (table, time_zone) = table::resolve(&raw.table, &mut diagnostics);
    let mut passes = Passes::default();
    let resolved: Vec<Resolved> = raw
        .items
        .iter()
        .filter_map(|item| {
            item::resolve(
                item,
                raw,
                &table,
                catalog,
                described,
                &mut passes,
                &mut diagnostics,
            )
        })
        .collect();
    accept::check(raw, &resolved, catalog.dbms, &mut diagnostics);
    keys::check(raw, &table, &resolved, &mut diagnostics);
    let untold = risks::check(raw, &table, &resolved, &mut diagnostics);
    let world = World {
        time_zone: time_zone.clone(),
    };
    let subjects: Vec<_> = resolved.iter().map(Resolved::subject).collect();
    let pairs = pairs(&subjects, &table, &world);
    proofs::check(&table, &resolved, &world, &pairs, &mut diagnostics);
    let makes: Vec<Make> = resolved
        .iter()
        .map(|item| Make::of(item, &passes))
        .collect();
    let ground = Ground {
        table: &table,
        makes: &makes,
        is_complete: resolved.len() == raw.written.len(),
        catalog: Some(catalog),
    };
    let bound = patterns::bind(raw, &ground, &mut diagnostics);
    patterns::projections(raw, &ground, &mut diagnostics);
    insensitive::check(&ground, &resolved, &passes, &bound, &mut diagnostics);
    // A faulty key seems to be found by nothing, and to hold anything.
    let mut finds = Vec::new();
    if diagnostics.iter().all(|d| d.severity() != Severity::Error) {
        proofs::refusals(&table, &resolved, &world, &mut diagnostics);
        finds = reached::check(raw, &resolved, &bound, &world, &mut diagnostics);
    }
    if raw.items.is_empty() && diagnostics.is_empty() {
        let message = "the mapping has no item types";
        let help = "say under `items` what becomes of which table";
        diagnostics.add(Code::MissingKey, 0..0, message, help);
    }
    let accepted = accept::take(&raw.acceptances, &untold, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    let broken = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity() == Severity::Error);
    let conditions = conditions(&resolved, &passes);
    let places = |pass: usize| {
        let mut within = resolved.iter().filter(|each| each.item.pass == pass);
        within.next().map(|first| first.name_span.clone())
    };
    let places = (0..).map_while(places).collect();
    let proofs = (!broken).then(|| {
        let mut proofs = proofs::report(raw, &table, &resolved, &passes, catalog, &world, &pairs);
        for (bound, finds) in bound.iter().zip(finds) {
            let found = proofs::found(&bound.pattern.name, &finds);
            proofs.claims.push(found);
            let served = carried::served(bound, finds.item_types, &proofs.sizes);
            proofs.patterns.push(served);
        }
        proofs
    });
    let model = (!broken).then(|| {
        let with_texts = |each: Resolved| {
            let texts = key_texts(each.subject(), &table, &world);
            ItemType {
                key_texts: texts,
                ..each.item
            }
        };
        let mut item_types: Vec<ItemType> = resolved.into_iter().map(with_texts).collect();
        let passes = passes.finish(&mut item_types, catalog);
        Model {
            table,
            passes,
            item_types,
            patterns: bound.into_iter().map(|bound| bound.pattern).collect(),
            time_zone,
        }
    });
    Resolution {
        model,
        diagnostics,
        accepted,
        proofs,
        conditions,
        passes: places,
    }
}

/// The conditions of item types, each as a scan of its own.
fn conditions(resolved: &[Resolved], passes: &Passes) -> Vec<Spanned<Scan>> {
    let mut conditions = Vec::new();
    for each in resolved {
        for written in each.condition.iter().chain(&each.flags) {
            if let Some(value) = passes.alone(each.item.pass, &written.value) {
                let span = written.span.clone();
                conditions.push(Spanned { value, span });
            }
        }
        conditions.extend(each.conditions.iter().cloned());
    }
    conditions
}
