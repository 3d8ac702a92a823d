//! The file of prices: the one that is built in, or the user's own.

use std::path::Path;

use super::failure::Failure;
use crate::dynamodb::price::{Prices, SHIPPED};
use crate::target::Target;

/// The built-in prices of the region where a target is billed.
pub(super) fn of(target: &dyn Target) -> Result<Prices, Failure> {
    read(None, target.billed_in())
}

/// The prices of a region, from a file of the user's where one is named.
pub(super) fn read(file: Option<&Path>, region: Option<&str>) -> Result<Prices, Failure> {
    let (text, name) = match file {
        None => (SHIPPED.to_owned(), "the built-in price file".to_owned()),
        Some(path) => {
            let name = format!("the price file `{}`", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::usage(format!("cannot read {name}")).with_cause(&error)
            })?;
            (text, name)
        }
    };
    Prices::read(&text, region).map_err(|error| {
        Failure::usage(format!("{name} cannot be used"))
            .with_cause(&error)
            .with_help("docs/preview.md shows what such a file looks like")
    })
}
