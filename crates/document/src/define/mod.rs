//! Makes a [`Definition`] from what was read: the model, the catalog, the proofs, example items.

mod choice;
mod coverage;
mod estimate;
mod figures;
mod guarantees;
mod heat;
mod items;
mod overview;
mod patterns;
mod places;
mod proposal;
mod sections;
#[cfg(test)]
mod tests;
mod trace;

use std::sync::Arc;

use dynafold_design::Report;
use dynafold_dynamodb::price::Prices;
use dynafold_mapping::Proofs;
use dynafold_mapping::forecast::{ItemTypeForecast, PlaceForecast, WideItems};
use dynafold_mapping::model::Model;
use dynafold_mapping::sample::ItemTypeSample;
use dynafold_mapping::template::Context;
use dynafold_relational::catalog::Catalog;

use super::definition::{Definition, ExampleAnswer, Examples, Warning};
use super::tree::{About, SourceTable, TextLine, joined, link, plain};
use choice::ShownItems;
use figures::Figures;
use items::DocumentedItemType;
use patterns::DocumentedPattern;

pub(super) use coverage::table_usage;
pub use places::cells;

/// What a definition is made from, as its caller read it.
#[derive(Debug)]
pub struct DefinitionInputs<'g> {
    /// The file name of the mapping.
    pub mapping: &'g str,
    /// The mapping, checked.
    pub model: &'g Model,
    /// The relational schema.
    pub catalog: &'g Catalog,
    /// What was shown of the mapping.
    pub proofs: &'g Proofs,
    /// What templates need besides the row.
    pub context: &'g Context,
    /// The first items of each item type, in the order of the mapping; empty where nothing was read.
    pub samples: &'g [ItemTypeSample],
    /// How many rows of an item type were read at most.
    pub row_limit: u64,
    /// What of the data is shown; `None`: nothing.
    pub examples: Option<Examples>,
    /// How many example items of an item type are shown at most.
    pub example_limit: usize,
    /// The answer of each access pattern, in the order of the mapping; empty where none was asked.
    pub answers: Vec<Option<ExampleAnswer>>,
    /// What all rows come to, if they were read.
    pub forecast: Option<ForecastTotals<'g>>,
    /// The options by which `query` is told which table was asked; empty where it is not known.
    pub target: &'g [(&'static str, String)],
    /// The option by which `query` is told the schema, as a shell takes it.
    pub schema: String,
    /// The access patterns with parameters that `query` cannot read without the schema.
    pub needs_schema: Vec<Arc<str>>,
    /// What units cost.
    pub prices: &'g Prices,
    /// What `design` reported of the mapping when it proposed it.
    pub proposal: Option<&'g Report>,
    /// The warnings of `check`.
    pub warnings: Vec<Warning>,
    /// The warnings that the mapping accepts.
    pub accepted: Vec<Warning>,
}

/// What all rows come to.
#[derive(Debug, Clone, Copy)]
pub struct ForecastTotals<'g> {
    /// Each item type, in the order of the mapping.
    pub item_types: &'g [ItemTypeForecast],
    /// The table and its indexes.
    pub places: &'g [PlaceForecast],
    /// Large items of which access patterns need little.
    pub wide: &'g [WideItems],
    /// Bytes of all items as DynamoDB JSON.
    pub import_bytes: u64,
}

/// Makes the definition of a mapping.
pub fn define(inputs: &DefinitionInputs<'_>) -> Definition {
    Definition {
        mapping: inputs.mapping.to_owned(),
        table: inputs.model.table.name.clone(),
        sections: sections::sections(&DocumentFacts::of(inputs)),
    }
}

/// What several sections need, computed once.
struct DocumentFacts<'g> {
    inputs: &'g DefinitionInputs<'g>,
    shown_items: ShownItems<'g>,
    item_types: Vec<DocumentedItemType<'g>>,
    patterns: Vec<DocumentedPattern<'g>>,
    /// The tables that the mapping reads, and those that a foreign key connects with them.
    catalog: Catalog,
    /// What becomes of each table.
    sources: Vec<SourceTable>,
    figures: Figures,
}

impl<'g> DocumentFacts<'g> {
    fn of(inputs: &'g DefinitionInputs<'g>) -> Self {
        let shown_items = match inputs.examples {
            Some(_) => {
                let partition = &inputs.model.table.partition.name;
                ShownItems::choose(inputs.samples, partition, inputs.example_limit)
            }
            None => ShownItems::default(),
        };
        let item_types = items::item_types(inputs);
        let catalog = coverage::touched_catalog(inputs);
        Self {
            inputs,
            shown_items,
            patterns: patterns::patterns(inputs),
            sources: coverage::sources(inputs, &catalog, &item_types),
            item_types,
            catalog,
            figures: match inputs.forecast {
                Some(totals) => {
                    let item_types = &inputs.model.item_types;
                    Figures::of_all(totals, item_types, inputs.examples.is_some())
                }
                None => estimate::figures(inputs),
            },
        }
    }

    /// The ids of the source's tables that something is made from.
    fn sources_of(&self, makes_it: impl Fn(&SourceTable) -> bool) -> Vec<String> {
        let found = self.sources.iter().filter(|source| makes_it(source));
        found.map(|source| source.id.to_string()).collect()
    }
}

/// Links to access patterns, with commas between.
fn pattern_links(names: &[impl AsRef<str>]) -> TextLine {
    let links = names
        .iter()
        .map(|name| vec![link(About::Pattern, name.as_ref())]);
    joined(links, &plain(", "))
}
