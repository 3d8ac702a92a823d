//! How a full load made its keys: single rows are loaded later only where they are made alike.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cli::failure::Failure;
use crate::cli::output::OutputStreams;
use crate::mapping::model::{AttributeNode, ItemType, Model, TemplatePart};

/// The key templates of each item type, as text that is the same for the same keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeyTemplateTexts {
    keys: BTreeMap<String, Vec<String>>,
}

impl KeyTemplateTexts {
    pub(super) fn of(model: &Model) -> Self {
        let all = model.item_types.iter();
        let keys = all.map(|item| (item.name.to_string(), templates(model, item)));
        Self {
            keys: keys.collect(),
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Refuses to load single rows where the items of the others have other keys than they would have
    /// now. `last`: the keys of the last full load, where they are known.
    pub(super) fn are_those_of(
        &self,
        last: Option<Self>,
        output: &OutputStreams,
    ) -> Result<(), Failure> {
        let Some(last) = last else {
            output.note(
                "no earlier full load is known here, so it is unknown whether the table's items have the keys that the mapping makes now",
            );
            return Ok(());
        };
        let keys = self.keys.iter();
        let changed = keys
            .filter(|(name, keys)| last.keys.get(*name).is_some_and(|earlier| earlier != *keys));
        let changed: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the keys of {} are made differently from the last full load: the items that it loaded have the old keys",
            changed.join(", ")
        );
        Err(Failure::failed(message).with_help(
            "load everything again: --replace deletes the table and creates it again, --changes-only with --prune deletes the items with old keys",
        ))
    }
}

fn templates(model: &Model, item: &ItemType) -> Vec<String> {
    let template = |name: &str| {
        let mut attributes = item.attributes.iter();
        match attributes.find(|(other, _)| &**other == name) {
            Some((_, AttributeNode::Template(template))) => parts(&template.parts),
            other => format!("{other:?}"),
        }
    };
    let keys = model.table.key();
    keys.map(|key| template(&key.name)).collect()
}

fn parts(all: &[TemplatePart]) -> String {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => format!("{text:?}"),
        TemplatePart::Value(value) => format!(
            "{{{} {:?} {}}}",
            value.place.written,
            value.filters,
            value.escape.is_some()
        ),
        TemplatePart::Optional(inner) => format!("[{}]", parts(inner)),
    };
    all.iter().map(part).collect()
}
