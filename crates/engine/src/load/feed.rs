//! From rows to their outcomes: the one way that a row takes in all runs, and reading all rows for one purpose.

use std::ops::ControlFlow;
use std::sync::Arc;

use dynafold_dynamodb::Item;
use dynafold_mapping::item::{ExplodedElements, Folded, Folder, ItemFacts, ItemText, Reject};
use dynafold_mapping::model::{Expired, ItemType, Model};
use dynafold_relational::value::Value;
use dynafold_source::{Chunk, LeftBehind, Row, Source};

use super::books::RowCounts;
use super::ending::{Cancel, EndReason};
use super::failure::Failure;
use super::lanes::{ChunkEnd, LaneMessage, Lanes};
use super::plan::{ChunkId, ChunkPlan};
use super::row::{RowKey, meets, row_key, take_row_key};
use super::scope::RunSelection;

/// What became of a row, or of an element of it, for one item type.
#[derive(Debug)]
pub(crate) enum RowOutcome {
    /// The row meets no condition of the item type, or is not selected.
    Filtered,
    /// The row has no item that DynamoDB would take.
    Rejected(Box<Reject>),
    /// The row's item has expired and is not to be loaded: [`Folded::expired`] says what becomes
    /// of it. Its key is free for another row's item.
    Expired(Box<Folded>),
    /// The row is an item.
    Made(Folded),
}

impl RowOutcome {
    /// The item, as far as it was made.
    pub(crate) fn item(&self) -> Option<&Item> {
        match self {
            Self::Filtered => None,
            Self::Rejected(reject) => reject.item_so_far.as_ref(),
            Self::Expired(folded) => Some(&folded.item),
            Self::Made(folded) => Some(&folded.item),
        }
    }

    /// The outcome of the next element of a row, or of the row itself where nothing is exploded; `None` after the last.
    /// The item type's condition has been asked before, and keys that rows share are found later.
    pub(crate) fn of(
        index: usize,
        elements: &mut ExplodedElements<'_>,
        row: &mut [Value],
        folder: &Folder,
    ) -> Option<Self> {
        next_of_row(elements, row, |row| folder.fold(index, row).into())
    }
}

fn next_of_row<T: From<RowOutcome>>(
    elements: &mut ExplodedElements<'_>,
    row: &mut [Value],
    fold: impl FnOnce(&[Value]) -> T,
) -> Option<T> {
    match elements.advance(row) {
        Ok(false) => None,
        Ok(true) => Some(fold(row)),
        Err(reject) => Some(RowOutcome::Rejected(reject).into()),
    }
}

impl From<Result<Folded, Box<Reject>>> for RowOutcome {
    fn from(folded: Result<Folded, Box<Reject>>) -> Self {
        match folded {
            Err(reject) => Self::Rejected(reject),
            Ok(folded) if folded.expired != Expired::Load => Self::Expired(Box::new(folded)),
            Ok(folded) => Self::Made(folded),
        }
    }
}

/// What became of a row whose item is written, where nothing has to be decided on its values.
pub(crate) enum WrittenRow {
    /// The item stands in the text.
    Item(ItemFacts),
    /// Nothing was written, and this is said of the row.
    Outcome(RowOutcome),
}

impl From<RowOutcome> for WrittenRow {
    fn from(outcome: RowOutcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl RowCounts {
    /// Counts the children of the item type's embeds that stand in no row.
    fn add_left_behind(&mut self, item_type: Option<&ItemType>, left: &[(usize, LeftBehind)]) {
        for (column, left) in left {
            if item_type.is_some_and(|item_type| item_type.embeds().contains(column)) {
                self.orphans += left.orphans;
                self.cut += left.cut;
            }
        }
    }

    /// Counts what the end of a chunk tells of an item type's rows: those that the source left out, and children without
    /// a row.
    pub(crate) fn of_chunk_end(model: &Model, index: usize, end: &ChunkEnd) -> Self {
        let mut counts = Self {
            rows_read: end.left_out,
            filtered: end.left_out,
            ..Self::default()
        };
        counts.add_left_behind(model.item_types.get(index), &end.orphans);
        counts
    }
}

/// The outcomes of a block's rows, one after the other: each row has one for every item type of its pass.
pub(crate) struct RowOutcomes<'m> {
    model: &'m Model,
    item_types: &'m [usize],
    /// The rows that the run is about.
    selection: Option<&'m RunSelection>,
    rows: std::vec::IntoIter<Row>,
    row: Row,
    /// Which of `item_types` is next for this row.
    next_type: usize,
    /// The elements of a row that meets the condition, and how many of them have had their outcome.
    open: Option<(ExplodedElements<'m>, u64)>,
    counts: Vec<RowCounts>,
}

impl<'m> RowOutcomes<'m> {
    pub(crate) fn new(
        model: &'m Model,
        item_types: &'m [usize],
        chunk: Chunk,
        selection: Option<&'m RunSelection>,
    ) -> Self {
        let counts = item_types.iter().map(|index| {
            let mut counts = RowCounts::default();
            counts.add_left_behind(model.item_types.get(*index), &chunk.left);
            counts
        });
        Self {
            counts: counts.collect(),
            model,
            item_types,
            selection,
            rows: chunk.rows.into_iter(),
            row: Row::default(),
            next_type: item_types.len(),
            open: None,
        }
    }

    /// The next outcome, with its item type. `None` after the last.
    pub(crate) fn next(&mut self, folder: &Folder) -> Option<(usize, &'m ItemType, RowOutcome)> {
        self.advance(|index, row| folder.fold(index, row).into())
    }

    /// As [`Self::next`]; an item goes into the text, where there is one.
    pub(crate) fn next_written(
        &mut self,
        folder: &Folder,
        mut text: Option<&mut ItemText>,
    ) -> Option<(usize, &'m ItemType, WrittenRow)> {
        self.advance(|index, row| {
            let text = text.as_deref_mut();
            let written = text.and_then(|text| folder.write(index, row, text));
            let outcome = || WrittenRow::Outcome(folder.fold(index, row).into());
            written.map_or_else(outcome, WrittenRow::Item)
        })
    }

    fn advance<T: From<RowOutcome>>(
        &mut self,
        mut fold: impl FnMut(usize, &[Value]) -> T,
    ) -> Option<(usize, &'m ItemType, T)> {
        loop {
            let Some(index) = self.item_types.get(self.next_type).copied() else {
                self.row = self.rows.next()?;
                self.next_type = 0;
                continue;
            };
            let item_type = self.model.item_types.get(index);
            let (Some(item_type), Some(counts)) = (item_type, self.counts.get_mut(self.next_type))
            else {
                self.next_type += 1;
                continue;
            };
            if let Some((elements, seen)) = &mut self.open {
                let next = next_of_row(elements, &mut self.row, |row| fold(index, row));
                if let Some(outcome) = next {
                    counts.expanded += u64::from(*seen > 0);
                    *seen += 1;
                    return Some((index, item_type, outcome));
                }
                counts.empty += u64::from(*seen == 0);
                self.open = None;
                self.next_type += 1;
                continue;
            }
            counts.rows_read += 1;
            let selected = |selection: &RunSelection| selection.takes_row(item_type, &self.row);
            if !meets(item_type, &self.row) || !self.selection.is_none_or(selected) {
                counts.filtered += 1;
                self.next_type += 1;
                return Some((index, item_type, RowOutcome::Filtered.into()));
            }
            self.open = Some((ExplodedElements::new(&item_type.explodes), 0));
        }
    }

    /// The row that the last outcome is of, with its element.
    pub(crate) fn row(&mut self) -> &mut Row {
        &mut self.row
    }

    /// What tells apart the row or the element that the last outcome is of. May be asked only once for each outcome: the
    /// values are moved out of a row that nobody needs any more.
    pub(crate) fn key(&mut self, item_type: &ItemType) -> RowKey {
        if item_type.explodes.is_empty() && self.next_type + 1 == self.item_types.len() {
            take_row_key(item_type, &mut self.row)
        } else {
            row_key(item_type, &self.row)
        }
    }

    /// What became of the rows so far, by item type.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (usize, &RowCounts)> {
        self.item_types.iter().copied().zip(&self.counts)
    }
}

/// Reads all rows of a plan, and folds them.
pub(crate) struct RowFeed<'w> {
    pub(crate) model: &'w Arc<Model>,
    pub(crate) folder: Arc<Folder>,
    pub(crate) plan: &'w ChunkPlan,
    pub(crate) lanes: usize,
    pub(crate) cancel: &'w Cancel,
}

/// How a reading ends that does not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeedEnd {
    /// Every row came once, up to the one with which it was enough.
    Read,
    /// A connection broke on the way. Rows would come twice then, so a caller that needs each of them once begins again.
    ConnectionLost,
}

impl RowFeed<'_> {
    /// Gives `each` the outcome of every row, as long as it goes on. `source` has the snapshot open, and is given back if its
    /// connection still stands.
    pub(crate) async fn each(
        self,
        source: &mut Option<Box<dyn Source>>,
        mut each: impl FnMut(usize, &ItemType, &Row, RowOutcome) -> Result<ControlFlow<()>, EndReason>,
    ) -> Result<FeedEnd, EndReason> {
        let (model, folder) = (self.model.clone(), self.folder.clone());
        self.read(source, |pass, read| {
            let (Some(pass), LaneMessage::Rows(block)) = (model.passes.get(pass), read) else {
                return Ok(ControlFlow::Continue(()));
            };
            let mut outcomes = RowOutcomes::new(&model, &pass.item_types, block.rows, None);
            while let Some((index, item_type, outcome)) = outcomes.next(&folder) {
                if each(index, item_type, outcomes.row(), outcome)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
        .await
    }

    /// Gives `take` the blocks of rows and the ends of chunks, with their pass; otherwise as [`Self::each`].
    pub(crate) async fn read(
        self,
        source: &mut Option<Box<dyn Source>>,
        mut take: impl FnMut(usize, LaneMessage<ChunkId>) -> Result<ControlFlow<()>, EndReason>,
    ) -> Result<FeedEnd, EndReason> {
        let Some(lent) = source.take() else {
            return Err(
                Failure::Internal("the source did not come back from an earlier reading").into(),
            );
        };
        let chunks = self.plan.chunks().map(|(id, part)| (id, part.clone()));
        let issue = Arc::new(|id: ChunkId| id);
        let mut lanes = Lanes::open(lent, self.model.clone(), chunks, self.lanes, issue).await?;
        let end = loop {
            let read = tokio::select! {
                biased;
                () = self.cancel.cancelled() => break Err(EndReason::Cancelled),
                read = lanes.next() => read,
            };
            let taken = match read {
                None => break Ok(FeedEnd::Read),
                Some(LaneMessage::Failed(error)) => break Err(error.into()),
                Some(LaneMessage::Again { .. }) => break Ok(FeedEnd::ConnectionLost),
                Some(LaneMessage::Rows(block)) => take(block.ticket.pass, LaneMessage::Rows(block)),
                Some(LaneMessage::End { ticket, end }) => {
                    take(ticket.pass, LaneMessage::End { ticket, end })
                }
            };
            match taken {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break Ok(FeedEnd::Read),
                Err(why) => break Err(why),
            }
        };
        *source = lanes.finish().await.0;
        end
    }
}

#[cfg(test)]
mod tests {
    use dynafold_mapping::model::Explode;
    use dynafold_mapping::template::Context;
    use dynafold_testing::model::{item_type, model, number, pass, place, text};

    use super::*;

    #[test]
    fn a_row_has_an_outcome_for_each_item_type_and_each_element() {
        // A row has an id, tags, room for one of them and its position, and whether its tags are wanted.
        let user = item_type("USER", 0, &[("PK", "USER#{0}"), ("SK", "USER#")]);
        let mut tag = item_type("TAG", 0, &[("PK", "USER#{0}"), ("SK", "TAG#{3}")]);
        tag.condition = Some(4);
        tag.explodes = vec![Explode {
            array: place(1),
            element: 2,
            index: 3,
        }];
        let model = Arc::new(model(vec![pass("users", 5, &[0, 1])], vec![user, tag]));
        let tags = |tags: &[&str]| Value::List(tags.iter().map(|tag| text(tag)).collect());
        let row = |id, tags: Value, is_wanted| -> Row {
            let room = [Value::Null, Value::Null, Value::Bool(is_wanted)];
            [number(id), tags].into_iter().chain(room).collect()
        };
        let rows = vec![
            row(1, tags(&["a", "b"]), true),
            row(2, tags(&[]), true),
            row(3, tags(&["c"]), false),
            row(4, text("no array"), true),
        ];
        let folder = Folder::new(&model, Context::default());
        let left = Vec::new();
        let mut outcomes = RowOutcomes::new(&model, &[0, 1], Chunk { rows, left }, None);
        let mut reported = Vec::new();
        while let Some((_, item_type, outcome)) = outcomes.next(&folder) {
            let outcome = match outcome {
                RowOutcome::Made(_) => "made",
                RowOutcome::Filtered => "filtered",
                RowOutcome::Rejected(_) => "rejected",
                RowOutcome::Expired(_) => "expired",
            };
            reported.push(format!("{} {outcome}", item_type.name));
        }
        assert_eq!(
            reported.join(", "),
            "USER made, TAG made, TAG made, USER made, USER made, TAG filtered, USER made, TAG rejected"
        );
        let counts: Vec<[u64; 4]> = outcomes
            .counts()
            .map(|(_, of)| [of.rows_read, of.filtered, of.empty, of.expanded])
            .collect();
        assert_eq!(counts, [[4, 0, 0, 0], [4, 1, 1, 1]]);
    }
}
