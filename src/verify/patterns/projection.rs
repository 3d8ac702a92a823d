//! One item type of a pattern, held against the columns of the pattern's SQL: what of its items is
//! compared, how a row finds its item, and what a row says of it.

use std::collections::HashSet;
use std::sync::Arc;

use super::coerce::{loosely_same, plain};
use super::draw::Ground;
use super::slots::{Names, Slots};
use crate::catalog::Column;
use crate::item::{Attribute, Folder, Item, same_unpacked, text_of, to_attribute};
use crate::mapping::model::{
    AccessPattern, ItemType, Model, Node, Part, Place, Projection as Held, Template,
};
use crate::mapping::template::Filter;
use crate::value::Value;

/// An attribute, or a member of one, that is compared.
#[derive(Debug, Clone)]
struct Compared {
    /// The attribute, and members down from it.
    path: Vec<Arc<str>>,
    /// The column that stands for it.
    column: Option<usize>,
    /// What it is made from, where the query has all that this takes.
    node: Option<Node>,
    /// Whether an item may go without it: a document may give it, and the column may be of another
    /// item type.
    may_lack: bool,
}

/// An item type of a pattern.
#[derive(Debug)]
pub(super) struct Projection {
    /// Index into the model's item types.
    pub(super) item_type: usize,
    pub(super) name: Arc<str>,
    slots: Slots,
    compared: Vec<Compared>,
    /// Those of the compared by which a row finds its item.
    identity: Vec<usize>,
    /// Columns that are NULL where a row of the query has no row of this type.
    presence: Vec<usize>,
    /// Documents whose members are attributes.
    spreads: Vec<Place>,
    declared: HashSet<Arc<str>>,
    compress: Vec<Arc<str>>,
    keep_nulls: bool,
    /// Key attributes of the table that are the same text in every item.
    constants: Vec<(Arc<str>, String)>,
    /// Whether the identity is the table's whole key.
    pub(super) by_key: bool,
    /// Attributes of the type that are not compared.
    pub(super) not_compared: Vec<String>,
    /// Columns that are compared with something.
    pub(super) used: HashSet<usize>,
}

/// What a row says of an item.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    /// By what it finds its item; `None` where its key cannot be made, so that there is none.
    pub(super) identity: Option<String>,
    /// For each of the compared: what its template makes, and what its column holds.
    parts: Vec<(Made, Option<Value>)>,
    /// Members of documents that are attributes.
    spread: Vec<(Arc<str>, Attribute)>,
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
    /// Holds an item type against the columns of a query.
    ///
    /// # Errors
    ///
    /// Why its items cannot be told from one another by what the query gives.
    pub(super) fn new(
        ground: &Ground<'_>,
        pattern: &AccessPattern,
        item_type: usize,
        columns: &[Column],
    ) -> Result<Self, String> {
        let model = ground.model;
        let (Some(item), Some(pass)) = (
            model.item_types.get(item_type),
            model
                .item_types
                .get(item_type)
                .and_then(|item| model.passes.get(item.pass)),
        ) else {
            return Err("its item type is not in the mapping".to_owned());
        };
        let names = Names::new(pattern, &item.name, columns);
        let slots = Slots::new(item, pass, &names, ground.catalog);
        let mut projection = Self {
            item_type,
            name: item.name.clone(),
            slots,
            compared: Vec::new(),
            identity: Vec::new(),
            presence: Vec::new(),
            spreads: Vec::new(),
            declared: item
                .attributes
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            compress: item.compress.clone(),
            keep_nulls: item.keep_nulls,
            constants: Vec::new(),
            by_key: false,
            not_compared: Vec::new(),
            used: HashSet::new(),
        };
        for (name, node) in &item.attributes {
            if !holds(model, pattern, name) {
                continue;
            }
            let column = names.of(name);
            projection.add(vec![name.clone()], column, node, &names);
        }
        projection.open(item, pattern, model, columns);
        projection.identify(item, model)?;
        projection.count_used();
        Ok(projection)
    }

    /// Adds an attribute, or as much of it as the query gives.
    fn add(&mut self, path: Vec<Arc<str>>, column: Option<usize>, node: &Node, names: &Names<'_>) {
        let places = places(node);
        let whole = places.as_ref().is_some_and(|places| {
            !places.is_empty() && places.iter().all(|place| self.slots.find(place).is_some())
        });
        if column.is_some() || whole {
            self.compared.push(Compared {
                path,
                column,
                node: whole.then(|| node.clone()),
                may_lack: false,
            });
        } else if let Node::Map { members, .. } = node {
            for (name, member) in members {
                let mut inner = path.clone();
                inner.push(name.clone());
                let column = names.said(&inner.join("."));
                self.add(inner, column, member, names);
            }
        } else if places.is_none_or(|places| !places.is_empty()) {
            self.not_compared.push(path.join("."));
        }
    }

    /// Documents may give attributes of any name: those for which the query has a column, and all of
    /// a document that it gives whole.
    fn open(
        &mut self,
        item: &ItemType,
        pattern: &AccessPattern,
        model: &Model,
        columns: &[Column],
    ) {
        for place in &item.spreads {
            if self.slots.find(place).is_some() {
                self.spreads.push(place.clone());
            }
        }
        if item.spreads.is_empty() || !self.spreads.is_empty() {
            return;
        }
        let names = Names::new(pattern, &item.name, columns);
        let mut own: HashSet<usize> = self.compared.iter().filter_map(|one| one.column).collect();
        let others = pattern.items.iter().any(|name| *name != item.name);
        let answer = names.answered().map(|name| (name, false));
        let all = columns.iter().map(|column| (column.name.as_str(), others));
        for (name, may_lack) in answer.chain(all) {
            let path: Vec<Arc<str>> = name.split('.').map(Arc::from).collect();
            let first = name.split('.').next().unwrap_or_default();
            let known = self.compared.iter().any(|one| one.path == path);
            let column = names.of(name);
            let claimed = column.is_none_or(|column| own.contains(&column));
            if known || claimed || self.declared.contains(first) || !holds(model, pattern, first) {
                continue;
            }
            own.extend(column);
            self.compared.push(Compared {
                path,
                column,
                node: None,
                may_lack,
            });
        }
    }

    /// Finds what tells the items apart: the table's whole key, or what tells the source rows apart.
    fn identify(&mut self, item: &ItemType, model: &Model) -> Result<(), String> {
        let table = &model.table;
        let mut keys: Vec<&Arc<str>> = Vec::new();
        for key in std::iter::once(&table.partition).chain(&table.sort) {
            let mut attributes = item.attributes.iter();
            let node = attributes.find(|(name, _)| *name == key.name);
            match node.and_then(|(_, node)| constant(node)) {
                Some(text) => self.constants.push((key.name.clone(), text)),
                None => keys.push(&key.name),
            }
        }
        let of_keys: Option<Vec<usize>> = keys.iter().map(|key| self.position(key)).collect();
        let own = item.row_key.iter().take(item.key_columns());
        self.presence = own
            .filter_map(|(_, column)| self.slots.column(*column))
            .collect();
        if let Some(identity) = of_keys.filter(|keys| !keys.is_empty()) {
            self.identity = identity;
            self.by_key = true;
            return Ok(());
        }
        let mut identity: Vec<usize> = Vec::new();
        let mut missing: Vec<&str> = Vec::new();
        for (name, column) in &item.row_key {
            let compared = self.compared.iter().enumerate();
            let carriers =
                compared.filter(|(_, one)| one.node.as_ref().is_some_and(|n| tells(n, *column)));
            match carriers.min_by_key(|(_, one)| one.path.len()) {
                Some((at, _)) if identity.contains(&at) => {}
                Some((at, _)) => identity.push(at),
                None => missing.push(name),
            }
        }
        if identity.is_empty() && missing.is_empty() {
            return Err(format!(
                "nothing tells the rows of `{}` apart, and its `sql` does not give all of the key {}",
                self.name,
                keys.iter()
                    .map(|key| &***key)
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        if !missing.is_empty() {
            return Err(format!(
                "its `sql` does not give {}, which tells the rows of `{}` apart: select it under its own name, or say under `answer` which attribute it is",
                missing.join(", "),
                self.name
            ));
        }
        self.identity = identity;
        Ok(())
    }

    fn position(&self, attribute: &str) -> Option<usize> {
        let mut compared = self.compared.iter();
        compared.position(|one| matches!(one.path.as_slice(), [only] if **only == *attribute))
    }

    fn count_used(&mut self) {
        let mut used: HashSet<usize> = self.compared.iter().filter_map(|one| one.column).collect();
        let nodes = self.compared.iter().filter_map(|one| one.node.as_ref());
        let places: Vec<Place> = nodes.filter_map(places).flatten().collect();
        used.extend(
            places
                .iter()
                .chain(&self.spreads)
                .filter_map(|place| self.slots.find(place)),
        );
        self.used = used;
    }

    /// The attributes that are compared, as people write them.
    pub(super) fn attributes(&self) -> Vec<String> {
        let mut names: Vec<String> = self.compared.iter().map(|one| one.path.join(".")).collect();
        names.extend(
            self.spreads
                .iter()
                .map(|place| format!("members of {}", place.written)),
        );
        names
    }

    /// The values of the source's row key in a row of the query, as the source's own columns hold
    /// them; `None` where the query does not give all of it.
    pub(super) fn row_key(&self, item: &ItemType, given: &[Value]) -> Option<Vec<Value>> {
        let own: Vec<usize> = item
            .row_key
            .iter()
            .take(item.key_columns())
            .map(|(_, at)| *at)
            .collect();
        if own.is_empty() || own.iter().any(|at| self.slots.column(*at).is_none()) {
            return None;
        }
        let row = self.slots.row(given);
        own.iter().map(|at| row.get(*at).cloned()).collect()
    }

    /// What a row of the query says of an item; `None` where it has none of this type.
    pub(super) fn expect(&self, given: &[Value], folder: &Folder) -> Option<Expected> {
        let value = |column: usize| given.get(column).unwrap_or(&Value::Null);
        if self.presence.iter().any(|column| value(*column).is_null()) {
            return None;
        }
        let row = self.slots.row(given);
        let parts = self.compared.iter().map(|one| {
            let made = one
                .node
                .as_ref()
                .map(|node| folder.attribute(node, &row, self.keep_nulls));
            let made = match made {
                None => Made::Unknown,
                Some(Err(())) => Made::Refused,
                Some(Ok(made)) => Made::As(made),
            };
            (made, one.column.map(|column| value(column).clone()))
        });
        let parts: Vec<_> = parts.collect();
        let mut identity = Some(String::new());
        for at in &self.identity {
            let attribute = match parts.get(*at)? {
                (Made::As(made), _) => made.clone()?,
                (_, Some(Value::Null)) => return None,
                (_, Some(direct)) => to_attribute(direct, false).ok().flatten()?,
                _ => {
                    identity = None;
                    break;
                }
            };
            push(identity.as_mut()?, &attribute)?;
        }
        let mut spread = Vec::new();
        for place in &self.spreads {
            if let Some(Attribute::M(members)) = folder.document(place, &row) {
                let kept = members
                    .into_iter()
                    .filter(|(_, value)| *value != Attribute::Null);
                spread.extend(kept);
            }
        }
        Some(Expected {
            identity,
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
            push(&mut identity, find(item, &self.compared.get(*at)?.path)?)?;
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
        if expected.same(found) {
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

fn push(identity: &mut String, attribute: &Attribute) -> Option<()> {
    let text = plain(attribute)?;
    // Lengths keep neighbouring values apart.
    identity.push_str(&format!("{}:{text}", text.len()));
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

/// Whether what a pattern asks holds an attribute.
pub(super) fn holds(model: &Model, pattern: &AccessPattern, attribute: &str) -> bool {
    let table = &model.table;
    let Some(name) = &pattern.index else {
        return true;
    };
    let named = table.indexes.iter().chain(&table.local_indexes);
    let Some(index) = named.into_iter().find(|index| *index.name == **name) else {
        return true;
    };
    let mut keys = std::iter::once(&table.partition)
        .chain(&table.sort)
        .chain(&index.partition)
        .chain(&index.sort);
    keys.any(|key| *key.name == *attribute)
        || match &index.projection {
            Held::All => true,
            Held::Keys => false,
            Held::Include(names) => names.iter().any(|name| **name == *attribute),
        }
}

/// The places that a value is made from; `None` where it takes more: children, a condition.
fn places(node: &Node) -> Option<Vec<Place>> {
    let mut found = Vec::new();
    let mut other = false;
    node.visit(&mut |node| match node {
        Node::Template(template) => {
            found.extend(template.placeholders().map(|one| one.place.clone()));
        }
        Node::Map { spreads, .. } => found.extend(spreads.iter().cloned()),
        Node::When { .. } | Node::Embed(_) => other = true,
        Node::Constant(_) | Node::List(_) | Node::Typed { .. } => {}
    });
    (!other).then_some(found)
}

/// The text of a node that takes nothing from the row.
fn constant(node: &Node) -> Option<String> {
    let Node::Template(template) = node else {
        return None;
    };
    let (text, whole) = template.prefix();
    whole.then(|| text.to_owned())
}

/// Whether a column of the row can be told from what a node makes.
fn tells(node: &Node, column: usize) -> bool {
    let faithful = |template: &Template| {
        let mut parts = template.parts.iter();
        parts.any(|part| match part {
            Part::Value(value) => {
                value.place.column == column
                    && value.place.path.is_empty()
                    && value.filters.iter().all(is_faithful)
            }
            _ => false,
        })
    };
    match node {
        Node::Template(template) => faithful(template),
        Node::Typed { value, .. } => tells(value, column),
        _ => false,
    }
}

/// Whether a filter makes two values of two.
fn is_faithful(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Pad { .. }
            | Filter::Desc { .. }
            | Filter::Ordered
            | Filter::Hex
            | Filter::Base64
            | Filter::Uuid { .. }
            | Filter::String
            | Filter::Number
            | Filter::Iso
            | Filter::EpochMs
            | Filter::Pseudonym
    )
}
