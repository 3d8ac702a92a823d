//! What the items of all rows cost, how long a load of them takes, and both as people read them.

use serde::Serialize;

use crate::cli::format::{bytes, float, seconds, usd};
use crate::cli::report::figures;
use crate::dynamodb::STORED_OVERHEAD;
use crate::dynamodb::price::{Prices, Route, SteadyCost, best, routes, steady};
use crate::mapping::forecast::load_demand;
use crate::mapping::model::Model;
use crate::preview::{Forecast, PlaceKind};

/// What a load, and what comes after it, costs.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Cost {
    /// The prices that were used.
    pub(super) prices: Prices,
    /// The routes into the table.
    pub(super) routes: Vec<Route>,
    /// Bytes that are billed as stored, indexes included.
    pub(super) stored_bytes: u64,
    /// US dollars a month for storing them; `null` where the prices do not say it.
    pub(super) storage_usd_per_month: Option<f64>,
    /// What the item types' write rates cost; `null` without rates.
    pub(super) steady: Option<SteadyCost>,
}

impl Cost {
    pub(super) fn of(forecast: &Forecast, model: &Model, prices: Prices) -> Self {
        let places = &forecast.places;
        let stored_bytes = places
            .iter()
            .map(|place| place.bytes + STORED_OVERHEAD * place.items)
            .sum();
        // A local index has no throughput of its own.
        let rates: Option<Vec<f64>> = places
            .iter()
            .filter(|place| place.kind != PlaceKind::LocalIndex)
            .map(|place| Some(place.rated.as_ref()?.units_per_second))
            .collect();
        let demand = load_demand(places, &model.table, forecast.import_bytes);
        Self {
            routes: routes(&demand, &prices),
            stored_bytes,
            storage_usd_per_month: prices.storage(float(stored_bytes)),
            steady: rates
                .filter(|rates| !rates.is_empty())
                .map(|rates| steady(&rates, &prices)),
            prices,
        }
    }
}

/// The report's lines on cost and duration.
pub(super) fn text(forecast: &Forecast, cost: &Cost) -> String {
    let rows = cost.routes.iter().map(|route| {
        vec![
            route.route.words().to_owned(),
            route.seconds.map_or("not promised".to_owned(), duration),
            priced(route.usd),
            route.limited.words().unwrap_or_else(|| "-".to_owned()),
        ]
    });
    let mut out = vec![figures(["load", "at least", "USD", "limited by"], rows)];
    out.extend(best_routes(&cost.routes));
    out.push(format!(
        " storage: {} with indexes, {} USD a month; {} as DynamoDB JSON for an import",
        bytes(cost.stored_bytes),
        priced(cost.storage_usd_per_month),
        bytes(forecast.import_bytes),
    ));
    if let Some(steady) = &cost.steady {
        out.push(format!(
            " steady at {:.1} write units a second: {} USD a month on demand, {} provisioned{}",
            steady.units_per_second,
            priced(steady.cost.on_demand_usd),
            priced(steady.cost.provisioned_usd),
            steady
                .on_demand_below
                .map_or_else(String::new, |share| format!(
                    "; on demand is cheaper while the mean load is below {:.0} % of that",
                    share * 100.0
                )),
        ));
    }
    out.push(format!(" {}", cost.prices.dated_source()));
    out.join("\n")
}

/// Which route is the cheapest and which the quickest, as far as both are known.
fn best_routes(routes: &[Route]) -> Option<String> {
    let (cheapest, quickest) = best(routes);
    let unpriced: Vec<&str> = routes
        .iter()
        .filter(|route| route.usd.is_none())
        .map(|route| route.route.words())
        .collect();
    let mut text = format!(" cheapest: {}", cheapest?.route.words());
    if !unpriced.is_empty() {
        text.push_str(&format!(" (without a price: {})", unpriced.join(", ")));
    }
    text.push_str(&format!(
        "; quickest: {} (DynamoDB promises no duration for loads from S3)",
        quickest?.route.words()
    ));
    Some(text)
}

fn priced(amount: Option<f64>) -> String {
    amount.map_or_else(|| "not in the prices".to_owned(), usd)
}

/// No load takes less than a second.
fn duration(time: f64) -> String {
    if time < 1.0 {
        "1 s".to_owned()
    } else {
        seconds(time)
    }
}
