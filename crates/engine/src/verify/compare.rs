//! Two items, attribute by attribute.

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item};

use super::report::{AttributeDifference, AttributeFinding};

/// Attributes of one item that the report names.
const NAMED_ATTRIBUTES: usize = 50;

/// Says how the table's item differs from the one that the source makes; nothing if it does not.
pub(super) fn compare(expected: &Item, found: &Item) -> Vec<AttributeFinding> {
    let mut findings = Vec::new();
    compare_members("", &expected.attributes, &found.attributes, &mut findings);
    findings
}

type Members = [(Arc<str>, Attribute)];

/// `path`: that of the map that has these members, with its dot.
fn compare_members(
    path: &str,
    expected: &Members,
    found: &Members,
    findings: &mut Vec<AttributeFinding>,
) {
    for (name, _) in found {
        if !expected.iter().any(|(other, _)| other == name) {
            let name = format!("{path}{name}");
            note(findings, name, AttributeDifference::Unexpected);
        }
    }
    for (name, value) in expected {
        let other = found.iter().find(|(other, _)| other == name);
        let path = format!("{path}{name}");
        match other {
            None => note(findings, path, AttributeDifference::Missing),
            Some((_, other)) => compare_values(path, value, other, findings),
        }
    }
}

fn compare_values(
    path: String,
    expected: &Attribute,
    found: &Attribute,
    findings: &mut Vec<AttributeFinding>,
) {
    if expected.same(found) {
        return;
    }
    match (expected, found) {
        (Attribute::M(expected), Attribute::M(found)) => {
            compare_members(&format!("{path}."), expected, found, findings);
        }
        (Attribute::L(expected), Attribute::L(found)) if expected.len() == found.len() => {
            if reordered(expected, found) {
                return note(findings, path, AttributeDifference::Order);
            }
            for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare_values(format!("{path}[{at}]"), expected, found, findings);
            }
        }
        _ if expected.type_name() == found.type_name() => {
            note(findings, path, AttributeDifference::Value);
        }
        _ => {
            let difference = AttributeDifference::Type {
                expected: expected.type_name(),
                found: found.type_name(),
            };
            note(findings, path, difference);
        }
    }
}

fn note(findings: &mut Vec<AttributeFinding>, name: String, difference: AttributeDifference) {
    if findings.len() < NAMED_ATTRIBUTES {
        findings.push(AttributeFinding { name, difference });
    }
}

/// Whether two lists of one length, which differ, have the same elements.
fn reordered(expected: &[Attribute], found: &[Attribute]) -> bool {
    // The time is quadratic, of lists that differ; the longest ones are not looked through.
    if expected.len() > 1_000 {
        return false;
    }
    let mut left: Vec<&Attribute> = found.iter().collect();
    expected.iter().all(|value| {
        let at = left.iter().position(|other| value.same(other));
        at.map(|at| left.swap_remove(at)).is_some()
    })
}

#[cfg(test)]
mod tests {
    use dynafold_relational::value::Number;

    use super::*;

    fn text(text: &str) -> Attribute {
        Attribute::S(text.into())
    }

    fn number(text: &str) -> Attribute {
        Attribute::N(Number::parse(text).unwrap())
    }

    fn map(members: &[(&str, Attribute)]) -> Attribute {
        Attribute::M(fields(members))
    }

    fn fields(members: &[(&str, Attribute)]) -> Vec<(Arc<str>, Attribute)> {
        let members = members.iter();
        members
            .map(|(name, value)| (Arc::from(*name), value.clone()))
            .collect()
    }

    fn item(members: &[(&str, Attribute)]) -> Item {
        Item {
            attributes: fields(members),
        }
    }

    fn differences(expected: &Item, found: &Item) -> Vec<(String, AttributeDifference)> {
        let findings = compare(expected, found).into_iter();
        findings.map(|f| (f.name, f.difference)).collect()
    }

    #[test]
    fn each_difference_is_named_with_its_path_and_types() {
        let list = |all: &[&str]| Attribute::L(all.iter().map(|one| text(one)).collect());
        let expected = item(&[
            ("a", text("1")),
            ("lacking", text("x")),
            ("m", map(&[("deep", number("1")), ("same", text("s"))])),
            ("l", list(&["x", "y", "z"])),
            (
                "o",
                Attribute::L(vec![map(&[("n", number("1"))]), text("t")]),
            ),
            ("short", list(&["x"])),
        ]);
        let found = item(&[
            ("a", number("1")),
            ("m", map(&[("deep", number("2")), ("same", text("s"))])),
            ("l", list(&["x", "z", "y"])),
            ("o", Attribute::L(vec![map(&[("n", text("1"))]), text("t")])),
            ("short", list(&["x", "x"])),
            ("more", text("x")),
        ]);
        let kind = |expected, found| AttributeDifference::Type { expected, found };
        assert_eq!(
            differences(&expected, &found),
            [
                ("more".to_owned(), AttributeDifference::Unexpected),
                ("a".to_owned(), kind("S", "N")),
                ("lacking".to_owned(), AttributeDifference::Missing),
                ("m.deep".to_owned(), AttributeDifference::Value),
                ("l".to_owned(), AttributeDifference::Order),
                ("o[0].n".to_owned(), kind("N", "S")),
                ("short".to_owned(), AttributeDifference::Value),
            ]
        );
    }

    #[test]
    fn equal_items_have_no_difference() {
        let one = item(&[("a", number("1.0")), ("b", text(""))]);
        let other = item(&[("b", text("")), ("a", number("1"))]);
        assert_eq!(differences(&one, &other), []);
    }

    #[test]
    fn no_item_has_very_many_attributes_named() {
        let names: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let all: Vec<_> = names.iter().map(|n| (n.as_str(), text("x"))).collect();
        let missing = differences(&item(&all), &item(&[]));
        assert_eq!(missing.len(), NAMED_ATTRIBUTES);
    }
}
