//! One item type of a pattern, held against the columns of the pattern's SQL: what of its items is
//! compared, how a row finds its item, and what a row says of it.

use std::collections::HashSet;
use std::sync::Arc;

use dynafold_dynamodb::Index;
use dynafold_mapping::model::{AccessPattern, ItemType, Model, Node, Place};
use dynafold_relational::value::Value;

use super::call::Ground;
use super::made::{constant, holds, places, tells};
use super::result::ResultOf;
use super::slots::{Names, Slots, carried};

/// An attribute, or a member of one, that is compared.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    /// The attribute, and members down from it.
    pub(super) path: Vec<Arc<str>>,
    /// The column that stands for it.
    pub(super) column: Option<usize>,
    /// What it is made from, where the query has all that this takes.
    pub(super) node: Option<Node>,
    /// Whether its column is a FLOAT of MySQL or MariaDB, of which an answer has six digits.
    pub(super) has_six_digits: bool,
    /// Whether an item may go without it: a document may give it, and the column may be of another
    /// item type.
    pub(super) may_lack: bool,
}

/// An item type of a pattern.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of an item type"
)]
pub(super) struct Projection {
    /// Index into the model's item types.
    pub(super) item_type: usize,
    pub(super) name: Arc<str>,
    pub(super) slots: Slots,
    pub(super) compared: Vec<Compared>,
    /// Those of the compared by which a row finds its item.
    pub(super) identity: Vec<usize>,
    /// Columns of the source's row key: NULL where a row of the query has no row of this type, or where the key itself
    /// may hold NULL.
    pub(super) presence: Vec<usize>,
    /// Columns of its relation that are NULL only where a row of the query has no row of it.
    pub(super) never_null: Vec<usize>,
    /// Whether the query reads its relation, and so which columns of the result are its own.
    pub(super) has_relation: bool,
    /// Columns that are NULL all together where an outer join has found no row of this type.
    pub(super) missing_together: Vec<usize>,
    /// The column that names the item type.
    pub(super) told_by: Option<usize>,
    /// Whether children stand in its items.
    pub(super) has_children: bool,
    /// Whether these are the whole of the source's row key, so that a row without a NULL in them is one.
    pub(super) is_told: bool,
    /// Documents whose members are attributes.
    pub(super) spreads: Vec<Place>,
    pub(super) declared: HashSet<Arc<str>>,
    pub(super) compress: Vec<Arc<str>>,
    pub(super) keep_nulls: bool,
    /// Key attributes of the table that are the same text in every item.
    pub(super) constants: Vec<(Arc<str>, String)>,
    /// Whether the identity is the table's whole key.
    pub(super) by_key: bool,
    /// Attributes of the type that are not compared.
    pub(super) not_compared: Vec<String>,
    /// Columns that are compared with something.
    pub(super) used: HashSet<usize>,
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
        result: &ResultOf<'_>,
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
        let names = Names::new(pattern, item, pass, result, ground.catalog);
        let is_key = |name: &str| {
            let of_indexes = model.table.all_indexes().flat_map(Index::key);
            model
                .table
                .key()
                .chain(of_indexes)
                .any(|key| *key.name == *name)
        };
        let slots = Slots::new(item, pass, &names, &is_key);
        let mut projection = Self {
            item_type,
            name: item.name.clone(),
            slots,
            never_null: names.never_null(),
            has_relation: names.has_relation(),
            missing_together: names.missing_together(),
            told_by: result.told_by,
            has_children: !item.embeds().is_empty(),
            declared: item
                .attributes
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            compress: item.compress.clone(),
            keep_nulls: item.keep_nulls,
            ..Self::default()
        };
        for (name, node) in &item.attributes {
            if !holds(&model.table, pattern, name) {
                continue;
            }
            let column = match carried(node) {
                Some(place) => projection.slots.find(place),
                None => names.made(name, !is_key(name)),
            };
            let column = names.said(name).or(column);
            projection.add(vec![name.clone()], column, node, &names);
        }
        projection.open(item, pattern, model, &names);
        projection.identify(item, model)?;
        projection.count_used();
        Ok(projection)
    }

    /// Adds an attribute, or as much of it as the query gives.
    fn add(&mut self, path: Vec<Arc<str>>, column: Option<usize>, node: &Node, names: &Names<'_>) {
        let places = places(node);
        // Constants take nothing, and so are always whole.
        let whole = places
            .is_some_and(|places| places.iter().all(|place| self.slots.find(place).is_some()));
        if column.is_some() || whole {
            self.compared.push(Compared {
                path,
                column,
                node: whole.then(|| node.clone()),
                has_six_digits: column.is_some_and(|at| names.has_six_digits(at)),
                may_lack: false,
            });
        } else if let Node::Map { members, .. } = node {
            for (name, member) in members {
                let mut inner = path.clone();
                inner.push(name.clone());
                let column = names.said(&inner.join("."));
                self.add(inner, column, member, names);
            }
        } else {
            self.not_compared.push(path.join("."));
        }
    }

    /// Documents may give attributes of any name: those for which the query has a column, and all of
    /// a document that it gives whole.
    fn open(&mut self, item: &ItemType, pattern: &AccessPattern, model: &Model, names: &Names<'_>) {
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
        let answer = names.answered();
        let answer = answer.map(|(name, is_own)| (name, names.said(name), others && !is_own));
        let all = names.all().map(|(at, name)| (name, Some(at), others));
        for (name, column, may_lack) in answer.chain(all) {
            let path: Vec<Arc<str>> = name.split('.').map(Arc::from).collect();
            let first = name.split('.').next().unwrap_or_default();
            let known = self.compared.iter().any(|one| one.path == path);
            let claimed = column.is_none_or(|column| own.contains(&column));
            if known
                || claimed
                || self.declared.contains(first)
                || !holds(&model.table, pattern, first)
            {
                continue;
            }
            own.extend(column);
            self.compared.push(Compared {
                path,
                column,
                node: None,
                has_six_digits: column.is_some_and(|at| names.has_six_digits(at)),
                may_lack,
            });
        }
    }

    /// Finds what tells the items apart: the table's whole key, or what tells the source rows apart.
    fn identify(&mut self, item: &ItemType, model: &Model) -> Result<(), String> {
        let table = &model.table;
        let mut keys: Vec<&Arc<str>> = Vec::new();
        for key in table.key() {
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
        self.is_told = !self.presence.is_empty() && self.presence.len() == item.row_key.len();
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
        let places = nodes.filter_map(places).flatten().chain(&self.spreads);
        used.extend(places.filter_map(|place| self.slots.find(place)));
        used.extend(self.told_by);
        self.used = used;
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
}
