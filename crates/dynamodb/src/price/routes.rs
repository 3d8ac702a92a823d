//! The routes into a table: what each costs and how long it takes at best.
//!
//! A load writes the table and its indexes at once, so all of them advance by the same share of
//! their units each second. What bounds that share is the slowest of them, the quota of them all
//! together, and the hottest partition. Durations hold for writers that spread their writes and
//! never pause.

use serde::Serialize;

use super::{PARTITION_WRITES, Prices};

/// Write units a second that a new on-demand table, and each of its indexes, takes (limits.md 27).
const NEW_TABLE_RATE: f64 = 4_000.0;
/// Seconds at its peak after which it takes twice as much.
const DOUBLING_SECONDS: f64 = 1_800.0;
/// Write units a second of a table with its indexes, before a quota is raised (limits.md 29).
const QUOTA_RATE: f64 = 40_000.0;

/// What is to be loaded.
#[derive(Debug, Clone, Default)]
pub struct LoadDemand {
    /// The table with its local indexes first, then the global indexes.
    pub needs: Vec<WriteDemand>,
    /// Bytes of all items as DynamoDB JSON.
    pub import_bytes: f64,
}

/// What the table or an index has to take.
#[derive(Debug, Clone)]
pub struct WriteDemand {
    /// `the table`, or the name of an index.
    pub name: String,
    /// Write units of the whole load.
    pub units: f64,
    /// Write units of the hottest partition key value.
    pub hottest: f64,
    /// Write units a second that the mapping provisions.
    pub provisioned: Option<f64>,
}

/// A route into a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteKind {
    /// A new on-demand table, as it is.
    OnDemand,
    /// A new on-demand table with its warm throughput raised before.
    OnDemandWarmed,
    /// Provisioned with what the mapping says.
    ProvisionedAsMapped,
    /// Provisioned for as few whole hours as the quota and the hottest partition allow.
    Provisioned,
    /// DynamoDB's import from S3 into a new table.
    ImportFromS3,
    /// DynamoDB's bulk operation, from S3 into a table that exists.
    BulkFromS3,
}

impl RouteKind {
    /// The route as people read it.
    pub fn words(self) -> &'static str {
        match self {
            Self::OnDemand => "on demand, new table",
            Self::OnDemandWarmed => "on demand, warmed",
            Self::ProvisionedAsMapped => "provisioned as mapped",
            Self::Provisioned => "provisioned for the load",
            Self::ImportFromS3 => "import from S3",
            Self::BulkFromS3 => "bulk put from S3",
        }
    }
}

/// What bounds a duration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum RouteLimit {
    /// What the table or index takes.
    Throughput {
        /// The table's or the index's name.
        name: String,
    },
    /// The quota of a table with its indexes.
    Quota,
    /// The hottest partition key value of the table or of an index.
    Partition {
        /// The table's or the index's name.
        name: String,
    },
    /// Nothing: it is spread over the hours that are paid for.
    BilledHours,
    /// DynamoDB does not say.
    Unknown,
}

impl RouteLimit {
    /// The limit as people read it; `None` where DynamoDB does not say.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Throughput { name } => format!("what {name} takes"),
            Self::Quota => "40,000 units/s of a table".to_owned(),
            Self::Partition { name } => format!("one partition key of {name}"),
            Self::BilledHours => "whole hours are paid".to_owned(),
            Self::Unknown => return None,
        })
    }
}

/// What a route costs and how long it takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Route {
    /// Which one.
    pub route: RouteKind,
    /// How long it takes at best; `None` where `DynamoDB` promises nothing.
    pub seconds: Option<f64>,
    /// What bounds that.
    pub limited: RouteLimit,
    /// US dollars; `None` where the price file does not say it.
    pub usd: Option<f64>,
    /// Write units a second to be set for the table and each global index, where the route asks for
    /// it.
    pub write_units_per_second: Vec<(String, f64)>,
}

/// All routes for a load.
pub fn routes(demand: &LoadDemand, prices: &Prices) -> Vec<Route> {
    let mut all = vec![on_demand(demand, prices), warmed(demand, prices)];
    all.extend(as_mapped(demand, prices));
    all.push(provisioned(demand, prices));
    let from_s3 = |route, usd| Route {
        route,
        seconds: None,
        limited: RouteLimit::Unknown,
        usd,
        write_units_per_second: Vec::new(),
    };
    let price = prices.usd.usd_per_imported_gb;
    let import_usd = price.map(|price| demand.import_bytes / 1e9 * price);
    all.push(from_s3(RouteKind::ImportFromS3, import_usd));
    // No price could be cited yet.
    all.push(from_s3(RouteKind::BulkFromS3, None));
    all
}

/// The cheapest of the routes that have a price, and the quickest of those that have a duration.
pub fn best(routes: &[Route]) -> (Option<&Route>, Option<&Route>) {
    let least = |of: fn(&Route) -> Option<f64>| {
        let known = routes.iter().filter_map(|route| Some((of(route)?, route)));
        known
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, route)| route)
    };
    (least(|route| route.usd), least(|route| route.seconds))
}

impl LoadDemand {
    fn units(&self) -> f64 {
        self.needs.iter().map(|need| need.units).sum()
    }

    /// The share of the load that can be written each second, and what bounds it. `rate` says what
    /// the table or an index takes a second.
    fn share(&self, rate: impl Fn(&WriteDemand) -> f64) -> (f64, RouteLimit) {
        let mut least = (QUOTA_RATE / self.units(), RouteLimit::Quota);
        for need in &self.needs {
            let name = || need.name.clone();
            let of_place = rate(need) / need.units;
            if need.units > 0.0 && of_place < least.0 {
                least = (of_place, RouteLimit::Throughput { name: name() });
            }
            let of_partition = PARTITION_WRITES / need.hottest;
            if need.hottest > 0.0 && of_partition < least.0 {
                least = (of_partition, RouteLimit::Partition { name: name() });
            }
        }
        least
    }

    /// The share without a bound but the quota and the partitions.
    fn unbounded(&self) -> (f64, RouteLimit) {
        self.share(|_| f64::INFINITY)
    }
}

fn on_demand(demand: &LoadDemand, prices: &Prices) -> Route {
    let (mut done, mut seconds, mut takes) = (0.0, 0.0, NEW_TABLE_RATE);
    let limited = loop {
        let (share, limit) = demand.share(|_| takes);
        let left = 1.0 - done;
        // At the quota or a partition's limit it never grows any more.
        let grows = matches!(limit, RouteLimit::Throughput { .. });
        if share * DOUBLING_SECONDS >= left || !grows {
            seconds += left / share;
            break limit;
        }
        done += share * DOUBLING_SECONDS;
        seconds += DOUBLING_SECONDS;
        takes *= 2.0;
    };
    Route {
        route: RouteKind::OnDemand,
        seconds: Some(seconds),
        limited,
        usd: prices.writes(demand.units()),
        write_units_per_second: Vec::new(),
    }
}

fn warmed(demand: &LoadDemand, prices: &Prices) -> Route {
    let (share, limited) = demand.unbounded();
    let rates = rates(demand, |units| (units * share).ceil().max(NEW_TABLE_RATE));
    let raised: f64 = rates.iter().map(|(_, rate)| rate - NEW_TABLE_RATE).sum();
    let warming = match prices.usd.usd_per_warm_write_unit {
        Some(price) => Some(raised * price),
        None if raised == 0.0 => Some(0.0),
        None => None,
    };
    Route {
        route: RouteKind::OnDemandWarmed,
        seconds: Some(1.0 / share),
        limited,
        usd: warming
            .zip(prices.writes(demand.units()))
            .map(|(warming, writes)| warming + writes),
        write_units_per_second: rates,
    }
}

fn as_mapped(demand: &LoadDemand, prices: &Prices) -> Option<Route> {
    let needs = demand.needs.iter();
    let rates: Vec<(String, f64)> = needs
        .map(|need| Some((need.name.clone(), need.provisioned?)))
        .collect::<Option<_>>()?;
    let (share, limited) = demand.share(|need| need.provisioned.unwrap_or(f64::INFINITY));
    let seconds = 1.0 / share;
    Some(Route {
        route: RouteKind::ProvisionedAsMapped,
        seconds: Some(seconds),
        limited,
        usd: capacity_usd(&rates, billed_hours(seconds), prices),
        write_units_per_second: rates,
    })
}

/// The hours that are paid for: whole ones.
fn billed_hours(seconds: f64) -> f64 {
    (seconds / 3600.0).ceil().max(1.0)
}

/// What capacity costs that is provisioned for so many hours.
fn capacity_usd(rates: &[(String, f64)], hours: f64, prices: &Prices) -> Option<f64> {
    let units: f64 = rates.iter().map(|(_, rate)| rate).sum();
    Some(units * hours * prices.usd.usd_per_write_unit_hour?)
}

fn provisioned(demand: &LoadDemand, prices: &Prices) -> Route {
    let (share, _) = demand.unbounded();
    let hours = billed_hours(1.0 / share);
    let rates = rates(demand, |units| (units / (hours * 3600.0)).ceil().max(1.0));
    Route {
        route: RouteKind::Provisioned,
        seconds: Some(if demand.units() > 0.0 {
            hours * 3600.0
        } else {
            0.0
        }),
        limited: RouteLimit::BilledHours,
        usd: capacity_usd(&rates, hours, prices),
        write_units_per_second: rates,
    }
}

fn rates(demand: &LoadDemand, rate: impl Fn(f64) -> f64) -> Vec<(String, f64)> {
    let needs = demand.needs.iter();
    needs
        .map(|need| (need.name.clone(), rate(need.units)))
        .collect()
}

#[cfg(test)]
mod tests;
