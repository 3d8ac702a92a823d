//! The state of a load: where it is, what makes two runs the same run, and what is said of it.

use std::path::Path;

use jiff::Timestamp;

use super::job::MigrateJob;
use super::keys::KeyTemplateTexts;
use crate::catalog::Catalog;
use crate::cli::failure::Failure;
use crate::cli::identity::schema;
use crate::cli::mapping::{WrittenMapping, hash};
use crate::cli::output::OutputStreams;
use crate::load::state::{self, Opened, ResumeMode, ResumedWork, RunIdentity, State};
use crate::load::{self, KeyCheck};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::source;
use crate::target::Target;

/// What makes two loads the same: only then the second resumes the first.
pub(super) fn identity(
    job: &MigrateJob,
    mapping: &WrittenMapping,
    source: &source::SourceIdentity,
    catalog: &Catalog,
    target: &dyn Target,
    model: &Model,
    context: &Context,
) -> Result<RunIdentity, Failure> {
    let mut identity = (mapping.identity())
        .plain("the source", &source.name)
        .with(
            "the source's schema",
            schema(catalog, model, source),
            "its tables and columns, or what the database user may read of them",
        )
        .plain("the target", target.place())
        .plain("the table", &model.table.name);
    for (option, value) in job.arguments.identity() {
        identity = identity.plain(option, value);
    }
    if let Some(path) = &job.arguments.retry_rejects {
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

/// Opens the state of a load and locks it. `None` for loads that cannot be gone on with: plans, and
/// those into a table in memory.
pub(super) fn open(
    job: &MigrateJob,
    identity: &RunIdentity,
    target: &dyn Target,
) -> Result<Option<Opened>, Failure> {
    if job.arguments.plan || (job.arguments.state.is_none() && target.ends_with_process()) {
        return Ok(None);
    }
    let opened = State::open(&job.state_file, identity, job.arguments.resume_mode());
    Ok(Some(opened.map_err(load::Failure::from)?))
}

/// Says in a plan what a load that would resume does otherwise.
pub(super) fn warn_of_unfinished(
    job: &MigrateJob,
    identity: &RunIdentity,
    stamp: Option<&str>,
    keys: KeyCheck,
    output: &OutputStreams,
) {
    // A plan with --prune shows deletions, and such a load reads all rows.
    if job.arguments.resume_mode() != ResumeMode::Resume || job.options.prune.is_some() {
        return;
    }
    let what = match state::resumed(&job.state_file, identity, stamp) {
        Some(ResumedWork::Skips) if keys != KeyCheck::Late => {
            "it may skip chunks that it has loaded, whatever the table holds now, and then writes less than this plan says; --fresh starts over"
        }
        Some(ResumedWork::Deletes) => {
            "it writes only what differs, and may delete items that it has sent and whose rows are gone; this plan does not show these deletions"
        }
        _ => return,
    };
    output.warning(&format!(
        "{} keeps an unfinished load with these options: {what}",
        job.state_file.display()
    ));
}

/// A load that begins anew takes over what another has written, unless its table is gone or another one
/// of its name.
pub(super) async fn of_this_table(
    opened: Option<Opened>,
    mode: ResumeMode,
    target: &dyn Target,
    model: &Model,
) -> Result<Option<Opened>, Failure> {
    let Some(Opened::Again(mut state, earlier)) = opened else {
        return Ok(opened);
    };
    if mode == ResumeMode::Resume {
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
        state.forget_attempts().map_err(load::Failure::from)?;
        Opened::New(state)
    }))
}

/// Whether an earlier attempt is gone on with, or what it has written is taken over.
pub(super) fn goes_on(opened: Option<&Opened>) -> bool {
    matches!(opened, Some(Opened::Again(..) | Opened::Damaged(..)))
}

/// The run's clock: that of the first attempt, where there was one. Says what was found.
pub(super) fn context(
    mut context: Context,
    opened: Option<&Opened>,
    output: &OutputStreams,
) -> Context {
    match opened {
        Some(Opened::Again(_, earlier)) if earlier.now().is_none() => output.note(
            "starting over with the items that the unfinished load wrote: this load writes those that differ again; if the table was empty at first, it deletes those that no row makes",
        ),
        Some(Opened::Again(_, earlier)) => {
            if let Some(now) = earlier.now().and_then(|now| now.parse::<Timestamp>().ok()) {
                context.now = now;
            }
            let attempt = earlier.attempts.len() + 1;
            output.note(&format!(
                "resuming the unfinished load (attempt {attempt}); --fresh would start over"
            ));
        }
        Some(Opened::Damaged(state, what)) => output.warning(&format!(
            "the state {} was damaged ({what}) and has been renamed; all rows are read again, and items are written where the table differs. Items of rows that were deleted in the meantime are not looked for: `dynafold verify` finds them",
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
pub(super) fn last(file: &Path, opened: Option<&Opened>, place: &str) -> Option<KeyTemplateTexts> {
    let json = match opened {
        Some(opened) => opened.state().selection(place).map(str::to_owned),
        None => state::selection(file, place),
    };
    serde_json::from_str(&json?).ok()
}
