//! Whose an item of the table is: which item type has made it, told by its type attribute, or else by
//! what all its items have in common and the keys that its templates can make.

use std::sync::Arc;

use crate::item::{Attribute, Item};
use crate::mapping::model::{ItemType, Model, Node, Table, Texts};

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
    /// Of each key attribute: the texts that it can have.
    texts: Vec<Texts>,
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
    #[error("items of {0} and {1} cannot be told apart by their attributes or by their keys")]
    Alike(Arc<str>, Arc<str>),
}

impl Owners {
    /// Finds what tells the item types of a mapping apart.
    pub(crate) fn of(model: &Model) -> Result<Self, Unowned> {
        for item in &model.item_types {
            if mark(item, &model.table).constants.is_empty() && !begins(item, &model.table) {
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

    /// The item type that has made an item; `None` for items from elsewhere. A type attribute says it,
    /// whatever the key: the mapping may have made other keys before. Without one it is an item type
    /// that can make the key.
    pub(crate) fn owner(&self, item: &Item) -> Option<usize> {
        let says = |name: &Arc<str>, text: &str| matches!(item.get(name), Some(Attribute::S(found)) if **found == *text);
        self.marks.iter().position(|mark| {
            if let Some(name) = &self.type_attribute {
                return says(name, &mark.name);
            }
            let can_be = |(name, texts): (&Arc<str>, &Texts)| {
                item.get(name).is_some_and(|value| texts.can_be(value))
            };
            let mut constants = mark.constants.iter();
            constants.all(|(name, text)| says(name, text))
                && self.keys.iter().zip(&mark.texts).all(can_be)
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

/// Whether the keys of an item type begin with a text of their own.
fn begins(item_type: &ItemType, table: &Table) -> bool {
    let keys = keys(table);
    let mut attributes = item_type.attributes.iter();
    attributes.any(|(name, node)| {
        let begins = matches!(node, Node::Template(template) if !template.prefix().0.is_empty());
        begins && keys.contains(name)
    })
}

fn mark(item_type: &ItemType, table: &Table) -> Mark {
    let keys = keys(table);
    let constant = |node: &Node| match node {
        Node::Template(template) => match template.prefix() {
            (text, true) => Some(text.to_owned()),
            _ => None,
        },
        _ => None,
    };
    let attributes = item_type.attributes.iter();
    let constants = attributes.filter(|(name, _)| !keys.contains(name));
    Mark {
        name: item_type.name.clone(),
        constants: constants
            .filter_map(|(name, node)| Some((name.clone(), constant(node)?)))
            .collect(),
        texts: item_type.key_texts.clone(),
    }
}

fn apart(one: &Mark, other: &Mark) -> bool {
    let differs = |(name, value): &(Arc<str>, String)| {
        let mut others = other.constants.iter();
        others.any(|(other, theirs)| other == name && theirs != value)
    };
    let mut keys = one.texts.iter().zip(&other.texts);
    one.constants.iter().any(differs) || keys.any(|(one, other)| !one.meets(other))
}
