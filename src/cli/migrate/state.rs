//! The state of a load: where it is, what makes two runs the same run, and what is said of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ValueEnum as _;
use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_128;

use super::Written;
use super::keys::Keys;
use crate::cli::args::Migrate;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::load::state::{self, Mode, Opened, State, StateError};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::source;
use crate::target::Target;

/// Opens the state of a load and locks it. `None` for loads that cannot be gone on with: plans, and
/// those into a table in memory.
pub(super) fn open(
    arguments: &Migrate,
    mapping: &Written,
    source: &source::Identity,
    target: &dyn Target,
    model: &Model,
    context: &Context,
) -> Result<Option<Opened>, Failure> {
    if arguments.plan || (arguments.state.is_none() && target.is_passing()) {
        return Ok(None);
    }
    let path = path(arguments);
    let mode = match (arguments.fresh, arguments.replace) {
        (true, true) => Mode::Replace,
        (true, false) => Mode::Fresh,
        (false, _) => Mode::Resume,
    };
    let identity = identity(arguments, mapping, source, target, model, context)?;
    let opened = State::open(&path, &identity, mode).map_err(|error| told(&error))?;
    Ok(Some(opened))
}

pub(super) fn path(arguments: &Migrate) -> PathBuf {
    let said = arguments.state.clone();
    said.unwrap_or_else(|| state::default_path(&arguments.mapping))
}

fn told(error: &StateError) -> Failure {
    Failure::failed(error.to_string())
        .with_code("state")
        .with_help(error.help())
        .with_causes_of(error)
}

fn identity(
    arguments: &Migrate,
    mapping: &Written,
    source: &source::Identity,
    target: &dyn Target,
    model: &Model,
    context: &Context,
) -> Result<state::Identity, Failure> {
    let hash = |bytes: &[u8]| format!("{:032x}", xxh3_128(bytes));
    let mut identity = state::Identity::new()
        .with(
            "the mapping",
            hash(mapping.text.as_bytes()),
            arguments.mapping.display().to_string(),
        )
        .plain("the source", &source.name)
        .plain("the target", target.place())
        .plain("the table", &model.table.name);
    if !mapping.variables.is_empty() {
        let names = mapping.variables.iter().map(|(name, _)| name.as_str());
        let names = names.collect::<BTreeSet<_>>().into_iter();
        let shown = names.collect::<Vec<_>>().join(", ");
        let values = hash(format!("{:?}", mapping.variables).as_bytes());
        identity = identity.with("the environment of the mapping", values, shown);
    }
    let mut said = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            identity = std::mem::take(&mut identity).plain(name, value);
        }
    };
    said(
        "--items",
        (!arguments.items.is_empty()).then(|| arguments.items.join(", ")),
    );
    said("--partition", arguments.partition.clone());
    said("--now", arguments.now.map(|now| now.to_string()));
    said(
        "--changes-only",
        arguments.changes_only.then(|| "said".to_owned()),
    );
    let stale = arguments.prune.and_then(|rows| rows.to_possible_value());
    said("--prune", stale.map(|rows| rows.get_name().to_owned()));
    said("--replace", arguments.replace.then(|| "said".to_owned()));
    if let Some(path) = &arguments.retry_rejects {
        let bytes = std::fs::read(path).map_err(|error| {
            let shown = path.display();
            Failure::usage(format!("cannot read the rejects file {shown}")).with_cause(&error)
        })?;
        identity = identity.with("--retry-rejects", hash(&bytes), path.display().to_string());
    }
    if let Some(secret) = &context.secret {
        identity = identity.with("the key of `pseudonym`", secret.check(), "a secret");
    }
    Ok(identity)
}

/// A load that begins anew takes over what another has written, unless its table is gone or another one
/// of its name.
pub(super) async fn of_this_table(
    opened: Option<Opened>,
    arguments: &Migrate,
    target: &dyn Target,
    model: &Model,
) -> Result<Option<Opened>, Failure> {
    let Some(Opened::Again(mut state, earlier)) = opened else {
        return Ok(opened);
    };
    if !arguments.fresh {
        return Ok(Some(Opened::Again(state, earlier)));
    }
    let there = target.describe(&model.table.name).await?;
    let same = there.is_some_and(|there| match (earlier.table_id(), &there.id) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    });
    Ok(Some(if same {
        Opened::Again(state, earlier)
    } else {
        state.forget_attempts().map_err(|error| told(&error))?;
        Opened::New(state)
    }))
}

/// Whether an earlier attempt is gone on with, or what it has written is taken over.
pub(super) fn goes_on(opened: Option<&Opened>) -> bool {
    matches!(opened, Some(Opened::Again(..) | Opened::Damaged(..)))
}

/// The run's clock: that of the first attempt, where there was one. Says what was found.
pub(super) fn context(mut context: Context, opened: Option<&Opened>, output: &Output) -> Context {
    match opened {
        Some(Opened::Again(_, earlier)) if earlier.now().is_none() => output.note(
            "beginning anew; what was written before is taken over: it is written again where it differs, and deleted where no row makes it and the load was into an empty table",
        ),
        Some(Opened::Again(_, earlier)) => {
            if let Some(now) = earlier.now().and_then(|now| now.parse::<Timestamp>().ok()) {
                context.now = now;
            }
            let attempt = earlier.attempts.len() + 1;
            output.note(&format!(
                "going on with the load that did not end (attempt {attempt}); --fresh would begin anew"
            ));
        }
        Some(Opened::Damaged(state, what)) => output.warning(&format!(
            "the state {} was damaged ({what}) and is set aside; everything is read again and written where the table differs. Items of rows that are gone meanwhile are not looked for: `dynafold verify` does that",
            state.path().display()
        )),
        Some(Opened::New(_)) | None => {}
    }
    context
}

/// What tells a table from every other.
pub(super) fn place(model: &Model, target: &dyn Target) -> String {
    format!("{} at {}", model.table.name, target.place())
}

/// How the last full load of a table made its keys, where it is known.
pub(super) fn last(arguments: &Migrate, opened: Option<&Opened>, place: &str) -> Option<Keys> {
    let json = match opened {
        Some(opened) => opened.state().selection(place).map(str::to_owned),
        None => state::selection(&path(arguments), place),
    };
    serde_json::from_str(&json?).ok()
}
