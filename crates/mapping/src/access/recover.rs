//! From an item back to parameters: with which values an access pattern finds it.
//!
//! The texts of the item's key are cut along the pattern's templates, and filters are undone as far
//! as they can be. What comes out is a proposal: whoever takes it asks and sees what is found.

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item};
use dynafold_relational::value::Value;
use percent_encoding::percent_decode_str;

use super::read;
use crate::item::text_of;
use crate::model::{
    AccessPattern, FilterExpression, FilterOperand, Placeholder, SortCondition, Template,
    TemplatePart,
};
use crate::template::Filter;

/// The values of a pattern's parameters, in their order, with which it finds what lies between two
/// items of one partition; they may be the same. `None` stands for what the items do not tell.
pub fn recover(pattern: &AccessPattern, first: &Item, last: &Item) -> Vec<Option<Value>> {
    let mut texts: Vec<Option<String>> = vec![None; pattern.parameters.len()];
    let key = |item: &Item, name: &str| item.get(name).and_then(text);
    for (attribute, template) in &pattern.partition {
        if let Some(text) = key(first, &attribute.name) {
            cut(template, &text, true, &mut texts);
        }
    }
    for (attribute, condition) in &pattern.sort {
        let ends = (key(first, &attribute.name), key(last, &attribute.name));
        let (Some(low), Some(high)) = ends else {
            continue;
        };
        match condition {
            SortCondition::Is(one) => cut(one, &low, true, &mut texts),
            SortCondition::BeginsWith(one)
            | SortCondition::Greater(one)
            | SortCondition::GreaterOrEqual(one) => cut(one, &low, false, &mut texts),
            SortCondition::Less(one) | SortCondition::LessOrEqual(one) => {
                cut(one, &high, false, &mut texts);
            }
            SortCondition::Between(from, to) => {
                cut(from, &low, false, &mut texts);
                cut(to, &high, false, &mut texts);
            }
        }
    }
    if let Some(filter) = &pattern.filter {
        filtered(filter, first, &mut texts);
    }
    let parameters = pattern.parameters.iter().zip(texts);
    let values = parameters.map(|(parameter, text)| read(parameter, &text?, None).ok());
    values.collect()
}

/// The pattern that finds one item of all that a pattern for a range can find with any bounds: the
/// first, or the last. `None` where a pattern asks for no range.
pub fn end_of_range(pattern: &AccessPattern, last: bool) -> Option<AccessPattern> {
    let mut end = pattern.clone();
    let (key, condition) = end.sort.pop()?;
    if condition.is_equality() || matches!(condition, SortCondition::BeginsWith(_)) {
        return None;
    }
    let bound = condition.templates().into_iter().next()?;
    let is_value = |part: &TemplatePart| !matches!(part, TemplatePart::Text(_));
    let before = bound.parts.iter().rposition(is_value)?;
    let parts: Vec<TemplatePart> = bound.parts.iter().take(before).cloned().collect();
    if !parts.is_empty() {
        end.sort
            .push((key, SortCondition::BeginsWith(Template { parts })));
    }
    end.filter = None;
    end.limit = Some(1);
    end.descending = last;
    Some(end)
}

/// A key's value as text.
fn text(value: &Attribute) -> Option<String> {
    match value {
        Attribute::S(text) => Some(text.to_string()),
        Attribute::N(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

/// Cuts a text along a template. `whole`: whether the template makes all of it, not its beginning
/// alone.
fn cut(template: &Template, text: &str, whole: bool, texts: &mut [Option<String>]) {
    let parts = template.flat();
    let mut rest = text;
    for (at, part) in parts.iter().enumerate() {
        match part {
            TemplatePart::Text(text) => match rest.strip_prefix(text.as_str()) {
                Some(after) => rest = after,
                None => return,
            },
            TemplatePart::Value(placeholder) => {
                let width = placeholder.filters.last().and_then(Filter::width);
                let end = match (width, parts.get(at + 1)) {
                    (Some(width), _) => rest
                        .char_indices()
                        .nth(width)
                        .map_or(rest.len(), |(end, _)| end),
                    // Text that closes the bound of a range, as in `INV#{to}$`, stands in no key: the
                    // element before it does.
                    (None, Some(TemplatePart::Text(next)))
                        if !whole && at + 2 == parts.len() && !next.contains('#') =>
                    {
                        let element = rest.find('#').unwrap_or(rest.len());
                        rest.find(next.as_str())
                            .map_or(element, |end| end.min(element))
                    }
                    (None, Some(TemplatePart::Text(next))) => match rest.find(next.as_str()) {
                        Some(end) => end,
                        None => return,
                    },
                    // An element of a longer key ends where the next begins.
                    (None, _) if !whole => rest.find('#').unwrap_or(rest.len()),
                    (None, _) => rest.len(),
                };
                let (taken, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                rest = after;
                let place = placeholder.place.column;
                if let Some(empty @ None) = texts.get_mut(place) {
                    *empty = undone(placeholder, taken);
                }
            }
            TemplatePart::Optional(_) => {}
        }
    }
}

/// The text that a caller gives, so that a placeholder makes this one.
fn undone(placeholder: &Placeholder, made: &str) -> Option<String> {
    let mut text = match placeholder.escape {
        Some(_) => percent_decode_str(made).decode_utf8_lossy().into_owned(),
        None => made.to_owned(),
    };
    for filter in placeholder.filters.iter().rev() {
        match filter {
            Filter::Shard(_) | Filter::Ordered | Filter::Redact | Filter::Pseudonym => return None,
            Filter::Desc { .. } => text = complement(&text),
            Filter::Map { codes, .. } => {
                let made = |code: &Value| text_of(code).is_ok_and(|made| made == text);
                text = codes.iter().find(|(_, code)| made(code))?.0.clone();
            }
            _ => {}
        }
    }
    Some(text)
}

/// Every digit taken from nine.
fn complement(text: &str) -> String {
    let digit = |c: char| match c.to_digit(10) {
        Some(digit) => char::from_digit(9 - digit, 10).unwrap_or(c),
        None => c,
    };
    text.chars().map(digit).collect()
}

/// Parameters of a filter expression: what the item has in the attribute before each of them.
fn filtered(filter: &FilterExpression, item: &Item, texts: &mut [Option<String>]) {
    for (at, operand) in filter.values.iter().enumerate() {
        let FilterOperand::Parameter(index) = operand else {
            continue;
        };
        let Some(empty @ None) = texts.get_mut(*index) else {
            continue;
        };
        *empty = attribute(filter, at).and_then(|name| text(item.get(name)?));
    }
}

/// The attribute that a value of a filter expression is compared with.
pub(super) fn attribute(filter: &FilterExpression, value: usize) -> Option<&Arc<str>> {
    let words = || {
        filter
            .text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '#' && c != ':')
    };
    let place = words().position(|word| word == format!(":f{value}"))?;
    let before = words()
        .take(place)
        .filter_map(|word| word.strip_prefix("#f"));
    filter.names.get(before.last()?.parse::<usize>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complements_are_undone() {
        assert_eq!(complement("0099"), "9900");
    }
}
