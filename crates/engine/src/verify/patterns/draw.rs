//! Draws calls of an access pattern from the source: values of its parameters that occur there, common
//! and rare, smallest and largest, and some that do not occur. The same source gives the same draw.
//!
//! Values that occur together are drawn together where their columns are of one table. Of a pair of
//! bounds the lower comes first, and some are equal.

use std::collections::HashSet;

use dynafold_format::with_causes;
use dynafold_mapping::access::{self, clock_value, plan};
use dynafold_mapping::item::text_of;
use dynafold_mapping::model::{AccessPattern, Parameter, ParameterKind, Template};
use dynafold_mapping::template::{ApplyError, Filter};
use dynafold_mapping::{kind_of, writing};
use dynafold_relational::catalog::Dbms;
use dynafold_relational::value::{TimeKind, Value, compare};
use dynafold_source::{Dialect, Source};
use dynafold_sql::{ParameterBound, SqlQuery};

use super::call::{DrawContext, DrawError, DrawReason, DrawnCall, DrawnCalls};
use super::origin::{DrawnParameter, ValueSource, origins};
use super::values::{DrawnColumns, DrawnTuple, LiteralCell, literal, sqlite_time};

/// Draws about `most` calls of a pattern, and those with absent values. All values that there are,
/// where they are no more than `most`. After [`Source::begin`].
///
/// # Errors
///
/// [`DrawError`] when nothing says where values come from, or the source fails.
pub(crate) async fn draw(
    source: &mut dyn Source,
    draw_context: &DrawContext<'_>,
    pattern: &AccessPattern,
    query: &SqlQuery,
    most: usize,
) -> Result<DrawnCalls, DrawError> {
    let mut drawing = CallDrawing {
        draw_context,
        pattern,
        fixed: Vec::new(),
        given: origins(draw_context, pattern, query).map_err(DrawError::Unknown)?,
        drawn: DrawnCalls::default(),
        seen: HashSet::new(),
        dbms: source.dbms(),
        dialect: source.dialect(),
    };
    let origins = drawing.given.iter().filter_map(|given| match given.origin {
        ValueSource::Column(table, column) => {
            Some((given.name.clone(), table.clone(), column.name.clone()))
        }
        ValueSource::Clock(..) => None,
    });
    drawing.drawn.origins = origins.collect();
    drawing.fixed = drawing.moments(source).await?;
    let groups = drawing.groups();
    let mut lists = Vec::new();
    for group in &groups {
        let left_out = draw_context.left_out(group.columns.table);
        let columns = &group.columns;
        let tuples = columns.draw(source, most, left_out.as_deref()).await?;
        lists.push(drawing.bounds(group, &tuples, most));
    }
    if lists.iter().any(Vec::is_empty) {
        let note = "the source has no values for its parameters, so only values that do not occur are asked";
        drawing.drawn.notes.push(note.to_owned());
    }
    let all = combined(&lists, most);
    for (why, cells) in &all {
        drawing.call(*why, cells);
    }
    drawing.drawn.asked = u64::try_from(drawing.drawn.calls.len()).unwrap_or(u64::MAX);
    drawing.drawn.possible = drawing.possible(source, &groups, &lists).await?;
    drawing.variants(&all);
    let first = all.first().map_or(&[][..], |(_, cells)| cells);
    for group in &groups {
        drawing.absent(source, group, first).await?;
    }
    Ok(drawing.drawn)
}

/// Parameters whose columns are of one table.
pub(super) struct ParameterGroup<'a> {
    pub(super) columns: DrawnColumns<'a>,
    /// The parameters, each with the place of its column.
    pub(super) members: Vec<(usize, usize)>,
}

/// Values of parameters, by the parameters' places.
pub(super) type Cells = Vec<(usize, LiteralCell)>;

/// The value of a parameter.
pub(super) fn cell_of(cells: &[(usize, LiteralCell)], at: usize) -> Option<&LiteralCell> {
    let found = cells.iter().find(|(other, _)| *other == at);
    found.map(|(_, cell)| cell)
}

pub(super) struct CallDrawing<'d, 'a> {
    draw_context: &'d DrawContext<'a>,
    pub(super) pattern: &'d AccessPattern,
    pub(super) given: Vec<DrawnParameter<'a>>,
    /// Moments.
    fixed: Cells,
    drawn: DrawnCalls,
    seen: HashSet<Vec<String>>,
    pub(super) dbms: Dbms,
    pub(super) dialect: &'static dyn Dialect,
}

impl<'a> CallDrawing<'_, 'a> {
    fn groups(&self) -> Vec<ParameterGroup<'a>> {
        let mut groups: Vec<ParameterGroup<'a>> = Vec::new();
        for (at, given) in self.given.iter().enumerate() {
            let ValueSource::Column(table, column) = given.origin else {
                continue;
            };
            let known = groups.iter_mut().find(|group| group.columns.table == table);
            let Some(group) = known else {
                let columns = vec![column];
                groups.push(ParameterGroup {
                    columns: DrawnColumns { table, columns },
                    members: vec![(at, 0)],
                });
                continue;
            };
            let columns = &mut group.columns.columns;
            let place = columns.iter().position(|other| other.name == column.name);
            if place.is_none() {
                columns.push(column);
            }
            group.members.push((at, place.unwrap_or(columns.len() - 1)));
        }
        groups
    }

    /// How many calls there are with values that occur: `None` for bounds and moments, of which there are always more.
    async fn possible(
        &self,
        source: &mut dyn Source,
        groups: &[ParameterGroup<'a>],
        lists: &[Vec<(DrawReason, Cells)>],
    ) -> Result<Option<u64>, DrawError> {
        let is_countable = |given: &DrawnParameter<'_>| {
            given.side == ParameterBound::Equal && matches!(given.origin, ValueSource::Column(..))
        };
        if !self.given.iter().all(is_countable) {
            return Ok(None);
        }
        let mut possible = Some(1_u64);
        for (group, list) in groups.iter().zip(lists) {
            let is_whole = list.iter().all(|(why, _)| *why == DrawReason::All);
            let count = if is_whole {
                u64::try_from(list.len()).ok()
            } else {
                group.columns.count(source).await?
            };
            possible = possible
                .zip(count)
                .and_then(|(all, count)| all.checked_mul(count));
        }
        Ok(possible)
    }

    /// The moments, counted from the run's clock.
    async fn moments(&self, source: &mut dyn Source) -> Result<Cells, DrawError> {
        let mut cells = Cells::new();
        for (at, given) in self.given.iter().enumerate() {
            let ValueSource::Clock(template, column) = &given.origin else {
                continue;
            };
            let kind = column.and_then(|(_, column)| kind_of(&column.data_type));
            let own = given.parameter.map(|parameter| parameter.kind);
            let value = self.moment(given, template, own.or(kind))?;
            let compared = self.moment(given, template, kind.or(own))?;
            let mut written = literal(&compared, self.dbms, self.dialect).unwrap_or_default();
            if let (Dbms::Sqlite, Some((table, column)), Value::Time(time)) =
                (self.dbms, *column, &compared)
            {
                let columns = vec![column];
                let ends = DrawnColumns { table, columns }.ends(source).await?;
                if let Some((sample, _)) = ends {
                    written = sqlite_time(time.as_str(), &sample.literal);
                }
            }
            let literal = written;
            cells.push((at, LiteralCell { value, literal }));
        }
        Ok(cells)
    }

    /// A moment as a parameter of this kind has it.
    fn moment(
        &self,
        given: &DrawnParameter<'_>,
        template: &Template,
        kind: Option<ParameterKind>,
    ) -> Result<Value, DrawError> {
        let parameter = Parameter {
            name: given.name.clone(),
            kind: kind.unwrap_or(ParameterKind::Time(None)),
            from_clock: None,
            needs_schema: false,
        };
        clock_value(&parameter, template, self.draw_context.context)
            .map_err(|cause| DrawError::Moment(given.name.clone(), cause))
    }

    /// Tuples of columns as tuples of parameters: a column with two of them gives bounds.
    fn bounds(
        &self,
        group: &ParameterGroup<'_>,
        tuples: &[DrawnTuple],
        most: usize,
    ) -> Vec<(DrawReason, Cells)> {
        let pair = self.pair(group);
        let mut drawn: Vec<(DrawReason, Cells)> = Vec::new();
        for (number, (why, cells)) in tuples.iter().enumerate() {
            let members = group.members.iter();
            let of = |(at, place): &(usize, usize)| Some((*at, cells.get(*place)?.clone()));
            let mut given: Cells = members.filter_map(of).collect();
            let Some((high, place)) = pair else {
                drawn.push((*why, given));
                continue;
            };
            if let Some(until) = upper(tuples, number, place)
                && let Some((_, cell)) = given.iter_mut().find(|(at, _)| *at == high)
            {
                *cell = until.clone();
            }
            // Every value has its turn, and not every pair.
            drawn.push(((*why).max(DrawReason::Common), given));
        }
        drawn.truncate(most);
        drawn
    }

    /// The upper one of two parameters that bound one column, and the place of the column.
    fn pair(&self, group: &ParameterGroup<'_>) -> Option<(usize, usize)> {
        let side = |at: usize| self.given.get(at).map(|given| given.side);
        let mut members = group.members.iter().enumerate();
        members.find_map(|(number, (first, place))| {
            let mut later = group.members.iter().skip(number + 1);
            let (second, _) = later.find(|(_, other)| other == place)?;
            let is_turned = matches!(side(*first), Some(ParameterBound::High(_)))
                || matches!(side(*second), Some(ParameterBound::Low(_)));
            Some((if is_turned { *first } else { *second }, *place))
        })
    }

    /// Adds a call, unless no request can be made of it or it was added before.
    pub(super) fn call(&mut self, why: DrawReason, cells: &[(usize, LiteralCell)]) {
        if let Err(reason) = self.try_call(why, cells) {
            let is_own = !matches!(
                why,
                DrawReason::Absent | DrawReason::Beyond | DrawReason::Variant
            );
            if is_own {
                self.drawn.refused += 1;
                self.drawn.refusal.get_or_insert(reason);
            }
        }
    }

    /// # Errors
    ///
    /// Why no request can be made of the values.
    fn try_call(&mut self, why: DrawReason, cells: &[(usize, LiteralCell)]) -> Result<(), String> {
        let mut values = Vec::new();
        let (mut given, mut literals) = (Vec::new(), Vec::new());
        for (at, each) in self.given.iter().enumerate() {
            let cell = cell_of(cells, at).or_else(|| cell_of(&self.fixed, at));
            let Some(cell) = cell else { return Ok(()) };
            let mut written = cell.literal.clone();
            let value = match each.parameter {
                None => cell.value.clone(),
                Some(parameter) => {
                    let value = self.parameter_value(parameter, each, &cell.value)?;
                    values.push(value.clone());
                    // Whoever calls has one value, and gives it to both sides.
                    if is_another(each, &cell.value, &value) {
                        written = literal(&value, self.dbms, self.dialect).unwrap_or(written);
                    }
                    value
                }
            };
            literals.push((each.name.clone(), written));
            given.push((each.name.clone(), shown(&value)));
        }
        plan(self.pattern, &values, self.draw_context.context)
            .map_err(|error| with_causes(&error))?;
        let key = literals.iter().map(|(_, literal)| literal.clone());
        if self.seen.insert(key.collect()) {
            self.drawn.calls.push(DrawnCall {
                values,
                given,
                why,
                literals,
            });
        }
        Ok(())
    }

    /// A value of a column as a parameter takes it.
    ///
    /// # Errors
    ///
    /// Why the parameter does not take it.
    fn parameter_value(
        &self,
        parameter: &Parameter,
        given: &DrawnParameter<'_>,
        value: &Value,
    ) -> Result<Value, String> {
        let refused = |error: ApplyError| format!("`{}` cannot be made: {error}", parameter.name);
        let mut value = value.clone();
        if parameter.kind == ParameterKind::Text {
            for filter in &given.written {
                let applied = filter.apply(value, self.draw_context.context);
                value = applied.map_err(refused)?;
            }
        }
        match (parameter.kind, &value) {
            (ParameterKind::Binary | ParameterKind::Hex, Value::Bytes(_)) => Ok(value),
            (ParameterKind::Boolean, Value::Number(number)) if number.as_str() == "0" => {
                Ok(Value::Bool(false))
            }
            (ParameterKind::Boolean, Value::Number(number)) if number.as_str() == "1" => {
                Ok(Value::Bool(true))
            }
            _ => access::read(parameter, text_of(&value).map_err(refused)?, None)
                .map_err(|error| with_causes(&error)),
        }
    }
}

/// The upper bound beside a tuple's value in a place: in turn the largest of the tuples that are otherwise alike, the next
/// larger one, and none, so that both bounds are equal.
fn upper(tuples: &[DrawnTuple], number: usize, place: usize) -> Option<&LiteralCell> {
    let others = |cells: &[LiteralCell]| -> Vec<String> {
        let all = cells.iter().enumerate().filter(|(at, _)| *at != place);
        all.map(|(_, cell)| cell.literal.clone()).collect()
    };
    let (_, cells) = tuples.get(number)?;
    let from = cells.get(place)?;
    let alike = tuples
        .iter()
        .filter(|(_, other)| others(other) == others(cells));
    let mut later: Vec<&LiteralCell> = alike
        .filter_map(|(_, other)| other.get(place))
        .filter(|other| compare(&other.value, &from.value).is_gt())
        .collect();
    later.sort_by(|a, b| compare(&a.value, &b.value));
    match number % 3 {
        0 => later.last().copied(),
        1 => later.first().copied(),
        _ => None,
    }
}

/// Whether a parameter takes another value than the column holds: what filters of the key make of it,
/// which the pattern leaves to its caller. A number with zeros before it is the same number, and so are
/// times and bytes that are written as text.
fn is_another(given: &DrawnParameter<'_>, held: &Value, taken: &Value) -> bool {
    let is_form = |filter: &Filter| match (filter, held) {
        (Filter::Pad { .. }, Value::Number(_))
        | (Filter::Iso, Value::Time(_))
        | (Filter::Hex | Filter::Base64 | Filter::Uuid { .. }, Value::Bytes(_)) => true,
        (Filter::Date, Value::Time(time)) => time.kind() == TimeKind::Date,
        _ => false,
    };
    let is_column = matches!(given.origin, ValueSource::Column(..));
    let is_text = (given.parameter).is_some_and(|one| one.kind == ParameterKind::Text);
    let filters = writing(&given.written);
    is_column
        && is_text
        && !filters.into_iter().all(is_form)
        && text_of(held).ok() != text_of(taken).ok()
}

/// A value as `query` takes it.
fn shown(value: &Value) -> String {
    use base64::Engine as _;
    match value {
        Value::Bytes(bytes) => base64::engine::general_purpose::STANDARD.encode(bytes),
        value => text_of(value).unwrap_or_default().to_owned(),
    }
}

/// Tuples of several groups put together: all of them where they are no more than `most`, else so
/// many that every tuple of every group has its turn, as far as there is room.
pub(super) fn combined(
    lists: &[Vec<(DrawReason, Cells)>],
    most: usize,
) -> Vec<(DrawReason, Cells)> {
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
        let least = if is_whole {
            DrawReason::All
        } else {
            DrawReason::Common
        };
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

    fn list(at: usize, count: usize) -> Vec<(DrawReason, Cells)> {
        let cell = |number: usize| LiteralCell {
            value: Value::Null,
            literal: number.to_string(),
        };
        (0..count)
            .map(|number| (DrawReason::All, vec![(at, cell(number))]))
            .collect()
    }

    fn drawn(lists: &[Vec<(DrawReason, Cells)>], most: usize) -> Vec<String> {
        let drawn = combined(lists, most).into_iter().map(|(_, cells)| {
            let literals = cells.iter().map(|(_, cell)| cell.literal.clone());
            literals.collect::<String>()
        });
        drawn.collect()
    }

    #[test]
    fn all_tuples_are_combined_or_each_has_its_turn() {
        assert_eq!(drawn(&[], 20), [""]);
        let lists = [list(0, 2), list(1, 3)];
        assert_eq!(drawn(&lists, 6), ["00", "10", "01", "11", "02", "12"]);
        assert_eq!(drawn(&lists, 4), ["00", "11", "02", "10"]);
        assert_eq!(drawn(&[list(0, 0), list(1, 3)], 6), Vec::<String>::new());
    }
}
