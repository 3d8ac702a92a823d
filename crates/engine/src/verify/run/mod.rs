//! The comparison as a run: reads, folds, asks the table, mends, adds up.

mod ending;
mod worker;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dynafold_dynamodb::{Attribute, Item};
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::Model;
use dynafold_mapping::template::Context;
use dynafold_source::Source;
use dynafold_target::Target;
use dynafold_target::retry::Policy;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::report::VerifyReport;
use crate::load::{
    Cancel, ChunkPart, ChunkPlan, ClosedLedger, ContestedKeys, DifferenceReader, EndReason,
    Failure, FeedEnd, Indistinguishable, IssueTicket, ItemTypeMarks, KeyCheck, KeyPass,
    LaneMessage, Lanes, MAX_NOTED, Progress, Reader, RepairWriter, RowBlock, RowCounts, RowOutcome,
    RunHalt, RunSelection, RunStep, crew, deletes_expired, lane_count, narrow, processors,
    require_same_table, spread, table_id,
};
use crate::proof;
use crate::proof::Proof;
use ending::{
    FindingsLedger, FindingsSheet, RunFindings, SampleThreshold, UnexpectedItems, excused, look,
    thin,
};
use worker::{CompareWorker, judge};

/// Blocks that wait for a worker.
const BLOCKS_AHEAD: usize = 2;

/// Compares and reports. Never fails but in its report.
pub async fn verify(mut verify: Verify) -> VerifyReport {
    let begun = Instant::now();
    let halt = RunHalt::default();
    let mut setting = None;
    match verify.source.take() {
        None => halt.set(Failure::Internal("a comparison has no source")),
        Some(source) => match set(&verify, source).await {
            Ok(set) => setting = Some(set),
            Err(why) => halt.set(why),
        },
    }
    let ledger = FindingsLedger::new(Mutex::new(RunFindings::new(
        verify.model.item_types.len(),
        verify.examples,
        MAX_NOTED,
    )));
    let mut run = VerifyRun {
        owners: Arc::new(ItemTypeMarks::of(&verify.model)),
        ledger,
        forgotten: Mutex::default(),
        halt,
        mended: ClosedLedger::default(),
        unexpected: UnexpectedItems::default(),
        warnings: Vec::new(),
        whole: setting.as_ref().is_some_and(|setting| setting.whole),
        verify,
    };
    if let Some(setting) = setting
        && let Err(why) = run.run(setting).await
    {
        run.halt.set(why);
    }
    run.report(begun.elapsed())
}

/// A comparison that goes on.
struct VerifyRun {
    verify: Verify,
    owners: Arc<Result<ItemTypeMarks, Indistinguishable>>,
    ledger: FindingsLedger,
    /// The attempts of sheets whose chunks were read again.
    forgotten: Mutex<HashSet<u64>>,
    halt: RunHalt,
    mended: ClosedLedger,
    unexpected: UnexpectedItems,
    /// What the source has to say at the end.
    warnings: Vec<String>,
    /// Whether every chunk is read.
    whole: bool,
}

/// What the workers share.
struct VerifyShared {
    model: Arc<Model>,
    contest: ContestedKeys,
    selection: RunSelection,
    /// The last hash that is in the sample.
    last: Option<u64>,
    /// Where the keys of all items go, where what is unexpected is looked for.
    keys: Option<Mutex<Proof>>,
    halt: RunHalt,
    progress: Arc<dyn Progress>,
}

impl VerifyShared {
    /// Whether the run is about what became of a row.
    fn holds(&self, outcome: &RowOutcome) -> bool {
        self.selection.holds_item(&self.model.table, outcome.item())
    }

    /// Whether an item is in the sample, where there is one.
    fn samples(&self, item: &Item) -> bool {
        let table = &self.model.table;
        self.last
            .is_none_or(|last| ending::order(ending::place(table, item)) <= last)
    }
}

impl VerifyRun {
    /// Compares everything with one table; what fails on the way is in the halt too.
    async fn run(&mut self, setting: VerifySetup) -> Result<(), EndReason> {
        let (target, name) = (&self.verify.target, &self.verify.model.table.name);
        let (target, table) = (target.clone(), name.clone());
        let id = table_id(&*target, &table).await?;
        self.compare(setting).await?;
        if !self.halt.is_set()
            && let Err(why) = require_same_table(&*target, &table, id.as_deref()).await
        {
            // What was looked for in may be another table than what was compared.
            self.unexpected = UnexpectedItems {
                why_not: self.unexpected.why_not.take(),
                ..UnexpectedItems::default()
            };
            return Err(why.into());
        }
        Ok(())
    }

    async fn compare(&mut self, setting: VerifySetup) -> Result<(), EndReason> {
        let verify = &self.verify;
        let _heeding = self.halt.watch_for_cancel(&verify.cancel);
        let mender = if verify.options.repair {
            let (target, model) = (verify.target.clone(), verify.model.clone());
            let (retry, ceiling) = (verify.options.retry, verify.options.ceiling);
            let mender = RepairWriter::start(target, model, retry, ceiling, self.halt.clone());
            Some(Arc::new(mender.await?))
        } else {
            None
        };
        let why_not = excused(&verify.options, &verify.model, &self.owners);
        let proof = || Mutex::new(Proof::new(verify.options.proof.clone()));
        let keys = why_not.is_none().then(proof);
        self.unexpected.why_not = why_not;
        let shared = Arc::new(VerifyShared {
            model: verify.model.clone(),
            contest: setting.contest,
            selection: verify.options.selection(),
            last: setting.last,
            keys,
            halt: self.halt.clone(),
            progress: verify.progress.clone(),
        });
        let Verify {
            target,
            model,
            context,
            ..
        } = &self.verify;
        let expires = deletes_expired(&**target, model, context.now).await?;
        let ttl = model.table.ttl.as_deref().filter(|_| expires);
        let (blocks, workers) = self.workers(&shared, mender.as_deref(), ttl);
        let lanes = lane_count(verify.options.readers);
        let chunks = spread(&setting.plan, lanes);
        let issue = self.issue(mender.clone());
        let model = verify.model.clone();
        match Lanes::open(setting.source, model, chunks, lanes, issue).await {
            Ok(mut lanes) => {
                self.read(&mut lanes, blocks, mender.as_deref()).await;
                self.warnings = lanes.finish().await.1;
            }
            Err(error) => self.halt.set(error),
        }
        // Workers end when no block can come.
        self.halt.join(workers, "a worker died").await;
        if let Some(mender) = mender {
            let lost = || Failure::Internal("what was repaired cannot be added up");
            self.mended = Arc::into_inner(mender).ok_or_else(lost)?.finish().await;
        }
        let keys = Arc::into_inner(shared).and_then(|shared| shared.keys);
        if let Some(keys) = keys.filter(|_| !self.halt.is_set()) {
            let keys = keys.into_inner();
            self.verify.progress.step(RunStep::LookingForUnexpected);
            let owners = (*self.owners).as_ref().ok();
            let forgotten = std::mem::take(self.forgotten.get_mut());
            self.unexpected = look(&self.verify, owners, keys, &forgotten).await?;
        }
        Ok(())
    }

    fn issue(&self, mender: Option<Arc<RepairWriter>>) -> IssueTicket<Arc<FindingsSheet>> {
        let (ledger, attempts) = (self.ledger.clone(), AtomicU64::new(0));
        Arc::new(move |id| {
            let attempt = attempts.fetch_add(1, Ordering::Relaxed);
            let ticket = mender.as_ref().map(|mender| mender.issue(id));
            Arc::new(FindingsSheet::new(id, attempt, ticket, ledger.clone()))
        })
    }

    fn workers(
        &self,
        shared: &Arc<VerifyShared>,
        mender: Option<&RepairWriter>,
        ttl: Option<&str>,
    ) -> (mpsc::Sender<RowBlock<Arc<FindingsSheet>>>, JoinSet<()>) {
        let verify = &self.verify;
        let folder = Folder::new(&verify.model, verify.context.clone());
        let count = processors();
        let requests = verify.target.concurrency().div_ceil(count).max(1);
        crew(BLOCKS_AHEAD, count, || {
            let (owners, expiring) = (self.owners.clone(), ttl.map(str::to_owned));
            let differ = DifferenceReader::new(
                verify.target.clone(),
                &verify.model.table,
                folder.clone(),
                Arc::new(move |index, folded, found: Option<Item>| {
                    judge(
                        (*owners).as_ref().ok(),
                        expiring.as_deref(),
                        index,
                        folded,
                        found.as_ref(),
                    )
                }),
                requests,
                self.halt.clone(),
            );
            CompareWorker {
                shared: shared.clone(),
                folder: folder.clone(),
                ttl: ttl.map(str::to_owned),
                differ,
                mending: mender.map(|mender| mender.mending(count)),
            }
        })
    }

    /// Hands blocks to the workers until the source or the run ends.
    async fn read(
        &self,
        lanes: &mut Lanes<Arc<FindingsSheet>>,
        blocks: mpsc::Sender<RowBlock<Arc<FindingsSheet>>>,
        mender: Option<&RepairWriter>,
    ) {
        let verify = &self.verify;
        let reader = Reader {
            model: &verify.model,
            progress: verify.progress.as_ref(),
            cancel: &verify.cancel,
            halt: &self.halt,
            pass: |sheet: &Arc<FindingsSheet>| sheet.id.pass,
            blocks,
        };
        let enter = |read: &LaneMessage<Arc<FindingsSheet>>| match read {
            LaneMessage::End { ticket: sheet, end } => {
                let pass = verify.model.passes.get(sheet.id.pass);
                for index in pass.iter().flat_map(|pass| &pass.item_types) {
                    let counts = RowCounts::of_chunk_end(&verify.model, *index, end);
                    sheet.count(*index, |books| books.count_rows(&counts));
                    verify.progress.rows(*index, end.left_out);
                }
            }
            LaneMessage::Again { ticket: sheet } => {
                sheet.forget();
                self.forgotten.lock().insert(sheet.attempt);
                if let (Some(mender), Some(ticket)) = (mender, &sheet.ticket) {
                    mender.forget(ticket);
                }
            }
            LaneMessage::Rows(_) | LaneMessage::Failed(_) => {}
        };
        reader.read(lanes, enter).await;
    }
}

/// A comparison to be made: source, target, mapping, and how to compare.
pub struct Verify {
    /// The source, whose snapshot is not open yet; `None` once the run has it.
    pub source: Option<Box<dyn Source>>,
    /// The table that is compared with the source.
    pub target: Arc<dyn Target>,
    /// The mapping. Item types that no pass makes are left aside.
    pub model: Arc<Model>,
    /// What templates need besides the row.
    pub context: Context,
    /// How to compare.
    pub options: VerifyOptions,
    /// Findings that the report names.
    pub examples: usize,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
}

/// How to compare.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Whether the keys are proved to differ; else rows that share one are found first, so that
    /// the same one of them is expected as a load writes.
    pub keys: KeyCheck,
    /// Items with this partition key value alone.
    pub partition: Option<Attribute>,
    /// So many items alone, from all over the source. What is unexpected is not looked for then.
    pub sample: Option<u64>,
    /// Whether missing and different items are written as they should be.
    pub repair: bool,
    /// Connections that read side by side; `None`: as many as the machine has processors for.
    pub readers: Option<usize>,
    /// When to write again what is repaired, and when to give up.
    pub retry: Policy,
    /// Most write units a second of what is repaired, indexes included.
    pub ceiling: Option<f64>,
    /// Memory and disk of the comparison of keys.
    pub proof: proof::ProofOptions,
}

impl VerifyOptions {
    /// The items that are compared.
    fn selection(&self) -> RunSelection {
        RunSelection {
            partition: self.partition.clone(),
            rows: None,
        }
    }
}

/// Everything that is needed before the first row: the snapshot, the plan, the proof of keys, and the draw of a sample.
struct VerifySetup {
    source: Box<dyn Source>,
    plan: ChunkPlan,
    /// Which of the rows that share a key is expected.
    contest: ContestedKeys,
    /// The last hash that is in the sample.
    last: Option<u64>,
    /// Whether every chunk is read.
    whole: bool,
}

/// Opens the snapshot and finds out what is to be read.
async fn set(verify: &Verify, mut source: Box<dyn Source>) -> Result<VerifySetup, EndReason> {
    let opened = async {
        source.begin(&verify.model.scans()).await?;
        let plan = ChunkPlan::cut(source.as_mut(), &verify.model, None);
        plan.await.map(without_orphans)
    };
    let plan = tokio::select! {
        biased;
        () = verify.cancel.cancelled() => return Err(EndReason::Cancelled),
        plan = opened => plan?,
    };
    let selection = verify.options.selection();
    let mut slot = Some(source);
    let contest = match verify.options.keys {
        KeyCheck::Proved => ContestedKeys::default(),
        KeyCheck::First | KeyCheck::Late => {
            let keys = keys(verify, &plan, &selection);
            keys.prove(&mut slot).await?.contest
        }
    };
    let chunks = plan.chunks().count();
    let (mut plan, mut last) = (plan, None);
    if let Some(sample) = verify.options.sample {
        let thinned = thin(plan.clone(), sample, &verify.model);
        let mut drawn = draw(verify, &thinned, &selection, sample, &mut slot).await?;
        if drawn.full || thinned.chunks().count() == chunks {
            plan = thinned;
        } else {
            // Few rows make items of the selection, and they may all be in the chunks that were left out.
            drawn = draw(verify, &plan, &selection, sample, &mut slot).await?;
        }
        last = Some(drawn.last());
    }
    let lost = || Failure::Internal("the source did not come back from an earlier reading");
    let source = slot.ok_or_else(lost)?;
    Ok(VerifySetup {
        whole: plan.chunks().count() == chunks,
        source,
        plan,
        contest,
        last,
    })
}

/// Children that find no parent are in no item: nothing is to be compared of them.
fn without_orphans(mut plan: ChunkPlan) -> ChunkPlan {
    for parts in &mut plan.passes {
        parts.retain(|part| *part != ChunkPart::Orphans);
    }
    plan
}

fn keys<'v>(verify: &'v Verify, plan: &'v ChunkPlan, selection: &'v RunSelection) -> KeyPass<'v> {
    KeyPass {
        model: &verify.model,
        context: &verify.context,
        plan,
        selection,
        rivals: &[],
        lanes: lane_count(verify.options.readers),
        options: verify.options.proof.clone(),
        max_rejects: None,
        cancel: &verify.cancel,
        progress: verify.progress.as_ref(),
    }
}

/// Reads the keys of the chunks that a sample is drawn from.
async fn draw(
    verify: &Verify,
    plan: &ChunkPlan,
    selection: &RunSelection,
    sample: u64,
    source: &mut Option<Box<dyn Source>>,
) -> Result<SampleThreshold, EndReason> {
    let narrow = Arc::new(narrow(&verify.model));
    let keys = keys(verify, plan, selection);
    loop {
        let mut draw = SampleThreshold::new(sample);
        let read = keys.walk(&narrow).each(source, |_, _, _, outcome| {
            if let RowOutcome::Made(folded) = outcome
                && selection.holds_item(&verify.model.table, Some(&folded.item))
            {
                draw.take(ending::place(&verify.model.table, &folded.item));
            }
            Ok(ControlFlow::Continue(()))
        });
        if read.await? == FeedEnd::Read {
            return Ok(draw);
        }
    }
}
