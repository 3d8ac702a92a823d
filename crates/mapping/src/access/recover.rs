//! From an item back to parameters: with which values an access pattern finds it.
//!
//! The texts of the item's key are cut along the pattern's templates, and filters are undone as far
//! as they can be. What comes out is a proposal: whoever takes it asks and sees what is found.

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item};
use dynafold_relational::value::Value;

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
    let key = |item: &Item, name: &str| item.get(name).and_then(key_text);
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
        recover_from_filter(filter, first, &mut texts);
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

fn key_text(value: &Attribute) -> Option<String> {
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
                let behind = parts.get(at + 1..).unwrap_or_default();
                let Some(end) = end_of_value(rest, placeholder, behind, whole) else {
                    return;
                };
                let (taken, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                rest = after;
                let place = placeholder.place.column;
                if let Some(empty @ None) = texts.get_mut(place) {
                    *empty = undo_filters(placeholder, taken);
                }
            }
            TemplatePart::Optional(_) => {}
        }
    }
}

/// The bytes of a placeholder's text at the beginning of `rest`. `behind`: what the template has behind the placeholder.
fn end_of_value(
    rest: &str,
    placeholder: &Placeholder,
    behind: &[&TemplatePart],
    whole: bool,
) -> Option<usize> {
    if let Some(width) = placeholder.filters.last().and_then(Filter::width) {
        let next = rest.char_indices().nth(width);
        return Some(next.map_or(rest.len(), |(end, _)| end));
    }
    // An element of a longer key ends where the next begins.
    let element = rest.find('#').unwrap_or(rest.len());
    match behind {
        // Text that closes the bound of a range, as in `INV#{to}$`, stands in no key: the element before it does.
        [TemplatePart::Text(next)] if !whole && !next.contains('#') => {
            let end = rest.find(next.as_str());
            Some(end.map_or(element, |end| end.min(element)))
        }
        [TemplatePart::Text(next), ..] => rest.find(next.as_str()),
        _ if whole => Some(rest.len()),
        _ => Some(element),
    }
}

/// The text that a caller gives, so that a placeholder makes this one.
fn undo_filters(placeholder: &Placeholder, made: &str) -> Option<String> {
    let mut text = placeholder.unescaped(made)?;
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
fn recover_from_filter(filter: &FilterExpression, item: &Item, texts: &mut [Option<String>]) {
    for (at, operand) in filter.values.iter().enumerate() {
        let FilterOperand::Parameter(index) = operand else {
            continue;
        };
        let Some(empty @ None) = texts.get_mut(*index) else {
            continue;
        };
        let name = compared_attribute(filter, at);
        *empty = name.and_then(|name| key_text(item.get(name)?));
    }
}

/// The attribute that a value of a filter expression is compared with.
pub(super) fn compared_attribute(filter: &FilterExpression, value: usize) -> Option<&Arc<str>> {
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
    use dynafold_relational::catalog::TypeFamily;

    use super::*;

    fn text(text: &str) -> TemplatePart {
        TemplatePart::Text(text.to_owned())
    }

    fn value(column: usize, filters: &[Filter]) -> TemplatePart {
        TemplatePart::Value(Placeholder {
            filters: filters.to_vec(),
            ..Placeholder::of_column(column, "c", TypeFamily::Text)
        })
    }

    #[test]
    fn a_key_is_cut_along_a_template() {
        let number = Filter::Pad {
            digits: 4,
            scale: 0,
        };
        let padded = [text("O#"), value(0, &[number]), value(1, &[])];
        let element = [text("O#"), value(0, &[]), text("#"), value(1, &[])];
        let bound = [text("O#"), value(0, &[]), text("$")];
        let countdown = [value(0, &[Filter::Desc { digits: 4 }])];
        for (parts, key, whole, expected) in [
            (&padded[..], "O#0012a#b", true, [Some("0012"), Some("a#b")]),
            (&element[..], "O#a#b#c", true, [Some("a"), Some("b#c")]),
            (&element[..], "O#a#b#c", false, [Some("a"), Some("b")]),
            (&bound[..], "O#a#b", false, [Some("a"), None]),
            (&bound[..], "O#a", true, [None, None]),
            (&countdown[..], "0099", true, [Some("9900"), None]),
            (&element[..], "U#a#b", true, [None, None]),
        ] {
            let mut texts = vec![None; 2];
            let template = Template {
                parts: parts.to_vec(),
            };
            cut(&template, key, whole, &mut texts);
            let found: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
            assert_eq!(found, expected, "{key}");
        }
    }
}
