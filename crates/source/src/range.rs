//! Parts of a scan's base relation: the condition that leaves out all others, and how a table is cut into them.
//!
//! A range is compared by the database, under its own types and collations; what is kept here of a
//! bound is its text alone. Whatever that text is, it becomes one literal of the statement and never
//! more: it may come from a state file.

use async_trait::async_trait;
use dynafold_relational::catalog::TableName;
use dynafold_relational::scan::{Range, RangeKey, Relation, Scan};

use super::{Dialect, Result, Source};

/// The condition that leaves out the rows outside of a range, on the relation of this (quoted) name.
pub(super) fn condition(range: &Range, dialect: &dyn Dialect, base: &str) -> Option<String> {
    let columns = columns(&range.by, dialect, base);
    let bound = |values: &Option<Vec<String>>, sign: &str, beyond: &str| {
        let values = values.as_ref()?.iter();
        let values: Vec<String> = values.map(|value| dialect.literal(value)).collect();
        Some(compare(dialect, &columns, &values, sign, beyond))
    };
    let bounds = [bound(&range.after, ">", ">"), bound(&range.to, "<=", "<")];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    (!bounds.is_empty()).then(|| bounds.join(" AND "))
}

/// What a table is cut by, as columns of the relation of this (quoted) name.
fn columns(by: &RangeKey, dialect: &dyn Dialect, base: &str) -> Vec<String> {
    match by {
        RangeKey::Key(names) => {
            let quoted = names.iter().map(|name| dialect.quote(name));
            quoted.map(|name| format!("{base}.{name}")).collect()
        }
        RangeKey::Place => vec![format!("{base}.{}", dialect.place())],
    }
}

/// Compares a key with values. `sign` is between its last column and its value, `beyond` between another column and
/// its value where the columns after it are not asked. Too many or too few values are for the database to refuse.
fn compare(
    dialect: &dyn Dialect,
    columns: &[String],
    values: &[String],
    sign: &str,
    beyond: &str,
) -> String {
    if let ([column], [value]) = (columns, values) {
        return format!("{column} {sign} {value}");
    }
    if dialect.compares_rows() || columns.len() != values.len() {
        return format!("({}) {sign} ({})", columns.join(", "), values.join(", "));
    }
    let pairs = columns.iter().zip(values).rev();
    let nested = pairs.fold(None, |inner: Option<String>, (column, value)| {
        Some(match inner {
            None => format!("{column} {sign} {value}"),
            Some(inner) => {
                format!("{column} {beyond} {value} OR ({column} = {value} AND ({inner}))")
            }
        })
    });
    format!("({})", nested.unwrap_or_default())
}

// Cuts a table into ranges of about as many rows each.
//
// A dense key of one integer is cut into even steps: no step holds more rows than it is wide. Every
// other key is walked along its index, a step of rows at a time; that is exact, whatever the skew.

/// Places at which it is looked whether a row is there.
const PROBES: i128 = 64;
/// Rows that must be found at them for a key to count as dense: more than a third.
const FOUND: i128 = 22;

/// What a column of a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyColumnKind {
    /// Whole numbers, which can be counted with.
    Integer,
    Number,
    /// Text, and what the database reads from text: times, UUIDs.
    Text,
    Bytes,
}

/// What cutting asks of a database.
#[async_trait]
pub(super) trait RangeProbe: Source + Sized {
    /// Cuts a table into ranges of about `rows` rows; empty where it has no usable key.
    async fn ranges(&mut self, table: &TableName, rows: u64) -> Result<Vec<Range>>;

    /// The first row of a query of ours, its values as a [`Range`] says them. `None`: there is no
    /// row, or something in it cannot be said.
    async fn row(&mut self, sql: String, kinds: &[KeyColumnKind]) -> Result<Option<Vec<String>>>;

    /// Whether the rows of a scan with a range and their children are looked up along an index.
    async fn is_indexed(&mut self, part: &Scan) -> Result<bool>;
}

/// Cuts a scan's table.
pub(super) async fn cut(
    source: &mut impl RangeProbe,
    scan: &Scan,
    rows: u64,
) -> Result<Vec<Range>> {
    let Relation::Table(table) = &scan.from else {
        return Ok(Vec::new());
    };
    if scan.limit.is_some() {
        return Ok(Vec::new());
    }
    let ranges = source.ranges(table, rows).await?;
    let middle = ranges.get(ranges.len() / 2).filter(|_| ranges.len() > 1);
    let Some(middle) = middle else {
        return Ok(ranges);
    };
    let part = Scan {
        range: Some(middle.clone()),
        ..scan.clone()
    };
    let is_indexed = source.is_indexed(&part).await?;
    Ok(if is_indexed { ranges } else { Vec::new() })
}

/// A table and what it is cut by.
pub(super) struct Cutter<'a> {
    pub(super) dialect: &'a dyn Dialect,
    pub(super) table: &'a TableName,
    pub(super) by: RangeKey,
    /// What the columns of the key hold.
    pub(super) kinds: Vec<KeyColumnKind>,
}

impl Cutter<'_> {
    /// Ranges of about `rows` rows; empty where the key turns out not to be usable.
    pub(super) async fn cut(&self, probe: &mut impl RangeProbe, rows: u64) -> Result<Vec<Range>> {
        let rows = rows.clamp(1, 1 << 40);
        if self.kinds == [KeyColumnKind::Integer]
            && let Some(ranges) = self.steps(probe, rows).await?
        {
            return Ok(ranges);
        }
        self.walk(probe, rows).await
    }

    /// Even steps, where the key is dense.
    async fn steps(&self, probe: &mut impl RangeProbe, rows: u64) -> Result<Option<Vec<Range>>> {
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
        let probes = i128::try_from(places.len()).unwrap_or(PROBES);
        let places: Vec<String> = places.iter().map(i128::to_string).collect();
        let sql = format!(
            "SELECT count(*) FROM {} AS t WHERE {} IN ({})",
            self.dialect.table(self.table),
            self.columns().concat(),
            places.join(", ")
        );
        let found = number(probe.row(sql, &[KeyColumnKind::Integer]).await?);
        let Some(found) = found.filter(|found| found * PROBES >= FOUND * probes) else {
            return Ok(None);
        };
        let step = (rows * probes / found).max(1);
        let mut bounds = Vec::new();
        let mut bound = first + step - 1;
        while bound < last {
            bounds.push(vec![bound.to_string()]);
            bound += step;
        }
        Ok(Some(Range::between(&self.by, bounds)))
    }

    /// The least or the greatest key.
    async fn end(&self, probe: &mut impl RangeProbe, order: &str) -> Result<Option<i128>> {
        let column = self.columns().concat();
        let table = self.dialect.table(self.table);
        let sql = format!("SELECT {column} FROM {table} AS t ORDER BY {column}{order} LIMIT 1");
        Ok(number(probe.row(sql, &self.kinds).await?))
    }

    /// The key of every so many rows, along the index.
    async fn walk(&self, probe: &mut impl RangeProbe, rows: u64) -> Result<Vec<Range>> {
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
        let condition = condition(&rest, self.dialect, "t")
            .map_or_else(String::new, |rest| format!(" WHERE {rest}"));
        format!(
            "SELECT {columns} FROM {} AS t{condition} ORDER BY {columns} LIMIT 1 OFFSET {}",
            self.dialect.table(self.table),
            rows - 1
        )
    }

    fn columns(&self) -> Vec<String> {
        columns(&self.by, self.dialect, "t")
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
mod cut_tests {
    use super::*;

    #[test]
    fn probes_are_spread_over_the_span_and_within_it() {
        for span in [1, 2, 63, 64, 1000, 1 << 65] {
            let places: Vec<i128> = (0..PROBES).map(|nth| place(nth, span)).collect();
            assert!(places.is_sorted(), "{span}");
            assert!(places.iter().all(|place| (0..span).contains(place)));
        }
        let odd_places = (0..PROBES).filter(|nth| place(*nth, 1 << 40) % 2 == 1);
        assert!((16..48).contains(&odd_places.count()));
    }
}
