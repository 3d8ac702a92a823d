//! What a read of the workload asks, in terms of item types: which rows, found by what, in which order, with which columns.

use std::collections::BTreeMap;

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table, TypeFamily};
use dynafold_sql::{
    ColumnRef, Comparator, Condition, ConditionTest, Constant, Operand, OperandValue, Parametrized,
    RowLimit, Select, SelectOutput, SetOperation, SqlQuery, Wrapping, parametrized, qualified,
};

use crate::path::{Path, Step};
use crate::structure::is_one_row;

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
    /// Whether case makes no difference.
    pub(crate) folds: bool,
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

const SEARCH: &str = "feed a search index (OpenSearch) from the table's stream";
const COUNTER: &str = "keep the figure in a counter item or an attribute that each write updates, or export the table and ask Athena";
const CURSOR: &str = "go on from the last key of the page before (LastEvaluatedKey), or from its sort key by a range";
const SEVERAL: &str = "ask one Query for each part and put the answers together in the application";
const REWRITE: &str = "write it as a join over the tables' keys with conditions by AND";
const MATERIALIZE: &str =
    "store the value as an attribute when the item is written, and ask for that";
const PATH: &str = "store each row's path from the top (`1#7#42`) and ask for it by begins_with, where the depth is bounded";
const CLOCK: &str = "hand the time in as a parameter";

/// Reads what a query asks. `name`: that of the statement, of which a partition key value is made where nothing is equal to
/// anything.
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
    let prepared = parametrized(sql, dbms);
    let prepared = prepared.map_err(|error| Unserved {
        why: format!("cannot be read: its SQL {error}"),
        instead: REWRITE,
    })?;
    let query = SqlQuery::read(&prepared.sql, Some(dbms)).map_err(|error| Unserved {
        why: format!("cannot be read: its SQL {error}"),
        instead: REWRITE,
    })?;
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

    fn rows(&self, root: usize, ways: &BTreeMap<usize, Vec<Step>>) -> Result<Ask<'c>, Unserved> {
        let mut ask = self.bare(root)?;
        self.conditions(root, ways, &mut ask)?;
        let mut outputs = Vec::new();
        let mut is_changed = false;
        for ((at, column), name, is_computed) in self.outputs()? {
            let Some(way) = ways.get(&at) else { continue };
            let path = Path {
                steps: way.clone(),
                column,
            };
            is_changed |= is_computed;
            outputs.push((path.shortened(), name));
        }
        // Without its key a row of the answer is not told from another.
        let key = ask.root.row_key().iter();
        let missing: Vec<&String> = key
            .filter(|column| !outputs.iter().any(|(path, _)| *path == Path::own(column)))
            .collect();
        for column in &missing {
            let mut name = (*column).clone();
            if outputs.iter().any(|(_, known)| *known == name) {
                name = format!("{}_{column}", ask.root.name.name);
            }
            outputs.push((Path::own(column), name));
        }
        if !missing.is_empty() {
            let missing: Vec<&str> = missing.iter().map(|column| column.as_str()).collect();
            ask.notes
                .push(format!("the key is answered too: {}", missing.join(", ")));
        }
        if is_changed {
            ask.notes.push(
                "the columns that it computes with are answered, and the application computes"
                    .to_owned(),
            );
        }
        is_changed |= !missing.is_empty();
        ask.outputs = distinct(outputs);
        ask.order = self.order(ways)?;
        let loose = self.compares_loosely();
        if !loose.is_empty() {
            is_changed = true;
            ask.notes.push(format!(
                "{} is compared by its bytes: write it in one form, such as lower case, where case or accents must not count",
                loose.join(", ")
            ));
        }
        // The table sorts texts by their bytes.
        let sorted = ask.order.iter().filter_map(|(path, _)| {
            let (_, column) = path.find(ask.root, self.catalog)?;
            by_bytes(column, self.catalog.dbms).map(|_| column.name.clone())
        });
        let sorted: Vec<String> = sorted.collect();
        if !sorted.is_empty() && !is_one_row(&ask) {
            is_changed = true;
            ask.notes.push(format!(
                "{} is sorted by its bytes, not by the collation of the database",
                sorted.join(", ")
            ));
        }
        // An inner join leaves out rows without the parent.
        for (at, way) in ways {
            let is_outer = self
                .select
                .relations
                .get(*at)
                .is_none_or(|relation| relation.may_be_missing);
            let Some(step) = way.last().filter(|_| !is_outer) else {
                continue;
            };
            let before = way.get(..way.len() - 1).unwrap_or_default();
            let child = before
                .last()
                .map_or(Some(ask.root), |step| self.catalog.table(&step.table));
            let Some(child) = child else { continue };
            let is_enforced = self.is_enforced(child, step);
            let may_lack = step.columns.iter().any(|column| {
                let path = Path {
                    steps: before.to_vec(),
                    column: column.clone(),
                };
                path.may_be_null(ask.root, self.catalog)
            });
            if may_lack || !is_enforced {
                let mut parents = self.catalog.table(&step.table).into_iter();
                let sure = parents.find_map(|parent| {
                    let mut columns = parent.columns.iter();
                    let not_key = |name: &String| !step.referenced.contains(name);
                    columns.find(|column| !column.nullable && not_key(&column.name))
                });
                if let Some(column) = sure {
                    ask.required.push(Path {
                        steps: way.clone(),
                        column: column.name.clone(),
                    });
                }
            }
        }
        if is_changed {
            ask.sql = self.written(root, ways, &[], &ask.outputs, &[])?;
        }
        Ok(ask)
    }

    /// Whether the database keeps a row's reference from leading nowhere, as far as its declarations tell.
    fn is_enforced(&self, child: &Table, step: &Step) -> bool {
        let mut keys = child.foreign_keys.iter();
        let declared = keys.any(|key| {
            key.references == step.table
                && key.columns.len() == step.columns.len()
                && key
                    .columns
                    .iter()
                    .all(|column| step.columns.contains(column))
                && key.enforcement == dynafold_relational::catalog::Enforcement::Enforced
        });
        declared && self.catalog.dbms != Dbms::Sqlite
    }

    /// The parent with its children, where the parent is one row: by its key.
    fn collection(
        &self,
        parent: usize,
        ways: &[BTreeMap<usize, Vec<Step>>],
        is_list: bool,
    ) -> Result<Option<Ask<'c>>, Unserved> {
        let Some((&table, own)) = self.tables.get(parent).zip(ways.get(parent)) else {
            return Ok(None);
        };
        let lowest = |at: &usize| {
            let mut others = ways.iter().enumerate();
            // No other relation leads to it.
            !own.contains_key(at)
                && !others.any(|(other, ways)| other != *at && ways.contains_key(at))
        };
        let children: Vec<usize> = (0..self.tables.len()).filter(lowest).collect();
        if children.is_empty() {
            return Ok(None);
        }
        let lead_here = children.iter().all(|child| {
            ways.get(*child)
                .is_some_and(|ways| ways.contains_key(&parent))
        });
        let covered = (0..self.tables.len()).all(|at| {
            own.contains_key(&at)
                || children
                    .iter()
                    .any(|child| ways.get(*child).is_some_and(|ways| ways.contains_key(&at)))
        });
        if !lead_here || !covered {
            return Ok(None);
        }
        let mut ask = self.bare(parent)?;
        let mut through = own.clone();
        // A child's reference is the parent's key.
        through.retain(|at, _| own.contains_key(at));
        if self.conditions(parent, &through, &mut ask).is_err() {
            return Ok(None);
        }
        let key = table.row_key();
        let is_pinned = !key.is_empty()
            && key.iter().all(|column| {
                ask.equal
                    .iter()
                    .any(|equal| equal.path == Path::own(column))
            })
            && ask.equal.len() == key.len();
        let is_whole =
            ask.range.is_none() && ask.when.is_empty() && self.query.limit == RowLimit::None;
        if !is_pinned {
            return Ok(None);
        }
        if !is_whole {
            return unserved(
                format!(
                    "reads one {} with its children, and asks for more than its key",
                    table.name.name
                ),
                "leave that out, and filter in the application",
            );
        }
        let outputs = self.outputs()?;
        // A parent of which nothing but the key is selected is no item of the answer.
        let beyond = outputs.iter().any(|((at, column), ..)| {
            own.contains_key(at) && !(*at == parent && key.contains(column))
        });
        if !beyond {
            return Ok(None);
        }
        let mut of_children: Vec<(usize, ChildAsk<'c>)> = Vec::new();
        for at in &children {
            let Some(&table) = self.tables.get(*at) else {
                continue;
            };
            let way = ways.get(*at).and_then(|ways| ways.get(&parent));
            of_children.push((
                *at,
                ChildAsk {
                    table,
                    way: way.cloned().unwrap_or_default(),
                    outputs: table
                        .row_key()
                        .iter()
                        .map(|column| (Path::own(column), column.clone()))
                        .collect(),
                    order: Vec::new(),
                },
            ));
        }
        if of_children
            .iter()
            .any(|(_, child)| child.table.row_key().is_empty() || child.table.name == table.name)
        {
            return Ok(None);
        }
        ask.outputs = key
            .iter()
            .map(|column| (Path::own(column), column.clone()))
            .collect();
        for ((at, column), name, _) in outputs {
            if let Some(way) = own.get(&at) {
                let path = Path {
                    steps: way.clone(),
                    column,
                };
                ask.outputs.push((path.shortened(), name));
                continue;
            }
            for (child, asked) in &mut of_children {
                if let Some(way) = ways.get(*child).and_then(|ways| ways.get(&at)) {
                    let path = Path {
                        steps: way.clone(),
                        column: column.clone(),
                    };
                    asked.outputs.push((path.shortened(), name.clone()));
                    break;
                }
            }
        }
        ask.outputs = distinct(ask.outputs);
        for (_, child) in &mut of_children {
            child.outputs = distinct(std::mem::take(&mut child.outputs));
        }
        if let [(at, child)] = of_children.as_mut_slice()
            && let Some(ways) = ways.get(*at)
            && let Ok(order) = self.order(ways)
            && order.iter().all(|(_, descends)| !descends)
        {
            let parent_key = |path: &Path| {
                path.find(child.table, self.catalog)
                    .is_some_and(|(of, _)| of.name == table.name)
            };
            child.order = order
                .into_iter()
                .filter(|(path, _)| !parent_key(path))
                .collect();
        }
        ask.sql = self.written(parent, own, &of_children, &ask.outputs, ways)?;
        ask.children = of_children.into_iter().map(|(_, child)| child).collect();
        let names: Vec<&str> = ask
            .children
            .iter()
            .map(|child| child.table.name.name.as_str())
            .collect();
        let is_outer = children.iter().all(|at| {
            self.select
                .relations
                .get(*at)
                .is_some_and(|relation| relation.may_be_missing)
        });
        if !is_outer {
            ask.notes.push(format!(
                "the answer has the {} itself also where it has no {}",
                table.name.name,
                names.join(" and no ")
            ));
        }
        if is_list {
            ask.notes
                .push("the lists are made by the application, of the items that come".to_owned());
        }
        Ok(Some(ask))
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

    /// Sorts the conditions into what is equal, what is a range, and what decides who is in an index.
    fn conditions(
        &self,
        root: usize,
        ways: &BTreeMap<usize, Vec<Step>>,
        ask: &mut Ask<'c>,
    ) -> Result<(), Unserved> {
        let path = |column: &ColumnRef| {
            let at = self.column(column)?;
            // By the shortest way; a child's column is the parent's where the join holds them equal.
            let mut paths: Vec<Path> = self
                .equal_to(&at)
                .into_iter()
                .filter_map(|(at, column)| {
                    let steps = ways.get(&at)?.clone();
                    Some(Path { steps, column }.shortened())
                })
                .collect();
            paths.sort_by_key(|path| path.steps.len());
            paths.into_iter().next()
        };
        for condition in &self.conditions {
            let text = &condition.text;
            let has_parameters = has_parameters(condition);
            match &condition.test {
                ConditionTest::Compare { left, op, right } if has_parameters => {
                    let folds = |operand: &Operand| matches!(operand.around.as_slice(), [Wrapping::Function(name)] if name == "lower");
                    let column = match &left.value {
                        OperandValue::Column(column) if left.around.is_empty() || folds(left) => {
                            path(column)
                        }
                        _ => None,
                    };
                    let parameter = match &right.value {
                        OperandValue::Parameter(name)
                            if right.around.is_empty() || folds(right) =>
                        {
                            Some(name.clone())
                        }
                        _ => None,
                    };
                    let Some((column, parameter)) = column.zip(parameter) else {
                        return unserved(
                            format!("asks for `{text}`, which is computed"),
                            MATERIALIZE,
                        );
                    };
                    match op {
                        Comparator::Equal => ask.equal.push(Equal {
                            path: column,
                            value: Asked::Parameter(parameter),
                            folds: folds(left),
                        }),
                        Comparator::Greater
                        | Comparator::GreaterOrEqual
                        | Comparator::Less
                        | Comparator::LessOrEqual
                            if !folds(left) =>
                        {
                            let bound = (
                                parameter,
                                matches!(op, Comparator::GreaterOrEqual | Comparator::LessOrEqual),
                            );
                            let is_low =
                                matches!(op, Comparator::Greater | Comparator::GreaterOrEqual);
                            let range = self.range(ask, column)?;
                            let side = if is_low {
                                &mut range.low
                            } else {
                                &mut range.high
                            };
                            if side.is_some() {
                                return unserved(
                                    format!("has `{text}` beside another bound"),
                                    REWRITE,
                                );
                            }
                            *side = Some(bound);
                        }
                        _ => return unserved(format!("asks for `{text}`"), MATERIALIZE),
                    }
                }
                ConditionTest::Between {
                    operand,
                    negated: false,
                    low,
                    high,
                } if has_parameters => {
                    let column = operand.column().and_then(path);
                    let bounds = low.parameter().zip(high.parameter());
                    let Some((column, (low, high))) = column.zip(bounds) else {
                        return unserved(
                            format!("asks for `{text}`, which is computed"),
                            MATERIALIZE,
                        );
                    };
                    let range = self.range(ask, column)?;
                    range.low = Some((low.to_owned(), true));
                    range.high = Some((high.to_owned(), true));
                }
                ConditionTest::Like { operand, pattern } => {
                    let parameter = match &pattern.value {
                        OperandValue::Expression(expression) => expression.parameters.first(),
                        _ => None,
                    };
                    let column = operand.column().and_then(path);
                    let is_exact = text.contains(" LIKE ")
                        && !text.contains(" NOT LIKE ")
                        && self.catalog.dbms != Dbms::Sqlite;
                    let found = column.zip(parameter).filter(|(column, _)| {
                        let found = column.find(ask.root, self.catalog);
                        is_exact && found.is_some_and(|(_, column)| !column.insensitive)
                    });
                    let Some((column, parameter)) = found else {
                        return match parameter {
                            Some(_) if text.contains(" LIKE ") && !text.contains(" NOT LIKE ") => {
                                unserved(
                                    format!(
                                        "compares the beginning of texts without regard to case: `{text}`"
                                    ),
                                    "store the text in lower case as an attribute, and ask for its beginning",
                                )
                            }
                            _ => unserved(format!("looks within texts: `{text}`"), SEARCH),
                        };
                    };
                    let parameter = parameter.clone();
                    if ask.range.is_some() {
                        return unserved("has ranges of two columns", REWRITE);
                    }
                    ask.range = Some(RangeAsk {
                        path: column,
                        low: None,
                        high: None,
                        prefix: Some(parameter),
                    });
                }
                ConditionTest::Using(_) => {}
                _ if has_parameters => {
                    return unserved(
                        format!("asks for `{text}`"),
                        if text.contains(" OR ") {
                            SEVERAL
                        } else {
                            REWRITE
                        },
                    );
                }
                _ => {
                    let lower = text.to_lowercase();
                    let is_timed = [
                        "now(",
                        "current_",
                        "sysdate",
                        "'now'",
                        "localtime",
                        "getdate(",
                    ];
                    if is_timed.iter().any(|word| lower.contains(word)) {
                        return unserved(format!("depends on the clock: `{text}`"), CLOCK);
                    }
                    if matches!(&condition.test, ConditionTest::Other(expression) if !expression.has_query)
                        && text.contains(" OR ")
                    {
                        return unserved(
                            format!("asks for one thing or another: `{text}`"),
                            SEVERAL,
                        );
                    }
                    let when = self.when(condition, root, ways)?;
                    ask.when.push(when);
                }
            }
        }
        self.constants(ask, &path);
        ask.when.sort();
        ask.equal.sort_by(|a, b| a.path.cmp(&b.path));
        let mut paths = ask.equal.windows(2);
        if paths.any(|pair| matches!(pair, [a, b] if a.path == b.path)) {
            return unserved("holds one column equal to two parameters", REWRITE);
        }
        Ok(())
    }

    /// What a column is by the query's own words, beside parameters, is a part of the key rather than an index of its own:
    /// one key serves all of its values.
    fn constants(&self, ask: &mut Ask<'c>, path: &dyn Fn(&ColumnRef) -> Option<Path>) {
        if ask.equal.is_empty() {
            return;
        }
        for condition in &self.conditions {
            let Some([left, right]) = condition.equal() else {
                continue;
            };
            let OperandValue::Constant(Constant::Text(text)) = &right.value else {
                continue;
            };
            let column = left.column().filter(|_| right.around.is_empty());
            let Some(path) = column.and_then(path) else {
                continue;
            };
            let is_exact = path
                .find(ask.root, self.catalog)
                .is_some_and(|(_, column)| {
                    !column.insensitive && column.data_type.family() == TypeFamily::Text
                });
            let is_known = ask.equal.iter().any(|equal| equal.path == path);
            if is_exact && !is_known && !text.is_empty() && !text.contains('#') {
                ask.when.retain(|when| when.said != condition.text);
                let value = Asked::Constant(text.clone());
                ask.equal.push(Equal {
                    path,
                    value,
                    folds: false,
                });
            }
        }
    }

    fn range<'a>(&self, ask: &'a mut Ask<'c>, path: Path) -> Result<&'a mut RangeAsk, Unserved> {
        let range = ask.range.get_or_insert_with(|| RangeAsk {
            path: path.clone(),
            low: None,
            high: None,
            prefix: None,
        });
        let column = path.find(ask.root, self.catalog).map(|(_, column)| column);
        if let Some(collation) = column.and_then(|column| column.collation.as_ref()) {
            return unserved(
                format!(
                    "asks for a range of texts by the collation {collation}, and the table compares bytes"
                ),
                "write COLLATE \"C\", BINARY or utf8mb4_bin where the order of bytes will do",
            );
        }
        if range.path != path || range.prefix.is_some() {
            return unserved(
                "has ranges of two columns",
                "ask for the narrower one, and leave the rest out by a filter in the application",
            );
        }
        Ok(range)
    }

    /// A condition without parameters, over the item type's names.
    fn when(
        &self,
        condition: &Condition,
        root: usize,
        ways: &BTreeMap<usize, Vec<Step>>,
    ) -> Result<When, Unserved> {
        let parents = std::cell::RefCell::new(Vec::<Vec<Step>>::new());
        let is_lost = std::cell::Cell::new(false);
        let root_name = self
            .tables
            .get(root)
            .map(|table| table.name.name.clone())
            .unwrap_or_default();
        let owner = |owner: Option<&str>, name: &str| {
            let mut relations = self.select.relations.iter();
            let found = match owner {
                Some(owner) => relations.position(|relation| {
                    relation
                        .called
                        .as_ref()
                        .is_some_and(|called| called.is(owner))
                }),
                None => {
                    let mut having = self.tables.iter().enumerate().filter(|(_, table)| {
                        table
                            .columns
                            .iter()
                            .any(|column| column.name.eq_ignore_ascii_case(name))
                    });
                    having.next().map(|(at, _)| at)
                }
            };
            // Of a query within it.
            let found = found?;
            if found == root {
                return Some(root_name.clone());
            }
            match ways.get(&found) {
                Some(way) => {
                    let mut parents = parents.borrow_mut();
                    let place = parents
                        .iter()
                        .position(|one| one == way)
                        .unwrap_or_else(|| {
                            parents.push(way.clone());
                            parents.len() - 1
                        });
                    Some(format!("parent_{place}"))
                }
                None => {
                    is_lost.set(true);
                    None
                }
            }
        };
        let text = qualified(&condition.text, self.catalog.dbms, &owner);
        match text.filter(|_| !is_lost.get()) {
            Some(text) => Ok(When {
                text,
                parents: parents.into_inner(),
                said: condition.text.clone(),
            }),
            None => unserved(format!("asks for `{}`", condition.text), REWRITE),
        }
    }

    fn order(&self, ways: &BTreeMap<usize, Vec<Step>>) -> Result<Vec<(Path, bool)>, Unserved> {
        let mut found = Vec::new();
        for key in self.query.order.iter().flatten() {
            let at = key.column.as_ref().and_then(|column| self.column(column));
            let path = at.and_then(|(at, column)| {
                let steps = ways.get(&at)?.clone();
                Some(Path { steps, column }.shortened())
            });
            let Some(path) = path else {
                return unserved("is sorted by what is computed", MATERIALIZE);
            };
            if !found.iter().any(|(known, _)| *known == path) {
                found.push((path, key.descending));
            }
        }
        Ok(found)
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

    /// The query of an answer, written anew: without what the application computes, and with outer joins to children.
    fn written(
        &self,
        root: usize,
        ways: &BTreeMap<usize, Vec<Step>>,
        children: &[(usize, ChildAsk<'c>)],
        outputs: &[(Path, String)],
        all: &[BTreeMap<usize, Vec<Step>>],
    ) -> Result<String, Unserved> {
        let dbms = self.catalog.dbms;
        let alias = |at: usize| {
            let called = self
                .select
                .relations
                .get(at)
                .and_then(|relation| relation.called.as_ref());
            called.map_or_else(String::new, |called| identifier(&called.text, dbms))
        };
        let mut selected: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let find = |ways: &BTreeMap<usize, Vec<Step>>, path: &Path| {
            ways.iter()
                .find(|(_, way)| **way == path.steps)
                .map(|(at, _)| *at)
        };
        let mut add = |at: usize, column: &str, name: &str, names: &mut Vec<String>| {
            names.push(name.to_owned());
            let own = format!("{}.{}", alias(at), identifier(column, dbms));
            selected.push(if column == name {
                own
            } else {
                format!("{own} AS {}", identifier(name, dbms))
            });
        };
        for (path, name) in outputs {
            if let Some(at) = find(ways, path) {
                add(at, &path.column, name, &mut names);
            }
        }
        for (at, child) in children {
            let Some(ways) = all.get(*at) else { continue };
            for (path, name) in &child.outputs {
                let name = child_name(&names, child.table, name);
                if let Some(at) = find(ways, path) {
                    add(at, &path.column, &name, &mut names);
                }
            }
        }
        let mut from = vec![root];
        let mut text = format!(
            "SELECT {} FROM {}",
            selected.join(", "),
            self.from(root, &alias(root))
        );
        let is_child = |at: usize| !ways.contains_key(&at);
        // Two lists of children are held against the parent, not against each other.
        let is_related = |one: usize, other: usize| {
            let leads =
                |from: usize, to: usize| all.get(from).is_some_and(|ways| ways.contains_key(&to));
            leads(one, other) || leads(other, one)
        };
        loop {
            let next = (0..self.tables.len())
                .filter(|at| !from.contains(at))
                .find_map(|at| {
                    let sides = self.pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
                    let sides = sides.filter(|(a, b)| {
                        a.0 == at
                            && from.contains(&b.0)
                            && (children.is_empty() || is_related(at, b.0))
                    });
                    let on = sides.map(|(a, b)| {
                        format!(
                            "{}.{} = {}.{}",
                            alias(a.0),
                            identifier(&a.1, dbms),
                            alias(b.0),
                            identifier(&b.1, dbms)
                        )
                    });
                    let on: Vec<String> = on.collect();
                    (!on.is_empty()).then_some((at, on))
                });
            let Some((at, on)) = next else { break };
            let is_outer = is_child(at)
                || self
                    .select
                    .relations
                    .get(at)
                    .is_some_and(|relation| relation.may_be_missing);
            let join = if is_outer { "LEFT JOIN" } else { "JOIN" };
            text.push_str(&format!(
                " {join} {} ON {}",
                self.from(at, &alias(at)),
                on.join(" AND ")
            ));
            from.push(at);
        }
        if from.len() != self.tables.len() {
            return unserved("joins tables without saying by which columns", REWRITE);
        }
        let mut conditions = Vec::new();
        for condition in &self.conditions {
            let owner = |owner: Option<&str>, name: &str| {
                let mut relations = self.select.relations.iter();
                let found = match owner {
                    Some(owner) => relations.position(|relation| {
                        relation
                            .called
                            .as_ref()
                            .is_some_and(|called| called.is(owner))
                    })?,
                    None => {
                        let mut having = self.tables.iter();
                        having.position(|table| {
                            table
                                .columns
                                .iter()
                                .any(|column| column.name.eq_ignore_ascii_case(name))
                        })?
                    }
                };
                let called = self.select.relations.get(found)?.called.as_ref()?;
                Some(called.text.clone())
            };
            match self.exactly(condition, &alias) {
                Some(exact) => conditions.push(exact),
                None => conditions.extend(qualified(&condition.text, dbms, &owner)),
            }
        }
        if !conditions.is_empty() {
            text.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
        }
        if children.is_empty()
            || children.len() == 1 && children.iter().all(|(_, child)| !child.order.is_empty())
        {
            let terms: Vec<String> = self
                .query
                .order
                .iter()
                .flatten()
                .filter_map(|key| {
                    let (at, column) = self.column(key.column.as_ref()?)?;
                    let direction = if key.descending { " DESC" } else { "" };
                    let found = self.tables.get(at).and_then(|table| table.column(&column));
                    let bytes = found.and_then(|column| by_bytes(column, dbms));
                    Some(format!(
                        "{}.{}{}{direction}",
                        alias(at),
                        identifier(&column, dbms),
                        bytes.unwrap_or_default()
                    ))
                })
                .collect();
            if !terms.is_empty() {
                text.push_str(&format!(" ORDER BY {}", terms.join(", ")));
            }
        }
        if let RowLimit::Rows(rows) = self.query.limit {
            text.push_str(&format!(" LIMIT {rows}"));
        }
        Ok(text)
    }

    /// An equality with a parameter that holds for the same bytes alone, where the column's collation takes other texts for
    /// equal too.
    fn exactly(&self, condition: &Condition, alias: &dyn Fn(usize) -> String) -> Option<String> {
        let [left, right] = condition.equal()?;
        let (column, parameter) = left.column().zip(right.parameter())?;
        let (at, name) = self.column(column)?;
        let found = self.tables.get(at)?.column(&name)?;
        let dbms = self.catalog.dbms;
        let own = format!("{}.{}", alias(at), identifier(&name, dbms));
        found.insensitive.then(|| match dbms {
            Dbms::Postgres => format!("CAST({own} AS text) COLLATE \"C\" = :{parameter}"),
            Dbms::Sqlite => format!("{own} COLLATE BINARY = :{parameter}"),
            Dbms::Mysql | Dbms::Mariadb => {
                format!(
                    "CAST(CONVERT({own} USING utf8mb4) AS BINARY) = CAST(:{parameter} AS BINARY)"
                )
            }
        })
    }

    /// Whether it compares a column whose collation takes different texts for equal.
    fn compares_loosely(&self) -> Vec<String> {
        let named = self
            .conditions
            .iter()
            .filter(|one| self.exactly(one, &|_| String::new()).is_some());
        let columns = named.filter_map(|one| Some(one.equal()?[0].column()?.name.text.clone()));
        columns.collect()
    }

    /// A table in FROM, with its alias where it has one.
    fn from(&self, at: usize, alias: &str) -> String {
        let name = self.table_name(at);
        if name == alias {
            name
        } else {
            format!("{name} {alias}")
        }
    }

    fn table_name(&self, at: usize) -> String {
        let Some(table) = self.tables.get(at) else {
            return String::new();
        };
        let dbms = self.catalog.dbms;
        let name = identifier(&table.name.name, dbms);
        let is_found = self
            .catalog
            .find(&table.name.name)
            .is_some_and(|found| found.name == table.name);
        if is_found {
            name
        } else {
            format!("{}.{name}", identifier(&table.name.schema, dbms))
        }
    }
}

/// What makes a database sort a column by its bytes, where it does not.
fn by_bytes(column: &Column, dbms: Dbms) -> Option<String> {
    let collation = column.collation.as_ref()?;
    Some(match dbms {
        Dbms::Postgres => " COLLATE \"C\"".to_owned(),
        Dbms::Sqlite => " COLLATE BINARY".to_owned(),
        Dbms::Mysql | Dbms::Mariadb => {
            // A collation begins with its character set.
            let charset = collation.split('_').next().unwrap_or("utf8mb4");
            format!(" COLLATE {charset}_bin")
        }
    })
}

/// What a child's column is called in a result that has one of that name already.
#[must_use]
pub(crate) fn child_name(taken: &[String], table: &Table, name: &str) -> String {
    if taken.iter().any(|known| known == name) {
        format!("{}_{name}", table.name.name)
    } else {
        name.to_owned()
    }
}

/// A name as SQL takes it: in quotes where it needs them.
#[must_use]
pub(crate) fn identifier(name: &str, dbms: Dbms) -> String {
    let quote = match dbms {
        Dbms::Mysql | Dbms::Mariadb => '`',
        Dbms::Postgres | Dbms::Sqlite => '"',
    };
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(is_inner)
        && !dynafold_sql::is_keyword(name);
    if is_plain {
        return name.to_owned();
    }
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
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

fn has_parameters(condition: &Condition) -> bool {
    let operands: Vec<&Operand> = match &condition.test {
        ConditionTest::Compare { left, right, .. } => vec![left, right],
        ConditionTest::Between {
            operand, low, high, ..
        } => vec![operand, low, high],
        ConditionTest::In { operand, list, .. } => std::iter::once(operand).chain(list).collect(),
        ConditionTest::Like { operand, pattern } => vec![operand, pattern],
        ConditionTest::Null { operand, .. } => vec![operand],
        ConditionTest::Using(_) => Vec::new(),
        ConditionTest::Other(expression) => return !expression.parameters.is_empty(),
    };
    operands
        .iter()
        .any(|operand| !operand.parameters().is_empty())
}
