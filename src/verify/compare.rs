//! Two items, attribute by attribute.

use super::report::{AttributeDifference, AttributeFinding};
use crate::item::{Attribute, Item};

/// Says how the table's item differs from the one that the source makes; nothing if it does not.
pub(super) fn compare(expected: &Item, found: &Item) -> Vec<AttributeFinding> {
    let mut findings = Vec::new();
    members("", &expected.attributes, &found.attributes, &mut findings);
    findings
}

type Members = [(std::sync::Arc<str>, Attribute)];

fn members(path: &str, expected: &Members, found: &Members, findings: &mut Vec<AttributeFinding>) {
    let mut note = |name: &str, difference| {
        findings.push(AttributeFinding {
            name: format!("{path}{name}"),
            difference,
        });
    };
    let find = |members: &'_ Members, name: &str| members.iter().any(|(other, _)| **other == *name);
    for (name, _) in found {
        if !find(expected, name) {
            note(name, AttributeDifference::Unexpected);
        }
    }
    for (name, value) in expected {
        let other = found.iter().find(|(other, _)| other == name);
        match other.map(|(_, other)| other) {
            None => findings.push(AttributeFinding {
                name: format!("{path}{name}"),
                difference: AttributeDifference::Missing,
            }),
            Some(other) if value.same(other) => {}
            Some(Attribute::M(inner)) if matches!(value, Attribute::M(_)) => {
                if let Attribute::M(value) = value {
                    members(&format!("{path}{name}."), value, inner, findings);
                }
            }
            Some(other) => findings.push(AttributeFinding {
                name: format!("{path}{name}"),
                difference: if value.type_name() == other.type_name() {
                    AttributeDifference::Value
                } else {
                    AttributeDifference::Type {
                        expected: value.type_name(),
                        found: other.type_name(),
                    }
                },
            }),
        }
    }
}
