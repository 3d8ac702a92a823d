//! Whose an item of the table is: which item type has made it, told by what all its items have in
//! common.

use std::sync::Arc;

use crate::item::{Attribute, Item};
use crate::mapping::model::{ItemType, Model, Node, Part, Table, Template};

/// What all items of each item type have in common.
#[derive(Debug)]
pub(crate) struct Owners {
    marks: Vec<Mark>,
    keys: Vec<Arc<str>>,
    /// The attribute that names the item type in every item, where the mapping has one.
    type_attribute: Option<Arc<str>>,
}

#[derive(Debug)]
struct Mark {
    name: Arc<str>,
    /// Attributes that are the same text in every item, the type attribute among them.
    constants: Vec<(Arc<str>, String)>,
    /// Of each key attribute: how its text begins, and whether that is all of it.
    beginnings: Vec<(String, bool)>,
}

/// Why items cannot be told apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unowned {
    /// When nothing is common to the items of a type.
    #[error(
        "items of {0} cannot be told from others: they have no type attribute, and their keys begin with no text of their own"
    )]
    Anything(Arc<str>),
    /// When two item types have everything in common.
    #[error(
        "items of {0} and {1} cannot be told apart by their attributes or by how their keys begin"
    )]
    Alike(Arc<str>, Arc<str>),
}

impl Owners {
    /// Finds what tells the item types of a mapping apart.
    pub(crate) fn of(model: &Model) -> Result<Self, Unowned> {
        for item in &model.item_types {
            let mark = mark(item, &model.table);
            let mut beginnings = mark.beginnings.iter();
            if mark.constants.is_empty() && beginnings.all(|(text, _)| text.is_empty()) {
                return Err(Unowned::Anything(item.name.clone()));
            }
        }
        Self::among(model.item_types.iter(), &model.table, &|_| true)
    }

    /// Finds what tells some item types from one another, by the attributes that are held.
    pub(crate) fn among<'m>(
        item_types: impl Iterator<Item = &'m ItemType>,
        table: &Table,
        holds: &dyn Fn(&str) -> bool,
    ) -> Result<Self, Unowned> {
        let marks: Vec<Mark> = item_types
            .map(|item| {
                let mut mark = mark(item, table);
                mark.constants.retain(|(name, _)| holds(name));
                mark
            })
            .collect();
        for (at, mark) in marks.iter().enumerate() {
            if let Some(other) = marks.iter().skip(at + 1).find(|other| !apart(mark, other)) {
                return Err(Unowned::Alike(mark.name.clone(), other.name.clone()));
            }
        }
        Ok(Self {
            type_attribute: type_attribute(&marks),
            marks,
            keys: keys(table),
        })
    }

    /// The attributes that must be known of an item.
    pub(crate) fn attributes(&self) -> Vec<Arc<str>> {
        let mut all = self.keys.clone();
        for (name, _) in self.marks.iter().flat_map(|mark| &mark.constants) {
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
        all
    }

    /// The type attribute, where an item does not say in it that it is of an item type: then
    /// something else has made it.
    pub(crate) fn foreign(&self, item_type: usize, item: &Item) -> Option<&Arc<str>> {
        let name = self.type_attribute.as_ref()?;
        let mark = self.marks.get(item_type)?;
        let says = matches!(item.get(name), Some(Attribute::S(text)) if **text == *mark.name);
        (!says).then_some(name)
    }

    /// The item type that has made an item; `None` for items from elsewhere.
    pub(crate) fn owner(&self, item: &Item) -> Option<usize> {
        self.marks.iter().position(|mark| {
            let text = |name: &Arc<str>| match item.get(name) {
                Some(Attribute::S(text)) => text.as_str(),
                _ => "",
            };
            let same = |(name, value): &(Arc<str>, String)| text(name) == value;
            let begins = |(name, (begin, whole)): (&Arc<str>, &(String, bool))| {
                let text = text(name);
                if *whole {
                    text == begin
                } else {
                    text.starts_with(begin.as_str())
                }
            };
            mark.constants.iter().all(same) && self.keys.iter().zip(&mark.beginnings).all(begins)
        })
    }
}

fn type_attribute(marks: &[Mark]) -> Option<Arc<str>> {
    let (first, others) = marks.split_first()?;
    let names = |mark: &Mark, name: &str| {
        let mut constants = mark.constants.iter();
        constants.any(|(other, text)| **other == *name && **text == *mark.name)
    };
    let mut all = first.constants.iter().map(|(name, _)| name);
    let found = all.find(|name| names(first, name) && others.iter().all(|mark| names(mark, name)));
    found.cloned()
}

fn keys(table: &Table) -> Vec<Arc<str>> {
    let sort = table.sort.iter().map(|sort| sort.name.clone());
    std::iter::once(table.partition.name.clone())
        .chain(sort)
        .collect()
}

fn mark(item_type: &ItemType, table: &Table) -> Mark {
    let keys = keys(table);
    let constant = |template: &Template| {
        let mut text = String::new();
        for part in &template.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Value(_) | Part::Optional(_) => return None,
            }
        }
        Some(text)
    };
    let mut constants = Vec::new();
    let mut beginnings = vec![(String::new(), false); keys.len()];
    for (name, node) in &item_type.attributes {
        let Node::Template(template) = node else {
            continue;
        };
        if let Some(at) = keys.iter().position(|key| key == name) {
            if let Some(beginning) = beginnings.get_mut(at) {
                let (text, whole) = template.prefix();
                *beginning = (text.to_owned(), whole);
            }
        } else if let Some(text) = constant(template) {
            constants.push((name.clone(), text));
        }
    }
    Mark {
        name: item_type.name.clone(),
        constants,
        beginnings,
    }
}

fn apart(one: &Mark, other: &Mark) -> bool {
    let differs = |(name, value): &(Arc<str>, String)| {
        let mut others = other.constants.iter();
        others.any(|(other, theirs)| other == name && theirs != value)
    };
    let disjoint = |(one, other): (&(String, bool), &(String, bool))| {
        let meets = |(long, _): &(String, bool), (short, whole): &(String, bool)| {
            long == short || (!whole && long.starts_with(short.as_str()))
        };
        !meets(one, other) && !meets(other, one)
    };
    one.constants.iter().any(differs) || one.beginnings.iter().zip(&other.beginnings).any(disjoint)
}
