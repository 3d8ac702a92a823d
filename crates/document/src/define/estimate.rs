//! Figures from what the first rows of each item type measure and how many rows the catalog counts.

use dynafold_dynamodb::write_units;
use dynafold_format::{float, rounded, whole};
use dynafold_mapping::forecast::PlaceForecast;
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::ItemType;
use dynafold_mapping::sample::ItemTypeSample;

use super::Inputs;
use super::figures::{Basis, Figures, TypeFigures, unread};
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

    /// The same of so many items as there are, by what was sampled of them.
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

pub(super) fn figures(inputs: &Inputs<'_>) -> Figures {
    let folder = Folder::new(inputs.model, inputs.context.clone());
    let mut item_types = Vec::new();
    let mut totals = vec![StoredTotals::default(); 1 + inputs.model.table.all_indexes().count()];
    // The write units a second in each place, at the declared rates.
    let mut writes = vec![0.0; totals.len()];
    let read = (0..inputs.model.item_types.len()).map(|at| {
        let sample = inputs.samples.get(at);
        sample.map_or(0, |sample| whole(sample.items.len()))
    });
    let (unread_writes, unread_rate) = unread(&inputs.model.item_types, read);
    if let Some(table) = writes.first_mut() {
        *table += unread_rate;
    }
    let mut is_known = !inputs.samples.is_empty();
    for (index, item_type) in inputs.model.item_types.iter().enumerate() {
        let sample = inputs.samples.get(index);
        let sums = measured(&folder, sample, totals.len());
        let sampled = sample.map_or(0, |sample| whole(sample.items.len()));
        let mut figures = counted(inputs, item_type, sample);
        let rate = item_type.write_rate.unwrap_or(0.0);
        for (writes, sum) in writes.iter_mut().zip(&sums) {
            *writes += rate * (float(sum.write_units) / float(sampled.max(1)));
        }
        figures.mean_bytes = (sums.first()).and_then(|own| own.bytes.checked_div(own.items));
        if let (Some(items), Some(_)) = (figures.items, sample) {
            let all: Vec<StoredTotals> =
                sums.iter().map(|sum| sum.scaled(items, sampled)).collect();
            figures.bytes = all.first().map(|own| own.bytes);
            figures.write_units = Some(all.iter().map(|sum| sum.write_units).sum());
            for (total, sum) in totals.iter_mut().zip(all) {
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
        hot: single(inputs),
        wide: Vec::new(),
        key_names: KeyNames::of(&[], inputs.examples.is_some()),
    }
}

/// What the sampled items of a type come to, place by place.
fn measured(folder: &Folder, sample: Option<&ItemTypeSample>, places: usize) -> Vec<StoredTotals> {
    let mut sums = vec![StoredTotals::default(); places];
    for item in sample.iter().flat_map(|sample| &sample.items) {
        let entries = folder.entries(&item.item, item.size);
        let held = std::iter::once(Some(item.size)).chain(entries);
        for (sum, held) in sums.iter_mut().zip(held) {
            if let Some(bytes) = held {
                sum.add(bytes);
            }
        }
    }
    sums
}

/// How many items a type has, as far as anything tells; there may be fewer where a condition leaves rows out.
fn counted(
    inputs: &Inputs<'_>,
    item_type: &ItemType,
    sample: Option<&ItemTypeSample>,
) -> TypeFigures {
    let pass = inputs.model.passes.get(item_type.pass);
    let name = pass.and_then(|pass| pass.scan.from.table());
    let rows = name.and_then(|name| inputs.catalog.table(name)?.estimated_rows);
    let figures = TypeFigures {
        name: item_type.name.to_string(),
        // A row whose array is exploded may give any number.
        items: rows.filter(|_| item_type.explodes.is_empty()),
        at_most: item_type.condition.is_some(),
        ..TypeFigures::default()
    };
    let Some(sample) = sample else {
        return figures;
    };
    let made = whole(sample.items.len());
    if sample.read < inputs.rows && !sample.is_cut {
        return TypeFigures {
            items: Some(made),
            at_most: false,
            ..figures
        };
    }
    // Each row gives as many as the rows that were read; where these gave none, others may.
    let of_all =
        |rows: u64| rounded(float(rows.max(sample.read)) * float(made) / float(sample.read.max(1)));
    TypeFigures {
        items: rows.filter(|_| made > 0).map(of_all),
        about: !sample.expired.is_empty() || !sample.rejects.is_empty(),
        ..figures
    }
}

/// Indexes where all items of a type lie under one partition key value.
fn single(inputs: &Inputs<'_>) -> Vec<(String, String)> {
    let places = inputs.proofs.indexes.iter().flat_map(|index| {
        index.items.iter().filter_map(|item| {
            let value = item.single_partition.as_ref()?;
            let meeting = match item.when.as_str() {
                "" => "",
                _ => " that is in it",
            };
            let every = &item.item_type;
            let line = format!("every {every}{meeting} has the partition key {value}");
            Some((index.index.clone(), line))
        })
    });
    places.collect()
}
