//! How a run begins: the snapshot, the plan, what earlier attempts have done, and the proof of
//! the keys; then the attempt in the state. The table is not touched here.

use std::collections::HashSet;

use super::books::Books;
use super::contest::Contest;
use super::failure::Failure;
use super::files::LineFile;
use super::halt::Why;
use super::journal::{self, Journal};
use super::plan::Plan;
use super::prove::{Keys, Proved, Told};
use super::report::KeysReport;
use super::resume::Done;
use super::rules::{Doing, Rules};
use super::state::{Ending, Ground, State, StateError};
use super::ticket::ChunkId;
use super::{KeyCheck, Load, Ready};
use crate::proof::Proof;
use crate::source::Source;

/// Everything that a run needs before its first row.
pub(super) struct Setting {
    pub(super) source: Box<dyn Source>,
    pub(super) plan: Plan,
    /// Whether the plan is that of an earlier attempt.
    planned: bool,
    /// What tells the source's state, where the database can tell.
    stamp: Option<String>,
    /// What the table held before the first attempt; `None` where this is the first.
    ground: Option<Ground>,
    /// The table.
    pub(super) ready: Ready,
    /// Where it is noted what is sent.
    pub(super) journal: Option<Journal>,
    /// Chunks that are done, and proved unchanged.
    pub(super) skip: HashSet<ChunkId>,
    /// Chunks that were done, or may have been: only what differs in the table is written.
    pub(super) again: HashSet<ChunkId>,
    pub(super) rules: Rules,
    pub(super) keys: KeysReport,
    /// Items that no row makes are looked for: rows may be gone since an earlier attempt wrote theirs.
    pub(super) stale: bool,
    /// They are not, among items that were there before: the caller should know.
    pub(super) overlooked: bool,
}

/// What there is before the source is opened.
pub(super) struct Before {
    pub(super) rejects: LineFile,
    pub(super) archive: LineFile,
    pub(super) state: Option<State>,
    pub(super) done: Done,
    /// The books of what is done, by item type.
    pub(super) entered: Vec<Books>,
}

impl Before {
    /// Takes the state of a load, and what earlier attempts have done.
    pub(super) fn of(load: &mut Load) -> (Self, Option<Failure>) {
        let model = &load.model;
        // A plan writes nothing: the files may be those of a load that goes on, or is to go on.
        let (rejects, archive) = if load.options.doing == Doing::Plan {
            (LineFile::nowhere(), LineFile::nowhere())
        } else {
            let options = &load.options;
            (
                LineFile::rejects(options.rejects_file.clone()),
                LineFile::archive(options.archive_file.clone(), &model.table),
            )
        };
        let mut before = Self {
            rejects,
            archive,
            state: None,
            done: Done::default(),
            entered: (0..model.item_types.len())
                .map(|index| Books::of(model, index))
                .collect(),
        };
        let Some(opened) = load.state.take() else {
            return (before, None);
        };
        let failure = before.take(opened).err();
        (before, failure)
    }
}

/// Why a run does not begin.
pub(super) enum Unset {
    /// For a reason that has no more to say.
    Why(Why),
    /// More rows would be rejected than may be.
    Refused(Box<(Told, KeysReport)>),
}

impl From<Failure> for Unset {
    fn from(failure: Failure) -> Self {
        Self::Why(Why::Failed(failure))
    }
}

/// Opens the snapshot, plans, and proves the keys.
pub(super) async fn set(
    load: &Load,
    mut source: Box<dyn Source>,
    before: &mut Before,
) -> Result<Setting, Unset> {
    let failed = |error| Unset::from(Failure::from(&error));
    let opened = async {
        if !load.begun {
            source.begin().await.map_err(failed)?;
        }
        let stamp = source.identity().await.map_err(failed)?.stamp;
        let stamp = stamp.filter(|_| !load.model.passes.iter().any(|pass| pass.fickle));
        let done = std::mem::take(&mut before.done);
        let mut done = done.under(stamp.as_deref(), source.dbms());
        if wants_all_keys(load) {
            done.read_again();
        }
        before.go_on(&done)?;
        let plan = match done.plan.clone() {
            Some(plan) => plan,
            None => Plan::cut(
                source.as_mut(),
                &load.model,
                &load.options.estimates,
                load.options.chunk_rows,
            )
            .await
            .map_err(failed)?,
        };
        Ok::<_, Unset>((stamp, done, plan))
    };
    let (stamp, mut done, plan) = tokio::select! {
        opened = opened => opened?,
        () = load.cancel.cancelled() => return Err(Unset::Why(Why::Cancelled)),
    };
    if done.everything_again {
        done.again = plan.chunks().map(|(id, _)| id).collect();
    }
    let mut slot = Some(source);
    let proved = prove(load, &plan, &mut slot).await?;
    if proved.contest.has_ties() && !done.skip.is_empty() {
        // Which of two equal rows was loaded is not known any more.
        done.read_again();
        before.go_on(&done)?;
    }
    for (index, books) in done.skip.values().flatten() {
        if let Some(entered) = before.entered.get_mut(*index) {
            entered.take(books.clone());
        }
    }
    let keys = KeysReport {
        check: load.options.keys,
        compared: proved.keys,
        shared: proved.shared,
        faults: proved.faults,
        overwritten: 0,
        spilled_bytes: proved.spilled,
    };
    if !proved.begins(load.options.max_rejects) {
        return Err(Unset::Refused(Box::new((proved.told, keys))));
    }
    let source = slot
        .ok_or_else(|| Failure::internal("the source did not come back from the proof of keys"))?;
    // Rows that are gone since an earlier attempt have left their items behind, where the source
    // has changed. Among items that were there before they would not be known.
    let stale = done.changed && done.ground == Some(Ground::Empty);
    let overlooked =
        done.changed && !stale && load.options.prune.is_none() && load.options.doing == Doing::Put;
    Ok(Setting {
        overlooked,
        source,
        planned: done.plan.is_some(),
        stamp,
        ground: done.ground,
        ready: Ready::default(),
        journal: None,
        skip: done.skip.keys().copied().collect(),
        again: done.again,
        plan,
        rules: rules(load, proved.contest, stale),
        keys,
        stale,
    })
}

async fn prove(
    load: &Load,
    plan: &Plan,
    source: &mut Option<Box<dyn Source>>,
) -> Result<Proved, Unset> {
    if load.options.keys != KeyCheck::First {
        return Ok(Proved::default());
    }
    let keys = Keys {
        model: &load.model,
        context: &load.context,
        plan,
        selection: &load.options.selection,
        lanes: load.options.lanes(),
        options: load.options.proof.clone(),
        max_rejects: load.options.max_rejects,
        cancel: &load.cancel,
        progress: load.progress.as_ref(),
    };
    keys.prove(source)
        .await
        .map_err(|unproved| Unset::Why(unproved.into()))
}

/// Whether the keys of all rows are compared at the end, those of chunks that are done too.
fn wants_all_keys(load: &Load) -> bool {
    load.options.prune.is_some() || load.options.keys == KeyCheck::Late
}

fn rules(load: &Load, contest: Contest, stale: bool) -> Rules {
    let options = &load.options;
    let rules = Rules::new(
        &load.model,
        options.doing,
        options.selection.clone(),
        contest,
    );
    if stale || wants_all_keys(load) {
        return rules.with_keys(Proof::new(options.proof.clone()), options.prune.as_ref());
    }
    rules
}

impl Setting {
    /// Opens the journal, where the load can be gone on with and may have to tell then which items of
    /// the table are its own: all others were there before it, or are deleted with `--prune`.
    pub(super) fn keep_journal(&mut self, load: &Load, state: &State) -> Result<(), Failure> {
        let ground = self.ground.unwrap_or(self.ready.ground);
        if ground == Ground::Empty && load.options.prune.is_none() {
            let path = state.path();
            self.journal = Some(match self.ground {
                None => Journal::begin(path),
                Some(_) => Journal::go_on(path),
            }?);
        } else if self.ground.is_none() {
            journal::forget(state.path());
        }
        Ok(())
    }

    /// Enters the attempt into the state, and with it what the table held before the first.
    pub(super) fn enter(&self, load: &Load, state: &mut State) -> Result<(), StateError> {
        if !self.planned {
            state.plan(&self.plan.written(&load.model))?;
        }
        let ground = self.ground.unwrap_or(self.ready.ground);
        let now = load.context.now.to_string();
        state.begin_attempt(self.stamp.as_deref(), &now, ground)?;
        if let Some(table) = &self.ready.table_id {
            state.note_table(table)?;
        }
        Ok(())
    }
}

/// Says in the state how the run ended. `disowned`: of what was done nothing counts.
pub(super) fn finish(
    state: &mut State,
    finished: bool,
    disowned: bool,
    load: &Load,
) -> Result<(), StateError> {
    if disowned {
        state.plan(&[])?;
    }
    let ending = if finished {
        Ending::Complete
    } else {
        Ending::Unfinished
    };
    let selection = load.options.remember.as_ref().filter(|_| finished);
    state.finish(ending, selection)
}
