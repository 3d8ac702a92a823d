//! A mapping without a schema: the table, its access patterns and the templates of its item types, which is all that
//! asking the table takes. Types of parameters are inferred from filters and keys only.

use std::sync::Arc;

use dynafold_dynamodb::Table;
use dynafold_relational::catalog::TypeFamily;
use jiff::tz::TimeZone;

use super::patterns::{KnownAttributes, PatternContext, bind};
use super::{life, table};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{AccessPattern, Placeholder, Template};
use crate::raw::{Raw, RawItem};
use crate::template::{self, Filter};
use crate::yaml::YamlNode;

/// What a mapping says without a schema.
#[derive(Debug)]
pub struct Outline {
    /// The table that the mapping describes.
    pub table: Table,
    /// What times without a zone mean when UTC is asked for.
    pub time_zone: TimeZone,
    /// The access patterns without faults, in the order of the file.
    pub patterns: Vec<AccessPattern>,
    /// The item types, in the order of the file.
    pub item_types: Vec<OutlinedItemType>,
    /// The attribute that names the item type in every item; `None` where the mapping has none.
    pub type_attribute: Option<Arc<str>>,
    /// Every fault that shows without a schema, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// An item type without a schema.
#[derive(Debug)]
pub struct OutlinedItemType {
    /// The item type's name.
    pub name: Arc<str>,
    /// The attributes that the mapping names, with the template of those that have one. Its places are bound to no column.
    pub attributes: Vec<(Arc<str>, Option<Template>)>,
}

/// Reads a mapping as far as no schema is needed. `faults` is what [`Raw::read`] found.
pub fn outline(raw: &Raw, faults: Vec<Diagnostic>) -> Outline {
    let diagnostics = Diagnostics::of(faults);
    let (table, time_zone) = table::resolve(&raw.table, &diagnostics);
    let makes: Vec<KnownAttributes> = raw
        .items
        .iter()
        .map(|item| make(item, raw, &table))
        .collect();
    let context = PatternContext {
        table: &table,
        makes: &makes,
        is_complete: true,
        catalog: None,
        diagnostics: &diagnostics,
    };
    let patterns = bind(raw, &context);
    let patterns = patterns.into_iter().map(|bound| bound.pattern).collect();
    let mut diagnostics = diagnostics.take();
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    let item_types = makes.into_iter().map(|made| OutlinedItemType {
        name: made.name,
        attributes: made.attributes,
    });
    Outline {
        table,
        time_zone,
        patterns,
        item_types: item_types.collect(),
        type_attribute: type_attribute(raw),
        diagnostics,
    }
}

/// What an item type makes of its attributes, as far as the mapping itself says.
fn make(item: &RawItem, raw: &Raw, table: &Table) -> KnownAttributes {
    let mut is_open = item.columns.is_none();
    let mut attributes: Vec<(Arc<str>, Option<Template>)> = Vec::new();
    for entry in item.key.iter().chain(&item.attributes) {
        if entry.key == "$spread" {
            is_open = true;
        } else {
            attributes.push((entry.key.as_str().into(), value(&entry.value)));
        }
    }
    for column in item.columns.iter().flatten() {
        let name = column.value.rsplit('.').next().unwrap_or_default();
        if name == "*" {
            is_open = true;
        } else {
            attributes.push((name.into(), loose(&format!("{{{}}}", column.value))));
        }
    }
    attributes.extend(type_attribute(raw).map(|name| (name, None)));
    if raw.table.key_escape {
        for (name, template) in &mut attributes {
            if let Some(template) = template
                && life::is_key(name, table)
            {
                life::escape_template(template);
            }
        }
    }
    KnownAttributes {
        name: item.name.value.as_str().into(),
        attributes,
        is_open,
        types: Vec::new(),
        carried: Vec::new(),
    }
}

/// The name of the type attribute where the mapping does not choose one.
const DEFAULT_TYPE_ATTRIBUTE: &str = "_type";

/// The attribute that names the item type in every item; `None` with `type_attribute: false`.
pub(super) fn type_attribute(raw: &Raw) -> Option<Arc<str>> {
    let named = raw.table.type_attribute.as_ref();
    let name = named.map_or(DEFAULT_TYPE_ATTRIBUTE, |name| &name.value);
    (name != "false").then(|| name.into())
}

/// The template of an attribute, whatever condition or type goes with it.
fn value(node: &YamlNode) -> Option<Template> {
    match node.get("$value") {
        Some(inner) => value(inner),
        None => loose(node.text()?),
    }
}

/// A template whose places are not bound to anything; `None` for a faulty one.
fn loose(text: &str) -> Option<Template> {
    let parts = template::parse(text).ok()?.parts(&mut |written| {
        let filters = written.filters.iter().map(Filter::compile);
        Some(Placeholder {
            filters: filters.collect::<Result<_, _>>().ok()?,
            ..Placeholder::of_column(0, written.written_path(), TypeFamily::Any)
        })
    });
    Some(Template { parts: parts? })
}
