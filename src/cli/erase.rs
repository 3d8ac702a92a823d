//! `dynafold erase`: deletes what a partition holds, without the source.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::catalog::CatalogOrigin;
use super::failure::Failure;
use super::format::{counted, counted_as, each_once, shell_word, text_if};
use super::options::{Format, TargetArguments, WriteRate};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::{Outcome, mapping, report, selection, target};
use crate::load::erase::{self, EraseOutcome, EraseReport};
use crate::load::{self, ItemTypeMarks};
use crate::mapping::{ElsewhereItemType, OtherShards, Outline, PartitionScope};
use crate::target::Target;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold erase shop.yaml --partition TENANT#7 --target dynamodb --plan
  dynafold erase shop.yaml --partition TENANT#7 --target dynamodb --max-wcu 200 --yes
  dynafold erase shop.yaml --partition TENANT#7 --target local:shop.ddb --catalog catalog.json
  dynafold erase shop.yaml --partition TENANT#7 --target local:shop.ddb --foreign
  dynafold erase shop.yaml --partition EVENTS#7#0 --partition EVENTS#7#1 --target dynamodb

VALUE is the whole partition key as it stands in the table. The exit code is 0 only if the partition
holds no item any more, and 3 if items stay or --plan finds some. After an interruption, start the same command again.")]
pub(super) struct Erase {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    target: TargetArguments,
    /// The value of the table's partition key; may be repeated, for example for each shard of a write-sharded key
    #[arg(
        long,
        value_name = "VALUE",
        required = true,
        allow_hyphen_values = true
    )]
    partition: Vec<String>,
    /// Delete also items of the partition that belong to no item type of the mapping
    #[arg(long)]
    foreign: bool,
    /// A schema written by `inspect --format json`: needed where items have no type attribute
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    catalog: Option<PathBuf>,
    /// The database, for the schema; optional, and `DATABASE_URL` is ignored
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// Show what would be deleted; delete nothing
    #[arg(long, visible_alias = "dry-run")]
    plan: bool,
    #[command(flatten)]
    rate: WriteRate,
    /// Answer yes to the question before anything is deleted
    #[arg(short, long)]
    yes: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) async fn run(arguments: Erase, output: &OutputStreams) -> Result<Outcome, Failure> {
    let mut outline = mapping::outlined(&arguments.mapping, Some(output))?;
    let marks = marks(&arguments, &mut outline, output).await?;
    let partition = arguments.partition.iter();
    let values = partition
        .map(|value| selection::partition_value(value, &outline.table))
        .collect::<Result<Vec<_>, _>>()?;
    let values = each_once(values);
    let scope = outline.partition_scope(&values);
    let target = target::open_loaded(&arguments.target.spec()?).await?;
    target::require_table(target.as_ref(), &outline.table).await?;
    let found = target.describe(&outline.table.name).await?;
    let ceiling = target::ceiling(
        arguments.rate.max_wcu,
        target.is_billed(),
        outline.table.billing,
    );
    let job = erase::Erase {
        table: found.map_or_else(|| outline.table.clone(), |found| found.table),
        item_types: (outline.item_types.iter())
            .map(|item_type| item_type.name.clone())
            .collect(),
        partitions: values,
        marks,
        foreign: arguments.foreign,
        ceiling,
        cancel: stop_on_signals(),
        target: target.clone(),
    };
    tell_shards(&scope, output);
    let plan = job.plan().await;
    let report = if matches!(plan.outcome, EraseOutcome::Planned) && !arguments.plan {
        if plan.total.items > 0 {
            agree(&plan, target.as_ref(), arguments.yes, output)?;
        }
        job.run(plan).await
    } else {
        plan
    };
    match arguments.format {
        Format::Text => output.text(&report::erasure(&report))?,
        Format::Json => output.json(&ErasureJson {
            report: &report,
            other_shards: &scope.shards,
            elsewhere: &scope.elsewhere,
            beside: &scope.beside,
        })?,
    }
    warn(&report, &scope, output);
    ended(report)
}

/// How items are assigned to item types: by the schema if one is given, or else by the type attribute. A schema completes the
/// outline.
async fn marks(
    arguments: &Erase,
    outline: &mut Outline,
    output: &OutputStreams,
) -> Result<Option<ItemTypeMarks>, Failure> {
    let (source, catalog) = (arguments.source.clone(), arguments.catalog.clone());
    if source.is_some() || catalog.is_some() {
        let schema = CatalogOrigin::of(source, catalog)?;
        let (_, _, file) = mapping::open_any(&schema, &arguments.mapping).await?;
        let model = file.into_model(output)?;
        outline.complete(&model);
        let marks = ItemTypeMarks::of(&model).map_err(load::Failure::from)?;
        return Ok(Some(marks));
    }
    let names = outline.item_types.iter().map(|item_type| &item_type.name);
    match &outline.type_attribute {
        Some(name) => Ok(Some(ItemTypeMarks::of_type_attribute(
            name,
            names,
            &outline.table,
        ))),
        None if arguments.foreign => Ok(None),
        None => {
            let message = "the items of this mapping have no type attribute, so only the schema tells which of them are the mapping's";
            Err(Failure::usage(message).with_help(
                "use --catalog FILE with the output of `dynafold inspect --format json`, or --source URL; --foreign deletes all items of the partition",
            ))
        }
    }
}

/// What is printed for programs.
#[derive(Serialize)]
struct ErasureJson<'r> {
    #[serde(flatten)]
    report: &'r EraseReport,
    /// The item types whose partition key has other shards, which were not looked at.
    other_shards: &'r [OtherShards],
    /// The item types whose items have other partition keys: none of them is erased.
    elsewhere: &'r [ElsewhereItemType],
    /// The item types that make the partition key from several columns, so that items of one value are in other partitions too.
    beside: &'r [ElsewhereItemType],
}

/// Shows the plan and asks, unless that was answered already.
fn agree(
    plan: &EraseReport,
    target: &dyn Target,
    yes: bool,
    output: &OutputStreams,
) -> Result<(), Failure> {
    if !yes {
        output.note(&report::erasure(plan));
    }
    let price = target::price_of_writes(target, plan.total.write_units)?;
    let units = counted(plan.total.write_units, "write unit");
    output.note(&format!("{}: about {units}{price}", plan.place));
    let what = format!(
        "{} of the table `{}` at {}",
        counted(plan.total.items, "item"),
        plan.table,
        plan.place
    );
    let why = format!("this deletes {what}");
    let question = format!("Delete {what}?");
    OutputStreams::agree(yes, &why, &question, "nothing was deleted")
}

/// Warns, before anything is deleted, of a partition key's other shards: the values do not show whether they are to be erased
/// too.
fn tell_shards(scope: &PartitionScope, output: &OutputStreams) {
    for OtherShards {
        item_type,
        partition,
        values,
    } in &scope.shards
    {
        let others = match values {
            Some(values) => {
                let values = values.iter().map(|value| shell_word(value));
                let options = values.map(|value| format!(" --partition {value}"));
                format!(
                    "if a named value is one of its shards, the others are{}",
                    options.collect::<String>()
                )
            }
            None => "the value does not show which its other shards are".to_owned(),
        };
        output.warning(&format!(
            "the partition key of {item_type} has shards (`{partition}`), and only the partitions that you name are erased; {others}"
        ));
    }
}

/// Says what was not looked at and what stays.
fn warn(report: &EraseReport, scope: &PartitionScope, output: &OutputStreams) {
    if report.kept_foreign > 0 {
        let (stay, them) = match report.kept_foreign {
            1 => ("stays, because it is", "it"),
            _ => ("stay, because they are", "them"),
        };
        output.warning(&format!(
            "{} {stay} not known to be of an item type of the mapping; --foreign deletes {them} too",
            counted(report.kept_foreign, "item")
        ));
    }
    if report.total.items + report.kept_foreign == 0 {
        for value in &scope.unmade {
            let value = crate::dynamodb::readable(value);
            output.warning(&format!(
                "no item type makes an item whose partition key is `{value}`: write the value as it is in the table, with its padding and escapes"
            ));
        }
    }
    if !scope.beside.is_empty() {
        let beside = scope.beside.iter();
        let beside = beside.map(|one| format!("\n{} (`{}`)", one.item_type, one.partition));
        output.warning(&format!(
            "the partition keys of these item types are made from several columns. Items that share one of these values with what you erase may be in other partitions, which were not looked at:{}",
            beside.collect::<String>()
        ));
    }
    if !scope.elsewhere.is_empty() {
        let elsewhere = scope.elsewhere.iter().map(|item_type| {
            let carried = item_type.carries.iter();
            let carried =
                carried.map(|one| format!("`{}` in {}", one.column, one.attributes.join(" and ")));
            let mut carried: Vec<String> = carried.collect();
            if item_type.needs_schema {
                carried.push("perhaps attributes that only the schema names".to_owned());
            }
            let with = if carried.is_empty() { "" } else { ", with " };
            let (name, template) = (&item_type.item_type, &item_type.partition);
            format!("\n{name} (`{template}`){with}{}", carried.join(", "))
        });
        let needs_schema = scope.elsewhere.iter().any(|one| one.needs_schema);
        output.warning(&format!(
            "items of these item types have other partition keys and were not looked at: only the source knows which of them belong to what you erase. An attribute is named if a column in it, or of its children, is called like a column of the erased key:{}{}",
            elsewhere.collect::<String>(),
            text_if(needs_schema, "\n--catalog or --source names the others")
        ));
    }
}

fn ended(report: EraseReport) -> Result<Outcome, Failure> {
    match report.outcome {
        EraseOutcome::Planned if report.total.items + report.kept_foreign > 0 => {
            Ok(Outcome::Differs)
        }
        EraseOutcome::Planned | EraseOutcome::Erased => Ok(Outcome::Well),
        EraseOutcome::Left => Ok(Outcome::Differs),
        EraseOutcome::Interrupted => Ok(Outcome::Interrupted),
        EraseOutcome::Failed(failure) => {
            let deleted = counted_as(report.total.deleted, "item was", "items were");
            let help = format!("{deleted} deleted; start the same command again");
            let failure = Failure::from(failure);
            Err(if failure.help.is_some() {
                failure
            } else {
                failure.with_help(help)
            })
        }
    }
}
