//! How a run begins: the snapshot, the plan, what earlier attempts have done, and the proof of
//! the keys; then the attempt in the state. The table is not touched here.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use dynafold_mapping::model::Model;
use dynafold_relational::catalog::Dbms;
use dynafold_source::Source;
use tokio::time::Instant;

use super::ending::{Failure, Halt, Why};
use super::files::LineFile;
use super::journal::Journal;
use super::ledger::Opening;
use super::plan::{ChunkId, Plan};
use super::prove::{Contest, KeyPass, Proved};
use super::rejects::Told;
use super::report::KeysReport;
use super::scope::Doing;
use super::state::{Attempt, ChunkBooks, Earlier, Extent, Ground, Opened, State, StateError};
use super::worker::Rules;
use super::{KeyCheck, Load, Prune, journal};
use crate::proof::Proof;

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
    pub(super) opening: Opening,
    pub(super) done: Done,
}

impl Before {
    /// Takes the state of a load, and what earlier attempts have done.
    pub(super) fn of(load: &mut Load) -> Self {
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
            opening: Opening::new(model, rejects, archive, load.options.max_rejects),
            done: Done::default(),
        };
        if let Some(opened) = load.state.take() {
            before.take(opened);
        }
        before
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
            source.begin(&load.model.scans()).await.map_err(failed)?;
        }
        let stamp = source.identity().await.map_err(failed)?.stamp;
        let stamp = stamp.filter(|_| !load.model.passes.iter().any(|pass| pass.fickle));
        let done = std::mem::take(&mut before.done);
        let mut done = done.under(stamp.as_deref(), source.dbms(), &load.model);
        if wants_all_keys(load) {
            done.read_again();
        }
        before.go_on(&done)?;
        let plan = match done.plan.clone() {
            Some(plan) => plan,
            None => Plan::cut(source.as_mut(), &load.model, load.options.chunk_rows)
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
        if let Some(entered) = before.opening.entered.get_mut(*index) {
            entered.take(books.clone());
        }
    }
    let begins = proved.begins(load.options.max_rejects);
    let keys = KeysReport {
        check: load.options.keys,
        ..proved.keys
    };
    if !begins {
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
    let keys = KeyPass {
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
    load.options.prune.is_some() || load.options.keys == KeyCheck::Late || load.compares_again()
}

fn rules(load: &Load, contest: Contest, stale: bool) -> Rules {
    let options = &load.options;
    let rules = Rules::new(
        &load.model,
        options.doing,
        options.selection.clone(),
        contest,
    );
    let rules = match &options.prune {
        Some(prune) => rules.deleting(prune),
        None if stale => rules.deleting(&Prune::default()),
        None => rules,
    };
    if stale || wants_all_keys(load) {
        return rules.with_keys(Proof::new(options.proof.clone()));
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
            state.plan(self.plan.clone())?;
        }
        state.begin_attempt(Attempt {
            stamp: self.stamp.clone(),
            now: load.context.now.to_string(),
            ground: self.ground.unwrap_or(self.ready.ground),
            table_id: self.ready.table_id.clone(),
        })
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
        state.plan(Plan::default())?;
    }
    if finished {
        state.complete(load.options.remember.clone())?;
    }
    Ok(())
}

// A load that has begun, and has not touched its table: its source is open, its files are in order
// and its keys are proved.
//
// Whoever has to make the table, or to delete one that is to be replaced, does so between [`begin`]
// and [`Begun::run`]. A load that was killed in between has entered no attempt into its state: it
// begins anew.

/// A load that can be run, or can only report why not.
pub struct Begun {
    pub(super) load: Load,
    pub(super) halt: Halt,
    pub(super) before: Before,
    /// `None`: it ends here.
    pub(super) setting: Option<Setting>,
    /// Rows that would be rejected, of a load that ends because of them.
    pub(super) refused: Option<Told>,
    pub(super) keys: KeysReport,
    /// Whether an earlier attempt had done a part.
    pub(super) resumed: bool,
    pub(super) at: Instant,
}

/// A table that can be written to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// What it held before the run.
    pub ground: Ground,
    /// What tells it from another of its name.
    pub table_id: Option<String>,
    /// Write units a second to begin with, where it takes no more at first.
    pub start: Option<f64>,
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            ground: Ground::Held,
            table_id: None,
            start: None,
        }
    }
}

/// Opens the source, plans, and proves the keys. Never fails but in its report.
pub async fn begin(mut load: Load) -> Begun {
    let at = Instant::now();
    let halt = Halt::new();
    let mut before = Before::of(&mut load);
    let resumed = before.done.is_there();
    let (mut setting, mut refused, mut keys) = (None, None, KeysReport::default());
    match load.source.take() {
        None => halt.set(Why::Failed(Failure::internal("a load has no source"))),
        Some(source) => match Box::pin(set(&load, source, &mut before)).await {
            Ok(set) => {
                keys = set.keys.clone();
                if set.rules.keeps_filtered() {
                    read_unmatched(&mut load.model);
                }
                setting = Some(set);
            }
            Err(Unset::Why(why)) => halt.set(why),
            Err(Unset::Refused(found)) => {
                halt.set(Why::TooManyRejects);
                keys = found.1;
                refused = Some(found.0);
            }
        },
    }
    Begun {
        load,
        halt,
        before,
        setting,
        refused,
        keys,
        resumed,
        at,
    }
}

/// Has rows read that conditions leave out, where their items are told from those whose rows are gone.
fn read_unmatched(model: &mut Arc<Model>) {
    for pass in &mut Arc::make_mut(model).passes {
        pass.scan.keep_unmatched = true;
    }
}

// What earlier attempts at a run have done, and how much of it still counts.
//
// A chunk that is done is skipped where the database proves that nothing has changed since. Where
// it cannot, the chunk is read again and only what differs is written.

/// What earlier attempts have done.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// The plan they followed; `None`: there is none to go on with.
    pub(super) plan: Option<Plan>,
    /// Chunks that need not be read.
    pub(super) skip: BTreeMap<ChunkId, ChunkBooks>,
    /// Chunks that are read again, and written where the table differs.
    pub(super) again: HashSet<ChunkId>,
    /// Whether that is so of all chunks of a plan that is still to be made.
    pub(super) everything_again: bool,
    /// Whether rows may have changed since an earlier attempt wrote their items.
    pub(super) changed: bool,
    /// What the table held before the first attempt; `None` where this is the first.
    pub(super) ground: Option<Ground>,
    stamps: Vec<Option<String>>,
    /// How far the files beside the table count, by their names.
    extents: BTreeMap<String, Extent>,
}

impl Before {
    /// Takes a state that was opened.
    pub(super) fn take(&mut self, opened: Opened) {
        self.opening.state = Some(match opened {
            Opened::New(state) => state,
            Opened::Damaged(state, _) => {
                self.done = Done {
                    everything_again: true,
                    ground: Some(Ground::Held),
                    ..Done::default()
                };
                state
            }
            Opened::Again(state, earlier) => {
                self.done = Done::of(&state, &earlier);
                state
            }
        });
    }

    /// Goes on with the files beside the table. Where no chunk is skipped they begin anew: each of
    /// their lines comes again.
    pub(super) fn go_on(&mut self, done: &Done) -> Result<(), Failure> {
        if !done.is_there() {
            return Ok(());
        }
        let anew = done.skip.is_empty();
        if anew && let Some(state) = &mut self.opening.state {
            // The state first: a file that is shorter than it says was changed by somebody else.
            let forgotten = state.forget_annexes();
            forgotten.map_err(|error| Failure::from(&error))?;
        }
        for file in [&mut self.opening.rejects, &mut self.opening.archive] {
            let extent = done.extents.get(file.which().name());
            let extent = extent.filter(|_| !anew).cloned();
            file.resume(&extent.unwrap_or_default())?;
        }
        Ok(())
    }
}

impl Done {
    fn of(state: &State, earlier: &Earlier) -> Self {
        let plan = state.planned();
        let planned = plan.chunks().next().is_some();
        let stamps = earlier.attempts.iter();
        Self {
            everything_again: !planned,
            plan: planned.then(|| plan.clone()),
            skip: state.done().clone(),
            again: HashSet::new(),
            ground: Some(earlier.ground()),
            changed: false,
            extents: earlier.annexes.clone(),
            stamps: stamps.map(|attempt| attempt.stamp.clone()).collect(),
        }
    }

    /// Whether there was an earlier attempt.
    pub(super) fn is_there(&self) -> bool {
        self.ground.is_some()
    }

    /// What of it counts under the snapshot of now.
    pub(super) fn under(mut self, stamp: Option<&str>, dbms: Dbms, model: &Model) -> Self {
        let unchanged = stamp.is_some() && self.stamps.iter().all(|then| then.as_deref() == stamp);
        if self.stamps.is_empty() || unchanged {
            return self;
        }
        self.changed = true;
        self.read_again();
        if !self
            .plan
            .iter()
            .all(|plan| plan.covers(dbms, &model.passes))
        {
            self.plan = None;
            self.everything_again = true;
        }
        self
    }

    /// Skips nothing: what was done is read again.
    pub(super) fn read_again(&mut self) {
        self.again
            .extend(std::mem::take(&mut self.skip).into_keys());
    }
}
