//! The proof that no two items have one key, made before the first write.
//!
//! Where `check` has not proved it from the schema, the same snapshot is read once for the keys
//! alone ([`super::narrow`]); their fingerprints go to sorted runs on disk ([`crate::proof`]). Only what
//! is an item has a key: where keys are shared, all rows are read again and folded whole, and the keys
//! of items alone are compared. If some are shared still, the rows are looked for by reading once more,
//! so that both can be named.
//!
//! Rows that make no item are counted on the way, and noted: a load that may not reject so many ends
//! here, before anything is written.

use std::sync::Arc;

use super::contest::{Contest, locator};
use super::failure::Failure;
use super::feed::{Fate, RowKey, Sieve, meets, row_key};
use super::halt::{Cancel, Why};
use super::lanes::{Lanes, Read};
use super::lines::Lines;
use super::narrow::narrow;
use super::plan::Plan;
use super::progress::{Progress, Step};
use super::rejects::{NOTED, Rejected, line, note};
use super::report::RejectNote;
use super::rules::Selection;
use super::ticket::ChunkId;
use crate::item::{Elements, Folded, Folder};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::proof::{self, Groups, Proof, ProofError};
use crate::source::{Row, Source};

/// Keys whose rows are looked for, where the run does not begin because of them.
const NAMED: usize = 10_000;

/// What the proof needs.
pub(crate) struct Keys<'k> {
    pub(crate) model: &'k Model,
    pub(crate) context: &'k Context,
    pub(crate) plan: &'k Plan,
    /// The rows and items that the run is about: no other is rejected, though it may win.
    pub(crate) selection: &'k Selection,
    pub(crate) lanes: usize,
    pub(crate) options: proof::Options,
    /// Rejects beyond which nothing is loaded; `None`: every shared key has a winner.
    pub(crate) max_rejects: Option<u64>,
    pub(crate) cancel: &'k Cancel,
    pub(crate) progress: &'k dyn Progress,
}

/// What the proof found.
#[derive(Debug, Default)]
pub(crate) struct Proved {
    /// Keys that were compared.
    pub(crate) keys: u64,
    /// Items beyond the first of their keys.
    pub(crate) shared: u64,
    /// Who wins.
    pub(crate) contest: Contest,
    /// Bytes that went to disk.
    pub(crate) spilled: u64,
    /// Rows that make no item, as far as the reading met them.
    pub(crate) faults: u64,
    /// What is known of the rejected rows: those without an item, and where keys are shared those of
    /// the first keys.
    pub(super) told: Told,
}

/// Rejected rows of a load that does not begin because of them. Nothing of a load that does.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) notes: Vec<RejectNote>,
    pub(super) lines: Lines,
}

impl Told {
    fn tell(&mut self, model: &Model, reject: &Rejected) -> std::io::Result<()> {
        if self.notes.len() < NOTED {
            self.notes.push(note(model, reject));
        }
        let mut text = String::new();
        line(&mut text, model, reject);
        self.lines.append(&text)
    }
}

impl Proved {
    /// Whether a load that may reject so many rows begins.
    pub(crate) fn begins(&self, max_rejects: Option<u64>) -> bool {
        max_rejects.is_none_or(|most| self.faults + self.shared <= most)
    }

    /// Takes the shared keys in, and who wins them. A run that does not begin needs no winners but
    /// for those that are named: memory is not to grow with the data.
    fn take(&mut self, groups: &mut Groups, max_rejects: Option<u64>) -> Result<(), ProofError> {
        self.spilled = groups.spilled();
        loop {
            // The first wins, be it outside; of the others those inside lose.
            let mut losers = 0;
            let group = groups.next_group(2, |at| losers += u64::from(at & 1 == 0))?;
            let Some(group) = group else { return Ok(()) };
            if losers == 0 {
                continue;
            }
            self.shared += losers;
            if self.begins(max_rejects) || self.contest.len() < NAMED {
                let locators: Vec<u64> = group.locators.iter().map(|at| at >> 1).collect();
                self.contest.enter(group.fingerprint, &locators);
            }
        }
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

impl From<std::io::Error> for Unproved {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(Failure::scratch(&error))
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
        let narrow = Self::narrow(self.model);
        let mut proved = self.compare(&narrow, source).await?;
        if proved.shared > 0 {
            // A row that is rejected for another attribute than its key is no item, and has none.
            self.progress.step(Step::NamingDuplicates);
            let whole = Arc::new(self.model.clone());
            proved = self.compare(&whole, source).await?;
            if proved.shared > 0 {
                self.name(&whole, source, &mut proved).await?;
            }
        }
        Ok(proved)
    }

    /// Reads and compares keys until no connection breaks on the way: rows that came twice would look
    /// as if they shared a key.
    async fn compare(
        &self,
        model: &Arc<Model>,
        source: &mut Option<Box<dyn Source>>,
    ) -> Result<Proved, Unproved> {
        loop {
            match self.attempt(model, source).await {
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
        let mut proved = Proved::default();
        let mut failed = None;
        self.each(model, source, |index, row, fate| {
            let taken = self.meet(model, index, row, fate, &mut proof, &mut proved);
            failed = taken.err();
            failed.is_none()
        })
        .await?;
        if let Some(failed) = failed {
            return Err(failed);
        }
        self.progress.step(Step::ComparingKeys);
        proved.keys = proof.keys();
        let mut groups = tokio::task::spawn_blocking(|| proof.finish())
            .await
            .map_err(|_| Unproved::Failed(Failure::internal("the comparison of keys died")))??;
        proved.take(&mut groups, self.max_rejects)?;
        Ok(proved)
    }

    /// Takes what became of a row: the key of its item, or that it makes none.
    fn meet(
        &self,
        model: &Model,
        index: usize,
        row: &Row,
        fate: Fate,
        proof: &mut Proof,
        proved: &mut Proved,
    ) -> Result<(), Unproved> {
        let Some(item_type) = model.item_types.get(index) else {
            return Ok(());
        };
        // Keys of other partitions are other keys.
        if !self.selection.holds_item(&model.table, fate.item()) {
            return Ok(());
        }
        let outside = !self.selection.holds_row(item_type, row);
        match fate {
            Fate::Made(folded) => {
                let at = locator(index, item_type, &row_key(item_type, row), &folded.item);
                proof.push(folded.fingerprint, (at << 1) | u64::from(outside))?;
            }
            Fate::Rejected(reject) if !outside => {
                proved.faults += 1;
                // A reading that rejects as many as it likes says so when it loads.
                if self.max_rejects.is_some() {
                    let reject = Rejected::new(index, row_key(item_type, row), *reject);
                    proved.told.tell(model, &reject)?;
                }
            }
            Fate::Rejected(_) | Fate::Expired(_) => {}
        }
        Ok(())
    }

    /// Looks for the rows that share keys: the one that is loaded first, then those that are not.
    async fn name(
        &self,
        model: &Arc<Model>,
        source: &mut Option<Box<dyn Source>>,
        proved: &mut Proved,
    ) -> Result<(), Unproved> {
        let tells = !proved.begins(self.max_rejects);
        let mut losers: Vec<(usize, RowKey, Folded)> = Vec::new();
        let Proved { contest, told, .. } = proved;
        let mut failed = None;
        let end = self
            .each(model, source, |index, row, fate| {
                let Fate::Made(folded) = fate else {
                    return true;
                };
                let Some(item_type) = model.item_types.get(index) else {
                    return true;
                };
                if !contest.is_contested(folded.fingerprint) {
                    return true;
                }
                let key = row_key(item_type, row);
                let at = locator(index, item_type, &key, &folded.item);
                let loses = !contest.name(folded.fingerprint, at, index, &key);
                if !(tells && loses && self.selection.holds_row(item_type, row)) {
                    return true;
                }
                if contest.is_named(folded.fingerprint) {
                    let reject = contest.reject(model, index, key, &folded);
                    failed = told.tell(model, &reject).err();
                } else if losers.len() < NAMED {
                    losers.push((index, key, folded));
                }
                failed.is_none()
            })
            .await;
        if let Some(failed) = failed {
            return Err(failed.into());
        }
        match end {
            // What was named stays so, and the rest is counted.
            Err(Unproved::Again) | Ok(()) => {}
            Err(unproved) => return Err(unproved),
        }
        for (index, key, folded) in losers {
            let reject = contest.reject(model, index, key, &folded);
            told.tell(model, &reject)?;
        }
        Ok(())
    }

    /// Folds every row, and gives `each` what became of it; `each` says whether to go on. `source` is
    /// given back where its snapshot still stands.
    pub(crate) async fn each(
        &self,
        model: &Arc<Model>,
        source: &mut Option<Box<dyn Source>>,
        mut each: impl FnMut(usize, &Row, Fate) -> bool,
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
                                if !each(*index, &row, fate) {
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
            assert_eq!((proved.shared, proved.contest.len()), (shared, held));
        }
    }
}
