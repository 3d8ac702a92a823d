//! `dynafold plan`: a load in chunks that others load.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use tokio::sync::oneshot;

use super::failure::Failure;
use super::handed::environment;
use super::identity::{schema, stamped};
use super::mapping::WrittenMapping;
use super::options::{RejectLimit, Service, SourceArguments, WriteRate, moment};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::target::{self, BilledUse};
use super::{Outcome, export, format, mapping, migrate, selection};
use crate::catalog::Dbms;
use crate::dynamodb::Table;
use crate::load::handout::{HandedPlan, PlanFacts, PlannedExport, consistency};
use crate::load::{self, KeyCheck};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::source::Source;
use crate::target::connect;
use crate::target::parts::{Compression, ExportPlace, PlaceContents, import_table};

/// How often it is looked whether a snapshot that is held is still there.
const LOOK_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold plan shop.yaml --source postgres://app@db/shop --target dynamodb --hold > plan.ndjson
  dynafold plan shop.yaml --source mysql://app@db/shop --accept-inconsistent > plan.ndjson
  dynafold plan shop.yaml --source postgres://app@db/shop --hold --slots 16 --max-wcu 8000
  dynafold plan shop.yaml --to s3://my-bucket/shop --hold > plan.ndjson

It writes a line for each chunk; `dynafold work` loads them, and `dynafold finish` ends the load.
`dynafold migrate --plan` shows what a load would change in a table.")]
#[command(mut_arg("max_wcu", |arg| arg.help(
    "Maximum write capacity units a second of all workers, indexes included [default: as fast as the table accepts]"
)))]
pub(super) struct Plan {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// The table to check, and to create if it is missing: `dynamodb` or `local:FILE` [default: none]
    #[arg(long, value_name = "TARGET", env = "DYNAFOLD_TARGET")]
    target: Option<String>,
    /// Export the items to `s3://BUCKET/PREFIX` instead, which must be empty
    #[arg(
        long,
        value_name = "PLACE",
        conflicts_with = "target",
        requires = "hold"
    )]
    to: Option<String>,
    #[command(flatten)]
    service: Service,
    /// Hold the snapshot that all workers read, until standard input is closed (PostgreSQL)
    #[arg(long)]
    hold: bool,
    /// Let each worker read a snapshot of its own
    #[arg(long, conflicts_with = "hold")]
    accept_inconsistent: bool,
    /// The most workers that run at one time: each takes one Nth of the write capacity
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    slots: u32,
    #[command(flatten)]
    rate: WriteRate,
    #[command(flatten)]
    reject_limit: RejectLimit,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    items: Vec<String>,
    /// About how many rows a chunk has [default: a 64th of the table, 10,000 to 250,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    chunk_rows: Option<u64>,
    /// Load into a table that already has items; those with the same keys are replaced
    #[arg(long)]
    append: bool,
    /// Never create the table, for example because Terraform manages it
    #[arg(long)]
    no_create: bool,
    /// Answer yes to the question before anything that costs money
    #[arg(short, long)]
    yes: bool,
}

pub(super) async fn run(arguments: Plan, output: &OutputStreams) -> Result<Outcome, Failure> {
    let url = arguments.source.url()?;
    if let Some(most) = arguments
        .rate
        .max_wcu
        .filter(|most| *most < arguments.slots)
    {
        let message = format!(
            "--max-wcu {most} is less than a write unit for each of {} slots",
            arguments.slots
        );
        return Err(Failure::usage(message).with_help("use fewer slots"));
    }
    let (mut source, catalog, file) = mapping::open(url, &arguments.mapping).await?;
    let proved = file.checked.key_check(KeyCheck::Late);
    let written = file.written();
    let model = selection::item_types(file.into_model(output)?, &arguments.items)?;
    let context = target::context(&model, arguments.now)?;
    source.begin(&model.scans()).await?;
    let snapshot = if arguments.hold {
        source.share().await?
    } else {
        None
    };
    if snapshot.is_none() && !arguments.accept_inconsistent {
        return Err(unshared(source.as_ref(), arguments.hold));
    }
    let identity = stamped(source.identity().await?, &model);
    let facts = PlanFacts {
        mark: PlanFacts::new_mark(),
        mapping: written.text.clone(),
        environment: environment(&written, &model, &context),
        schema: schema(&catalog, &model, &identity),
        items: arguments.items.clone(),
        table: model.table.name.clone(),
        source: identity.name,
        dbms: source.dbms(),
        // What a schema proves holds within one snapshot.
        keys: if snapshot.is_some() {
            proved
        } else {
            KeyCheck::Late
        },
        not_compared: Vec::new(),
        snapshot,
        stamp: identity.stamp,
        // Only by a TTL it is told what has expired.
        now: (model.table.ttl.as_ref()).map(|_| context.now.to_string()),
        max_rejects: arguments.reject_limit.max_rejects,
        slots: arguments.slots,
        max_wcu: arguments.rate.max_wcu,
        export: match &arguments.to {
            Some(to) => Some(planned_export(to, &arguments, &written, &model.table).await?),
            None => None,
        },
    };
    let plan = HandedPlan::cut(source.as_mut(), &model, facts, arguments.chunk_rows).await?;
    prepare(&arguments, url, &model, &context, output).await?;
    for line in plan.lines() {
        let text = serde_json::to_string(&line);
        output.text(&text.map_err(|error| Failure::of(&error))?)?;
    }
    for note in notes(&plan) {
        output.note(&note);
    }
    if plan.facts.snapshot.is_none() {
        output.warning(&consistency(plan.facts.dbms));
        return Ok(Outcome::Well);
    }
    hold(source, output).await
}

/// An export into a place that is empty.
async fn planned_export(
    to: &str,
    arguments: &Plan,
    written: &WrittenMapping,
    table: &Table,
) -> Result<PlannedExport, Failure> {
    let place = export::place(to, &arguments.service.options()).await?;
    if let ExportPlace::Folder(_) = place {
        return Err(Failure::usage(
            "workers on several machines export to s3://BUCKET/PREFIX alone",
        )
        .with_help("`dynafold export --to FOLDER` exports to a folder from one machine"));
    }
    if place.contents().await? != PlaceContents::Nothing {
        return Err(Failure::failed(format!("`{place}` is not empty"))
            .with_help("name another prefix, or delete what is there"));
    }
    let (import_table, _) = import_table(table, Compression::default());
    Ok(PlannedExport {
        place: place.to_string(),
        mapping: written.hash(),
        import_table,
    })
}

/// What a user should know of a plan.
fn notes(plan: &HandedPlan) -> Vec<String> {
    let facts = &plan.facts;
    let mut notes = vec![format!(
        "plan {}: {} of {}",
        plan.run(),
        format::counted(plan.len(), "chunk"),
        facts.source
    )];
    if let Some(units) = facts.max_wcu {
        notes.push(format!(
            "each of {} may use at most {} write units a second: more workers at the same time would exceed --max-wcu",
            format::counted(facts.slots, "slot"),
            units / facts.slots
        ));
    }
    notes.push(
        match facts.keys {
            KeyCheck::Proved => "the schema proves that no two items have the same key",
            KeyCheck::First | KeyCheck::Late if facts.export.is_some() => {
                "`dynafold finish` looks for items with the same key; if there are any, it writes no manifest"
            }
            KeyCheck::First | KeyCheck::Late => {
                "only `dynafold finish` finds items with the same key, after the load: by then the table holds only one of them"
            }
        }
        .to_owned(),
    );
    if !facts.not_compared.is_empty() {
        notes.push(format!(
            "the keys of {} are not compared with those of this plan, and `check` does not prove that they differ: to compare them, plan these item types too",
            facts.not_compared.join(", ")
        ));
    }
    notes
}

/// Why there is no plan without a snapshot that all workers read.
fn unshared(source: &dyn Source, hold: bool) -> Failure {
    let dbms = source.dbms();
    let shares = matches!(dbms, Dbms::Postgres);
    let failure = Failure::usage(consistency(dbms));
    failure.with_help(match (shares, hold) {
        (true, false) => {
            "use --hold and keep the command running until the last chunk is loaded, or use --accept-inconsistent"
        }
        (true, true) => {
            "this server, or the connection pooler in front of it, cannot share a snapshot: connect to the server directly, or use --accept-inconsistent"
        }
        (false, _) => {
            "use --accept-inconsistent; read from a stopped replica or a copy, so that rows do not change meanwhile"
        }
    })
}

/// Makes the table ready that `--target` names. Refuses one that has items.
async fn prepare(
    arguments: &Plan,
    url: &str,
    model: &Model,
    context: &Context,
    output: &OutputStreams,
) -> Result<(), Failure> {
    if arguments.to.is_some() {
        return Ok(());
    }
    let Some(target) = &arguments.target else {
        output.note("no --target is given: no table is created or checked");
        return Ok(());
    };
    let target = connect(&arguments.service.spec(target)?).await?;
    if target.ends_with_process() {
        return Err(Failure::usage(
            "`--target local` is a table in memory, which workers cannot reach",
        )
        .with_help("use --target dynamodb, or local:FILE with one worker at a time"));
    }
    let (table, usage) = (&model.table, BilledUse::Writes);
    let target = target.as_ref();
    target::confirm(target, url, model, context, usage, arguments.yes, output).await?;
    let ensured = load::ensure_table(target, table, !arguments.no_create).await?;
    migrate::tell_ensured(target, table, &ensured, output).await;
    if !ensured.made && !arguments.append && !migrate::is_empty(target, table).await? {
        let place = target.place();
        let message = format!("the table `{}` at {place} already has items", table.name);
        return Err(Failure::failed(message)
            .with_help("--append keeps them and replaces those with the same keys"));
    }
    Ok(())
}

/// Holds the snapshot until standard input is closed or a signal comes.
async fn hold(mut source: Box<dyn Source>, output: &OutputStreams) -> Result<Outcome, Failure> {
    output.note("holding the snapshot until standard input is closed");
    let cancel = stop_on_signals();
    let (closed, closing) = oneshot::channel();
    std::thread::spawn(move || {
        // One that cannot be read is closed.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = closed.send(());
    });
    tokio::pin!(closing);
    loop {
        tokio::select! {
            _ = &mut closing => break,
            () = cancel.cancelled() => break,
            () = tokio::time::sleep(LOOK_EVERY) => source.confirm().await?,
        }
    }
    source.confirm().await?;
    output.note("the snapshot was held until now");
    Ok(Outcome::Well)
}
