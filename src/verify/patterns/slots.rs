//! Which columns of a query stand for which places of an item type's rows.

use std::sync::Arc;

use super::origin::template;
use crate::catalog::{Catalog, Column, DataType};
use crate::mapping::model::{AccessPattern, ItemType, Node, Part, Pass, Place};
use crate::source::{Relation, ScanColumn};
use crate::value::Value;

use super::coerce::coerce;

/// The columns of a query as an item type's attributes know them.
pub(super) struct Names<'a> {
    columns: &'a [Column],
    /// Attributes with the columns that they are called otherwise.
    answer: Vec<(&'a str, &'a str)>,
    /// How many of them are said of this type alone; these come first.
    own: usize,
}

impl<'a> Names<'a> {
    /// `answer` may name an attribute of one item type alone: `PARCEL.no`.
    pub(super) fn new(pattern: &'a AccessPattern, item: &str, columns: &'a [Column]) -> Self {
        let owner = |attribute: &'a str| {
            let (first, rest) = attribute.split_once('.')?;
            let mut items = pattern.items.iter();
            items.any(|item| **item == *first).then_some((first, rest))
        };
        let mut answer = Vec::new();
        for (attribute, column) in &pattern.answer {
            match owner(attribute) {
                Some((name, rest)) if name == item => answer.insert(0, (rest, column.as_str())),
                Some(_) => {}
                None => answer.push((attribute.as_str(), column.as_str())),
            }
        }
        let all = pattern.answer.iter();
        let own = all.filter(|(attribute, _)| owner(attribute).is_some_and(|one| one.0 == item));
        let own = own.count();
        Self {
            columns,
            answer,
            own,
        }
    }

    /// The attributes that the mapping names, and whether it says so of this type alone.
    pub(super) fn answered(&self) -> impl Iterator<Item = (&'a str, bool)> + use<'a, '_> {
        let all = self.answer.iter().enumerate();
        all.map(|(at, (attribute, _))| (*attribute, at < self.own))
    }

    /// The column that the mapping names for an attribute, or a member of one.
    pub(super) fn said(&self, attribute: &str) -> Option<usize> {
        let mut answer = self.answer.iter();
        let (_, column) = answer.find(|(name, _)| *name == attribute)?;
        self.find(column)
    }

    /// The column of an attribute.
    pub(super) fn of(&self, attribute: &str) -> Option<usize> {
        let mut answer = self.answer.iter();
        match answer.find(|(name, _)| *name == attribute) {
            Some((_, column)) => self.find(column),
            None => self.find(attribute),
        }
    }

    /// A column by its name, in any case where none is spelt so; none where several are.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let only = |fits: &dyn Fn(&str) -> bool| {
            let columns = self.columns.iter().enumerate();
            let mut fitting = columns.filter(|(_, column)| fits(&column.name));
            let first = fitting.next();
            first.filter(|_| fitting.next().is_none()).map(|(at, _)| at)
        };
        only(&|other| other == name).or_else(|| only(&|other| other.eq_ignore_ascii_case(name)))
    }
}

/// A place of a row, with the column of the query that stands for it.
#[derive(Debug, Clone)]
struct Slot {
    column: usize,
    path: Vec<Arc<str>>,
    from: usize,
    /// The type of the place, where it is known.
    data_type: Option<DataType>,
}

/// All places of an item type's rows for which the query has a column.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    all: Vec<Slot>,
    width: usize,
}

impl Slots {
    pub(super) fn new(item: &ItemType, pass: &Pass, names: &Names<'_>, catalog: &Catalog) -> Self {
        let scan = &pass.scan;
        let mut slots = Self {
            all: Vec::new(),
            width: scan.columns.len() + scan.conditions.len(),
        };
        let data_type = |place: &Place| match scan.columns.get(place.column) {
            Some(ScanColumn::Column { data_type, .. }) if place.path.is_empty() => {
                Some(data_type.clone())
            }
            _ => None,
        };
        // An attribute that is a column and nothing else says what that column is called.
        for (name, node) in &item.attributes {
            let mut carried = Vec::new();
            carried_in(name, node, &mut carried);
            for (path, place) in carried {
                let nested = path != **name;
                let from = if nested {
                    names.said(&path)
                } else {
                    names.of(&path)
                };
                if let Some(from) = from {
                    slots.add(place, from, data_type(place));
                }
            }
        }
        let places = places(item);
        // Columns of the item's own relation, by their names.
        for place in &places {
            if let Some(ScanColumn::Column {
                join: None, name, ..
            }) = scan.columns.get(place.column)
                && place.path.is_empty()
                && let Some(from) = names.find(name)
            {
                slots.add(place, from, data_type(place));
            }
        }
        let own = |wanted: &str| {
            match &scan.from {
            Relation::Table(table) => {
                let table = catalog.table(table);
                table.is_some_and(|table| table.column(wanted).is_some())
            }
            Relation::Query(_) => scan.columns.iter().any(|column| {
                matches!(column, ScanColumn::Column { join: None, name, .. } if name == wanted)
            }),
        }
        };
        // Those of parents and members of elements, where no other can be meant.
        for place in &places {
            let name = match (scan.columns.get(place.column), place.path.last()) {
                (
                    Some(ScanColumn::Column {
                        join: Some(_),
                        name,
                        ..
                    }),
                    None,
                ) => name.as_str(),
                (Some(ScanColumn::Slot), Some(member)) => member,
                (Some(ScanColumn::Slot), None) => &*place.written,
                _ => continue,
            };
            let alike = places.iter().filter(|other| {
                let joined = match scan.columns.get(other.column) {
                    Some(ScanColumn::Column {
                        join: Some(_),
                        name,
                        ..
                    }) => Some(name.as_str()),
                    Some(ScanColumn::Slot) => {
                        Some(other.path.last().map_or(&*other.written, |last| last))
                    }
                    _ => None,
                };
                joined == Some(name) && slots.find(other).is_none()
            });
            if alike.count() == 1
                && !own(name)
                && let Some(from) = names.of(name)
            {
                slots.add(place, from, data_type(place));
            }
        }
        slots
    }

    fn add(&mut self, place: &Place, from: usize, data_type: Option<DataType>) {
        if self.find(place).is_none() {
            self.all.push(Slot {
                column: place.column,
                path: place.path.clone(),
                from,
                data_type,
            });
        }
    }

    /// The column of the query that stands for a place.
    pub(super) fn find(&self, place: &Place) -> Option<usize> {
        let exact = |slot: &&Slot| slot.column == place.column && slot.path == place.path;
        let whole = |slot: &&Slot| slot.column == place.column && slot.path.is_empty();
        let found = self.all.iter().find(exact);
        let found = found.or_else(|| self.all.iter().find(whole));
        found.map(|slot| slot.from)
    }

    /// The column of the query that stands for a column of the row.
    pub(super) fn column(&self, column: usize) -> Option<usize> {
        let mut slots = self.all.iter();
        let slot = slots.find(|slot| slot.column == column && slot.path.is_empty())?;
        Some(slot.from)
    }

    /// A row of the item type's pass, as far as the query gives it.
    pub(super) fn row(&self, given: &[Value]) -> Vec<Value> {
        let mut row = vec![Value::Null; self.width];
        let mut slots: Vec<&Slot> = self.all.iter().collect();
        slots.sort_by_key(|slot| slot.path.len());
        for slot in slots {
            let value = given.get(slot.from).cloned().unwrap_or(Value::Null);
            let value = match &slot.data_type {
                Some(data_type) => coerce(value, data_type),
                None => value,
            };
            if let Some(place) = row.get_mut(slot.column) {
                put(place, &slot.path, value);
            }
        }
        row
    }
}

/// Puts a value at a path within a document.
fn put(place: &mut Value, path: &[Arc<str>], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *place = value;
        return;
    };
    if !matches!(place, Value::Map(_)) {
        *place = Value::Map(Vec::new());
    }
    let Value::Map(members) = place else { return };
    let at = members.iter().position(|(name, _)| name == first);
    let at = at.unwrap_or_else(|| {
        members.push((first.clone(), Value::Null));
        members.len() - 1
    });
    if let Some((_, member)) = members.get_mut(at) {
        put(member, rest, value);
    }
}

/// Attributes and members that are one place and nothing else, with their paths.
fn carried_in<'n>(path: &str, node: &'n Node, found: &mut Vec<(String, &'n Place)>) {
    if let Some(template) = template(node) {
        if let [Part::Value(only)] = template.parts.as_slice()
            && only.filters.is_empty()
        {
            found.push((path.to_owned(), &only.place));
        }
    } else if let Node::Map { members, .. } = node {
        for (name, member) in members {
            carried_in(&format!("{path}.{name}"), member, found);
        }
    }
}

/// Every place that the attributes of an item type take, once.
fn places(item: &ItemType) -> Vec<Place> {
    let mut found: Vec<Place> = item.spreads.clone();
    for (_, node) in &item.attributes {
        node.visit(&mut |node| match node {
            Node::Template(template) => {
                found.extend(template.placeholders().map(|one| one.place.clone()));
            }
            Node::Map { spreads, .. } => found.extend(spreads.iter().cloned()),
            _ => {}
        });
    }
    for (name, column) in &item.row_key {
        found.push(Place {
            column: *column,
            path: Vec::new(),
            written: name.clone(),
        });
    }
    let mut once: Vec<Place> = Vec::new();
    for place in found {
        let known = once
            .iter()
            .any(|other| other.column == place.column && other.path == place.path);
        if !known {
            once.push(place);
        }
    }
    once
}
