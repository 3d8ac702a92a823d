//! Which columns of a pattern's query stand for which places of an item type's rows.

use std::collections::{HashMap, HashSet};

use dynafold_mapping::model::{AccessPattern, AttributeNode, ItemType, Model, Pass, ValuePath};
use dynafold_relational::catalog::{Column, DataType, Dbms};
use dynafold_relational::scan::{Match, ScanColumn};
use dynafold_sql::SelectedColumn;

use super::places::table_column;
use super::shape::QueryShape;

/// The result of a pattern's query, and what tells its item types apart.
pub(super) struct QueryResult<'a> {
    shape: &'a QueryShape<'a>,
    /// The column that says of which item type a row is.
    pub(super) type_column: Option<usize>,
    /// Names that several of the item types have, in lower case, where no column tells the types apart.
    shared: HashSet<String>,
    /// The relations of the query that stand for one of the item types.
    bases: Vec<usize>,
}

impl<'a> QueryResult<'a> {
    /// `types`: those that are returned, each with its rows.
    pub(super) fn new(shape: &'a QueryShape<'a>, types: &[(&ItemType, &Pass)]) -> Self {
        let names_all = |column: &Column| {
            let mut types = types.iter();
            types.all(|(item, _)| {
                let text = item
                    .node(&column.name)
                    .and_then(AttributeNode::constant_text);
                text.is_some_and(|text| *text == *item.name)
            })
        };
        let type_column = shape.columns.iter().position(names_all);
        let type_column = type_column.filter(|_| types.len() > 1);
        let mut shared = HashSet::new();
        let mut known = HashMap::new();
        for (item, pass) in types.iter().filter(|_| type_column.is_none()) {
            let all = 0..pass.scan.columns.len();
            let columns = all.filter_map(|at| pass.scan.own_column(at));
            let columns = columns.map(str::to_lowercase);
            let attributes = item.attributes.iter().map(|(name, _)| name.to_lowercase());
            for name in columns.chain(attributes) {
                // Of one relation the source itself tells which row is of which type.
                if *known.entry(name.clone()).or_insert(&pass.scan.from) != &pass.scan.from {
                    shared.insert(name);
                }
            }
        }
        let bases = types.iter().filter_map(|(_, pass)| base(shape, pass));
        Self {
            shape,
            type_column,
            shared,
            bases: bases.collect(),
        }
    }
}

/// The relation of a query that stands for what an item type is made from. Of several of one table it is the one alone that
/// each row has, or whose columns keep their names.
fn base(shape: &QueryShape<'_>, pass: &Pass) -> Option<usize> {
    let table = shape.catalog.table(pass.scan.from.table()?)?;
    let mut all = shape.relations(table, None);
    if all.len() > 1 {
        all.retain(|at| !shape.may_be_missing(*at));
    }
    if all.len() > 1 {
        all.retain(|at| shape.shows(*at, |column| !column.is_renamed));
    }
    only(&all)
}

/// Whether two values of an enum or a set of MySQL have the same text. The value of no label is the empty text. Of what is computed
/// the labels are not known.
fn has_twins(labels: &[String]) -> bool {
    let mut texts = HashSet::from([""]);
    labels.is_empty() || !labels.iter().all(|label| texts.insert(label))
}

fn only(relations: &[usize]) -> Option<usize> {
    match relations {
        [only] => Some(*only),
        _ => None,
    }
}

/// The columns of a query as an item type's attributes know them.
pub(super) struct AttributeColumns<'a> {
    result: &'a QueryResult<'a>,
    pattern: &'a AccessPattern,
    pub(super) item: &'a ItemType,
    pub(super) pass: &'a Pass,
    /// The relation of the query that stands for the item type's own.
    pub(super) base: Option<usize>,
    /// Whether the query does not read what the type is made from: its columns are known by their names alone.
    by_name: bool,
    /// The key attributes of the table and its indexes, which are spelt exactly.
    keys: Vec<&'a str>,
}

impl<'a> AttributeColumns<'a> {
    pub(super) fn new(
        pattern: &'a AccessPattern,
        item: &'a ItemType,
        pass: &'a Pass,
        result: &'a QueryResult<'a>,
        model: &'a Model,
    ) -> Self {
        let shape = result.shape;
        let indexes = model.table.all_indexes();
        let of_indexes = indexes.flat_map(dynafold_dynamodb::Index::key);
        let keys = model.table.key().chain(of_indexes);
        let name = pass.scan.from.table();
        let table = name.and_then(|name| shape.catalog.table(name));
        Self {
            result,
            pattern,
            item,
            pass,
            base: base(shape, pass),
            by_name: table.is_none_or(|table| !shape.reads(table)),
            keys: keys.map(|key| &*key.name).collect(),
        }
    }

    /// What `answer` says of this item type: attributes with their columns, and whether it is said of this type alone,
    /// `PARCEL.no`.
    pub(super) fn answer(&self) -> impl Iterator<Item = (&'a str, &'a str, bool)> + use<'a, '_> {
        let pairs = self.pattern.answer.iter();
        pairs.filter_map(|(attribute, column)| {
            let is_item = |first: &str| self.pattern.items.iter().any(|item| **item == *first);
            match attribute.split_once('.') {
                Some((first, rest)) if is_item(first) => {
                    (*first == *self.item.name).then_some((rest, column.as_str(), true))
                }
                _ => Some((attribute.as_str(), column.as_str(), false)),
            }
        })
    }

    /// The column that the mapping names for an attribute, or a member of one. Of several columns of that name it is
    /// the one of the type's own relation.
    pub(super) fn named_column(&self, attribute: &str) -> Option<usize> {
        let of_it = self.answer().filter(|(name, ..)| *name == attribute);
        let (_, column, _) = of_it.min_by_key(|(.., is_own)| !is_own)?;
        let own = |at: usize| {
            let output = self.source_column(at);
            output.is_some_and(|output| Some(output.relation) == self.base)
        };
        self.only_named(column, true, &|_| true)
            .or_else(|| self.only_named(column, true, &own))
    }

    /// The column of this name that the query makes, or calls so, for one of `attributes`. A column that `answer` gives to
    /// another attribute of the item type is that one's.
    fn computed_column(&self, name: &str, any_case: bool, attributes: &[&str]) -> Option<usize> {
        let is_taken = |(attribute, column, _): (&str, &str, bool)| {
            let first = attribute.split('.').next().unwrap_or_default();
            column == name && !attributes.contains(&attribute) && self.item.node(first).is_some()
        };
        if self.answer().any(is_taken) {
            return None;
        }
        let is_shared = self.result.shared.contains(&name.to_lowercase());
        let is_made = |at: usize| match self.source_column(at) {
            Some(output) => {
                (output.is_renamed && !is_shared)
                    || (self.by_name && !self.result.bases.contains(&output.relation))
            }
            None => !is_shared,
        };
        self.only_named(name, any_case, &is_made)
    }

    /// The column that the query makes under the name of an attribute.
    pub(super) fn derived_column(&self, attribute: &str) -> Option<usize> {
        self.computed_column(attribute, !self.keys.contains(&attribute), &[attribute])
    }

    /// Whether a column of the result is printed with six digits, whatever it holds.
    pub(super) fn has_six_digits(&self, at: usize) -> bool {
        let shape = self.result.shape;
        let column = shape.columns.get(at);
        matches!(shape.catalog.dbms, Dbms::Mysql | Dbms::Mariadb)
            && column.is_some_and(|column| column.data_type == DataType::Float { bits: 32 })
    }

    /// How values of a column of the result that the database keeps apart become one when they are read.
    pub(super) fn merges_values(&self, at: usize) -> Option<&'static str> {
        if self.has_six_digits(at) {
            return Some("FLOAT is compared by its first six digits");
        }
        let shape = self.result.shape;
        let column = self.source_column(at).map(|output| output.column);
        // What is computed has the type that the source names for the result.
        let column = column.or_else(|| shape.columns.get(at))?;
        match &column.data_type {
            DataType::Set { .. } if column.nullable && !self.item.keep_nulls => {
                Some("the empty set and NULL both give no attribute")
            }
            DataType::Enum { values } | DataType::Set { values }
                if shape.catalog.dbms != Dbms::Postgres && has_twins(values) =>
            {
                Some("two of its values have the same text")
            }
            // Of a domain only its name is declared, and it may be one of bits.
            DataType::Binary { .. }
                if shape.catalog.dbms == Dbms::Postgres
                    && column.declared != "bytea"
                    && !column.declared.starts_with("bit(") =>
            {
                Some("bits are filled up to whole bytes")
            }
            _ => None,
        }
    }

    /// Whether items hold a text that is made as rows are read, and the query gives the bytes: a geometry of MySQL.
    pub(super) fn is_converted(&self, at: usize) -> bool {
        let is_mysql = matches!(self.result.shape.catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
        let output = self.source_column(at).filter(|_| is_mysql);
        output.is_some_and(|output| output.column.data_type == DataType::Printed)
    }

    /// The column of a table that a column of the result is.
    fn source_column(&self, at: usize) -> Option<SelectedColumn<'a>> {
        self.result.shape.outputs.get(at).copied().flatten()
    }

    /// The column that stands for one of the item type's relation, or of a parent.
    fn column_of(&self, join: Option<usize>, name: &str) -> Option<usize> {
        let shape = self.result.shape;
        let relation = match join {
            None => self.base,
            Some(join) => self.parent(join),
        };
        shape.column(relation?, name)
    }

    /// The relation of the query that stands for a parent. Where the item type looks one table up several times, or another
    /// item type of the answer is made from that table, it is that of the join that the query holds equal too.
    pub(super) fn parent(&self, join: usize) -> Option<usize> {
        let (shape, joins) = (self.result.shape, &self.pass.scan.joins);
        let own = joins.get(join)?;
        let table = shape.catalog.table(&own.table)?;
        let relation = only(&shape.relations(table, self.base))?;
        let is_joined = |on: &Match| {
            let ours = on.join.map_or(self.base, |join| self.parent(join));
            ours.is_some_and(|of| shape.equates((relation, &on.theirs), (of, &on.ours)))
        };
        let times = joins
            .iter()
            .filter(|other| other.table == own.table)
            .count();
        let is_the_only = times == 1 && !self.result.bases.contains(&relation);
        (is_the_only || own.on.iter().all(is_joined)).then_some(relation)
    }

    /// Whether a column of the result is the column that a place is, by what the query says: it is that column, or is held
    /// equal to it in every row. What the query computes is none, and is compared by its values alone.
    pub(super) fn is_same_column(&self, at: usize, place: Option<&ValuePath>) -> bool {
        let Some(output) = self.source_column(at) else {
            return true;
        };
        let Some((join, name, _)) = place.and_then(|place| table_column(self.pass, place)) else {
            return false;
        };
        let Some(relation) = join.map_or(self.base, |join| self.parent(join)) else {
            return false;
        };
        let shape = self.result.shape;
        let found = (output.relation, output.column.name.as_str());
        found == (relation, name)
            || shape.equates((relation, name), found) && !shape.may_be_missing(output.relation)
    }

    /// Whether the query reads the type's table several times, and does not show which of them the items are of.
    pub(super) fn is_unclear(&self) -> bool {
        let shape = self.result.shape;
        let table = self.pass.scan.from.table();
        let table = table.and_then(|name| shape.catalog.table(name));
        self.base.is_none() && table.is_some_and(|table| shape.relations(table, None).len() > 1)
    }

    /// Whether the query computes its rows from several of the type's.
    pub(super) fn merges_rows(&self) -> bool {
        self.base.is_some() && self.result.shape.merges_rows()
    }

    /// The name of a column of the result.
    pub(super) fn name(&self, at: usize) -> &'a str {
        let column = self.result.shape.columns.get(at);
        column.map_or("", |column| column.name.as_str())
    }

    /// The columns that are of no other relation than the type's own.
    pub(super) fn own_or_computed(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a, '_> {
        let all = self.result.shape.columns.iter().enumerate();
        let own = all.filter(|(at, _)| {
            let other = self.source_column(*at).zip(self.base);
            other.is_none_or(|(output, base)| base == output.relation)
        });
        own.map(|(at, column)| (at, column.name.as_str()))
    }

    /// The columns of the type's own relation, where a row may be without a row of it.
    pub(super) fn missing_together(&self) -> Vec<usize> {
        let may_be_missing = |base: usize| self.result.shape.may_be_missing(base);
        self.own_columns(&|_| self.base.is_some_and(may_be_missing))
    }

    /// The columns of the type's own relation that its table never has NULL in.
    pub(super) fn never_null(&self) -> Vec<usize> {
        self.own_columns(&Column::is_never_absent)
    }

    /// The columns of the type's own relation that `is` holds of.
    pub(super) fn own_columns(&self, is: &dyn Fn(&Column) -> bool) -> Vec<usize> {
        let all = self.result.shape.outputs.iter().enumerate();
        let own = all.filter(|(_, output)| {
            output.is_some_and(|output| Some(output.relation) == self.base && is(output.column))
        });
        own.map(|(at, _)| at).collect()
    }

    /// A column by its name, in any case where none is spelt so; none where several are.
    fn only_named(&self, name: &str, any_case: bool, is: &dyn Fn(usize) -> bool) -> Option<usize> {
        let only = |fits: &dyn Fn(&str) -> bool| {
            let columns = self.result.shape.columns.iter().enumerate();
            let mut fitting = columns.filter(|(at, column)| fits(&column.name) && is(*at));
            let first = fitting.next();
            first.filter(|_| fitting.next().is_none()).map(|(at, _)| at)
        };
        let exact = only(&|other| other == name);
        exact.or_else(|| only(&|other| any_case && other.eq_ignore_ascii_case(name)))
    }

    /// The column of the query that stands for a place, where `answer` does not say it. `attributes`: those that are this
    /// place and nothing else. `is_own`: whether the item type has a column of its own of a name.
    pub(super) fn of_place(
        &self,
        place: &ValuePath,
        attributes: &[&str],
        is_own: &dyn Fn(&str) -> bool,
    ) -> Option<usize> {
        let column = table_column(self.pass, place);
        let of_table = column.and_then(|(join, name, _)| self.column_of(join, name));
        // What the query makes is known by its name.
        let made = || attributes.iter().find_map(|path| self.derived_column(path));
        let called = || match column {
            Some((join, name, _)) if join.is_none() || !is_own(name) => {
                self.computed_column(name, true, attributes)
            }
            Some(_) => None,
            None => {
                let column = self.pass.scan.columns.get(place.column);
                let name = place.path.last().unwrap_or(&place.written);
                let is_slot = matches!(column, Some(ScanColumn::Slot)) && !is_own(name);
                let found = || {
                    self.named_column(name)
                        .or_else(|| self.computed_column(name, true, attributes))
                };
                is_slot.then(found).flatten()
            }
        };
        of_table.or_else(made).or_else(called)
    }
}
