//! From what all rows come to, to money and time.

use serde::Serialize;

use crate::dynamodb::STORED_OVERHEAD;
use crate::dynamodb::price::{LoadDemand, Prices, Route, SteadyCost, WriteDemand, routes, steady};
use crate::format::float;
use crate::mapping::model::Model;
use crate::preview::{Forecast, PlaceForecast, PlaceKind};

/// What a load, and what comes after it, costs.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Cost {
    /// The prices that were used.
    pub(super) prices: Prices,
    /// The ways into the table.
    pub(super) routes: Vec<Route>,
    /// Bytes that are billed as stored, indexes included.
    pub(super) stored_bytes: u64,
    /// US dollars a month for storing them; `null` where the prices do not say it.
    pub(super) storage_usd_per_month: Option<f64>,
    /// What the item types' write rates cost; `null` without rates.
    pub(super) steady: Option<SteadyCost>,
}

pub(super) fn cost(forecast: &Forecast, model: &Model, prices: Prices) -> Cost {
    let places = &forecast.places;
    let stored = places
        .iter()
        .map(|place| place.bytes + STORED_OVERHEAD * place.items);
    let stored_bytes = stored.sum();
    let rated: Option<Vec<f64>> = global(places)
        .map(|place| place.rated.as_ref().map(|rated| rated.units_per_second))
        .collect();
    Cost {
        routes: routes(&demand(forecast, model), &prices),
        stored_bytes,
        storage_usd_per_month: prices.storage(float(stored_bytes)),
        steady: rated
            .filter(|rated| !rated.is_empty())
            .map(|rated| steady(&rated, &prices)),
        prices,
    }
}

/// The table and its global indexes: what has throughput of its own.
fn global(places: &[PlaceForecast]) -> impl Iterator<Item = &PlaceForecast> {
    let places = places.iter();
    places.filter(|place| place.kind != PlaceKind::LocalIndex)
}

fn demand(forecast: &Forecast, model: &Model) -> LoadDemand {
    let table = model.table.billing.provisioned();
    let provisioned = |name: &str| {
        let own = model.table.index(name).and_then(|index| index.throughput);
        table.map(|table| own.unwrap_or(table).write)
    };
    let needs = global(&forecast.places).map(|place| {
        // What is written to local indexes is the table's.
        let units = place
            .hottest
            .as_ref()
            .map_or(place.write_units, |hot| hot.total);
        let hottest = place.hottest.as_ref().and_then(|hot| hot.keys.first());
        WriteDemand {
            name: place.name.clone(),
            units: float(units),
            hottest: hottest.map_or(0.0, |hot| float(hot.least)),
            provisioned: provisioned(&place.name).map(float),
        }
    });
    LoadDemand {
        needs: needs.collect(),
        import_bytes: float(forecast.import_bytes),
    }
}
