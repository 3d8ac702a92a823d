//! Values that the source holds, as calls are drawn from them: those of a table's columns that occur together, the common,
//! the rare, the smallest and the largest, each with the literal under which the source finds it again.

use std::collections::HashSet;

use dynafold_format::{hex, joined};
use dynafold_relational::catalog::{Column, DataType, Dbms, TableName};
use dynafold_relational::value::Value;
use dynafold_source::{Dialect, Source, SourceError};

use super::call::DrawReason;

/// A value with the literal under which its source finds it again.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LiteralCell {
    pub(super) value: Value,
    pub(super) literal: String,
}

/// Values that occur together, and why they were drawn.
pub(super) type DrawnTuple = (DrawReason, Vec<LiteralCell>);

/// Columns of one table.
pub(super) struct DrawnColumns<'a> {
    pub(super) table: &'a TableName,
    pub(super) columns: Vec<&'a Column>,
}

impl DrawnColumns<'_> {
    /// Draws up to `most` tuples; all that there are if they are no more. Those with a NULL are none. `left_out`: a
    /// condition on rows that make no item.
    pub(super) async fn draw(
        &self,
        source: &mut dyn Source,
        most: usize,
        left_out: Option<&str>,
    ) -> Result<Vec<DrawnTuple>, SourceError> {
        let up = self.column_list(source, "", ", ");
        let down = self.column_list(source, " DESC", ", ");
        let common = format!("count(*) DESC, {up}");
        let all = self.read(source, None, &common, most + 1).await?;
        if all.len() <= most {
            let tuples = all.into_iter().map(|cells| (DrawReason::All, cells));
            return Ok(tuples.collect());
        }
        let share = (most / 5).max(1);
        let mut drawn = DrawnTuples {
            most,
            seen: HashSet::new(),
            tuples: Vec::new(),
        };
        if left_out.is_some() {
            let rows = self.read(source, left_out, &common, share).await?;
            drawn.add(DrawReason::LeftOut, share, rows);
        }
        let room = most.saturating_sub(share * 3 + drawn.tuples.len()).max(1);
        drawn.add(DrawReason::Common, room, all);
        let smallest = self.read(source, None, &up, share).await?;
        drawn.add(DrawReason::Smallest, share, smallest);
        let largest = self.read(source, None, &down, share).await?;
        drawn.add(DrawReason::Largest, share, largest);
        let by_rarity = format!("count(*), {down}");
        let rare = self.read(source, None, &by_rarity, most).await?;
        drawn.add(DrawReason::Rare, most, rare);
        Ok(drawn.tuples)
    }

    /// The quoted names of the columns, each followed by `suffix`.
    fn column_list(&self, source: &dyn Source, suffix: &str, between: &str) -> String {
        let dialect = source.dialect();
        let columns = self.columns.iter();
        joined(
            columns.map(|column| dialect.quote(&column.name) + suffix),
            between,
        )
    }

    /// Distinct tuples in an order, with the literals that SQLite itself writes: it compares times
    /// and numbers as they are stored.
    async fn read(
        &self,
        source: &mut dyn Source,
        condition: Option<&str>,
        order: &str,
        most: usize,
    ) -> Result<Vec<Vec<LiteralCell>>, SourceError> {
        let (dbms, dialect) = (source.dbms(), source.dialect());
        let names = self.column_list(source, "", ", ");
        let mut outputs = names.clone();
        let mut columns: Vec<Column> = self.columns.iter().copied().cloned().collect();
        if dbms == Dbms::Sqlite {
            for column in &self.columns {
                let name = dialect.quote(&column.name);
                // `quote` ends where a text has a NUL.
                outputs.push_str(&format!(
                    ", CASE WHEN typeof({name}) = 'text' AND instr({name}, char(0)) \
                     THEN 'CAST(x''' || hex({name}) || ''' AS TEXT)' ELSE quote({name}) END"
                ));
            }
            columns.extend(self.columns.iter().map(|column| Column {
                data_type: DataType::Text { max_chars: None },
                ..(*column).clone()
            }));
        }
        let table = dialect.table(self.table);
        let mut given = self.column_list(source, " IS NOT NULL", " AND ");
        if let Some(condition) = condition {
            given = format!("{given} AND {condition}");
        }
        let sql = format!(
            "SELECT {outputs} FROM {table} WHERE {given} GROUP BY {names} ORDER BY {order} LIMIT {most}"
        );
        let rows = source.ask(&sql, &columns).await?;
        let tuples = rows.iter().filter_map(|row| {
            let width = self.columns.len();
            let cells = (0..width).map(|at| {
                let value = row.get(at)?.clone();
                let literal = match row.get(width + at) {
                    Some(Value::Text(quoted)) => quoted.to_string(),
                    _ => literal(&value, dbms, dialect)?,
                };
                Some(LiteralCell { value, literal })
            });
            cells.collect::<Option<Vec<LiteralCell>>>()
        });
        Ok(tuples.collect())
    }

    /// How many distinct tuples there are without a NULL.
    pub(super) async fn count(&self, source: &mut dyn Source) -> Result<Option<u64>, SourceError> {
        let names = self.column_list(source, "", ", ");
        let table = source.dialect().table(self.table);
        let given = self.column_list(source, " IS NOT NULL", " AND ");
        let sql = format!(
            "SELECT count(*) AS found FROM (SELECT DISTINCT {names} FROM {table} WHERE {given}) AS q"
        );
        let bigint = DataType::Integer {
            bits: 64,
            unsigned: false,
        };
        let found = Column::new("found".to_owned(), "bigint".to_owned(), bigint);
        let rows = source.ask(&sql, &[found]).await?;
        Ok(match rows.first().and_then(|row| row.first()) {
            Some(Value::Number(number)) => number.as_str().parse().ok(),
            _ => None,
        })
    }

    /// The smallest and the largest value of the first column.
    pub(super) async fn ends(
        &self,
        source: &mut dyn Source,
    ) -> Result<Option<(LiteralCell, LiteralCell)>, SourceError> {
        let first = |rows: Vec<Vec<LiteralCell>>| rows.into_iter().flatten().next();
        let up = self.column_list(source, "", ", ");
        let down = self.column_list(source, " DESC", ", ");
        let low = first(self.read(source, None, &up, 1).await?);
        let high = first(self.read(source, None, &down, 1).await?);
        Ok(low.zip(high))
    }
}

/// The tuples that are drawn, each once.
struct DrawnTuples {
    /// How many may be drawn.
    most: usize,
    /// The literals of the drawn ones.
    seen: HashSet<Vec<String>>,
    tuples: Vec<DrawnTuple>,
}

impl DrawnTuples {
    /// Adds the first of these tuples that are new, at most `room` of them.
    fn add(&mut self, why: DrawReason, room: usize, tuples: Vec<Vec<LiteralCell>>) {
        let room = room.min(self.most.saturating_sub(self.tuples.len()));
        let fresh = tuples.into_iter().filter(|cells| {
            let literals = cells.iter().map(|cell| cell.literal.clone());
            self.seen.insert(literals.collect())
        });
        self.tuples
            .extend(fresh.take(room).map(|cells| (why, cells)));
    }
}

/// A value as a literal; `None` for what has none: lists, documents, unfit values.
///
/// PostgreSQL's have no type, so that they take the column's. MySQL's text is hexadecimal, which
/// means the same in every SQL mode, and is compared under the column's collation.
pub(super) fn literal(value: &Value, dbms: Dbms, dialect: &dyn Dialect) -> Option<String> {
    let postgres = dbms == Dbms::Postgres;
    let quoted = |text: &str| {
        if postgres {
            dialect.literal(text)
        } else {
            dialect.literal(&format!("'{}'", text.replace('\'', "''")))
        }
    };
    Some(match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(truth) if postgres => quoted(if *truth { "true" } else { "false" }),
        Value::Bool(truth) => u8::from(*truth).to_string(),
        Value::Number(number) => dialect.literal(number.as_str()),
        Value::Text(text) => quoted(text),
        // MySQL does not take the letter of UTC; its session is in UTC.
        Value::Time(time) if !postgres => {
            let text = time.as_str().trim_end_matches('Z');
            quoted(&if dbms == Dbms::Sqlite {
                text.to_owned()
            } else {
                text.replacen('T', " ", 1)
            })
        }
        Value::Time(time) => quoted(time.as_str()),
        Value::Bytes(bytes) => {
            let digits = hex(bytes);
            if postgres {
                quoted(&format!("\\x{digits}"))
            } else {
                dialect.literal(&format!("x'{digits}'"))
            }
        }
        Value::List(_) | Value::Map(_) | Value::Set(_) | Value::Unfit(_) => return None,
    })
}

/// The literal of a time in the form in which a SQLite column holds its times: `sample` is a literal of the column.
pub(super) fn sqlite_time(time: &str, sample: &str) -> String {
    let sample = sample.trim_matches('\'');
    let zone = if sample.ends_with('Z') { "Z" } else { "" };
    let form = sample.trim_end_matches('Z');
    let mut text = time.trim_end_matches('Z').to_owned();
    if text.contains('.') {
        text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    if form.len() == 10 {
        text.truncate(10);
    } else if form.contains('.') && text.len() >= 19 {
        while text.len() < form.len() {
            text.push(if text.len() == 19 { '.' } else { '0' });
        }
    }
    if form.get(10..11) == Some(" ") {
        text = text.replacen('T', " ", 1);
    }
    format!("'{text}{zone}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_is_drawn_once_and_only_as_far_as_there_is_room() {
        let tuples = |literals: &[&str]| {
            let cells = literals.iter().map(|literal| {
                vec![LiteralCell {
                    value: Value::Null,
                    literal: (*literal).to_owned(),
                }]
            });
            cells.collect::<Vec<_>>()
        };
        let mut drawn = DrawnTuples {
            most: 4,
            seen: HashSet::new(),
            tuples: Vec::new(),
        };
        drawn.add(DrawReason::Common, 2, tuples(&["1", "2", "3"]));
        drawn.add(DrawReason::Smallest, 1, tuples(&["1", "3"]));
        drawn.add(DrawReason::Rare, 4, tuples(&["2", "4", "5"]));
        let all = drawn.tuples.iter();
        let found = all.map(|(why, cells)| (*why, cells[0].literal.as_str()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                (DrawReason::Common, "1"),
                (DrawReason::Common, "2"),
                (DrawReason::Smallest, "3"),
                (DrawReason::Rare, "4"),
            ]
        );
    }

    #[test]
    fn a_moment_takes_the_form_of_the_columns_own_times() {
        let time = "2020-01-01T10:00:00";
        assert_eq!(
            sqlite_time(time, "'2019-12-01T10:00:00'"),
            "'2020-01-01T10:00:00'"
        );
        assert_eq!(
            sqlite_time(time, "'2019-12-01 10:00:00.123'"),
            "'2020-01-01 10:00:00.000'"
        );
        assert_eq!(sqlite_time(time, "'2019-12-01'"), "'2020-01-01'");
        assert_eq!(
            sqlite_time("2020-01-01T10:00:00.000Z", "'2019-12-01 10:00:00Z'"),
            "'2020-01-01 10:00:00Z'"
        );
    }
}
