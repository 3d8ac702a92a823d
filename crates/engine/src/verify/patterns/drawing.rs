//! How calls are drawn: groups of parameters whose columns are of one table, moments, bounds.

use std::collections::HashSet;

use dynafold_mapping::access::{self, moment, plan};
use dynafold_mapping::item::text_of;
use dynafold_mapping::model::{AccessPattern, Parameter, ParameterKind, Template};
use dynafold_mapping::template::Filter;
use dynafold_mapping::{kind_of, writing};
use dynafold_relational::catalog::{Column, Dbms, TableName};
use dynafold_relational::value::{TimeKind, Value, compare};
use dynafold_source::{Dialect, Source};
use dynafold_sql::Bound;

use super::call::{Call, DrawError, Drawn, Ground, Why};
use super::literal::{in_form, literal};
use super::origin::{Given, Whence};
use super::tuples::{Cell, Columns, Tuple};

/// Parameters whose columns are of one table.
pub(super) struct Group<'a> {
    pub(super) columns: Columns<'a>,
    /// The parameters, each with the place of its column.
    pub(super) members: Vec<(usize, usize)>,
}

/// Values of parameters, by the parameters' places.
pub(super) type Cells = Vec<(usize, Cell)>;

pub(super) struct Drawing<'d, 'a> {
    pub(super) ground: &'d Ground<'a>,
    pub(super) pattern: &'d AccessPattern,
    pub(super) given: Vec<Given<'a>>,
    /// Moments.
    pub(super) fixed: Cells,
    pub(super) drawn: Drawn,
    pub(super) seen: HashSet<Vec<String>>,
    pub(super) dbms: Dbms,
    pub(super) dialect: &'static dyn Dialect,
}

impl<'a> Drawing<'_, 'a> {
    pub(super) fn groups(&self) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for (at, given) in self.given.iter().enumerate() {
            let Whence::Column(table, column) = given.origin else {
                continue;
            };
            let found = groups.iter().position(|group| group.columns.table == table);
            let found = found.unwrap_or_else(|| {
                let columns = Columns {
                    table,
                    columns: Vec::new(),
                };
                let members = Vec::new();
                groups.push(Group { columns, members });
                groups.len() - 1
            });
            let Some(group) = groups.get_mut(found) else {
                continue;
            };
            let columns = &mut group.columns.columns;
            let place = columns.iter().position(|other| other.name == column.name);
            let place = place.unwrap_or_else(|| {
                columns.push(column);
                columns.len() - 1
            });
            group.members.push((at, place));
        }
        groups
    }

    /// How many calls there are with values that occur: `None` for bounds and moments, of which there are always more.
    pub(super) async fn possible(
        &self,
        source: &mut dyn Source,
        groups: &[Group<'a>],
        lists: &[Vec<(Why, Cells)>],
    ) -> Result<Option<u64>, DrawError> {
        let is_countable = |given: &Given<'_>| {
            given.side == Bound::Equal && matches!(given.origin, Whence::Column(..))
        };
        if !self.given.iter().all(is_countable) {
            return Ok(None);
        }
        let mut possible = Some(1);
        for (group, list) in groups.iter().zip(lists) {
            let is_whole = list.iter().all(|(why, _)| *why == Why::All);
            let count = if is_whole {
                u64::try_from(list.len()).ok()
            } else {
                group.columns.count(source).await?
            };
            possible = possible
                .zip(count)
                .and_then(|(all, count): (u64, u64)| all.checked_mul(count));
        }
        Ok(possible)
    }

    /// The moments, counted from the run's clock.
    pub(super) async fn moments(&self, source: &mut dyn Source) -> Result<Cells, DrawError> {
        let mut cells = Cells::new();
        for (at, given) in self.given.iter().enumerate() {
            let Whence::Clock(template, column) = &given.origin else {
                continue;
            };
            let cell = self.moment(source, given, template, *column).await?;
            cells.push((at, cell));
        }
        Ok(cells)
    }

    async fn moment(
        &self,
        source: &mut dyn Source,
        given: &Given<'_>,
        template: &Template,
        column: Option<(&TableName, &Column)>,
    ) -> Result<Cell, DrawError> {
        let of = |kind: ParameterKind| {
            let parameter = Parameter {
                name: given.name.clone(),
                kind,
                from_clock: Some(template.clone()),
                needs_schema: false,
            };
            let value = moment(&parameter, self.ground.context);
            let refused = |text: String| DrawError::Moment(given.name.clone(), text);
            match value {
                Ok(value) => value.ok_or_else(|| refused("it has none".to_owned())),
                Err(error) => Err(refused(error.to_string())),
            }
        };
        let kind = column.and_then(|(_, column)| kind_of(&column.data_type));
        let own = given.parameter.map(|parameter| parameter.kind);
        let value = of(own.or(kind).unwrap_or(ParameterKind::Time(None)))?;
        let compared = of(kind.or(own).unwrap_or(ParameterKind::Time(None)))?;
        let (dbms, dialect) = (source.dbms(), source.dialect());
        let mut written = literal(&compared, dbms, dialect).unwrap_or_default();
        if let (Dbms::Sqlite, Some((table, column)), Value::Time(time)) = (dbms, column, &compared)
        {
            let columns = vec![column];
            let ends = Columns { table, columns }.ends(source).await?;
            if let Some((sample, _)) = ends {
                written = in_form(time.as_str(), &sample.literal);
            }
        }
        Ok(Cell {
            value,
            literal: written,
        })
    }

    /// Tuples of columns as tuples of parameters: a column with two of them gives bounds.
    pub(super) fn bounds(
        &self,
        group: &Group<'_>,
        tuples: Vec<Tuple>,
        most: usize,
    ) -> Vec<(Why, Cells)> {
        let pair = self.pair(group);
        let Some((low, high, place)) = pair else {
            let of = |cells: Vec<Cell>| {
                let members = group.members.iter();
                let cells =
                    members.filter_map(|(at, place)| Some((*at, cells.get(*place)?.clone())));
                cells.collect()
            };
            return tuples
                .into_iter()
                .map(|(why, cells)| (why, of(cells)))
                .collect();
        };
        let others = |cells: &[Cell]| -> Vec<String> {
            let all = cells.iter().enumerate().filter(|(at, _)| *at != place);
            all.map(|(_, cell)| cell.literal.clone()).collect()
        };
        let mut drawn: Vec<(Why, Cells)> = Vec::new();
        for (number, (why, cells)) in tuples.iter().enumerate() {
            let Some(from) = cells.get(place) else {
                continue;
            };
            let alike = tuples
                .iter()
                .filter(|(_, other)| others(other) == others(cells));
            let alike = alike.filter_map(|(_, other)| other.get(place));
            let mut later: Vec<&Cell> = alike
                .filter(|other| compare(&other.value, &from.value).is_gt())
                .collect();
            later.sort_by(|a, b| compare(&a.value, &b.value));
            // In turn: up to the last one, up to the next one, and equal bounds.
            let until = match number % 3 {
                0 => later.last().copied(),
                1 => later.first().copied(),
                _ => None,
            };
            let until = until.unwrap_or(from);
            let mut given: Cells = Vec::new();
            for (at, other) in &group.members {
                let cell = match *at {
                    at if at == low => Some(from),
                    at if at == high => Some(until),
                    _ => cells.get(*other),
                };
                given.extend(cell.map(|cell| (*at, cell.clone())));
            }
            // Every value has its turn, and not every pair.
            drawn.push(((*why).max(Why::Common), given));
        }
        drawn.truncate(most);
        drawn
    }

    /// The two parameters of a group that bound one column: the lower, the upper, and the column.
    fn pair(&self, group: &Group<'_>) -> Option<(usize, usize, usize)> {
        let side = |at: usize| self.given.get(at).map(|given| given.side);
        let mut places = group.members.iter().map(|(_, place)| *place);
        places.find_map(|place| {
            let mut both = group.members.iter().filter(|(_, other)| *other == place);
            let (first, _) = both.next()?;
            let (second, _) = both.next()?;
            if matches!(side(*first), Some(Bound::High(_)))
                || matches!(side(*second), Some(Bound::Low(_)))
            {
                return Some((*second, *first, place));
            }
            Some((*first, *second, place))
        })
    }

    /// Adds a call, unless it makes no key or was added before.
    pub(super) fn call(&mut self, why: Why, cells: &[(usize, Cell)]) {
        let all: Vec<&(usize, Cell)> = cells.iter().chain(&self.fixed).collect();
        let cell = |at: usize| {
            all.iter()
                .find(|(other, _)| *other == at)
                .map(|(_, cell)| cell)
        };
        let is_own = !matches!(why, Why::Absent | Why::Beyond | Why::Variant);
        let mut values = Vec::new();
        let (mut given, mut literals) = (Vec::new(), Vec::new());
        for (at, each) in self.given.iter().enumerate() {
            let Some(cell) = cell(at) else { return };
            let mut written = cell.literal.clone();
            let value = match each.parameter {
                None => cell.value.clone(),
                Some(parameter) => {
                    let Some(value) = self.taken(parameter, each, &cell.value) else {
                        self.drawn.refused += u64::from(is_own);
                        return;
                    };
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
        if plan(self.pattern, &values, self.ground.context).is_err() {
            self.drawn.refused += u64::from(is_own);
            return;
        }
        let key = literals
            .iter()
            .map(|(_, literal)| literal.clone())
            .collect();
        if self.seen.insert(key) {
            self.drawn.calls.push(Call {
                values,
                given,
                why,
                literals,
            });
        }
    }

    /// A value of a column as a parameter takes it.
    pub(super) fn taken(
        &self,
        parameter: &Parameter,
        given: &Given<'_>,
        value: &Value,
    ) -> Option<Value> {
        let mut value = value.clone();
        if parameter.kind == ParameterKind::Text {
            for filter in &given.written {
                value = filter.apply(value, self.ground.context).ok()?;
            }
        }
        match (parameter.kind, &value) {
            (ParameterKind::Binary | ParameterKind::Hex, Value::Bytes(_)) => Some(value),
            (ParameterKind::Boolean, Value::Number(number)) => match number.as_str() {
                "0" => Some(Value::Bool(false)),
                "1" => Some(Value::Bool(true)),
                _ => None,
            },
            _ => access::read(parameter, text_of(&value).ok()?).ok(),
        }
    }
}

/// Whether a parameter takes another value than the column holds: what filters of the key make of it,
/// which the pattern leaves to its caller. A number with zeros before it is the same number, and so are
/// times and bytes that are written as text.
fn is_another(given: &Given<'_>, held: &Value, taken: &Value) -> bool {
    let is_form = |filter: &Filter| match (filter, held) {
        (Filter::Pad { .. }, Value::Number(_))
        | (Filter::Iso, Value::Time(_))
        | (Filter::Hex | Filter::Base64 | Filter::Uuid { .. }, Value::Bytes(_)) => true,
        (Filter::Date, Value::Time(time)) => time.kind() == TimeKind::Date,
        _ => false,
    };
    let is_column = matches!(given.origin, Whence::Column(..));
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
