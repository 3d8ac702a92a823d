//! Ranges of a scan's base relation: the SQL condition of a range, and how a table is cut into ranges.
//!
//! The database compares the bounds, with its own types and collations; here a bound is only text. It may come from a state file,
//! so it always becomes exactly one literal of the statement.

use async_trait::async_trait;
use dynafold_relational::catalog::TableName;
use dynafold_relational::scan::{Range, RangeKey, Relation, Scan};

use super::{Dialect, Result, Source};

/// The SQL condition for the rows of a range. `base`: the quoted name of the relation. `None` for the range of all rows.
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

/// The columns that a table is cut by, each behind the quoted name of the relation.
fn columns(by: &RangeKey, dialect: &dyn Dialect, base: &str) -> Vec<String> {
    match by {
        RangeKey::Key(names) => {
            let quoted = names.iter().map(|name| dialect.quote(name));
            quoted.map(|name| format!("{base}.{name}")).collect()
        }
        RangeKey::Place => vec![format!("{base}.{}", dialect.place())],
    }
}

/// An SQL comparison of a key with values. `sign` compares the last column; `beyond` compares an earlier column, if it decides
/// alone. With too many or too few values, the database refuses the statement.
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

// Cuts a table into ranges with about the same number of rows.
//
// A dense key of one integer is cut into even steps: no step has more rows than its width. For every other key, the index is
// walked, and every so many rows end a range; that is exact, however the values are distributed.

/// Key values that are probed for a row.
const PROBES: i128 = 64;
/// Probes that must find a row for the key to count as dense: more than a third.
const MIN_HITS: i128 = 22;

/// What a column of a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyColumnKind {
    /// Integers, with which ranges can be calculated.
    Integer,
    Number,
    /// Text, and values that the database reads from text: times, UUIDs.
    Text,
    Bytes,
}

/// The questions to a database that cutting needs.
#[async_trait]
pub(super) trait RangeProbe: Source + Sized {
    /// Cuts a table into ranges of about `rows` rows; empty where it has no usable key.
    async fn ranges(&mut self, table: &TableName, rows: u64) -> Result<Vec<Range>>;

    /// The first row of a query, its values as text for a [`Range`]. `None` if there is no row, or a value has no such text.
    async fn row(&mut self, sql: String, kinds: &[KeyColumnKind]) -> Result<Option<Vec<String>>>;

    /// Whether the database uses an index for a scan with a range, and for the children of its rows.
    async fn is_indexed(&mut self, part: &Scan) -> Result<bool>;
}

/// Cuts a scan's table into ranges; empty where that is impossible, or no index would be used.
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
            // No visible row: one range is enough.
            return Ok(Some(Range::between(&self.by, Vec::new())));
        };
        let span = last - first + 1;
        let rows = i128::from(rows);
        if span <= rows {
            return Ok(Some(Range::between(&self.by, Vec::new())));
        }
        let mut probes: Vec<i128> = (0..PROBES)
            .map(|nth| first + probe_offset(nth, span))
            .collect();
        probes.dedup();
        let probe_count = i128::try_from(probes.len()).unwrap_or(PROBES);
        let probes: Vec<String> = probes.iter().map(i128::to_string).collect();
        let sql = format!(
            "SELECT count(*) FROM {} AS t WHERE {} IN ({})",
            self.dialect.table(self.table),
            self.columns().concat(),
            probes.join(", ")
        );
        let hits = number(probe.row(sql, &[KeyColumnKind::Integer]).await?);
        let Some(hits) = hits.filter(|hits| hits * PROBES >= MIN_HITS * probe_count) else {
            return Ok(None);
        };
        let step = (rows * probe_count / hits).max(1);
        let mut bounds = Vec::new();
        let mut bound = first + step - 1;
        while bound < last {
            bounds.push(vec![bound.to_string()]);
            bound += step;
        }
        Ok(Some(Range::between(&self.by, bounds)))
    }

    /// The least key; with the order ` DESC`, the greatest.
    async fn end(&self, probe: &mut impl RangeProbe, order: &str) -> Result<Option<i128>> {
        let column = self.columns().concat();
        let table = self.dialect.table(self.table);
        let sql = format!("SELECT {column} FROM {table} AS t ORDER BY {column}{order} LIMIT 1");
        Ok(number(probe.row(sql, &self.kinds).await?))
    }

    /// Ranges that each end after `rows` rows, along the index.
    async fn walk(&self, probe: &mut impl RangeProbe, rows: u64) -> Result<Vec<Range>> {
        let mut bounds: Vec<Vec<String>> = Vec::new();
        loop {
            let sql = self.next_bound(bounds.last(), rows);
            let Some(bound) = probe.row(sql, &self.kinds).await? else {
                return Ok(Range::between(&self.by, bounds));
            };
            // If a value is not read back as itself, this loop would never end.
            if bounds.last() == Some(&bound) {
                return Ok(Vec::new());
            }
            bounds.push(bound);
        }
    }

    /// The SQL query for the key `rows` rows after this one.
    pub(super) fn next_bound(&self, after: Option<&Vec<String>>, rows: u64) -> String {
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

/// The distance of a probe from the first key. Probes are spread over the span, and unevenly, in case keys have a regular step.
fn probe_offset(nth: i128, span: i128) -> i128 {
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
            let offsets: Vec<i128> = (0..PROBES).map(|nth| probe_offset(nth, span)).collect();
            assert!(offsets.is_sorted(), "{span}");
            assert!(offsets.iter().all(|offset| (0..span).contains(offset)));
        }
        let odd = (0..PROBES).filter(|nth| probe_offset(*nth, 1 << 40) % 2 == 1);
        assert!((16..48).contains(&odd.count()));
    }
}
