//! Whether templates make what their keys hold, and what else DynamoDB would refuse.

use std::ops::Range;

use super::bind::Binder;
use super::family;
use super::keys::Keys;
use crate::catalog::Family;
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{AccessPattern, KeyAttribute, KeyType, ParameterKind, Part, Template};
use crate::mapping::yaml::Node;
use crate::value::Number;

/// A template with its key and its places.
pub(super) struct Use {
    pub(super) template: Template,
    pub(super) key: KeyAttribute,
    pub(super) span: Range<usize>,
    pub(super) places: Vec<Range<usize>>,
}

impl Binder<'_> {
    /// A key that is no text is one parameter or one constant.
    pub(super) fn is_key(&mut self, template: &Template, key: &KeyAttribute, node: &Node) {
        let (called, kind) = match key.key_type {
            KeyType::S => return,
            KeyType::N => ("a number", ParameterKind::Number),
            KeyType::B => ("binary", ParameterKind::Binary),
        };
        match template.parts.as_slice() {
            [Part::Text(text)] if kind == ParameterKind::Number && Number::parse(text).is_ok() => {}
            [Part::Value(placeholder)] if placeholder.filters.is_empty() => {
                self.parameters.is_key(placeholder.place.column, kind);
            }
            [Part::Value(_)] => {}
            _ => {
                let message = format!("`{}` is {called}, and this is text", key.name);
                let help = "say one parameter and nothing around it: \"{parameter}\"";
                self.tell(node, Code::KeyType, message, help);
            }
        }
    }

    /// Whether filters take the values of their parameters, and give the type of the key.
    pub(super) fn fit(&mut self, each: &Use) {
        for (placeholder, place) in each.template.placeholders().zip(&each.places) {
            if placeholder.place.column == AccessPattern::SHARD {
                continue;
            }
            let faults = self.diagnostics.len();
            let mut given = family(self.parameters.kind(placeholder.place.column));
            for filter in &placeholder.filters {
                match filter.family(given) {
                    Ok(family) => given = family,
                    Err(error) => {
                        let fault =
                            Diagnostic::new(Code::FilterType, place.clone(), error.to_string());
                        self.diagnostics.push(fault.with_help(error.help));
                        given = Family::Any;
                    }
                }
            }
            let is_number = matches!(given, Family::Number | Family::Any);
            let is_filtered = !placeholder.filters.is_empty();
            if each.key.key_type == KeyType::N
                && !is_number
                && is_filtered
                && self.diagnostics.len() == faults
            {
                let message = format!(
                    "`{}` is a number, and this is {}",
                    each.key.name,
                    given.name()
                );
                self.diagnostics.push(
                    Diagnostic::new(Code::KeyType, each.span.clone(), message)
                        .with_help("take the filters away, or count: `| epoch`, `| number`"),
                );
            }
        }
    }

    /// What is said besides keys and parameters.
    pub(super) fn settings(&mut self, keys: &Keys<'_>) {
        if let Some(said) = &self.raw.consistent
            && said.value
            && let Some((index, false)) = keys.index
        {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::AccessPattern,
                    said.span.clone(),
                    format!(
                        "`{}` is a global index, which has no consistent reads",
                        index.name
                    ),
                )
                .with_help("take `consistent` away, or ask the table or a local index"),
            );
        }
        if let Some(limit) = &self.raw.limit
            && i32::try_from(limit.value).is_err()
        {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::WrongValue,
                    limit.span.clone(),
                    "the limit is more than DynamoDB takes",
                )
                .with_help("leave it out: without a limit all items come back"),
            );
        }
    }
}
