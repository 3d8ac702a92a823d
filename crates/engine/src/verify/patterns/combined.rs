//! Tuples of several groups of parameters, put together.

use super::call::Why;
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
        // Of fewer than all, each list goes round by itself, and moves on by one more where it would
        // meet the same tuples again.
        let (mut rest, mut before) = (number, 1);
        // A part of the combinations is not all, though each list be whole.
        let least = if is_whole { Why::All } else { Why::Common };
        let (mut why, mut cells) = (least, Cells::new());
        for list in lists {
            let length = list.len().max(1);
            let at = if is_whole || before == 1 {
                rest
            } else {
                number + number / least_common_multiple(before, length)
            };
            if let Some((each, given)) = list.get(at % length) {
                why = why.max(*each);
                cells.extend(given.iter().cloned());
            }
            if is_whole {
                rest /= length;
            }
            before = before.saturating_mul(length);
        }
        combined.push((why, cells));
    }
    combined
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b).max(1)
}

#[cfg(test)]
mod tests {
    use dynafold_relational::value::Value;

    use super::*;
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
