//! `dynafold diff`: what two mappings change, and what a migration between them takes.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::catalog::CatalogOrigin;
use super::failure::Failure;
use super::mapping::MappingFile;
use super::options::{Format, SourceArguments};
use super::output::OutputStreams;
use super::{Outcome, mapping, prices, report};
use crate::load::ItemTypeMarks;
use crate::mapping::Proofs;
use crate::mapping::diff::{DiffSide, MappingDiff, diff};
use crate::mapping::model::Model;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold diff old.yaml new.yaml --source postgres://app@db/shop
  dynafold inspect --source postgres://app@db/shop --format json > catalog.json
  dynafold diff old.yaml new.yaml --catalog catalog.json --format json

It reads neither rows nor the table. The exit code is 0 if nothing changes, and 3 if something does.")]
pub(super) struct Diff {
    /// The mapping that the table was loaded with
    old: PathBuf,
    /// The mapping to load it with next
    new: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// A schema written by `inspect --format json`, instead of a source
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) async fn run(arguments: Diff, output: &OutputStreams) -> Result<Outcome, Failure> {
    let origin = CatalogOrigin::of(arguments.source.source, arguments.catalog)?;
    let (mut source, catalog) = origin.read().await?;
    let old_file = mapping::check(&arguments.old, &catalog, source.as_deref_mut()).await?;
    let new_file = mapping::check(&arguments.new, &catalog, source.as_deref_mut()).await?;
    let (old, old_proofs) = proved(old_file, output)?;
    let (new, new_proofs) = proved(new_file, output)?;
    // --prune needs to tell item types apart.
    let can_prune = ItemTypeMarks::of(&new).is_ok();
    let side = |model, proofs| DiffSide {
        model,
        proofs,
        catalog: &catalog,
    };
    let diff = diff(side(&old, &old_proofs), side(&new, &new_proofs), can_prune);
    match arguments.format {
        Format::Text => {
            let files = (arguments.old.as_path(), arguments.new.as_path());
            let prices = prices::read(None, None)?;
            output.text(&report::difference(&diff, files, &prices))?;
        }
        Format::Json => output.json(&DiffJson {
            is_unchanged: diff.is_empty(),
            diff: &diff,
        })?,
    }
    Ok(Outcome::of(diff.is_empty()))
}

/// What is printed for programs.
#[derive(Serialize)]
struct DiffJson<'d> {
    #[serde(rename = "same")]
    is_unchanged: bool,
    #[serde(flatten)]
    diff: &'d MappingDiff,
}

/// A mapping without errors, and what was proved of it.
fn proved(mut file: MappingFile, output: &OutputStreams) -> Result<(Model, Proofs), Failure> {
    let proofs = file.checked.proofs.take();
    let model = file.into_model(output)?;
    Ok((model, proofs.ok_or_else(Failure::silent)?))
}
