//! What DynamoDB charges, and how long it takes: arithmetic on a dated file of prices. Pure.
//!
//! Prices are the caller's, or those of [`SHIPPED`]: nothing here is newer than the file's date, and whoever shows a
//! figure shows that date and the region with it.

mod routes;
mod steady;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use routes::{LoadDemand, Route, RouteKind, RouteLimit, WriteDemand, best, routes};
pub use steady::{Monthly, Rates, SteadyCost, monthly, steady};

/// Write units a second that a partition takes (docs/limits.md, 26).
pub const PARTITION_WRITES: f64 = 1_000.0;
/// Read units a second that a partition takes (docs/limits.md, 26).
pub const PARTITION_READS: f64 = 3_000.0;

/// The prices that Dynafold ships, as the text of a [`PriceFile`].
pub const SHIPPED: &str = include_str!("prices.json");

/// Prices of one region or several, as a file holds them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceFile {
    /// The day when the prices were looked up.
    pub date: String,
    /// The region that is meant where none is named.
    pub default_region: String,
    /// The prices of each region.
    pub regions: BTreeMap<String, Region>,
}

/// The prices of a region, in US dollars, of the standard table class and without taxes.
/// A price that the file does not say is not known, and neither is what depends on it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Region {
    /// The day when they were looked up, where it is another than the file's.
    #[serde(skip_serializing)]
    pub date: Option<String>,
    /// Where they were looked up.
    pub source: Option<String>,
    /// A million write request units, on demand.
    pub usd_per_million_write_units: Option<f64>,
    /// A million read request units, on demand.
    pub usd_per_million_read_units: Option<f64>,
    /// A provisioned write capacity unit for an hour.
    pub usd_per_write_unit_hour: Option<f64>,
    /// A provisioned read capacity unit for an hour.
    pub usd_per_read_unit_hour: Option<f64>,
    /// A GB (10^9 bytes) of storage for a month.
    pub usd_per_gb_month: Option<f64>,
    /// A GB of source data imported from S3.
    pub usd_per_imported_gb: Option<f64>,
    /// Raising the warm throughput by one write unit a second, once.
    pub usd_per_warm_write_unit: Option<f64>,
}

/// The prices that are used, and where they are from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prices {
    /// The day when they were looked up; `None` where the file lacks the region.
    pub date: Option<String>,
    /// The region that the prices are of, such as `us-east-1`.
    pub region: String,
    /// The regions of the file.
    #[serde(skip)]
    pub known: Vec<String>,
    /// The prices themselves.
    #[serde(flatten)]
    pub usd: Region,
}

/// Why a file of prices is of no use.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// When it is not JSON of the right shape.
    #[error("it is not a price file")]
    Shape(#[source] serde_json::Error),
    /// When a price is negative or no number.
    #[error("a price of the region {region} is negative")]
    Negative {
        /// The region, such as `us-east-1`.
        region: String,
    },
}

impl Prices {
    /// Takes the prices of a region from a file's text; the file's default region without one. Of a
    /// region that the file lacks no price is known.
    ///
    /// # Errors
    ///
    /// [`PriceError`] where the text is no such file.
    pub fn read(text: &str, region: Option<&str>) -> Result<Self, PriceError> {
        let file: PriceFile = serde_json::from_str(text).map_err(PriceError::Shape)?;
        let region = region.unwrap_or(&file.default_region).to_owned();
        let found = file.regions.get(&region).cloned();
        let date = found
            .as_ref()
            .map(|found| found.date.clone().unwrap_or(file.date));
        let usd = found.unwrap_or_default();
        let all = [
            usd.usd_per_million_write_units,
            usd.usd_per_million_read_units,
            usd.usd_per_write_unit_hour,
            usd.usd_per_read_unit_hour,
            usd.usd_per_gb_month,
            usd.usd_per_imported_gb,
            usd.usd_per_warm_write_unit,
        ];
        if all.into_iter().flatten().any(|price| price < 0.0) {
            return Err(PriceError::Negative { region });
        }
        Ok(Self {
            date,
            region,
            known: file.regions.into_keys().collect(),
            usd,
        })
    }

    /// The date and region of the prices, as they stand beside every figure, or that there are none.
    pub fn dated_source(&self) -> String {
        match &self.date {
            Some(date) => format!("prices of {date} in {}; check yours", self.region),
            None => format!(
                "no built-in prices for {}, only for {}; use --prices FILE for your own",
                self.region,
                self.known.join(", ")
            ),
        }
    }

    /// What so many write units cost on demand.
    pub fn writes(&self, units: f64) -> Option<f64> {
        Some(units / 1e6 * self.usd.usd_per_million_write_units?)
    }

    /// What so many read units cost on demand.
    pub fn reads(&self, units: f64) -> Option<f64> {
        Some(units / 1e6 * self.usd.usd_per_million_read_units?)
    }

    /// What storing so many bytes for a month costs.
    pub fn storage(&self, bytes: f64) -> Option<f64> {
        Some(bytes / 1e9 * self.usd.usd_per_gb_month?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_prices_are_dated_and_regional() {
        let prices = Prices::read(SHIPPED, None).unwrap();
        assert_eq!(prices.region, "us-east-1");
        for region in &prices.known {
            let prices = Prices::read(SHIPPED, Some(region)).unwrap();
            assert!(
                prices.date.is_some() && prices.usd.source.is_some(),
                "{region}"
            );
            assert!(prices.usd.usd_per_million_write_units.is_some(), "{region}");
        }
        let seoul = Prices::read(SHIPPED, Some("ap-northeast-2")).unwrap();
        assert!(seoul.usd.usd_per_write_unit_hour > prices.usd.usd_per_write_unit_hour);
    }

    #[test]
    fn what_is_no_price_is_refused() {
        let typo = SHIPPED.replace("usd_per_gb_month", "usd_per_gb_mnth");
        assert!(matches!(
            Prices::read(&typo, None).unwrap_err(),
            PriceError::Shape(_)
        ));
        assert!(matches!(
            Prices::read("{}", None).unwrap_err(),
            PriceError::Shape(_)
        ));
        let negative = SHIPPED.replace("0.625", "-0.625");
        assert!(matches!(
            Prices::read(&negative, None).unwrap_err(),
            PriceError::Negative { .. }
        ));
    }

    #[test]
    fn a_million_writes_cost_what_the_file_says() {
        let prices = Prices::read(SHIPPED, None).unwrap();
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-9;
        assert!(near(prices.writes(2e6), 1.25));
        assert!(near(prices.reads(1e6), 0.125));
        assert!(near(prices.storage(4e9), 1.0));
    }

    #[test]
    fn a_region_that_the_file_lacks_has_no_prices() {
        let unknown = Prices::read(SHIPPED, Some("mars-1")).unwrap();
        assert_eq!(unknown.writes(1.0), None);
        assert!(
            unknown
                .dated_source()
                .contains("no built-in prices for mars-1")
        );
        assert!(unknown.dated_source().contains("eu-central-1"));
        let frankfurt = Prices::read(SHIPPED, Some("eu-central-1")).unwrap();
        assert_eq!(
            frankfurt.dated_source(),
            "prices of 2026-09-11 in eu-central-1; check yours"
        );
    }
}
