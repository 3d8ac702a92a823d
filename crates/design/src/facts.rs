//! What is known of the data's size: from samples of the rows where there are any, else from the catalog's estimates. They
//! price a design and prove nothing.

use std::collections::BTreeSet;

use dynafold_format::{float, joined, whole};
use dynafold_relational::catalog::{
    Catalog, Column, DataType, ForeignKey, ReferentialAction, Table,
};
use dynafold_relational::scan::Scan;
use dynafold_sql::{Comparator, Constant, WriteKind, identifier};

use crate::ask::{Ask, Filter, Test, When, ask};
use crate::observed::{ColumnSample, Observed};
use crate::path::{Path, Step};
use crate::writes::Values;
use crate::{SHORT, names_joined};

/// Rows that a table is taken to have where the database does not say.
const UNCOUNTED_ROWS: f64 = 1_000.0;
/// The share of rows that meet a condition of which nothing is known.
const UNKNOWN_SHARE: f64 = 0.1;
/// About how many bytes the key attributes and the type of an item have.
const KEY_BYTES: f64 = 60.0;

/// How many of some rows meet conditions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Met {
    /// The share of them that meets the conditions of which a statement says nothing.
    unsaid: f64,
    /// Whether they meet those of which it says something.
    said: Option<bool>,
    /// Whether that share was counted.
    is_counted: bool,
}

impl Met {
    /// Without any condition.
    pub(crate) const ALL: Self = Self {
        unsaid: 1.0,
        said: None,
        is_counted: true,
    };

    const fn share(unsaid: f64, is_counted: bool) -> Self {
        Self {
            unsaid,
            said: None,
            is_counted,
        }
    }

    /// The share in which a column is not NULL: rows that have it do not say how often it gets a value.
    pub(crate) fn present(share: f64) -> Self {
        Self::share(share, share >= 1.0)
    }

    pub(crate) const fn said(is_met: bool) -> Self {
        Self {
            said: Some(is_met),
            ..Self::ALL
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        let said = match (self.said, other.said) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        Self {
            unsaid: self.unsaid * other.unsaid,
            said,
            is_counted: self.is_counted && other.is_counted,
        }
    }

    /// Whether a statement says that none of them meets all.
    pub(crate) fn is_never(self) -> bool {
        self.said == Some(false)
    }

    /// The share of them that meets all.
    pub(crate) fn of_all(self) -> f64 {
        if self.is_never() { 0.0 } else { self.unsaid }
    }
}

/// About how many entries of an index an UPDATE writes that sets a column of its key or of its condition, or how many items of a type
/// whose `where` names one, by the rows that are in it before and after. `stays`: those of an entry that stays, two if its key
/// changes. `taken_out`: what [`taken_out`] says, or 0 of an update that sets no column of the condition.
pub(crate) fn entries_changed(
    [before, after]: [Met; 2],
    stays: f64,
    taken_out: impl FnOnce() -> f64,
) -> f64 {
    let (was, is) = (before.of_all(), after.of_all());
    let changed = was * (1.0 - is) + (1.0 - was) * is + was * is * stays;
    match (before.said, after.said) {
        // The old entry, the new one or both.
        (None, None) if !before.is_counted => (2.0 * was.max(0.5)).min(stays.max(1.0)),
        // Few rows are in it because each leaves it soon.
        (None, None) => changed.max(taken_out()),
        // The row did not have the value that it sets.
        (None, Some(true)) if stays < 2.0 => after.unsaid,
        // Nor does it keep the one that it had.
        (Some(true), None) => changed.max(was),
        (None | Some(true), Some(false)) => leaving([before, after]).max(taken_out()),
        _ => changed,
    }
}

/// The share of the updates that take a row out of an index which say that it is not there after them, by what they do not say of
/// other conditions.
fn leaving([before, after]: [Met; 2]) -> f64 {
    if before.said.is_none() {
        after.unsaid
    } else {
        before.of_all()
    }
}

/// The share of the updates of which it is not known that takes a row out of an index: as many as other statements bring there. Of each
/// statement that decides about it: its rows a second, and the rows that are in the index before and after it.
pub(crate) fn taken_out(writes: impl Iterator<Item = (WriteKind, f64, [Met; 2])>) -> f64 {
    let (mut brought, mut updates) = (0.0_f64, 0.0_f64);
    for (kind, rate, [before, after]) in writes {
        brought += rate
            * match (kind, before.said, after.said) {
                (WriteKind::Insert, ..) => after.of_all(),
                (WriteKind::Delete, ..) => -before.of_all(),
                (WriteKind::Update, None, None) => {
                    updates += rate;
                    0.0
                }
                (WriteKind::Update, None | Some(true), Some(false)) => {
                    if leaving([before, after]) < 1.0 {
                        updates += rate;
                        0.0
                    } else {
                        -1.0
                    }
                }
                (WriteKind::Update, None, Some(true)) => after.unsaid,
                (WriteKind::Update, Some(true), None) => -before.of_all(),
                (WriteKind::Update, ..) => after.of_all() - before.of_all(),
            };
    }
    if updates > 0.0 {
        (brought / updates).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// The catalog with what was counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'d> {
    pub(crate) catalog: &'d Catalog,
    pub(crate) observed: &'d Observed,
}

/// Rows of a table; one at least.
pub(crate) fn rows(table: &Table) -> f64 {
    table.estimated_rows.map_or(UNCOUNTED_ROWS, float).max(1.0)
}

/// Whether a table has a foreign key to another.
pub(crate) fn leads_to(table: &Table, other: &Table) -> bool {
    let mut keys = table.foreign_keys.iter();
    keys.any(|key| key.references == other.name)
}

impl Facts<'_> {
    /// The other tables whose rows go with a row of this one by ON DELETE CASCADE, each with their mean number.
    pub(crate) fn cascading(&self, table: &Table) -> impl Iterator<Item = (&Table, f64)> {
        let others = self.catalog.tables.iter();
        let others = others.filter(move |child| child.name != table.name && child.is_stored());
        others.filter_map(move |child| {
            let keys = child.foreign_keys.iter().filter(|key| {
                key.references == table.name && key.on_delete == ReferentialAction::Cascade
            });
            let each = keys.map(|key| self.referring(child, key));
            let all = each.reduce(|sum, each| sum + each)?;
            Some((child, all * rows(child) / rows(table)))
        })
    }

    /// The share of a child's rows that a foreign key leads to a parent: its columns are not NULL.
    pub(crate) fn referring(&self, child: &Table, key: &ForeignKey) -> f64 {
        let columns = key.columns.iter().filter_map(|name| child.column(name));
        let present = columns.map(|column| self.present(child, column));
        present.fold(1.0, f64::min)
    }

    pub(crate) fn sample(&self, table: &Table, column: &Column) -> Option<&ColumnSample> {
        self.observed.column(table, &column.name)
    }

    /// The share of rows in which a column is not NULL.
    pub(crate) fn present(&self, table: &Table, column: &Column) -> f64 {
        let sample = self.sample(table, column);
        sample.map_or(1.0, |sample| float(sample.present) / float(sample.rows))
    }

    /// The share of a table's rows that have a value at a path: none of the references on the way is NULL, nor the column at its end.
    pub(crate) fn present_at(&self, path: &Path, table: &Table) -> f64 {
        let mut at = Some(table);
        let mut share = 1.0;
        for step in &path.steps {
            let columns = step.columns.iter();
            let present = columns.filter_map(|column| {
                let table = at?;
                Some(self.present(table, table.column(column)?))
            });
            share *= present.fold(1.0, f64::min);
            at = self.catalog.table(&step.table);
        }
        let column = path.find(table, self.catalog);
        share * column.map_or(1.0, |(table, column)| self.present(table, column))
    }

    /// Bytes of a column in an item: its name and its value.
    pub(crate) fn bytes(&self, table: &Table, column: &Column) -> f64 {
        let name = float(whole(column.name.len()));
        name * self.present(table, column) + self.value(table, column)
    }

    /// Bytes of a column's values as texts, on average over all rows: NULL has none.
    pub(crate) fn text(&self, table: &Table, column: &Column) -> f64 {
        let sample = self.sample(table, column);
        sample.map_or_else(
            || width(column),
            |sample| float(sample.bytes) / float(sample.rows),
        )
    }

    /// Bytes of a column's values as DynamoDB counts them, on average over all rows: NULL has none.
    pub(crate) fn value(&self, table: &Table, column: &Column) -> f64 {
        match self.sample(table, column) {
            Some(sample) => {
                let value = match &column.data_type {
                    DataType::Integer { .. }
                    | DataType::Decimal { .. }
                    | DataType::Float { .. } => float(sample.bytes) / 2.0 + float(sample.present),
                    DataType::Boolean => float(sample.present),
                    _ => float(sample.bytes),
                };
                value / float(sample.rows)
            }
            None => width(column),
        }
    }

    /// Bytes of an item with all columns of its table. Without samples an item of a large table has at least the bytes
    /// of a stored row.
    pub(crate) fn item(&self, table: &Table) -> f64 {
        let columns = || table.columns.iter();
        let of_columns = columns().map(|column| self.bytes(table, column));
        let by_columns = of_columns.sum::<f64>() + 2.0 * KEY_BYTES;
        let is_sampled = columns().any(|column| self.sample(table, column).is_some());
        // A small table takes whole pages, which say little of its rows.
        let has_many = table.estimated_rows.is_some_and(|rows| rows >= 100);
        if has_many && !is_sampled {
            by_columns.max(table.estimated_bytes.map_or(0.0, float) / rows(table))
        } else {
            by_columns
        }
    }

    /// About how many rows of a table refer to one row of the parent at the end of a path.
    pub(crate) fn having(&self, steps: &[Step], table: &Table) -> f64 {
        let mut at = Some(table);
        let mut is_single = true;
        for step in steps {
            let dbms = self.catalog.dbms;
            is_single &= at.is_some_and(|at| at.is_declared_unique(&step.columns, dbms));
            at = self.catalog.table(&step.table);
        }
        match at {
            Some(parent) if !is_single => (rows(table) / rows(parent)).max(1.0),
            _ => 1.0,
        }
    }

    /// Bytes of a column in an item, of the item's own table or of a parent.
    pub(crate) fn attribute(&self, path: &Path, table: &Table) -> f64 {
        let found = path.find(table, self.catalog);
        found.map_or(0.0, |(table, column)| self.bytes(table, column))
    }

    /// Bytes of a column in an item as far as it is a copy: 0 for one of the item's own table.
    pub(crate) fn copied(&self, path: &Path, table: &Table) -> f64 {
        if path.steps.is_empty() {
            0.0
        } else {
            self.attribute(path, table)
        }
    }

    /// Bytes of an entry of an index that has these columns: both keys of its own and of the table come with it.
    pub(crate) fn entry<'p>(&self, table: &Table, paths: impl Iterator<Item = &'p Path>) -> f64 {
        paths.map(|path| self.attribute(path, table)).sum::<f64>() + 2.0 * KEY_BYTES
    }

    /// About how many different values a column has.
    pub(crate) fn distinct(&self, path: &Path, table: &Table) -> f64 {
        let Some((at, column)) = path.find(table, self.catalog) else {
            return 1.0;
        };
        if at.row_key() == [column.name.clone()] {
            return rows(at);
        }
        if let Some(sample) = self.sample(at, column).filter(|one| one.is_told_apart()) {
            let found = float(sample.distinct).max(1.0);
            // Where most rows have a value of their own, so have the rows that were not looked at.
            let has_more = !sample.is_all && sample.distinct * 2 > sample.present;
            let scale = (rows(at) / float(sample.rows)).max(1.0);
            return if has_more { found * scale } else { found };
        }
        if let Some(distinct) = column.distinct {
            return float(distinct).max(1.0);
        }
        if !column.listed.is_empty() {
            return float(whole(column.listed.len()));
        }
        match &column.data_type {
            DataType::Boolean => return 2.0,
            DataType::Enum { values } => return float(whole(values.len())).max(1.0),
            _ => {}
        }
        let mut keys = at.foreign_keys.iter();
        let parent = keys.find(|key| key.columns == [column.name.clone()]);
        let parent = parent.and_then(|key| self.catalog.table(&key.references));
        parent.map_or_else(|| rows(at).sqrt(), rows)
    }

    /// The share of a table's rows that have the most frequent value of a column.
    pub(crate) fn most_frequent(&self, path: &Path, table: &Table) -> f64 {
        let mean = 1.0 / self.distinct(path, table);
        let found = path.find(table, self.catalog);
        let sample = found.and_then(|(table, column)| self.sample(table, column));
        // Of few rows a share says little.
        let sample = sample.filter(|one| one.most > 0 && float(one.present) > SHORT);
        sample.map_or(mean, |sample| {
            mean.max(float(sample.most) / float(sample.present))
        })
    }

    /// How many rows with these values meet a condition.
    pub(crate) fn met_by(&self, when: &When, table: &Table, values: &Values) -> Met {
        let (share, is_counted) = self.counted_share(when, table);
        let said = when.takes(values);
        said.map_or(Met::share(share, is_counted), Met::said)
    }

    /// In how many rows with these values a column is not NULL.
    pub(crate) fn given(&self, path: &Path, table: &Table, values: &Values) -> Met {
        match values.get(&path.column).filter(|_| path.steps.is_empty()) {
            Some(Constant::Null) => Met::said(false),
            Some(_) => Met::ALL,
            None => Met::present(self.present_at(path, table)),
        }
    }

    /// How many of a table's rows with these values meet a condition in a mapping's words.
    pub(crate) fn met(&self, condition: &str, scan: &Scan, table: &Table, values: &Values) -> Met {
        let counted = (table.name.clone(), condition.to_owned());
        let counted = self.observed.conditions.get(&counted);
        let counted = counted.map(|share| Met::share(share.clamp(1.0 / rows(table), 1.0), true));
        if let Some(counted) = counted.filter(|_| values.is_empty()) {
            return counted;
        }
        let conditions = self.conditions(condition, scan, table);
        if conditions.is_empty() {
            return counted.unwrap_or(Met::share(UNKNOWN_SHARE, false));
        }
        let each = conditions
            .iter()
            .map(|when| self.met_by(when, table, values));
        let all = each.fold(Met::ALL, Met::and);
        counted.filter(|_| all.said.is_none()).unwrap_or(all)
    }

    /// Whether a condition in a mapping's words is one that rows with these values are said to meet.
    pub(crate) fn is_surely_met(
        &self,
        condition: &str,
        scan: &Scan,
        table: &Table,
        values: &Values,
    ) -> bool {
        let conditions = self.conditions(condition, scan, table);
        let mut takes = conditions.iter().map(|when| when.takes(values));
        !conditions.is_empty() && takes.all(|takes| takes == Some(true))
    }

    /// What a condition in a mapping's words asks of a table's rows and of the parents that their scan joins.
    pub(crate) fn conditions(&self, condition: &str, scan: &Scan, table: &Table) -> Vec<When> {
        let name = |name: &str| identifier(name, self.catalog.dbms);
        let from = name(&table.name.name);
        let mut needed = BTreeSet::new();
        for (at, join) in scan.joins.iter().enumerate().rev() {
            if needed.contains(&at) || names_joined(condition, join, Some(table), self.catalog) {
                needed.insert(at);
                needed.extend(join.on.iter().filter_map(|one| one.join));
            }
        }
        let joins = needed.into_iter().filter_map(|at| scan.joins.get(at));
        let joins = joins.map(|join| {
            let alias = name(&join.alias);
            let on = join.on.iter().map(|one| {
                let before = one.join.and_then(|at| scan.joins.get(at));
                let ours = before.map_or_else(|| from.clone(), |before| name(&before.alias));
                format!("{alias}.{} = {ours}.{}", name(&one.theirs), name(&one.ours))
            });
            let on = joined(on, " AND ");
            format!(" JOIN {} AS {alias} ON {on}", name(&join.table.name))
        });
        let joins: String = joins.collect();
        let key = table.row_key().first().map_or_else(String::new, |key| {
            format!(" AND {from}.{} = :key", name(key))
        });
        let sql = format!("SELECT {from}.* FROM {from}{joins} WHERE ({condition}){key}");
        let asks = ask(&sql, self.catalog, self.observed).unwrap_or_default();
        let conditions = asks.last().into_iter().flat_map(Ask::conditions);
        conditions.cloned().collect()
    }

    /// The share of rows that meet a condition without parameters.
    pub(crate) fn share(&self, when: &When, table: &Table) -> f64 {
        self.counted_share(when, table).0
    }

    /// The same, and whether it was counted.
    fn counted_share(&self, when: &When, table: &Table) -> (f64, bool) {
        let counted = when.counted(table, self.catalog.dbms);
        if let Some(share) = counted.and_then(|counted| self.observed.conditions.get(&counted)) {
            return (share.clamp(1.0 / rows(table), 1.0), true);
        }
        let filter = when.filter.as_ref();
        let share = filter.map_or(UNKNOWN_SHARE, |filter| self.passing(filter, table));
        (share, false)
    }

    /// The share of rows that pass a filter.
    fn passing(&self, filter: &Filter, table: &Table) -> f64 {
        let path = &filter.path;
        let found = path.find(table, self.catalog);
        // NULL meets no comparison.
        let present = found.map_or(1.0, |(table, column)| self.present(table, column));
        let one = present / self.distinct(path, table).max(2.0);
        let share = match &filter.test {
            Test::Exists => self.present_at(path, table),
            Test::Missing => 1.0 - self.present_at(path, table),
            Test::Compare(Comparator::NotEqual, _) => present - one,
            Test::In { list, negated } => {
                let listed = one * float(whole(list.len()));
                if *negated { present - listed } else { listed }
            }
            Test::Compare(Comparator::Equal, _) | Test::BeginsWith(_) => one,
            Test::Compare(..) | Test::All(_) | Test::Any(_) => UNKNOWN_SHARE,
        };
        share.clamp(1.0 / rows(table), 1.0)
    }

    /// About how many rows of its item type a read finds by its key.
    pub(crate) fn found(&self, ask: &Ask<'_>) -> f64 {
        let found = self.found_in_all(ask);
        // A filter reads on until the limit is full.
        let limit = ask.limit.map_or(f64::INFINITY, float);
        found.min(limit / self.passing_all(ask))
    }

    /// The share of the items that a read finds by its key which its filters let through.
    pub(crate) fn passing_all(&self, ask: &Ask<'_>) -> f64 {
        let stands_for = |filter: &&Filter| {
            let mut filtered = ask.filtered.iter();
            filtered.any(|when| when.filter.as_ref() == Some(*filter))
        };
        let others = ask.filters.iter().filter(|filter| !stands_for(filter));
        let others = others.map(|filter| self.passing(filter, ask.root));
        let filtered = ask.filtered.iter().map(|when| self.share(when, ask.root));
        others.chain(filtered).product()
    }

    /// About how many rows a read answers: what it finds, up to its limit.
    pub(crate) fn answered(&self, ask: &Ask<'_>) -> f64 {
        let limit = ask.limit.map_or(f64::INFINITY, float);
        self.found(ask).min(limit)
    }

    /// About how many rows a read finds by its key for the values that most rows have.
    pub(crate) fn most_found(&self, ask: &Ask<'_>) -> f64 {
        let found = self.found(ask);
        if self.asks_for_key(ask) || ask.limit.is_some() && ask.filters.is_empty() {
            return found;
        }
        let asked = ask.equal.iter().filter(|equal| equal.when.is_none());
        let most = asked.filter_map(|equal| {
            let (table, column) = equal.path.find(ask.root, self.catalog)?;
            let sample = *self.sample(table, column)?;
            // A sample does not count them where each row has a value of its own.
            let is_unique = sample.most == 0 && sample.distinct == sample.present;
            let rows_with_one = if is_unique { 1 } else { sample.most };
            if rows_with_one == 0 {
                return None;
            }
            // The sample is of the rows of the column's table; the same share of the root's rows is meant.
            Some(float(rows_with_one) / float(sample.rows) * rows(ask.root))
        });
        let most = most.fold(f64::INFINITY, f64::min);
        if most.is_finite() {
            found.max(most * self.narrowed(ask))
        } else {
            found
        }
    }

    /// Whether samples say how many rows have the values that a read asks for.
    pub(crate) fn is_counted(&self, ask: &Ask<'_>) -> bool {
        ask.equal.iter().all(|equal| {
            let found = equal.path.find(ask.root, self.catalog);
            let sample = found.and_then(|(table, column)| self.sample(table, column));
            sample.is_some_and(ColumnSample::is_told_apart)
        })
    }

    /// The share of the rows with the values that a read asks for which also meet its range and its conditions.
    fn narrowed(&self, ask: &Ask<'_>) -> f64 {
        let when = ask.conditions().map(|when| self.share(when, ask.root));
        let range = if ask.range.is_some() {
            UNKNOWN_SHARE
        } else {
            1.0
        };
        when.product::<f64>() * range
    }

    /// Whether a read asks for the values of all columns of a key, and so finds one row.
    pub(crate) fn asks_for_key(&self, ask: &Ask<'_>) -> bool {
        self.has_key(ask, |path| ask.has_equal(path))
    }

    /// The same, where a filter asks for the values of some.
    pub(crate) fn filters_for_key(&self, ask: &Ask<'_>) -> bool {
        self.has_key(ask, |path| {
            let is_equal = |filter: &Filter| {
                filter.path == *path && matches!(filter.test, Test::Compare(Comparator::Equal, _))
            };
            ask.has_equal(path) || ask.filters.iter().any(is_equal)
        })
    }

    /// Whether all columns of a key of the row are asked for.
    fn has_key(&self, ask: &Ask<'_>, is_asked: impl Fn(&Path) -> bool) -> bool {
        let mut keys = ask.root.keys(self.catalog.dbms);
        let is_asked = |column: &String| is_asked(&Path::own(column));
        keys.any(|key| !key.columns.is_empty() && key.columns.iter().all(is_asked))
    }

    /// About how many rows of its item type a read finds by its key, were it without a limit.
    pub(crate) fn found_in_all(&self, ask: &Ask<'_>) -> f64 {
        let all = rows(ask.root);
        if self.asks_for_key(ask) {
            return 1.0;
        }
        let mut share = 1.0;
        for equal in ask.equal.iter().filter(|equal| equal.when.is_none()) {
            share *= self.present_at(&equal.path, ask.root) / self.distinct(&equal.path, ask.root);
        }
        (all * share * self.narrowed(ask)).max(1.0)
    }
}

/// About how many bytes a value has, by its column's type.
fn width(column: &Column) -> f64 {
    match &column.data_type {
        DataType::Integer { .. } | DataType::Float { .. } => 6.0,
        DataType::Decimal { .. } => 8.0,
        DataType::Boolean => 1.0,
        DataType::Date => 10.0,
        DataType::Time { .. } => 8.0,
        DataType::Timestamp { .. } => 24.0,
        DataType::Uuid => 36.0,
        DataType::Text { max_chars } => {
            max_chars.map_or(24.0, |most| (float(most) / 2.0).clamp(2.0, 64.0))
        }
        DataType::Enum { .. } | DataType::Set { .. } | DataType::Interval => 12.0,
        DataType::Binary { max_bytes } => {
            max_bytes.map_or(64.0, |most| float(most).clamp(2.0, 256.0))
        }
        _ => 64.0,
    }
}

/// A number rounded to so many significant digits.
pub(crate) fn significant(number: f64, digits: usize) -> f64 {
    let rounded = format!("{number:.*e}", digits.saturating_sub(1));
    rounded.parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_that_says_one_of_two_conditions_takes_out_what_others_bring() {
        // `status = 'new' AND driver IS NULL`, of which a tenth of the rows meets the latter.
        let both = |is_met| Met::said(is_met).and(Met::share(0.1, true));
        let neither = Met::share(0.01, true);
        let new = (WriteKind::Insert, 10.0, [Met::ALL; 2]);
        for before in [both(true), neither] {
            let assign = [before, both(false)];
            let entries = |others: &[(WriteKind, f64, [Met; 2])]| {
                let all = [(WriteKind::Update, 10.0, assign)].into_iter();
                let all = all.chain(others.iter().copied());
                entries_changed(assign, 0.0, || taken_out(all))
            };
            assert!((entries(&[]) - 0.1).abs() < 1e-9);
            assert!((entries(&[new]) - 1.0).abs() < 1e-9);
            // What a DELETE takes out does not leave by the update.
            let gone = (WriteKind::Delete, 5.0, [Met::ALL; 2]);
            assert!((entries(&[new, gone]) - 0.5).abs() < 1e-9);
        }
    }
}
