//! Cuts a table into ranges of about as many rows each.
//!
//! A dense key of one integer is cut into even steps: no step holds more rows than it is wide. Every
//! other key is walked along its index, a step of rows at a time; that is exact, whatever the skew.

use futures_util::future::BoxFuture;

use super::{By, Dialect, Range, SourceError};
use crate::catalog::TableName;

/// Places at which it is looked whether a row is there.
const PROBES: i128 = 64;
/// Rows that must be found at them for a key to count as dense: more than a third.
const FOUND: i128 = 22;

/// What a column of a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whole numbers, which can be counted with.
    Integer,
    /// Other numbers.
    Number,
    /// Text, and what the database reads from text: times, UUIDs.
    Text,
    /// Bytes.
    Bytes,
}

/// What cutting asks of a database.
pub(super) trait Probe: Send {
    /// The first row of a query of ours, its values as a [`Range`] says them. `None`: there is no
    /// row, or something in it cannot be said.
    fn row<'a>(
        &'a mut self,
        sql: String,
        kinds: &'a [Kind],
    ) -> BoxFuture<'a, Result<Option<Vec<String>>, SourceError>>;
}

/// A table and what it is cut by.
pub(super) struct Cutter<'a> {
    pub(super) dialect: &'a (dyn Dialect + Sync),
    pub(super) table: &'a TableName,
    pub(super) by: By,
    /// What the columns of the key hold.
    pub(super) kinds: Vec<Kind>,
}

impl Cutter<'_> {
    /// Ranges of about `rows` rows; empty where the key turns out not to be usable.
    pub(super) async fn cut(
        &self,
        probe: &mut dyn Probe,
        rows: u64,
    ) -> Result<Vec<Range>, SourceError> {
        let rows = rows.clamp(1, 1 << 40);
        if self.kinds == [Kind::Integer]
            && let Some(ranges) = self.steps(probe, rows).await?
        {
            return Ok(ranges);
        }
        self.walk(probe, rows).await
    }

    /// Even steps, where the key is dense.
    async fn steps(
        &self,
        probe: &mut dyn Probe,
        rows: u64,
    ) -> Result<Option<Vec<Range>>, SourceError> {
        let first = self.end(probe, "").await?;
        let last = self.end(probe, " DESC").await?;
        let (Some(first), Some(last)) = (first, last) else {
            // Not one row, as far as can be seen: one range is enough.
            return Ok(Some(Range::between(&self.by, Vec::new())));
        };
        let span = last - first + 1;
        let rows = i128::from(rows);
        if span <= rows {
            return Ok(Some(Range::between(&self.by, Vec::new())));
        }
        let mut places: Vec<i128> = (0..PROBES).map(|nth| first + place(nth, span)).collect();
        places.dedup();
        let asked = i128::try_from(places.len()).unwrap_or(PROBES);
        let places: Vec<String> = places.iter().map(i128::to_string).collect();
        let sql = format!(
            "SELECT count(*) FROM {} AS t WHERE {} IN ({})",
            self.dialect.table(self.table),
            self.columns().concat(),
            places.join(", ")
        );
        let found = number(probe.row(sql, &[Kind::Integer]).await?);
        let Some(found) = found.filter(|found| found * PROBES >= FOUND * asked) else {
            return Ok(None);
        };
        let step = (rows * asked / found).max(1);
        let mut bounds = Vec::new();
        let mut bound = first + step - 1;
        while bound < last {
            bounds.push(vec![bound.to_string()]);
            bound += step;
        }
        Ok(Some(Range::between(&self.by, bounds)))
    }

    /// The least or the greatest key.
    async fn end(&self, probe: &mut dyn Probe, order: &str) -> Result<Option<i128>, SourceError> {
        let column = self.columns().concat();
        let table = self.dialect.table(self.table);
        let sql = format!("SELECT {column} FROM {table} AS t ORDER BY {column}{order} LIMIT 1");
        Ok(number(probe.row(sql, &self.kinds).await?))
    }

    /// The key of every so many rows, along the index.
    async fn walk(&self, probe: &mut dyn Probe, rows: u64) -> Result<Vec<Range>, SourceError> {
        let mut bounds: Vec<Vec<String>> = Vec::new();
        loop {
            let sql = self.step(bounds.last(), rows);
            let Some(bound) = probe.row(sql, &self.kinds).await? else {
                return Ok(Range::between(&self.by, bounds));
            };
            // A value that is not read back as itself would have us here for ever.
            if bounds.last() == Some(&bound) {
                return Ok(Vec::new());
            }
            bounds.push(bound);
        }
    }

    /// Asks for the key that is so many rows after this one.
    pub(super) fn step(&self, after: Option<&Vec<String>>, rows: u64) -> String {
        let columns = self.columns().join(", ");
        let rest = Range {
            by: self.by.clone(),
            after: after.cloned(),
            to: None,
        };
        let condition = rest.condition(self.dialect, "t");
        let condition = condition.map_or_else(String::new, |rest| format!(" WHERE {rest}"));
        format!(
            "SELECT {columns} FROM {} AS t{condition} ORDER BY {columns} LIMIT 1 OFFSET {}",
            self.dialect.table(self.table),
            rows - 1
        )
    }

    fn columns(&self) -> Vec<String> {
        match &self.by {
            By::Key(names) => {
                let quoted = names.iter().map(|name| self.dialect.quote(name));
                quoted.map(|name| format!("t.{name}")).collect()
            }
            By::Place => vec![format!("t.{}", self.dialect.place())],
        }
    }
}

/// The place of a probe: spread over the span, and off any beat that the keys may have.
fn place(nth: i128, span: i128) -> i128 {
    let within = (nth * 619 + 211) % 1000;
    (span - 1) * (nth * 1000 + within) / (PROBES * 1000)
}

fn number(row: Option<Vec<String>>) -> Option<i128> {
    row?.first()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_spread_over_the_span_and_within_it() {
        for span in [1, 2, 63, 64, 1000, 1 << 65] {
            let places: Vec<i128> = (0..PROBES).map(|nth| place(nth, span)).collect();
            assert!(places.is_sorted(), "{span}");
            assert!(places.iter().all(|place| (0..span).contains(place)));
        }
        let odd = (0..PROBES).filter(|nth| place(*nth, 1 << 40) % 2 == 1);
        assert!((16..48).contains(&odd.count()));
    }
}
