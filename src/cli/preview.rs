//! `dynafold preview`: the items that the first rows would become.

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::args::{Preview, PreviewFormat};
use super::failure::Failure;
use super::format::{bytes, count, counted};
use super::output::Output;
use super::{Outcome, catalog, mapping, target};
use crate::diagnostic::nearest;
use crate::item::{Attribute, Item, write_attribute, write_item};
use crate::mapping::model::{Expired, Model};
use crate::preview::{ItemTypeSample, SampleReject, sample};

/// Characters of a value that a table shows.
const WIDEST: usize = 60;

pub(super) async fn run(arguments: &Preview, output: &Output) -> Result<Outcome, Failure> {
    let (mut source, catalog) = catalog::read(&arguments.source).await?;
    let checked = mapping::check(&arguments.mapping, &catalog, Some(source.as_mut())).await?;
    let model = checked.into_model(output)?;
    check_names(&arguments.items, &model)?;
    let wanted =
        |name: &str| arguments.items.is_empty() || arguments.items.iter().any(|i| i == name);
    let context = target::context(&model, arguments.now)?;
    let samples = sample(source.as_mut(), &model, context, arguments.limit, &wanted).await?;
    match arguments.format {
        PreviewFormat::Table => {
            for sample in &samples {
                output.text(&table(sample))?;
            }
        }
        PreviewFormat::DynamodbJson => {
            let mut lines = String::new();
            for item in samples.iter().flat_map(|sample| &sample.items) {
                write_item(&mut lines, &item.item);
                lines.push('\n');
            }
            output.text(&lines)?;
            for sample in &samples {
                for line in life(sample) {
                    output.note(&line);
                }
                for reject in &sample.rejects {
                    output.warning(&rejected(&sample.item_type, reject));
                }
            }
        }
        PreviewFormat::Json => output.json(&document(&samples))?,
    }
    for warning in source.warnings() {
        output.warning(&warning);
    }
    let rejects = samples.iter().any(|sample| !sample.rejects.is_empty());
    Ok(if rejects {
        Outcome::Differs
    } else {
        Outcome::Well
    })
}

fn check_names(wanted: &[String], model: &Model) -> Result<(), Failure> {
    let names = || model.item_types.iter().map(|item| item.name.as_ref());
    for name in wanted {
        if names().all(|known| known != name) {
            let failure = Failure::usage(format!("the mapping has no item type `{name}`"));
            return Err(match nearest(name, names()) {
                Some(near) => failure.with_help(format!("did you mean `{near}`?")),
                None => {
                    failure.with_help(format!("it has {}", names().collect::<Vec<_>>().join(", ")))
                }
            });
        }
    }
    Ok(())
}

fn table(sample: &ItemTypeSample) -> String {
    let units: u64 = sample.items.iter().map(|item| item.units).sum();
    let mut out = format!(
        "{} from {}: {}, {}\n",
        sample.item_type,
        sample.from,
        counted(
            u64::try_from(sample.items.len()).unwrap_or(u64::MAX),
            "item"
        ),
        counted(units, "write unit"),
    );
    let mut names: Vec<&str> = Vec::new();
    for item in &sample.items {
        for (name, _) in &item.item.attributes {
            if !names.contains(&name.as_ref()) {
                names.push(name);
            }
        }
    }
    if !sample.items.is_empty() {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(names.iter().copied().chain(["(size)", "(units)"]));
        for item in &sample.items {
            let mut cells: Vec<String> = names.iter().map(|name| shown(&item.item, name)).collect();
            cells.push(bytes(u64::try_from(item.size).unwrap_or(u64::MAX)));
            cells.push(count(item.units));
            table.add_row(cells);
        }
        out.push_str(&table.to_string());
        out.push('\n');
    }
    for line in life(sample) {
        out.push_str(&line);
        out.push('\n');
    }
    for reject in &sample.rejects {
        out.push_str(&rejected(&sample.item_type, reject));
        out.push('\n');
    }
    out
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

/// An attribute as people read it: text as it is, everything else as DynamoDB JSON, cut to fit.
fn shown(item: &Item, name: &str) -> String {
    let text = match item.get(name) {
        None => return String::new(),
        Some(Attribute::S(text)) => text
            .escape_debug()
            .to_string()
            .replace("\\'", "'")
            .replace("\\\"", "\""),
        Some(Attribute::N(number)) => number.to_string(),
        Some(Attribute::Bool(truth)) => truth.to_string(),
        Some(other) => {
            let mut text = String::new();
            write_attribute(&mut text, other);
            text
        }
    };
    if text.chars().count() > WIDEST {
        text.chars().take(WIDEST - 1).chain(['…']).collect()
    } else {
        text
    }
}

fn rejected(item_type: &str, reject: &SampleReject) -> String {
    let attribute = reject
        .reject
        .attribute
        .as_ref()
        .map_or(String::new(), |name| format!(" `{name}`"));
    let help = reject
        .reject
        .help
        .as_ref()
        .map_or(String::new(), |help| format!("\n    help: {help}"));
    format!(
        "rejected {item_type} {}: [{}]{attribute} {}{help}",
        reject.row, reject.reject.code, reject.reject.message
    )
}

fn document(samples: &[ItemTypeSample]) -> Value {
    let item = |item: &crate::preview::SampleItem| {
        let mut text = String::new();
        write_item(&mut text, &item.item);
        let dynamodb: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        json!({
            "row": item.row,
            "size": item.size,
            "write_units": item.units,
            "compressed": item.compressed.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
            "item": dynamodb,
        })
    };
    let reject = |reject: &SampleReject| {
        json!({
            "row": reject.row,
            "code": reject.reject.code,
            "message": reject.reject.message,
            "help": reject.reject.help,
            "attribute": reject.reject.attribute,
        })
    };
    let sample = |sample: &ItemTypeSample| {
        json!({
            "item_type": sample.item_type,
            "from": sample.from,
            "items": sample.items.iter().map(item).collect::<Vec<_>>(),
            "expired": sample.expired.iter().map(item).collect::<Vec<_>>(),
            "rejects": sample.rejects.iter().map(reject).collect::<Vec<_>>(),
        })
    };
    json!({ "item_types": samples.iter().map(sample).collect::<Vec<_>>() })
}
