//! From what all rows come to, to money and time.

use serde::Serialize;

use crate::dynamodb::STORED_OVERHEAD;
use crate::dynamodb::price::{Prices, Route, SteadyCost, routes, steady};
use crate::format::float;
use crate::mapping::forecast::load_demand;
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
        routes: routes(
            &load_demand(places, &model.table, forecast.import_bytes),
            &prices,
        ),
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
