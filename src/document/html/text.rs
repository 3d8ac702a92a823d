//! Names and values on the page.

use maud::{Markup, html};

use crate::document::definition::{Cell, Origin};

/// Prose of ours, in which names stand between backticks.
pub(super) fn prose(prose: &str) -> Markup {
    html! {
        @for (at, part) in prose.split('`').enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// Names with fewer characters are not broken.
const SHORT: usize = 18;

/// A name that may break between its words: `findUserByUserId` has five.
pub(super) fn name(name: &str) -> Markup {
    let is_long = name.chars().count() > SHORT;
    let between =
        |last: char, next: char| (last.is_lowercase() && next.is_uppercase()) || last == '_';
    broken(name, &|last, next| is_long && between(last, next))
}

/// A value of a row. What it holds of signs that turn the writing round ends with it.
pub(super) fn value(value: &str) -> Markup {
    html! { bdi { (value) } }
}

/// A key's value, which may break behind the signs that part its elements.
pub(super) fn key(value: &str) -> Markup {
    html! { bdi { (broken(value, &|last, next| last == '#' && next != '#')) } }
}

fn broken(text: &str, between: &dyn Fn(char, char) -> bool) -> Markup {
    let mut parts = vec![String::new()];
    let mut last = ' ';
    for sign in text.chars() {
        if between(last, sign) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(sign);
        }
        last = sign;
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at > 0 { wbr; }
            (part)
        }
    }
}

/// The anchor of an access pattern.
pub(super) fn pattern_id(at: usize, name: &str) -> String {
    id("pattern", at, name)
}

/// The anchor of an item type.
pub(super) fn item_id(at: usize, name: &str) -> String {
    id("item", at, name)
}

/// The anchor of a table of the source.
pub(super) fn source_id(at: usize, name: &str) -> String {
    id("source", at, name)
}

/// An anchor that stays when the mapping grows, where the name allows it.
fn id(what: &str, at: usize, name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        format!("{what}-{name}")
    } else {
        format!("{what}.{at}")
    }
}

/// Several names as a JSON list, for the script.
pub(super) fn list(names: &[String]) -> String {
    serde_json::to_string(names).unwrap_or_default()
}

pub(super) fn origin(origin: &Origin) -> Markup {
    html! {
        code { (origin.table) "." (origin.column) }
        @if !origin.declared.is_empty() { " " span.type { (origin.declared) } }
    }
}

/// Origins below each other.
pub(super) fn origins(origins: &[Origin]) -> Markup {
    html! {
        @for (at, each) in origins.iter().enumerate() {
            @if at > 0 { br; }
            (origin(each))
        }
    }
}

/// An item's attributes, names above values.
pub(super) fn attributes(cells: &[Cell]) -> Markup {
    html! {
        @if cells.is_empty() {
            span.none { "no other attributes" }
        } @else {
            dl.attributes {
                @for cell in cells {
                    div {
                        dt { (cell.name) " " abbr.type title=(type_title(cell.data_type)) { (cell.data_type) } }
                        dd { (value(&cell.value)) }
                    }
                }
            }
        }
    }
}

/// A DynamoDB type in words.
pub(super) fn type_title(name: &str) -> &'static str {
    match name {
        "S" => "string",
        "N" => "number",
        "B" => "binary",
        "BOOL" => "boolean",
        "NULL" => "null",
        "L" => "list",
        "M" => "map",
        "SS" => "string set",
        "NS" => "number set",
        "BS" => "binary set",
        "set" => "set of what is in it",
        _ => "as the document has it",
    }
}

/// Items as a table: a column for each attribute that one of them has.
pub(super) fn items(caption: &str, items: &[Vec<Cell>]) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for cell in items.iter().flatten() {
        if !names.contains(&cell.name.as_str()) {
            names.push(&cell.name);
        }
    }
    let table = html! {
        table {
            caption { (caption) }
            thead { tr { @for name in &names { th scope="col" { (name) } } } }
            tbody {
                @for item in items {
                    tr {
                        @for name in &names {
                            td {
                                @if let Some(cell) = item.iter().find(|cell| cell.name == **name) {
                                    span.value { (key(&cell.value)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    super::frame::wide(caption, &table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_writing_round_ends_with_its_value() {
        let turned = "a\u{202e}b#c";
        assert_eq!(value(turned).into_string(), "<bdi>a\u{202e}b#c</bdi>");
        assert_eq!(key(turned).into_string(), "<bdi>a\u{202e}b#<wbr>c</bdi>");
    }
}
