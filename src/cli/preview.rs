//! `dynafold preview`: the items that the first rows would become, or what all rows come to.

mod all;
mod arguments;
mod collections;
mod cost;
mod forecast;
mod heat;
mod items;

use std::io::Write as _;
use std::path::Path;

use comfy_table::Table;
use serde::Serialize;
use serde_json::json;

pub(super) use self::arguments::Preview;
use self::arguments::PreviewFormat;
use super::failure::Failure;
use super::output::{OutputStreams, as_json, shown};
use super::report::attribute;
use super::{Outcome, mapping, selection, target};
use crate::dynamodb::write_item;
use crate::mapping::model::Expired;
use crate::preview::{ItemTypeSample, SampleReject, sample};

/// Columns of a table where there is no terminal.
const COLUMNS: u16 = 100;
/// Keys that several items have and whose rows a report shows.
const NAMED: usize = 20;

pub(super) async fn run(arguments: Preview, output: &OutputStreams) -> Result<Outcome, Failure> {
    if arguments.all {
        Box::pin(all::run(&arguments, output)).await
    } else {
        first(&arguments, output).await
    }
}

/// Shows what the first rows become.
async fn first(arguments: &Preview, output: &OutputStreams) -> Result<Outcome, Failure> {
    let (url, items) = (arguments.source.url()?, &arguments.items);
    let (mut source, _, file) = mapping::open(url, &arguments.mapping).await?;
    let model = file.into_model(output)?;
    selection::check(items, &model)?;
    let wanted = |name: &str| items.is_empty() || items.iter().any(|item| item == name);
    let context = target::context(&model, arguments.now)?;
    let samples = sample(source.as_mut(), &model, context, arguments.limit, &wanted).await?;
    let file = arguments.output.as_deref();
    match arguments.format {
        PreviewFormat::Table => {
            let table = collections::table(&samples, &model.table, width(file), output);
            put(file, &table, output)?;
        }
        PreviewFormat::DynamodbJson | PreviewFormat::Ndjson => {
            let mut lines = String::new();
            for sample in &samples {
                for item in &sample.items {
                    match arguments.format {
                        PreviewFormat::Ndjson => items::sampled(&mut lines, sample, item),
                        _ => write_item(&mut lines, &item.item),
                    }
                    lines.push('\n');
                }
            }
            put(file, &lines, output)?;
            for sample in &samples {
                for line in life(sample) {
                    output.note(&line);
                }
                let rejects = sample.rejects.iter();
                output.warnings(rejects.map(|reject| rejected(&sample.item_type, reject)));
            }
        }
        PreviewFormat::Json => put_json(file, &json!({ "item_types": samples }), output)?,
    }
    output.warnings(source.warnings());
    let is_well = samples.iter().all(|sample| sample.rejects.is_empty());
    Ok(Outcome::of(is_well))
}

/// Columns that a table may take.
fn width(file: Option<&Path>) -> usize {
    let terminal = match file {
        None => Table::new().width(),
        Some(_) => None,
    };
    usize::from(terminal.unwrap_or(COLUMNS))
}

/// Prints a result, or writes it to a new file.
fn put(file: Option<&Path>, text: &str, output: &OutputStreams) -> Result<(), Failure> {
    let Some(path) = file else {
        return output.text(text);
    };
    let mut file = items::create_new_file(path)?;
    let written = file.write_all(shown(text, false).as_bytes());
    written.map_err(|error| Failure::unwritten(path, &error))
}

/// Prints a document, or writes it to a new file.
fn put_json(
    file: Option<&Path>,
    document: &impl Serialize,
    output: &OutputStreams,
) -> Result<(), Failure> {
    match file {
        None => output.json(document),
        Some(_) => put(file, &(as_json(document)? + "\n"), output),
    }
}

fn rejected(item_type: &str, reject: &SampleReject) -> String {
    let SampleReject { row, reject } = reject;
    let attribute = attribute(reject.attribute.as_deref());
    let help = reject.help.as_ref();
    let help = help.map_or(String::new(), |help| format!("\n    help: {help}"));
    format!(
        "rejected {item_type} {row}: [{}]{attribute} {}{help}",
        reject.code, reject.message
    )
}

/// What would be skipped or archived because it has expired, and what would be compressed.
fn life(sample: &ItemTypeSample) -> Vec<String> {
    let what = match sample.on_expiry {
        Expired::Archive => "archived",
        Expired::Load | Expired::Skip => "skipped",
    };
    let expired = sample.expired.iter();
    let expired =
        expired.map(|item| format!("{what} {} {}: it has expired", sample.item_type, item.row));
    let compressed = sample
        .items
        .iter()
        .filter(|item| !item.compressed.is_empty());
    let compressed = compressed.map(|item| {
        format!(
            "compressed {} {}: `{}`",
            sample.item_type,
            item.row,
            item.compressed.join("`, `")
        )
    });
    expired.chain(compressed).collect()
}
