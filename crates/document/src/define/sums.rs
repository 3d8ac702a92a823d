//! Figures from all rows, and what all figures come to.

use dynafold_dynamodb::Table;
use dynafold_dynamodb::price::{Monthly, Prices, Rates, monthly};
use dynafold_format::{count, counted, float};
use dynafold_mapping::forecast::PlaceForecast;

use super::{Ground, Totals};
use crate::definition::{
    Basis, Figures, HotPlace, Pattern, PlaceFigures, SteadyPlace, Total, TypeFigures,
};

/// Bytes that DynamoDB adds to each item and index entry where it bills storage.
const OVERHEAD: u64 = 100;
/// Hot keys of a place that are named.
const NAMED: usize = 5;
/// The share of a place's write units from which on a key is named.
const MUCH: f64 = 0.01;

/// What all rows come to.
pub(super) fn figures(totals: Totals<'_>, ground: &Ground<'_>, patterns: &[Pattern]) -> Figures {
    let item_types = totals.item_types.iter().map(|each| TypeFigures {
        name: each.item_type.clone(),
        items: Some(each.made),
        at_most: false,
        about: false,
        rejected: each.rejected,
        mean_bytes: (each.made > 0).then(|| each.mean_bytes()),
        bytes: Some(each.bytes),
        write_units: Some(each.write_units),
    });
    let places = totals.places.iter().map(|place| PlaceFigures {
        name: place.name.clone(),
        items: place.items,
        bytes: place.bytes,
        write_units: place.write_units,
    });
    let writes: Vec<f64> = totals
        .places
        .iter()
        .map(|place| {
            place
                .rated
                .as_ref()
                .map_or(0.0, |rated| rated.units_per_second)
        })
        .collect();
    let shows = ground.examples.is_some();
    let hot = totals.places.iter().filter_map(|place| hot(place, shows));
    completed(
        Basis::AllRows,
        item_types.collect(),
        places.collect(),
        steady(ground, patterns, &writes),
        hot.collect(),
        ground.prices,
    )
}

/// The heaviest partition keys of a place that holds anything. `shows`: whether keys may be named.
fn hot(place: &PlaceForecast, shows: bool) -> Option<HotPlace> {
    let hottest = place.hottest.as_ref().filter(|_| place.items > 0)?;
    let heavy = hottest.keys.iter().take(NAMED);
    let keys = heavy.take_while(|key| key.share >= MUCH).enumerate();
    let lines = keys.map(|(at, key)| {
        let name = if shows {
            key.key.clone()
        } else {
            format!("key {}", at + 1)
        };
        let units = if key.most > key.least {
            format!("at least {}, at most {}", count(key.least), count(key.most))
        } else {
            count(key.least)
        };
        let share = key.share * 100.0;
        format!("{name}: {share:.1} % of the write units ({units})")
    });
    let mut lines: Vec<String> = lines.collect();
    if hottest.error > 0 {
        let next = hottest.keys.get(lines.len());
        let most = next.map_or(0, |key| key.most).max(hottest.others_at_most);
        let which = if lines.is_empty() {
            "no key"
        } else {
            "no other key"
        };
        lines.push(format!("{which} has more than {} write units", count(most)));
    } else if lines.is_empty() {
        lines.push(format!(
            "no key takes {:.0} % of the write units",
            MUCH * 100.0
        ));
    }
    if let Some(distinct) = hottest.distinct {
        lines.push(format!("{} in all", counted(distinct, "partition key")));
    }
    Some(HotPlace {
        name: place.name.clone(),
        lines,
    })
}

/// The declared rates of each place: `writes` in the order of the places, reads by the patterns.
/// Local indexes share the table's capacity.
pub(super) fn steady(
    ground: &Ground<'_>,
    patterns: &[Pattern],
    writes: &[f64],
) -> Vec<SteadyPlace> {
    let table = &ground.model.table;
    let is_local = |name: &str| table.local_indexes.iter().any(|index| index.name == name);
    let global = table.indexes.iter().map(|index| &index.name);
    let places = std::iter::once(&table.name).chain(global);
    let mut places: Vec<SteadyPlace> = places
        .map(|name| SteadyPlace {
            name: name.clone(),
            ..SteadyPlace::default()
        })
        .collect();
    let names = names(table);
    for (name, units) in names.iter().zip(writes) {
        let place = if is_local(name) { &table.name } else { name };
        if let Some(place) = places.iter_mut().find(|other| other.name == *place) {
            place.rates.writes += units;
        }
    }
    for pattern in patterns {
        let Some(rate) = pattern.rate else { continue };
        let place = match &pattern.index {
            Some(index) if !is_local(index) => index,
            _ => &table.name,
        };
        if let Some(place) = places.iter_mut().find(|other| other.name == *place) {
            place.rates.reads += rate * pattern.units.usual();
            place.at_least |= pattern.units.at_least;
        }
    }
    places.retain(|place| place.rates.reads + place.rates.writes > 0.0);
    for place in &mut places {
        place.cost = monthly(place.rates, ground.prices);
    }
    places
}

/// Adds up what all places come to.
pub(super) fn completed(
    basis: Basis,
    item_types: Vec<TypeFigures>,
    places: Vec<PlaceFigures>,
    steady: Vec<SteadyPlace>,
    hot: Vec<HotPlace>,
    prices: &Prices,
) -> Figures {
    let total = (!places.is_empty()).then(|| {
        let stored = places
            .iter()
            .map(|place| place.bytes + OVERHEAD * place.items);
        let stored_bytes = stored.sum();
        let write_units = places.iter().map(|place| place.write_units).sum();
        Total {
            stored_bytes,
            storage_usd_per_month: prices.storage(float(stored_bytes)),
            write_units,
            load_usd: prices.writes(float(write_units)),
        }
    });
    let steady_total = (!steady.is_empty()).then(|| {
        let mut all = SteadyPlace {
            name: "all".to_owned(),
            cost: Monthly::sum(steady.iter().map(|place| place.cost)),
            ..SteadyPlace::default()
        };
        for place in &steady {
            all.rates.reads += place.rates.reads;
            all.rates.writes += place.rates.writes;
            all.at_least |= place.at_least;
        }
        all
    });
    let one = |reads, writes| monthly(Rates { reads, writes }, prices);
    Figures {
        basis,
        item_types,
        places,
        total,
        steady,
        steady_total,
        one_read: one(1.0, 0.0),
        one_write: one(0.0, 1.0),
        hot,
        prices: prices.clone(),
    }
}

/// The names of the table, its global indexes, its local ones.
pub(super) fn names(table: &Table) -> Vec<String> {
    let indexes = table.all_indexes().map(|index| index.name.clone());
    std::iter::once(table.name.clone()).chain(indexes).collect()
}

#[cfg(test)]
mod tests {
    use dynafold_mapping::forecast::{Heaviness, Hot, PlaceKind};

    use super::*;

    /// What is said of keys with so many of 1,000 write units, each perhaps with `error` more.
    fn told(weights: &[u64], error: u64) -> Vec<String> {
        let keys = weights.iter().map(|least| Hot {
            key: format!("K{least}"),
            least: *least,
            most: least + error,
            share: float(*least) / 1_000.0,
        });
        let place = PlaceForecast {
            name: "shop".to_owned(),
            kind: PlaceKind::Table,
            items: 1_000,
            bytes: 1_000,
            write_units: 1_000,
            hottest: Some(Heaviness {
                total: 1_000,
                error,
                distinct: (error == 0).then_some(1),
                keys: keys.collect(),
                others_at_most: error,
            }),
            rated: None,
        };
        hot(&place, true).unwrap().lines
    }

    #[test]
    fn keys_are_hot_that_take_much() {
        assert_eq!(
            told(&[160, 9], 0),
            [
                "K160: 16.0 % of the write units (160)",
                "1 partition key in all"
            ]
        );
        assert_eq!(
            told(&[160, 9], 5),
            [
                "K160: 16.0 % of the write units (at least 160, at most 165)",
                "no other key has more than 14 write units"
            ]
        );
        assert_eq!(
            told(&[9], 0),
            [
                "no key takes 1 % of the write units",
                "1 partition key in all"
            ]
        );
    }
}
