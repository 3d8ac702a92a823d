//! How a comparison begins: the snapshot, the plan, the proof of keys, and the draw of a sample.

use super::Verify;
use super::sample::{Draw, thin};
use crate::load::{
    Contest, Failure, Fate, KeyCheck, KeyPass, Part, Plan, Selection, Unproved, Why,
};
use crate::source::Source;

/// Everything that is needed before the first row.
pub(super) struct Setting {
    pub(super) source: Box<dyn Source>,
    pub(super) plan: Plan,
    /// Which of the rows that share a key is expected.
    pub(super) contest: Contest,
    /// The last hash that is in the sample.
    pub(super) last: Option<u64>,
    /// Whether every chunk is read.
    pub(super) whole: bool,
}

/// Opens the snapshot and finds out what is to be read.
pub(super) async fn set(verify: &Verify, mut source: Box<dyn Source>) -> Result<Setting, Why> {
    let failed = |error| Why::Failed(Failure::from(&error));
    let opened = async {
        source.begin().await.map_err(failed)?;
        let plan = Plan::cut(source.as_mut(), &verify.model, &verify.estimates, None);
        Ok::<_, Why>(without_orphans(plan.await.map_err(failed)?))
    };
    let plan = tokio::select! {
        biased;
        () = verify.cancel.cancelled() => return Err(Why::Cancelled),
        plan = opened => plan?,
    };
    let selection = verify.options.selection();
    let mut slot = Some(source);
    let contest = match verify.options.keys {
        KeyCheck::Proved => Contest::default(),
        KeyCheck::First | KeyCheck::Late => {
            let proved = keys(verify, &plan, &selection).prove(&mut slot).await;
            proved.map_err(Why::from)?.contest
        }
    };
    let chunks = plan.chunks().count();
    let (mut plan, mut last) = (plan, None);
    if let Some(sample) = verify.options.sample {
        plan = thin(plan, sample, &verify.model, &verify.estimates);
        last = Some(draw(verify, &plan, &selection, sample, &mut slot).await?);
    }
    let source = slot.ok_or_else(|| {
        Why::Failed(Failure::internal(
            "the source did not come back from an earlier reading",
        ))
    })?;
    Ok(Setting {
        whole: plan.chunks().count() == chunks,
        source,
        plan,
        contest,
        last,
    })
}

/// Children that find no parent are in no item: nothing is to be compared of them.
fn without_orphans(mut plan: Plan) -> Plan {
    for parts in &mut plan.passes {
        parts.retain(|part| *part != Part::Orphans);
    }
    plan
}

fn keys<'v>(verify: &'v Verify, plan: &'v Plan, selection: &'v Selection) -> KeyPass<'v> {
    KeyPass {
        model: &verify.model,
        context: &verify.context,
        plan,
        selection,
        lanes: verify.options.lanes(),
        options: verify.options.proof.clone(),
        max_rejects: None,
        cancel: &verify.cancel,
        progress: verify.progress.as_ref(),
    }
}

/// Reads the keys of the chunks that a sample is drawn from.
async fn draw(
    verify: &Verify,
    plan: &Plan,
    selection: &Selection,
    sample: u64,
    source: &mut Option<Box<dyn Source>>,
) -> Result<u64, Why> {
    let narrow = KeyPass::narrow(&verify.model);
    loop {
        let mut draw = Draw::new(sample);
        let read = keys(verify, plan, selection)
            .each(&narrow, source, |_, _, fate| {
                if let Fate::Made(folded) = fate
                    && selection.holds_item(&verify.model.table, Some(&folded.item))
                {
                    draw.take(folded.fingerprint);
                }
                true
            })
            .await;
        match read {
            Ok(()) => return Ok(draw.last()),
            // A connection broke, and keys came twice.
            Err(Unproved::Again) => {}
            Err(unproved) => return Err(unproved.into()),
        }
    }
}
