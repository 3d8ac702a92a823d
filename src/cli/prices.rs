//! The file of prices: the one that is built in, or the user's own.

use std::path::Path;

use super::failure::Failure;
use crate::price::{PriceError, Prices};

const SHIPPED: &str = include_str!("prices.json");

/// The built-in prices of the default region.
pub(super) fn shipped() -> Result<Prices, Failure> {
    read(None, None)
}

/// The prices of a region, from a file of the user's where one is named.
pub(super) fn read(file: Option<&Path>, region: Option<&str>) -> Result<Prices, Failure> {
    let (text, name) = match file {
        None => (SHIPPED.to_owned(), "the built-in file of prices".to_owned()),
        Some(path) => {
            let name = format!("the file of prices `{}`", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::usage(format!("cannot read {name}")).with_cause(&error)
            })?;
            (text, name)
        }
    };
    Prices::read(&text, region).map_err(|error| {
        let help = match error {
            PriceError::Region { .. } => {
                "name one of these with --region, or your own file with --prices"
            }
            _ => "docs/preview.md shows what such a file looks like",
        };
        Failure::usage(format!("{name} cannot be used"))
            .with_cause(&error)
            .with_help(help)
    })
}
