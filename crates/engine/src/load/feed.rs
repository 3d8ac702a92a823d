//! From the source to the fold: what all runs make of a row, and reading all rows for one purpose.

use std::sync::Arc;

use dynafold_dynamodb::Item;
use dynafold_mapping::item::{Elements, Folded, Folder, Reject};
use dynafold_mapping::model::{Expired, Model};
use dynafold_relational::value::Value;
use dynafold_source::{Row, Source};

use super::ending::{Cancel, Failure, Why};
use super::lanes::{Lanes, Reading};
use super::plan::{ChunkId, Plan};
use super::row::meets;
use crate::proof::ProofError;

/// Reads all rows of a plan, and folds them.
pub(crate) struct Walk<'w> {
    pub(crate) model: &'w Arc<Model>,
    pub(crate) folder: Folder,
    pub(crate) plan: &'w Plan,
    pub(crate) lanes: usize,
    pub(crate) cancel: &'w Cancel,
}

impl Walk<'_> {
    /// Gives `each` what became of every row; `each` says whether to go on. `source` has the snapshot
    /// open, and is given back where it still stands.
    pub(crate) async fn each(
        self,
        source: &mut Option<Box<dyn Source>>,
        mut each: impl FnMut(usize, &Row, Fate) -> Result<bool, Unproved>,
    ) -> Result<(), Unproved> {
        let failed = |error| Unproved::Failed(Failure::from(&error));
        let Some(lent) = source.take() else {
            let failure = "the source did not come back from an earlier reading";
            return Err(Unproved::Failed(Failure::internal(failure)));
        };
        let model = self.model;
        let mut sieve = Sieve::new(self.folder);
        let chunks = self.plan.chunks().map(|(id, part)| (id, part.clone()));
        let issue = Arc::new(|id: ChunkId| id);
        let mut lanes = Lanes::open(lent, model.clone(), chunks, self.lanes, issue)
            .await
            .map_err(failed)?;
        let end = loop {
            let read = tokio::select! {
                biased;
                () = self.cancel.cancelled() => break Err(Unproved::Cancelled),
                read = lanes.next() => read,
            };
            match read {
                None => break Ok(()),
                Some(Reading::Failed(error)) => break Err(failed(error)),
                Some(Reading::End { .. }) => {}
                Some(Reading::Again { .. }) => break Err(Unproved::Again),
                Some(Reading::Rows { ticket, rows, .. }) => {
                    let pass = model.passes.get(ticket.pass);
                    let item_types = pass.map_or(&[][..], |pass| &pass.item_types);
                    match sieve.all(model, item_types, rows.rows, &mut each) {
                        Ok(true) => {}
                        Ok(false) => break Ok(()),
                        Err(unproved) => break Err(unproved),
                    }
                }
            }
        };
        *source = lanes.finish().await.0;
        end
    }
}

/// What became of a row, or of an element of it, for one item type.
#[derive(Debug)]
pub(crate) enum Fate {
    /// The row has no item that DynamoDB would take.
    Rejected(Box<Reject>),
    /// The row's item has expired and is not to be loaded: [`Folded::expired`] says what becomes
    /// of it. Its key is free for another row's item.
    Expired(Box<Folded>),
    /// The row is an item.
    Made(Folded),
}

impl Fate {
    /// The item, as far as it was made.
    pub(crate) fn item(&self) -> Option<&Item> {
        match self {
            Self::Rejected(reject) => reject.item_so_far.as_ref(),
            Self::Expired(folded) => Some(&folded.item),
            Self::Made(folded) => Some(&folded.item),
        }
    }
}

/// Decides what becomes of rows. Whether keys are shared is found elsewhere.
pub(crate) struct Sieve {
    pub(crate) folder: Folder,
}

impl Sieve {
    pub(crate) fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// Says what becomes of the next element of a row that meets the item type's condition: of the
    /// row itself, where nothing is exploded. `None` after the last.
    pub(crate) fn next(
        &mut self,
        index: usize,
        elements: &mut Elements<'_>,
        row: &mut [Value],
    ) -> Option<Fate> {
        let folded = match elements.next(row) {
            Ok(false) => return None,
            Ok(true) => self.folder.fold(index, row),
            Err(reject) => Err(reject),
        };
        Some(match folded {
            Err(reject) => Fate::Rejected(reject),
            Ok(folded) if folded.expired != Expired::Load => Fate::Expired(Box::new(folded)),
            Ok(folded) => Fate::Made(folded),
        })
    }
}

impl Sieve {
    /// Gives `each` what becomes of rows, until it says that it is enough: `false`.
    fn all(
        &mut self,
        model: &Model,
        item_types: &[usize],
        rows: Vec<Row>,
        each: &mut impl FnMut(usize, &Row, Fate) -> Result<bool, Unproved>,
    ) -> Result<bool, Unproved> {
        for mut row in rows {
            for index in item_types {
                let Some(item_type) = model.item_types.get(*index) else {
                    continue;
                };
                if !meets(item_type, &row) {
                    continue;
                }
                let mut elements = Elements::new(&item_type.explodes);
                while let Some(fate) = self.next(*index, &mut elements, &mut row) {
                    if !each(*index, &row, fate)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}

/// Why a reading of all rows did not come to its end.
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
