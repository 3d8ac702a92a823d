//! What a read of the workload asks, in terms of item types: which rows, found by what, in which order, with which columns.

mod collection;
mod comparison;
mod condition;
mod figures;
mod filter;
mod note;
mod rows;
mod sql;

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{each_once, free_name, has_word, joined, text_if, whole};
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, Enforcement, ForeignKey, Table, TableName, sorts_by_bytes,
};
use dynafold_sql::{
    ColumnRef, Condition, ConditionTest, Constant, Lists, Name, Operand, OperandValue,
    Parametrized, RelationSource, RowLimit, Select, SelectOutput, SetOperation, SortKey, SqlQuery,
    UnreadableSql, ValueList, Wrapping, identifier, is_aggregate, parametrized,
};

use crate::observed::Observed;
use crate::path::{Path, Step};
use crate::writes::Values;
pub(crate) use collection::CHILDREN_BY_KEY;
use comparison::refuse_join;
pub(crate) use comparison::why_mixed;
pub(crate) use figures::{Figure, FigureQuery, TOTAL, figure_query, is_total, unkept_figures};
pub(crate) use filter::{Filter, Test, Value, by_filter, by_index, without_constants};
pub(crate) use note::Note;
use note::note_names;
pub(crate) use rows::{limit_is_ambiguous, note_ties};
pub(crate) use sql::{child_name, ignores_case, is_loose};

/// A read that one Query may answer.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing that the application does, or that the query reads"
)]
#[derive(Debug, Clone)]
pub(crate) struct Ask<'c> {
    /// The item type's table: of an item collection that of its parent.
    pub(crate) root: &'c Table,
    /// What is equal to a parameter.
    pub(crate) equal: Vec<Equal>,
    /// The range of a column that the key finds.
    pub(crate) range: Option<RangeAsk>,
    /// What leaves items out after they were read.
    pub(crate) filters: Vec<Filter>,
    /// The conditions that some of these filters stand for: how many rows meet them may be counted.
    pub(crate) filtered: Vec<When>,
    /// Conditions without parameters, in words of SQL over the table's name and the aliases of joins.
    pub(crate) when: Vec<When>,
    /// The order, with whether it descends.
    pub(crate) order: Vec<(Path, bool)>,
    /// Most rows.
    pub(crate) limit: Option<u64>,
    /// Whether the application says how many, or any will do: the access pattern then has no limit.
    pub(crate) is_page: bool,
    /// Whether the application computes figures from all rows of the answer.
    pub(crate) computes: bool,
    /// Whether a table is read twice, so that its columns have to be told apart.
    pub(crate) is_twice: bool,
    /// Whether the application sorts.
    pub(crate) sorts: bool,
    /// The column that no key sorts as the database does, with the reason.
    pub(crate) unsortable: Option<String>,
    /// What is selected of the item type: the column, and what the result calls it.
    pub(crate) outputs: Vec<(Path, String)>,
    /// Children that are answered together with their parent.
    pub(crate) children: Vec<ChildAsk<'c>>,
    /// The other item of each row, with its large columns, where one key of an index finds both.
    pub(crate) twin: Option<Twin<'c>>,
    /// Parents of which a second request reads columns, by the references in the answer.
    pub(crate) referred: Vec<Referred>,
    /// Parents without which a row is not answered, where it may be without: the columns that lead to them.
    pub(crate) required: Vec<Path>,
    /// The query that `verify --patterns` runs.
    pub(crate) sql: String,
    /// The same without order and limit, where it is sorted.
    pub(crate) unsorted: Option<String>,
    /// The same read by its row's key alone, where it asks for more: the application leaves the row out. For a row that is in
    /// several items, of which a filter sees each by itself.
    pub(crate) by_row: Option<Box<Ask<'c>>>,
    /// How many requests: one, or one for each value of a list and for each shard.
    pub(crate) requests: u64,
    /// Over how many shards its items are spread; 1 where they are not.
    pub(crate) shards: u64,
    /// Whether it sorts by texts that escaped keys have in their order only where no words stand in the sort key.
    pub(crate) is_bare: bool,
    /// Whether the index finds the keys alone, and the items are then read by these.
    pub(crate) fetches: bool,
    /// What the answer leaves to the application, and what was changed.
    pub(crate) notes: Vec<Note>,
    pub(crate) clauses: Clauses,
}

/// What the SQL of a read says, also where a request leaves it to the application.
#[derive(Debug, Clone)]
pub(crate) struct Clauses {
    /// The columns that its conditions have, joins left out.
    pub(crate) compared: BTreeSet<(TableName, String)>,
    /// Those that it sorts by, or of which it asks the greatest or the least value.
    pub(crate) sorted: BTreeSet<(TableName, String)>,
    /// Whether it skips rows.
    pub(crate) skips: bool,
    /// Whether it has DISTINCT, and may have rows that this merges.
    pub(crate) distinct: bool,
}

impl<'c> Ask<'c> {
    pub(crate) fn note(&mut self, note: impl Into<Note>) {
        self.notes.push(note.into());
    }

    /// Whether a row of its answer stands for several: by figures, by groups or by DISTINCT.
    pub(crate) fn merges(&self) -> bool {
        self.computes || self.clauses.distinct
    }

    /// What an index has to hold of the outputs.
    pub(crate) fn held(&self) -> &[(Path, String)] {
        if self.fetches { &[] } else { &self.outputs }
    }

    /// The conditions without parameters, those that stand in the key as constants too.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &When> {
        let constants = self.equal.iter().filter_map(|equal| equal.when.as_ref());
        self.when.iter().chain(constants)
    }

    /// The items of each row that its key finds.
    pub(crate) fn items_of_row(&self) -> u64 {
        1 + u64::from(self.twin.is_some())
    }

    /// The tables of its item types.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &'c Table> {
        self.types().map(|(table, _)| table)
    }

    /// The same with what is selected of each.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&'c Table, &[(Path, String)])> {
        let children = self.children.iter();
        let children = children.map(|child| (child.table, &*child.outputs));
        let twin = self.twin.iter().map(|twin| (twin.table, &*twin.outputs));
        let types = std::iter::once((self.root, &*self.outputs));
        types.chain(children).chain(twin)
    }

    /// The columns by which it finds, sorts and leaves out rows, without the conditions of indexes.
    pub(crate) fn compared(&self) -> impl Iterator<Item = &Path> {
        let equal = self.equal.iter().map(|equal| &equal.path);
        let range = self.range.iter().map(|range| &range.path);
        let filters = self.filters.iter().map(|filter| &filter.path);
        let order = self.order.iter().map(|(path, _)| path);
        equal.chain(range).chain(filters).chain(order)
    }

    /// Leaves the order to the application.
    pub(crate) fn leave_order(&mut self) {
        self.order.clear();
        self.sorts = true;
        self.is_page = false;
        self.notes
            .retain(|note| !matches!(note, Note::Offset | Note::Merge(_)));
        let note = if self.limit.take().is_some() {
            "the application sorts and applies the LIMIT"
        } else {
            "the application sorts"
        };
        self.note(note);
    }

    /// Whether a column is equal to something as it is: of one that is so in lower case alone several texts may be found.
    pub(crate) fn has_equal(&self, path: &Path) -> bool {
        self.equal
            .iter()
            .any(|equal| equal.path == *path && !equal.folds)
    }

    /// The same read by two requests in a row: the index gives keys, by which the items are then read whole. `None` where
    /// nothing is gained by that: of a collection, over shards.
    pub(crate) fn fetching(&self) -> Option<Self> {
        let is_plain = self.children.is_empty() && self.shards == 1;
        is_plain.then(|| {
            let mut found = self.clone();
            found.fetches = true;
            found.note(
                "two requests in a row: the index gives the keys, then BatchGetItem reads the items",
            );
            found
        })
    }
}

/// A parent of which a second request reads columns.
#[derive(Debug, Clone)]
pub(crate) struct Referred {
    /// The way to the row that refers to it: nothing for the read's own rows.
    pub(crate) before: Vec<Step>,
    pub(crate) step: Step,
    /// With what the result calls them.
    pub(crate) columns: Vec<(String, String)>,
}

impl Referred {
    /// What holds its key.
    pub(crate) fn references(&self) -> impl Iterator<Item = Path> {
        let columns = self.step.columns.iter();
        columns.map(|column| Path::of(&self.before, column))
    }

    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|(known, _)| known == column)
    }

    /// Whether the second request reads what a path ends at.
    pub(crate) fn reads(&self, path: &Path) -> bool {
        self.leads_to(path) && self.has(&path.column)
    }

    /// Whether a path ends at this parent.
    pub(crate) fn leads_to(&self, path: &Path) -> bool {
        path.steps.split_last() == Some((&self.step, &*self.before))
    }

    /// Whether a condition of the index has one of the columns: then its copy stays.
    fn is_compared(&self, ask: &Ask<'_>) -> bool {
        ask.conditions().any(|when| {
            let mut ways = when.parents.iter();
            let mut columns = self.columns.iter();
            ways.any(|way| way.split_last() == Some((&self.step, &*self.before)))
                && columns.any(|(column, _)| has_word(&when.said, column))
        })
    }
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
    /// Of a constant, the same as a condition that decides who is in an index.
    pub(crate) when: Option<When>,
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
    /// Whether it is compared in lower case.
    pub(crate) folds: bool,
    /// Whether what the text begins with is too.
    pub(crate) folds_parameter: bool,
}

impl RangeAsk {
    /// The range without its bounds.
    fn of(path: Path) -> Self {
        Self {
            path,
            low: None,
            high: None,
            prefix: None,
            folds: false,
            folds_parameter: false,
        }
    }
}

/// A condition that decides which rows are in an index.
#[derive(Debug, Clone)]
pub(crate) struct When {
    /// Its words, with `{0}` and so on in the place of the aliases of parents.
    pub(crate) text: String,
    /// The ways to those parents.
    pub(crate) parents: Vec<Vec<Step>>,
    /// The condition as the query says it: queries with other aliases say the same otherwise.
    pub(crate) said: String,
    /// The same as a filter, where there is one.
    pub(crate) filter: Option<Filter>,
}

impl When {
    /// The table whose rows show how often it is true, and its words over that table's name; `None` where it is about several tables.
    /// Of a parent that a row may be without its rows do not show it.
    pub(crate) fn counted(&self, root: &Table, dbms: Dbms) -> Option<(TableName, String)> {
        let owner = |table: &TableName| format!("{}.", identifier(&table.name, dbms));
        let [way] = &*self.parents else {
            let is_own = self.parents.is_empty();
            return is_own.then(|| (root.name.clone(), self.text.clone()));
        };
        let [step] = &**way else {
            return None;
        };
        let is_there = |name: &String| root.column(name).is_some_and(|column| !column.nullable);
        let is_of_parent = !self.text.contains(&owner(&root.name));
        let text = self.text.replace("parent_0.", &owner(&step.table));
        (is_of_parent && step.columns.iter().all(is_there)).then(|| (step.table.clone(), text))
    }

    /// Whether rows with these values meet it; `None` where they do not say it.
    pub(crate) fn takes(&self, values: &Values) -> Option<bool> {
        let filter = self.filter.as_ref()?;
        let is_own = filter.path.steps.is_empty();
        let value = values.get(&filter.path.column).filter(|_| is_own)?;
        filter.test.takes(value)
    }

    /// What it decides, however queries say it.
    fn meaning(&self) -> (&str, &[Vec<Step>]) {
        (&self.text, &self.parents)
    }
}

impl PartialEq for When {
    fn eq(&self, other: &Self) -> bool {
        self.meaning() == other.meaning()
    }
}

impl Eq for When {}

impl PartialOrd for When {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for When {
    fn cmp(&self, other: &Self) -> Ordering {
        self.meaning().cmp(&other.meaning())
    }
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
    /// Whether they are the large columns of the parent's own row.
    pub(crate) is_same_row: bool,
}

impl ChildAsk<'_> {
    /// The table of which rows stand in the collection of a parent that is missing, with the condition that they meet; `None` if
    /// the database sees to it that there are none.
    pub(crate) fn orphans(&self, catalog: &Catalog) -> Option<(TableName, String)> {
        let (step, before) = self.way.split_last()?;
        let child = match before.last() {
            Some(step) => catalog.table(&step.table)?,
            None => self.table,
        };
        Some((child.name.clone(), step.orphan_condition(child, catalog)?))
    }
}

/// The large columns of a row in an item of their own.
#[derive(Debug, Clone)]
pub(crate) struct Twin<'c> {
    /// Their table.
    pub(crate) table: &'c Table,
    /// What is selected of them.
    pub(crate) outputs: Vec<(Path, String)>,
    /// The columns that the row's other item is without.
    pub(crate) large: BTreeSet<String>,
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
    let why = format!("is not understood: its SQL {error}");
    let instead = match error {
        UnreadableSql::Locks(_) => UNLOCKED,
        _ if why.contains("Line: ") => PLAIN_BY_LINE,
        _ => PLAIN,
    };
    Unserved { why, instead }
}

const PLAIN: &str = "write it in plain SQL, or leave it out of the workload";
const PLAIN_BY_LINE: &str = "write it in plain SQL, or leave it out of the workload (line numbers count from the first line of the statement)";
const UNLOCKED: &str = "read without the lock, and write with a condition that fails if what was read has changed (ConditionExpression, in TransactWriteItems for several items)";
const SEARCH: &str = "feed a search index (OpenSearch) from the table's stream";
const PATTERN: &str = "if it is only a prefix, write `LIKE :parameter || '%'` (MySQL: `concat(:parameter, '%')`); otherwise feed a search index (OpenSearch) from the table's stream";
const BEGIN: &str = "pass the prefix as one parameter";
const BEGINNING: &str = "query by the prefix, and check the rest of the pattern in the application";
pub(crate) const COUNTER: &str = "keep the aggregate in a counter item or an attribute that each write updates, or export the table and query it with Athena";
/// Rows of a page, or values of an array, where the query leaves their number to a parameter.
pub(crate) const PAGE: u64 = 20;
/// Rows behind which a LIMIT is none, as in MySQL's `LIMIT 20, 18446744073709551615`: no access pattern has such a `limit`.
const MOST_ROWS: u64 = 1_000_000_000;
const NEXT_PAGE: &str = "leave this condition out: a Query continues after the last item of the page before (its LastEvaluatedKey as ExclusiveStartKey)";
const SEVERAL: &str = "send one Query for each part, and combine the answers in the application";
/// The aggregates that gather rows into a list.
const LISTS: [&str; 7] = [
    "array_agg",
    "string_agg",
    "group_concat",
    "json_agg",
    "jsonb_agg",
    "json_arrayagg",
    "json_group_array",
];
const REWRITE: &str = "write it as a join over the tables' keys, with its conditions joined by AND";
const ONE_SELECT: &str =
    "write it as one SELECT: a join over the tables' keys, with its conditions joined by AND";
const OF_AGGREGATES: &str = "write it as one SELECT if no condition and no order uses the aggregates; otherwise keep each in an item or an attribute that each write updates, or export the table and query it with Athena";
const EACH: &str = "send the outer query, and then the inner one for each of its rows: `SELECT … WHERE … ORDER BY … LIMIT 1`";
const OUT_OF_ON: &str = "leave it out of the ON, and drop in the application what does not meet it";
const WINDOW: &str =
    "leave it out, with any LIMIT, and compute it in the application from the rows";
const OR_NULL: &str = "write `= :value`, and for NULL a second statement with IS NULL";
const DAY: &str = "ask for a range, from the beginning of that day to the beginning of the next: `column >= :from AND column < :to`";
const LEAVE_OUT: &str =
    "leave it out, and test it in the application on the rows that the other conditions find";
const INNER: &str =
    "send the subquery as the statement; for EXISTS, ask for one row: `SELECT … WHERE … LIMIT 1`";
const EXISTENCE: &str = "leave it out, and send the subquery as a statement of its own, by its key: `SELECT … WHERE … LIMIT 1`";
const MATERIALIZE: &str =
    "store the value as an attribute when the item is written, and ask for that";
const OF_PARAMETERS: &str = "no attribute can hold a value that depends on parameters: compute it in the application, from the rows that the other conditions find";
const PATH: &str = "if the depth is limited, store each row's path from the root (`1#7#42`), and query it with begins_with";
const CLOCK: &str =
    "pass the value as a parameter, or store it as an attribute when the item is written";
/// What is said of a value that the query computes of columns.
const COMPUTED: &str = "the answer contains the input columns; the application computes the result";
const JOIN: &str =
    "write it into the ON of an inner join of the two, or compare them in the application";

/// Reads what a query asks: as rows of one item type, as an item collection, or both.
///
/// # Errors
///
/// [`Unserved`] where no Query serves it, with the way out.
pub(crate) fn ask<'c>(
    sql: &str,
    catalog: &'c Catalog,
    observed: &Observed,
) -> Result<Vec<Ask<'c>>, Unserved> {
    let read_as = |lists| read(sql, (catalog, observed), lists, false);
    let split = read_as(Lists::Split);
    if parametrized(sql, catalog.dbms, Lists::Split).is_ok_and(|prepared| prepared.lists.is_empty())
    {
        return split;
    }
    // A list is one request for each of its values, or a filter of what the rest finds.
    match (split, read_as(Lists::Parameters)) {
        (Ok(split), Ok(whole)) => Ok(split.into_iter().chain(whole).collect()),
        (Err(_), Ok(whole)) => Ok(whole),
        (split, _) => split,
    }
}

/// Reads a query as rows of one item type, without what it selects of these parents: second requests read that by the references in
/// the answer. What selects nothing of them is left out. `leaves_conditions`: the application tests the conditions on these parents on
/// what the second requests read.
pub(crate) fn referring<'c>(
    sql: &str,
    catalog: &'c Catalog,
    observed: &Observed,
    parents: &BTreeSet<TableName>,
    leaves_conditions: bool,
) -> Vec<Ask<'c>> {
    let asks = with_reading(sql, (catalog, observed), Lists::Split, |mut reading| {
        reading.refuse_unknown_columns()?;
        reading.referred.clone_from(parents);
        reading.leaves_conditions = leaves_conditions;
        let asks = reading.asks()?;
        Ok(with_decided(reading, asks))
    });
    let mut asks = asks.flatten().unwrap_or_default();
    asks.retain(|ask| {
        !ask.referred.is_empty() && !ask.referred.iter().any(|one| one.is_compared(ask))
    });
    asks
}

/// The same of SQL whose literals are meant. `is_compared`: what it asks is only compared with what other SQL asks, so that conditions
/// may hold at one time and not at another.
pub(crate) fn as_said<'c>(
    sql: &str,
    catalog: &'c Catalog,
    observed: &Observed,
    is_compared: bool,
) -> Result<Vec<Ask<'c>>, Unserved> {
    let read_as = |lists| read(sql, (catalog, observed), lists, is_compared);
    match (read_as(Lists::SplitParameters), read_as(Lists::Said)) {
        (Ok(split), Ok(whole)) if split.iter().any(|ask| ask.requests > 1) => {
            Ok(split.into_iter().chain(whole).collect())
        }
        (Err(_), whole) => whole,
        (split, _) => split,
    }
}

fn read<'c>(
    sql: &str,
    of_rows: (&'c Catalog, &Observed),
    lists: Lists,
    is_compared: bool,
) -> Result<Vec<Ask<'c>>, Unserved> {
    with_reading(sql, of_rows, lists, |mut reading| {
        reading.is_compared = is_compared;
        reading.refuse_unknown_columns()?;
        let mut asks = reading.asks()?;
        if reading.extreme.is_some() {
            // Any of the rows with that value will do: a key that another read has serves too.
            reading.is_first_key = true;
            asks.extend(reading.asks()?);
        }
        Ok(with_decided(reading, asks))
    })?
}

/// What is written anew anyway may as well say which of equal rows it takes.
fn with_decided<'c>(mut reading: Reading<'c, '_>, asks: Vec<Ask<'c>>) -> Vec<Ask<'c>> {
    let catalog = reading.catalog;
    let is_written =
        |ask: &Ask<'_>| ask.sql != reading.prepared.sql && limit_is_ambiguous(ask, catalog);
    if !asks.iter().any(is_written) {
        return asks;
    }
    reading.is_by_key = true;
    let decided = reading.asks().unwrap_or_default().into_iter();
    let decided = decided.filter(|ask| {
        ask.children.is_empty() && ask.unsortable.is_none() && !limit_is_ambiguous(ask, catalog)
    });
    decided.chain(asks).collect()
}

/// Reads a query and hands it to `take`.
fn with_reading<'c, T>(
    sql: &str,
    (catalog, observed): (&'c Catalog, &Observed),
    lists: Lists,
    take: impl FnOnce(Reading<'c, '_>) -> T,
) -> Result<T, Unserved> {
    let prepared = parametrized(sql, catalog.dbms, lists).map_err(|error| unread(&error))?;
    let query =
        SqlQuery::read(&prepared.sql, Some(catalog.dbms)).map_err(|error| unread(&error))?;
    let select = plain_select(&prepared.sql, &query)?;
    Reading::new((catalog, observed), &query, select, &prepared).map(take)
}

/// The one SELECT of a query, where nothing else is in it.
fn plain_select<'q>(sql: &str, query: &'q SqlQuery) -> Result<&'q Select, Unserved> {
    let upper = sql.to_uppercase();
    if !query.with.is_empty() && has_word(&upper, "RECURSIVE") {
        return unserved("walks a hierarchy of any depth", PATH);
    }
    if upper.contains("NULLS FIRST") || upper.contains("NULLS LAST") {
        let instead = "leave that out, or sort in the application";
        return unserved("has NULLS FIRST or NULLS LAST", instead);
    }
    if query.set != SetOperation::One {
        let why = "combines several queries (UNION, EXCEPT or INTERSECT)";
        return unserved(why, SEVERAL);
    }
    if !query.with.is_empty() {
        return unserved("has a WITH query, which is not read", one_select(query));
    }
    let Some(select) = query.select() else {
        return unserved("is not one SELECT", REWRITE);
    };
    let mut strange = query.strange.iter().chain(&select.strange);
    if let Some(strange) = strange.next() {
        let instead = if *strange == "LATERAL" { EACH } else { REWRITE };
        return unserved(format!("has {strange}"), instead);
    }
    Ok(select)
}

/// The way out of a query within another: one SELECT, if that says the same.
fn one_select(query: &SqlQuery) -> &'static str {
    let mut functions = query.functions.iter();
    if functions.any(|name| is_aggregate(name)) {
        OF_AGGREGATES
    } else {
        ONE_SELECT
    }
}

/// Whether a condition compares a constant with itself, as `1 = 1` of generated SQL does.
fn is_always_true(condition: &Condition) -> bool {
    let is_said = |side: &Operand| match &side.value {
        OperandValue::Constant(Constant::Number(_) | Constant::Text(_)) => side.around.is_empty(),
        _ => false,
    };
    let sides = condition.equal();
    sides.is_some_and(|[left, right]| left == right && is_said(left))
}

/// The references that a query joins by and the schema does not declare, each as the foreign key that it would be.
pub(crate) fn references(
    sql: &str,
    catalog: &Catalog,
    observed: &Observed,
) -> Vec<(TableName, ForeignKey)> {
    with_reading(sql, (catalog, observed), Lists::Kept, |reading| {
        reading.references()
    })
    .unwrap_or_default()
}

/// Why a query is not served that names a column which none of its tables has.
pub(crate) fn unknown_column(sql: &str, catalog: &Catalog, observed: &Observed) -> Option<String> {
    let found = with_reading(sql, (catalog, observed), Lists::Split, |reading| {
        reading.refuse_unknown_columns().err()
    });
    found.ok().flatten().map(|unserved| unserved.why)
}

/// What a reference is called that a join makes and the schema does not declare.
pub(crate) const BY_JOIN: &str = "taken from a join";

/// A column of a relation.
type At = (usize, String);

/// The ways from a relation to its parents, and to theirs, by the number of the parent.
type Ways = BTreeMap<usize, Vec<Step>>;

/// Columns of two relations that are held equal.
#[derive(Clone)]
struct Pair {
    one: At,
    other: At,
    /// The relation of which there is no row where they are not equal, by its outer join; without one the row is left out.
    missing: Option<usize>,
    /// The words of the query.
    said: String,
}

impl Pair {
    /// Both ways to read it.
    fn sides(&self) -> [(&At, &At); 2] {
        [(&self.one, &self.other), (&self.other, &self.one)]
    }
}

/// A column and all that pairs hold equal to it.
fn equal_by<'p>(pairs: &[&'p Pair], of: &'p At) -> Vec<&'p At> {
    let mut found = vec![of];
    let mut next = 0;
    while let Some(at) = found.get(next).copied() {
        next += 1;
        for (one, other) in pairs.iter().copied().flat_map(Pair::sides) {
            if one == at && !found.contains(&other) {
                found.push(other);
            }
        }
    }
    found
}

/// How a row leads to its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// A row without the parent is left out.
    Inner,
    /// A row may be without the parent.
    Outer,
    /// A parent may be without the row.
    Reverse,
}

#[derive(Clone)]
struct Reading<'c, 'q> {
    catalog: &'c Catalog,
    observed: &'q Observed,
    query: &'q SqlQuery,
    select: &'q Select,
    prepared: &'q Parametrized,
    tables: Vec<&'c Table>,
    /// Columns that the joins, or WHERE, hold equal.
    pairs: Vec<Pair>,
    /// Conditions that are no joins.
    conditions: Vec<&'q Condition>,
    /// The column of which the greatest or the least value is asked, with whether it is the greatest.
    extreme: Option<(At, bool)>,
    /// Whether of rows with that value the one with the other end of the key is taken: the first key of the greatest value, and the
    /// last of the least.
    is_first_key: bool,
    /// Whether of rows that are equal under ORDER BY the key decides.
    is_by_key: bool,
    /// Conditions that the application holds against the answer.
    left_out: Vec<&'q Condition>,
    /// Whether a condition that is true of every row was dropped.
    is_shortened: bool,
    /// Parents of which a second request reads what is selected.
    referred: BTreeSet<TableName>,
    /// Whether the application tests the conditions on these parents on what the second requests read.
    leaves_conditions: bool,
    /// Those conditions.
    left_of_parents: Vec<&'q Condition>,
    /// Whether conditions may hold at one time and not at another.
    is_compared: bool,
    /// What [`Self::all_ways`] gives.
    all_ways: OnceCell<Vec<Ways>>,
}

impl<'c, 'q> Reading<'c, 'q> {
    fn new(
        (catalog, observed): (&'c Catalog, &'q Observed),
        query: &'q SqlQuery,
        select: &'q Select,
        prepared: &'q Parametrized,
    ) -> Result<Self, Unserved> {
        let mut tables = Vec::new();
        for (at, relation) in select.relations.iter().enumerate() {
            let (why, instead) = match (select.table(at, catalog), &relation.source) {
                (Some(table), _) if table.is_stored() => {
                    tables.push(table);
                    continue;
                }
                (Some(table), _) => {
                    let why = format!("reads the {} {}", table.kind.word(), table.name.name);
                    (
                        why,
                        "use the tables that it reads, if they are in this schema",
                    )
                }
                (None, RelationSource::Table { name, .. }) => {
                    let why = format!("reads `{}`, which the schema does not have", name.text);
                    (why, "use a table of the schema")
                }
                (None, RelationSource::Query) => {
                    let why = "has a query in FROM, which is not read";
                    (why.to_owned(), one_select(query))
                }
                (None, _) => {
                    let why = "has something in FROM that is not a table, such as a function";
                    (why.to_owned(), REWRITE)
                }
            };
            return unserved(why, instead);
        }
        if tables.is_empty() {
            if selected_values(select).any(Operand::has_query) {
                return unserved("reads tables only in a subquery", INNER);
            }
            return unserved("reads no table", REWRITE);
        }
        let mut reading = Self {
            catalog,
            observed,
            query,
            select,
            prepared,
            tables,
            pairs: Vec::new(),
            conditions: Vec::new(),
            extreme: None,
            is_first_key: false,
            is_by_key: false,
            is_shortened: false,
            left_out: Vec::new(),
            referred: BTreeSet::new(),
            leaves_conditions: false,
            left_of_parents: Vec::new(),
            is_compared: false,
            all_ways: OnceCell::new(),
        };
        reading.pairs = reading.using()?;
        let on = select.relations.iter().enumerate();
        let on = on.flat_map(|(at, relation)| relation.on.iter().map(move |one| (Some(at), one)));
        for (at, condition) in select.conditions.iter().map(|one| (None, one)).chain(on) {
            if matches!(condition.test, ConditionTest::Using(_)) {
                continue;
            }
            if is_always_true(condition) {
                reading.is_shortened = true;
                continue;
            }
            let sides = condition.equal().and_then(|[left, right]| {
                let left = reading.column(left.column()?)?;
                let right = reading.column(right.column()?)?;
                (left.0 != right.0).then_some((left, right))
            });
            match (sides, at) {
                (Some((one, other)), at) if at.is_none_or(|at| [one.0, other.0].contains(&at)) => {
                    let of = if at == Some(one.0) { other.0 } else { one.0 };
                    let missing = at.map(|at| reading.missing(at, of));
                    let said = condition.text.clone();
                    reading.pairs.push(Pair {
                        one,
                        other,
                        missing,
                        said,
                    });
                }
                (_, Some(_)) => {
                    let why = format!("has `{}` in the ON of an outer join", condition.text);
                    return unserved(why, OUT_OF_ON);
                }
                (_, None) => reading.conditions.push(condition),
            }
        }
        reading.refuse_joins()?;
        reading.extreme = reading.only_extreme();
        Ok(reading)
    }

    /// Refuses a join by columns that the database does not compare as keys do.
    fn refuse_joins(&self) -> Result<(), Unserved> {
        let pairs = self.pairs.iter();
        let mut pairs = pairs.filter_map(|pair| self.found(&pair.one).zip(self.found(&pair.other)));
        pairs.try_for_each(|(one, other)| refuse_join(one, other, self.catalog.dbms))
    }

    /// A column with its table.
    fn found(&self, (at, name): &At) -> Option<(&'c Table, &'c Column)> {
        let table = *self.tables.get(*at)?;
        Some((table, table.column(name)?))
    }

    /// Whether a row of the result may be without a row of a relation.
    fn may_be_missing(&self, at: usize) -> bool {
        let relation = self.select.relations.get(at);
        relation.is_none_or(|relation| relation.may_be_missing)
    }

    /// Which of two relations there is no row of where the ON of the first one's outer join does not hold.
    fn missing(&self, at: usize, other: usize) -> usize {
        if self.may_be_missing(at) { at } else { other }
    }

    /// A table that it reads more than once.
    fn twice(&self) -> Option<&'c Table> {
        let mut tables = self.tables.iter().enumerate();
        let found = tables.find(|(at, table)| {
            let mut others = self.tables.iter().skip(at + 1);
            others.any(|other| other.name == table.name)
        });
        found.map(|(_, table)| *table)
    }

    /// What USING holds equal.
    fn using(&self) -> Result<Vec<Pair>, Unserved> {
        let name = |condition: &'q Condition| match &condition.test {
            ConditionTest::Using(name) => Some(name),
            _ => None,
        };
        let on = self.select.relations.iter().flat_map(|one| &one.on);
        let all = self.select.conditions.iter().chain(on);
        let names: Vec<&Name> = all.filter_map(name).collect();
        let mut pairs = Vec::new();
        for (place, wanted) in names.iter().enumerate() {
            if names.iter().take(place).any(|known| known.is(&wanted.text)) {
                continue;
            }
            let having = self.select.columns_called(wanted, self.catalog).into_iter();
            let having = having.map(|(at, _, one)| (at, one.name.clone()));
            let having: Vec<At> = having.collect();
            let said = format!("USING({})", wanted.text);
            let joined = names.iter().filter(|one| one.is(&wanted.text)).count();
            if having.len() != joined + 1 {
                let why = format!(
                    "has {said}, which is ambiguous: other tables have a column of that name"
                );
                return unserved(why, "write ON, with the table's alias before each column");
            }
            let Some((first, others)) = having.split_first() else {
                continue;
            };
            for other in others {
                let relation = self.select.relations.get(other.0);
                let mut on = relation.into_iter().flat_map(|one| &one.on);
                let is_outer = on.any(|one| name(one).is_some_and(|one| one.is(&wanted.text)));
                pairs.push(Pair {
                    one: first.clone(),
                    other: other.clone(),
                    missing: is_outer.then(|| self.missing(other.0, first.0)),
                    said: said.clone(),
                });
            }
        }
        Ok(pairs)
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

    /// Refuses a column that none of the tables has. A query within it has tables of its own.
    fn refuse_unknown_columns(&self) -> Result<(), Unserved> {
        let asked = self.conditions.iter().flat_map(|one| one.operands());
        let asked = asked.filter(|operand| !operand.has_query());
        let asked = asked.flat_map(Operand::columns);
        let selected = selected_values(self.select).filter_map(Operand::column);
        for wanted in asked.chain(selected) {
            let name = &wanted.name;
            let has = |table: &&Table| table.columns.iter().any(|one| name.is(&one.name));
            if !self.tables.iter().any(has) {
                let mut tables = self.tables.iter();
                let may_be_hidden = tables.any(|table| table.hidden_columns.is_some());
                let (why, instead) = if may_be_hidden {
                    let why = "which none of its tables has as far as this user may read them";
                    (why, "grant SELECT on these tables, or leave the column out")
                } else {
                    let instead = "write a column of one of these tables";
                    ("which none of its tables declares", instead)
                };
                return unserved(format!("names the column `{}`, {why}", name.text), instead);
            }
        }
        Ok(())
    }

    /// All columns that the joins hold equal to one, itself among them.
    fn equal_to(&self, of: &At) -> Vec<At> {
        let pairs: Vec<&Pair> = self.pairs.iter().collect();
        equal_by(&pairs, of).into_iter().cloned().collect()
    }

    /// The parents of a relation: those of which each of its rows has one at most.
    fn parents(&self, of: usize) -> Vec<(usize, Step, Lead)> {
        let others = self.tables.iter().enumerate().filter(|(at, _)| *at != of);
        let found = others.filter_map(|(at, table)| {
            let lead = if self.may_be_missing(at) {
                (Lead::Outer, Some(at))
            } else {
                (Lead::Inner, None)
            };
            let mut leads = [lead, (Lead::Reverse, Some(of))].into_iter();
            leads.find_map(|(lead, missing)| Some((at, self.step(of, (at, table), missing)?, lead)))
        });
        found.collect()
    }

    /// The step to a parent by all that holds the two together: its key, and what is equal besides.
    fn step(
        &self,
        of: usize,
        (at, table): (usize, &Table),
        missing: Option<usize>,
    ) -> Option<Step> {
        let pairs = self.pairs.iter().filter(|pair| pair.missing == missing);
        let sides = pairs.flat_map(Pair::sides);
        let sides = sides.filter(|(a, b)| a.0 == of && b.0 == at);
        let sides: Vec<(&str, &str)> = sides.map(|(a, b)| (&*a.1, &*b.1)).collect();
        let step = Step::by(table, &sides, self.catalog.dbms);
        let has_key = table.is_declared_unique(&step.referenced, self.catalog.dbms);
        has_key.then_some(step)
    }

    fn references(&self) -> Vec<(TableName, ForeignKey)> {
        let mut found = Vec::new();
        for (of, &table) in self.tables.iter().enumerate() {
            for (at, step, _) in self.parents(of) {
                let Some(&parent) = self.tables.get(at) else {
                    continue;
                };
                let key = parent.row_key();
                let own = key.iter().map(|there| {
                    let mut pairs = step.referenced.iter().zip(&step.columns);
                    pairs
                        .find(|(known, _)| *known == there)
                        .map(|(_, own)| own.clone())
                });
                let Some(own) = own.collect::<Option<Vec<String>>>() else {
                    continue;
                };
                let kind = |table: &Table, column: &String| {
                    Some(std::mem::discriminant(&table.column(column)?.data_type))
                };
                let mut pairs = own.iter().zip(key);
                let is_alike = pairs.all(|(own, there)| kind(table, own) == kind(parent, there));
                let leads = |from: &Table, to: &Table| {
                    let mut keys = from.foreign_keys.iter();
                    keys.any(|key| key.references == to.name)
                };
                // Of two rows that are one, neither is the other's parent.
                let is_one = table.is_declared_unique(&own, self.catalog.dbms);
                let is_declared = leads(table, parent) || leads(parent, table);
                if is_alike && !is_one && !is_declared && !key.is_empty() {
                    let key = ForeignKey {
                        name: BY_JOIN.to_owned(),
                        columns: own,
                        references: parent.name.clone(),
                        referenced_columns: key.to_vec(),
                        enforcement: Enforcement::NotEnforced,
                        ..ForeignKey::default()
                    };
                    found.push((table.name.clone(), key));
                }
            }
        }
        found
    }

    /// The ways to all relations that are parents of one, or parents of parents, itself among them. `reverses`: also to those
    /// that may be without it.
    fn ways(&self, from: usize, reverses: bool) -> Ways {
        let mut found = BTreeMap::from([(from, Vec::new())]);
        let mut rest = std::collections::VecDeque::from([(from, reverses)]);
        while let Some((at, reverses)) = rest.pop_front() {
            let way = found.get(&at).cloned().unwrap_or_default();
            for (parent, step, lead) in self.parents(at) {
                if lead == Lead::Reverse && !reverses {
                    continue;
                }
                if let std::collections::btree_map::Entry::Vacant(entry) = found.entry(parent) {
                    let mut way = way.clone();
                    way.push(step);
                    entry.insert(way);
                    rest.push_back((parent, reverses && lead != Lead::Outer));
                }
            }
        }
        found
    }

    /// The ways from each relation, also to parents that may be without it.
    fn all_ways(&self) -> &[Ways] {
        self.all_ways.get_or_init(|| {
            let all = 0..self.tables.len();
            all.map(|at| self.ways(at, true)).collect()
        })
    }

    /// Refuses what is held equal beside the ways between the tables, unless it follows from them.
    fn refuse_further(&self, all: &[&Ways]) -> Result<(), Unserved> {
        let is_step = |pair: &&Pair| {
            let mut tried = all
                .iter()
                .flat_map(|ways| pair.sides().map(|sides| (ways, sides)));
            tried.any(|(ways, (from, to))| {
                let last = ways.get(&to.0).and_then(|way| way.split_last());
                let step =
                    last.filter(|(_, before)| ways.get(&from.0).is_some_and(|way| way == before));
                step.is_some_and(|(step, _)| {
                    let mut held = step.columns.iter().zip(&step.referenced);
                    held.any(|(own, there)| *own == from.1 && *there == to.1)
                })
            })
        };
        let (mut held, further): (Vec<&Pair>, Vec<&Pair>) = self.pairs.iter().partition(is_step);
        // What inner joins hold equal to the same is equal.
        held.retain(|pair| pair.missing.is_none());
        for pair in further {
            if pair.missing.is_some() || !equal_by(&held, &pair.one).contains(&&pair.other) {
                let why = format!(
                    "compares columns of two tables outside their joins: `{}`",
                    pair.said
                );
                return unserved(why, JOIN);
            }
        }
        Ok(())
    }

    /// A column of a relation by the shortest way, in an answer without the rows that inner joins leave out.
    fn path(&self, ways: &Ways, at: usize, column: String) -> Option<Path> {
        self.shortest(ways, (at, column), true)
    }

    /// The child's reference stands for the parent's key where a row of the answer has the parent, or the database keeps the
    /// reference from leading nowhere. `joins`: inner joins leave rows out.
    fn shortest(&self, ways: &Ways, (at, column): At, joins: bool) -> Option<Path> {
        let root = ways.iter().find(|(_, way)| way.is_empty())?.0;
        let root = *self.tables.get(*root)?;
        let mut path = Path {
            steps: ways.get(&at)?.clone(),
            column,
        };
        while let Some((step, before)) = path.steps.split_last() {
            let mut there = ways.iter().filter(|(_, way)| **way == path.steps);
            let is_there = joins && there.any(|(at, _)| !self.may_be_missing(*at));
            let nullable =
                |column: &String| Path::of(before, column).may_be_null(root, self.catalog);
            let is_whole = step.columns.len() == 1 || !step.columns.iter().any(nullable);
            let is_kept = is_whole && self.is_enforced(root, step, before);
            let mut pairs = step.referenced.iter().zip(&step.columns);
            let own = pairs.find(|(there, _)| **there == path.column);
            let Some((_, own)) = own.filter(|_| is_there || is_kept) else {
                break;
            };
            path.column.clone_from(own);
            path.steps.pop();
        }
        Some(path)
    }

    /// The column of a query that asks for its greatest or least value and nothing else, where a key sorts it as the database does.
    fn only_extreme(&self) -> Option<(At, bool)> {
        let [SelectOutput::One { value, .. }] = self.select.outputs.as_slice() else {
            return None;
        };
        let [Wrapping::Function(name)] = value.around.as_slice() else {
            return None;
        };
        let OperandValue::Column(column) = &value.value else {
            return None;
        };
        let is_greatest = match &**name {
            "max" => true,
            "min" => false,
            _ => return None,
        };
        let is_alone = !self.select.groups && !self.select.having && self.query.order.is_none();
        let (at, column) = self.column(column).filter(|_| is_alone)?;
        let table = self.tables.get(at)?;
        let is_sorted = self.unsortable(table, &Path::own(&column)).is_none();
        is_sorted.then_some(((at, column), is_greatest))
    }

    /// What is asked: as rows of one item type, and as an item collection.
    fn asks(&self) -> Result<Vec<Ask<'c>>, Unserved> {
        let mut rows = (0..self.tables.len()).map(|at| (at, self.ways(at, false)));
        let row = rows.find(|(_, ways)| ways.len() == self.tables.len());
        let is_list = self.aggregates()?;
        let mut found = Vec::new();
        let mut failed = None;
        if let Some((root, ways)) = row.filter(|(at, _)| !self.may_be_missing(*at) && !is_list) {
            let asks = self.refuse_further(&[&ways]);
            match asks.and_then(|()| self.reads_of_rows(root, &ways)) {
                Ok(asks) => found.extend(asks),
                Err(why) => failed = Some(why),
            }
        }
        // Figures over a parent's children are computed from the children alone.
        let has_collections = self.figures().is_none() || is_list;
        for parent in (0..self.tables.len()).filter(|_| has_collections) {
            match self.collection(parent, is_list) {
                Ok(Some(ask)) => found.push(ask),
                Ok(None) => {}
                Err(why) => failed = failed.or(Some(why)),
            }
        }
        if found.is_empty() {
            return Err(failed.unwrap_or_else(|| self.no_tree(is_list)));
        }
        Ok(found)
    }

    /// Why a query reads neither rows with their parents nor an item collection.
    fn no_tree(&self, is_list: bool) -> Unserved {
        let mut ways = self.all_ways().iter();
        let is_with_children = ways.any(|ways| ways.len() == self.tables.len());
        let (why, instead) = match self.figures().filter(|_| !is_list) {
            _ if self.tables.len() == 1 => {
                let why = "gathers the rows of one table into lists";
                let instead = "select the rows, and build the lists in the application";
                (why.to_owned(), instead)
            }
            Some(figures) if is_with_children => {
                let why = format!("{figures} over rows together with their children");
                (why, COUNTER)
            }
            None if is_with_children => {
                let why = "reads rows together with their children: an item collection serves that only for one row, found by its key alone, and only for children in other tables that have keys";
                (why.to_owned(), SEVERAL)
            }
            figures => {
                let why = "has a join that is not from a child to its parent, or reads two lists of children without finding the parent by its key alone";
                let instead = figures.map_or(SEVERAL, |_| COUNTER);
                (why.to_owned(), instead)
            }
        };
        Unserved { why, instead }
    }

    /// Whether it gathers rows into lists, as a collection does.
    fn aggregates(&self) -> Result<bool, Unserved> {
        let mut is_list = false;
        for value in selected_values(self.select) {
            is_list |= functions(value).iter().any(|name| LISTS.contains(&&**name));
            let OperandValue::Expression(expression) = &value.value else {
                continue;
            };
            if expression.searches_words {
                return unserved("selects the result of a text search", SEARCH);
            }
            if expression.has_window {
                return unserved("selects the result of a window function", WINDOW);
            }
            if expression.has_query {
                let text = expression.text.to_ascii_lowercase();
                if text.trim_start_matches("not ").starts_with("exists") {
                    return unserved("selects whether a subquery finds rows", EXISTENCE);
                }
                return unserved("selects the result of a subquery", COUNTER);
            }
        }
        Ok(is_list)
    }

    /// The figures that it computes over rows, and whether it groups them.
    fn figures(&self) -> Option<String> {
        let names = selected_values(self.select).flat_map(functions);
        let names = names.filter(|name| is_aggregate(name) && !LISTS.contains(&name.as_str()));
        let names = each_once(names.map(|name| format!("{name}()")));
        let figure = (!names.is_empty()).then(|| format!("computes {}", names.join(", ")));
        let groups = self.select.having || self.select.groups;
        figure
            .filter(|_| self.extreme.is_none())
            .or(groups.then(|| "groups rows".to_owned()))
    }

    /// Most rows, and whether the application says how many, or any of them will do.
    fn most_rows(&self) -> Result<(Option<u64>, bool), Unserved> {
        if self.extreme.is_some() {
            return Ok((Some(1), false));
        }
        Ok(match &self.query.limit {
            RowLimit::None => (None, false),
            RowLimit::Rows(0) => return unserved("asks for no rows", "leave it out"),
            RowLimit::Rows(rows) if *rows > MOST_ROWS => (None, false),
            // So many rows may be fewer that differ.
            RowLimit::Rows(rows) => {
                let is_any = self.query.order.is_none() || self.select.distinct;
                (Some(*rows), is_any)
            }
            RowLimit::Parameter(_) | RowLimit::Unknown => (Some(PAGE), true),
        })
    }

    fn bare(&self, root: usize) -> Result<Ask<'c>, Unserved> {
        let Some(&table) = self.tables.get(root) else {
            return unserved("reads no table", REWRITE);
        };
        let name = &table.name.name;
        if !table.readable {
            let why = format!("reads {name}, which the database user may not read");
            return unserved(why, "grant SELECT on it");
        }
        if table.row_key().is_empty() {
            let why = format!("reads {name}, which has no key that identifies its rows");
            return unserved(why, "declare a primary key");
        }
        let (limit, is_page) = self.most_rows()?;
        let mut notes: Vec<Note> = Vec::new();
        let mut requests: u64 = 1;
        for list in &self.prepared.lists {
            let values = match list.values.len() {
                0 => PAGE,
                values => whole(values),
            };
            requests = requests.saturating_mul(values);
            notes.push(note_of_list(list).into());
        }
        for (parameter, said) in &self.prepared.computed {
            notes.push(Note::Text(format!(
                "the application computes `{said}` and passes it as `{parameter}`"
            )));
        }
        if let Some(table) = self.twice() {
            notes.push(Note::Text(format!(
                "it reads {} more than once; `verify --patterns` may not know which one a column belongs to",
                table.name.name
            )));
        }
        let constants: Vec<String> = self.constant_outputs().collect();
        note_names(&mut notes, &constants, |constants| {
            format!(
                "its SQL omits constants and parameters, which the application adds: {constants}"
            )
        });
        let limited = match &self.query.limit {
            RowLimit::Parameter(_) => Some(format!(
                "the application chooses how many rows it reads; the estimate assumes {PAGE}"
            )),
            RowLimit::Unknown => Some(format!(
                "its LIMIT is not a plain number: the application stops when it has enough; the estimate assumes {PAGE} rows"
            )),
            RowLimit::Rows(rows) if self.query.order.is_none() && limit.is_some() => Some(format!(
                "LIMIT {rows} without ORDER BY means any {rows} of the rows: the application stops after that many"
            )),
            _ => None,
        };
        notes.extend(limited.map(Note::Text));
        if self.query.offset != RowLimit::None {
            notes.push(Note::Offset);
        }
        Ok(Ask {
            root: table,
            equal: Vec::new(),
            range: None,
            filters: Vec::new(),
            filtered: Vec::new(),
            when: Vec::new(),
            order: Vec::new(),
            limit,
            is_page,
            computes: false,
            is_twice: false,
            sorts: false,
            unsortable: None,
            outputs: Vec::new(),
            children: Vec::new(),
            twin: None,
            referred: Vec::new(),
            required: Vec::new(),
            sql: self.prepared.sql.clone(),
            unsorted: None,
            by_row: None,
            requests,
            shards: 1,
            is_bare: false,
            fetches: false,
            notes,
            clauses: self.clauses(root),
        })
    }

    fn clauses(&self, root: usize) -> Clauses {
        let place = |(at, column): At| Some((self.tables.get(at)?.name.clone(), column));
        let compared = self.conditions.iter().filter_map(|one| one.columns());
        let compared = compared.flatten().filter_map(|column| self.column(column));
        let sorted = self.query.order.iter().flatten();
        let sorted = sorted.filter_map(|key| self.sort_column(key));
        let extreme = self.extreme.iter().map(|(at, _)| at.clone());
        Clauses {
            compared: compared.filter_map(place).collect(),
            sorted: sorted.chain(extreme).filter_map(place).collect(),
            skips: self.query.offset != RowLimit::None,
            distinct: self.select.distinct && !self.selects_row(root),
        }
    }

    /// Whether each row of the result is another row of `root`, and says which.
    fn selects_row(&self, root: usize) -> bool {
        let selected = self.select.origins(self.catalog).unwrap_or_default();
        let is_selected = |column: &String| {
            let mut selected = selected.iter().flatten();
            selected.any(|one| one.relation == root && one.column.name == *column)
        };
        let key = self.tables.get(root).map(|table| table.row_key());
        self.select.distinct_on.is_none()
            && key.is_some_and(|key| !key.is_empty() && key.iter().all(is_selected))
            && self.ways(root, false).len() == self.tables.len()
    }

    /// The column that a term of ORDER BY sorts by: as it is, or in lower case where the key has it so.
    fn sort_column(&self, key: &SortKey) -> Option<At> {
        match (&key.column, &key.in_lower) {
            (Some(column), _) => self.column(column),
            (None, Some(column)) => self.column(column).filter(|at| self.is_folded(at)),
            (None, None) => None,
        }
    }

    /// A column that ORDER BY sorts under another collation than its own, and not by bytes.
    fn sorted_otherwise(&self) -> Option<String> {
        let mut keys = self.query.order.iter().flatten();
        keys.find_map(|key| {
            let wanted = &key.collation.as_ref()?.text;
            let (at, name) = self.column(key.column.as_ref()?)?;
            let own = self.tables.get(at)?.column(&name)?.collation.as_ref();
            let is_own = own.is_some_and(|own| own.eq_ignore_ascii_case(wanted));
            let is_sorted = is_own || sorts_by_bytes(wanted, self.catalog.dbms);
            (!is_sorted).then(|| format!("{name} under the collation {wanted}"))
        })
    }

    /// A column that ORDER BY, or a greatest or least value, has as it is where the key has it in lower case, which is another order: `B` comes before `a`.
    fn sorted_in_case(&self) -> Option<String> {
        let keys = self.query.order.iter().flatten();
        let keys = keys.filter_map(|key| self.column(key.column.as_ref()?));
        let extreme = self.extreme.iter().map(|(at, _)| at.clone());
        let mut sorted = keys.chain(extreme);
        let found = sorted.find(|at| {
            let column = self.tables.get(at.0).and_then(|table| table.column(&at.1));
            // A collation that ignores case sorts in lower case by itself.
            self.is_folded(at) && !column.is_some_and(ignores_case)
        });
        found.map(|(_, column)| column)
    }

    fn order(&self, ways: &Ways) -> Result<Vec<(Path, bool)>, Unserved> {
        let mut found: Vec<(Path, bool)> = Vec::new();
        let root = ways.iter().find(|(_, way)| way.is_empty());
        let root = root.map_or(0, |(at, _)| *at);
        let keys = self.query.order.iter().flatten();
        let keys = keys.map(|key| (self.sort_column(key), key.descending, key.has_parameters));
        // Where the greatest or the least value is asked for, there is no ORDER BY.
        let extreme = self.extreme_order(root).into_iter();
        let extreme = extreme.map(|(at, descends)| (Some(at), descends, false));
        for (at, descends, has_parameters) in keys.chain(extreme) {
            let path = at.and_then(|(at, column)| self.path(ways, at, column));
            let Some(path) = path else {
                return if has_parameters {
                    unserved("sorts by a value computed from parameters", OF_PARAMETERS)
                } else {
                    unserved("sorts by a computed value", MATERIALIZE)
                };
            };
            if !found.iter().any(|(known, _)| *known == path) {
                found.push((path, descends));
            }
        }
        if self.extreme.is_none() && self.is_by_key {
            let key = self.rest_of_key(root).into_iter();
            found.extend(key.map(|(column, descends)| (Path::own(&column), descends)));
        }
        Ok(found)
    }

    /// The columns of the key by which rows that are equal under ORDER BY are sorted, each with whether it descends.
    fn rest_of_key(&self, root: usize) -> Vec<(String, bool)> {
        let Some(table) = self.tables.get(root) else {
            return Vec::new();
        };
        let is_integer = |(at, name): &At| {
            let column = self.tables.get(*at).and_then(|table| table.column(name));
            column.is_some_and(|column| matches!(column.data_type, DataType::Integer { .. }))
        };
        let keys = self.query.order.iter().flatten();
        let keys = keys.filter_map(|key| Some((self.sort_column(key)?, key.descending)));
        let keys: Vec<(At, bool)> = keys.collect();
        let first = keys.iter().find(|(at, _)| !is_integer(at)).or(keys.first());
        let descends = first.is_some_and(|(_, descends)| *descends);
        let fixed = self.conditions.iter().filter_map(|one| one.fixed());
        let fixed: Vec<At> = fixed.filter_map(|column| self.column(column)).collect();
        let own = table.row_key().iter().map(|column| (root, column.clone()));
        let own = own.filter(|at| !fixed.contains(at) && keys.iter().all(|(known, _)| known != at));
        own.map(|at| (at.1.clone(), descends && !is_integer(&at)))
            .collect()
    }

    /// What a read for the greatest or the least value sorts by: of equal ones the key decides, so that the answer is one row.
    fn extreme_order(&self, root: usize) -> Vec<(At, bool)> {
        let table = self.tables.get(root);
        let Some(((extreme, is_greatest), table)) = self.extreme.as_ref().zip(table) else {
            return Vec::new();
        };
        let descends = *is_greatest != self.is_first_key;
        let is_sorted = |column: &&String| self.unsortable(table, &Path::own(column)).is_none();
        let key = table.row_key().iter().filter(is_sorted);
        let key = key.map(|column| (root, column.clone()));
        let key = key.filter(|at| at != extreme);
        let first = std::iter::once((extreme.clone(), *is_greatest));
        first.chain(key.map(|at| (at, descends))).collect()
    }

    /// A column whose values' text does not sort as the database sorts them, with the reason; `None` where it does.
    fn unsortable(&self, table: &Table, path: &Path) -> Option<String> {
        let (table, column) = path.find(table, self.catalog)?;
        if self.observed.is_mixed(table, &column.name) {
            return Some(format!("{}, {}", column.name, why_mixed(column).0));
        }
        let is_mysql = matches!(self.catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
        let is_sorted = match &column.data_type {
            DataType::Integer { .. }
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Boolean
            | DataType::Date
            | DataType::Timestamp { .. } => true,
            // MariaDB sorts by the parts of a UUID in an order of its own.
            DataType::Uuid => self.catalog.dbms != Dbms::Mariadb,
            // MySQL's times may be negative, or longer than a day; with an offset the moment counts.
            DataType::Time { zone, .. } => !is_mysql && !zone,
            DataType::Text { .. } => column.is_plain_text(self.catalog.dbms),
            _ => false,
        };
        (!is_sorted).then(|| {
            let declared = match column.declared.as_str() {
                "" => "any type",
                declared => declared,
            };
            let name = &column.name;
            format!("{name} ({declared}), whose values do not sort like their text")
        })
    }

    /// Refuses `*` of a table with columns that the user may not read: no item would have them.
    fn refuse_hidden(&self, at: usize) -> Result<(), Unserved> {
        match self.tables.get(at) {
            Some(table) if table.hidden_columns.is_some() => {
                let name = &table.name.name;
                let why =
                    format!("selects `*` of {name}, which has columns that this user may not read");
                unserved(why, "grant SELECT on the table, or name the columns")
            }
            _ => Ok(()),
        }
    }

    /// The columns of its result: where each is from, what it is called, and whether more is done with it.
    fn outputs(&self) -> Result<Vec<(At, String, bool)>, Unserved> {
        let mut found = Vec::new();
        // The bytes of MySQL's geometries stand as text in items, and are compared with nothing.
        let is_mysql = matches!(self.catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
        let is_geometry = move |column: &Column| is_mysql && column.data_type == DataType::Printed;
        let mut columns = self.tables.iter().flat_map(|table| &table.columns);
        let has_geometry = columns.any(is_geometry);
        let all = |at: usize| {
            let table = self.tables.get(at);
            let columns = table.into_iter().flat_map(|table| &table.columns);
            let shown = columns.filter(move |column| !column.invisible && !is_geometry(column));
            shown.map(move |column| ((at, column.name.clone()), column.name.clone(), has_geometry))
        };
        for output in &self.select.outputs {
            match output {
                SelectOutput::All => {
                    (0..self.tables.len()).try_for_each(|at| self.refuse_hidden(at))?;
                    found.extend((0..self.tables.len()).flat_map(all));
                }
                SelectOutput::AllOf(path) => {
                    let name = path.last();
                    let Some(at) = name.and_then(|name| self.select.called(&name.text)) else {
                        return unserved("selects `*` from something that is not a table", REWRITE);
                    };
                    self.refuse_hidden(at)?;
                    found.extend(all(at));
                }
                SelectOutput::One { name, value } => {
                    let is_computed = value.column().is_none();
                    for column in value.columns() {
                        let Some(at) = self.column(column) else {
                            let why = format!(
                                "selects `{}`, but it is unclear which table has this column",
                                column.name.text
                            );
                            return unserved(why, "write the table's alias before it");
                        };
                        let own = at.1.clone();
                        let name = name.as_ref().filter(|_| !is_computed);
                        let name = name.map_or(own, |name| name.text.clone());
                        found.push((at, name, is_computed));
                    }
                    let is_value = matches!(value.value, OperandValue::Constant(_))
                        || selected_parameter(value).is_some();
                    if value.columns().is_empty() && !is_value && self.figures().is_none() {
                        let why = "selects a value that does not come from a column";
                        return unserved(why, REWRITE);
                    }
                }
            }
        }
        for at in self.merged_by() {
            if !found.iter().any(|(known, ..)| *known == at) {
                let name = at.1.clone();
                found.push((at, name, false));
            }
        }
        Ok(found)
    }

    /// The columns by which the application makes groups, leaves them out and sorts them.
    fn merged_by(&self) -> impl Iterator<Item = At> {
        let sorted = self.query.order.iter().flatten();
        let sorted = sorted.filter(|_| self.figures().is_some());
        let sorted = sorted.flat_map(|key| key.column.iter().chain(&key.columns));
        let all = self.select.merged_by.iter().chain(sorted);
        all.filter_map(|column| self.column(column))
    }

    /// The constants and parameters that the query selects, by their names or their text.
    fn constant_outputs(&self) -> impl Iterator<Item = String> {
        let outputs = self.select.outputs.iter();
        outputs.filter_map(|output| match output {
            SelectOutput::One { name, value } => {
                // `count(1)` counts rows.
                let mut functions = functions(value).into_iter();
                if functions.any(|name| is_aggregate(&name)) {
                    return None;
                }
                let text = match &value.value {
                    OperandValue::Parameter(_) => format!(":{}", selected_parameter(value)?),
                    OperandValue::Constant(constant) => match constant {
                        Constant::Text(text) => format!("'{text}'"),
                        Constant::Number(number) => number.clone(),
                        Constant::Null => "NULL".to_owned(),
                        Constant::Boolean(value) => value.to_string().to_uppercase(),
                        Constant::Other => "a constant".to_owned(),
                    },
                    OperandValue::Column(_) | OperandValue::Expression(_) => return None,
                };
                let name = name.as_ref().map(|name| &name.text);
                Some(name.map_or_else(|| text.clone(), |name| format!("`{name}` ({text})")))
            }
            SelectOutput::All | SelectOutput::AllOf(_) => None,
        })
    }
}

/// The values that a query selects one by one.
fn selected_values(select: &Select) -> impl Iterator<Item = &Operand> {
    let outputs = select.outputs.iter();
    outputs.filter_map(|output| match output {
        SelectOutput::One { value, .. } => Some(value),
        SelectOutput::All | SelectOutput::AllOf(_) => None,
    })
}

/// The parameter that a query selects, as it is or in a cast.
fn selected_parameter(value: &Operand) -> Option<&str> {
    let is_cast = |one: &Wrapping| matches!(one, Wrapping::Cast(_));
    match &value.value {
        OperandValue::Parameter(name) if value.around.iter().all(is_cast) => Some(name),
        _ => None,
    }
}

/// Values of a list that a note names at most.
const NAMED: usize = 10;

/// That one request is asked for each value of a list.
fn note_of_list(list: &ValueList) -> String {
    let parameter = &list.parameter;
    if list.values.is_empty() {
        return format!(
            "one request for each distinct value of the array except NULL, passed as `{parameter}`; the estimate assumes {PAGE} values"
        );
    }
    let more = list.values.len().saturating_sub(NAMED);
    let named = list.values.iter().take(NAMED);
    let named = joined(named.map(|value| format!("`{value}`")), ", ");
    let more = text_if(more > 0, format!(" and {more} more"));
    format!("one request for each distinct value among {named}{more}, passed as `{parameter}`")
}

/// Each path once, under its first name, and no two under one name. Notes the names that are left out: they are of a column that is there, or
/// of one that a join holds equal to it.
fn distinct(outputs: Vec<(Path, String)>, notes: &mut Vec<Note>) -> Vec<(Path, String)> {
    let mut found: Vec<(Path, String)> = Vec::new();
    let mut equal: Vec<String> = Vec::new();
    for (path, name) in outputs {
        match found.iter().find(|(known, _)| *known == path) {
            None => {
                let is_taken = |name: &str| found.iter().any(|(_, known)| known == name);
                let name = free_name(&name, &is_taken);
                found.push((path, name));
            }
            Some((_, first)) if *first == name => {}
            Some((_, first)) => equal.push(format!("`{name}` (equal to `{first}`)")),
        }
    }
    note_names(notes, &equal, |equal| {
        format!("the answer omits columns that always equal another one: {equal}")
    });
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
pub(crate) fn is_one_row(ask: &Ask<'_>) -> bool {
    let mut key = ask.root.row_key().iter();
    !ask.root.row_key().is_empty() && key.all(|column| ask.has_equal(&Path::own(column)))
}

/// Whether an operand is a value in lower case, or in upper case, by which the same texts of ASCII are equal.
fn folds_case(operand: &Operand) -> bool {
    matches!(operand.around.as_slice(), [Wrapping::Function(name)] if name == "lower")
        || is_upper(operand)
}

/// Whether an operand is a value in upper case.
fn is_upper(operand: &Operand) -> bool {
    matches!(operand.around.as_slice(), [Wrapping::Function(name)] if name == "upper")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynafold_relational::catalog::sample::shop;

    #[test]
    fn what_is_not_the_same_at_any_time_decides_no_index() {
        let shop = shop();
        let why = |condition: &str| {
            let sql = format!("SELECT id FROM orders WHERE user_id = :u AND {condition}");
            ask(&sql, &shop, &Observed::default())
                .err()
                .map(|unserved| unserved.why)
        };
        for condition in [
            "placed_at <> clock_timestamp()",
            "placed_at <> transaction_timestamp()",
            "placed_at <> 'yesterday'",
            "placed_at <> 'today 10:00'::timestamptz",
            "placed_at <> CURRENT_TIMESTAMP",
            "user_id::text <> session_user",
            "user_id > random()",
            "user_id = 1 + nextval('orders_id_seq')",
            "user_id::text = gen_random_uuid()::text",
            "ARRAY[placed_at] && '{2026-01-01,today}'::timestamptz[]",
            "placed_at <@ '[2026-01-01,today]'::tsrange",
        ] {
            let why = why(condition).unwrap_or_default();
            assert!(
                why.contains("may change while the row stays the same"),
                "{condition}: {why}"
            );
        }
        assert_eq!(why("placed_at <> '2026-01-01'"), None);
        let mut shop = shop.clone();
        let orders = shop.tables.iter_mut();
        let orders = orders.filter(|table| table.name.name == "orders");
        let values = vec!["vip".to_owned()];
        let element = Box::new(DataType::Enum { values });
        let flags = DataType::Array { element };
        let flags = Column::new("flags".to_owned(), "flag[]".to_owned(), flags);
        orders.for_each(|table| table.columns.push(flags.clone()));
        for (condition, is_served) in [
            ("flags @> ARRAY['vip']::flag[]", true),
            ("flags @> ARRAY['vip']::other[]", false),
        ] {
            let sql = format!("SELECT id FROM orders WHERE user_id = :u AND {condition}");
            let read = ask(&sql, &shop, &Observed::default());
            assert_eq!(read.is_ok(), is_served, "{condition}");
        }
    }

    #[test]
    fn what_is_equal_beside_a_join_is_a_part_of_it_or_refused() {
        let shop = shop();
        let outer = "SELECT o.id, u.email FROM orders o LEFT JOIN users u ON u.id = o.user_id";
        let observed = Observed::default();
        let read = |sql: &str| ask(sql, &shop, &observed);
        let both = read(&format!("{outer} AND u.id = o.id WHERE o.id = :id"));
        assert!(both.is_err());
        let asks = read(&format!("{outer} AND u.email = o.id WHERE o.id = :id")).unwrap();
        let email = &asks[0].outputs[1].0;
        assert_eq!(email.steps[0].referenced, ["id", "email"]);
        let beside = read(&format!("{outer} WHERE o.id = :id AND u.email = o.id"));
        let why = beside
            .err()
            .map(|unserved| unserved.why)
            .unwrap_or_default();
        assert!(
            why.contains("outside their joins: `u.email = o.id`"),
            "{why}"
        );
    }

    #[test]
    fn columns_that_the_user_may_not_read_are_not_served() {
        let mut shop = shop();
        let users = shop.tables.iter_mut();
        let users = users.filter(|table| table.name.name == "users");
        users.for_each(|table| table.hidden_columns = Some(Vec::new()));
        let star = "selects `*` of users, which has columns that this user may not read";
        let column = "names the column `secret`, which none of its tables has as far as this user may read them";
        for (sql, expected) in [
            ("SELECT * FROM users WHERE id = :id", star),
            (
                "SELECT o.id, u.* FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = :id",
                star,
            ),
            ("SELECT id, secret FROM users WHERE id = :id", column),
            ("SELECT id, email FROM users WHERE id = :id", ""),
            (
                "SELECT o.*, u.email FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = :id",
                "",
            ),
        ] {
            let read = ask(sql, &shop, &Observed::default());
            let why = read.err().map(|unserved| unserved.why);
            assert_eq!(why.unwrap_or_default(), expected, "{sql}");
        }
        let own = crate::guess(&shop).into_iter().map(|one| one.sql);
        let own: Vec<String> = own.filter(|sql| sql.contains("FROM users")).collect();
        let is_named = |sql: &String| !sql.contains('*') && sql.contains("email");
        assert!(!own.is_empty() && own.iter().all(is_named), "{own:?}");
    }

    /// How many children a read has, its columns and its notes.
    type Told = (usize, Vec<String>, Vec<String>);

    /// The asks of a query over the shop, or why it is not served.
    fn asks_of(sql: &str) -> Result<Vec<Told>, String> {
        let shop = shop();
        let asks = ask(sql, &shop, &Observed::default()).map_err(|unserved| unserved.why)?;
        let told = asks.iter().map(|ask| {
            let outputs = ask.outputs.iter().map(|(path, _)| path.column.clone());
            let outputs: Vec<String> = outputs.collect();
            let notes: Vec<String> = ask.notes.iter().map(ToString::to_string).collect();
            (ask.children.len(), outputs, notes)
        });
        Ok(told.collect())
    }

    #[test]
    fn an_array_is_asked_by_a_request_for_each_of_its_values() {
        let shop = shop();
        let sql = "SELECT id FROM orders WHERE user_id = ANY($1)";
        let asks = ask(sql, &shop, &Observed::default()).unwrap();
        assert_eq!((asks.len(), asks[0].requests), (1, PAGE));
        assert_eq!(asks[0].equal[0].path, Path::own("user_id"));
        assert!(asks[0].sql.ends_with("WHERE user_id = :user_id"));
        let sql = "SELECT id FROM orders WHERE user_id = ANY('{1,2,3}')";
        let asks = ask(sql, &shop, &Observed::default()).unwrap();
        assert_eq!(asks[0].requests, 3);
        let sorted = "SELECT id, placed_at FROM orders WHERE user_id = ANY($1) ORDER BY placed_at";
        let limited = format!("{sorted} LIMIT 5");
        for (sql, merges) in [
            (sorted, "each request sorts its own rows: "),
            (&*limited, "each request returns its own page: "),
        ] {
            let mut asks = ask(sql, &shop, &Observed::default()).unwrap();
            let has_note = |ask: &Ask<'_>| {
                let mut notes = ask.notes.iter();
                notes.any(|note| note.to_string().starts_with(merges))
            };
            assert!(has_note(&asks[0]), "{sql}");
            asks[0].leave_order();
            assert!(!has_note(&asks[0]), "{sql}");
        }
    }

    #[test]
    fn what_is_computed_of_columns_is_selected_as_these_columns() {
        for value in [
            "coalesce(user_id, id)",
            "user_id || ' ' || id",
            "user_id * id",
            "CASE WHEN user_id > 5 THEN id END",
            "upper(user_id::text)",
            ":said::text AS said, user_id + 1",
        ] {
            let sql = format!("SELECT {value} FROM orders WHERE id = :id");
            let told = asks_of(&sql).unwrap_or_else(|why| panic!("{value}: {why}"));
            let (_, outputs, notes) = &told[0];
            for column in ["id", "user_id"] {
                assert!(outputs.iter().any(|one| one == column), "{value}");
            }
            assert!(notes.iter().any(|one| one == COMPUTED), "{value}");
        }
        let joined = "SELECT upper(u.email), o.id FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = :u";
        for (children, _, notes) in asks_of(joined).unwrap() {
            let has_note = notes.iter().any(|one| one == COMPUTED);
            assert!(has_note, "{children} children");
        }
        let with =
            "FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = :u GROUP BY u.email";
        for (value, is_noted) in [("upper(u.email)", true), ("u.email", false)] {
            let told = asks_of(&format!("SELECT {value}, json_agg(o.id) {with}")).unwrap();
            let (children, _, notes) = &told[0];
            let has_note = notes.iter().any(|one| one == COMPUTED);
            assert_eq!((*children, has_note), (1, is_noted), "{value}");
        }
        let compared = |to: &str| {
            let sql = "SELECT id FROM orders WHERE id = :id AND coalesce(user_id, 0) =";
            asks_of(&format!("{sql} {to}"))
        };
        let why = compared(":u").unwrap_err();
        assert!(why.ends_with("which is computed"), "{why}");
        assert!(compared("0").is_ok());
    }

    #[test]
    fn what_makes_sorts_and_leaves_out_groups_is_in_the_answer() {
        for (selected, clauses) in [
            ("count(*)", "GROUP BY placed_at"),
            (
                "user_id, count(*)",
                "GROUP BY user_id HAVING max(placed_at) > :at",
            ),
            (
                "user_id, count(*)",
                "GROUP BY user_id ORDER BY max(placed_at) DESC",
            ),
            ("user_id, count(*)", "GROUP BY user_id ORDER BY placed_at"),
            ("DISTINCT ON (placed_at) user_id", ""),
        ] {
            let sql = format!("SELECT {selected} FROM orders WHERE user_id = :u {clauses}");
            let told = asks_of(&sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
            let (_, outputs, _) = &told[0];
            assert!(outputs.contains(&"placed_at".to_owned()), "{sql}");
        }
        // What the result calls so is no column of the table.
        let named = "SELECT user_id, count(*) AS placed_at FROM orders WHERE user_id = :u GROUP BY user_id ORDER BY placed_at";
        let (_, outputs, _) = &asks_of(named).unwrap()[0];
        assert!(!outputs.contains(&"placed_at".to_owned()));
    }

    #[test]
    fn a_count_of_a_constant_is_no_constant() {
        let told = asks_of("SELECT count(1) FROM orders WHERE user_id = :u").unwrap();
        let (_, _, notes) = &told[0];
        assert!(
            !notes.iter().any(|note| note.contains("constants")),
            "{notes:?}"
        );
    }

    #[test]
    fn a_limit_that_means_none_is_none() {
        let mut shop = shop();
        for (dbms, limit) in [
            (Dbms::Mysql, "LIMIT 20, 18446744073709551615"),
            (Dbms::Sqlite, "LIMIT -1 OFFSET 20"),
        ] {
            shop.dbms = dbms;
            let sql = format!("SELECT id FROM orders WHERE user_id = :u ORDER BY id {limit}");
            let asks = ask(&sql, &shop, &Observed::default()).unwrap();
            assert!(asks.iter().all(|ask| ask.limit.is_none()), "{limit}");
        }
    }

    #[test]
    fn a_parent_of_which_the_key_is_selected_has_a_row_without_children_behind_an_outer_join() {
        let sql = |join: &str, key: &str| {
            format!(
                "SELECT u.id, o.placed_at FROM users u {join} orders o ON o.user_id = u.id WHERE {key} = :u"
            )
        };
        let includes = "the answer also has rows of users that have no row in orders";
        for (join, key, children, is_noted) in [
            ("LEFT JOIN", "u.id", 1, false),
            ("LEFT JOIN", "o.user_id", 1, true),
            ("JOIN", "u.id", 0, false),
        ] {
            let told = asks_of(&sql(join, key)).unwrap();
            let (found, _, notes) = &told[0];
            let has_note = notes.iter().any(|one| one == includes);
            assert_eq!((*found, has_note), (children, is_noted), "{join} {key}");
        }
    }

    #[test]
    fn what_the_time_zone_of_a_session_decides_decides_no_index() {
        let mut shop = shop();
        let columns = shop.tables.iter_mut().flat_map(|table| &mut table.columns);
        for column in columns.filter(|column| column.name == "placed_at") {
            let (digits, zone) = (6, true);
            column.data_type = DataType::Timestamp { digits, zone };
        }
        let mut tables = shop.tables.iter_mut();
        let orders = tables.find(|table| table.name.name == "orders").unwrap();
        let due = Column::new("due".to_owned(), String::new(), DataType::Date);
        orders.columns.push(due);
        for (condition, is_served) in [
            ("EXTRACT(YEAR FROM placed_at) = 2026", false),
            ("left(placed_at::text, 10) = '2026-01-01'", false),
            ("placed_at::text = '2026-01-01 00:00:00+00'", false),
            ("NOT (placed_at::text = '2026')", false),
            ("placed_at LIKE '2026-%'", false),
            ("placed_at >= '2026-01-31'", false),
            ("placed_at < DATE '2026-01-31'", false),
            ("placed_at IN ('2026-01-31 10:00:00', '2026-01-31Z')", false),
            ("placed_at >= '2026-01-31 10:00:00-05:30'", true),
            ("placed_at = 'infinity'", true),
            ("NOT (placed_at IS NULL AND user_id = 3)", true),
            ("NOT (placed_at >= '2026-01-31' AND user_id = 3)", false),
            (
                "NOT (placed_at >= '2026-01-31 10:00:00+00' AND user_id = 3)",
                true,
            ),
            ("NOT (placed_at IS NULL AND user_id::text = 'a')", true),
            ("placed_at >= due", false),
            ("NOT (placed_at >= due AND user_id = 3)", false),
            ("due IS NOT NULL", true),
            ("placed_at <@ '[2026-01-31,2026-02-01)'", false),
            ("placed_at IS NOT NULL", true),
            ("user_id::text = '7'", true),
        ] {
            let sql = format!("SELECT id FROM orders WHERE user_id = :u AND {condition}");
            let read = ask(&sql, &shop, &Observed::default());
            assert_eq!(read.is_ok(), is_served, "{condition}");
        }
        shop.dbms = Dbms::Mysql;
        for condition in [
            "placed_at >= '2026-01-31T10:00:00Z'",
            "placed_at >= '2026-01-31 10:00:00+00:00'",
            "placed_at >= 20260131",
            "NOT (placed_at >= 20260131 AND user_id = 3)",
        ] {
            let sql = format!("SELECT id FROM orders WHERE user_id = :u AND {condition}");
            let why = ask(&sql, &shop, &Observed::default()).err();
            let why = why.map(|unserved| unserved.why).unwrap_or_default();
            assert!(why.contains("time zone"), "{condition}: {why}");
        }
    }

    #[test]
    fn a_way_out_leads_out() {
        let shop = shop();
        let instead = |sql: &str| {
            let read = ask(sql, &shop, &Observed::default());
            read.err().map(|unserved| unserved.instead)
        };
        let orders = |condition: &str| format!("SELECT id FROM orders WHERE {condition}");
        for (sql, way_out) in [
            (orders("user_id IS NOT DISTINCT FROM :u"), OR_NULL),
            (orders("user_id = :u AND id <> ALL(:ids)"), LEAVE_OUT),
            (
                "SELECT id, row_number() OVER (ORDER BY id) FROM orders WHERE user_id = :u".to_owned(),
                WINDOW,
            ),
            (
                "SELECT u.id, o.id FROM users u CROSS JOIN LATERAL (SELECT id FROM orders WHERE user_id = u.id LIMIT 1) o".to_owned(),
                EACH,
            ),
            (
                "WITH t AS (SELECT user_id, sum(id) s FROM orders GROUP BY user_id) SELECT * FROM t WHERE s > :s".to_owned(),
                OF_AGGREGATES,
            ),
            (
                "SELECT q.id FROM (SELECT id FROM orders) q WHERE q.id = :i".to_owned(),
                ONE_SELECT,
            ),
            (
                "SELECT u.id, o.id FROM users u LEFT JOIN orders o ON o.user_id = u.id AND o.id > 20 WHERE u.id = :u".to_owned(),
                OUT_OF_ON,
            ),
        ] {
            assert_eq!(instead(&sql), Some(way_out), "{sql}");
        }
        let mut timed = shop.clone();
        let columns = timed.tables.iter_mut().flat_map(|table| &mut table.columns);
        for column in columns.filter(|column| column.name == "placed_at") {
            let (digits, zone) = (6, true);
            column.data_type = DataType::Timestamp { digits, zone };
        }
        let read = |condition: &str| ask(&orders(condition), &timed, &Observed::default());
        for (condition, way_out) in [
            ("user_id = :u AND placed_at::date = :day", DAY),
            ("user_id = :u AND user_id::date = :day", MATERIALIZE),
        ] {
            let instead = read(condition).err().map(|unserved| unserved.instead);
            assert_eq!(instead, Some(way_out), "{condition}");
        }
    }

    #[test]
    fn what_is_not_read_is_called_what_it_is() {
        let joined = "FROM users u LEFT JOIN orders o ON o.user_id = u.id";
        for (sql, reason) in [
            (
                "WITH o AS (SELECT * FROM orders) SELECT id FROM o WHERE id = :i",
                "has a WITH query",
            ),
            (
                "SELECT q.id FROM (SELECT id FROM orders) q WHERE q.id = :i",
                "has a query in FROM",
            ),
            (
                "SELECT g FROM generate_series(1, 3) g",
                "not a table, such as a function",
            ),
            (
                "SELECT id FROM orders WHERE user_id = :u ORDER BY id DESC NULLS\n LAST",
                "has NULLS FIRST or NULLS LAST",
            ),
            (
                "SELECT array_agg(id) FROM orders WHERE user_id = :u",
                "gathers the rows of one table into lists",
            ),
            (
                &*format!("SELECT u.email, o.id {joined} WHERE u.id = :u AND o.placed_at > :at"),
                "one row, found by its key alone",
            ),
            (
                &*format!("SELECT u.id, count(o.id) {joined} GROUP BY u.id"),
                "computes count() over rows together with their children",
            ),
            (
                &*format!("SELECT u.id, json_agg(o.id) {joined} GROUP BY u.id"),
                "one row, found by its key alone",
            ),
        ] {
            let why = asks_of(sql).unwrap_err();
            assert!(why.contains(reason), "{sql}: {why}");
        }
    }

    #[test]
    fn no_index_holds_what_a_search_for_words_finds() {
        let mut shop = shop();
        for (dbms, conditions) in [
            (
                Dbms::Postgres,
                &["email @@ to_tsquery('ann')", "email @@ to_tsquery(:q)"][..],
            ),
            (
                Dbms::Mysql,
                &[
                    "MATCH (email) AGAINST ('ann')",
                    "MATCH (users.email) AGAINST (:q IN BOOLEAN MODE)",
                    "MATCH (email) AGAINST ('ann') > 0.5",
                    "NOT MATCH (email) AGAINST ('ann') AND id = :id",
                ][..],
            ),
            (Dbms::Sqlite, &["email MATCH 'ann'"][..]),
        ] {
            shop.dbms = dbms;
            for condition in conditions {
                let sql = format!("SELECT id FROM users WHERE {condition}");
                let why = ask(&sql, &shop, &Observed::default()).err();
                let why = why.map(|unserved| unserved.why).unwrap_or_default();
                assert!(
                    why.starts_with("searches texts for words"),
                    "{condition}: {why}"
                );
            }
        }
        shop.dbms = Dbms::Mysql;
        let score = "SELECT id, MATCH (email) AGAINST (:q) AS score FROM users WHERE id = :id";
        let why = ask(score, &shop, &Observed::default()).err();
        let why = why.map(|unserved| unserved.why).unwrap_or_default();
        assert_eq!(why, "selects the result of a text search");
    }
}
