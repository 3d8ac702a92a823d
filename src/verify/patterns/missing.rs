//! Calls with values that do not occur.

use super::absent;
use super::draw::{DrawError, Why};
use super::drawing::{Cells, Drawing, Group};
use super::literal::literal;
use super::origin::Whence;
use super::tuples::{Cell, Columns};
use crate::mapping::sql::Side;
use crate::source::{Source, SourceError};

impl<'a> Drawing<'_, 'a> {
    /// Adds calls in which one parameter has a value that does not occur.
    pub(super) async fn absent(
        &mut self,
        source: &mut dyn Source,
        group: &Group<'a>,
        first: &[(usize, Cell)],
    ) -> Result<(), DrawError> {
        for (at, place) in &group.members {
            let Some(column) = group.columns.columns.get(*place) else {
                continue;
            };
            let alone = Columns {
                table: group.columns.table,
                columns: vec![*column],
            };
            let ends = alone.ends(source).await?;
            let side = self.given.get(*at).map_or(Side::Equal, |given| given.side);
            let candidates = match &ends {
                None => absent::without(column),
                Some((low, high)) => {
                    let low = (&low.value, low.literal.as_str());
                    let high = (&high.value, high.literal.as_str());
                    match side {
                        // Below a lower bound is everything, above it nothing.
                        Side::Low => absent::above(high),
                        Side::High => absent::below(low),
                        Side::Equal | Side::Other => {
                            absent::candidates(&column.data_type, low, high)
                        }
                    }
                }
            };
            let mut found = false;
            for (value, written) in candidates {
                let (dbms, dialect) = (source.dbms(), source.dialect());
                let Some(written) = written.or_else(|| literal(&value, dbms, dialect)) else {
                    continue;
                };
                let has = match alone.has(source, &written).await {
                    Ok(has) => has && ends.is_some(),
                    // It is no value of the column's type.
                    Err(SourceError::Query { .. }) => true,
                    Err(error) => return Err(error.into()),
                };
                if has {
                    continue;
                }
                let cell = Cell {
                    value,
                    literal: written,
                };
                let mut cells: Cells = first.to_vec();
                // Both bounds of one column move: DynamoDB takes no pair that is upside down.
                let moved: Vec<usize> = self.moved(group, *at, *place);
                cells.retain(|(other, _)| !moved.contains(other));
                // Where nothing occurs at all, every parameter is absent.
                if first.is_empty() {
                    let all = self.given.iter().enumerate();
                    let all = all.filter(|(_, given)| matches!(given.origin, Whence::Column(..)));
                    cells = all.map(|(other, _)| (other, cell.clone())).collect();
                } else {
                    cells.extend(moved.into_iter().map(|other| (other, cell.clone())));
                }
                if self.call(Why::Absent, &cells) {
                    found = true;
                    break;
                }
            }
            if !found {
                let name = self.given.get(*at).map_or("", |given| &given.name);
                let note = format!("no absent value of `{name}` was found that its key can hold");
                self.drawn.notes.push(note);
            }
        }
        self.beyond(source, group, first).await
    }

    /// Adds a call whose bounds lie beyond all values.
    async fn beyond(
        &mut self,
        source: &mut dyn Source,
        group: &Group<'a>,
        first: &[(usize, Cell)],
    ) -> Result<(), DrawError> {
        let mut cells: Cells = first.to_vec();
        let mut moved = false;
        for (at, place) in &group.members {
            let side = self.given.get(*at).map_or(Side::Equal, |given| given.side);
            let column = group.columns.columns.get(*place).copied();
            let Some(column) = column.filter(|_| matches!(side, Side::Low | Side::High)) else {
                continue;
            };
            let alone = Columns {
                table: group.columns.table,
                columns: vec![column],
            };
            let Some((low, high)) = alone.ends(source).await? else {
                continue;
            };
            let candidates = match side {
                Side::Low => absent::below((&low.value, &low.literal)),
                _ => absent::above((&high.value, &high.literal)),
            };
            let Some((value, written)) = candidates.into_iter().next() else {
                continue;
            };
            let (dbms, dialect) = (source.dbms(), source.dialect());
            let written = written.or_else(|| literal(&value, dbms, dialect));
            if let (Some(literal), Some(cell)) =
                (written, cells.iter_mut().find(|(other, _)| other == at))
            {
                cell.1 = Cell { value, literal };
                moved = true;
            }
        }
        if moved {
            self.call(Why::Beyond, &cells);
        }
        Ok(())
    }

    /// The parameters that take a value together: one, or the two bounds of one column.
    fn moved(&self, group: &Group<'a>, at: usize, place: usize) -> Vec<usize> {
        let is_bound = |at: usize| {
            let side = self.given.get(at).map(|given| given.side);
            matches!(side, Some(Side::Low | Side::High))
        };
        let members = group.members.iter();
        let others = members.filter(|(_, other)| *other == place);
        let all = others.map(|(other, _)| *other);
        all.filter(|other| *other == at || (is_bound(at) && is_bound(*other)))
            .collect()
    }
}
