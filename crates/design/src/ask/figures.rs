//! Figures over many rows, `count` and `sum` by groups: read from an item for each group instead of the rows.

use std::collections::BTreeSet;

use dynafold_format::{joined, text_if};
use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table, TableName, TypeFamily};
use dynafold_sql::{
    ColumnRef, Condition, ConditionTest, Constant, InResult, Lists, Operand, OperandValue,
    RowLimit, SelectOutput, Wrapping, WriteKind, identifier, is_aggregate,
};

use super::sql::{direction, ignores_blanks, mysql_bytes};
use super::{Reading, functions, selected_values, why_mixed, with_reading};
use crate::observed::Observed;

/// The column and the value, in SQL, that stand for a group where all rows are one group.
pub(crate) const TOTAL: (&str, &str) = ("figure", "'all'");

/// Whether a column by which rows of a table are grouped stands for all rows as one group.
pub(crate) fn is_total(table: &Table, column: &str) -> bool {
    column == TOTAL.0 && table.column(column).is_none()
}

/// A figure of a group of rows: the number of rows, of rows in which a column is not NULL, or the sum of a column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Figure {
    /// `count` or `sum`.
    pub(crate) function: &'static str,
    /// The column that is counted or summed; `None` to count rows.
    pub(crate) column: Option<String>,
}

/// Columns that are equal to a parameter, each with the parameter's name, and the other conditions.
type CountedRows<'q> = (Vec<(String, String)>, Vec<&'q Condition>);

impl Figure {
    /// The number of rows.
    const ROWS: Self = Self {
        function: "count",
        column: None,
    };

    /// The name of its attribute.
    pub(crate) fn name(&self) -> String {
        match &self.column {
            Some(column) => format!("{}_{column}", self.function),
            None => self.function.to_owned(),
        }
    }

    /// The figure in SQL. `written`: a column in SQL.
    pub(crate) fn sql(&self, written: &dyn Fn(&str) -> String) -> String {
        let column = self.column.as_deref();
        let column = column.map_or_else(|| "*".to_owned(), written);
        format!("{}({column})", self.function)
    }
}

/// A query that computes figures, as a query over a table that holds them.
#[derive(Debug, Clone)]
pub(crate) struct FigureQuery {
    /// The table whose rows are counted.
    pub(crate) base: TableName,
    /// The columns by which they are grouped.
    pub(crate) groups: Vec<String>,
    pub(crate) figures: BTreeSet<Figure>,
    /// The conditions, in SQL, of the rows that are counted: none if all are.
    pub(crate) conditions: Vec<String>,
    /// The columns that decide whether a row is counted.
    pub(crate) decided_by: BTreeSet<String>,
    /// The table of the rows as FROM names it.
    pub(crate) from: String,
    /// The query over the table of figures: what stands before that table's name, and behind it.
    pub(crate) over: [String; 2],
    /// The query over the rows, and the same without order and limit.
    pub(crate) answer: [String; 2],
    /// Notes for the report.
    pub(crate) notes: Vec<String>,
}

impl FigureQuery {
    /// Whether it has all groups of another query over the same rows of `table`, with the figures that this selects.
    pub(crate) fn has(&self, other: &Self, table: &Table) -> bool {
        fn set(all: &[String]) -> BTreeSet<&String> {
            all.iter().collect()
        }
        let is_there = |wanted: &Figure| self.selected().any(|own| own == wanted);
        let is_of_rows = |figure: &Figure| {
            let column = figure.column.as_ref().and_then(|name| table.column(name));
            figure.function == "count" && column.is_some_and(|column| !column.nullable)
        };
        let [sorted, unsorted] = &self.answer;
        sorted == unsorted
            && self.base == other.base
            && set(&self.groups) == set(&other.groups)
            && set(&self.conditions) == set(&other.conditions)
            && other
                .selected()
                .all(|one| is_there(one) || is_of_rows(one) && is_there(&Figure::ROWS))
    }

    /// The figures that it selects: of groups without any the rows are counted all the same.
    fn selected(&self) -> impl Iterator<Item = &Figure> {
        let [_, unsorted] = &self.answer;
        let counts_rows = unsorted.contains("count(*)");
        let figures = self.figures.iter();
        figures.filter(move |figure| figure.column.is_some() || counts_rows)
    }

    /// How many groups' figures one write of a row changes: two if it may move the row into another group.
    pub(crate) fn times(&self, kind: WriteKind, columns: &[String]) -> f64 {
        let may_move =
            |column: &String| self.groups.contains(column) || self.decided_by.contains(column);
        let is_summed = |column: &String| {
            let mut figures = self.figures.iter();
            figures.any(|figure| figure.column.as_ref() == Some(column))
        };
        match kind {
            WriteKind::Insert | WriteKind::Delete => 1.0,
            WriteKind::Update if columns.iter().any(may_move) => 2.0,
            WriteKind::Update if columns.iter().any(is_summed) => 1.0,
            WriteKind::Update => 0.0,
        }
    }
}

/// Reads a query of figures; `None` if it asks for anything else, or its figures cannot be kept up to date.
pub(crate) fn figure_query(
    sql: &str,
    catalog: &Catalog,
    observed: &Observed,
) -> Option<FigureQuery> {
    with_reading(sql, (catalog, observed), Lists::Kept, |reading| {
        reading.figure_query()
    })
    .ok()?
}

/// Why the figures of a query cannot be kept up to date because of one of its columns, with the way out.
pub(crate) fn unkept_figures(
    sql: &str,
    catalog: &Catalog,
    observed: &Observed,
) -> Option<(String, &'static str)> {
    with_reading(sql, (catalog, observed), Lists::Kept, |reading| {
        let sum = reading.inexact_sum().map(|column| {
            let why = format!("the sum of `{column}` depends on the order of the rows (floating point), so it cannot be kept up to date in an item");
            (why, "store it as whole numbers (cents), whose sums are exact, or export the table and query it with Athena")
        });
        if reading.groups_by_computed() {
            let why = "they are grouped by a computed value";
            let (said, exactly) = match sum {
                Some((sum, _)) => (format!("{why}, and {sum}"), EXACT_GROUP),
                None => (why.to_owned(), GROUP),
            };
            return Some((said, exactly));
        }
        sum.or_else(|| reading.unkept_group())
    })
    .ok()?
}

const GROUP: &str = "store the computed value in a column of its own and group by that, or export the table and query it with Athena";
const EXACT_GROUP: &str = "store the computed value in a column of its own and group by that, and store what is summed as whole numbers (cents), whose sums are exact; or export the table and query it with Athena";

/// Whether the sum of a column's values is the same in any order of the rows: not of doubles, which SQLite's decimals are too. Whole
/// numbers that may be negative are decimals here (`with_signed`).
fn is_summed_exactly(column: &Column, dbms: Dbms) -> bool {
    match &column.data_type {
        DataType::Integer { .. } => true,
        DataType::Decimal { .. } => {
            dbms != Dbms::Sqlite || column.declared.to_lowercase().contains("int")
        }
        _ => false,
    }
}

/// A column of the result: its name, with the column of the group (`Ok`) or the figure (`Err`).
type Output = (String, Result<String, Figure>);

impl Reading<'_, '_> {
    /// Whether a value that the query selects for each group is computed.
    fn groups_by_computed(&self) -> bool {
        let mut values = selected_values(self.select);
        let is_figure = |value: &Operand| functions(value).iter().any(|one| is_aggregate(one));
        self.select.groups
            && self.select.grouped_by.is_none()
            && values.any(|value| {
                value.is_computed() && !value.columns().is_empty() && !is_figure(value)
            })
    }

    /// A column whose sum or mean, which the query computes, depends on the order of the rows.
    fn inexact_sum(&self) -> Option<String> {
        let mut values = selected_values(self.select);
        values.find_map(|value| match (&value.value, value.around.as_slice()) {
            (OperandValue::Column(column), [Wrapping::Function(name)])
                if ["sum", "avg", "total"].contains(&&**name) =>
            {
                let (at, name) = self.column(column)?;
                let column = self.tables.get(at)?.column(&name)?;
                let is_number = column.data_type.family() == TypeFamily::Number;
                let is_exact = is_summed_exactly(column, self.catalog.dbms);
                (is_number && !is_exact).then_some(name)
            }
            _ => None,
        })
    }

    /// Why a key cannot stand for each group of the query because of a column by which it groups, or that is equal to a parameter, with the way out.
    fn unkept_group(&self) -> Option<(String, &'static str)> {
        let &[table] = self.tables.as_slice() else {
            return None;
        };
        let grouped = self.select.grouped_by.iter().flatten();
        let given = self.conditions.iter().filter_map(|one| {
            let [left, right] = one.equal()?;
            right.parameter().and_then(|_| left.column())
        });
        let distinct = selected_values(self.select).filter(|_| self.select.distinct);
        let distinct = distinct.filter_map(Operand::column);
        let all = grouped.chain(given).chain(distinct);
        let mut all = all.filter_map(|one| self.column(one));
        let (_, name) = all.find(|(_, name)| !self.is_group(table, name))?;
        let column = table.column(&name)?;
        let end = "so the aggregates cannot be kept up to date in items";
        if column.insensitive {
            let why =
                format!("the collation of `{name}` may put different texts into one group, {end}");
            return Some((
                why,
                "give the column a collation that compares bytes, keep the aggregate in an item that each write updates, or export the table and query it with Athena",
            ));
        }
        let why = if self.observed.is_mixed(table, &name) {
            format!("`{name}`, {}, {end}", why_mixed(column).0)
        } else {
            let declared = match &*column.declared {
                "" => "any type",
                declared => declared,
            };
            format!(
                "values of `{name}` ({declared}) may be equal though their texts in a key differ, {end}"
            )
        };
        Some((
            why,
            "group by a column of another type, keep the aggregate in an item that each write updates, or export the table and query it with Athena",
        ))
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one reading of a query, from its outputs to its order"
    )]
    fn figure_query(&self) -> Option<FigureQuery> {
        let ([table], Some(grouped)) = (self.tables.as_slice(), &self.select.grouped_by) else {
            return None;
        };
        let is_readable = !self.select.having
            && self.extreme.is_none()
            && table.readable
            && !table.row_key().is_empty()
            && self.query.offset == RowLimit::None
            && matches!(self.query.limit, RowLimit::None | RowLimit::Rows(_));
        if !is_readable || self.select.distinct_on.is_some() {
            return None;
        }
        let (equal, conditions) = self.counted()?;
        let mut groups: Vec<String> = equal.iter().map(|(column, _)| column.clone()).collect();
        let mut add = |column: &ColumnRef| {
            let (_, name) = self.column(column)?;
            if !groups.contains(&name) {
                groups.push(name);
            }
            Some(())
        };
        grouped.iter().try_for_each(&mut add)?;
        let mut outputs: Vec<Output> = Vec::new();
        let mut notes = Vec::new();
        // Whether outputs are at other positions than in the query, and whether one has lost its name.
        let (mut is_shifted, mut is_renamed) = (false, false);
        let mut named_figures = BTreeSet::new();
        for output in &self.select.outputs {
            let SelectOutput::One { name, value } = output else {
                return None;
            };
            let called = |own: String| name.as_ref().map_or(own, |name| name.text.clone());
            if let Some(column) = value.column() {
                // DISTINCT groups by all that it selects.
                if self.select.distinct {
                    add(column)?;
                }
                let (_, own) = self.column(column)?;
                outputs.push((called(own.clone()), Ok(own)));
                continue;
            }
            // The constant that names the one group of all rows is no output.
            let is_group_name = name.as_ref().is_some_and(|name| name.text == TOTAL.0);
            if is_group_name && matches!(value.value, OperandValue::Constant(_)) {
                is_shifted = true;
                continue;
            }
            let figures = self.figures_of(value, table)?;
            let is_one = figures.len() == 1;
            if !is_one {
                is_shifted = true;
                notes.push("the application divides the sum by the count".to_owned());
            }
            for figure in figures {
                let is_named = is_one && name.is_some();
                let name = if is_one {
                    called(figure.name())
                } else {
                    figure.name()
                };
                // An item has each figure once, also if a mean needs the sum that is selected, or if one is selected twice.
                let known = outputs
                    .iter_mut()
                    .find(|(_, of)| of.as_ref() == Err(&figure));
                let was_named = is_named && !named_figures.insert(figure.clone());
                match known {
                    None => outputs.push((name, Err(figure))),
                    Some((known, _)) if was_named && *known != name => {
                        notes.push(format!("`{name}` has the same value as `{known}`"));
                        (is_shifted, is_renamed) = (true, true);
                    }
                    Some((known, _)) if is_named => *known = name,
                    Some(_) => {}
                }
            }
        }
        let mut order = self.query.order.iter().flatten();
        let is_lost = order.any(|key| match key.result {
            InResult::Number(_) => is_shifted,
            InResult::Named(_) => is_renamed,
            InResult::Expression => false,
        });
        let each = outputs.iter().map(|(name, _)| name.to_lowercase());
        if is_lost || each.collect::<BTreeSet<_>>().len() < outputs.len() {
            return None;
        }
        let figures = outputs.iter().filter_map(|(_, of)| of.clone().err());
        let mut figures: BTreeSet<Figure> = figures.collect();
        // DISTINCT merges no rows if the key is among its columns.
        if self.select.distinct && table.row_key().iter().all(|key| groups.contains(key)) {
            return None;
        }
        let merges_no_rows = grouped.is_empty() && !self.select.distinct && figures.is_empty();
        if merges_no_rows || self.select.distinct && !figures.is_empty() {
            return None;
        }
        if groups.is_empty() {
            if figures.is_empty() || table.column(TOTAL.0).is_some() {
                return None;
            }
            groups.push(TOTAL.0.to_owned());
        }
        if grouped.is_empty() && !figures.is_empty() {
            notes.push("a group without rows has no item: its count is 0, its sum NULL".to_owned());
        }
        if figures.is_empty() {
            // The count tells a writer when the last row of a group is gone.
            figures.insert(Figure::ROWS);
        }
        let mut given = outputs.iter().filter_map(|(_, of)| of.as_ref().ok());
        let mut names = figures.iter().map(Figure::name);
        // Rows with NULL in a column of the group have no key.
        let asks_for_null = |condition: &&Condition| {
            let null = condition.said().filter(|said| said.1 == Constant::Null);
            let column = null.and_then(|(column, _)| self.column(column));
            column.is_some_and(|(_, column)| groups.contains(&column))
        };
        if conditions.iter().any(asks_for_null)
            || !given.all(|column| groups.contains(column))
            || !groups.iter().all(|column| self.is_group(table, column))
            || names.any(|name| groups.contains(&name))
        {
            return None;
        }
        for column in &groups {
            let is_given = |(_, of): &Output| of.as_ref() == Ok(column);
            if !outputs.iter().any(is_given) {
                let is_taken = outputs.iter().any(|(name, _)| name == column);
                if is_taken {
                    return None;
                }
                notes.push(format!("its SQL also selects the group column: {column}"));
                outputs.push((column.clone(), Ok(column.clone())));
            }
        }
        let mut order = self.figure_order(&outputs)?;
        // The keys of groups sort by bytes, and a collation may sort otherwise.
        let is_collated = |name: &String| {
            let mut known = outputs.iter();
            let of = known
                .find(|(other, _)| other == name)
                .and_then(|(_, of)| of.as_ref().ok());
            let column = of.and_then(|column| table.column(column));
            column.is_some_and(|column| column.collation.is_some())
        };
        // Equal rows are sorted by their group, so that LIMIT always takes the same ones.
        if let Some((_, down)) = order.first().cloned() {
            let groups = outputs.iter().filter(|(_, of)| of.is_ok());
            let rest = groups.filter(|(name, _)| order.iter().all(|(known, _)| known != name));
            let rest: Vec<(String, bool)> = rest.map(|(name, _)| (name.clone(), down)).collect();
            if self.query.limit != RowLimit::None || !rest.iter().any(|(name, _)| is_collated(name))
            {
                order.extend(rest);
            }
        }
        if order.iter().any(|(name, _)| is_collated(name)) {
            return None;
        }
        self.figure_texts(
            table,
            (groups, figures),
            &equal,
            &conditions,
            &outputs,
            &order,
            notes,
        )
    }

    /// Which columns are equal to a parameter, and the other conditions on the rows that are counted; `None` if one of them needs
    /// a parameter or more than the row.
    fn counted(&self) -> Option<CountedRows<'_>> {
        let (mut equal, mut conditions) = (Vec::new(), Vec::new());
        for &condition in &self.conditions {
            let sides = condition.equal();
            let sides = sides.and_then(|[left, right]| Some((left.column()?, right.parameter()?)));
            if let Some((column, parameter)) = sides {
                let (_, column) = self.column(column)?;
                equal.push((column, parameter.to_owned()));
                continue;
            }
            let has_query = condition.compares_query()
                || matches!(&condition.test, ConditionTest::Other(inner) if inner.has_query);
            if condition.has_parameters() || has_query || condition.columns().is_none() {
                return None;
            }
            self.refuse_unsteady(condition).ok()?;
            conditions.push(condition);
        }
        Some((equal, conditions))
    }

    /// Whether values of a column are equal exactly where their texts in a key are, so that a key can stand for a group.
    fn is_group(&self, table: &Table, column: &str) -> bool {
        let dbms = self.catalog.dbms;
        is_total(table, column)
            || table.column(column).is_some_and(|column| {
                let is_exact = !column.insensitive && !self.observed.is_mixed(table, &column.name);
                // PostgreSQL pads `character(n)`, and MySQL stores CHAR without blanks at the end: texts of rows that they take for
                // equal are the same.
                let is_stripped = ignores_blanks(column, dbms);
                let is_plain = match &column.data_type {
                    DataType::Integer { .. }
                    | DataType::Boolean
                    | DataType::Uuid
                    | DataType::Date
                    | DataType::Time { zone: false, .. }
                    | DataType::Timestamp { .. }
                    | DataType::Enum { .. } => true,
                    DataType::Decimal { .. } => is_summed_exactly(column, dbms),
                    DataType::Text { .. } => is_stripped || column.is_plain_text(dbms),
                    // A key has the same bytes, but of bit strings of PostgreSQL, and where SQLite keeps texts too.
                    DataType::Binary { .. } => match dbms {
                        Dbms::Postgres => column.declared == "bytea",
                        Dbms::Mysql | Dbms::Mariadb => true,
                        Dbms::Sqlite => false,
                    },
                    _ => false,
                };
                is_exact && is_plain
            })
    }

    /// The figures that an output is computed from.
    fn figures_of(&self, value: &Operand, table: &Table) -> Option<Vec<Figure>> {
        let (name, column) = match (&value.value, value.around.as_slice()) {
            (OperandValue::Expression(inner), []) if inner.text == "count(*)" => {
                return Some(vec![Figure::ROWS]);
            }
            (OperandValue::Column(column), [Wrapping::Function(name)]) => {
                (name.as_str(), self.column(column)?.1)
            }
            _ => return None,
        };
        let own = table.column(&column);
        let is_exact = own.is_some_and(|own| is_summed_exactly(own, self.catalog.dbms));
        let functions: &[&'static str] = match name {
            "count" => &["count"],
            "sum" if is_exact => &["sum"],
            "avg" if is_exact => &["sum", "count"],
            _ => return None,
        };
        let figures = functions.iter().map(|&function| Figure {
            function,
            column: Some(column.clone()),
        });
        Some(figures.collect())
    }

    /// The order by names of the result, each with whether it descends; `None` if it is by anything else, or if LIMIT has none.
    fn figure_order(&self, outputs: &[Output]) -> Option<Vec<(String, bool)>> {
        let find = |is_wanted: &dyn Fn(&Output) -> bool| {
            let found = outputs.iter().find(|output| is_wanted(output));
            found.map(|(name, _)| name.clone())
        };
        let mut order = Vec::new();
        for key in self.query.order.iter().flatten() {
            let of_group = || {
                let (_, column) = self.column(key.column.as_ref()?)?;
                find(&|(_, of)| of.as_ref() == Ok(&column))
            };
            let term = self.prepared.sql.get(key.span.clone()).unwrap_or_default();
            let is_term = |figure: &Figure| figure.sql(&str::to_owned).eq_ignore_ascii_case(term);
            let name = match &key.result {
                InResult::Named(wanted) => {
                    find(&|(name, _)| name.eq_ignore_ascii_case(wanted)).or_else(of_group)
                }
                InResult::Number(number) => {
                    let output = number.checked_sub(1).and_then(|at| outputs.get(at));
                    output.map(|(name, _)| name.clone())
                }
                InResult::Expression => {
                    of_group().or_else(|| find(&|(_, of)| of.as_ref().is_err_and(is_term)))
                }
            };
            order.push((name?, key.descending));
        }
        if order.is_empty() && self.query.limit != RowLimit::None {
            return None;
        }
        Some(order)
    }

    /// The columns that are equal to a parameter whatever blanks it ends with, and the conditions under which it is the text in the
    /// key.
    fn stripped<'q>(
        &self,
        table: &Table,
        equal: &'q [(String, String)],
    ) -> (Vec<&'q str>, Vec<String>) {
        let dbms = self.catalog.dbms;
        let stripped = equal.iter().filter(|(column, _)| {
            let column = table.column(column);
            column.is_some_and(|column| ignores_blanks(column, dbms))
        });
        let conditions = stripped.map(|(column, parameter)| {
            let own = self.column_of(0, column);
            let is_same = if dbms == Dbms::Postgres {
                format!("octet_length(CAST(:{parameter} AS text)) = octet_length({own})")
            } else {
                format!("{} = CAST(:{parameter} AS BINARY)", mysql_bytes(&own))
            };
            (&**column, is_same)
        });
        conditions.unzip()
    }

    /// Writes the query over the rows and the query over the figures.
    #[expect(clippy::too_many_arguments, reason = "the parts of one query")]
    fn figure_texts(
        &self,
        table: &Table,
        (groups, figures): (Vec<String>, BTreeSet<Figure>),
        equal: &[(String, String)],
        conditions: &[&Condition],
        outputs: &[Output],
        order: &[(String, bool)],
        mut notes: Vec<String>,
    ) -> Option<FigureQuery> {
        let dbms = self.catalog.dbms;
        let quoted = |name: &str| identifier(name, dbms);
        let own = |column: &str| {
            if is_total(table, column) {
                TOTAL.1.to_owned()
            } else {
                self.column_of(0, column)
            }
        };
        let decided_by = conditions.iter().filter_map(|one| one.columns());
        let decided_by = decided_by.flatten().filter_map(|one| self.column(one));
        let decided_by: BTreeSet<String> = decided_by.map(|(_, column)| column).collect();
        let aliased = conditions.iter().map(|condition| self.aliased(condition));
        let mut sql_conditions: Vec<String> = aliased.collect::<Option<_>>()?;
        let is_nullable = |column: &&String| table.column(column).is_some_and(|one| one.nullable);
        let nullable = groups.iter().filter(is_nullable);
        for column in nullable {
            sql_conditions.push(format!("{} IS NOT NULL", own(column)));
            if !equal.iter().any(|(known, _)| known == column) {
                notes.push(format!("rows with NULL in {column} are in no group"));
            }
        }
        let terms = order.iter();
        let terms = terms.map(|(name, down)| format!("{}{}", quoted(name), direction(*down)));
        let terms = joined(terms, ", ");
        let mut end = text_if(!terms.is_empty(), format!(" ORDER BY {terms}"));
        if let RowLimit::Rows(rows) = self.query.limit {
            end.push_str(&format!(" LIMIT {rows}"));
        }
        let equalities = |written: &dyn Fn(&str) -> String| -> Vec<String> {
            let all = equal.iter();
            let all = all.map(|(column, parameter)| format!("{} = :{parameter}", written(column)));
            all.collect()
        };
        let filtered =
            |all: Vec<String>| text_if(!all.is_empty(), format!(" WHERE {}", all.join(" AND ")));
        let named = |text: String, name: &String| format!("{text} AS {}", quoted(name));
        let over = outputs.iter().map(|(name, of)| {
            let stored = of.as_ref().map_or_else(Figure::name, String::clone);
            named(quoted(&stored), name)
        });
        let given = outputs.iter().map(|(name, of)| match of {
            Ok(column) => named(own(column), name),
            Err(figure) => named(figure.sql(&own), name),
        });
        let by = groups.iter().filter(|column| !is_total(table, column));
        let by = joined(by.map(|column| own(column)), ", ");
        let by = text_if(!by.is_empty(), format!(" GROUP BY {by}"));
        let (stripped, same_texts) = self.stripped(table, equal);
        if !stripped.is_empty() {
            let how = if dbms == Dbms::Postgres {
                "is padded with blanks in the key: pass it padded"
            } else {
                "has no blanks at the end in the key: pass it without"
            };
            notes.push(format!("{} {how}", stripped.join(" and ")));
        }
        let all = sql_conditions.iter().cloned();
        let all = all.chain(equalities(&own)).chain(same_texts);
        let met = filtered(all.collect());
        let from = self.from(0);
        let answer = format!("SELECT {} FROM {from}{met}{by}", joined(given, ", "));
        let over = format!("SELECT {} FROM ", joined(over, ", "));
        Some(FigureQuery {
            base: table.name.clone(),
            groups,
            figures,
            // Conditions have the alias in them.
            from: if sql_conditions.is_empty() {
                self.table_name(0)
            } else {
                from
            },
            conditions: sql_conditions,
            decided_by,
            over: [over, format!("{}{end}", filtered(equalities(&quoted)))],
            answer: [format!("{answer}{end}"), answer],
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::figure_query;
    use crate::traps::tests::schema;

    #[test]
    fn what_is_computed_of_a_count_is_no_count() {
        let (catalog, limits) = schema("bids 100: id, lot distinct=10");
        for (figure, is_kept) in [
            ("count(*)", true),
            ("COUNT(*)", true),
            ("count(*) > 0", false),
            ("count(*) * 2", false),
        ] {
            let sql = format!("SELECT lot, {figure} AS n FROM bids GROUP BY lot");
            let found = figure_query(&sql, &catalog, &limits.observed);
            assert_eq!(found.is_some(), is_kept, "{figure}");
        }
    }

    #[test]
    fn no_item_keeps_figures_of_what_the_time_zone_of_a_session_decides() {
        let (catalog, limits) = schema("bids 100: id, lot distinct=10, at time");
        for (offset, is_kept) in [("", false), ("+00", true)] {
            let sql = format!(
                "SELECT count(*) AS n FROM bids WHERE lot = :l AND (at IS NULL OR at >= '2026-01-31 10:00:00{offset}')"
            );
            let found = figure_query(&sql, &catalog, &limits.observed);
            assert_eq!(found.is_some(), is_kept, "{offset}");
        }
    }
}
