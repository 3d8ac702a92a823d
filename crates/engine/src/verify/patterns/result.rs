//! The result of a pattern's query: its columns, and which of them tell its item types apart.

use std::collections::{HashMap, HashSet};

use dynafold_mapping::model::ItemType;
use dynafold_relational::catalog::Column;
use dynafold_relational::scan::{Relation, ScanColumn};

use super::call::Ground;
use super::made::constant;
use super::shape::Shape;

/// The result of a pattern's query.
pub(super) struct ResultOf<'a> {
    pub(super) shape: &'a Shape<'a>,
    pub(super) columns: &'a [Column],
    /// The column that says of which item type a row is.
    pub(super) told_by: Option<usize>,
    /// Names that several of the item types have, in lower case, where no column tells the types apart.
    pub(super) shared: HashSet<String>,
    /// The relations of the query that stand for one of the item types.
    pub(super) bases: HashSet<usize>,
}

impl<'a> ResultOf<'a> {
    /// `types`: those that come back.
    pub(super) fn new(
        shape: &'a Shape<'a>,
        columns: &'a [Column],
        types: &[&ItemType],
        ground: &Ground<'_>,
    ) -> Self {
        let model = ground.model;
        let names_all = |column: &Column| {
            types.iter().all(|item| {
                let mut attributes = item.attributes.iter();
                let found = attributes.find(|(name, _)| **name == *column.name);
                found
                    .and_then(|(_, node)| constant(node))
                    .is_some_and(|text| *text == *item.name)
            })
        };
        let several = types.len() > 1;
        let told_by = columns.iter().position(names_all).filter(|_| several);
        let mut shared = HashSet::new();
        let mut known = HashMap::new();
        for item in types.iter().filter(|_| told_by.is_none()) {
            let pass = model.passes.get(item.pass);
            let columns = pass.into_iter().flat_map(|pass| &pass.scan.columns);
            let columns = columns.filter_map(|column| match column {
                ScanColumn::Column {
                    join: None, name, ..
                } => Some(name.to_lowercase()),
                _ => None,
            });
            let attributes = item.attributes.iter().map(|(name, _)| name.to_lowercase());
            let names: HashSet<String> = columns.chain(attributes).collect();
            // Of one relation the source itself tells which row is of which type.
            let from = pass.map(|pass| &pass.scan.from);
            for name in names {
                if *known.entry(name.clone()).or_insert(from) != from {
                    shared.insert(name);
                }
            }
        }
        Self {
            shape,
            columns,
            told_by,
            shared,
            bases: bases(shape, types.iter().copied(), ground),
        }
    }
}

/// The relations of a query that stand for one of the item types.
pub(super) fn bases<'i>(
    shape: &Shape<'_>,
    types: impl Iterator<Item = &'i ItemType>,
    ground: &Ground<'_>,
) -> HashSet<usize> {
    let base = |item: &ItemType| match &ground.model.passes.get(item.pass)?.scan.from {
        Relation::Table(name) => shape.relation(ground.catalog.table(name)?),
        Relation::Query(_) => None,
    };
    types.filter_map(base).collect()
}
