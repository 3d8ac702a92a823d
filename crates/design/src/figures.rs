//! Figures that are kept: an item for each group of rows with their number and sums, which each write updates. The rest of a
//! design takes them for a table like others; only the mapping knows that a query makes its rows.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{free_name, joined, rounded, text_if};
use dynafold_mapping::Described;
use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, ForeignKey, Table, TableName};
use dynafold_sql::{WriteKind, identifier, table_reference};

use crate::ask::{Ask, Figure, FigureQuery, Note, TOTAL, ask, figure_query, is_total};
use crate::facts::{Facts, rows};
use crate::observed::Observed;
use crate::path::Path;
use crate::structure::Structure;
use crate::workload::Statement;
use crate::writes::{SaidValues, Write, Writes};

/// A table of figures that are kept.
#[derive(Debug, Clone)]
pub(crate) struct KeptFigures {
    /// The first query that asks for them, with the figures of all.
    pub(crate) of: FigureQuery,
    /// The query that makes its rows.
    pub(crate) sql: String,
}

/// The figures of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// By what their tables are called.
    pub(crate) tables: BTreeMap<TableName, KeptFigures>,
    /// By statement: the table, and the query.
    queries: BTreeMap<String, (TableName, FigureQuery)>,
}

impl Figures {
    /// The figures that reads compute, and the catalog with the tables that would hold them.
    pub(crate) fn of(
        catalog: &Catalog,
        observed: &Observed,
        statements: &[&Statement],
    ) -> (Self, Catalog) {
        let mut found = Self::default();
        for statement in statements {
            if let Some(query) = figure_query(&statement.sql, catalog, observed) {
                let name = found.table(catalog, &query);
                found.queries.insert(statement.name.clone(), (name, query));
            }
        }
        let mut with = catalog.clone();
        let facts = Facts { catalog, observed };
        for (name, kept) in &mut found.tables {
            if let Some(base) = catalog.table(&kept.of.base) {
                kept.sql = kept.query(base, catalog.dbms);
                with.tables.extend(kept.table(name, base, facts));
            }
        }
        (found, with)
    }

    /// The name of the table that holds the figures of a query, to which they are added.
    fn table(&mut self, catalog: &Catalog, query: &FigureQuery) -> TableName {
        let base = format!("{}_by_{}", query.base.name, query.groups.join("_"));
        let of_schema = |name: &str| TableName {
            schema: query.base.schema.clone(),
            name: name.to_owned(),
        };
        let is_other = |name: &str| match self.tables.get(&of_schema(name)) {
            Some(kept) => {
                kept.of.base != query.base
                    || kept.of.groups != query.groups
                    || kept.of.conditions != query.conditions
                    || kept.of.from != query.from
            }
            None => catalog.find(name).is_some() || catalog.table(&of_schema(name)).is_some(),
        };
        let name = of_schema(&free_name(&base, &is_other));
        let kept = self.tables.entry(name.clone());
        let kept = kept.or_insert_with(|| KeptFigures {
            of: query.clone(),
            sql: String::new(),
        });
        kept.of.figures.extend(query.figures.iter().cloned());
        name
    }

    /// What a statement asks of the figures that are kept for it.
    pub(crate) fn asks<'c>(
        &self,
        statement: &Statement,
        catalog: &'c Catalog,
        observed: &Observed,
    ) -> Vec<Ask<'c>> {
        let Some((name, query)) = self.queries.get(&statement.name) else {
            return Vec::new();
        };
        let own = table_reference(catalog, name);
        let [before, behind] = &query.over;
        let mut asks =
            ask(&format!("{before}{own}{behind}"), catalog, observed).unwrap_or_default();
        for ask in &mut asks {
            let [sorted, unsorted] = &query.answer;
            ask.sql.clone_from(sorted);
            ask.unsorted = (!ask.order.is_empty()).then(|| unsorted.clone());
            ask.notes = query.notes.iter().cloned().map(Note::Text).collect();
            ask.note(format!(
                "each write of {} must also update the aggregates (`ADD`), in the same transaction if they must be exact; the application deletes the item of a group whose count reaches 0",
                query.base.name
            ));
        }
        asks
    }

    /// The columns that the queries of the figures give.
    pub(crate) fn described(&self, catalog: &Catalog) -> Described {
        let tables = self.tables.iter();
        let described = tables.filter_map(|(name, kept)| {
            let columns = catalog.table(name)?.columns.clone();
            Some((kept.sql.clone(), Ok(columns)))
        });
        described.collect()
    }

    /// The catalog with those figures alone that a structure of a design holds.
    pub(crate) fn only_used(
        &self,
        catalog: &Catalog,
        structures: &[Structure<'_>],
        slots: &BTreeMap<usize, usize>,
    ) -> Catalog {
        let used = slots.keys().filter_map(|at| structures.get(*at));
        let used = used.flat_map(|structure| &structure.parts);
        let used: BTreeSet<&TableName> = used.map(|part| &part.table.name).collect();
        let mut left = catalog.clone();
        let is_kept = |name: &TableName| !self.tables.contains_key(name) || used.contains(name);
        left.tables.retain(|table| is_kept(&table.name));
        left
    }

    /// The column of the rows that a column of figures has its values from.
    pub(crate) fn of_rows(
        &self,
        (name, column): (TableName, String),
    ) -> Option<(TableName, String)> {
        match self.tables.get(&name) {
            Some(kept) => {
                let is_group = kept.of.groups.contains(&column) && column != TOTAL.0;
                is_group.then(|| (kept.of.base.clone(), column))
            }
            None => Some((name, column)),
        }
    }

    /// Adds the writes that keep the figures up to date.
    pub(crate) fn add_writes(&self, writes: &mut BTreeMap<TableName, Writes>) {
        for (name, kept) in &self.tables {
            let base = writes.get(&kept.of.base).cloned().unwrap_or_default();
            let mut own = Writes::default();
            for write in base.statements {
                let rate = write.rate * kept.of.times(write.kind, &write.columns);
                if rate == 0.0 {
                    continue;
                }
                own.all += rate;
                own.statements.push(Write {
                    kind: WriteKind::Update,
                    rate,
                    inserts_several: false,
                    numbers: false,
                    said: SaidValues::default(),
                    columns: kept.of.figures.iter().map(Figure::name).collect(),
                    from_itself: kept.of.figures.iter().map(Figure::name).collect(),
                    upserts_by: None,
                    found_by: kept.of.groups.clone(),
                    below: Vec::new(),
                    ..write
                });
            }
            writes.insert(name.clone(), own);
        }
    }
}

impl KeptFigures {
    /// The query that makes the rows of the table from those of `base`.
    fn query(&self, base: &Table, dbms: Dbms) -> String {
        let quoted = |column: &str| identifier(column, dbms);
        let groups = self.of.groups.iter().map(|column| {
            if is_total(base, column) {
                format!("{} AS {}", TOTAL.1, quoted(column))
            } else {
                quoted(column)
            }
        });
        let figures = self.of.figures.iter();
        let figures =
            figures.map(|figure| format!("{} AS {}", figure.sql(&quoted), quoted(&figure.name())));
        let selected = joined(groups.chain(figures), ", ");
        let all = &self.of.conditions;
        let conditions = text_if(!all.is_empty(), format!(" WHERE {}", all.join(" AND ")));
        let grouped = self.of.groups.iter();
        let grouped = grouped.filter(|column| !is_total(base, column));
        let columns = joined(grouped.map(|column| quoted(column)), ", ");
        let grouped = text_if(!columns.is_empty(), format!(" GROUP BY {columns}"));
        format!(
            "SELECT {selected} FROM {}{conditions}{grouped}",
            self.of.from
        )
    }

    /// The table with these rows; `None` if `base` lacks a column.
    fn table(&self, name: &TableName, base: &Table, facts: Facts<'_>) -> Option<Table> {
        let mut table = Table::new(name.clone(), base.kind);
        let mut most_rows = 1.0;
        for column in &self.of.groups {
            let mut own = if is_total(base, column) {
                let text = DataType::Text { max_chars: None };
                let mut total = Column::new(column.clone(), "text".to_owned(), text);
                total.distinct = Some(1);
                total
            } else {
                let distinct = facts.distinct(&Path::own(column), base);
                most_rows *= distinct;
                Column {
                    generated: None,
                    default: None,
                    rowid: false,
                    distinct: Some(rounded(distinct)),
                    ..base.column(column)?.clone()
                }
            };
            own.nullable = false;
            table.columns.push(own);
        }
        for figure in &self.of.figures {
            let data_type = match &figure.column {
                Some(column) if figure.function == "sum" => base.column(column)?.data_type.clone(),
                _ => DataType::Integer {
                    bits: 64,
                    unsigned: false,
                },
            };
            let own = Column::new(figure.name(), String::new(), data_type);
            table.columns.push(own);
        }
        table.primary_key.clone_from(&self.of.groups);
        let is_within =
            |key: &&ForeignKey| key.columns.iter().all(|one| self.of.groups.contains(one));
        let foreign_keys = base.foreign_keys.iter().filter(is_within);
        table.foreign_keys = foreign_keys.cloned().collect();
        table.estimated_rows = Some(rounded(most_rows.min(rows(base)).max(1.0)));
        Some(table)
    }
}
