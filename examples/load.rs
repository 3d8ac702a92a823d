//! Checks a mapping, prints the first items that it makes, and loads all of them into a file of the embedded engine.
//!
//! ```sh
//! cargo run --example load -- shop.yaml sqlite:shop.db shop.ddb
//! ```
//!
//! It ends with 75 where the same may succeed later, and with 77 where somebody must give a permission first.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use dynafold::load::{
    self, Cancel, Failure, KeyCheck, Load, LoadOptions, NoProgress, Outcome, TableError,
};
use dynafold::mapping::template::Context;
use dynafold::source::SourceError;
use dynafold::target::{TargetError, TargetErrorKind, TargetSpec};
use dynafold::{check, diagnostic, dynamodb, preview, source, target};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let ended = match &*arguments {
        [mapping, source, file] => load(mapping, source, file, &mut io::stdout()).await,
        _ => Err("usage: load MAPPING SOURCE FILE".into()),
    };
    let Err(error) = ended else {
        return ExitCode::SUCCESS;
    };
    let mut next: Option<&dyn Error> = Some(error.as_ref());
    while let Some(error) = next {
        let _ = writeln!(io::stderr(), "{error}");
        next = error.source();
    }
    ExitCode::from(exit_code(error.as_ref()))
}

/// The same may succeed later: `EX_TEMPFAIL` of sysexits.h.
pub(crate) const TRY_LATER: u8 = 75;
/// Somebody must give a permission first: `EX_NOPERM`.
const NO_PERMISSION: u8 = 77;
const FAILED: u8 = 1;

/// The exit code of an error of the library.
pub(crate) fn exit_code(error: &(dyn Error + 'static)) -> u8 {
    if let Some(error) = error.downcast_ref::<SourceError>() {
        return of_source(error);
    }
    if let Some(TableError::Target(error)) = error.downcast_ref() {
        return of_target(error);
    }
    match error.downcast_ref::<Arc<Failure>>().map(AsRef::as_ref) {
        Some(Failure::Source(error)) => of_source(error),
        Some(Failure::Target(error)) => of_target(error),
        Some(Failure::Throttled { .. }) => TRY_LATER,
        _ => FAILED,
    }
}

fn of_source(error: &SourceError) -> u8 {
    match error {
        SourceError::Connect { .. } | SourceError::Lost { .. } => TRY_LATER,
        SourceError::Permission { .. } => NO_PERMISSION,
        _ => FAILED,
    }
}

fn of_target(error: &TargetError) -> u8 {
    match error.kind {
        TargetErrorKind::Throttled
        | TargetErrorKind::Connection
        | TargetErrorKind::Unavailable
        | TargetErrorKind::Locked => TRY_LATER,
        TargetErrorKind::AccessDenied | TargetErrorKind::Credentials => NO_PERMISSION,
        _ => FAILED,
    }
}

pub(crate) async fn load(
    mapping: &str,
    url: &str,
    table: &str,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(mapping)?;
    let mut source = source::connect(url).await?;
    let catalog = source.catalog().await?;
    let variable = |name: &str| env::var(name).ok();
    let checked = check::check(&text, &variable, &catalog, Some(source.as_mut())).await?;
    write!(
        out,
        "{}",
        diagnostic::render(mapping, &text, &checked.diagnostics, false)
    )?;
    let keys = checked.key_check(KeyCheck::First);
    let model = Arc::new(checked.model.ok_or("the mapping has errors")?);

    for sample in preview::sample(source.as_mut(), &model, Context::default(), 3, &|_| true).await?
    {
        for made in sample.items {
            let mut json = String::new();
            dynamodb::write_item(&mut json, &made.item);
            writeln!(out, "{json}")?;
        }
    }

    let target = target::connect(&TargetSpec::Local {
        file: Some(table.into()),
    })
    .await?;
    load::ensure_table(target.as_ref(), &model.table, true).await?;
    let report = load::run(Load {
        source: Some(source),
        begun: true,
        target,
        model,
        context: Context::default(),
        options: LoadOptions {
            keys,
            ..LoadOptions::default()
        },
        cancel: Cancel::default(),
        progress: Arc::new(NoProgress),
        state: None,
    })
    .await;
    writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    match report.outcome {
        Outcome::Failed(failure) => Err(failure.into()),
        _ => Ok(()),
    }
}
