//! Makes a [`Definition`] from what was read: the model, the catalog, the proofs, example items.

mod choice;
mod coverage;
mod estimate;
mod items;
mod patterns;
mod places;
mod sums;
#[cfg(test)]
mod tests;

use dynafold_dynamodb::price::Prices;
use dynafold_mapping::Proofs;
use dynafold_mapping::forecast::{ItemTypeForecast, PlaceForecast};
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::Model;
use dynafold_mapping::sample::ItemTypeSample;
use dynafold_mapping::template::Context;
use dynafold_relational::catalog::Catalog;

use super::definition::{Answer, Definition, Examples, Warning};
use choice::Choice;

pub use places::cells;

/// What a definition is made from.
#[derive(Debug)]
pub struct Ground<'g> {
    /// The mapping's file name.
    pub mapping: &'g str,
    /// The mapping.
    pub model: &'g Model,
    /// The relational schema.
    pub catalog: &'g Catalog,
    /// What was shown of the mapping.
    pub proofs: &'g Proofs,
    /// What templates need besides the row.
    pub context: &'g Context,
    /// The first items of each item type, in the order of the mapping; empty where nothing was read.
    pub samples: &'g [ItemTypeSample],
    /// Most rows of an item type that were read.
    pub rows: u64,
    /// What of the data is shown; `None`: nothing.
    pub examples: Option<Examples>,
    /// Most example items of an item type.
    pub shown: usize,
    /// For each access pattern what it answered; may be empty.
    pub answers: Vec<Option<Answer>>,
    /// What all rows come to, if they were read.
    pub forecast: Option<Totals<'g>>,
    /// The options by which `query` is told which table was asked; empty where it is not known.
    pub target: &'g [(&'static str, String)],
    /// What units cost.
    pub prices: &'g Prices,
    /// The warnings of `check`.
    pub warnings: Vec<Warning>,
    /// Those that the mapping accepts.
    pub accepted: Vec<Warning>,
}

/// What all rows come to.
#[derive(Debug, Clone, Copy)]
pub struct Totals<'g> {
    /// Each item type, in the order of the mapping.
    pub item_types: &'g [ItemTypeForecast],
    /// The table and its indexes.
    pub places: &'g [PlaceForecast],
}

/// Says what a mapping defines.
#[must_use]
pub fn define(mut ground: Ground<'_>) -> Definition {
    let answers = std::mem::take(&mut ground.answers);
    let patterns = patterns::patterns(&ground, answers);
    let choice = match ground.examples {
        Some(_) => Choice::of(ground.samples, &ground.model.table, ground.shown),
        None => Choice::default(),
    };
    let item_types = items::item_types(&ground, &choice);
    let own = coverage::own(&ground);
    let folder = Folder::new(ground.model, ground.context.clone());
    let figures = match ground.forecast {
        Some(totals) => sums::figures(totals, &ground, &patterns),
        None => estimate::figures(&folder, &ground, &patterns),
    };
    Definition {
        mapping: ground.mapping.to_owned(),
        table: ground.model.table.name.clone(),
        sources: coverage::sources(&ground, &own, &item_types, &patterns),
        catalog: own,
        places: places::places(&ground, &choice),
        settings: places::settings(&ground.model.table),
        item_types,
        patterns,
        examples: ground.examples,
        figures,
        warnings: ground.warnings,
        accepted: ground.accepted,
    }
}
