//! One item type: its keys, its attributes and its row, held against its relation.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::bind::Binder;
use super::pass::Passes;
use super::scope::Scope;
use super::{Described, embed, life};
use crate::catalog::Catalog;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, nearest};
use crate::mapping::model::{Expired, ItemType, KeyAttribute, Node, Part, Table, Template};
use crate::mapping::proof::Facts;
use crate::mapping::raw::{Raw, RawItem, Spanned};
use crate::source::Scan;

/// The name of the type attribute where the mapping does not choose one.
pub(super) const DEFAULT_TYPE_ATTRIBUTE: &str = "_type";

/// An item type on its way into the model, with the places that later checks point at.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) item: ItemType,
    pub(super) name_span: Range<usize>,
    pub(super) condition: Option<Spanned<String>>,
    /// The conditions of `$when`.
    pub(super) flags: Vec<Spanned<String>>,
    /// The conditions of embeds.
    pub(super) conditions: Vec<Spanned<Scan>>,
    /// Where each attribute was written.
    pub(super) spans: HashMap<Arc<str>, Range<usize>>,
    /// What the schema tells of the rows.
    pub(super) facts: Facts,
    /// Columns of the row that may be NULL.
    pub(super) nullable: Vec<usize>,
    /// Whether the relation is a table whose constraints are known.
    pub(super) is_table: bool,
    /// About how many items there are at most, where the catalog knows.
    pub(super) rows: Option<u64>,
}

/// Resolves an item type; `None` where its relation is not known.
pub(super) fn resolve(
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
    let explodes = embed::resolve(raw, &mut scope, passes.get(pass)?, catalog, diagnostics);
    let mut binder = Binder::new(&scope, passes.get(pass)?, catalog, diagnostics);
    let mut attributes: Vec<(Arc<str>, Node)> = Vec::new();
    let mut spans: HashMap<Arc<str>, Range<usize>> = HashMap::new();
    bind_keys(raw, table, &mut binder, &mut attributes, &mut spans);
    let type_attribute = mapping.table.type_attribute.as_ref();
    let type_name = type_attribute.map_or(DEFAULT_TYPE_ATTRIBUTE, |name| name.value.as_str());
    let alone = |part| Node::Template(Template { parts: vec![part] });
    let item_type = (type_name != "false").then(|| {
        let span = type_attribute.map_or(&raw.name.span, |name| &name.span);
        let node = alone(Part::Text(raw.name.value.clone()));
        (Arc::from(type_name), node, span.clone())
    });
    let carried = binder.carried(raw).into_iter();
    let carried = carried.map(|(name, place, span)| (name, alone(Part::Value(place)), span));
    let (members, spreads) = binder.members(&raw.attributes);
    for (name, node, span) in item_type.into_iter().chain(carried).chain(members) {
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
    if let Some(condition) = &raw.condition {
        binder.check_holds(condition, "no row makes an item");
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
            // Told when the whole table is known.
            key_texts: Vec::new(),
            write_rate: raw.write_rate,
        },
        name_span: raw.name.span.clone(),
        condition: raw.condition.clone(),
        spans,
        facts,
        nullable,
        is_table,
        rows: scope.rows(),
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
    let wanted: Vec<&KeyAttribute> = table.key().collect();
    for key in &wanted {
        match raw.key.iter().find(|entry| *entry.key == *key.name) {
            Some(entry) => {
                if let Some(node) = binder.node(&entry.value) {
                    attributes.push((key.name.clone(), node));
                }
                spans.insert(key.name.clone(), entry.value.span.clone());
            }
            None => binder.diagnostics.add(
                Code::MissingKey,
                raw.key_span.clone(),
                format!("the key of `{}` lacks `{}`", raw.name.value, key.name),
                format!("the table's key needs it: key: {{ {}: \"…\" }}", key.name),
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
            let message = format!("`{}` is no key attribute of the table", entry.key);
            binder
                .diagnostics
                .add(Code::UnknownKey, entry.key_span.clone(), message, help);
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
        let message = format!("the attribute `{name}` would be written twice");
        let help = format!("rename one, or leave the column out: omit: [{name}]");
        diagnostics.push(
            Diagnostic::new(Code::AttributeClash, span, message)
                .with_other(first.clone(), "it comes from here already")
                .with_help(help),
        );
        return;
    }
    spans.insert(name.clone(), span);
    attributes.push((name, node));
}
