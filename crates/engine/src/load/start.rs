//! How a run begins: the snapshot, the plan, what earlier attempts have done, and the proof of
//! the keys; then the attempt in the state. The table is not touched here.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use dynafold_mapping::model::Model;
use dynafold_relational::catalog::Dbms;
use dynafold_source::Source;
use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

use super::ending::{EndReason, RunHalt};
use super::failure::Failure;
use super::files::LineFile;
use super::journal::Journal;
use super::ledger::Entries;
use super::plan::{ChunkId, ChunkPlan, names, rivals};
use super::prove::{ContestedKeys, KeyPass, Proved};
use super::prune::ItemTypeMarks;
use super::rejects::BlockingRejects;
use super::report::KeysReport;
use super::scope::ItemAction;
use super::state::{
    ChunkBooks, CommittedExtent, Opened, RunAttempt, State, StateError, TableAtStart,
};
use super::worker::LoadRules;
use super::{KeyCheck, Load, Prune, journal, lane_count};
use crate::proof::Proof;

/// Everything that a run needs before its first row.
pub(super) struct RunSetup {
    pub(super) source: Box<dyn Source>,
    pub(super) plan: ChunkPlan,
    /// What earlier attempts have done, as far as it counts.
    pub(super) done: EarlierProgress,
    /// What tells the source's state, where the database can tell.
    stamp: Option<String>,
    pub(super) ready: ReadyTable,
    /// Where it is noted what is sent.
    pub(super) journal: Option<Journal>,
    pub(super) rules: LoadRules,
    /// Items that no row makes are looked for: rows may be gone since an earlier attempt wrote theirs.
    pub(super) stale: bool,
    /// They are not, among items that were there before: the caller should know.
    pub(super) overlooked: bool,
}

async fn prove(
    load: &Load,
    plan: &ChunkPlan,
    source: &mut Option<Box<dyn Source>>,
) -> Result<Proved, EndReason> {
    if load.options.keys != KeyCheck::First {
        return Ok(Proved::default());
    }
    let keys = KeyPass {
        model: &load.model,
        context: &load.context,
        plan,
        selection: &load.options.selection,
        rivals: &[],
        lanes: lane_count(load.options.readers),
        options: load.options.proof.clone(),
        max_rejects: load.options.max_rejects,
        cancel: &load.cancel,
        progress: load.progress.as_ref(),
    };
    keys.prove(source).await
}

/// Whether the keys of all rows are compared at the end, those of chunks that are done too.
fn wants_all_keys(load: &Load) -> bool {
    load.options.prune.is_some() || load.options.keys == KeyCheck::Late || load.compares_again()
}

fn rules(load: &Load, contest: ContestedKeys, stale: bool) -> LoadRules {
    let options = &load.options;
    let own = Prune::default();
    let prune = options.prune.as_ref().or(stale.then_some(&own));
    let keys = || Mutex::new(Proof::new(options.proof.clone()));
    let spared = load.model.item_types.iter().map(|_| false.into());
    LoadRules {
        doing: options.doing,
        selection: options.selection.clone(),
        contest,
        keys: (stale || wants_all_keys(load)).then(keys),
        keep_filtered: prune.is_some_and(|prune| !prune.filtered),
        keep_rejected: prune.is_some(),
        // Known when the table is there.
        expires: false,
        spared: spared.collect(),
    }
}

impl RunSetup {
    /// Opens the journal, where the load can be gone on with and may have to tell then which items of
    /// the table are its own: all others were there before it, or are deleted with `--prune`.
    pub(super) fn keep_journal(&mut self, load: &Load, state: &State) -> Result<(), Failure> {
        let table_at_start = self
            .done
            .table_at_start
            .unwrap_or(self.ready.table_at_start);
        if table_at_start == TableAtStart::Empty && load.options.prune.is_none() {
            let path = state.path();
            self.journal = Some(match self.done.table_at_start {
                None => Journal::begin(path),
                Some(_) => Journal::resume(path),
            }?);
        } else if self.done.table_at_start.is_none() {
            journal::remove_leftover(state.path());
        }
        Ok(())
    }

    /// Enters the attempt into the state, and with it what the table held before the first.
    pub(super) fn enter(&self, load: &Load, state: &mut State) -> Result<(), StateError> {
        if self.done.plan.is_none() {
            state.plan(self.plan.clone())?;
        }
        state.begin_attempt(RunAttempt {
            stamp: self.stamp.clone(),
            now: load.context.now.to_string(),
            table_at_start: self
                .done
                .table_at_start
                .unwrap_or(self.ready.table_at_start),
            table_id: self.ready.table_id.clone(),
        })
    }
}

// A load that has begun, and has not touched its table: its source is open, its files are in order
// and its keys are proved.
//
// Whoever has to make the table, or to delete one that is to be replaced, does so between [`begin`]
// and [`BegunLoad::run`]. A load that was killed in between has entered no attempt into its state: it
// begins anew.

/// A load that can be run, or can only report why not.
pub struct BegunLoad {
    pub(super) load: Load,
    pub(super) halt: RunHalt,
    pub(super) entries: Entries,
    /// `None`: it ends here.
    pub(super) setting: Option<RunSetup>,
    /// Rows that would be rejected, of a load that ends because of them.
    pub(super) refused: Option<BlockingRejects>,
    pub(super) keys: KeysReport,
    /// Whether an earlier attempt had done a part.
    pub(super) resumed: bool,
    pub(super) at: Instant,
}

/// A table that can be written to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadyTable {
    /// What it held before the run.
    pub table_at_start: TableAtStart,
    /// What tells it from another of its name.
    pub table_id: Option<String>,
    /// Write units a second to begin with, where it takes no more at first.
    pub start: Option<f64>,
    /// How long it took to make it ready, which is no time of the load.
    pub took: Duration,
}

/// Opens the source, plans, and proves the keys. Never fails but in its report.
pub async fn begin(mut load: Load) -> BegunLoad {
    let at = Instant::now();
    // A plan writes nothing: the files may be those of a load that goes on, or is to go on.
    let (rejects, archive) = if load.options.doing == ItemAction::Plan {
        (LineFile::nowhere(), LineFile::nowhere())
    } else {
        let options = &load.options;
        (
            LineFile::rejects(options.rejects_file.clone()),
            LineFile::archive(options.archive_file.clone(), &load.model.table),
        )
    };
    let mut entries = Entries::new(&load.model, rejects, archive);
    let mut done = EarlierProgress::default();
    if let Some(opened) = load.state.take() {
        let (state, earlier) = EarlierProgress::of(opened);
        entries.state = Some(state);
        done = earlier;
    }
    let source = load.source.take();
    let mut begun = BegunLoad {
        resumed: done.is_there(),
        load,
        halt: RunHalt::default(),
        entries,
        setting: None,
        refused: None,
        keys: KeysReport::default(),
        at,
    };
    match source {
        None => begun.halt.set(Failure::Internal("a load has no source")),
        Some(source) => match Box::pin(begun.set(source, done)).await {
            Ok(setting) => begun.setting = Some(setting),
            Err(why) => begun.halt.set(why),
        },
    }
    begun
}

impl BegunLoad {
    /// Opens the snapshot, plans, and proves the keys.
    async fn set(
        &mut self,
        mut source: Box<dyn Source>,
        done: EarlierProgress,
    ) -> Result<RunSetup, EndReason> {
        if self.load.options.prune.is_some() {
            ItemTypeMarks::of(&self.load.model).map_err(Failure::from)?;
        }
        let cancel = self.load.cancel.clone();
        let (stamp, mut done, plan) = tokio::select! {
            opened = self.open(source.as_mut(), done) => opened?,
            () = cancel.cancelled() => return Err(EndReason::Cancelled),
        };
        if done.everything_again {
            done.again = plan.chunks().map(|(id, _)| id).collect();
        }
        let load = &self.load;
        let mut slot = Some(source);
        let proved = prove(load, &plan, &mut slot).await?;
        if proved.contest.has_ties() && !done.skip.is_empty() {
            // Which of two equal rows was loaded is not known any more.
            done.read_again();
            self.entries.go_on(&done)?;
        }
        for (index, books) in done.skip.values().flatten() {
            self.entries.enter(*index, books.clone());
        }
        let begins = proved.begins(load.options.max_rejects);
        self.keys = KeysReport {
            check: load.options.keys,
            not_compared: match load.options.keys {
                // Of a chunk that was handed out, `finish` says it.
                KeyCheck::Late if load.options.handed.is_none() => {
                    let mut item_types = rivals(&load.model);
                    if load.options.selection.rows.is_some() {
                        let passes = load.model.passes.iter();
                        item_types.extend(passes.flat_map(|pass| &pass.item_types));
                    }
                    names(&load.model, &item_types)
                }
                _ => Vec::new(),
            },
            ..proved.keys
        };
        if !begins {
            self.refused = Some(proved.rejects);
            return Err(EndReason::TooManyRejects);
        }
        let lost = || Failure::Internal("the source did not come back from the proof of keys");
        let source = slot.ok_or_else(lost)?;
        // Rows that are gone since an earlier attempt have left their items behind, where the source
        // has changed. Among items that were there before they would not be known.
        let stale = done.changed && done.table_at_start == Some(TableAtStart::Empty);
        let replaces_rows = load.options.prune.is_some() || load.options.doing != ItemAction::Put;
        let setting = RunSetup {
            overlooked: done.changed && !stale && !replaces_rows,
            source,
            plan,
            done,
            stamp,
            ready: ReadyTable::default(),
            journal: None,
            rules: rules(load, proved.contest, stale),
            stale,
        };
        if setting.rules.keep_filtered {
            read_unmatched(&mut self.load.model);
        }
        Ok(setting)
    }

    /// Opens the snapshot and plans: what tells the source's state, and what of earlier attempts counts.
    async fn open(
        &mut self,
        source: &mut dyn Source,
        done: EarlierProgress,
    ) -> Result<(Option<String>, EarlierProgress, ChunkPlan), EndReason> {
        let Load { model, options, .. } = &self.load;
        if !self.load.begun {
            source.begin(&model.scans()).await?;
        }
        let stamp = source.identity().await?.stamp;
        let stamp = stamp.filter(|_| !model.passes.iter().any(|pass| pass.fickle));
        let mut done = done.under(stamp.as_deref(), source.dbms(), model);
        if wants_all_keys(&self.load) {
            done.read_again();
        }
        self.entries.go_on(&done)?;
        let plan = match done.plan.clone() {
            Some(plan) => plan,
            None => match &options.handed {
                Some(handed) => handed.plan(model),
                None => ChunkPlan::cut(source, model, options.chunk_rows).await?,
            },
        };
        Ok((stamp, done, plan))
    }
}

/// Has rows read that conditions leave out, where their items are told from those whose rows are gone.
fn read_unmatched(model: &mut Arc<Model>) {
    for pass in &mut Arc::make_mut(model).passes {
        pass.scan.keep_unmatched = true;
    }
}

/// What earlier attempts at a run have done, and how much of it still counts. A chunk that is done is skipped where the
/// database proves that nothing has changed since. Where it cannot, the chunk is read again and only what differs is written.
#[derive(Debug, Default)]
pub(super) struct EarlierProgress {
    /// The plan they followed; `None`: there is none to go on with.
    plan: Option<ChunkPlan>,
    /// Chunks that need not be read.
    pub(super) skip: BTreeMap<ChunkId, ChunkBooks>,
    /// Chunks that are read again, and written where the table differs.
    pub(super) again: HashSet<ChunkId>,
    /// Whether that is so of all chunks of a plan that is still to be made.
    everything_again: bool,
    /// Whether rows may have changed since an earlier attempt wrote their items.
    changed: bool,
    /// What the table held before the first attempt; `None` where this is the first.
    table_at_start: Option<TableAtStart>,
    stamps: Vec<Option<String>>,
    /// How far the files beside the table count, by their names.
    extents: BTreeMap<String, CommittedExtent>,
}

impl Entries {
    /// Goes on with the files beside the table. Where no chunk is skipped they begin anew: each of
    /// their lines comes again.
    fn go_on(&mut self, done: &EarlierProgress) -> Result<(), Failure> {
        if !done.is_there() {
            return Ok(());
        }
        let anew = done.skip.is_empty();
        if anew && let Some(state) = &mut self.state {
            // The state first: a file that is shorter than it says was changed by somebody else.
            let forgotten = state.forget_extents();
            forgotten?;
        }
        for file in [&mut self.rejects, &mut self.archive] {
            let extent = done.extents.get(file.which.name());
            let extent = extent.filter(|_| !anew).cloned();
            file.resume(&extent.unwrap_or_default())?;
        }
        Ok(())
    }
}

impl EarlierProgress {
    /// Takes a state apart that was opened, and what earlier attempts have done.
    fn of(opened: Opened) -> (State, Self) {
        let (state, earlier) = match opened {
            Opened::New(state) => return (state, Self::default()),
            Opened::Damaged(state, _) => {
                let done = Self {
                    everything_again: true,
                    table_at_start: Some(TableAtStart::Held),
                    ..Self::default()
                };
                return (state, done);
            }
            Opened::Again(state, earlier) => (state, earlier),
        };
        let plan = state.planned();
        let planned = plan.chunks().next().is_some();
        let table_at_start = earlier.table_at_start();
        let stamps = earlier.attempts.into_iter();
        let done = Self {
            everything_again: !planned,
            plan: planned.then(|| plan.clone()),
            skip: state.done().clone(),
            again: HashSet::new(),
            table_at_start: Some(table_at_start),
            changed: false,
            extents: earlier.extents,
            stamps: stamps.map(|attempt| attempt.stamp).collect(),
        };
        (state, done)
    }

    /// Whether there was an earlier attempt.
    fn is_there(&self) -> bool {
        self.table_at_start.is_some()
    }

    /// What of it counts under the snapshot of now.
    fn under(mut self, stamp: Option<&str>, dbms: Dbms, model: &Model) -> Self {
        let unchanged = stamp.is_some()
            && self
                .stamps
                .iter()
                .all(|earlier| earlier.as_deref() == stamp);
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
    fn read_again(&mut self) {
        self.again
            .extend(std::mem::take(&mut self.skip).into_keys());
    }
}
