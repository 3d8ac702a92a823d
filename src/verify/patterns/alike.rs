//! Values that are others and make the same key: where a pattern's own template keeps less of a value
//! than its SQL may compare, `{email | lower}` say, the source's values alone do not show it.

use super::draw::Why;
use super::drawing::{Cells, Drawing};
use super::literal::{in_form, literal};
use super::origin::{Given, Whence};
use super::tuples::Cell;
use crate::access::{Plan, plan};
use crate::catalog::{DataType, Dbms};
use crate::mapping::template::Filter;
use crate::value::{Text, Time, TimeKind, Value};

impl Drawing<'_, '_> {
    /// Adds calls with such values: for each parameter those of the first drawn call that has any.
    pub(super) fn alike(&mut self, drawn: &[(Why, Cells)]) {
        for at in 0..self.given.len() {
            let Some(given) = self.given.get(at) else {
                continue;
            };
            let filters = self.lossy(given);
            if filters.is_empty() {
                continue;
            }
            let name = given.name.clone();
            let mut others = drawn
                .iter()
                .map(|(_, cells)| self.others(at, &filters, cells));
            let others = others.find(|others| !others.is_empty()).unwrap_or_default();
            let mut asked = false;
            for cells in others {
                asked |= self.call(Why::Alike, &cells);
            }
            self.drawn.is_partial = true;
            self.drawn.notes.push(if asked {
                format!(
                    "other values of `{name}` make the same key: some of them are asked, not all"
                )
            } else {
                format!("other values of `{name}` make the same key, and none of them is asked")
            });
        }
    }

    /// The filters of the pattern's template under which several values of a parameter make one key.
    fn lossy(&self, given: &Given<'_>) -> Vec<Filter> {
        let mut parameters = self.pattern.parameters.iter();
        let at = parameters.position(|one| one.name == given.name);
        let is_date = matches!(
            given.origin,
            Whence::Column(_, column) if column.data_type == DataType::Date
        );
        if is_date || matches!(given.origin, Whence::Clock(..)) {
            return Vec::new();
        }
        let own = self.pattern.placeholders();
        let own = own.filter(|one| Some(one.place.column) == at);
        let filters = own.flat_map(|one| one.filters.iter());
        filters.filter(|filter| loses(filter)).cloned().collect()
    }

    /// Drawn values of a call, with other values of a parameter that make the same key.
    fn others(&self, at: usize, filters: &[Filter], cells: &Cells) -> Vec<Cells> {
        let (Some((_, cell)), Some(key)) = (
            cells.iter().find(|(other, _)| *other == at),
            self.key(cells),
        ) else {
            return Vec::new();
        };
        let others = candidates(&cell.value, filters).into_iter();
        let others = others.filter(|value| *value != cell.value);
        let others = others.filter_map(|value| {
            let literal = match &value {
                Value::Time(time) if self.dbms == Dbms::Sqlite => {
                    in_form(time.as_str(), &cell.literal)
                }
                value => literal(value, self.dbms, self.dialect)?,
            };
            // A column of days has no other time of the day.
            if literal == cell.literal {
                return None;
            }
            let mut cells = cells.clone();
            cells.retain(|(other, _)| *other != at);
            cells.push((at, Cell { value, literal }));
            Some(cells)
        });
        others
            .filter(|cells| self.key(cells).as_ref() == Some(&key))
            .collect()
    }

    /// What is asked of the table for drawn values.
    fn key(&self, cells: &Cells) -> Option<Plan> {
        let mut values = Vec::new();
        for (at, given) in self.given.iter().enumerate() {
            let Some(parameter) = given.parameter else {
                continue;
            };
            let mut all = cells.iter().chain(&self.fixed);
            let (_, cell) = all.find(|(other, _)| *other == at)?;
            values.push(self.taken(parameter, given, &cell.value)?);
        }
        plan(self.pattern, &values, self.ground.context).ok()
    }
}

/// Whether a filter makes one value of several.
fn loses(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Lower
            | Filter::Upper
            | Filter::Trim
            | Filter::Truncate(_)
            | Filter::Replace { .. }
            | Filter::Map { .. }
            | Filter::Date
            | Filter::Format(_)
            | Filter::Epoch
    )
}

/// Values of which filters may make what they make of this one.
fn candidates(value: &Value, filters: &[Filter]) -> Vec<Value> {
    match value {
        Value::Text(text) => {
            let mut found = vec![swapped(text), format!(" {text} "), format!("{text}~")];
            found.extend(filters.iter().filter_map(|filter| match filter {
                Filter::Replace { from, to } if !to.is_empty() => {
                    Some(text.as_str().replacen(to.as_str(), from, 1))
                }
                _ => None,
            }));
            let found = found.into_iter();
            found.map(|text| Value::Text(text.into())).collect()
        }
        Value::Time(time) => ["00:00:00", "23:59:59"]
            .iter()
            .filter_map(|clock| at_clock(time, clock))
            .collect(),
        _ => Vec::new(),
    }
}

/// A text in which every letter has its other case.
fn swapped(text: &str) -> String {
    let swap = |letter: char| -> String {
        if letter.is_lowercase() {
            letter.to_uppercase().collect()
        } else {
            letter.to_lowercase().collect()
        }
    };
    text.chars().map(swap).collect()
}

/// The same day at midnight, or at its end with all the digits that the time has.
fn at_clock(time: &Time, clock: &str) -> Option<Value> {
    let is_whole = matches!(time.kind(), TimeKind::Timestamp | TimeKind::Instant);
    let (day, rest) = time.as_str().split_once('T').filter(|_| is_whole)?;
    let digit = clock.chars().last()?;
    let rest = rest.get(clock.len()..)?;
    let rest = rest
        .chars()
        .map(|c| if c.is_ascii_digit() { digit } else { c });
    let text = format!("{day}T{clock}{}", rest.collect::<String>());
    let time = Time::canonical(Text::from(text), time.kind());
    Some(Value::Time(time))
}
