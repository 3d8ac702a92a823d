//! What a row of a query says of an item, and what an item has of it.

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item};
use dynafold_mapping::item::{self, Folder, Refused, same_unpacked, text_of, to_attribute};
use dynafold_mapping::model::Place;
use dynafold_relational::value::{Text, Value};

use super::coerce::{loosely_same, plain};
use super::projection::{Compared, Projection};

/// What a row says of an item.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    /// By what it finds its item; `None` where its key cannot be made, so that there is none.
    pub(super) identity: Option<String>,
    pub(super) certainty: Certainty,
    /// For each of the compared: what its template makes, and what its column holds.
    parts: Vec<(Made, Option<Value>)>,
    /// Members of documents that are attributes.
    spread: Vec<(Arc<str>, Attribute)>,
}

/// Whether a row of the query is a row of the item type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    Sure,
    /// It is, but by what it finds its item is not told.
    Untold,
    /// It may have none of this type.
    Perhaps,
}

/// What a template makes of a row.
#[derive(Debug, Clone, PartialEq)]
enum Made {
    /// The query does not have all that it takes.
    Unknown,
    /// A value does not pass a filter.
    Refused,
    /// An attribute, or none.
    As(Option<Attribute>),
}

impl Projection {
    /// What a row of the query says of an item; `None` where it has none of this type.
    pub(super) fn expect(&self, given: &[Value], folder: &Folder) -> Option<Expected> {
        let value = |column: usize| given.get(column).unwrap_or(&Value::Null);
        let is_null = |column: &usize| value(*column).is_null();
        let is_other = self
            .told_by
            .is_some_and(|column| text_of(value(column)) != Ok(&*self.name));
        if is_other || self.never_null.iter().any(is_null) {
            return None;
        }
        let may_be_missing =
            !self.missing_together.is_empty() && self.missing_together.iter().all(is_null);
        // A source key may hold NULL in its own table: then the row is there.
        let is_partial = self.presence.iter().any(is_null);
        let mut certainty = if may_be_missing || (is_partial && !self.has_relation) {
            Certainty::Perhaps
        } else {
            Certainty::Sure
        };
        let row = self.slots.row(given);
        let parts = self.compared.iter().map(|one| {
            let made = one
                .node
                .as_ref()
                .map(|node| folder.attribute(node, &row, self.keep_nulls));
            let made = match made {
                None => Made::Unknown,
                Some(Err(Refused)) => Made::Refused,
                Some(Ok(made)) => Made::As(made),
            };
            (made, one.column.map(|column| value(column).clone()))
        });
        let parts: Vec<_> = parts.collect();
        let mut identity = Some(String::new());
        for at in &self.identity {
            let attribute = match parts.get(*at)? {
                (Made::As(made), _) => made.clone(),
                (_, Some(direct)) => to_attribute(direct, false).ok().flatten(),
                _ => {
                    identity = None;
                    break;
                }
            };
            if attribute.is_none_or(|one| push(identity.as_mut(), &one).is_none()) {
                // A row that is there has to have an item, whether one can be made of it or not.
                if is_partial && certainty == Certainty::Sure {
                    certainty = Certainty::Untold;
                } else if !is_partial && !self.is_told {
                    return None;
                }
                identity = None;
                break;
            }
        }
        let mut spread = Vec::new();
        for place in &self.spreads {
            if let Some(Attribute::M(members)) = document(place, &row) {
                let kept = members
                    .into_iter()
                    .filter(|(_, value)| *value != Attribute::Null);
                spread.extend(kept);
            }
        }
        Some(Expected {
            identity,
            certainty,
            parts,
            spread,
        })
    }

    /// What of a row names its item: the columns by which it finds it.
    pub(super) fn shown(&self, given: &[Value]) -> String {
        let mut columns: Vec<usize> = self.presence.clone();
        if columns.is_empty() {
            let identity = self.identity.iter().filter_map(|at| self.compared.get(*at));
            columns = identity.filter_map(|one| one.column).collect();
        }
        let values = columns.iter().map(|column| match given.get(*column) {
            Some(Value::Text(text)) => format!("{text:?}"),
            Some(value) => text_of(value).unwrap_or("?").to_owned(),
            None => "?".to_owned(),
        });
        values.collect::<Vec<_>>().join(", ")
    }

    /// By what a row would find an item.
    pub(super) fn identity(&self, item: &Item) -> Option<String> {
        let mut identity = String::new();
        for at in &self.identity {
            push(
                Some(&mut identity),
                find(item, &self.compared.get(*at)?.path)?,
            )?;
        }
        Some(identity)
    }

    /// Whether an item has what all items of this type have in their keys.
    pub(super) fn may_own(&self, item: &Item) -> bool {
        self.constants.iter().all(
            |(name, text)| matches!(item.get(name), Some(Attribute::S(found)) if **found == **text),
        )
    }

    /// The attributes in which an item is not what a row says.
    pub(super) fn differences(&self, expected: &Expected, item: &Item) -> Vec<String> {
        let pairs = self.compared.iter().zip(&expected.parts);
        let differing = pairs.filter(|(one, (made, direct))| {
            let found = find(item, &one.path);
            if one.may_lack && found.is_none() {
                return false;
            }
            let is_made = match made {
                Made::As(made) => self.same(one, made.as_ref(), found),
                Made::Unknown | Made::Refused => false,
            };
            let is_direct = direct.as_ref().is_some_and(|direct| match made {
                // Its own template says what it should be, unless the query has done the same already.
                Made::As(_) => {
                    let direct = to_attribute(direct, false);
                    direct.is_ok_and(|direct| self.same(one, direct.as_ref(), found))
                }
                Made::Unknown | Made::Refused => loosely_same(found, direct),
            });
            !is_made && !is_direct
        });
        let mut names: Vec<String> = differing.map(|(one, _)| one.path.join(".")).collect();
        if !self.spreads.is_empty() {
            for (name, value) in &expected.spread {
                let found = item.get(name);
                if !self.declared.contains(name) && !found.is_some_and(|found| found.same(value)) {
                    names.push(name.to_string());
                }
            }
            for (name, value) in &item.attributes {
                let known = expected.spread.iter().any(|(other, _)| other == name);
                if !known && !self.declared.contains(name) && *value != Attribute::Null {
                    names.push(name.to_string());
                }
            }
        }
        names
    }

    fn same(
        &self,
        one: &Compared,
        expected: Option<&Attribute>,
        found: Option<&Attribute>,
    ) -> bool {
        let there =
            |attribute: Option<&Attribute>| attribute.is_some_and(|a| *a != Attribute::Null);
        let (Some(expected), Some(found), true) = (expected, found, there(found)) else {
            return !there(expected) && !there(found);
        };
        if expected.same(found) || one.has_six_digits && same_digits(expected, found) {
            return true;
        }
        let Some(name) = one.path.first().filter(|name| self.compress.contains(name)) else {
            return false;
        };
        let alone = |value: &Attribute| Item {
            attributes: vec![(name.clone(), value.clone())],
        };
        same_unpacked(&alone(expected), &alone(found), &self.compress)
    }
}

/// Whether two numbers have the same first six digits.
fn same_digits(a: &Attribute, b: &Attribute) -> bool {
    let digits = |attribute: &Attribute| match attribute {
        Attribute::N(number) => Some(format!("{:.5e}", number.as_str().parse::<f32>().ok()?)),
        _ => None,
    };
    digits(a).is_some_and(|a| digits(b) == Some(a))
}

/// The document at a place of a row.
fn document(place: &Place, row: &[Value]) -> Option<Attribute> {
    to_attribute(&item::find(place, row), false).ok().flatten()
}

fn push(identity: Option<&mut String>, attribute: &Attribute) -> Option<()> {
    let text = plain(attribute, Text::clone)?;
    // Lengths keep neighbouring values apart.
    identity?.push_str(&format!("{}:{text}", text.len()));
    Some(())
}

fn find<'i>(item: &'i Item, path: &[Arc<str>]) -> Option<&'i Attribute> {
    let (first, rest) = path.split_first()?;
    let mut found = item.get(first)?;
    for name in rest {
        let Attribute::M(members) = found else {
            return None;
        };
        found = members
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value)?;
    }
    Some(found)
}
