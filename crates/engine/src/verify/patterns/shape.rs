//! What an access pattern's SQL says of its result: which table's column each of its columns is, which of its
//! conditions hold a parameter, and which conditions nothing in the pattern says.

use std::collections::HashSet;

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table};
use dynafold_sql::{Condition, Limit, Name, Origin, Query, Select, Selected, Test};

/// A query whose columns are known.
pub(super) struct Shape<'a> {
    pub(super) query: Query,
    pub(super) catalog: &'a Catalog,
    /// The column of a table that each column of the result is; `None` where the query makes it, or it is not known.
    pub(super) outputs: Vec<Option<Selected<'a>>>,
    /// Columns that are equal, to the byte, wherever a row has both: by their relations' numbers.
    pub(super) equated: Vec<[(usize, &'a str); 2]>,
}

impl<'a> Shape<'a> {
    /// `columns`: those of the result, as the database tells them.
    pub(super) fn new(query: Query, catalog: &'a Catalog, columns: &[Column]) -> Self {
        let mut shape = Self {
            query,
            catalog,
            outputs: vec![None; columns.len()],
            equated: Vec::new(),
        };
        let Some(select) = shape.query.select() else {
            return shape;
        };
        let fits = |(output, given): (&Option<Selected<'_>>, &Column)| {
            output.is_none_or(|output| {
                output.is_renamed || output.column.name.eq_ignore_ascii_case(&given.name)
            })
        };
        let outputs = select
            .origins(catalog)
            .filter(|found| found.len() == columns.len() && found.iter().zip(columns).all(fits));
        let on = select.relations.iter().flat_map(|relation| &relation.on);
        let is_exact = |(_, table, column): &Origin<'_>| is_exact(table, column, catalog.dbms);
        let pairs = select.conditions.iter().chain(on).filter_map(|condition| {
            let sides = shape.columns_equal(select, condition)?;
            let are_exact = sides.iter().all(is_exact);
            are_exact.then(|| sides.map(|(of, _, column)| (of, column.name.as_str())))
        });
        let equated: Vec<_> = pairs.chain(using(select, catalog)).collect();
        shape.outputs = outputs.unwrap_or(shape.outputs);
        shape.equated = equated;
        shape
    }

    /// The columns of tables that a condition holds equal.
    pub(super) fn columns_equal(
        &self,
        select: &Select,
        condition: &Condition,
    ) -> Option<[Origin<'a>; 2]> {
        let [left, right] = condition.equal()?;
        let left = select.origin(left.column()?, self.catalog)?;
        Some([left, select.origin(right.column()?, self.catalog)?])
    }

    /// Whether the query reads a table, itself or in a query within it.
    pub(super) fn reads(&self, wanted: &Table) -> bool {
        let mut tables = self.query.tables.iter();
        tables.any(|read| {
            let schema = read.schema.as_ref();
            read.name.is(&wanted.name.name)
                && schema.is_none_or(|schema| schema.is(&wanted.name.schema))
        })
    }

    /// The column of the result that a column of a relation is, or is equal to where there is a row of that relation.
    pub(super) fn column(&self, wanted: usize, name: &str) -> Option<usize> {
        let find = |wanted: usize, name: &str| {
            let is = |one: Selected<'_>| one.relation == wanted && one.column.name == name;
            self.outputs
                .iter()
                .position(|output| output.is_some_and(is))
        };
        // Whether there is a row is then told by a column of its primary key.
        let is_told = || {
            let mut own = self.outputs.iter().flatten();
            own.any(|one| {
                one.relation == wanted && one.table.primary_key.contains(&one.column.name)
            })
        };
        let equal = || {
            let mut same = vec![(wanted, name)];
            let mut at = 0;
            while let Some(own) = same.get(at).copied() {
                at += 1;
                if let Some(found) = find(own.0, own.1) {
                    return Some(found);
                }
                for [a, b] in &self.equated {
                    for (from, to) in [(a, b), (b, a)] {
                        if *from == own && !same.contains(to) {
                            same.push(*to);
                        }
                    }
                }
            }
            None
        };
        find(wanted, name).or_else(|| (!self.may_be_missing(wanted) || is_told()).then(equal)?)
    }

    /// The relation of the FROM that is a table; of several the one alone whose columns are in the result.
    pub(super) fn relation(&self, wanted: &Table) -> Option<usize> {
        let select = self.query.select()?;
        let is_it = |at: &usize| {
            let table = select.table(*at, self.catalog);
            table.is_some_and(|table| table.name == wanted.name)
        };
        let all: Vec<usize> = (0..select.relations.len()).filter(is_it).collect();
        let given = |at: &&usize| {
            let mut outputs = self.outputs.iter().flatten();
            outputs.any(|one| one.relation == **at)
        };
        let shown: Vec<&usize> = all.iter().filter(given).collect();
        match (all.as_slice(), shown.as_slice()) {
            ([only], _) => Some(*only),
            (_, [only]) => Some(**only),
            _ => None,
        }
    }

    /// Whether a row of the result may be without a row of this relation.
    pub(super) fn may_be_missing(&self, relation: usize) -> bool {
        let select = self.query.select();
        let found = select.and_then(|select| select.relations.get(relation));
        found.is_none_or(|relation| relation.may_be_missing)
    }

    /// The column of a table that every row of the result has equal to a parameter, both as they are; and in which
    /// relation. Then no value that the column does not hold gives a row.
    pub(super) fn equal(&self, parameter: &str) -> Option<Origin<'a>> {
        let select = self.query.select()?;
        select.conditions.iter().find_map(|condition| {
            let [left, right] = condition.equal()?;
            let column = left
                .column()
                .filter(|_| right.parameter() == Some(parameter))?;
            select.origin(column, self.catalog)
        })
    }

    /// What makes the answer of one call another each time, or a matter of chance.
    pub(super) fn chance(&self) -> Option<&'static str> {
        if self.query.limit != Limit::None || self.query.offset != Limit::None {
            return Some(
                "its SQL has a LIMIT, and it is not shown that its ORDER BY leaves no two rows equal",
            );
        }
        None
    }

    /// Whether a condition says only that a column is there without which there is no item.
    pub(super) fn is_needed(
        &self,
        condition: &Condition,
        select: &Select,
        bases: &HashSet<usize>,
        needed: &[&str],
    ) -> bool {
        let Test::Null {
            operand,
            negated: true,
        } = &condition.test
        else {
            return false;
        };
        let column = operand
            .column()
            .and_then(|column| select.origin(column, self.catalog));
        column.is_some_and(|(at, _, column)| {
            bases.contains(&at) && needed.contains(&column.name.as_str())
        })
    }

    /// What a condition of an item type says and a SELECT of the query does not, in the same words.
    /// `own`: the relation that stands for the item type.
    pub(super) fn unsaid(&self, sql: &str, own: &HashSet<usize>, dbms: Dbms) -> Vec<String> {
        let is_said = |part: &Condition| {
            self.query.selects.iter().all(|select| {
                // That of an outer join leaves out rows of its own side alone.
                let is_inner = select.relations.iter().all(|one| !one.may_be_missing);
                let relations = select.relations.iter().enumerate();
                let on = relations
                    .filter(|(at, one)| is_inner || one.may_be_missing && own.contains(at))
                    .flat_map(|(_, one)| &one.on);
                let mut all = select.conditions.iter().chain(on);
                all.any(|said| said.text == part.text)
            })
        };
        let mut parts = parts(sql, dbms);
        if parts.is_empty() {
            return vec![sql.to_owned()];
        }
        parts.retain(|part| !is_said(part) && !self.is_met(part, own));
        parts.into_iter().map(|part| part.text).collect()
    }
}

/// The conditions that a condition holds at once; none where it cannot be read.
pub(super) fn parts(condition: &str, dbms: Dbms) -> Vec<Condition> {
    // As the only one of a query it is taken apart like others.
    let query = Query::read(&format!("SELECT 1 FROM t WHERE {condition}\n"), Some(dbms));
    let selects = query.into_iter().flat_map(|query| query.selects);
    selects.flat_map(|select| select.conditions).collect()
}

/// The columns that `USING` holds equal, where no other relation has one of that name.
fn using<'a>(select: &Select, catalog: &'a Catalog) -> Vec<[(usize, &'a str); 2]> {
    let tables = (0..select.relations.len()).map(|at| select.table(at, catalog));
    let Some(tables) = tables.collect::<Option<Vec<&Table>>>() else {
        return Vec::new();
    };
    let on = select.relations.iter().flat_map(|relation| &relation.on);
    let names = select
        .conditions
        .iter()
        .chain(on)
        .filter_map(|condition| match &condition.test {
            Test::Using(name) => Some(name),
            _ => None,
        });
    let names: Vec<&Name> = names.collect();
    let mut found = Vec::new();
    for name in &names {
        let having = tables.iter().enumerate().filter_map(|(at, table)| {
            let column = table.columns.iter().find(|column| name.is(&column.name))?;
            is_exact(table, column, catalog.dbms).then_some((at, column.name.as_str()))
        });
        let having: Vec<(usize, &str)> = having.collect();
        let joins = names.iter().filter(|other| other.text == name.text).count();
        if having.len() == joins + 1 {
            found.extend(
                having
                    .windows(2)
                    .filter_map(|pair| Some([*pair.first()?, *pair.get(1)?])),
            );
        }
    }
    found
}

/// Whether values of a column are equal to the database exactly where their texts are, to the byte. Of a view's column
/// that is not told.
pub(super) fn is_exact(table: &Table, column: &Column, dbms: Dbms) -> bool {
    match &column.data_type {
        // YEAR of MySQL takes 5 for 2005.
        DataType::Integer { .. } => column.declared.to_lowercase().contains("int"),
        DataType::Text { .. } => {
            table.is_stored()
                && column.is_plain_text(dbms)
                && !column.insensitive
                && column.ambiguous_charset.is_none()
        }
        _ => false,
    }
}
