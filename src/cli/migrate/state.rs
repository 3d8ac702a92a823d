//! The state of a load: where it is, what makes two runs the same run, and what is said of it.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::cli::args::Migrate;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::load::state::{self, Mode, Opened, State, StateError};
use crate::mapping::model::{ItemType, Model, Node, Part};
use crate::mapping::template::Context;
use crate::source;
use crate::target::Target;

/// Opens the state of a load and locks it. `None` for loads that cannot be gone on with: plans, and
/// those into a table in memory.
pub(super) fn open(
    arguments: &Migrate,
    mapping: &str,
    source: &source::Identity,
    target: &dyn Target,
    model: &Model,
    context: &Context,
) -> Result<Option<Opened>, Failure> {
    if arguments.plan || (arguments.state.is_none() && target.is_passing()) {
        return Ok(None);
    }
    let path = path(arguments);
    let mode = if arguments.fresh {
        Mode::Fresh
    } else {
        Mode::Resume
    };
    let identity = identity(arguments, mapping, source, target, model, context)?;
    let opened = State::open(&path, &identity, mode).map_err(|error| told(&error))?;
    Ok(Some(opened))
}

fn path(arguments: &Migrate) -> PathBuf {
    let said = arguments.state.clone();
    said.unwrap_or_else(|| state::default_path(&arguments.mapping))
}

fn told(error: &StateError) -> Failure {
    let mut failure = Failure::failed(error.to_string()).with_help(error.help());
    let mut cause = error.source();
    while let Some(next) = cause {
        failure.causes.push(next.to_string());
        cause = next.source();
    }
    failure
}

fn identity(
    arguments: &Migrate,
    mapping: &str,
    source: &source::Identity,
    target: &dyn Target,
    model: &Model,
    context: &Context,
) -> Result<state::Identity, Failure> {
    let hash = |bytes: &[u8]| format!("{:032x}", xxh3_128(bytes));
    let mut identity = state::Identity::new()
        .with(
            "the mapping",
            hash(mapping.as_bytes()),
            arguments.mapping.display().to_string(),
        )
        .plain("the source", &source.name)
        .plain("the target", target.place())
        .plain("the table", &model.table.name);
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
    said("--prune", arguments.prune.then(|| "said".to_owned()));
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

/// Whether an earlier attempt is gone on with.
pub(super) fn goes_on(opened: Option<&Opened>) -> bool {
    matches!(opened, Some(Opened::Again(..) | Opened::Damaged(..)))
}

/// The run's clock: that of the first attempt, where there was one. Says what was found.
pub(super) fn context(mut context: Context, opened: Option<&Opened>, output: &Output) -> Context {
    match opened {
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

/// What the last full load of a table selected, where it is known.
pub(super) fn last(arguments: &Migrate, opened: Option<&Opened>, place: &str) -> Option<Selected> {
    let json = match opened {
        Some(opened) => opened.state().selection(place).ok().flatten(),
        None => state::selection(&path(arguments), place),
    };
    serde_json::from_str(&json?).ok()
}

/// What a full load selects from its source, and how it makes its keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Selected {
    /// What the rows of each item type are read from, and its condition. Passes share conditions,
    /// so that theirs would not tell which item type has which.
    pub(super) conditions: BTreeMap<String, (String, Option<String>)>,
    /// The key templates of each item type, as text that is the same for the same keys.
    pub(super) keys: BTreeMap<String, Vec<String>>,
}

impl Selected {
    pub(super) fn of(model: &Model) -> Self {
        let all = || model.item_types.iter();
        let name = |item: &ItemType| item.name.to_string();
        Self {
            conditions: all()
                .map(|item| (name(item), selects(model, item)))
                .collect(),
            keys: all()
                .map(|item| (name(item), templates(model, item)))
                .collect(),
        }
    }

    /// Whether any rows are left out.
    pub(super) fn filters(&self) -> bool {
        self.conditions.values().any(|(_, one)| one.is_some())
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The item types that make other keys than they did.
    fn made_otherwise(&self, last: &Self) -> Vec<&str> {
        let keys = self.keys.iter();
        keys.filter(|(name, keys)| last.keys.get(*name).is_some_and(|then| then != *keys))
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

/// Refuses to load single rows where the items of the others have other keys than they would have
/// now.
pub(super) fn same_keys(
    arguments: &Migrate,
    last: Option<&Selected>,
    now: &Selected,
    output: &Output,
) -> Result<(), Failure> {
    if arguments.retry_rejects.is_none() {
        return Ok(());
    }
    let Some(last) = last else {
        output.note(
            "no earlier full load is known here: whether the keys of the items that it loaded are made as they were cannot be told",
        );
        return Ok(());
    };
    let changed = now.made_otherwise(last);
    if changed.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the keys of {} are not made as they were in the last full load: the items that it loaded have the old ones",
        changed.join(", ")
    );
    Err(Failure::failed(message).with_help(
        "load everything again: --replace empties the table first, --changes-only with --prune deletes the items with old keys",
    ))
}

fn selects(model: &Model, item: &ItemType) -> (String, Option<String>) {
    let Some(pass) = model.passes.get(item.pass) else {
        return Default::default();
    };
    let scan = &pass.scan;
    // Conditions come behind the columns in a row.
    let at = item
        .condition
        .and_then(|at| at.checked_sub(scan.columns.len()));
    let condition = at.and_then(|at| scan.conditions.get(at).cloned());
    (pass.name.clone(), condition)
}

fn templates(model: &Model, item: &ItemType) -> Vec<String> {
    let table = &model.table;
    let keys = std::iter::once(&table.partition).chain(&table.sort);
    let template = |name: &str| {
        let mut attributes = item.attributes.iter();
        match attributes.find(|(other, _)| &**other == name) {
            Some((_, Node::Template(template))) => parts(&template.parts),
            other => format!("{other:?}"),
        }
    };
    keys.map(|key| template(&key.name)).collect()
}

fn parts(all: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("{text:?}"),
        Part::Value(value) => format!(
            "{{{} {:?} {}}}",
            value.place.written,
            value.filters,
            value.escape.is_some()
        ),
        Part::Optional(inner) => format!("[{}]", parts(inner)),
    };
    all.iter().map(part).collect()
}
