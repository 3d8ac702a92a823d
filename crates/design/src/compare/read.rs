//! What SQL asks: that of a statement, or that of an access pattern.

use dynafold_relational::catalog::{Catalog, Dbms, TableName};
use dynafold_sql::{
    ColumnRef, Condition, InResult, Lists, Name, Operand, OperandValue, RowLimit, Select,
    SelectOutput, SortKey, SqlQuery, UnreadableSql, Wrapping, parametrized,
};

use super::conditions::{Reads, Taken};
use crate::ask::Ask;
use crate::facts::Facts;
use crate::path::Path;

/// Reads a query, also one with parameters as drivers write them: `$1`, `?`.
pub(super) fn query(sql: &str, dbms: Dbms) -> Result<SqlQuery, UnreadableSql> {
    match SqlQuery::read(sql, Some(dbms)) {
        Err(UnreadableSql::Parameter(_)) => {
            let named = parametrized(sql, dbms, Lists::Kept)?;
            SqlQuery::read(&named.sql, Some(dbms))
        }
        read => read,
    }
}

/// A way to read what SQL asks for, with the rows that it takes.
pub(super) struct Way<'c> {
    pub(super) ask: Ask<'c>,
    pub(super) taken: Taken<'c>,
}

impl Way<'_> {
    /// Whether it takes the same rows as another, by the same conditions.
    fn takes_same(&self, other: &Self) -> bool {
        let (own, theirs) = (&self.ask.children, &other.ask.children);
        let mut children = own.iter().zip(theirs);
        self.taken.is_same(&other.taken)
            && own.len() == theirs.len()
            && children
                .all(|(own, other)| (&own.table.name, &own.way) == (&other.table.name, &other.way))
    }
}

/// What SQL asks.
pub(super) struct Read<'c> {
    pub(super) query: SqlQuery,
    /// The ways to read it: one that is served is enough.
    pub(super) ways: Vec<Way<'c>>,
    /// The same with literals that count as examples there.
    pub(super) meant: Vec<Way<'c>>,
}

impl<'c> Read<'c> {
    pub(super) fn new(query: SqlQuery, ways: Vec<Ask<'c>>, meant: Vec<Ask<'c>>) -> Self {
        let of = |asks: Vec<Ask<'c>>| -> Vec<Way<'c>> {
            let ways = asks.into_iter().map(|ask| Way {
                taken: Taken::of(&ask),
                ask,
            });
            ways.collect()
        };
        Self {
            query,
            ways: of(ways),
            meant: of(meant),
        }
    }

    pub(super) fn asks(&self) -> impl Iterator<Item = &Ask<'c>> + Clone {
        self.ways.iter().map(|way| &way.ask)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Way<'c>> {
        self.ways.iter().chain(&self.meant)
    }

    /// The rows of a table that it takes.
    pub(super) fn of_table<'a>(&'a self, root: &TableName, facts: Facts<'a>) -> Reads<'a> {
        let taken = self.all().map(|way| &way.taken);
        let ways = taken.filter(|taken| taken.root.name == *root).collect();
        Reads { facts, ways }
    }

    fn merges(&self) -> bool {
        self.asks().any(Ask::merges)
    }

    /// Whether it finds one row at most, by a key.
    pub(super) fn finds_one(&self, facts: Facts<'_>) -> bool {
        let is_one = |ask: &Ask<'_>| ask.children.is_empty() && facts.asks_for_key(ask);
        self.asks().any(is_one)
    }

    /// Whether it asks for one greatest or least value, which has no LIMIT in its SQL.
    fn is_extreme(&self, way: &Way<'_>) -> bool {
        self.query.limit == RowLimit::None && way.ask.limit == Some(1) && !way.ask.is_page
    }

    fn has_extreme(&self) -> bool {
        self.ways.iter().any(|way| self.is_extreme(way))
    }

    /// Most rows, which a read with OFFSET takes as a page; `None` where it may be any number.
    pub(super) fn most(&self) -> Option<u64> {
        match self.query.limit {
            RowLimit::Rows(rows) => Some(rows),
            _ => self.has_extreme().then_some(1),
        }
    }

    /// The order that decides which rows come first.
    pub(super) fn order<'a>(&self, way: &'a Way<'_>) -> &'a [(Path, bool)] {
        let all = &way.ask.order;
        let first = all.get(..1).filter(|_| self.is_extreme(way));
        first.unwrap_or(all)
    }

    /// Whether it takes the rows of a read by the same conditions. The merged rows of several requests are not those of one.
    pub(super) fn takes_same(&self, read: &Self) -> bool {
        read.all().any(|read| {
            self.ways.iter().any(|own| {
                let has_requests = own.ask.requests == read.ask.requests;
                own.takes_same(read) && (!own.ask.merges() || has_requests)
            })
        })
    }

    /// Whether this, of an access pattern, merges rows, skips them or cuts them by a LIMIT, and a read may ask for others.
    pub(super) fn may_return_fewer(&self, read: &Self, facts: Facts<'_>) -> bool {
        if self.merges() {
            return !read.merges() || merges_otherwise(&self.query, &read.query, facts.catalog);
        }
        let skips = matches!(self.query.offset, RowLimit::Rows(rows) if rows > 0);
        if skips && self.query.offset != read.query.offset {
            return true;
        }
        let Some(cut) = self.most().filter(|_| !self.finds_one(facts)) else {
            return false;
        };
        // The LIMIT of a read that merges rows counts the merged ones.
        if read.merges() || read.most().is_none_or(|wanted| wanted > cut) {
            return true;
        }
        let is_sorted = |way: &&Way<'_>| !way.ask.sorts && way.ask.children.is_empty();
        let sorts_so = |one: &Way<'_>| {
            let mut own = self.ways.iter().filter(is_sorted);
            own.any(|way| way.ask.order.starts_with(read.order(one)))
        };
        // A greatest or least value is sorted for without ORDER BY.
        let is_same_order = keys(&self.query, facts.catalog) == keys(&read.query, facts.catalog)
            && !self.has_extreme()
            && !read.has_extreme();
        !is_same_order && !read.ways.iter().filter(is_sorted).any(sorts_so)
    }
}

/// A column as a query names it, whatever it calls the table.
fn resolved(column: &ColumnRef, select: &Select, catalog: &Catalog) -> ColumnRef {
    let name = |text: String| Name {
        text,
        is_exact: true,
    };
    let origin = select.origin(column, catalog);
    origin.map_or_else(
        || column.clone(),
        |(at, table, found)| ColumnRef {
            schema: None,
            owner: Some(name(format!("{} {at}", table.name.name))),
            name: name(found.name.clone()),
        },
    )
}

/// What a query sorts by, wherever that stands in its text.
fn keys(query: &SqlQuery, catalog: &Catalog) -> Vec<SortKey> {
    let keys = query.order.iter().flatten();
    let keys = keys.map(|key| {
        let column = key.column.as_ref().zip(query.select());
        let column = column.map(|(column, select)| resolved(column, select, catalog));
        SortKey {
            result: match &column {
                Some(_) => InResult::Expression,
                None => key.result.clone(),
            },
            column,
            columns: Vec::new(),
            span: 0..0,
            ..key.clone()
        }
    });
    keys.collect()
}

/// Whether a query selects what a function makes of one argument.
pub(super) fn selects_function(sql: &str, function: &str, dbms: Dbms) -> bool {
    let is_it = |output: &SelectOutput| matches!(output, SelectOutput::One { value, .. } if calls(value, function));
    let query = query(sql, dbms).ok();
    let select = query.as_ref().and_then(SqlQuery::select);
    select.is_some_and(|select| select.outputs.iter().any(is_it))
}

fn calls(value: &Operand, function: &str) -> bool {
    matches!(value.around.first(), Some(Wrapping::Function(name)) if name == function)
}

/// What a query that merges rows selects: its words, its name where that counts, and its columns.
type MergedOutput = (Option<SelectOutput>, Option<Name>, Vec<ColumnRef>);

/// Whether outputs give a value of merged rows: as it is, a count of a column that is never NULL as that of the rows, or a mean as a sum and
/// a count.
fn gives(outputs: &[MergedOutput], wanted: &MergedOutput, is_never_null: bool) -> bool {
    let (Some(SelectOutput::One { value, .. }), _, columns) = wanted else {
        return outputs.contains(wanted);
    };
    let has = |function: &str| {
        let mut value = value.clone();
        if let Some(outermost) = value.around.first_mut() {
            *outermost = Wrapping::Function(function.to_owned());
        }
        let words = SelectOutput::One { name: None, value };
        outputs.contains(&(Some(words), None, columns.clone()))
    };
    let counts_rows = |(words, ..): &MergedOutput| {
        matches!(words, Some(SelectOutput::One { value, .. }) if value.around.is_empty()
            && matches!(&value.value, OperandValue::Expression(one) if one.text == "count(*)"))
    };
    let has_count = || has("count") || is_never_null && outputs.iter().any(counts_rows);
    outputs.contains(wanted)
        || calls(value, "count") && has_count()
        || calls(value, "avg") && has("sum") && has_count()
}

/// Whether SQL that merges rows, `own`, is not known to give all merged rows that a read asks for, with what it asks of them.
fn merges_otherwise(own: &SqlQuery, read: &SqlQuery, catalog: &Catalog) -> bool {
    let Some((ours, asked)) = own.select().zip(read.select()) else {
        return true;
    };
    let is_cut = own.limit != RowLimit::None || own.offset != RowLimit::None;
    // Its ORDER BY decides which rows there are.
    let picks = is_cut || ours.distinct_on.is_some();
    let merged = |select: &Select| {
        let of = |column: &ColumnRef| resolved(column, select, catalog);
        // A column with one value in all rows tells no groups apart.
        let fixed = select.conditions.iter().filter_map(Condition::fixed);
        let fixed: Vec<ColumnRef> = fixed.map(of).collect();
        let outputs = select.outputs.iter().filter_map(|output| {
            let SelectOutput::One { name, value } = output else {
                return Some((Some(output.clone()), None, Vec::new()));
            };
            let is_fixed = |column: &ColumnRef| fixed.contains(&of(column));
            if !picks && value.column().is_some_and(is_fixed) {
                return None;
            }
            let words = value.column().is_none().then(|| SelectOutput::One {
                name: None,
                value: value.without_owners(),
            });
            // ORDER BY may sort by the names of what is selected.
            let name = name.clone().filter(|_| picks);
            Some((words, name, value.columns().iter().map(of).collect()))
        });
        let grouped = select.grouped_by.as_ref().map(|by| {
            let all = by.iter().map(of);
            all.filter(|column| !fixed.contains(column))
                .collect::<Vec<_>>()
        });
        // By nothing else all rows are one group: that of no rows has no row.
        let outputs: Vec<MergedOutput> = outputs.collect();
        (outputs, grouped)
    };
    // The argument of a function is a column that has a value in each row.
    let is_never_null = |one: &MergedOutput| {
        let (Some(SelectOutput::One { value, .. }), ..) = one else {
            return false;
        };
        let OperandValue::Column(column) = &value.value else {
            return false;
        };
        let origin = asked.origin(column, catalog);
        origin.is_some_and(|(at, _, column)| {
            let relation = asked.relations.get(at);
            value.around.len() == 1
                && !column.nullable
                && relation.is_some_and(|one| !one.may_be_missing)
        })
    };
    let differs = || {
        let ((our_outputs, our_groups), (outputs, groups)) = (merged(ours), merged(asked));
        if picks || ours.distinct {
            return our_outputs != outputs || our_groups != groups;
        }
        let Some((our_groups, groups)) = our_groups.zip(groups) else {
            return true;
        };
        let is_given = |one: &MergedOutput| gives(&our_outputs, one, is_never_null(one));
        !outputs.iter().all(is_given)
            || !groups.iter().all(|one| our_groups.contains(one))
            || !our_groups.iter().all(|one| groups.contains(one))
    };
    let tables = |query: &SqlQuery| {
        let names = query.tables.iter().map(|table| table.name.clone());
        names.collect::<Vec<_>>()
    };
    let mut sorted = read.order.iter().flatten();
    ours.having
        || asked.having
        || ours.grouped_by.is_none()
        || sorted.any(|key| key.result == InResult::Expression && key.column.is_none())
        || (ours.distinct, &ours.distinct_on) != (asked.distinct, &asked.distinct_on)
        || differs()
        || tables(own) != tables(read)
        || picks
            && (&own.limit, &own.offset, keys(own, catalog))
                != (&read.limit, &read.offset, keys(read, catalog))
}
