//! One item type of a pattern, held against the columns of the pattern's SQL: what of its items is
//! compared, how a row finds its item, and what a row says of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::{iter, slice};

use dynafold_dynamodb::{Attribute, Index, Item, KeyAttribute, Table};
use dynafold_mapping::item::{self, Folder, text_of, to_attribute};
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, ItemType, Model, Pass, Placeholder, Template, TemplatePart,
    ValuePath,
};
use dynafold_mapping::template::Filter;
use dynafold_relational::scan::Relation;
use dynafold_relational::value::{Text, Value};

use super::coerce::{loosely_same, plain};
use super::columns::{AttributeColumns, QueryResult};
use super::places::{is_same, places};
use super::slots::RowSlots;

/// An attribute, or a member of one, that is compared.
#[derive(Debug, Clone)]
pub(super) struct ComparedAttribute {
    /// The attribute, and members down from it.
    pub(super) path: Vec<Arc<str>>,
    /// The column that stands for it.
    pub(super) column: Option<usize>,
    /// What it is made from, where the query has all that this takes.
    pub(super) node: Option<AttributeNode>,
    /// Whether its column is a FLOAT of MySQL or MariaDB, of which an answer has six digits.
    pub(super) has_six_digits: bool,
    /// Whether an item may go without it: a document may give it, and the column may be of another
    /// item type.
    pub(super) may_lack: bool,
}

/// An item type of a pattern.
#[derive(Debug)]
pub(super) struct ItemProjection<'a> {
    pub(super) item: &'a ItemType,
    /// What its rows are read with.
    pub(super) pass: &'a Pass,
    slots: RowSlots,
    compared: Vec<ComparedAttribute>,
    /// Those of the compared by which a row finds its item.
    identity: Vec<usize>,
    /// The templates of the identity whose texts of a row must split in one way only.
    must_split_once: Vec<AttributeNode>,
    /// Columns of the source's row key: NULL where a row of the query has no row of this type, or where the key itself
    /// may hold NULL.
    presence: Vec<usize>,
    /// The columns of the result that are of the type's own table.
    pub(super) own: Vec<usize>,
    /// Columns of its relation that are NULL only where a row of the query has no row of it.
    never_null: Vec<usize>,
    /// The relation of the query that stands for its own, where that is known: then it is known which columns of the
    /// result are its own.
    pub(super) base: Option<usize>,
    /// The relations of the query that stand for its parents.
    pub(super) parents: Vec<Option<usize>>,
    /// Columns that are NULL all together where an outer join has found no row of this type.
    missing_together: Vec<usize>,
    /// The column that names the item type.
    pub(super) type_column: Option<usize>,
    /// Whether `presence` is the whole of the source's row key, so that a row without a NULL in it is one.
    presence_is_whole_key: bool,
    /// Documents whose members are attributes.
    pub(super) spreads: Vec<ValuePath>,
    /// Key attributes of the table that are the same text in every item.
    constants: Vec<(Arc<str>, String)>,
    /// Whether the identity is the table's whole key.
    pub(super) by_key: bool,
    /// Attributes of the type that are not compared.
    pub(super) not_compared: Vec<String>,
    /// Columns whose values can be recovered from attributes.
    recoverable: Vec<(usize, RecoverableValue)>,
    /// Columns from which attributes are made whose values cannot be recovered.
    pub(super) lossy: HashSet<usize>,
    /// Columns that are compared with something.
    pub(super) used: HashSet<usize>,
    /// Why values that agree today may differ tomorrow: columns of tables that are compared with attributes made of others.
    pub(super) doubts: Vec<String>,
}

impl<'a> ItemProjection<'a> {
    /// Holds an item type against the columns of a query.
    ///
    /// # Errors
    ///
    /// Why its items cannot be told from one another by what the query gives.
    pub(super) fn new(
        model: &Model,
        pattern: &AccessPattern,
        (item, pass): (&'a ItemType, &'a Pass),
        result: &QueryResult<'_>,
    ) -> Result<Self, String> {
        let names = AttributeColumns::new(pattern, item, pass, result, model);
        let mut projection = Self {
            item,
            pass,
            slots: RowSlots::new(&names),
            compared: Vec::new(),
            identity: Vec::new(),
            must_split_once: Vec::new(),
            presence: Vec::new(),
            never_null: names.never_null(),
            own: names.own_columns(&|_| true),
            base: names.base,
            parents: (0..pass.scan.joins.len())
                .map(|join| names.parent(join))
                .collect(),
            missing_together: names.missing_together(),
            type_column: result.type_column,
            presence_is_whole_key: false,
            spreads: Vec::new(),
            constants: Vec::new(),
            by_key: false,
            not_compared: Vec::new(),
            recoverable: Vec::new(),
            lossy: HashSet::new(),
            used: HashSet::new(),
            doubts: Vec::new(),
        };
        for (name, node) in &item.attributes {
            if !holds(&model.table, pattern, name) {
                continue;
            }
            let column = match node.carried() {
                Some(place) => projection.slots.find(place),
                None => names.derived_column(name),
            };
            let column = names.named_column(name).or(column);
            projection.add(vec![name.clone()], column, node, &names);
        }
        projection.add_document_attributes(pattern, model, &names);
        projection.identify(model, &names)?;
        projection.find_recoverable(&names);
        projection.find_doubts(&names);
        Ok(projection)
    }

    /// Adds an attribute, or as much of it as the query gives.
    fn add(
        &mut self,
        path: Vec<Arc<str>>,
        column: Option<usize>,
        node: &AttributeNode,
        names: &AttributeColumns<'_>,
    ) {
        let places = places(node);
        // Constants take nothing, and so are always whole.
        let whole = places
            .is_some_and(|places| places.iter().all(|place| self.slots.find(place).is_some()));
        if column.is_some() || whole {
            self.compared.push(ComparedAttribute {
                path,
                column,
                node: whole.then(|| node.clone()),
                has_six_digits: column.is_some_and(|at| names.has_six_digits(at)),
                may_lack: false,
            });
        } else if let AttributeNode::Map { members, .. } = node {
            for (name, member) in members {
                let mut inner = path.clone();
                inner.push(name.clone());
                let column = names.named_column(&inner.join("."));
                self.add(inner, column, member, names);
            }
        } else {
            self.not_compared.push(path.join("."));
        }
    }

    /// Documents may give attributes of any name: those for which the query has a column, and all of
    /// a document that it gives whole.
    fn add_document_attributes(
        &mut self,
        pattern: &AccessPattern,
        model: &Model,
        names: &AttributeColumns<'_>,
    ) {
        let item = self.item;
        for place in &item.spreads {
            if self.slots.find(place).is_some() {
                self.spreads.push(place.clone());
            }
        }
        if item.spreads.is_empty() || !self.spreads.is_empty() {
            return;
        }
        let mut own: HashSet<usize> = self.compared.iter().filter_map(|one| one.column).collect();
        let others = pattern.items.iter().any(|name| *name != item.name);
        let answer = names.answer();
        let answer =
            answer.map(|(name, _, is_own)| (name, names.named_column(name), others && !is_own));
        let all = names
            .own_or_computed()
            .map(|(at, name)| (name, Some(at), others));
        for (name, column, may_lack) in answer.chain(all) {
            let path: Vec<Arc<str>> = name.split('.').map(Arc::from).collect();
            let first = name.split('.').next().unwrap_or_default();
            let known = self.compared.iter().any(|one| one.path == path);
            let claimed = column.is_none_or(|column| own.contains(&column));
            if known || claimed || self.declares(first) || !holds(&model.table, pattern, first) {
                continue;
            }
            own.extend(column);
            self.compared.push(ComparedAttribute {
                path,
                column,
                node: None,
                has_six_digits: column.is_some_and(|at| names.has_six_digits(at)),
                may_lack,
            });
        }
    }

    /// Finds what identifies the items: the table's whole key, or what identifies the source rows.
    fn identify(&mut self, model: &Model, names: &AttributeColumns<'_>) -> Result<(), String> {
        let (item, table) = (self.item, &model.table);
        let mut keys: Vec<&Arc<str>> = Vec::new();
        for key in table.key() {
            match item.node(&key.name).and_then(AttributeNode::constant_text) {
                Some(text) => self.constants.push((key.name.clone(), text)),
                None => keys.push(&key.name),
            }
        }
        let of_keys: Option<Vec<usize>> = keys.iter().map(|key| self.position(key)).collect();
        let own = item.row_key.iter().take(item.key_columns());
        self.presence = own
            .filter_map(|(_, column)| self.slots.column(*column))
            .collect();
        self.presence_is_whole_key =
            !self.presence.is_empty() && self.presence.len() == item.row_key.len();
        if let Some(identity) = of_keys.filter(|keys| !keys.is_empty()) {
            self.identity = identity;
            self.by_key = true;
            return Ok(());
        }
        if names.is_unclear() {
            return Err(format!(
                "its `sql` reads the table of `{}` more than once and does not show which rows are the items': select the columns of the others under other names",
                item.name
            ));
        }
        let mut identity: Vec<usize> = Vec::new();
        let (mut missing, mut lossy) = (Vec::<&str>::new(), Vec::<&str>::new());
        for (name, column) in &item.row_key {
            let compared = self.compared.iter().enumerate();
            let recovers = |node: &AttributeNode| recovers_column(item, node, *column);
            let carriers = compared.filter(|(_, one)| one.node.as_ref().is_some_and(recovers));
            match carriers.min_by_key(|(_, one)| one.path.len()) {
                Some((at, _)) if identity.contains(&at) => {}
                Some((at, _)) => identity.push(at),
                None if self.slots.column(*column).is_some() => lossy.push(name),
                None => missing.push(name),
            }
        }
        if identity.is_empty() && missing.is_empty() && lossy.is_empty() {
            return Err(format!(
                "the rows of `{}` have no unique key, and its `sql` does not select all of the key {}",
                item.name,
                keys.iter()
                    .map(|key| &***key)
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        if !missing.is_empty() && names.merges_rows() {
            return Err(format!(
                "its `sql` computes a row from several rows of `{}`, which no item of it holds: compare it with an item type that is made `from` such a query",
                item.name
            ));
        }
        if !missing.is_empty() {
            return Err(format!(
                "its `sql` does not select {}, which identifies the rows of `{}`: select it under its own name, or name its attribute under `answer`",
                missing.join(", "),
                item.name
            ));
        }
        if !lossy.is_empty() {
            return Err(format!(
                "the rows of `{}` are identified by {}, which cannot be read back from any attribute that is compared: select what the table's key is made from, too",
                item.name,
                lossy.join(", ")
            ));
        }
        let carriers = identity.iter().filter_map(|at| self.compared.get(*at));
        let values = carriers.filter_map(|one| one.node.as_ref());
        let values = values.flat_map(|node| recoverable_values(item, node));
        self.must_split_once = values.filter_map(|value| value.must_split_once).collect();
        self.identity = identity;
        Ok(())
    }

    fn position(&self, attribute: &str) -> Option<usize> {
        let mut compared = self.compared.iter();
        compared.position(|one| matches!(one.path.as_slice(), [only] if **only == *attribute))
    }

    /// Whether the item type says what an attribute is made from.
    fn declares(&self, attribute: &str) -> bool {
        self.item.node(attribute).is_some()
    }

    /// Finds what is compared by its values alone, or under the name of another attribute.
    fn find_doubts(&mut self, names: &AttributeColumns<'_>) {
        let columns = self.compared.iter().filter_map(|one| one.column);
        let merged = columns.filter_map(|at| Some((names.name(at), names.merges_values(at)?)));
        let merged = merged.map(|(column, how)| {
            format!("different values of `{column}` may count as equal: {how}")
        });
        let mut doubts: Vec<String> = merged.collect();
        if matches!(self.pass.scan.from, Relation::Query(_)) {
            self.doubts = doubts;
            return;
        }
        for (place, at) in self.slots.iter() {
            if place.path.is_empty() && !names.is_same_column(at, Some(place)) {
                let (column, from) = (names.name(at), &place.written);
                doubts.push(format!(
                    "its column `{column}` is not known to be `{from}`, of which the items are made"
                ));
            }
        }
        let answer: Vec<&str> = names.answer().map(|(attribute, ..)| attribute).collect();
        for one in &self.compared {
            let ([attribute], Some(at)) = (one.path.as_slice(), one.column) else {
                continue;
            };
            let node = self.item.node(attribute);
            let place = node.and_then(AttributeNode::carried);
            if node.is_some() && place.is_none() && !names.is_same_column(at, None) {
                doubts.push(format!(
                    "its column `{}` is not what `{attribute}` is made of",
                    names.name(at)
                ));
            }
            let column = names.name(at);
            let named = self.item.node(column);
            let is_one = |other| place.is_some_and(|place| is_same(place, other));
            let is_other = named.is_some_and(|node| !node.carried().is_some_and(is_one));
            if *column != **attribute && is_other && !answer.contains(&&**attribute) {
                doubts.push(format!(
                    "its column `{column}` is the attribute `{attribute}`, and the items have another attribute `{column}`"
                ));
            }
        }
        doubts.dedup();
        self.doubts = doubts;
    }

    /// A column counts only by values from which it can be recovered whole. If the items have an attribute of it, the pattern's answer must hold
    /// one of these: not only the text of a key that has it within.
    fn find_recoverable(&mut self, names: &AttributeColumns<'_>) {
        let nodes = self.compared.iter().filter_map(|one| one.node.as_ref());
        let of_nodes = nodes.flat_map(|node| recoverable_values(self.item, node));
        let of_spreads = self.spreads.iter().map(RecoverableValue::bare);
        // Of a document that the query gives whole, a member gives only itself back.
        let is_whole =
            |place: &ValuePath| place.path.is_empty() || self.slots.column(place.column).is_none();
        let values = of_nodes.chain(of_spreads);
        let values: Vec<RecoverableValue> = values.filter(|value| is_whole(&value.place)).collect();
        let is_held = |name: &Arc<str>| {
            let mut compared = self.compared.iter();
            compared.any(|one| matches!(one.path.as_slice(), [only] if only == name))
        };
        let counts = |place: &ValuePath| {
            let column = self.slots.find(place).map(|at| names.name(at));
            let is_own = |(name, node): &&(Arc<str>, AttributeNode)| {
                column.is_some_and(|column| **name == *column)
                    && node.places().iter().any(|one| is_same(one, place))
                    || node.carried().is_some_and(|own| is_same(own, place))
            };
            let own = self.item.attributes.iter().filter(is_own);
            let mut own = own.map(|(name, _)| name).peekable();
            own.peek().is_none() || own.any(is_held)
        };
        let nodes = self.compared.iter().filter_map(|one| one.node.as_ref());
        let is_lossy = |place: &&ValuePath| !values.iter().any(|one| is_same(&one.place, place));
        let lossy = nodes.flat_map(AttributeNode::places).filter(is_lossy);
        let lossy = lossy.filter_map(|place| self.slots.find(place)).collect();
        let counted = values.into_iter().filter(|value| counts(&value.place));
        let recoverable = counted.filter_map(|value| Some((self.slots.find(&value.place)?, value)));
        self.recoverable = recoverable.collect();
        self.lossy = lossy;
        let mut used: HashSet<usize> = self.recoverable.iter().map(|(column, _)| *column).collect();
        used.extend(self.compared.iter().filter_map(|one| one.column));
        used.extend(self.type_column);
        self.used = used;
    }

    /// The columns of the result that have anything to do with the item type.
    pub(super) fn related_columns(&self) -> impl Iterator<Item = usize> {
        let slots = self.slots.iter().map(|(_, at)| at);
        let own = self.own.iter().copied();
        own.chain(slots).chain(self.compared_columns())
    }

    /// The columns of the result that stand for attributes.
    pub(super) fn compared_columns(&self) -> impl Iterator<Item = usize> {
        self.compared.iter().filter_map(|one| one.column)
    }

    /// The columns of a row whose values can be recovered from its item. `found`: the item, if there is one; it does not
    /// differ from what the row says.
    pub(super) fn recovered_columns(
        &self,
        given: &[Value],
        expected: &ExpectedItem,
        found: Option<&Item>,
        folder: &Folder,
    ) -> impl Iterator<Item = usize> {
        let row = self.slots.row(given);
        let is_there = |place: &ValuePath| !item::find(place, &row).is_null();
        let is_recovered = |value: &RecoverableValue| {
            let own = item::find(&value.place, &row);
            (value.is_bare || self.item.domains.fits(&value.place, &own))
                && value.required_values.iter().all(is_there)
                && value
                    .must_split_once
                    .iter()
                    .all(|node| is_split_once(node, &row, folder))
        };
        let recoverable = self.recoverable.iter();
        let recovered: Vec<usize> = recoverable
            .filter(|(_, value)| is_recovered(value))
            .map(|(column, _)| *column)
            .collect();
        let pairs = self.compared.iter().zip(&expected.parts);
        let direct = pairs.filter_map(|(one, part)| {
            let column = one.column?;
            let is_carried = one
                .node
                .as_ref()
                .is_none_or(|node| node.carried().is_some());
            let is_held = is_carried
                || found.is_none_or(|item| {
                    let direct = part.direct.as_ref().map(|value| to_attribute(value, false));
                    self.is_held(item, &one.path, |found| {
                        matches!(&direct, Some(Ok(direct)) if same(one, direct.as_ref(), found))
                    })
                });
            is_held.then_some(column)
        });
        let direct: Vec<usize> = direct.collect();
        recovered.into_iter().chain(direct).chain(self.type_column)
    }

    /// Whether an item may go without a column that is compared.
    pub(super) fn may_lack(&self) -> bool {
        self.compared.iter().any(|one| one.may_lack)
    }

    /// The attributes that are compared, as people write them.
    pub(super) fn attributes(&self) -> Vec<String> {
        let held = self.compared.iter().filter(|one| !one.may_lack);
        let mut names: Vec<String> = held.map(|one| one.path.join(".")).collect();
        let spreads = self.spreads.iter();
        names.extend(spreads.map(|place| format!("members of {}", place.written)));
        if self.compared.iter().any(|one| one.may_lack) {
            names.push("what documents give under the name of a column".to_owned());
        }
        names
    }

    /// The values of the source's row key in a row of the query, as the source's own columns hold
    /// them; `None` where the query does not give all of it.
    pub(super) fn row_key(&self, given: &[Value]) -> Option<Vec<Value>> {
        let own = self.item.row_key.iter().take(self.item.key_columns());
        let own: Vec<usize> = own.map(|(_, at)| *at).collect();
        if own.is_empty() || own.iter().any(|at| self.slots.column(*at).is_none()) {
            return None;
        }
        let row = self.slots.row(given);
        own.iter().map(|at| row.get(*at).cloned()).collect()
    }
}

/// What a row says of an item.
#[derive(Debug, Clone)]
pub(super) struct ExpectedItem {
    /// By what it finds its item; `None` where its key cannot be made, so that there is none.
    pub(super) identity: Option<String>,
    pub(super) certainty: Certainty,
    /// For each of the compared.
    parts: Vec<ExpectedAttribute>,
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

/// What a row says of one attribute.
#[derive(Debug, Clone)]
struct ExpectedAttribute {
    /// What its template makes: of the values as its columns hold them, and as the query gives them, where both can be.
    /// Empty where the query lacks something that it takes, or a value does not pass the filters.
    by_template: Vec<Option<Attribute>>,
    /// What its column holds.
    direct: Option<Value>,
}

impl ItemProjection<'_> {
    /// What a row of the query says of an item; `None` where it has none of this type.
    pub(super) fn expect(&self, given: &[Value], folder: &Folder) -> Option<ExpectedItem> {
        let value = |column: usize| given.get(column).unwrap_or(&Value::Null);
        let is_null = |column: &usize| value(*column).is_null();
        let is_other = self
            .type_column
            .is_some_and(|column| text_of(value(column)) != Ok(&*self.item.name));
        if is_other || self.never_null.iter().any(is_null) {
            return None;
        }
        let may_be_missing =
            !self.missing_together.is_empty() && self.missing_together.iter().all(is_null);
        // A source key may hold NULL in its own table: then the row is there.
        let is_partial = self.presence.iter().any(is_null);
        let mut certainty = if may_be_missing || (is_partial && self.base.is_none()) {
            Certainty::Perhaps
        } else {
            Certainty::Sure
        };
        let row = self.slots.row(given);
        let as_given = Some(self.slots.row_as_given(given)).filter(|as_given| *as_given != row);
        let parts = self.compared.iter().map(|one| {
            let rows = one.node.iter().flat_map(|node| {
                let rows = iter::once(&row).chain(&as_given);
                rows.map(move |row| folder.attribute(node, row, self.item.keep_nulls))
            });
            ExpectedAttribute {
                by_template: rows.flatten().collect(),
                direct: one.column.map(|column| value(column).clone()),
            }
        });
        let parts: Vec<ExpectedAttribute> = parts.collect();
        let mut identity = Some(String::new());
        for at in &self.identity {
            let part = parts.get(*at)?;
            let attribute = match (part.by_template.first(), &part.direct) {
                (Some(made), _) => made.clone(),
                (None, Some(direct)) => to_attribute(direct, false).ok().flatten(),
                (None, None) => {
                    identity = None;
                    break;
                }
            };
            if attribute.is_none_or(|one| push(identity.as_mut(), &one).is_none()) {
                // A row that is there has to have an item, whether one can be made of it or not.
                if is_partial && certainty == Certainty::Sure {
                    certainty = Certainty::Untold;
                } else if !is_partial && !self.presence_is_whole_key {
                    return None;
                }
                identity = None;
                break;
            }
        }
        let is_split = |node: &AttributeNode| is_split_once(node, &row, folder);
        if certainty == Certainty::Sure && !self.must_split_once.iter().all(is_split) {
            certainty = Certainty::Untold;
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
        Some(ExpectedItem {
            identity,
            certainty,
            parts,
            spread,
        })
    }

    /// What a row says of an attribute, in every reading; none where the query does not tell.
    pub(super) fn readings(&self, expected: &ExpectedItem, name: &str) -> Vec<Option<Attribute>> {
        let mut pairs = self.compared.iter().zip(&expected.parts);
        let of = |one: &ComparedAttribute| matches!(&*one.path, [only] if **only == *name);
        let Some((_, part)) = pairs.find(|(one, _)| of(one)) else {
            return Vec::new();
        };
        if !part.by_template.is_empty() {
            return part.by_template.clone();
        }
        let direct = part.direct.iter();
        direct
            .filter_map(|value| to_attribute(value, false).ok())
            .collect()
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
            let (first, rest) = self.compared.get(*at)?.path.split_first()?;
            let stored = item.get(first)?;
            let readings = self.contents(first, stored);
            // The text comes first: a whole attribute in an identity is a text, and only the document has members.
            let mut readings = readings.iter().rev().chain([stored]);
            let found = readings.find_map(|reading| member(reading, rest).ok().flatten())?;
            push(Some(&mut identity), found)?;
        }
        Some(identity)
    }

    /// Whether what an item holds at a path passes a test: what is stored, or what a reader of a compressed attribute may
    /// take its content for.
    fn is_held(
        &self,
        item: &Item,
        path: &[Arc<str>],
        test: impl Fn(Option<&Attribute>) -> bool,
    ) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return false;
        };
        let Some(stored) = item.get(first) else {
            return test(None);
        };
        let readings = self.contents(first, stored);
        let mut readings = readings.iter().chain([stored]);
        readings.any(|reading| member(reading, rest).is_ok_and(&test))
    }

    /// What a reader of a compressed attribute may take its content for.
    fn contents(&self, name: &Arc<str>, stored: &Attribute) -> Vec<Attribute> {
        match stored {
            Attribute::B(packed) if self.item.compress.contains(name) => item::readings(packed),
            _ => Vec::new(),
        }
    }

    /// Whether an item has what all items of this type have in their keys.
    pub(super) fn may_own(&self, item: &Item) -> bool {
        self.constants.iter().all(
            |(name, text)| matches!(item.get(name), Some(Attribute::S(found)) if **found == **text),
        )
    }

    /// The attributes in which an item is not what a row says, and those that neither its row nor its item type has.
    pub(super) fn differences(&self, expected: &ExpectedItem, item: &Item) -> Vec<String> {
        let pairs = self.compared.iter().zip(&expected.parts);
        let differs =
            |one: &ComparedAttribute, part: &ExpectedAttribute, found: Option<&Attribute>| {
                if one.may_lack && found.is_none() {
                    return false;
                }
                let mut made = part.by_template.iter();
                let is_made = made.any(|made| same(one, made.as_ref(), found));
                let is_direct = part.direct.as_ref().is_some_and(|direct| {
                    // Its own template says what it should be, unless the query has done the same already.
                    if part.by_template.is_empty() {
                        loosely_same(found, direct)
                    } else {
                        let direct = to_attribute(direct, false);
                        direct.is_ok_and(|direct| same(one, direct.as_ref(), found))
                    }
                });
                !is_made && !is_direct
            };
        let differing = pairs.filter(|(one, part)| {
            !self.is_held(item, &one.path, |found| !differs(one, part, found))
        });
        let mut names: Vec<String> = differing.map(|(one, _)| one.path.join(".")).collect();
        for (name, value) in &expected.spread {
            let is_same = |found: Option<&Attribute>| found.is_some_and(|f| f.same(value));
            if !self.declares(name) && !self.is_held(item, slice::from_ref(name), is_same) {
                names.push(name.to_string());
            }
        }
        // What else an item holds may come from documents that the query does not give.
        if self.spreads.len() == self.item.spreads.len() {
            for (name, value) in &item.attributes {
                let known = expected.spread.iter().any(|(other, _)| other == name);
                if !known && !self.declares(name) && *value != Attribute::Null {
                    names.push(name.to_string());
                }
            }
        }
        let declared = self.item.attributes.iter();
        let declared = declared.filter(|(name, _)| !self.item.compress.contains(name));
        for (name, node) in declared {
            // What differs as a whole is named already.
            if let Some(stored) = item.get(name)
                && names.iter().all(|known| *known != **name)
            {
                add_undeclared(node, stored, name, &mut names);
            }
        }
        names
    }
}

/// Adds the members of maps that an item holds and its item type does not have; not those that may come from documents.
fn add_undeclared(node: &AttributeNode, stored: &Attribute, path: &str, names: &mut Vec<String>) {
    match (node, stored) {
        (AttributeNode::When { value, .. } | AttributeNode::Typed { value, .. }, _) => {
            add_undeclared(value, stored, path, names);
        }
        (AttributeNode::Map { members, spreads }, Attribute::M(found)) if spreads.is_empty() => {
            for (name, value) in found {
                let path = format!("{path}.{name}");
                match members.iter().find(|(known, _)| known == name) {
                    Some((_, node)) => add_undeclared(node, value, &path, names),
                    None if *value != Attribute::Null => names.push(path),
                    None => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether an attribute is what a row says; NULL and none are alike.
fn same(one: &ComparedAttribute, expected: Option<&Attribute>, found: Option<&Attribute>) -> bool {
    let there = |attribute: Option<&Attribute>| attribute.is_some_and(|a| *a != Attribute::Null);
    let (Some(expected), Some(found), true) = (expected, found, there(found)) else {
        return !there(expected) && !there(found);
    };
    expected.same(found) || one.has_six_digits && same_digits(expected, found)
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
fn document(place: &ValuePath, row: &[Value]) -> Option<Attribute> {
    to_attribute(&item::find(place, row), false).ok().flatten()
}

fn push(identity: Option<&mut String>, attribute: &Attribute) -> Option<()> {
    let text = plain(attribute, Text::clone)?;
    // Lengths keep neighbouring values apart.
    identity?.push_str(&format!("{}:{text}", text.len()));
    Some(())
}

/// What an attribute holds at a path of members, if anything. Fails where something on the way is no map.
fn member<'a>(attribute: &'a Attribute, path: &[Arc<str>]) -> Result<Option<&'a Attribute>, ()> {
    let mut found = attribute;
    for name in path {
        let members = match found {
            Attribute::M(members) => members.as_slice(),
            Attribute::Null => &[],
            _ => return Err(()),
        };
        match members.iter().find(|(other, _)| other == name) {
            Some((_, value)) => found = value,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// The key attributes of the table, and of the index that a pattern asks.
pub(super) fn keys<'m>(
    table: &'m Table,
    pattern: &AccessPattern,
) -> impl Iterator<Item = &'m KeyAttribute> + use<'m> {
    let index = pattern.index.as_deref().and_then(|name| table.index(name));
    table.key().chain(index.into_iter().flat_map(Index::key))
}

/// Whether the items that a pattern answers hold an attribute, if they have it.
pub(super) fn holds(table: &Table, pattern: &AccessPattern, attribute: &str) -> bool {
    let index = pattern.index.as_deref().and_then(|name| table.index(name));
    pattern.fetch || index.is_none_or(|index| table.projects(index, attribute))
}

/// Whether a column of the row can be recovered from a node's attribute.
fn recovers_column(item: &ItemType, node: &AttributeNode, column: usize) -> bool {
    let is_it = |value: &&Placeholder| {
        let mut filters = value.filters.iter();
        value.place.column == column
            && value.place.path.is_empty()
            && !filters.any(|one| matches!(one, Filter::Time(_)))
    };
    match node {
        AttributeNode::Template(template) if template.mandatory().any(|value| is_it(&value)) => {
            let firm: Vec<&Placeholder> = template.mandatory().filter(is_it).collect();
            let mut values = item.domains.recoverable_placeholders(template).into_iter();
            values.any(|value| firm.contains(&value.placeholder))
        }
        AttributeNode::Typed { value, .. } => recovers_column(item, value, column),
        _ => false,
    }
}

/// Whether the text that a template makes of a row can be split in one way only.
fn is_split_once(node: &AttributeNode, row: &[Value], folder: &Folder) -> bool {
    match (node, folder.attribute(node, row, false)) {
        (AttributeNode::Template(template), Ok(Some(Attribute::S(text)))) => {
            template.is_split_once(&text)
        }
        _ => false,
    }
}

/// A value of a row that can be recovered from an attribute.
#[derive(Debug)]
struct RecoverableValue {
    place: ValuePath,
    /// Whether the attribute is the value and nothing else.
    is_bare: bool,
    /// The values without which the attribute, or the part of it that has this one, is absent.
    required_values: Vec<ValuePath>,
    /// The template whose text of a row must split in one way only.
    must_split_once: Option<AttributeNode>,
}

impl RecoverableValue {
    fn bare(place: &ValuePath) -> Self {
        Self {
            place: place.clone(),
            is_bare: true,
            required_values: Vec::new(),
            must_split_once: None,
        }
    }
}

/// The row values that can be recovered from a node's attribute, if it is made from the row alone. None from a pseudonym.
fn recoverable_values(item: &ItemType, node: &AttributeNode) -> Vec<RecoverableValue> {
    let mut found = Vec::new();
    node.visit(&mut |node| match node {
        AttributeNode::Template(template) => {
            let values = item.domains.recoverable_placeholders(template).into_iter();
            let values = values.filter(|one| !one.placeholder.filters.contains(&Filter::Pseudonym));
            found.extend(values.map(|one| RecoverableValue {
                place: one.placeholder.place.clone(),
                is_bare: one.placeholder.filters.is_empty() && template.single().is_some(),
                required_values: required_values(template, one.placeholder),
                must_split_once:
                    (!one.from_every_text).then(|| AttributeNode::Template(template.clone())),
            }));
        }
        AttributeNode::Map { spreads, .. } => {
            found.extend(spreads.iter().map(RecoverableValue::bare));
        }
        _ => {}
    });
    if places(node).is_some() {
        found
    } else {
        Vec::new()
    }
}

/// The values without which a template makes nothing, or leaves out the segment of a value: NULL leaves out its segment and
/// all behind it.
fn required_values(template: &Template, value: &Placeholder) -> Vec<ValuePath> {
    let mut needed: Vec<&Placeholder> = template.mandatory().collect();
    if !needed.iter().any(|one| std::ptr::eq(*one, value)) {
        for part in &template.parts {
            let TemplatePart::Optional(inner) = part else {
                continue;
            };
            let from = needed.len();
            needed.extend(inner.iter().filter_map(|part| match part {
                TemplatePart::Value(value) => Some(value),
                _ => None,
            }));
            let mut segment = needed.iter().skip(from);
            if segment.any(|one| std::ptr::eq(*one, value)) {
                break;
            }
        }
    }
    let needed = needed.into_iter().filter(|one| !one.replaces_null());
    needed.map(|one| one.place.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_no_map_declares_are_named() {
        let made = |members: Vec<(Arc<str>, AttributeNode)>| AttributeNode::Map {
            members,
            spreads: Vec::new(),
        };
        let yes = Attribute::Bool(true);
        let plain = || AttributeNode::Constant(Attribute::Bool(true));
        let inner = AttributeNode::When {
            flag: 0,
            value: Box::new(made(vec![("x".into(), plain())])),
        };
        let node = made(vec![("a".into(), plain()), ("b".into(), inner)]);
        let inner = vec![("x".into(), yes.clone()), ("y".into(), yes.clone())];
        let stored = Attribute::M(vec![
            ("a".into(), yes.clone()),
            ("b".into(), Attribute::M(inner)),
            ("c".into(), yes),
            ("d".into(), Attribute::Null),
        ]);
        let named = |node: &AttributeNode| {
            let mut names = Vec::new();
            add_undeclared(node, &stored, "m", &mut names);
            names
        };
        assert_eq!(named(&node), ["m.b.y", "m.c"]);
        assert!(named(&plain()).is_empty());
    }
}
