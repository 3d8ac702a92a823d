//! Values and templates as the document writes them.

use crate::document::definition::Cell;
use crate::item::{Attribute, Item, write_plain};
use crate::mapping::model::{AccessPattern, Part, Template};
use crate::mapping::template::Filter;

/// Characters of a value that are shown; a document of a hundred items stays one that can be read.
const SHOWN: usize = 240;

/// The attributes of an item.
#[must_use]
pub fn cells(item: &Item) -> Vec<Cell> {
    let attributes = item.attributes.iter();
    attributes.map(|(name, value)| cell(name, value)).collect()
}

pub(super) fn cell(name: &str, value: &Attribute) -> Cell {
    Cell {
        name: name.to_owned(),
        data_type: value.type_name(),
        value: shown(value),
    }
}

/// A value as people read it.
pub(super) fn shown(value: &Attribute) -> String {
    let text = match value {
        Attribute::S(text) => text.to_string(),
        other => {
            let mut text = String::new();
            write_plain(&mut text, other);
            text
        }
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A template as people read it: without filters, but for what tells shards.
pub(super) fn plainly(template: &Template) -> String {
    fn part(of: &Part) -> String {
        match of {
            Part::Text(text) => text.clone(),
            Part::Value(placeholder) => {
                let shards = placeholder.place.column == AccessPattern::SHARD
                    || matches!(placeholder.filters.last(), Some(Filter::Shard(_)));
                if shards {
                    placeholder.to_string()
                } else {
                    format!("{{{}}}", placeholder.place.written)
                }
            }
            Part::Optional(inner) => {
                let inner: String = inner.iter().map(part).collect();
                format!("[{inner}]")
            }
        }
    }
    template.parts.iter().map(part).collect()
}
