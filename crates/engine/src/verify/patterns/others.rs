//! Calls with values that were not drawn: such as do not occur, bounds beyond all values, and variants of a drawn
//! value, which one side may take for that value and the other may not.

use dynafold_mapping::model::{Placeholder, Template};
use dynafold_mapping::template::Filter;
use dynafold_relational::catalog::{Column, DataType, Dbms, TypeFamily};
use dynafold_relational::value::{Number, Text, Time, TimeKind, Value};
use dynafold_source::Source;
use dynafold_sql::ParameterBound;

use super::call::{DrawError, DrawReason};
use super::draw::{CallDrawing, Cells, ParameterGroup, cell_of};
use super::origin::{DrawnParameter, ValueSource};
use super::values::{DrawnColumns, LiteralCell, literal, sqlite_time};

/// A value with its literal, where that is not the usual one of its kind.
type LiteralValue = (Value, Option<String>);

impl<'a> CallDrawing<'_, 'a> {
    /// Adds calls in which one parameter has a value that does not occur, and one whose bounds lie beyond all values.
    pub(super) async fn absent(
        &mut self,
        source: &mut dyn Source,
        group: &ParameterGroup<'a>,
        first: &[(usize, LiteralCell)],
    ) -> Result<(), DrawError> {
        let mut beyond: Cells = first.to_vec();
        let mut is_beyond = false;
        for (at, place) in &group.members {
            let Some(column) = group.columns.columns.get(*place).copied() else {
                continue;
            };
            let (table, columns) = (group.columns.table, vec![column]);
            let ends = DrawnColumns { table, columns }.ends(source).await?;
            let bound = self
                .given
                .get(*at)
                .map_or(ParameterBound::Equal, |given| given.side);
            let above = |edge| outside(edge, true, &column.data_type);
            let below = |edge| outside(edge, false, &column.data_type);
            let (absent, further) = match (&ends, bound) {
                (None, _) => (without(column), None),
                // Below a lower bound is everything, above it nothing.
                (Some((low, high)), ParameterBound::Low(_)) => (above(high), below(low)),
                (Some((low, high)), ParameterBound::High(_)) => (below(low), above(high)),
                (Some((low, high)), ParameterBound::Equal | ParameterBound::Other) => {
                    let uuid = Value::Text("ffffffff-ffff-ffff-ffff-ffffffffffff".into());
                    let uuid = (column.data_type == DataType::Uuid).then_some((uuid, None));
                    (uuid.or_else(|| above(high).or_else(|| below(low))), None)
                }
            };
            // Both bounds of one column move: DynamoDB takes no pair that is upside down.
            let moved = self.moved(group, *at, *place);
            if let Some(cell) = absent.and_then(|absent| self.cell(absent)) {
                let mut cells: Cells = first.to_vec();
                cells.retain(|(other, _)| !moved.contains(other));
                if first.is_empty() {
                    // Where nothing occurs at all, every parameter is absent.
                    let all = self.given.iter().enumerate();
                    let all =
                        all.filter(|(_, given)| matches!(given.origin, ValueSource::Column(..)));
                    cells = all.map(|(other, _)| (other, cell.clone())).collect();
                } else {
                    cells.extend(moved.into_iter().map(|other| (other, cell.clone())));
                }
                self.call(DrawReason::Absent, &cells);
            }
            let further = further.and_then(|further| self.cell(further));
            if let (Some(cell), Some(known)) =
                (further, beyond.iter_mut().find(|(other, _)| other == at))
            {
                known.1 = cell;
                is_beyond = true;
            }
        }
        if is_beyond {
            self.call(DrawReason::Beyond, &beyond);
        }
        Ok(())
    }

    fn cell(&self, (value, written): LiteralValue) -> Option<LiteralCell> {
        let literal = written.or_else(|| literal(&value, self.dbms, self.dialect))?;
        Some(LiteralCell { value, literal })
    }

    /// The parameters that take a value together: one, or the two bounds of one column.
    fn moved(&self, group: &ParameterGroup<'a>, at: usize, place: usize) -> Vec<usize> {
        let is_bound = |at: usize| {
            let side = self.given.get(at).map(|given| given.side);
            matches!(side, Some(ParameterBound::Low(_) | ParameterBound::High(_)))
        };
        let members = group.members.iter();
        let others = members.filter(|(_, other)| *other == place);
        let all = others.map(|(other, _)| *other);
        all.filter(|other| *other == at || (is_bound(at) && is_bound(*other)))
            .collect()
    }

    /// Adds calls with variants of a drawn value of each parameter.
    pub(super) fn variants(&mut self, drawn: &[(DrawReason, Cells)]) {
        let mut calls = Vec::new();
        for (at, given) in self.given.iter().enumerate() {
            let ValueSource::Column(_, column) = given.origin else {
                continue;
            };
            let all = drawn.iter();
            let all = all.filter_map(|(_, cells)| Some((cells, cell_of(cells, at)?)));
            // Of the longest value most is left when its end is taken away.
            let longest = all.clone().max_by_key(|(_, cell)| cell.literal.len());
            for (cells, cell) in all.take(1).chain(longest) {
                for value in self.alike(given, column, &cell.value) {
                    let literal = match &value {
                        Value::Time(time) if self.dbms == Dbms::Sqlite => {
                            Some(sqlite_time(time.as_str(), &cell.literal))
                        }
                        value => literal(value, self.dbms, self.dialect),
                    };
                    // A column of days has no other time of the day.
                    if let Some(literal) = literal.filter(|literal| *literal != cell.literal) {
                        let mut cells = cells.clone();
                        cells.retain(|(other, _)| *other != at);
                        cells.push((at, LiteralCell { value, literal }));
                        calls.push(cells);
                    }
                }
            }
        }
        for cells in calls {
            self.call(DrawReason::Variant, &cells);
        }
    }

    /// Values that one side may take for a value: it is written otherwise, or begins so.
    fn alike(&self, given: &DrawnParameter<'_>, column: &Column, value: &Value) -> Vec<Value> {
        let is_own = |one: &Placeholder| {
            let parameter = self.pattern.parameters.get(one.place.column);
            parameter.is_some_and(|parameter| parameter.name == given.name)
        };
        let mut conditions = self.pattern.conditions();
        let is_prefix = conditions.any(|(_, operator, templates)| {
            let mut values = templates.into_iter().flat_map(Template::placeholders);
            operator == "begins_with" && values.any(is_own)
        });
        match value {
            Value::Number(number) if is_prefix => {
                let mut digits = number.as_str().to_owned();
                digits.pop();
                let shorter = Number::parse(&digits).map(Value::Number);
                shorter.into_iter().collect()
            }
            Value::Text(text)
                if matches!(column.data_type, DataType::Text { .. } | DataType::Dynamic) =>
            {
                let mut shorter = text.to_string();
                shorter.pop();
                let mut found = vec![
                    swapped(text),
                    format!("{text} "),
                    format!(" {text}"),
                    accented(text),
                    shorter,
                ];
                let filters = self.pattern.placeholders().flat_map(|one| &one.filters);
                found.extend(filters.filter_map(|filter| match filter {
                    Filter::Replace { from, to } if !to.is_empty() => {
                        Some(text.as_str().replacen(to.as_str(), from, 1))
                    }
                    _ => None,
                }));
                let found = found.into_iter().filter(|other| **other != **text);
                found.map(|text| Value::Text(text.into())).collect()
            }
            Value::Time(time) => {
                let clocks = ["00:00:00", "23:59:59"].iter();
                clocks.filter_map(|clock| at_clock(time, clock)).collect()
            }
            _ => Vec::new(),
        }
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

/// A text whose first vowel has an accent.
fn accented(text: &str) -> String {
    let accent = |letter: char| {
        let mut pairs = "aeiouAEO".chars().zip("áéíóúÁÉÓ".chars());
        pairs.find(|(plain, _)| *plain == letter)
    };
    match text.chars().find_map(accent) {
        Some((plain, accented)) => text.replacen(plain, accented.encode_utf8(&mut [0; 4]), 1),
        None => text.to_owned(),
    }
}

/// The same day at midnight, or at its end with all the digits that the time has.
fn at_clock(time: &Time, clock: &str) -> Option<Value> {
    let is_whole = matches!(time.kind(), TimeKind::Timestamp | TimeKind::Instant);
    let (day, rest) = time.as_str().split_once('T').filter(|_| is_whole)?;
    let digit = clock.chars().last()?;
    let rest = rest
        .get(clock.len()..)?
        .chars()
        .map(|c| if c.is_ascii_digit() { digit } else { c });
    let text = format!("{day}T{clock}{}", rest.collect::<String>());
    let time = Time::canonical(Text::from(text), time.kind());
    Some(Value::Time(time))
}

/// A value for a column that holds none.
fn without(column: &Column) -> Option<LiteralValue> {
    let value = match column.data_type.family() {
        TypeFamily::Number => Value::Number(Number::parse("0").ok()?),
        TypeFamily::Boolean => Value::Bool(true),
        TypeFamily::Text | TypeFamily::Any => Value::Text("none~".into()),
        _ => return None,
    };
    Some((value, None))
}

/// A value beyond the largest one, or before the smallest.
fn outside(edge: &LiteralCell, is_above: bool, data_type: &DataType) -> Option<LiteralValue> {
    let by = if is_above { 1 } else { -1 };
    let value = match &edge.value {
        Value::Number(number) => {
            let whole = number.as_str().split('.').next()?.parse::<i128>().ok()?;
            // The next whole number may be none of a float's. Its double always is.
            let step = match data_type {
                DataType::Float { .. } => whole.checked_abs()?.max(1),
                _ => 1,
            };
            let next = whole.checked_add(step * i128::from(by))?;
            // SQLite would read one beyond 64 bits as a double.
            let is_signed = matches!(
                data_type,
                DataType::Integer {
                    unsigned: false,
                    ..
                }
            );
            if is_signed && i64::try_from(next).is_err() {
                return None;
            }
            Value::Number(Number::parse(&next.to_string()).ok()?)
        }
        Value::Time(time) => return in_year(time, &edge.literal, by),
        Value::Text(text) if is_above => Value::Text(format!("{text}~").into()),
        Value::Text(_) => Value::Text("!".into()),
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Bytes(bytes) if is_above => Value::Bytes([bytes.as_slice(), &[255]].concat()),
        _ => return None,
    };
    Some((value, None))
}

/// The same day of another year, in the value and in its literal.
fn in_year(time: &Time, literal: &str, by: i32) -> Option<LiteralValue> {
    let moved = |text: &str| {
        let year: i32 = text.get(..4)?.parse().ok()?;
        let year = (1..=9999).contains(&(year + by)).then_some(year + by)?;
        let rest = text.get(4..)?;
        let rest = match rest.strip_prefix("-02-29") {
            Some(rest) => format!("-02-28{rest}"),
            None => rest.to_owned(),
        };
        Some(format!("{year:04}{rest}"))
    };
    let value = Value::Time(Time::canonical(
        Text::from(moved(time.as_str())?),
        time.kind(),
    ));
    let literal = literal.strip_prefix('\'').and_then(moved);
    Some((value, literal.map(|rest| format!("'{rest}"))))
}
