//! Figures over many rows, `count` and `sum` by groups: read from an item for each group instead of the rows.

use std::collections::BTreeSet;

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table, TableName, TypeFamily};
use dynafold_sql::{
    ColumnRef, Condition, ConditionTest, InResult, Lists, Operand, OperandValue, RowLimit,
    SelectOutput, Wrapping, WriteKind, identifier,
};

use super::sql::ignores_blanks;
use super::{Reading, with_reading};
use crate::observed::Observed;

/// What the one group is called where all rows are one, and its value in SQL.
pub(crate) const TOTAL: (&str, &str) = ("figure", "'all'");

/// A figure of a group of rows: how many they are, in how many a column is not NULL, or the sum of a column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Figure {
    /// `count` or `sum`.
    pub(crate) function: &'static str,
    /// Of which column; `None` for the rows.
    pub(crate) column: Option<String>,
}

/// Columns held equal to a parameter, with its name, and the conditions beside them.
type CountedRows<'q> = (Vec<(String, String)>, Vec<&'q Condition>);

impl Figure {
    /// What its attribute is called.
    pub(crate) fn name(&self) -> String {
        match &self.column {
            Some(column) => format!("{}_{column}", self.function),
            None => self.function.to_owned(),
        }
    }

    /// As SQL. `of`: how a column is written.
    pub(crate) fn sql(&self, of: &dyn Fn(&str) -> String) -> String {
        let column = self.column.as_deref().map_or_else(|| "*".to_owned(), of);
        format!("{}({column})", self.function)
    }
}

/// A query that computes figures, in terms of a table that would hold them.
#[derive(Debug, Clone)]
pub(crate) struct FigureQuery {
    /// The table whose rows are counted.
    pub(crate) base: TableName,
    /// The columns by which they are grouped.
    pub(crate) groups: Vec<String>,
    pub(crate) figures: BTreeSet<Figure>,
    /// What rows are counted, as SQL: nothing for all of them.
    pub(crate) conditions: Vec<String>,
    /// The columns that decide whether a row is counted.
    pub(crate) decided_by: BTreeSet<String>,
    /// Where the rows come from, as SQL.
    pub(crate) from: String,
    /// The query over the table that would hold them, with what stands before that table's name and behind it.
    pub(crate) over: [String; 2],
    /// The query over the rows, and the same without order and limit.
    pub(crate) answer: [String; 2],
    /// What is to be said of it.
    pub(crate) notes: Vec<String>,
}

impl FigureQuery {
    /// How often a write of a row writes figures: of two groups where the row goes from one into another.
    pub(crate) fn times(&self, kind: WriteKind, columns: &[String]) -> f64 {
        let moves =
            |column: &String| self.groups.contains(column) || self.decided_by.contains(column);
        let is_summed = |column: &String| {
            let mut figures = self.figures.iter();
            figures.any(|figure| figure.column.as_ref() == Some(column))
        };
        match kind {
            WriteKind::Insert | WriteKind::Delete => 1.0,
            WriteKind::Update if columns.iter().any(moves) => 2.0,
            WriteKind::Update if columns.iter().any(is_summed) => 1.0,
            WriteKind::Update => 0.0,
        }
    }
}

/// Reads a query as one of figures; `None` where it is none, or its figures cannot be kept.
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

/// The column for which no item maintains the figures of a query, with the reason and the way out.
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
        sum.or_else(|| {
            let column = reading.loose_group()?;
            let why = format!("the collation of `{column}` may put different texts into one group, so the aggregates cannot be kept up to date in items");
            Some((why, "give the column a collation that compares bytes, keep the aggregate in an item that each write updates, or export the table and query it with Athena"))
        })
    })
    .ok()?
}

impl Reading<'_, '_> {
    /// The column of which the query computes a sum or a mean that depends on the order of the rows.
    fn inexact_sum(&self) -> Option<String> {
        let mut outputs = self.select.outputs.iter();
        outputs.find_map(|output| match output {
            SelectOutput::One { value, .. } => match (&value.value, value.around.as_slice()) {
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
            },
            SelectOutput::All | SelectOutput::AllOf(_) => None,
        })
    }

    /// A column of text by which it groups or finds rows, and of which a collation takes different texts for equal.
    fn loose_group(&self) -> Option<String> {
        let grouped = self.select.grouped_by.iter().flatten();
        let fixed = self.conditions.iter().filter_map(|one| one.fixed());
        let mut columns = grouped.chain(fixed).filter_map(|one| self.column(one));
        let found = columns.find(|(at, name)| {
            let column = self.tables.get(*at).and_then(|table| table.column(name));
            column.is_some_and(|column| column.insensitive)
        });
        found.map(|(_, name)| name)
    }
}

/// Whether the sum of a column's values does not depend on the order of the rows: of doubles it does, and SQLite's other numbers are such.
fn is_summed_exactly(column: &Column, dbms: Dbms) -> bool {
    match &column.data_type {
        DataType::Integer { .. } => true,
        DataType::Decimal { .. } => dbms != Dbms::Sqlite,
        _ => false,
    }
}

/// A column of the result: its name, with a group's column or a figure.
type Output = (String, Result<String, Figure>);

impl Reading<'_, '_> {
    #[expect(
        clippy::too_many_lines,
        reason = "one reading of a query, from its outputs to its order"
    )]
    fn figure_query(&self) -> Option<FigureQuery> {
        let ([table], Some(grouped)) = (self.tables.as_slice(), &self.select.grouped_by) else {
            return None;
        };
        let is_plain = !self.select.having
            && self.extreme.is_none()
            && table.readable
            && !table.row_key().is_empty()
            && self.query.offset == RowLimit::None
            && matches!(self.query.limit, RowLimit::None | RowLimit::Rows(_));
        if !is_plain || self.select.distinct_on.is_some() {
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
        // Whether the outputs have other numbers than those of the query, and whether one of its names is gone.
        let (mut is_shifted, mut is_renamed) = (false, false);
        let mut named = BTreeSet::new();
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
            // What the one group is called says nothing of the rows.
            let is_name = name.as_ref().is_some_and(|name| name.text == TOTAL.0);
            if is_name && matches!(value.value, OperandValue::Constant(_)) {
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
                // An item has a figure once: a sum beside a mean, and one that is selected twice.
                let known = outputs
                    .iter_mut()
                    .find(|(_, of)| of.as_ref() == Err(&figure));
                let was_named = is_named && !named.insert(figure.clone());
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
        let mut figures: BTreeSet<Figure> = outputs
            .iter()
            .filter_map(|(_, of)| of.clone().err())
            .collect();
        // Nothing of what it says makes one row of many.
        // DISTINCT leaves out no row where the key is among its columns.
        if self.select.distinct && table.row_key().iter().all(|key| groups.contains(key)) {
            return None;
        }
        let is_plain = grouped.is_empty() && !self.select.distinct && figures.is_empty();
        if is_plain || self.select.distinct && !figures.is_empty() {
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
            // So that whoever writes knows when the last row of a group is gone.
            figures.insert(Figure {
                function: "count",
                column: None,
            });
        }
        let mut given = outputs.iter().filter_map(|(_, of)| of.as_ref().ok());
        let mut names = figures.iter().map(Figure::name);
        // No key stands for the group of the rows without a value.
        let is_without = |condition: &&Condition| match &condition.test {
            ConditionTest::Null {
                operand,
                negated: false,
            } => operand
                .column()
                .and_then(|column| self.column(column))
                .is_some_and(|(_, column)| groups.contains(&column)),
            _ => false,
        };
        if conditions.iter().any(is_without) {
            return None;
        }
        if !given.all(|column| groups.contains(column))
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
        // Groups are told apart by their bytes, and may sort otherwise.
        let is_collated = |name: &String| {
            let mut known = outputs.iter();
            let of = known
                .find(|(other, _)| other == name)
                .and_then(|(_, of)| of.as_ref().ok());
            let column = of.and_then(|column| table.column(column));
            column.is_some_and(|column| column.collation.is_some())
        };
        // Of equal ones the group decides, so that a LIMIT cuts in one place.
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

    /// What is equal to a parameter, and the conditions that decide which rows are counted.
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

    /// Whether rows can be grouped by a column so that its values are those of keys.
    fn is_group(&self, table: &Table, column: &str) -> bool {
        let dbms = self.catalog.dbms;
        column == TOTAL.0 && table.column(column).is_none()
            || table.column(column).is_some_and(|column| {
                let is_exact = !column.insensitive && !ignores_blanks(column, dbms);
                let is_plain = match &column.data_type {
                    DataType::Integer { .. } | DataType::Date | DataType::Enum { .. } => true,
                    DataType::Text { .. } => column.is_plain_text(dbms),
                    _ => false,
                };
                is_exact && is_plain
            })
    }

    /// The figures that an output is computed from.
    fn figures_of(&self, value: &Operand, table: &Table) -> Option<Vec<Figure>> {
        let figure = |function: &'static str, column: Option<&String>| Figure {
            function,
            column: column.cloned(),
        };
        match (&value.value, value.around.as_slice()) {
            (OperandValue::Expression(inner), []) => {
                let is_count = inner.functions == ["count"]
                    && inner.columns.is_empty()
                    && inner.parameters.is_empty()
                    && !inner.has_query
                    && !inner.has_window;
                if is_count {
                    return Some(vec![figure("count", None)]);
                }
            }
            (OperandValue::Column(column), [Wrapping::Function(name)]) => {
                let (_, column) = self.column(column)?;
                let own = table.column(&column);
                let is_exact = own.is_some_and(|own| is_summed_exactly(own, self.catalog.dbms));
                let column = Some(&column);
                match &**name {
                    "count" => return Some(vec![figure("count", column)]),
                    "sum" if is_exact => return Some(vec![figure("sum", column)]),
                    "avg" if is_exact => {
                        return Some(vec![figure("sum", column), figure("count", column)]);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        None
    }

    /// What it sorts by, as names of the result.
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
            let said = self.prepared.sql.get(key.span.clone()).unwrap_or_default();
            let is_said = |figure: &Figure| figure.sql(&str::to_owned).eq_ignore_ascii_case(said);
            let name = match &key.result {
                InResult::Named(wanted) => {
                    find(&|(name, _)| name.eq_ignore_ascii_case(wanted)).or_else(of_group)
                }
                InResult::Number(number) => {
                    let output = number.checked_sub(1).and_then(|at| outputs.get(at));
                    output.map(|(name, _)| name.clone())
                }
                InResult::Expression => {
                    of_group().or_else(|| find(&|(_, of)| of.as_ref().is_err_and(is_said)))
                }
            };
            order.push((name?, key.descending));
        }
        if order.is_empty() && self.query.limit != RowLimit::None {
            return None;
        }
        Some(order)
    }

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
        let is_total = |column: &str| column == TOTAL.0 && table.column(column).is_none();
        let own = |column: &str| {
            if is_total(column) {
                TOTAL.1.to_owned()
            } else {
                self.column_of(0, column)
            }
        };
        let decided_by = conditions
            .iter()
            .filter_map(|condition| condition.columns());
        let decided_by = decided_by
            .flatten()
            .filter_map(|column| self.column(column));
        let decided_by: BTreeSet<String> = decided_by.map(|(_, column)| column).collect();
        let said = conditions.iter().map(|condition| self.aliased(condition));
        let mut said: Vec<String> = said.collect::<Option<_>>()?;
        let nullable = groups
            .iter()
            .filter(|column| table.column(column).is_some_and(|column| column.nullable));
        for column in nullable {
            said.push(format!("{} IS NOT NULL", own(column)));
            if !equal.iter().any(|(known, _)| known == column) {
                notes.push(format!("rows with NULL in {column} are in no group"));
            }
        }
        let terms = order
            .iter()
            .map(|(name, down)| format!("{}{}", quoted(name), if *down { " DESC" } else { "" }));
        let terms: Vec<String> = terms.collect();
        let mut end = String::new();
        if !terms.is_empty() {
            end = format!(" ORDER BY {}", terms.join(", "));
        }
        if let RowLimit::Rows(rows) = self.query.limit {
            end.push_str(&format!(" LIMIT {rows}"));
        }
        let asked = |of: &dyn Fn(&str) -> String| -> Vec<String> {
            let asked = equal
                .iter()
                .map(|(column, parameter)| format!("{} = :{parameter}", of(column)));
            asked.collect()
        };
        let under = |conditions: Vec<String>| match conditions.as_slice() {
            [] => String::new(),
            all => format!(" WHERE {}", all.join(" AND ")),
        };
        let named = |text: String, name: &String| format!("{text} AS {}", quoted(name));
        let over: Vec<String> = outputs
            .iter()
            .map(|(name, of)| {
                named(
                    quoted(&of.as_ref().map_or_else(Figure::name, String::clone)),
                    name,
                )
            })
            .collect();
        let given: Vec<String> = outputs
            .iter()
            .map(|(name, of)| match of {
                Ok(column) => named(own(column), name),
                Err(figure) => named(figure.sql(&own), name),
            })
            .collect();
        let by = groups.iter().filter(|column| !is_total(column));
        let by: Vec<String> = by.map(|column| own(column)).collect();
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" GROUP BY {}", by.join(", "))
        };
        let (from, is_everything) = (self.from(0), said.is_empty());
        let met = under(said.iter().cloned().chain(asked(&own)).collect());
        let answer = format!("SELECT {} FROM {from}{met}{by}", given.join(", "));
        Some(FigureQuery {
            base: table.name.clone(),
            groups,
            figures,
            conditions: said,
            decided_by,
            // Conditions have the alias in them.
            from: if is_everything {
                self.table_name(0)
            } else {
                from
            },
            over: [
                format!("SELECT {} FROM ", over.join(", ")),
                format!("{}{end}", under(asked(&quoted))),
            ],
            answer: [format!("{answer}{end}"), answer],
            notes,
        })
    }
}
