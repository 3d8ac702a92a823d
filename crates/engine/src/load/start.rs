//! How a run begins: the snapshot, the plan, what earlier attempts have done, and the proof of
//! the keys; then the attempt in the state. The table is not touched here.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use dynafold_mapping::model::{Model, Pass};
use dynafold_relational::catalog::Dbms;
use dynafold_relational::scan::{By, Range, Scan};
use dynafold_source::{Source, SourceError};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::ending::{Failure, Halt, Why};
use super::files::LineFile;
use super::journal::Journal;
use super::ledger::{ChunkId, Opening};
use super::prove::{Contest, Keys, Proved, Told};
use super::report::{KeysReport, Report};
use super::state::{Attempt, ChunkBooks, Earlier, Extent, Ground, Opened, State, StateError};
use super::worker::{Doing, Rules};
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
        let mut done = done.under(stamp.as_deref(), source.dbms(), &load.options.never_null);
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
    load.options.prune.is_some() || load.options.keys == KeyCheck::Late || compares_again(load)
}

/// Whether the rows that are loaded may be others than those whose keys were compared before.
pub(super) fn compares_again(load: &Load) -> bool {
    load.options.keys == KeyCheck::First && load.model.passes.iter().any(|pass| pass.fickle)
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

/// Loads a table that is there already, and reports. Never fails but in its report.
pub async fn run(load: Load) -> Report {
    Box::pin(begin(load)).await.run(Ready::default()).await
}

impl Begun {
    /// Whether it writes: then its table is to be made ready now.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.setting.is_some() && !self.load.cancel.is_cancelled()
    }

    /// Loads and reports. Never fails but in its report.
    pub async fn run(mut self, ready: Ready) -> Report {
        if let Some(mut setting) = self.setting.take() {
            setting.ready = ready;
            match self.enter(&mut setting).await {
                Ok(()) => self.setting = Some(setting),
                Err(why) => self.halt.set(why),
            }
        }
        Box::pin(super::run::run(self)).await
    }

    async fn enter(&mut self, setting: &mut Setting) -> Result<(), Why> {
        let Load {
            target,
            model,
            cancel,
            ..
        } = &self.load;
        if cancel.is_cancelled() {
            return Err(Why::Cancelled);
        }
        if let Some(state) = &mut self.before.opening.state {
            // An attempt that is in the state has a journal of its own.
            let kept = setting.keep_journal(&self.load, state);
            kept.map_err(Why::Failed)?;
            let entered = setting.enter(&self.load, state);
            entered.map_err(|error| Why::Failed(Failure::of_state(&error)))?;
        }
        let started = tokio::select! {
            started = target.start(&model.table, true) => started,
            () = cancel.cancelled() => return Err(Why::Cancelled),
        };
        started.map_err(|error| Why::Failed(Failure::from(&error)))
    }
}

// What a run reads: the passes, each in chunks that are read, folded and entered one by one.

/// Fewest and most rows of a chunk, as far as the database can tell.
const ROWS: std::ops::RangeInclusive<u64> = 10_000..=250_000;
/// Chunks that a table is cut into, between those bounds.
const CHUNKS: u64 = 64;

/// What one chunk reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    /// All rows of the pass.
    Whole,
    /// The rows between two keys.
    Range(Range),
    /// No rows: children that find no parent are counted.
    Orphans,
}

/// The chunks of each pass.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) passes: Vec<Vec<Part>>,
}

impl Plan {
    /// Cuts the passes of a mapping. `estimates`: about how many rows each has; `wanted`: about how
    /// many rows a chunk is to have, where the caller knows better.
    pub(crate) async fn cut(
        source: &mut dyn Source,
        model: &Model,
        estimates: &[Option<u64>],
        wanted: Option<u64>,
    ) -> Result<Self, SourceError> {
        let mut passes = Vec::with_capacity(model.passes.len());
        for (index, pass) in model.passes.iter().enumerate() {
            if pass.item_types.is_empty() {
                // Left out by a selection.
                passes.push(Vec::new());
                continue;
            }
            let rows = estimates.get(index).copied().flatten();
            passes.push(parts(source, pass, wanted.unwrap_or_else(|| chunk(rows))).await?);
        }
        Ok(Self { passes })
    }

    /// Whether its ranges have all rows of another snapshot too. Places of rows live and die with theirs in
    /// PostgreSQL, and a row whose key has become NULL is in no range.
    fn covers(&self, dbms: Dbms, never_null: &[BTreeSet<String>]) -> bool {
        let mut passes = self.passes.iter().zip(never_null);
        self.passes.len() == never_null.len()
            && passes.all(|(parts, solid)| {
                parts.iter().all(|part| match part {
                    Part::Whole | Part::Orphans => true,
                    Part::Range(range) => match &range.by {
                        By::Key(columns) => columns.iter().all(|column| solid.contains(column)),
                        By::Place => dbms != Dbms::Postgres,
                    },
                })
            })
    }

    /// Every pass as one chunk.
    pub(crate) fn whole(model: &Model) -> Self {
        let passes = model.passes.iter();
        // Those without item types are left out by a selection.
        let passes = passes.map(|pass| match &*pass.item_types {
            [] => Vec::new(),
            _ => vec![Part::Whole],
        });
        Self {
            passes: passes.collect(),
        }
    }

    /// Whether a chunk is one of its.
    pub(super) fn holds(&self, id: ChunkId) -> bool {
        let pass = self.passes.get(id.pass);
        pass.is_some_and(|parts| id.chunk < parts.len())
    }

    /// All chunks in order: neighbours in the list are neighbours in a table.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (ChunkId, &Part)> {
        self.passes.iter().enumerate().flat_map(|(pass, parts)| {
            let parts = parts.iter().enumerate();
            parts.map(move |(chunk, part)| (ChunkId { pass, chunk }, part))
        })
    }
}

/// Rows of a chunk, for a pass of so many rows.
fn chunk(rows: Option<u64>) -> u64 {
    let wanted = rows.unwrap_or(0) / CHUNKS;
    wanted.clamp(*ROWS.start(), *ROWS.end())
}

async fn parts(
    source: &mut dyn Source,
    pass: &Pass,
    wanted: u64,
) -> Result<Vec<Part>, SourceError> {
    let ranges = source.cut(&pass.scan, wanted).await?;
    if ranges.len() < 2 {
        return Ok(vec![Part::Whole]);
    }
    let orphans = pass.scan.embeds().next().map(|_| Part::Orphans);
    Ok(ranges.into_iter().map(Part::Range).chain(orphans).collect())
}

/// The scan that reads a part of a pass; `None` where no rows are read.
pub(crate) fn scan_of(pass: &Pass, part: &Part) -> Option<Scan> {
    let range = match part {
        Part::Whole => None,
        Part::Range(range) => Some(range.clone()),
        Part::Orphans => return None,
    };
    Some(Scan {
        range,
        ..pass.scan.clone()
    })
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
            forgotten.map_err(|error| Failure::of_state(&error))?;
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
    pub(super) fn under(
        mut self,
        stamp: Option<&str>,
        dbms: Dbms,
        never_null: &[BTreeSet<String>],
    ) -> Self {
        let unchanged = stamp.is_some() && self.stamps.iter().all(|then| then.as_deref() == stamp);
        if self.stamps.is_empty() || unchanged {
            return self;
        }
        self.changed = true;
        self.read_again();
        if !self.plan.iter().all(|plan| plan.covers(dbms, never_null)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_holds_for_other_rows_only_where_its_ranges_have_them_all() {
        let range = |by: By| {
            Part::Range(Range {
                by,
                after: None,
                to: None,
            })
        };
        let key = || range(By::Key(vec!["id".to_owned()]));
        let plan = |parts: Vec<Part>| Plan {
            passes: vec![parts],
        };
        let solid = [BTreeSet::from(["id".to_owned()])];
        let none = [BTreeSet::new()];
        for (part, dbms, never_null, covers) in [
            (key(), Dbms::Mysql, &solid[..], true),
            (key(), Dbms::Mysql, &none[..], false),
            (key(), Dbms::Mysql, &[][..], false),
            (range(By::Place), Dbms::Sqlite, &none[..], true),
            (range(By::Place), Dbms::Postgres, &solid[..], false),
            (Part::Whole, Dbms::Postgres, &none[..], true),
        ] {
            let plan = plan(vec![part]);
            assert_eq!(plan.covers(dbms, never_null), covers, "{plan:?}");
        }
    }
}
