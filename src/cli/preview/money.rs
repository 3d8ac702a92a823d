//! Cost and duration, as people read them.

use super::cost::Cost;
use crate::cli::format::{bytes, seconds, usd};
use crate::cli::report::figures;
use crate::dynamodb::price::{Route, best};
use crate::preview::Forecast;

pub(super) fn costs(forecast: &Forecast, cost: &Cost) -> String {
    let rows = cost.routes.iter().map(|route| {
        vec![
            route.route.words().to_owned(),
            route.seconds.map_or("not promised".to_owned(), duration),
            priced(route.usd),
            route.limited.words().unwrap_or_else(|| "-".to_owned()),
        ]
    });
    let mut out = vec![figures(&["load", "at least", "USD", "limited by"], rows)];
    out.extend(best_ways(&cost.routes));
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

/// Which way is the cheapest and which the quickest, as far as both are known.
fn best_ways(routes: &[Route]) -> Option<String> {
    let (cheapest, quickest) = best(routes);
    let unpriced = routes.iter().filter(|route| route.usd.is_none());
    let unpriced: Vec<&str> = unpriced.map(|route| route.route.words()).collect();
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

fn duration(time: f64) -> String {
    if time < 1.0 {
        "1 s".to_owned()
    } else {
        seconds(time)
    }
}
