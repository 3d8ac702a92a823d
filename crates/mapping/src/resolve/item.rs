//! One item type: its keys, its attributes and its row, held against its relation.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::Table;

use super::bind::ItemBinder;
use super::outline::type_attribute;
use super::pass::PassBuilder;
use super::scope::Scope;
use super::{ResolvedItem, embed, life};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::model::{AttributeNode, Expired, ItemType, RowDomains, Template, TemplatePart};
use crate::raw::{Raw, RawItem};

/// Resolves an item type over its relation, with the number of its pass.
pub(super) fn resolve(
    raw: &RawItem,
    mapping: &Raw,
    table: &Table,
    mut scope: Scope<'_>,
    (pass, rows): (usize, &mut PassBuilder),
) -> ResolvedItem {
    let explodes = embed::resolve(raw, &mut scope, rows);
    let mut binder = ItemBinder::new(&scope, rows);
    let condition = raw.condition.as_ref().map(|condition| {
        binder.take_condition(condition, "no row makes an item");
        binder.pass.condition(&condition.value)
    });
    let mut attributes = Attributes::of_key(raw, table, &mut binder);
    let item_type = type_attribute(mapping).map(|name| {
        let written = mapping.table.type_attribute.as_ref();
        let span = written.map_or(&raw.name.span, |name| &name.span);
        let parts = vec![TemplatePart::Text(raw.name.value.clone())];
        (
            name,
            AttributeNode::Template(Template { parts }),
            span.clone(),
        )
    });
    let carried = binder.carried(raw).into_iter();
    let carried = carried
        .map(|(name, value, span)| (name, AttributeNode::Template(Template::of(value)), span));
    let (members, spreads) = binder.members(&raw.attributes);
    for (name, node, span) in item_type.into_iter().chain(carried).chain(members) {
        attributes.add(name, node, span, &scope);
    }
    let Attributes { mut nodes, spans } = attributes;
    if mapping.table.key_escape {
        life::escape(&mut nodes, table);
    }
    let row_key = binder.row_key();
    let facts = binder.facts(raw.condition.is_some());
    let nullable = binder.nullable();
    let not_null = raw.condition.as_ref();
    let not_null = not_null.map_or_else(Vec::new, |condition| binder.not_null(&condition.value));
    let expired = raw.expired.as_ref();
    let compress = raw.compress.iter();
    let resolved = ResolvedItem {
        conditions: binder.conditions,
        item: ItemType {
            name: raw.name.value.as_str().into(),
            pass,
            condition,
            row_key,
            explodes,
            attributes: nodes,
            spreads,
            hidden_columns: binder.hidden_columns,
            keep_nulls: raw.keep_nulls,
            expired: expired.map_or(Expired::Load, |expired| expired.value),
            compress: compress.map(|name| name.value.as_str().into()).collect(),
            // Told when the whole table is known.
            key_texts: Vec::new(),
            domains: RowDomains::default(),
            description: raw.description.clone(),
            write_rate: raw.write_rate,
        },
        name_span: raw.name.span.clone(),
        spans,
        facts,
        nullable,
        not_null,
        is_table: scope.is_table(),
        rows: scope.rows(),
    };
    life::check(raw, &resolved, table, scope.diagnostics);
    resolved
}

/// An item type's attributes, and where each was written.
#[derive(Default)]
struct Attributes {
    nodes: Vec<(Arc<str>, AttributeNode)>,
    spans: HashMap<Arc<str>, Range<usize>>,
}

impl Attributes {
    fn of_key(raw: &RawItem, table: &Table, binder: &mut ItemBinder<'_>) -> Self {
        let mut own = Self::default();
        for key in table.key() {
            match raw.key.iter().find(|entry| *entry.key == *key.name) {
                Some(entry) => {
                    let node = binder.node(&entry.value);
                    own.nodes.extend(node.map(|node| (key.name.clone(), node)));
                    own.spans.insert(key.name.clone(), entry.value.span.clone());
                }
                None => binder.report(
                    Code::MissingKey,
                    raw.key_span.clone(),
                    format!("the key of `{}` has no `{}`", raw.name.value, key.name),
                    format!("the table's key needs it: key: {{ {}: \"…\" }}", key.name),
                ),
            }
        }
        for entry in &raw.key {
            let names = table.key().map(|key| key.name.as_ref());
            if names.clone().all(|name| name != entry.key) {
                let help = did_you_mean(&entry.key, names).unwrap_or_else(|| {
                    "key attributes of indexes belong under `attributes`".to_owned()
                });
                let message = format!("`{}` is not a key attribute of the table", entry.key);
                let span = entry.key_span.clone();
                binder.report(Code::UnknownKey, span, message, help);
            }
        }
        own
    }

    fn add(&mut self, name: Arc<str>, node: AttributeNode, span: Range<usize>, scope: &Scope<'_>) {
        if let Some(first) = self.spans.get(&name) {
            let message = format!("the attribute `{name}` would be written twice");
            let help = format!("rename one, or leave the column out: omit: [{name}]");
            let fault = Diagnostic::new(Code::AttributeClash, span, message).with_help(help);
            let fault = fault.with_other(first.clone(), "it is already written here");
            scope.diagnostics.push(fault);
            return;
        }
        self.spans.insert(name.clone(), span);
        self.nodes.push((name, node));
    }
}
