//! Which columns of a query stand for which places of an item type's rows.

use std::sync::Arc;

use super::origin::template;
use super::projection::ResultOf;
use super::shape::Whence;
use crate::catalog::{Catalog, Column, DataType, TableName};
use crate::mapping::model::{AccessPattern, ItemType, Node, Part, Pass, Place};
use crate::source::{Relation, ScanColumn};
use crate::value::Value;

use super::coerce::coerce;

/// The columns of a query as an item type's attributes know them.
pub(super) struct Names<'a> {
    result: &'a ResultOf<'a>,
    /// The relations of the query that stand for the item type's own, and for its parents.
    base: Option<usize>,
    parents: Vec<Option<usize>>,
    /// Attributes with the columns that they are called otherwise; those that are said of this type alone come first.
    answer: Vec<(&'a str, &'a str, bool)>,
    /// Whether the query does not read what the type is made from: its columns are known by their names alone.
    by_name: bool,
}

impl<'a> Names<'a> {
    /// `answer` may name an attribute of one item type alone: `PARCEL.no`.
    pub(super) fn new(
        pattern: &'a AccessPattern,
        item: &ItemType,
        pass: &Pass,
        result: &'a ResultOf<'a>,
        catalog: &Catalog,
    ) -> Self {
        let shape = result.shape;
        let mut answer = Vec::new();
        for (attribute, column) in &pattern.answer {
            let owned = attribute
                .split_once('.')
                .filter(|(first, _)| pattern.items.iter().any(|item| **item == **first));
            match owned {
                Some((owner, rest)) if *owner == *item.name => {
                    answer.insert(0, (rest, column.as_str(), true));
                }
                Some(_) => {}
                None => answer.push((attribute.as_str(), column.as_str(), false)),
            }
        }
        let relation =
            |name: &TableName| catalog.table(name).and_then(|table| shape.relation(table));
        let base = match &pass.scan.from {
            Relation::Table(name) => relation(name),
            Relation::Query(_) => None,
        };
        let parents = pass
            .scan
            .joins
            .iter()
            .map(|join| relation(&join.table).filter(|found| Some(*found) != base));
        Self {
            result,
            base,
            parents: parents.collect(),
            answer,
            by_name: match &pass.scan.from {
                Relation::Table(name) => {
                    catalog.table(name).is_none_or(|table| !shape.reads(table))
                }
                Relation::Query(_) => true,
            },
        }
    }

    /// The attributes that the mapping names, and whether it says so of this type alone.
    pub(super) fn answered(&self) -> impl Iterator<Item = (&'a str, bool)> + use<'a, '_> {
        self.answer
            .iter()
            .map(|(attribute, _, is_own)| (*attribute, *is_own))
    }

    /// The column that the mapping names for an attribute, or a member of one. Of several columns of that name it is
    /// the one of the type's own relation.
    pub(super) fn said(&self, attribute: &str) -> Option<usize> {
        let (_, column, _) = self.answer.iter().find(|(name, ..)| *name == attribute)?;
        let own = |at: usize| matches!(self.result.shape.outputs.get(at), Some(Whence::Column { relation, .. }) if Some(*relation) == self.base);
        self.named(column, true, &|_| true)
            .or_else(|| self.named(column, true, &own))
    }

    /// The column of this name that the query makes, or calls so.
    pub(super) fn made(&self, name: &str, any_case: bool) -> Option<usize> {
        let is_shared = self.result.shared.contains(&name.to_lowercase());
        let is_made = |at: usize| match self.result.shape.outputs.get(at) {
            Some(Whence::Column {
                relation,
                is_renamed,
                ..
            }) => {
                (*is_renamed && !is_shared)
                    || (self.by_name && !self.result.bases.contains(relation))
            }
            _ => !is_shared,
        };
        self.named(name, any_case, &is_made)
    }

    /// The column that stands for one of the item type's relation, or of a parent.
    fn of(&self, join: Option<usize>, name: &str) -> Option<usize> {
        let wanted = match join {
            None => self.base,
            Some(join) => self.parents.get(join).copied().flatten(),
        }?;
        self.result.shape.column(wanted, name)
    }

    /// The columns that are of no other relation than the type's own.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a, '_> {
        let all = self.result.columns.iter().enumerate();
        let own = all.filter(|(at, _)| match self.result.shape.outputs.get(*at) {
            Some(Whence::Column { relation, .. }) => self.base.is_none_or(|base| base == *relation),
            _ => true,
        });
        own.map(|(at, column)| (at, column.name.as_str()))
    }

    /// The columns of the type's own relation, where a row may be without a row of it.
    pub(super) fn missing_together(&self) -> Vec<usize> {
        let Some(base) = self
            .base
            .filter(|base| self.result.shape.may_be_missing(*base))
        else {
            return Vec::new();
        };
        self.own(base, &|_| true)
    }

    /// The columns of the type's own relation that its table never has NULL in.
    pub(super) fn never_null(&self) -> Vec<usize> {
        self.base.map_or(Vec::new(), |base| {
            // A document may be JSON's null, which is read as NULL.
            self.own(base, &|column| {
                !column.nullable && column.data_type != DataType::Json
            })
        })
    }

    /// Whether the type's own relation is known.
    pub(super) fn has_relation(&self) -> bool {
        self.base.is_some()
    }

    fn own(&self, base: usize, is: &dyn Fn(&Column) -> bool) -> Vec<usize> {
        let all = self.result.shape.outputs.iter().enumerate();
        let own = all.filter(|(_, whence)| {
            matches!(whence, Whence::Column { relation, column, .. } if *relation == base && is(column))
        });
        own.map(|(at, _)| at).collect()
    }

    /// A column by its name, in any case where none is spelt so; none where several are.
    fn named(&self, name: &str, any_case: bool, is: &dyn Fn(usize) -> bool) -> Option<usize> {
        let only = |fits: &dyn Fn(&str) -> bool| {
            let columns = self.result.columns.iter().enumerate();
            let mut fitting = columns.filter(|(at, column)| fits(&column.name) && is(*at));
            let first = fitting.next();
            first.filter(|_| fitting.next().is_none()).map(|(at, _)| at)
        };
        let exact = only(&|other| other == name);
        exact.or_else(|| only(&|other| any_case && other.eq_ignore_ascii_case(name)))
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
    pub(super) fn new(
        item: &ItemType,
        pass: &Pass,
        names: &Names<'_>,
        is_key: &dyn Fn(&str) -> bool,
    ) -> Self {
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
        let mut carried = Vec::new();
        for (name, node) in &item.attributes {
            carried_in(name, node, &mut carried);
        }
        // An attribute that is a column and nothing else says what that column is called.
        for (path, place) in &carried {
            if let Some(from) = names.said(path) {
                slots.add(place, from, data_type(place));
            }
        }
        let places = places(item);
        let source = |place: &Place| match scan.columns.get(place.column) {
            Some(ScanColumn::Column { join, name, .. }) if place.path.is_empty() => {
                Some((*join, name.as_str()))
            }
            _ => None,
        };
        for place in &places {
            if let Some(from) = source(place).and_then(|(join, name)| names.of(join, name)) {
                slots.add(place, from, data_type(place));
            }
        }
        // What the query makes is known by its name.
        for (path, place) in &carried {
            if let Some(from) = names.made(path, !is_key(path)) {
                slots.add(place, from, data_type(place));
            }
        }
        let is_slot =
            |place: &Place| matches!(scan.columns.get(place.column), Some(ScanColumn::Slot));
        let is_own = |name: &str| {
            places
                .iter()
                .any(|place| source(place) == Some((None, name)))
        };
        for place in &places {
            let name = match (scan.columns.get(place.column), place.path.last()) {
                (Some(ScanColumn::Column { join, name, .. }), None) => {
                    Some(name.as_str()).filter(|name| join.is_none() || !is_own(name))
                }
                (Some(ScanColumn::Slot), member) => {
                    Some(member.map_or(&*place.written, |member| member))
                        .filter(|name| !is_own(name))
                }
                _ => None,
            };
            let found = name.and_then(|name| {
                names
                    .said(name)
                    .filter(|_| is_slot(place))
                    .or_else(|| names.made(name, true))
            });
            if let Some(from) = found {
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

/// The place that an attribute is, where it is nothing else.
pub(super) fn carried(node: &Node) -> Option<&Place> {
    match template(node)?.parts.as_slice() {
        [Part::Value(only)] if only.filters.is_empty() => Some(&only.place),
        _ => None,
    }
}

/// Attributes and members that are one place and nothing else, with their paths.
fn carried_in<'n>(path: &str, node: &'n Node, found: &mut Vec<(String, &'n Place)>) {
    if let Some(place) = carried(node) {
        found.push((path.to_owned(), place));
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
            is_json: false,
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
