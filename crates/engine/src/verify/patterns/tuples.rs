//! Reads the values of a table's columns that occur together: the common, the rare, the smallest and
//! the largest, each with its literal.

use std::collections::HashSet;

use dynafold_relational::catalog::{Column, DataType, Dbms, TableName};
use dynafold_relational::value::Value;
use dynafold_source::{Source, SourceError};

use super::call::Why;
use super::literal::literal;

/// A value with the literal under which its source finds it again.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    pub(super) value: Value,
    pub(super) literal: String,
}

/// Values that occur together, and why they were drawn.
pub(super) type Tuple = (Why, Vec<Cell>);

/// Columns of one table.
pub(super) struct Columns<'a> {
    pub(super) table: &'a TableName,
    pub(super) columns: Vec<&'a Column>,
}

impl Columns<'_> {
    /// Draws up to `most` tuples; all that there are if they are no more. Those with a NULL are none. `left_out`: a
    /// condition on rows that make no item.
    pub(super) async fn draw(
        &self,
        source: &mut dyn Source,
        most: usize,
        left_out: Option<&str>,
    ) -> Result<Vec<Tuple>, SourceError> {
        let up = self.names(source, "", ", ");
        let down = self.names(source, " DESC", ", ");
        let common = format!("count(*) DESC, {up}");
        let all = self.read(source, None, &common, most + 1).await?;
        if all.len() <= most {
            return Ok(all.into_iter().map(|cells| (Why::All, cells)).collect());
        }
        let share = (most / 5).max(1);
        let rare = format!("count(*), {down}");
        let mut parts = vec![
            (Why::Common, all),
            (Why::Smallest, self.read(source, None, &up, share).await?),
            (Why::Largest, self.read(source, None, &down, share).await?),
            (Why::Rare, self.read(source, None, &rare, most).await?),
        ];
        if let Some(left_out) = left_out {
            let found = self.read(source, Some(left_out), &common, share).await?;
            parts.insert(0, (Why::LeftOut, found));
        }
        let mut seen = HashSet::new();
        let mut drawn = Vec::new();
        for (why, rows) in parts {
            let room = match why {
                Why::Common => most.saturating_sub(share * 3 + drawn.len()).max(1),
                Why::Rare => most,
                _ => share,
            };
            let fresh = rows.into_iter().filter(|cells| {
                let literals: Vec<String> = cells.iter().map(|cell| cell.literal.clone()).collect();
                seen.insert(literals)
            });
            let room = room.min(most.saturating_sub(drawn.len()));
            drawn.extend(fresh.take(room).map(|cells| (why, cells)));
        }
        Ok(drawn)
    }

    /// The names, each with what stands behind it, and this between them.
    fn names(&self, source: &dyn Source, behind: &str, between: &str) -> String {
        let columns = self.columns.iter();
        let names = columns.map(|column| source.dialect().quote(&column.name) + behind);
        names.collect::<Vec<_>>().join(between)
    }

    /// Distinct tuples in an order, with the literals that SQLite itself writes: it compares times
    /// and numbers as they are stored.
    async fn read(
        &self,
        source: &mut dyn Source,
        condition: Option<&str>,
        order: &str,
        most: usize,
    ) -> Result<Vec<Vec<Cell>>, SourceError> {
        let (dbms, dialect) = (source.dbms(), source.dialect());
        let names = self.names(source, "", ", ");
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
        let mut given = self.names(source, " IS NOT NULL", " AND ");
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
                Some(Cell { value, literal })
            });
            cells.collect::<Option<Vec<Cell>>>()
        });
        Ok(tuples.collect())
    }

    /// How many distinct tuples there are without a NULL.
    pub(super) async fn count(&self, source: &mut dyn Source) -> Result<Option<u64>, SourceError> {
        let names = self.names(source, "", ", ");
        let table = source.dialect().table(self.table);
        let given = self.names(source, " IS NOT NULL", " AND ");
        let sql = format!(
            "SELECT count(*) AS found FROM (SELECT DISTINCT {names} FROM {table} WHERE {given}) AS q"
        );
        let bits = DataType::Integer {
            bits: 64,
            unsigned: false,
        };
        let found = Column::new("found".to_owned(), "bigint".to_owned(), bits);
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
    ) -> Result<Option<(Cell, Cell)>, SourceError> {
        let first = |rows: Vec<Vec<Cell>>| rows.into_iter().flatten().next();
        let up = self.names(source, "", ", ");
        let down = self.names(source, " DESC", ", ");
        let low = first(self.read(source, None, &up, 1).await?);
        let high = first(self.read(source, None, &down, 1).await?);
        Ok(low.zip(high))
    }
}
