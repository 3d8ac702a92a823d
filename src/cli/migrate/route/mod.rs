//! `dynafold migrate --route`: a load that DynamoDB does itself, from an export in S3. The export, what DynamoDB makes of it,
//! and a comparison with the source, which names every item that is not there.

mod operation;
mod outcome;
mod reports;
mod saved;

use std::path::PathBuf;
use std::sync::Arc;

use self::operation::Operation;
use self::outcome::RouteReport;
use self::saved::SavedRoute;
use super::Migrate;
use crate::cli::export::{self, ExportJob, ExportResult};
use crate::cli::failure::Failure;
use crate::cli::format::{bytes, counted_as};
use crate::cli::identity::stamped;
use crate::cli::output::OutputStreams;
use crate::cli::signals::stop_on_signals;
use crate::cli::{Outcome, mapping, prices, selection, target};
use crate::dynamodb::Table;
use crate::load::state::{self, StateError};
use crate::load::{self, Cancel, LoadOptions};
use crate::mapping::model::Model;
use crate::source::Source;
use crate::target::parts::{Compression, ExportPlace, ItemLines, Manifest, PlaceContents};
use crate::target::s3::S3Location;
use crate::target::{
    ImportedTable, RouteProgress, RouteStatus, ServiceLoad, ServiceOptions, TableRoutes, TargetSpec,
};

/// Where S3 is, for those who name another endpoint for DynamoDB.
const S3_ENDPOINT: &str = "AWS_ENDPOINT_URL_S3";
/// The least that `MaxWriteRequestUnits` can be.
const LEAST_UNITS: u32 = 1_024;

/// What `--route` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) kind: ServiceLoad,
    location: S3Location,
}

/// How fast a bulk operation is. As JSON it is DynamoDB's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(in crate::cli) enum Tier {
    Standard,
    Accelerated,
}

impl Route {
    /// Reads `import:s3://BUCKET/PREFIX` or `bulk:s3://BUCKET/PREFIX`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (kind, place) = match text.split_once(':') {
            Some(("import", place)) => (ServiceLoad::Import, place),
            Some(("bulk", place)) => (ServiceLoad::Bulk, place),
            _ => {
                return Err(
                    "a route is `import:s3://BUCKET/PREFIX` or `bulk:s3://BUCKET/PREFIX`"
                        .to_owned(),
                );
            }
        };
        let location = S3Location::parse(place).map_err(|error| error.to_string())?;
        Ok(Self { kind, location })
    }
}

/// A route whose services are open.
struct OpenRoute {
    arguments: Migrate,
    route: Route,
    /// The URL of the source.
    source: String,
    routes: TableRoutes,
    place: ExportPlace,
    options: LoadOptions,
    /// The file that keeps which operation is under way.
    saved_file: PathBuf,
}

pub(super) async fn run(
    arguments: Migrate,
    route: Route,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let open = Box::pin(OpenRoute::of(arguments, route)).await?;
    load::check_rejects(&open.options.rejects_file)?;
    // Of two runs that start at one time, the second must not touch anything.
    let _lock = state::hold(&open.saved_file).map_err(in_use)?;
    let cancel = stop_on_signals();
    let saved = SavedRoute::read(&open.saved_file)?;
    let table = Box::pin(open.check(saved.as_ref(), output)).await?;
    // An import's account is known once it has begun: its ARN has it.
    let account = match open.route.kind {
        ServiceLoad::Bulk => open.routes.account(&table.name).await?,
        ServiceLoad::Import => None,
    };
    let exporting = open.export(saved.as_ref(), account.as_deref(), &cancel, output);
    let Some((exported, model)) = Box::pin(exporting).await? else {
        return Ok(Outcome::Interrupted);
    };
    let ExportResult {
        manifest,
        rejected,
        shared_outside,
    } = exported;
    if manifest.items == 0 {
        let rejects = match rejected {
            0 => String::new(),
            rows => format!("; {} rejected", counted_as(rows, "row was", "rows were")),
        };
        let message = format!(
            "the export in `{}`, of {}, has no items{rejects}: there is nothing to load",
            open.place, manifest.now
        );
        return Err(Failure::failed(message)
            .with_code("route")
            .with_help(match open.route.kind {
                ServiceLoad::Import => "`dynafold migrate` without --route makes an empty table; if rows have come since, name another prefix or delete the objects of this one",
                ServiceLoad::Bulk => "`dynafold verify` compares the table with the source; if rows have come since, name another prefix or delete the objects of this one",
            }));
    }
    let saved = open.saved(saved, account.as_deref(), &manifest, shared_outside)?;
    if saved.arn.is_none() {
        open.agree(&manifest, &table)?;
    }
    let operation = Operation::start(&open, saved, &manifest, &table, output).await?;
    let Some(progress) = operation.wait(&cancel, output).await? else {
        return Ok(Outcome::Interrupted);
    };
    let later = open.settled(&progress, &operation, &table).await?;
    let reports = match open.route.kind {
        ServiceLoad::Bulk => reports::read(&open.place, &operation.output, &table).await?,
        ServiceLoad::Import => reports::Reports::default(),
    };
    let verification = Box::pin(outcome::compare(&open, &manifest, model, &cancel)).await?;
    let faults = (rejected, shared_outside);
    let report = RouteReport::of(&open, &manifest, progress, verification, reports, faults);
    report.write_rejects(&open.options.rejects_file)?;
    output.report(open.arguments.format, &report, RouteReport::text)?;
    output.warnings(report.warnings());
    output.warnings(later);
    let outcome = report.outcome()?;
    operation.end(outcome)?;
    Ok(outcome)
}

/// Why what is kept of a route cannot be used. It has no option of its own.
fn in_use(error: StateError) -> Failure {
    let is_held = matches!(error, StateError::Held { .. });
    let failure = Failure::from(load::Failure::from(error));
    if is_held {
        failure.with_help("wait for the other run, or end it")
    } else {
        failure
    }
}

impl OpenRoute {
    async fn of(arguments: Migrate, route: Route) -> Result<Self, Failure> {
        let units = arguments.rate.max_wcu;
        if route.kind == ServiceLoad::Import
            && (arguments.append || units.is_some() || arguments.tier.is_some())
        {
            let message = "--append, --max-wcu and --tier go with `--route bulk:s3://…`: an import makes a new table";
            return Err(Failure::usage(message));
        }
        let source = arguments.source.url()?.to_owned();
        let TargetSpec::Dynamodb(service) = arguments.target.spec()? else {
            return Err(Failure::usage(
                "--route needs `--target dynamodb`: DynamoDB itself does the load",
            ));
        };
        if units.is_some_and(|units| units < LEAST_UNITS) {
            let message = format!("a bulk operation needs --max-wcu {LEAST_UNITS} or more");
            return Err(Failure::usage(message));
        }
        let routes = TableRoutes::open(&service).await?;
        if routes.target().is_billed() && !arguments.yes && !OutputStreams::can_ask() {
            let message = "this costs money, and there is no terminal on which to ask";
            return Err(Failure::usage(message).with_help("use --yes to confirm in advance"));
        }
        // Whoever rehearses against another server does not mean AWS's S3.
        let is_named = std::env::var_os(S3_ENDPOINT).is_some_and(|url| !url.is_empty());
        let s3 = ServiceOptions {
            endpoint_url: service.endpoint_url.filter(|_| !is_named),
            ..service
        };
        let place = export::place(&route.location.to_string(), &s3).await?;
        let options = LoadOptions {
            max_rejects: Some(arguments.reject_limit.max_rejects),
            readers: arguments.readers.map(usize::from),
            chunk_rows: arguments.chunk_rows,
            ..LoadOptions::default()
        };
        let mut options = export::beside(options, &place, &arguments.mapping);
        if let Some(rejects) = &arguments.rejects {
            options.rejects_file.clone_from(rejects);
        }
        Ok(Self {
            saved_file: state::default_path(&arguments.mapping).with_extension("route"),
            arguments,
            route,
            source,
            routes,
            place,
            options,
        })
    }

    /// Refuses what the route cannot do, before a row is read. Gives the mapping's table.
    async fn check(
        &self,
        saved: Option<&SavedRoute>,
        output: &OutputStreams,
    ) -> Result<Table, Failure> {
        let (_, _, file) = mapping::open(&self.source, &self.arguments.mapping).await?;
        let table = file.into_model(output)?.table;
        let target = self.routes.target();
        match self.route.kind {
            ServiceLoad::Import => {
                if !table.local_indexes.is_empty() {
                    let message =
                        "ImportTable creates no local indexes, and they cannot be added later";
                    return Err(Failure::failed(message).with_help(
                        "load without --route, or use `bulk:s3://…` with a table that has them",
                    ));
                }
                let is_ours = saved.is_some_and(SavedRoute::begun);
                if !is_ours && target.describe(&table.name).await?.is_some() {
                    let message = format!(
                        "the table `{}` exists, and ImportTable makes a new one",
                        table.name
                    );
                    return Err(Failure::failed(message).with_code("table").with_help(
                        "delete it first, name another in the mapping, or use `--route bulk:s3://…`",
                    ));
                }
            }
            ServiceLoad::Bulk => {
                if !table.settings.replicas.is_empty() {
                    let message = "a bulk operation cannot write to a table with replicas";
                    return Err(Failure::failed(message).with_help("load without --route"));
                }
                load::ensure_table(target.as_ref(), &table, false).await.map_err(|error| {
                    Failure::from(error).with_help("make the table first (`dynafold docs --as cloudformation`), or use `--route import:s3://…`")
                })?;
            }
        }
        Ok(table)
    }

    /// What is to be kept of this route.
    fn fresh(&self, account: Option<&str>, manifest: &Manifest) -> SavedRoute {
        let target = self.routes.target().place();
        SavedRoute::of(self.route.kind, &self.place, (&target, account), manifest)
    }

    /// How items are written.
    fn lines(&self, table: &Table) -> ItemLines {
        match self.route.kind {
            ServiceLoad::Bulk if !self.arguments.append => {
                ItemLines::DynamodbIfAbsent(table.partition.name.to_string())
            }
            _ => ItemLines::Dynamodb,
        }
    }

    /// Writes the export, or takes the one that an earlier run has written. `None` where it was interrupted.
    async fn export(
        &self,
        saved: Option<&SavedRoute>,
        account: Option<&str>,
        cancel: &Cancel,
        output: &OutputStreams,
    ) -> Result<Option<(ExportResult, Arc<Model>)>, Failure> {
        let arguments = &self.arguments;
        let (source, _, file) = mapping::open(&self.source, &arguments.mapping).await?;
        let written = file.written().hash();
        let model = Arc::new(selection::item_types(
            file.into_model(output)?,
            &arguments.items,
        )?);
        let unfinished =
            export::unfinished(&self.place, &arguments.mapping, arguments.spool.as_deref());
        if self.place.contents().await? == PlaceContents::Export {
            let manifest = self
                .resumed(source, &model, &written, saved, account)
                .await?;
            export::clear_unfinished(&unfinished)?;
            output.note(&format!(
                "continuing with the complete export in {}, of {}",
                self.place, manifest.now
            ));
            let fresh = self.fresh(account, &manifest);
            let own = saved.filter(|saved| saved.of == fresh.of);
            let result = ExportResult {
                manifest,
                rejected: 0,
                shared_outside: own.map_or(0, |own| own.shared_outside),
            };
            return Ok(Some((result, model)));
        }
        drop(source);
        // An operation begins with a complete export: that of this one is elsewhere.
        if let Some(other) = saved.filter(|saved| saved.begun()) {
            return Err(other.under_way(&self.saved_file));
        }
        let export = ExportJob {
            mapping: arguments.mapping.clone(),
            source: self.source.clone(),
            place: self.place.clone(),
            unfinished,
            lines: self.lines(&model.table),
            compression: Compression::Gzip,
            now: arguments.now,
            items: arguments.items.clone(),
            fresh: arguments.fresh,
            options: self.options.clone(),
            format: arguments.format,
        };
        Box::pin(export::write(&export, cancel, output)).await
    }

    /// The manifest of the export that an earlier run has written, unless it is not to be loaded.
    async fn resumed(
        &self,
        mut source: Box<dyn Source>,
        model: &Model,
        written: &str,
        saved: Option<&SavedRoute>,
        account: Option<&str>,
    ) -> Result<Manifest, Failure> {
        let arguments = &self.arguments;
        let manifest = Manifest::read(&self.place).await?;
        let this = self.fresh(account, &manifest);
        let own = saved.filter(|saved| saved.of == this.of);
        if let Some(other) = saved.filter(|saved| own.is_none() && saved.begun()) {
            return Err(other.under_way(&self.saved_file));
        }
        source.begin(&model.scans()).await?;
        let identity = stamped(source.identity().await?, model);
        let is_same = manifest.mapping == written
            && manifest.source == identity.name
            && manifest.selection == arguments.items
            && manifest.lines == self.lines(&model.table)
            && arguments
                .now
                .is_none_or(|now| manifest.now == now.to_string());
        // What DynamoDB loads already is waited for.
        let begun = own.is_some_and(SavedRoute::begun);
        let is_current = begun || manifest.stamp.is_none() || manifest.stamp == identity.stamp;
        let mut help = "name another prefix, or delete the objects of this one".to_owned();
        let message = if !is_same || arguments.fresh {
            Some(format!("`{}` holds another export", self.place))
        } else if let Some(ended) = own.filter(|saved| saved.is_complete) {
            let (message, first) = self.ended(ended, &manifest.table);
            help = format!(
                "{first}compare the table with the source by `dynafold verify`; for another load name another prefix, or delete `{}` to load this export once more",
                self.saved_file.display()
            );
            Some(message)
        } else if is_current {
            None
        } else {
            Some(format!(
                "the source has changed since the export in `{}` was made, and no load of it is under way",
                self.place
            ))
        };
        if let Some(message) = message {
            return Err(Failure::failed(message).with_code("route").with_help(help));
        }
        let changes = self.place.changes(&manifest).await?;
        if let Some(first) = changes.first().filter(|_| !begun) {
            let message = format!(
                "the export in `{}` has changed since it was written: {first}",
                self.place
            );
            return Err(Failure::failed(message)
                .with_help("name another prefix, or delete the objects of this one"));
        }
        Ok(manifest)
    }

    /// What is said of a load that has ended, and what can be done first.
    fn ended(&self, ended: &SavedRoute, table: &str) -> (String, String) {
        let place = &self.place;
        if !ended.differs {
            let message = format!(
                "this load has ended: all items of the export in `{place}` were loaded into the table `{table}`"
            );
            return (message, String::new());
        }
        let arn = ended.arn.as_deref().unwrap_or_default();
        let message = format!(
            "this load has ended, and something differed: the bulk operation {arn} has processed the export in `{place}`, for the table `{table}`"
        );
        let first = format!(
            "load the rows of its rejects file, if there is one, by `dynafold migrate --retry-rejects`, and look at DynamoDB's reports in {place}/{}; ",
            ended.reports()
        );
        (message, first)
    }

    /// What is kept of this route; anew where what is kept is of another, which is not under way.
    fn saved(
        &self,
        saved: Option<SavedRoute>,
        account: Option<&str>,
        manifest: &Manifest,
        shared_outside: u64,
    ) -> Result<SavedRoute, Failure> {
        let mut fresh = self.fresh(account, manifest);
        fresh.shared_outside = shared_outside;
        match saved {
            Some(saved) if saved.of == fresh.of && !saved.is_complete => Ok(saved),
            _ => fresh.write(&self.saved_file).map(|()| fresh),
        }
    }

    /// Says what it costs and asks.
    fn agree(&self, manifest: &Manifest, table: &Table) -> Result<(), Failure> {
        let target = self.routes.target();
        if !target.is_billed() {
            return Ok(());
        }
        let prices = prices::of(target.as_ref())?;
        let read = manifest.uncompressed_bytes();
        let size = bytes(read);
        let why = match self.route.kind {
            ServiceLoad::Import => {
                let usd = prices
                    .usd
                    .usd_per_imported_gb
                    .map(|price| crate::cli::format::float(read) / 1e9 * price);
                format!(
                    "an import of {size}{} ({}), and the reading of all items to compare them",
                    target::dollars(usd),
                    prices.dated_source()
                )
            }
            ServiceLoad::Bulk => format!(
                "a bulk operation on {size}, whose price is in no price file yet, and the reading of all items to compare them"
            ),
        };
        let question = format!("{why}. Load the table `{}`?", table.name);
        OutputStreams::agree(
            self.arguments.yes,
            "this costs money",
            &question,
            "nothing was loaded; the export is complete, and the same command continues with it",
        )
    }

    /// Sets what an import leaves, and says what the table does not show. Fails where there is nothing to compare.
    async fn settled(
        &self,
        progress: &RouteProgress,
        operation: &Operation<'_>,
        table: &Table,
    ) -> Result<Vec<String>, Failure> {
        let has_failed = matches!(
            progress.status,
            RouteStatus::Failed | RouteStatus::Cancelled
        );
        if self.route.kind == ServiceLoad::Bulk {
            if has_failed {
                operation.forget()?;
                return Err(operation.failed(progress, true));
            }
            return Ok(Vec::new());
        }
        let made = self.routes.imported(progress, &table.name).await?;
        let is_there = made == ImportedTable::There;
        // An import whose items were refused has "failed", with all others in the table.
        let refused_items = progress.failed_items.is_some_and(|failed| failed > 0);
        if has_failed && !(refused_items && is_there) {
            operation.forget()?;
            return Err(operation.failed(progress, is_there));
        }
        let (what, help) = match made {
            ImportedTable::There => ("", ""),
            ImportedTable::Gone => (
                "it was deleted since",
                "start the same command again: it imports the export once more",
            ),
            ImportedTable::Replaced => (
                "it was deleted since; another table has its name, and its settings were not changed",
                "if nobody needs that table, delete it and start the same command again; else name another table in the mapping, and another prefix",
            ),
        };
        if !is_there {
            operation.forget()?;
            let message = format!("the import has made the table `{}`, but {what}", table.name);
            return Err(Failure::failed(message).with_code("route").with_help(help));
        }
        let differences = self.routes.complete(table).await?;
        Ok(differences.iter().map(ToString::to_string).collect())
    }
}
