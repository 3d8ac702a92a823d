//! Where the values of a pattern's parameters come from: what the mapping says under `params`, the
//! column that its SQL compares them with, or the one that stands in their place in an item's key.

use std::sync::Arc;

use dynafold_mapping::model::{
    AccessPattern, ItemType, Origin, Parameter, SortCondition, Template,
};
use dynafold_mapping::template::Filter;
use dynafold_mapping::{aligned, writing};
use dynafold_relational::catalog::{Catalog, Column, TableName};
use dynafold_sql::{Bound, ColumnRef, Comparison, Query, table};

use super::call::Ground;

/// A parameter of a pattern, or of its SQL alone.
pub(super) struct Given<'a> {
    pub(super) name: Arc<str>,
    /// As the pattern takes it; `None` where the SQL alone does.
    pub(super) parameter: Option<&'a Parameter>,
    pub(super) origin: Whence<'a>,
    /// How it stands to its column.
    pub(super) side: Bound,
    /// Filters that the key puts a value through, and the pattern leaves to its caller.
    pub(super) written: Vec<Filter>,
}

/// Where values come from.
pub(super) enum Whence<'a> {
    /// A column.
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
    ground: &Ground<'a>,
    pattern: &'a AccessPattern,
    query: &Query,
) -> Result<Vec<Given<'a>>, Arc<str>> {
    let catalog = ground.catalog;
    let mut names: Vec<Arc<str>> = Vec::new();
    let own = pattern.parameters.iter().map(|one| one.name.clone());
    let others = query
        .sql
        .parameters()
        .iter()
        .map(|one| Arc::from(one.name.as_str()));
    for name in own.chain(others) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let one = |name: Arc<str>| {
        let of = |one: &&Comparison| *one.parameter == *name;
        let mut all = query.comparisons.iter().filter(of);
        let equal = all.clone().find(|one| one.bound == Bound::Equal);
        let comparison = equal.or_else(|| all.next());
        let in_sql = comparison.and_then(|one| resolved(&one.column, query, catalog));
        let parameter = pattern.parameters.iter().find(|one| one.name == name);
        let at = pattern.parameters.iter().position(|one| one.name == name);
        let in_key = at.and_then(|at| of_key(at, pattern, ground));
        let said = pattern.origins.iter().find(|(other, _)| *other == name);
        let origin = match said.map(|(_, origin)| origin) {
            Some(Origin::Clock(template)) => Some(Whence::Clock(template, in_sql)),
            Some(Origin::Column { table, column }) => {
                let found = catalog.table(table).and_then(|table| table.column(column));
                found.map(|column| Whence::Column(table, column))
            }
            None => {
                let key = in_key.as_ref().and_then(|key| key.column);
                in_sql
                    .or(key)
                    .map(|(table, column)| Whence::Column(table, column))
            }
        };
        let side = comparison.map(|one| one.bound);
        Ok(Given {
            parameter,
            origin: origin.ok_or_else(|| name.clone())?,
            side: side
                .or_else(|| at.and_then(|at| side_in(pattern, at)))
                .unwrap_or(Bound::Equal),
            written: in_key.map_or_else(Vec::new, |key| key.written),
            name,
        })
    };
    names.into_iter().map(one).collect()
}

/// The column that a query means.
fn resolved<'a>(
    wanted: &ColumnRef,
    query: &Query,
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

/// What an item's key has in a parameter's place.
struct InKey<'a> {
    column: Option<(&'a TableName, &'a Column)>,
    written: Vec<Filter>,
}

fn of_key<'a>(at: usize, pattern: &AccessPattern, ground: &Ground<'a>) -> Option<InKey<'a>> {
    let model = ground.model;
    let promised =
        |item: &&ItemType| pattern.items.is_empty() || pattern.items.contains(&item.name);
    let asked = pattern
        .partition
        .iter()
        .map(|(key, template)| (key, template));
    let sort = pattern.sort.iter().flat_map(|(key, condition)| {
        let templates = condition.templates().into_iter();
        templates.map(move |template| (key, template))
    });
    let asked: Vec<_> = asked.chain(sort).collect();
    model.item_types.iter().filter(promised).find_map(|item| {
        asked.iter().find_map(|(key, asked)| {
            let mut attributes = item.attributes.iter();
            let (_, node) = attributes.find(|(name, _)| *name == key.name)?;
            let pairs = aligned(asked, node.template()?).pairs;
            let pair = pairs.into_iter().find(|pair| pair.1.place.column == at);
            let (_, asked, made) = pair?;
            let verbatim = writing(&asked.filters).is_empty();
            let written = if verbatim {
                made.filters.clone()
            } else {
                Vec::new()
            };
            let plain = made.place.path.is_empty();
            let column = plain.then(|| column_of(item, made.place.column, ground));
            Some(InKey {
                column: column.flatten(),
                written,
            })
        })
    })
}

/// The column of the source that stands at a place of an item type's rows.
fn column_of<'a>(
    item: &ItemType,
    place: usize,
    ground: &Ground<'a>,
) -> Option<(&'a TableName, &'a Column)> {
    let (table, name) = ground.model.passes.get(item.pass)?.scan.origin(place)?;
    let table = ground.catalog.table(table)?;
    Some((&table.name, table.column(name)?))
}

/// How the key condition holds a parameter.
fn side_in(pattern: &AccessPattern, at: usize) -> Option<Bound> {
    let has = |template: &Template| template.mandatory().any(|value| value.place.column == at);
    pattern
        .sort
        .iter()
        .find_map(|(_, condition)| match condition {
            SortCondition::Between(low, _) if has(low) => Some(Bound::Low(true)),
            SortCondition::Between(_, high) if has(high) => Some(Bound::High(true)),
            SortCondition::Less(one) | SortCondition::LessOrEqual(one) if has(one) => {
                Some(Bound::High(true))
            }
            SortCondition::Greater(one) | SortCondition::GreaterOrEqual(one) if has(one) => {
                Some(Bound::Low(true))
            }
            _ => None,
        })
}
