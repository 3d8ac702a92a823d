//! What a read of the workload asks, in terms of item types: which rows, found by what, in which order, with which columns.

mod collection;
mod condition;
mod rows;
mod sql;

use std::collections::BTreeMap;

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table};
use dynafold_sql::{
    ColumnRef, Condition, ConditionTest, Operand, OperandValue, Parametrized, RowLimit, Select,
    SelectOutput, SetOperation, SqlQuery, UnreadableSql, Wrapping, parametrized,
};

use crate::path::{Path, Step};
pub(crate) use sql::{child_name, identifier};

/// A read that one Query may answer.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'c> {
    /// The item type's table: of an item collection that of its parent.
    pub(crate) root: &'c Table,
    /// What is equal to a parameter.
    pub(crate) equal: Vec<Equal>,
    /// The range of a column.
    pub(crate) range: Option<RangeAsk>,
    /// Conditions without parameters, in words of SQL over the table's name and the aliases of joins.
    pub(crate) when: Vec<When>,
    /// The order, with whether it descends.
    pub(crate) order: Vec<(Path, bool)>,
    /// Most rows.
    pub(crate) limit: Option<u64>,
    /// What is selected of the item type: the column, and what the result calls it.
    pub(crate) outputs: Vec<(Path, String)>,
    /// Children that are answered together with their parent.
    pub(crate) children: Vec<ChildAsk<'c>>,
    /// Parents without which a row is not answered, where it may be without: the columns that lead to them.
    pub(crate) required: Vec<Path>,
    /// The query that `verify --patterns` runs.
    pub(crate) sql: String,
    /// How many requests: one, or one for each value of a list.
    pub(crate) requests: u64,
    /// What the answer leaves to the application, and what was changed.
    pub(crate) notes: Vec<String>,
}

/// A column that is equal to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Equal {
    /// The column.
    pub(crate) path: Path,
    /// What it is equal to.
    pub(crate) value: Asked,
    /// Whether the column is compared in lower case.
    pub(crate) folds: bool,
    /// Whether the parameter is too.
    pub(crate) folds_parameter: bool,
}

/// What a column is equal to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A parameter.
    Parameter(String),
    /// A text that the query says, beside parameters.
    Constant(String),
}

/// A range of a column's values, by parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RangeAsk {
    /// The column.
    pub(crate) path: Path,
    /// The lower bound, and whether it is taken in.
    pub(crate) low: Option<(String, bool)>,
    /// The upper bound, and whether it is taken in.
    pub(crate) high: Option<(String, bool)>,
    /// What the text begins with.
    pub(crate) prefix: Option<String>,
}

/// A condition that decides which rows are in an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct When {
    /// Its words, with `{0}` and so on in the place of the aliases of parents.
    pub(crate) text: String,
    /// The ways to those parents.
    pub(crate) parents: Vec<Vec<Step>>,
    /// The condition as the query says it.
    pub(crate) said: String,
}

/// Rows that stand in the item collection of their parent.
#[derive(Debug, Clone)]
pub(crate) struct ChildAsk<'c> {
    /// Their table.
    pub(crate) table: &'c Table,
    /// The way to the parent.
    pub(crate) way: Vec<Step>,
    /// What is selected of them.
    pub(crate) outputs: Vec<(Path, String)>,
    /// Their order.
    pub(crate) order: Vec<(Path, bool)>,
}

/// Why no Query serves a read, and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unserved {
    /// Why. Completes a sentence that begins with "it".
    pub(crate) why: String,
    /// What is usual instead.
    pub(crate) instead: &'static str,
}

fn unserved<T>(why: impl Into<String>, instead: &'static str) -> Result<T, Unserved> {
    let why = why.into();
    Err(Unserved { why, instead })
}

fn unread(error: &UnreadableSql) -> Unserved {
    Unserved {
        why: format!("cannot be read: its SQL {error}"),
        instead: "correct it, or leave it out of the workload",
    }
}

const SEARCH: &str = "feed a search index (OpenSearch) from the table's stream";
const COUNTER: &str = "keep the figure in a counter item or an attribute that each write updates, or export the table and ask Athena";
const CURSOR: &str = "go on from the last key of the page before (LastEvaluatedKey), or from its sort key by a range";
const SEVERAL: &str = "ask one Query for each part and put the answers together in the application";
const REWRITE: &str = "write it as a join over the tables' keys with conditions by AND";
const MATERIALIZE: &str =
    "store the value as an attribute when the item is written, and ask for that";
const PATH: &str = "store each row's path from the top (`1#7#42`) and ask for it by begins_with, where the depth is bounded";
const CLOCK: &str = "hand the time in as a parameter";

/// Reads what a query asks: as rows of one item type, as an item collection, or both.
///
/// # Errors
///
/// [`Unserved`] where no Query serves it, with the way out.
pub(crate) fn ask<'c>(sql: &str, catalog: &'c Catalog) -> Result<Vec<Ask<'c>>, Unserved> {
    let dbms = catalog.dbms;
    let upper = sql.to_uppercase();
    if upper.contains("RECURSIVE") {
        return unserved("walks a hierarchy of any depth", PATH);
    }
    if upper.contains("NULLS FIRST") || upper.contains("NULLS LAST") {
        return unserved(
            "says where NULL is sorted",
            "leave that out, or sort in the application",
        );
    }
    let prepared = parametrized(sql, dbms);
    let prepared = prepared.map_err(|error| unread(&error))?;
    let query = SqlQuery::read(&prepared.sql, Some(dbms)).map_err(|error| unread(&error))?;
    if query.set != SetOperation::One {
        return unserved("puts several queries together", SEVERAL);
    }
    if !query.with.is_empty() {
        return unserved("has a WITH", REWRITE);
    }
    let Some(select) = query.select() else {
        return unserved("is not one SELECT", REWRITE);
    };
    let mut strange = query.strange.iter().chain(&select.strange);
    if let Some(strange) = strange.next() {
        return unserved(format!("has {strange}"), REWRITE);
    }
    if query.offset != RowLimit::None {
        return unserved("skips rows by OFFSET", CURSOR);
    }
    let reading = Reading::new(catalog, &query, select, &prepared)?;
    reading.asks()
}

/// A column of a relation.
type At = (usize, String);

struct Reading<'c, 'q> {
    catalog: &'c Catalog,
    query: &'q SqlQuery,
    select: &'q Select,
    prepared: &'q Parametrized,
    tables: Vec<&'c Table>,
    /// Columns that the joins hold equal.
    pairs: Vec<(At, At)>,
    /// Conditions that are no joins.
    conditions: Vec<&'q Condition>,
}

impl<'c, 'q> Reading<'c, 'q> {
    fn new(
        catalog: &'c Catalog,
        query: &'q SqlQuery,
        select: &'q Select,
        prepared: &'q Parametrized,
    ) -> Result<Self, Unserved> {
        let mut tables = Vec::new();
        for at in 0..select.relations.len() {
            match select.table(at, catalog) {
                Some(table) if table.is_stored() => tables.push(table),
                Some(table) => {
                    let why = format!("reads the {} {}", table.kind.word(), table.name.name);
                    return unserved(why, "write it over the tables below");
                }
                None => return unserved("reads what is no table", REWRITE),
            }
        }
        if tables.is_empty() {
            return unserved("reads no table", REWRITE);
        }
        let mut reading = Self {
            catalog,
            query,
            select,
            prepared,
            tables,
            pairs: Vec::new(),
            conditions: Vec::new(),
        };
        let on = select.relations.iter().flat_map(|relation| &relation.on);
        let all: Vec<&Condition> = select.conditions.iter().chain(on).collect();
        for condition in &all {
            if let ConditionTest::Using(name) = &condition.test {
                let having = reading.tables.iter().enumerate();
                let having = having.filter_map(|(at, table)| {
                    let mut columns = table.columns.iter();
                    let column = columns.find(|column| name.is(&column.name))?;
                    Some((at, column.name.clone()))
                });
                let having: Vec<At> = having.collect();
                if let Some((first, others)) = having.split_first() {
                    let pairs = others.iter().map(|other| (first.clone(), other.clone()));
                    reading.pairs.extend(pairs);
                }
            }
        }
        let outer = select.relations.iter().flat_map(|relation| &relation.on);
        let outer: Vec<*const Condition> = outer.map(std::ptr::from_ref).collect();
        for condition in all {
            if matches!(condition.test, ConditionTest::Using(_)) {
                continue;
            }
            let sides = condition.equal().and_then(|[left, right]| {
                let left = reading.column(left.column()?)?;
                let right = reading.column(right.column()?)?;
                (left.0 != right.0).then_some((left, right))
            });
            match sides {
                Some(pair) => reading.pairs.push(pair),
                None if outer.contains(&std::ptr::from_ref(condition)) => {
                    let why = format!("has `{}` in the ON of an outer join", condition.text);
                    return unserved(why, REWRITE);
                }
                None => reading.conditions.push(condition),
            }
        }
        Ok(reading)
    }

    /// The relation and the column that a name means.
    fn column(&self, wanted: &ColumnRef) -> Option<At> {
        let having = self.tables.iter().enumerate().filter_map(|(at, table)| {
            let relation = self.select.relations.get(at)?;
            let is_owner = wanted.owner.as_ref().is_none_or(|owner| {
                let called = relation.called.as_ref();
                called.is_some_and(|called| called.is(&owner.text))
            });
            let mut columns = table.columns.iter().filter(|_| is_owner);
            let column = columns.find(|column| wanted.name.is(&column.name))?;
            Some((at, column.name.clone()))
        });
        let having: Vec<At> = having.collect();
        let (first, others) = having.split_first()?;
        // Several are one where USING holds them equal.
        let is_equal = |other: &At| self.equal_to(first).contains(other);
        others.iter().all(is_equal).then(|| first.clone())
    }

    /// All columns that the joins hold equal to one, itself among them.
    fn equal_to(&self, of: &At) -> Vec<At> {
        let mut found = vec![of.clone()];
        let mut next = 0;
        while let Some(at) = found.get(next).cloned() {
            next += 1;
            for (one, other) in &self.pairs {
                for (one, other) in [(one, other), (other, one)] {
                    if *one == at && !found.contains(other) {
                        found.push(other.clone());
                    }
                }
            }
        }
        found
    }

    /// The parents of a relation: those of which each of its rows has one at most.
    fn parents(&self, of: usize) -> Vec<(usize, Step)> {
        let mut found = Vec::new();
        for (at, table) in self.tables.iter().enumerate() {
            if at == of {
                continue;
            }
            let sides = self.pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
            let sides = sides.filter(|(a, b)| a.0 == of && b.0 == at);
            let sides: Vec<(&str, &str)> = sides.map(|(a, b)| (&*a.1, &*b.1)).collect();
            let mut keys = table.keys(self.catalog.dbms);
            let key = keys.find(|key| {
                let mut columns = key.columns.iter();
                columns.all(|column| sides.iter().any(|(_, there)| there == column))
            });
            let Some(key) = key else { continue };
            let own = key.columns.iter().filter_map(|column| {
                let mut sides = sides.iter();
                sides
                    .find(|(_, there)| there == column)
                    .map(|(own, _)| (*own).to_owned())
            });
            let step = Step {
                columns: own.collect(),
                table: table.name.clone(),
                referenced: key.columns.to_vec(),
            };
            found.push((at, step));
        }
        found
    }

    /// The ways to all relations that are parents of one, or parents of parents, itself among them.
    fn ways(&self, from: usize) -> BTreeMap<usize, Vec<Step>> {
        let mut found = BTreeMap::from([(from, Vec::new())]);
        let mut rest = std::collections::VecDeque::from([from]);
        while let Some(at) = rest.pop_front() {
            let way = found.get(&at).cloned().unwrap_or_default();
            for (parent, step) in self.parents(at) {
                if let std::collections::btree_map::Entry::Vacant(entry) = found.entry(parent) {
                    let mut way = way.clone();
                    way.push(step);
                    entry.insert(way);
                    rest.push_back(parent);
                }
            }
        }
        found
    }

    /// What is asked: as rows of one item type, and as an item collection.
    fn asks(&self) -> Result<Vec<Ask<'c>>, Unserved> {
        let ways: Vec<BTreeMap<usize, Vec<Step>>> =
            (0..self.tables.len()).map(|at| self.ways(at)).collect();
        let reaches_all = |at: &usize| {
            ways.get(*at)
                .is_some_and(|ways| ways.len() == self.tables.len())
        };
        let may_be_missing = |at: usize| {
            self.select
                .relations
                .get(at)
                .is_none_or(|relation| relation.may_be_missing)
        };
        let row = (0..self.tables.len()).find(reaches_all);
        let is_list = self.aggregates()?;
        let mut found = Vec::new();
        let mut failed = None;
        if let Some(root) = row.filter(|root| !may_be_missing(*root) && !is_list) {
            match self.rows(root, ways.get(root).unwrap_or(&BTreeMap::new())) {
                Ok(ask) => found.push(ask),
                Err(why) => failed = Some(why),
            }
        }
        for parent in 0..self.tables.len() {
            match self.collection(parent, &ways, is_list) {
                Ok(Some(ask)) => found.push(ask),
                Ok(None) => {}
                Err(why) => failed = failed.or(Some(why)),
            }
        }
        if found.is_empty() {
            let no_tree = Unserved {
                why: "joins tables otherwise than from children to their parents, or has two lists of children without the key of their parent".to_owned(),
                instead: SEVERAL,
            };
            return Err(failed.unwrap_or(no_tree));
        }
        Ok(found)
    }

    /// Whether it gathers rows into lists, as a collection does.
    fn aggregates(&self) -> Result<bool, Unserved> {
        const LISTS: [&str; 7] = [
            "array_agg",
            "string_agg",
            "group_concat",
            "json_agg",
            "jsonb_agg",
            "json_arrayagg",
            "json_group_array",
        ];
        const FIGURES: [&str; 8] = [
            "count", "sum", "avg", "min", "max", "stddev", "variance", "total",
        ];
        let mut is_list = false;
        for output in &self.select.outputs {
            let SelectOutput::One { value, .. } = output else {
                continue;
            };
            for function in functions(value) {
                if FIGURES.contains(&&*function) {
                    return unserved(format!("computes {function}()"), COUNTER);
                }
                is_list |= LISTS.contains(&&*function);
            }
            if let OperandValue::Expression(expression) = &value.value
                && (expression.has_query || expression.has_window)
            {
                return unserved(
                    "selects what a query or a window over other rows gives",
                    COUNTER,
                );
            }
        }
        if self.select.having || self.select.groups && !is_list {
            return unserved("groups rows", COUNTER);
        }
        if self.select.distinct {
            return unserved(
                "drops equal rows by DISTINCT",
                "write an item for each distinct value, or drop them in the application",
            );
        }
        Ok(is_list)
    }

    fn bare(&self, root: usize) -> Result<Ask<'c>, Unserved> {
        let Some(&table) = self.tables.get(root) else {
            return unserved("reads no table", REWRITE);
        };
        let name = &table.name.name;
        if !table.readable {
            return unserved(
                format!("reads {name}, which the user may not read"),
                "grant SELECT on it",
            );
        }
        if table.row_key().is_empty() {
            return unserved(
                format!("reads {name}, whose rows no key tells apart"),
                "declare a primary key",
            );
        }
        let limit = match &self.query.limit {
            RowLimit::None => None,
            RowLimit::Rows(0) => return unserved("asks for no rows", "leave it out"),
            RowLimit::Rows(rows) => Some(*rows),
            RowLimit::Parameter(_) | RowLimit::Unknown => {
                return unserved(
                    "has a LIMIT that is no number",
                    "write the size of a page as a number",
                );
            }
        };
        let mut notes = Vec::new();
        let mut requests = 1;
        for (parameter, count) in &self.prepared.lists {
            requests *= u64::try_from(*count).unwrap_or(u64::MAX).max(1);
            notes.push(format!("one request for each value of `{parameter}`"));
        }
        if requests > 1 && limit.is_some() {
            notes.push(
                "each request gives a page of its own, which the application merges".to_owned(),
            );
        }
        Ok(Ask {
            root: table,
            equal: Vec::new(),
            range: None,
            when: Vec::new(),
            order: Vec::new(),
            limit,
            outputs: Vec::new(),
            children: Vec::new(),
            required: Vec::new(),
            sql: self.prepared.sql.clone(),
            requests,
            notes,
        })
    }

    fn order(&self, ways: &BTreeMap<usize, Vec<Step>>) -> Result<Vec<(Path, bool)>, Unserved> {
        let mut found = Vec::new();
        let root = ways
            .iter()
            .find(|(_, way)| way.is_empty())
            .map(|(at, _)| at);
        for key in self.query.order.iter().flatten() {
            let at = key.column.as_ref().and_then(|column| self.column(column));
            let at_table = root.and_then(|root| self.tables.get(*root)).copied();
            let path = at.and_then(|(at, column)| {
                let steps = ways.get(&at)?.clone();
                Some(Path { steps, column }.shortened())
            });
            let Some(path) = path else {
                return unserved("is sorted by what is computed", MATERIALIZE);
            };
            if let Some(why) = at_table.and_then(|at| self.unsorted(at, &path)) {
                return unserved(why, MATERIALIZE);
            }
            if !found.iter().any(|(known, _)| *known == path) {
                found.push((path, key.descending));
            }
        }
        Ok(found)
    }

    /// Why the text of a column's values does not sort as the database sorts them; `None` where it does.
    fn unsorted(&self, table: &Table, path: &Path) -> Option<String> {
        let (_, column) = path.find(table, self.catalog)?;
        let is_mysql = matches!(self.catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
        let is_sorted = match &column.data_type {
            DataType::Integer { .. }
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Boolean
            | DataType::Date
            | DataType::Timestamp { .. }
            | DataType::Uuid
            | DataType::Dynamic => true,
            // MySQL's times may be negative, or longer than a day; with an offset the moment counts.
            DataType::Time { zone, .. } => !is_mysql && !zone,
            DataType::Text { .. } => column.is_plain_text(self.catalog.dbms),
            _ => false,
        };
        (!is_sorted).then(|| {
            format!(
                "sorts by {} ({}), whose order is not that of its text",
                column.name, column.declared
            )
        })
    }

    /// The columns of its result: where each is from, what it is called, and whether more is done with it.
    fn outputs(&self) -> Result<Vec<(At, String, bool)>, Unserved> {
        let mut found = Vec::new();
        // The bytes of MySQL's geometries stand as text in items, and are compared with nothing.
        let is_mysql = matches!(self.catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
        let is_geometry = move |column: &Column| is_mysql && column.data_type == DataType::Printed;
        let has_geometry = self
            .tables
            .iter()
            .flat_map(|table| &table.columns)
            .any(is_geometry);
        let all = |at: usize| {
            let table = self.tables.get(at);
            let columns = table.into_iter().flat_map(|table| &table.columns);
            let shown = columns.filter(move |column| !column.invisible && !is_geometry(column));
            shown.map(move |column| ((at, column.name.clone()), column.name.clone(), has_geometry))
        };
        for output in &self.select.outputs {
            match output {
                SelectOutput::All => found.extend((0..self.tables.len()).flat_map(all)),
                SelectOutput::AllOf(path) => {
                    let at = self.select.relations.iter().position(|relation| {
                        let called = relation.called.as_ref().zip(path.last());
                        called.is_some_and(|(called, name)| called.is(&name.text))
                    });
                    let Some(at) = at else {
                        return unserved("selects `*` of what is no table", REWRITE);
                    };
                    found.extend(all(at));
                }
                SelectOutput::One { name, value } => {
                    let is_computed = value.column().is_none();
                    for column in value.columns() {
                        let Some(at) = self.column(column) else {
                            return unserved(
                                format!(
                                    "selects `{}`, of which it is not clear whose it is",
                                    column.name.text
                                ),
                                "write the table's alias before it",
                            );
                        };
                        let own = at.1.clone();
                        let name = name
                            .as_ref()
                            .filter(|_| !is_computed)
                            .map_or(own, |name| name.text.clone());
                        found.push((at, name, is_computed));
                    }
                    if value.columns().is_empty()
                        && !matches!(value.value, OperandValue::Constant(_))
                    {
                        return unserved("selects what no column gives", REWRITE);
                    }
                }
            }
        }
        Ok(found)
    }
}

fn distinct(outputs: Vec<(Path, String)>) -> Vec<(Path, String)> {
    let mut found: Vec<(Path, String)> = Vec::new();
    for (path, name) in outputs {
        if !found.iter().any(|(known, _)| *known == path) {
            found.push((path, name));
        }
    }
    found
}

fn functions(operand: &Operand) -> Vec<String> {
    let around = operand.around.iter().filter_map(|wrapping| match wrapping {
        Wrapping::Function(name) => Some(name.clone()),
        Wrapping::Cast(_) | Wrapping::Collate(_) => None,
    });
    let inner = match &operand.value {
        OperandValue::Expression(expression) => expression.functions.clone(),
        _ => Vec::new(),
    };
    around.chain(inner).collect()
}

/// Whether a read finds one row at most: by all of its key.
#[must_use]
pub(crate) fn is_one_row(ask: &Ask<'_>) -> bool {
    let mut key = ask.root.row_key().iter();
    !ask.root.row_key().is_empty()
        && key.all(|column| {
            let mut equal = ask.equal.iter();
            equal.any(|equal| equal.path == Path::own(column))
        })
}
