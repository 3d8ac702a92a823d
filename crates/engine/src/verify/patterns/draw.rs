//! Draws calls of an access pattern from the source: values of its parameters that occur there, common
//! and rare, smallest and largest, and some that do not occur. The same source gives the same draw.
//!
//! Values that occur together are drawn together where their columns are of one table. Of a pair of
//! bounds the lower comes first, and some are equal.

use std::collections::HashSet;

use dynafold_mapping::model::AccessPattern;
use dynafold_source::Source;
use dynafold_sql::Query;

use super::call::{DrawError, Drawn, Ground};
use super::combined::combined;
use super::drawing::Drawing;
use super::origin::{Whence, origins};

/// Draws about `most` calls of a pattern, and those with absent values. All values that there are,
/// where they are no more than `most`. After [`Source::begin`].
///
/// # Errors
///
/// [`DrawError`] when nothing says where values come from, or the source fails.
pub(crate) async fn draw(
    source: &mut dyn Source,
    ground: &Ground<'_>,
    pattern: &AccessPattern,
    query: &Query,
    most: usize,
) -> Result<Drawn, DrawError> {
    let given = origins(ground, pattern, query).map_err(DrawError::Unknown)?;
    let mut drawing = Drawing {
        ground,
        pattern,
        fixed: Vec::new(),
        given,
        drawn: Drawn::default(),
        seen: HashSet::new(),
        dbms: source.dbms(),
        dialect: source.dialect(),
    };
    let origins = drawing.given.iter().filter_map(|given| match given.origin {
        Whence::Column(table, column) => {
            Some((given.name.clone(), table.clone(), column.name.clone()))
        }
        Whence::Clock(..) => None,
    });
    drawing.drawn.origins = origins.collect();
    drawing.fixed = drawing.moments(source).await?;
    let groups = drawing.groups();
    let mut lists = Vec::new();
    for group in &groups {
        let left_out = ground.left_out(group.columns.table);
        let tuples = group
            .columns
            .draw(source, most, left_out.as_deref())
            .await?;
        lists.push(drawing.bounds(group, tuples, most));
    }
    if lists.iter().any(Vec::is_empty) {
        let note = "the source holds no values for its parameters: only absent ones are asked";
        drawing.drawn.notes.push(note.to_owned());
    }
    let mut first = None;
    let all = combined(&lists, most);
    for (why, cells) in &all {
        first.get_or_insert_with(|| cells.clone());
        drawing.call(*why, cells);
    }
    drawing.drawn.asked = u64::try_from(drawing.drawn.calls.len()).unwrap_or(u64::MAX);
    drawing.drawn.possible = drawing.possible(source, &groups, &lists).await?;
    drawing.variants(&all);
    for group in &groups {
        drawing
            .absent(source, group, first.as_deref().unwrap_or_default())
            .await?;
    }
    Ok(drawing.drawn)
}
