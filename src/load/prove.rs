//! The proof that no two items have one key, made before the first write.
//!
//! Where `check` has not proved it from the schema, the same snapshot is read once for the keys
//! alone ([`super::narrow`]); their fingerprints go to sorted runs on disk ([`crate::proof`]).
//! Where keys are shared, the rows are looked for by reading once more, so that both can be named.

use std::sync::Arc;

use super::contest::{Contest, locator};
use super::failure::Failure;
use super::feed::{Fate, RowKey, Sieve, meets, row_key};
use super::halt::{Cancel, Why};
use super::lanes::{Lanes, Read};
use super::narrow::narrow;
use super::plan::Plan;
use super::progress::{Progress, Step};
use super::rejects::Rejected;
use super::rules::Selection;
use super::ticket::ChunkId;
use crate::item::{Elements, Folded, Folder};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::proof::{self, Groups, Proof, ProofError};
use crate::source::{Row, Source};

/// Keys whose rows are looked for.
const NAMED: usize = 10_000;
/// Rows that are named where the run does not begin because of them.
const LOSERS: usize = 1_000;

/// What the proof needs.
pub(crate) struct Keys<'k> {
    pub(crate) model: &'k Model,
    pub(crate) context: &'k Context,
    pub(crate) plan: &'k Plan,
    /// The rows and items that the run is about: no other is rejected, though it may win.
    pub(crate) selection: &'k Selection,
    pub(crate) lanes: usize,
    pub(crate) options: proof::Options,
    /// Shared keys beyond which nothing is loaded; `None`: every shared key has a winner.
    pub(crate) max_rejects: Option<u64>,
    pub(crate) cancel: &'k Cancel,
    pub(crate) progress: &'k dyn Progress,
}

/// What the proof found.
#[derive(Debug, Default)]
pub(crate) struct Proved {
    /// Keys that came.
    pub(crate) keys: u64,
    /// Items beyond the first of their keys.
    pub(crate) rejected: u64,
    /// Who wins.
    pub(crate) contest: Contest,
    /// Bytes that went to disk.
    pub(crate) spilled: u64,
    /// The first rows that are not loaded: their items as far as keys are made.
    losers: Vec<(usize, RowKey, Folded)>,
}

impl Proved {
    /// Takes the shared keys in, and who wins them. A run that does not begin needs no winners but
    /// for those that are named: memory is not to grow with the data.
    fn take(&mut self, groups: &mut Groups, max_rejects: Option<u64>) -> Result<(), ProofError> {
        loop {
            // The first wins, be it outside; of the others those inside lose.
            let mut losers = 0;
            let group = groups.next_group(2, |at| losers += u64::from(at & 1 == 0))?;
            let Some(group) = group else { return Ok(()) };
            if losers == 0 {
                continue;
            }
            self.rejected += losers;
            let begins = max_rejects.is_none_or(|most| self.rejected <= most);
            if begins || self.contest.len() < NAMED {
                let locators: Vec<u64> = group.locators.iter().map(|at| at >> 1).collect();
                self.contest.enter(group.fingerprint, &locators);
            }
        }
    }

    /// The first of the rows that share a key with another and are not loaded.
    pub(super) fn losers(self, model: &Model) -> Vec<Rejected> {
        let Self {
            contest, losers, ..
        } = self;
        let rejects = losers.into_iter();
        rejects
            .map(|(index, row, folded)| contest.reject(model, index, row, &folded))
            .collect()
    }
}

/// Why there is no proof.
#[derive(Debug)]
pub(crate) enum Unproved {
    /// The caller wished it.
    Cancelled,
    /// A connection broke, and another one reads from the beginning.
    Again,
    /// The source or the disk failed.
    Failed(Failure),
}

impl From<Unproved> for Why {
    fn from(unproved: Unproved) -> Self {
        match unproved {
            Unproved::Cancelled | Unproved::Again => Self::Cancelled,
            Unproved::Failed(failure) => Self::Failed(failure),
        }
    }
}

impl From<ProofError> for Unproved {
    fn from(error: ProofError) -> Self {
        Self::Failed(Failure::new("keys", &error, Some(error.help())))
    }
}

impl Keys<'_> {
    /// A mapping with nothing left but what its keys need.
    pub(crate) fn narrow(model: &Model) -> Arc<Model> {
        Arc::new(narrow(model))
    }

    /// Reads all keys. `source` has the snapshot open, and is given back where it still has.
    pub(crate) async fn prove(
        &self,
        source: &mut Option<Box<dyn Source>>,
    ) -> Result<Proved, Unproved> {
        self.progress.step(Step::ProvingKeys);
        let model = Self::narrow(self.model);
        loop {
            match self.attempt(&model, source).await {
                // Rows that came twice would look as if they shared a key.
                Err(Unproved::Again) => {}
                ended => return ended,
            }
        }
    }

    async fn attempt(
        &self,
        model: &Arc<Model>,
        source: &mut Option<Box<dyn Source>>,
    ) -> Result<Proved, Unproved> {
        let mut proof = Proof::new(self.options.clone());
        let mut full = None;
        self.each(model, source, |index, row, folded| {
            let Some(item_type) = model.item_types.get(index) else {
                return true;
            };
            // Keys of other partitions are other keys.
            if !self.selection.holds_item(&model.table, Some(&folded.item)) {
                return true;
            }
            let at = locator(index, item_type, &row_key(item_type, row), &folded.item);
            let outside = !self.selection.holds_row(item_type, row);
            match proof.push(folded.fingerprint, (at << 1) | u64::from(outside)) {
                Ok(()) => true,
                Err(error) => {
                    full = Some(error);
                    false
                }
            }
        })
        .await?;
        if let Some(error) = full {
            return Err(error.into());
        }
        self.progress.step(Step::ComparingKeys);
        let mut proved = Proved {
            keys: proof.keys(),
            ..Proved::default()
        };
        let mut groups = tokio::task::spawn_blocking(|| proof.finish())
            .await
            .map_err(|_| Unproved::Failed(Failure::internal("the comparison of keys died")))??;
        proved.spilled = groups.spilled();
        proved.take(&mut groups, self.max_rejects)?;
        if proved.rejected > 0 {
            self.progress.step(Step::NamingDuplicates);
            let contest = &mut proved.contest;
            let losers = &mut proved.losers;
            let mut left = NAMED;
            self.each(model, source, |index, row, folded| {
                if left > 0
                    && contest.is_contested(folded.fingerprint)
                    && let Some(item_type) = model.item_types.get(index)
                {
                    let key = row_key(item_type, row);
                    let at = locator(index, item_type, &key, &folded.item);
                    let loses = !contest.name(folded.fingerprint, at, index, &key);
                    let counts = loses && self.selection.holds_row(item_type, row);
                    if counts && losers.len() < LOSERS {
                        losers.push((index, key, folded.clone()));
                    }
                    left -= 1;
                }
                // To the end: a connection is good for another scan only then.
                true
            })
            .await?;
        }
        Ok(proved)
    }

    /// Folds every row of a mapping narrowed to its keys; `each` says whether to go on. `source` is
    /// given back where its snapshot still stands.
    pub(crate) async fn each(
        &self,
        model: &Arc<Model>,
        source: &mut Option<Box<dyn Source>>,
        mut each: impl FnMut(usize, &Row, &Folded) -> bool,
    ) -> Result<(), Unproved> {
        let mut sieve = Sieve::new(Folder::new(model, self.context.clone()));
        let failed = |error| Unproved::Failed(Failure::from(&error));
        let Some(lent) = source.take() else {
            let failure = "the source did not come back from an earlier reading";
            return Err(Unproved::Failed(Failure::internal(failure)));
        };
        let chunks = self.plan.chunks().map(|(id, part)| (id, part.clone()));
        let issue = Arc::new(|id: ChunkId| id);
        let mut lanes = Lanes::open(lent, model.clone(), chunks, self.lanes, issue)
            .await
            .map_err(failed)?;
        let mut end = Ok(());
        'reading: loop {
            let read = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    end = Err(Unproved::Cancelled);
                    break;
                }
                read = lanes.next() => read,
            };
            match read {
                None => break,
                Some(Read::Failed(error)) => {
                    end = Err(failed(error));
                    break;
                }
                Some(Read::End { .. }) => {}
                Some(Read::Again { .. }) => {
                    end = Err(Unproved::Again);
                    break;
                }
                Some(Read::Rows { ticket, rows, .. }) => {
                    let item_types = model.passes.get(ticket.pass).map(|pass| &*pass.item_types);
                    for mut row in rows.rows {
                        for index in item_types.unwrap_or_default() {
                            let Some(item_type) = model.item_types.get(*index) else {
                                continue;
                            };
                            if !meets(item_type, &row) {
                                continue;
                            }
                            let mut elements = Elements::new(&item_type.explodes);
                            while let Some(fate) = sieve.next(*index, &mut elements, &mut row) {
                                if let Fate::Made(folded) = fate
                                    && !each(*index, &row, &folded)
                                {
                                    break 'reading;
                                }
                            }
                        }
                    }
                }
            }
        }
        *source = lanes.finish().await.0;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_does_not_begin_holds_no_more_keys_than_are_named() {
        let shared = u64::try_from(NAMED).unwrap() + 100;
        for (max_rejects, held) in [
            (Some(0), NAMED),
            (Some(shared - 50), NAMED + 50),
            (Some(shared), NAMED + 100),
            (None, NAMED + 100),
        ] {
            let mut proof = Proof::new(proof::Options {
                memory: crate::load::KEY_MEMORY,
                folder: std::env::temp_dir(),
            });
            for key in 0..shared {
                proof.push(key.into(), 1).unwrap();
                proof.push(key.into(), 2).unwrap();
            }
            let mut proved = Proved::default();
            proved
                .take(&mut proof.finish().unwrap(), max_rejects)
                .unwrap();
            assert_eq!((proved.rejected, proved.contest.len()), (shared, held));
        }
    }
}
