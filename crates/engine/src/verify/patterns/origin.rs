//! Where the values of a pattern's parameters come from: what the mapping says under `params`, or the
//! column that its SQL compares them with.

use std::sync::Arc;

use dynafold_format::each_once;
use dynafold_mapping::model::{AccessPattern, Parameter, ParameterOrigin, Template};
use dynafold_mapping::template::Filter;
use dynafold_mapping::{aligned, writing};
use dynafold_relational::catalog::{Catalog, Column, TableName};
use dynafold_sql::{ColumnRef, Comparison, ParameterBound, SqlQuery, table};

use super::call::DrawContext;

/// A parameter of a pattern, or of its SQL alone.
pub(super) struct DrawnParameter<'a> {
    pub(super) name: Arc<str>,
    /// As the pattern takes it; `None` where the SQL alone does.
    pub(super) parameter: Option<&'a Parameter>,
    pub(super) origin: ValueSource<'a>,
    /// How it stands to its column.
    pub(super) side: ParameterBound,
    /// Filters that the key puts a value through, and the pattern leaves to its caller.
    pub(super) written: Vec<Filter>,
}

/// Where values come from.
pub(super) enum ValueSource<'a> {
    Column(&'a TableName, &'a Column),
    /// The clock; and the column that the moment is compared with, where that is known.
    Clock(&'a Template, Option<(&'a TableName, &'a Column)>),
}

/// The parameters with their origins.
///
/// # Errors
///
/// The name of the first one for which there is none.
pub(super) fn origins<'a>(
    draw_context: &DrawContext<'a>,
    pattern: &'a AccessPattern,
    query: &SqlQuery,
) -> Result<Vec<DrawnParameter<'a>>, Arc<str>> {
    let catalog = draw_context.catalog;
    let own = pattern.parameters.iter().map(|one| one.name.clone());
    let others = query
        .sql
        .parameters()
        .iter()
        .map(|one| Arc::from(one.name.as_str()));
    let names = each_once(own.chain(others));
    let one = |name: Arc<str>| {
        let of = |one: &&Comparison| *one.parameter == *name;
        let mut all = query.comparisons.iter().filter(of);
        let equal = all.clone().find(|one| one.bound == ParameterBound::Equal);
        let comparison = equal.or_else(|| all.next());
        let in_sql = comparison.and_then(|one| resolved(&one.column, query, catalog));
        let parameter = pattern.parameters.iter().find(|one| one.name == name);
        let declared = pattern.origins.iter().find(|(other, _)| *other == name);
        let origin = match declared.map(|(_, origin)| origin) {
            Some(ParameterOrigin::Clock(template)) => Some(ValueSource::Clock(template, in_sql)),
            Some(ParameterOrigin::Column { table, column }) => {
                let found = catalog.table(table).and_then(|table| table.column(column));
                found.map(|column| ValueSource::Column(table, column))
            }
            None => in_sql.map(|(table, column)| ValueSource::Column(table, column)),
        };
        let at = pattern.parameters.iter().position(|one| one.name == name);
        Ok(DrawnParameter {
            parameter,
            origin: origin.ok_or_else(|| name.clone())?,
            side: comparison.map_or(ParameterBound::Equal, |one| one.bound),
            written: at.map_or_else(Vec::new, |at| written(at, pattern, draw_context)),
            name,
        })
    };
    names.into_iter().map(one).collect()
}

/// The column that a query means.
fn resolved<'a>(
    wanted: &ColumnRef,
    query: &SqlQuery,
    catalog: &'a Catalog,
) -> Option<(&'a TableName, &'a Column)> {
    let mut tables = query.tables.iter().filter(|read| {
        let owner = wanted.owner.as_ref();
        owner.is_none_or(|owner| read.called.is(&owner.text))
    });
    tables.find_map(|read| {
        let table = table(catalog, read.schema.as_ref(), &read.name)?;
        let column = table
            .columns
            .iter()
            .find(|column| wanted.name.is(&column.name))?;
        Some((&table.name, column))
    })
}

/// The filters that an item's key puts a parameter through, and the pattern leaves to its caller.
fn written(at: usize, pattern: &AccessPattern, draw_context: &DrawContext<'_>) -> Vec<Filter> {
    let mut types = draw_context.model.item_types.iter();
    let found = types.find_map(|item| {
        let is_promised = pattern.items.is_empty() || pattern.items.contains(&item.name);
        let mut asked = pattern.templates().filter(|_| is_promised);
        asked.find_map(|(key, asked)| {
            let mut pairs = aligned(asked, item.template(&key.name)?).pairs.into_iter();
            let (_, asked, made) = pairs.find(|pair| pair.1.place.column == at)?;
            let is_verbatim = writing(&asked.filters).is_empty();
            Some(if is_verbatim {
                made.filters.clone()
            } else {
                Vec::new()
            })
        })
    });
    found.unwrap_or_default()
}
