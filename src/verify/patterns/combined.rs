//! Tuples of several groups of parameters, put together.

use super::draw::Why;
use super::drawing::Cells;

/// Tuples of several groups put together: all of them where they are no more than `most`, else so
/// many that every tuple of every group has its turn, as far as there is room.
pub(super) fn combined(lists: &[Vec<(Why, Cells)>], most: usize) -> Vec<(Why, Cells)> {
    let total = lists
        .iter()
        .map(Vec::len)
        .try_fold(1_usize, usize::checked_mul);
    let count = total.unwrap_or(usize::MAX).min(most.max(1));
    let is_whole = total == Some(count);
    let mut combined = Vec::with_capacity(count);
    for number in 0..count {
        let (mut rest, mut turn) = (number, 0);
        let (mut why, mut cells) = (Why::All, Cells::new());
        for list in lists {
            // Past the end of the first list the others move on by one more.
            let at = if is_whole { rest } else { number + turn };
            if let Some((each, given)) = list.get(at % list.len().max(1)) {
                why = why.max(*each);
                cells.extend(given.iter().cloned());
            }
            rest /= list.len().max(1);
            turn += number / list.len().max(1);
        }
        combined.push((why, cells));
    }
    combined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use crate::verify::patterns::tuples::Cell;

    fn list(at: usize, count: usize) -> Vec<(Why, Cells)> {
        let cell = |number: usize| Cell {
            value: Value::Null,
            literal: number.to_string(),
        };
        (0..count)
            .map(|number| (Why::All, vec![(at, cell(number))]))
            .collect()
    }

    fn told(lists: &[Vec<(Why, Cells)>], most: usize) -> Vec<String> {
        let told = combined(lists, most).into_iter().map(|(_, cells)| {
            let literals = cells.iter().map(|(_, cell)| cell.literal.clone());
            literals.collect::<String>()
        });
        told.collect()
    }

    #[test]
    fn all_tuples_are_combined_or_each_has_its_turn() {
        assert_eq!(told(&[], 20), [""]);
        let lists = [list(0, 2), list(1, 3)];
        assert_eq!(told(&lists, 6), ["00", "10", "01", "11", "02", "12"]);
        assert_eq!(told(&lists, 4), ["00", "11", "02", "10"]);
        assert_eq!(told(&[list(0, 0), list(1, 3)], 6), Vec::<String>::new());
    }
}
