//! A mapping without a schema: the table, its access patterns and the templates of its item types, which is all that
//! asking the table takes. Types of parameters are inferred from filters and keys only.

use std::sync::Arc;

use dynafold_dynamodb::Table;
use dynafold_relational::catalog::TypeFamily;
use jiff::tz::TimeZone;

use super::patterns::{KnownAttributes, PatternContext, bind};
use super::{life, table};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{AccessPattern, Model, Placeholder, Template};
use crate::raw::{Raw, RawItem};
use crate::template::{self, Filter};
use crate::yaml::YamlNode;

/// What brings members of a document; its name stands for those at the top of an item.
const SPREAD: &str = "$spread";

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
    /// The same attributes with the places that stand in them, however deep, as the mapping writes them.
    pub places: Vec<(Arc<str>, Vec<Arc<str>>)>,
    /// Whether it has attributes, or members of them, that only the schema names: those of all columns.
    pub is_open: bool,
}

impl Outline {
    /// Adds what only the schema tells of the places in attributes.
    pub fn complete(&mut self, model: &Model) {
        for item_type in &mut self.item_types {
            if let Some(known) = model.item_type(&item_type.name) {
                let attributes = known.attributes.iter();
                item_type.places = attributes
                    .map(|(name, node)| (name.clone(), node.all_places()))
                    .collect();
                let spreads = known.spreads.iter();
                let spread = spreads.map(|place| (SPREAD.into(), vec![place.written.clone()]));
                item_type.places.extend(spread);
                item_type.is_open = false;
            }
        }
    }
}

/// Reads a mapping as far as no schema is needed. `faults` is what [`Raw::read`] found.
pub fn outline(raw: &Raw, faults: Vec<Diagnostic>) -> Outline {
    let diagnostics = Diagnostics::of(faults);
    let (table, time_zone) = table::resolve(&raw.table, &diagnostics);
    let both = raw.items.iter().map(|item| outlined(item, raw, &table));
    let (makes, mut item_types): (Vec<_>, Vec<_>) = both.unzip();
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
    for (item_type, made) in item_types.iter_mut().zip(makes) {
        item_type.attributes = made.attributes;
    }
    Outline {
        table,
        time_zone,
        patterns,
        item_types,
        type_attribute: type_attribute(raw),
        diagnostics,
    }
}

/// Collects the places that stand in the value of an attribute. Whether it has members that only the schema names.
fn read_places(node: &YamlNode, found: &mut Vec<Arc<str>>) -> bool {
    if let Some(text) = node.text() {
        let template = loose(text);
        let placeholders = template.iter().flat_map(Template::placeholders);
        found.extend(placeholders.map(|one| one.place.written.clone()));
    }
    let mut is_open = node.get("$embed").is_some() && node.get("$each").is_none();
    for element in node.elements() {
        is_open |= read_places(element, found);
    }
    for entry in node.entries() {
        match entry.key.as_str() {
            SPREAD => {
                let several = entry.value.elements().iter();
                let spread = several.chain([&entry.value]).filter_map(YamlNode::text);
                found.extend(spread.map(Arc::from));
            }
            // What holds no value of a row.
            "$when" | "$type" | "$embed" | "$match" | "$where" | "$order" | "$limit" | "$join"
            | "$as" => {}
            _ => is_open |= read_places(&entry.value, found),
        }
    }
    is_open
}

/// An item type as far as the mapping itself says: what it makes of its attributes, and its outline without these.
fn outlined(item: &RawItem, raw: &Raw, table: &Table) -> (KnownAttributes, OutlinedItemType) {
    let name: Arc<str> = item.name.value.as_str().into();
    let mut has_all = item.columns.is_none();
    let (mut has_spread, mut has_unnamed) = (false, false);
    let mut attributes: Vec<(Arc<str>, Option<Template>)> = Vec::new();
    let mut places: Vec<(Arc<str>, Vec<Arc<str>>)> = Vec::new();
    for entry in item.key.iter().chain(&item.attributes) {
        let mut own = Vec::new();
        if entry.key == SPREAD {
            has_spread = true;
            own.extend(entry.value.text().map(Arc::from));
        } else {
            has_unnamed |= read_places(&entry.value, &mut own);
            attributes.push((entry.key.as_str().into(), value(&entry.value)));
        }
        places.push((entry.key.as_str().into(), own));
    }
    for column in item.columns.iter().flatten() {
        let name = column.value.rsplit('.').next().unwrap_or_default();
        if name == "*" {
            has_all = true;
        } else {
            attributes.push((name.into(), loose(&format!("{{{}}}", column.value))));
        }
        places.push((name.into(), vec![column.value.as_str().into()]));
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
    let outlined = OutlinedItemType {
        name: name.clone(),
        attributes: Vec::new(),
        places,
        is_open: has_all || has_unnamed,
    };
    let made = KnownAttributes {
        name,
        attributes,
        is_open: has_all || has_spread,
        types: Vec::new(),
        carried: Vec::new(),
    };
    (made, outlined)
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
