//! Figures estimated from the sizes of the first items of each type and the catalog's counts of rows.

use dynafold_dynamodb::write_units;
use dynafold_format::{float, rounded, whole};
use dynafold_mapping::forecast::PlaceForecast;
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::ItemType;
use dynafold_mapping::sample::ItemTypeSample;

use super::DefinitionInputs;
use super::figures::{Basis, Figures, TypeFigures, unread_types};
use super::heat::KeyNames;
use super::places::places;

/// What the table or an index holds of some items.
#[derive(Debug, Clone, Copy, Default)]
struct StoredTotals {
    /// Items or entries.
    items: u64,
    bytes: u64,
    /// Write units that loading them takes.
    write_units: u64,
}

impl StoredTotals {
    fn add(&mut self, bytes: usize) {
        self.items += 1;
        self.bytes += whole(bytes);
        self.write_units += write_units(bytes);
    }

    /// The totals of all `items`, where these are the totals of `sampled` of them.
    fn scaled(self, items: u64, sampled: u64) -> Self {
        let of_all = |sum: u64| match sampled {
            0 => 0,
            sampled => rounded(float(sum) * float(items) / float(sampled)),
        };
        Self {
            items: of_all(self.items),
            bytes: of_all(self.bytes),
            write_units: of_all(self.write_units),
        }
    }
}

pub(super) fn figures(inputs: &DefinitionInputs<'_>) -> Figures {
    let folder = Folder::new(inputs.model, inputs.context.clone());
    let mut item_types = Vec::new();
    let mut totals = vec![StoredTotals::default(); 1 + inputs.model.table.all_indexes().count()];
    // The write units a second in each place, at the declared rates.
    let mut writes = vec![0.0; totals.len()];
    let sampled_items = |index: usize| {
        let sample = inputs.samples.get(index);
        sample.map_or(0, |sample| whole(sample.items.len()))
    };
    let all_sampled = (0..inputs.model.item_types.len()).map(sampled_items);
    let (unread_writes, unread_rate) = unread_types(&inputs.model.item_types, all_sampled);
    if let Some(table) = writes.first_mut() {
        *table += unread_rate;
    }
    let mut is_known = !inputs.samples.is_empty();
    for (index, item_type) in inputs.model.item_types.iter().enumerate() {
        let sample = inputs.samples.get(index);
        let sums = sample_totals(&folder, sample, totals.len());
        let sampled = sampled_items(index);
        let mut figures = type_figures(inputs, item_type, sample);
        let rate = item_type.write_rate.unwrap_or(0.0);
        for (writes, sum) in writes.iter_mut().zip(&sums) {
            *writes += rate * (float(sum.write_units) / float(sampled.max(1)));
        }
        figures.mean_bytes = (sums.first()).and_then(|own| own.bytes.checked_div(own.items));
        if let (Some(items), Some(_)) = (figures.items, sample) {
            let scaled: Vec<StoredTotals> =
                sums.iter().map(|sum| sum.scaled(items, sampled)).collect();
            figures.bytes = scaled.first().map(|own| own.bytes);
            figures.write_units = Some(scaled.iter().map(|sum| sum.write_units).sum());
            for (total, sum) in totals.iter_mut().zip(scaled) {
                total.items += sum.items;
                total.bytes += sum.bytes;
                total.write_units += sum.write_units;
            }
        } else {
            is_known = false;
        }
        item_types.push(figures);
    }
    if !is_known {
        totals.clear();
    }
    let places = places(&inputs.model.table).zip(totals);
    let places = places.map(|(place, total)| PlaceForecast {
        name: place.name.to_owned(),
        kind: place.kind,
        items: total.items,
        bytes: total.bytes,
        write_units: total.write_units,
        hottest: None,
        rated: None,
        reads: None,
    });
    let basis = if inputs.samples.is_empty() {
        Basis::Nothing
    } else {
        Basis::Estimate
    };
    Figures {
        basis,
        item_types,
        places: places.collect(),
        writes,
        unread_writes,
        import_bytes: None,
        hot: single_partitions(inputs),
        wide: Vec::new(),
        key_names: KeyNames::of(&[], inputs.examples.is_some()),
    }
}

/// The totals of a type's sampled items in the table and in each index.
fn sample_totals(
    folder: &Folder,
    sample: Option<&ItemTypeSample>,
    place_count: usize,
) -> Vec<StoredTotals> {
    let mut totals = vec![StoredTotals::default(); place_count];
    for item in sample.iter().flat_map(|sample| &sample.items) {
        let entries = folder.entries(&item.item, item.size);
        let sizes = std::iter::once(Some(item.size)).chain(entries);
        for (total, size) in totals.iter_mut().zip(sizes) {
            if let Some(bytes) = size {
                total.add(bytes);
            }
        }
    }
    totals
}

/// The number of items of a type, as far as it is known. It is an upper bound if a condition leaves rows out.
fn type_figures(
    inputs: &DefinitionInputs<'_>,
    item_type: &ItemType,
    sample: Option<&ItemTypeSample>,
) -> TypeFigures {
    let pass = inputs.model.passes.get(item_type.pass);
    let name = pass.and_then(|pass| pass.scan.from.table());
    let rows = name.and_then(|name| inputs.catalog.table(name)?.estimated_rows);
    let figures = TypeFigures {
        name: item_type.name.to_string(),
        // A row whose array is exploded makes any number of items.
        items: rows.filter(|_| item_type.explodes.is_empty()),
        at_most: item_type.condition.is_some(),
        ..TypeFigures::default()
    };
    let Some(sample) = sample else {
        return figures;
    };
    let made = whole(sample.items.len());
    if sample.read < inputs.row_limit && !sample.is_cut {
        return TypeFigures {
            items: Some(made),
            at_most: false,
            ..figures
        };
    }
    // All rows make as many items per row as those that were read. If those made none, the number is unknown: others may
    // make some.
    let scaled =
        |rows: u64| rounded(float(rows.max(sample.read)) * float(made) / float(sample.read.max(1)));
    TypeFigures {
        items: rows.filter(|_| made > 0).map(scaled),
        about: !sample.expired.is_empty() || !sample.rejects.is_empty(),
        ..figures
    }
}

/// Sentences about item types whose items all share one partition key value, each with the index where they do.
fn single_partitions(inputs: &DefinitionInputs<'_>) -> Vec<(String, String)> {
    let sentences = inputs.proofs.indexes.iter().flat_map(|index| {
        index.items.iter().filter_map(|item| {
            let value = item.single_partition.as_ref()?;
            let condition = match item.when.as_str() {
                "" => "",
                _ => " that is in it",
            };
            let item_type = &item.item_type;
            let sentence = format!("every {item_type}{condition} has the partition key {value}");
            Some((index.index.clone(), sentence))
        })
    });
    sentences.collect()
}
