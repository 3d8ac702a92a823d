//! Which columns of a query stand for which places of an item type's rows.

use std::sync::Arc;

use dynafold_mapping::model::{AccessPattern, ItemType, Node, Pass, Place};
use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, TableName};
use dynafold_relational::scan::{Relation, ScanColumn};
use dynafold_relational::value::Value;
use dynafold_sql::Selected;

use super::coerce::coerce;
use super::made;
use super::result::ResultOf;

/// The columns of a query as an item type's attributes know them.
pub(super) struct Names<'a> {
    result: &'a ResultOf<'a>,
    dbms: Dbms,
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
            dbms: catalog.dbms,
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
        let own = |at: usize| {
            let output = self.output(at);
            output.is_some_and(|output| Some(output.relation) == self.base)
        };
        self.named(column, true, &|_| true)
            .or_else(|| self.named(column, true, &own))
    }

    /// The column of this name that the query makes, or calls so.
    pub(super) fn made(&self, name: &str, any_case: bool) -> Option<usize> {
        let is_shared = self.result.shared.contains(&name.to_lowercase());
        let is_made = |at: usize| match self.output(at) {
            Some(output) => {
                (output.is_renamed && !is_shared)
                    || (self.by_name && !self.result.bases.contains(&output.relation))
            }
            None => !is_shared,
        };
        self.named(name, any_case, &is_made)
    }

    /// Whether a column of the result is printed with six digits, whatever it holds.
    pub(super) fn has_six_digits(&self, at: usize) -> bool {
        let column = self.result.columns.get(at);
        matches!(self.dbms, Dbms::Mysql | Dbms::Mariadb)
            && column.is_some_and(|column| column.data_type == DataType::Float { bits: 32 })
    }

    /// The column of a table that a column of the result is.
    fn output(&self, at: usize) -> Option<Selected<'a>> {
        self.result.shape.outputs.get(at).copied().flatten()
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
        let own = all.filter(|(at, _)| {
            let other = self.output(*at).zip(self.base);
            other.is_none_or(|(output, base)| base == output.relation)
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
        let own = all.filter(|(_, output)| {
            output.is_some_and(|output| output.relation == base && is(output.column))
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
        let column = |place: &Place| match scan.columns.get(place.column) {
            Some(ScanColumn::Column {
                join,
                name,
                data_type,
            }) if place.path.is_empty() => Some((*join, name.as_str(), data_type)),
            _ => None,
        };
        let mut carried = Vec::new();
        for (name, node) in &item.attributes {
            carried_in(name, node, &mut carried);
        }
        let places = places(item);
        let is_own = |wanted: &str| {
            let mut columns = places.iter().filter_map(column);
            columns.any(|(join, name, _)| join.is_none() && name == wanted)
        };
        for place in &places {
            let is_it = |other: &Place| other.column == place.column && other.path == place.path;
            let attributes = carried.iter().filter(|(_, other)| is_it(other));
            let attributes: Vec<&str> = attributes.map(|(path, _)| path.as_str()).collect();
            // An attribute that is a column and nothing else says what that column is called.
            let said = attributes.iter().find_map(|path| names.said(path));
            let of_table = || {
                let (join, name, _) = column(place)?;
                names.of(join, name)
            };
            // What the query makes is known by its name.
            let made = || {
                let mut attributes = attributes.iter();
                attributes.find_map(|path| names.made(path, !is_key(path)))
            };
            let is_slot = matches!(scan.columns.get(place.column), Some(ScanColumn::Slot));
            let called = || match column(place) {
                Some((join, name, _)) if join.is_none() || !is_own(name) => names.made(name, true),
                None if is_slot => {
                    let name = place.path.last().unwrap_or(&place.written);
                    let found = || names.said(name).or_else(|| names.made(name, true));
                    (!is_own(name)).then(found).flatten()
                }
                _ => None,
            };
            let is_known = slots.find(place).is_some();
            let found = || of_table().or_else(made).or_else(called);
            if let Some(from) = said.or_else(|| (!is_known).then(found).flatten()) {
                slots.all.push(Slot {
                    column: place.column,
                    path: place.path.clone(),
                    from,
                    data_type: column(place).map(|(.., data_type)| data_type.clone()),
                });
            }
        }
        slots
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

/// The place that an attribute is, where it is nothing else; under a condition it is not always.
pub(super) fn carried(node: &Node) -> Option<&Place> {
    let only = node.template()?.single()?;
    let is_always = made::places(node).is_some();
    (is_always && only.filters.is_empty()).then_some(&only.place)
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

/// Every place that the attributes of an item type take, once; whole columns first.
fn places(item: &ItemType) -> Vec<Place> {
    let mut found: Vec<Place> = item.spreads.clone();
    let attributes = item.attributes.iter();
    found.extend(attributes.flat_map(|(_, node)| node.places()).cloned());
    let row_key = item.row_key.iter();
    found.extend(row_key.map(|(name, column)| Place::of_column(*column, name.clone())));
    let mut once: Vec<Place> = Vec::new();
    for place in found {
        let is_it = |other: &Place| other.column == place.column && other.path == place.path;
        if !once.iter().any(is_it) {
            once.push(place);
        }
    }
    once.sort_by_key(|place| place.path.len());
    once
}
