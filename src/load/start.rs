//! How a run begins: the snapshot, the plan, what earlier attempts have done, and the proof of
//! the keys. Nothing is written here.

use std::collections::HashSet;

use super::annex::Annex;
use super::books::{Books, Failure};
use super::contest::Contest;
use super::halt::Why;
use super::plan::{Part, Plan};
use super::prove::{Keys, Proved, Unproved};
use super::rules::Rules;
use super::state::{Attempt, State};
use super::ticket::ChunkId;
use super::{KeyCheck, Load};
use crate::proof::Proof;
use crate::source::{By, Source};

/// Everything that a run needs before its first row.
pub(super) struct Setting {
    pub(super) source: Box<dyn Source>,
    pub(super) plan: Plan,
    /// Chunks that are done, and proved unchanged.
    pub(super) skip: HashSet<ChunkId>,
    /// Chunks that were done, or may have been: only what differs in the table is written.
    pub(super) again: HashSet<ChunkId>,
    /// The books of what is done, by item type.
    pub(super) entered: Vec<Books>,
    pub(super) rules: Rules,
    pub(super) proved: Proved,
}

/// Opens the snapshot and makes the plan.
pub(super) async fn set(
    load: &mut Load,
    mut source: Box<dyn Source>,
    state: Option<&mut State>,
) -> Result<Setting, Why> {
    let failed = |error| Why::Failed(Failure::from(&error));
    let cancel = load.cancel.clone();
    let opened = async {
        load.target
            .start(&load.model.table, load.options.fresh)
            .await
            .map_err(|error| Why::Failed(Failure::from(&error)))?;
        source.begin().await.map_err(failed)?;
        source.identity().await.map_err(failed)
    };
    let identity = tokio::select! {
        opened = opened => opened?,
        () = cancel.cancelled() => return Err(Why::Cancelled),
    };
    let earlier = match &state {
        Some(state) => Earlier::of(state, load, identity.stamp.as_deref())?,
        None => Earlier::default(),
    };
    let plan = match earlier.plan {
        Some(plan) => plan,
        None => tokio::select! {
            plan = Plan::cut(source.as_mut(), &load.model, &load.options.estimates) => {
                plan.map_err(failed)?
            }
            () = cancel.cancelled() => return Err(Why::Cancelled),
        },
    };
    let mut again = earlier.again;
    if earlier.everything {
        again = plan.chunks().map(|(id, _)| id).collect();
    }
    if let Some(state) = state {
        let begun = state.begin(&plan.written(&load.model), identity.stamp.as_deref());
        begun.map_err(|error| Why::Failed(Failure::of_state(&error)))?;
    }
    let mut slot = Some(source);
    let proved = if load.options.keys == KeyCheck::Prove {
        let keys = Keys {
            model: &load.model,
            context: &load.context,
            plan: &plan,
            lanes: load.options.lanes(),
            options: load.options.proof.clone(),
            cancel: &cancel,
            progress: load.progress.as_ref(),
        };
        keys.prove(&mut slot).await.map_err(|error| match error {
            Unproved::Cancelled | Unproved::Again => Why::Cancelled,
            Unproved::Failed(failure) => Why::Failed(failure),
        })?
    } else {
        Proved::default()
    };
    let Some(source) = slot else {
        let lost = "the source did not come back from the proof of keys";
        return Err(Why::Failed(Failure::internal(lost)));
    };
    Ok(Setting {
        source,
        plan,
        skip: earlier.skip,
        again,
        entered: earlier.entered,
        rules: Rules::new(&load.model, load.options.doing, load.options.selection.clone(), Contest::default()),
        proved,
    })
}
