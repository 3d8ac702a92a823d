//! Holds a mapping against a catalog: names become indices, templates are compiled, and what
//! comes out is a model that cannot be invalid. Every fault is reported, not the first alone.

mod accept;
mod alike;
mod anchor;
mod bind;
mod carried;
mod constraints;
mod directed;
mod embed;
mod explode;
mod fickle;
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
mod served;
mod settings;
mod table;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::model::{Expired, ItemType, KeyAttribute, Model, Node, Part, Table, Template};
use super::proof::{Facts, Proofs, World};
use super::raw::{Raw, RawItem, Spanned};
use crate::catalog::{Catalog, Column};
use crate::diagnostic::{Code, Diagnostic, Severity, nearest};
use crate::source::Scan;

pub use outline::{Outline, outline};

use bind::Binder;
use pass::Passes;
use patterns::{Ground, Make};
use scope::Scope;

/// The name of the type attribute where the mapping does not choose one.
const DEFAULT_TYPE_ATTRIBUTE: &str = "_type";

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

/// An item type on its way into the model, with the places that later checks point at.
#[derive(Debug)]
struct Resolved {
    item: ItemType,
    name_span: Range<usize>,
    condition: Option<Spanned<String>>,
    /// The conditions of `$when`.
    flags: Vec<Spanned<String>>,
    /// The conditions of embeds.
    conditions: Vec<Spanned<Scan>>,
    /// Where each attribute was written.
    spans: HashMap<Arc<str>, Range<usize>>,
    /// What the schema tells of the rows.
    facts: Facts,
    /// Columns of the row that may be NULL.
    nullable: Vec<usize>,
    /// Whether the relation is a table whose constraints are known.
    is_table: bool,
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
            resolve_item(
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
    keys::check(&table, &resolved, &mut diagnostics);
    risks::check(raw, &table, &resolved, &mut diagnostics);
    let world = World {
        time_zone: time_zone.clone(),
    };
    proofs::check(&table, &resolved, &world, &mut diagnostics);
    let makes: Vec<Make> = resolved.iter().map(Make::of).collect();
    let ground = Ground {
        table: &table,
        makes: &makes,
        is_complete: resolved.len() == raw.items.len(),
        catalog: Some(catalog),
    };
    let bound = patterns::bind(raw, &ground, &mut diagnostics);
    // A faulty key seems to be found by nothing, and to hold anything.
    let mut finds = Vec::new();
    if diagnostics.iter().all(|d| d.severity() != Severity::Error) {
        proofs::refusals(&table, &resolved, &world, &mut diagnostics);
        finds = reached::check(raw, &table, &resolved, &bound, &world, &mut diagnostics);
    }
    if raw.items.is_empty() && diagnostics.is_empty() {
        diagnostics.push(
            Diagnostic::new(Code::MissingKey, 0..0, "the mapping has no item types")
                .with_help("say under `items` what becomes of which table"),
        );
    }
    let accepted = accept::take(&raw.acceptances, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    let broken = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity() == Severity::Error);
    let mut conditions = Vec::new();
    for each in &resolved {
        for written in each.condition.iter().chain(&each.flags) {
            if let Some(value) = passes.alone(each.item.pass, &written.value) {
                let span = written.span.clone();
                conditions.push(Spanned { value, span });
            }
        }
        conditions.extend(each.conditions.iter().cloned());
    }
    let places = |pass: usize| {
        let mut within = resolved.iter().filter(|each| each.item.pass == pass);
        within.next().map(|first| first.name_span.clone())
    };
    let places = (0..).map_while(places).collect();
    let proofs = (!broken).then(|| {
        let mut proofs = proofs::report(raw, &table, &resolved, &passes, catalog, &world);
        let all = bound.iter().zip(finds);
        proofs.patterns = all
            .map(|(bound, finds)| served::served(bound, finds, &proofs.sizes))
            .collect();
        proofs
    });
    let model = (!broken).then(|| {
        let mut item_types: Vec<ItemType> = resolved.into_iter().map(|each| each.item).collect();
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

fn resolve_item(
    raw: &RawItem,
    mapping: &Raw,
    table: &Table,
    catalog: &Catalog,
    described: &Described,
    passes: &mut Passes,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Resolved> {
    let mut scope = Scope::open(raw, catalog, described, diagnostics)?;
    let pass = passes.join(&scope);
    let explodes = explode::resolve(raw, &mut scope, passes.get(pass)?, catalog, diagnostics);
    let mut binder = Binder::new(&scope, passes.get(pass)?, catalog, diagnostics);
    let mut attributes: Vec<(Arc<str>, Node)> = Vec::new();
    let mut spans: HashMap<Arc<str>, Range<usize>> = HashMap::new();
    bind_keys(raw, table, &mut binder, &mut attributes, &mut spans);
    let type_attribute = mapping.table.type_attribute.as_ref();
    let type_name = type_attribute.map_or(DEFAULT_TYPE_ATTRIBUTE, |name| name.value.as_str());
    if type_name != "false" {
        let text = Part::Text(raw.name.value.clone());
        let node = Node::Template(Template { parts: vec![text] });
        let span = type_attribute.map_or(raw.name.span.clone(), |name| name.span.clone());
        add(
            type_name.into(),
            node,
            span,
            &mut attributes,
            &mut spans,
            binder.diagnostics,
        );
    }
    for (name, place, span) in binder.carried(raw) {
        let node = Node::Template(Template {
            parts: vec![Part::Value(place)],
        });
        add(
            name,
            node,
            span,
            &mut attributes,
            &mut spans,
            binder.diagnostics,
        );
    }
    let (members, spreads) = binder.members(&raw.attributes);
    for (name, node, span) in members {
        add(
            name,
            node,
            span,
            &mut attributes,
            &mut spans,
            binder.diagnostics,
        );
    }
    if mapping.table.settings.key_escape {
        life::escape(&mut attributes, table);
    }
    let row_key = binder.row_key();
    let facts = binder.facts(raw.condition.is_some());
    let nullable = binder.nullable();
    let condition = raw
        .condition
        .as_ref()
        .map(|condition| binder.pass.condition(&condition.value));
    let (flags, conditions) = (binder.flags, binder.conditions);
    let is_table = scope.is_table();
    let resolved = Resolved {
        flags,
        conditions,
        item: ItemType {
            name: raw.name.value.as_str().into(),
            pass,
            condition,
            row_key,
            explodes,
            attributes,
            spreads,
            keep_nulls: raw.keep_nulls,
            expired: raw
                .life
                .expired
                .as_ref()
                .map_or(Expired::Load, |expired| expired.value),
            compress: raw
                .life
                .compress
                .iter()
                .map(|name| name.value.as_str().into())
                .collect(),
            write_rate: raw.write_rate,
        },
        name_span: raw.name.span.clone(),
        condition: raw.condition.clone(),
        spans,
        facts,
        nullable,
        is_table,
    };
    life::check(raw, &resolved, table, diagnostics);
    Some(resolved)
}

fn bind_keys(
    raw: &RawItem,
    table: &Table,
    binder: &mut Binder<'_>,
    attributes: &mut Vec<(Arc<str>, Node)>,
    spans: &mut HashMap<Arc<str>, Range<usize>>,
) {
    let wanted: Vec<&KeyAttribute> = std::iter::once(&table.partition)
        .chain(&table.sort)
        .collect();
    for key in &wanted {
        match raw.key.iter().find(|entry| *entry.key == *key.name) {
            Some(entry) => {
                if let Some(node) = binder.node(&entry.value) {
                    attributes.push((key.name.clone(), node));
                }
                spans.insert(key.name.clone(), entry.value.span.clone());
            }
            None => binder.diagnostics.push(
                Diagnostic::new(
                    Code::MissingKey,
                    raw.key_span.clone(),
                    format!("the key of `{}` lacks `{}`", raw.name.value, key.name),
                )
                .with_help(format!(
                    "the table's key needs it: key: {{ {}: \"…\" }}",
                    key.name
                )),
            ),
        }
    }
    for entry in &raw.key {
        if wanted.iter().all(|key| *key.name != *entry.key) {
            let names = wanted.iter().map(|key| key.name.as_ref());
            let help = match nearest(&entry.key, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "key attributes of indexes belong under `attributes`".to_owned(),
            };
            binder.diagnostics.push(
                Diagnostic::new(
                    Code::UnknownKey,
                    entry.key_span.clone(),
                    format!("`{}` is no key attribute of the table", entry.key),
                )
                .with_help(help),
            );
        }
    }
}

fn add(
    name: Arc<str>,
    node: Node,
    span: Range<usize>,
    attributes: &mut Vec<(Arc<str>, Node)>,
    spans: &mut HashMap<Arc<str>, Range<usize>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    if let Some(first) = spans.get(&name) {
        diagnostics.push(
            Diagnostic::new(
                Code::AttributeClash,
                span,
                format!("the attribute `{name}` would be written twice"),
            )
            .with_other(first.clone(), "it comes from here already")
            .with_help(format!(
                "rename one, or leave the column out: omit: [{name}]"
            )),
        );
        return;
    }
    spans.insert(name.clone(), span);
    attributes.push((name, node));
}
