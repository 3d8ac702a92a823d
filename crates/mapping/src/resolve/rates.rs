//! What the rates of access patterns and item types come to for one partition.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use dynafold_dynamodb::price::{PARTITION_READS, PARTITION_WRITES};
use dynafold_dynamodb::{Index, KeyAttribute};
use dynafold_format::{count, counted, each_once, float, grouped, joined, rounded, text_if};
use dynafold_relational::catalog::{Column, DataType, Table};
use dynafold_relational::scan::{Relation, ScanColumn};

use super::keys::may_be_in;
use super::patterns::BoundPattern;
use super::proofs::has_condition;
use super::reached::PatternFinds;
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::Code;
use crate::model::{AccessPattern, Placeholder, Template, TemplatePart};
use crate::raw::Spanned;
use crate::template::Filter;

/// Write units a second that a table takes with its indexes (limits.md 29).
const TABLE_WRITES: f64 = 40_000.0;

/// Tells of rates that partitions cannot take, and of shards that do not fit the writes.
/// `finds`: what each pattern finds, in the same order.
pub(super) fn check(whole: &ResolvedMapping<'_>, bound: &[BoundPattern], finds: &[PatternFinds]) {
    let asked = bound.iter().zip(finds).flat_map(|(bound, finds)| {
        let found = finds.among(whole.resolved);
        let asked = AskedReads::of(whole, &bound.pattern, &found);
        asked
            .into_iter()
            .chain(AskedReads::fetched(whole, &bound.pattern, &found))
    });
    hot_reads(whole, &asked.collect::<Vec<_>>());
    let table = whole.table;
    let own = std::slice::from_ref(&table.partition);
    let all: Vec<&ResolvedItem> = whole.resolved.iter().collect();
    let of = |key| PartitionKey {
        whole,
        key,
        joins_shards: false,
    };
    let own = of(own);
    own.shards(bound, &all);
    own.few_values(&all, None);
    for (index, written) in table.indexes.iter().zip(&whole.raw.table.indexes) {
        let within = all.iter().copied().filter(|item| may_be_in(item, index));
        let within: Vec<&ResolvedItem> = within.collect();
        let key = of(&index.partition);
        key.shards(bound, &within);
        key.few_values(&within, Some((index, &written.name)));
    }
}

/// Most foreign keys that are followed from a column.
const MOST_STEPS: usize = 8;

/// A partition key, of the table or of an index, as the item types make its values.
#[derive(Clone, Copy)]
struct PartitionKey<'w, 'a> {
    whole: &'w ResolvedMapping<'a>,
    key: &'w [KeyAttribute],
    /// Whether all shards of a value are one.
    joins_shards: bool,
}

impl<'a> PartitionKey<'_, 'a> {
    /// A key of few values gives each the rows and the writes of many items. One value alone is `single-partition`.
    fn few_values(&self, within: &[&ResolvedItem], index: Option<(&Index, &Spanned<String>)>) {
        // Shards are `shard-count`'s. Of items with a `$when` it is not known how many are in the index.
        let judged = within.iter().filter(|item| {
            let mut keys = index.iter().flat_map(|(index, _)| index.key());
            let is_sparse = keys.any(|key| item.item.node(&key.name).is_some_and(has_condition));
            !is_sparse && ShardedKey::of(self, item).is_none()
        });
        let share = |item: &ResolvedItem| match index {
            Some((index, _)) => self.share_with(item, index),
            None => Some(1.0),
        };
        for same in self.by_domain(judged.copied()) {
            let values = self.domain_values(&same, |item| self.template_values(item));
            let (Some(item), Some(values)) = (same.first(), values.filter(|it| it.most > 1)) else {
                continue;
            };
            let each = |all: f64| all / float(values.most);
            // Many rows make a key of few values only where these hold the whole table back.
            let holds_back = float(values.most) < TABLE_WRITES / PARTITION_WRITES;
            let is_counted = same.iter().all(|item| share(item).is_some());
            let of_index = |item: &ResolvedItem, all: f64| all * share(item).unwrap_or(1.0);
            let rows = same
                .iter()
                .map(|item| Some(rounded(of_index(item, float(item.rows?)))));
            let rows: Option<u64> = rows.sum();
            // How many rows a `where` leaves is not known, nor which of the values that statistics count.
            let is_filtered = same.iter().any(|item| item.item.condition.is_some());
            let writes = same.iter().filter_map(|item| {
                let rate = item.item.write_rate?;
                // A `where` may leave out just the rows with NULL.
                let is_whole = item.item.condition.is_none();
                Some(if is_whole { of_index(item, rate) } else { rate })
            });
            let writes: f64 = writes.sum();
            let much = match rows {
                _ if each(writes) > PARTITION_WRITES => {
                    format!("{} writes a second of", count(rounded(writes)))
                }
                _ if !holds_back || !is_counted => continue,
                Some(rows) if each(float(rows)) <= PARTITION_WRITES => continue,
                Some(_) if is_filtered && values.estimated => continue,
                Some(rows) if is_filtered => format!("some of about {} of", counted(rows, "row")),
                Some(rows) => format!("about {} of", counted(rows, "row")),
                None if values.estimated || same.iter().all(|item| self.has_one_row(item)) => {
                    continue;
                }
                None => "an unknown number of rows of".to_owned(),
            };
            let of = match index {
                Some((_, index)) => format!("the partition key of `{}`", index.value),
                None => "the partition key".to_owned(),
            };
            let names: Vec<&str> = same.iter().map(|item| &*item.item.name).collect();
            let message = format!("{of} has {values} for {much} {}", names.join(", "));
            let ways = match index {
                Some(_) => {
                    ", spread it with `shard(n)`, or keep only the few items that are asked for in the index, by `$when`"
                }
                None => ", or spread it with `shard(n)`",
            };
            let help = format!(
                "one partition key value accepts about {} write units a second: put a column with many values into the key{ways}",
                count(rounded(PARTITION_WRITES))
            );
            let place = match (index, self.key.first()) {
                (Some((_, index)), _) => index.span.clone(),
                (None, Some(key)) => item.place(&key.name),
                (None, None) => item.name_span.clone(),
            };
            (self.whole.diagnostics).add(Code::FewValues, place, message, help);
        }
    }

    /// Which share of an item type's rows has no NULL in the key of an index, at most. `None` where nobody has counted the NULLs.
    fn share_with(&self, item: &ResolvedItem, index: &Index) -> Option<f64> {
        let templates = index.key().filter_map(|key| item.item.template(&key.name));
        let mandatory = templates.flat_map(Template::mandatory);
        let sparse = mandatory.filter(|one| is_nullable(item, one) && !one.replaces_null());
        let shares = sparse.map(|placeholder| {
            let (table, column) = self
                .column(item, placeholder)
                .filter(|_| self.is_own(item, placeholder))?;
            let rows = table.estimated_rows.filter(|rows| *rows > 0)?;
            Some(float(rows.saturating_sub(column.nulls?)) / float(rows))
        });
        let shares: Vec<f64> = shares.collect::<Option<_>>()?;
        Some(shares.into_iter().fold(1.0, f64::min))
    }

    /// Whether a value of the partition key has one row at most, because the key holds a unique key of the rows' table.
    fn has_one_row(&self, item: &ResolvedItem) -> bool {
        let scan = self.whole.passes.so_far(item.item.pass);
        let Some(Relation::Table(from)) = scan.map(|scan| &scan.from) else {
            return false;
        };
        let templates = self
            .key
            .iter()
            .filter_map(|key| item.item.template(&key.name));
        let placeholders = templates.flat_map(Template::placeholders);
        let own_values = placeholders.filter(|placeholder| {
            let mut filters = placeholder.filters.iter();
            self.is_own(item, placeholder) && !filters.any(makes_few)
        });
        let own = own_values.filter_map(|placeholder| self.column(item, placeholder));
        let own: Vec<String> = own.map(|(_, column)| column.name.clone()).collect();
        let table = self.whole.catalog.table(from);
        table.is_some_and(|table| table.is_declared_unique(&own, self.whole.catalog.dbms))
    }

    /// Item types together whose partition keys have the same values: the same text, and the same filters over the same columns,
    /// or over foreign keys that lead to these, or as many shards. A `default` may add one. Those without the key are left out.
    fn by_domain<'r>(
        &self,
        items: impl Iterator<Item = &'r ResolvedItem>,
    ) -> Vec<Vec<&'r ResolvedItem>> {
        let found = items.filter_map(|item| Some((self.domain(item)?, item)));
        let groups = grouped(found).into_iter();
        groups.map(|(_, same)| same).collect()
    }

    /// What tells which values a partition key has.
    fn domain(&self, item: &ResolvedItem) -> Option<String> {
        let column = |placeholder: &Placeholder| match self.root(item, placeholder) {
            Some((table, column)) => format!("{}.{}", table.name, column.name),
            None => format!("{}: {}", item.item.pass, placeholder.place.written),
        };
        let mut text = String::new();
        for key in self.key {
            let node = item.item.node(&key.name)?;
            let Some(template) = node.template() else {
                let _ = writeln!(text, "{node:?}");
                continue;
            };
            let mut template = template.clone();
            for one in template.placeholders_mut() {
                let mut filters = std::mem::take(&mut one.filters);
                let shard = filters.iter().position(|it| matches!(it, Filter::Shard(_)));
                // Shards are the same, whatever they are made of.
                let source = shard.map_or_else(|| column(one), |_| String::new());
                filters.drain(..shard.unwrap_or_default());
                filters.retain(|it| !matches!(it, Filter::Default(_)));
                one.place.written = format!("{source} {filters:?}").into();
            }
            let _ = writeln!(text, "{template}");
        }
        Some(text)
    }

    /// What tells which values of a partition key items have.
    fn domains(&self, found: &[&ResolvedItem]) -> String {
        let domains = found.iter().filter_map(|item| self.domain(item));
        let domains: BTreeSet<String> = domains.collect();
        domains.into_iter().collect()
    }

    /// How many values a partition key has that is made of templates.
    fn template_values(&self, item: &ResolvedItem) -> Option<ValueCount> {
        let values = self.values(item)?;
        self.product(item, values, &|placeholder| {
            self.column_values(item, placeholder)
        })
    }

    /// How many values a placeholder has at most, by its filters, and by the type and the CHECKs of its column; for NULL none.
    fn type_values(&self, item: &ResolvedItem, placeholder: &Placeholder) -> Option<ValueCount> {
        let by_filter = placeholder
            .filters
            .iter()
            .filter_map(|filter| match filter {
                Filter::Bool | Filter::Present { .. } => Some(2),
                Filter::Map { codes, other } => Some(codes.len() + usize::from(other.is_some())),
                _ => None,
            });
        let place = &placeholder.place;
        let facts = item.facts.columns.get(place.column);
        let data_type = facts.and_then(|column| column.data_type.as_ref());
        let by_type = match data_type.filter(|_| place.path.is_empty()) {
            Some(DataType::Boolean) => Some(2),
            Some(DataType::Enum { values }) => Some(values.len()),
            _ => None,
        };
        let listed = self
            .column(item, placeholder)
            .map(|(_, column)| column.listed.len());
        let by_check = listed.filter(|values| *values > 0);
        let least = by_filter.chain(by_type).chain(by_check).min()?;
        Some(ValueCount::exact(u64::try_from(least).ok()?))
    }

    /// The column that a placeholder's values are from: its own, or the one that foreign keys lead to.
    fn root(
        &self,
        item: &ResolvedItem,
        placeholder: &Placeholder,
    ) -> Option<(&'a Table, &'a Column)> {
        let parent = |(table, column): &(&'a Table, &'a Column)| {
            let (table, name) = (*table, column.name.as_str());
            let mut keys = table.foreign_keys.iter();
            let key = keys.find(|key| key.columns == [name])?;
            let parent = self.whole.catalog.table(&key.references)?;
            Some((parent, parent.column(key.referenced_columns.first()?)?))
        };
        let own = self.column(item, placeholder)?;
        std::iter::successors(Some(own), parent)
            .take(MOST_STEPS)
            .last()
    }

    /// The table's column that a placeholder reads, if it reads the whole of it.
    fn column(
        &self,
        item: &ResolvedItem,
        placeholder: &Placeholder,
    ) -> Option<(&'a Table, &'a Column)> {
        let place = &placeholder.place;
        let scan = self.whole.passes.so_far(item.item.pass)?;
        let (table, column) = scan.origin(place.column)?;
        let table = self.whole.catalog.table(table)?;
        let column = table.column(column)?;
        place.path.is_empty().then_some((table, column))
    }

    /// Whether a placeholder reads a column of the item type's own relation, and not of a joined one.
    fn is_own(&self, item: &ResolvedItem, placeholder: &Placeholder) -> bool {
        let scan = self.whole.passes.so_far(item.item.pass);
        scan.is_some_and(|scan| scan.own_column(placeholder.place.column).is_some())
    }

    /// Holds the number of shards of a partition key against the writes of its item types.
    fn shards(&self, bound: &[BoundPattern], within: &[&ResolvedItem]) {
        let sharded = within.iter().copied();
        let sharded = sharded.filter(|item| ShardedKey::of(self, item).is_some());
        for same in self.by_domain(sharded) {
            let rates = same.iter().filter_map(|item| item.item.write_rate);
            let writes: f64 = rates.sum();
            let (Some(item), Some(key)) = (same.first(), ShardedKey::of_all(self, &same)) else {
                continue;
            };
            if writes <= 0.0 {
                continue;
            }
            let warning = key.few(writes).or_else(|| key.many(writes, bound));
            let Some((message, help)) = warning else {
                continue;
            };
            self.whole
                .diagnostics
                .add(Code::ShardCount, item.place(&key.attribute), message, help);
        }
    }

    /// How many values of a partition key the items that are found have at most together.
    fn found_values(&self, found: &[&ResolvedItem]) -> Option<ValueCount> {
        let mut all = ValueCount::exact(0);
        let mut judged = 0;
        for same in self.by_domain(found.iter().copied()) {
            judged += same.len();
            all = all.or(self.domain_values(&same, |item| self.key_values(item))?);
        }
        (judged == found.len()).then_some(all)
    }

    /// How many values item types have at most together whose partition keys have the same ones; `of` says it of one alone.
    fn domain_values(
        &self,
        same: &[&ResolvedItem],
        of: impl Fn(&ResolvedItem) -> Option<ValueCount>,
    ) -> Option<ValueCount> {
        let each: Vec<Option<ValueCount>> = same.iter().map(|item| of(item)).collect();
        // The parent's own key alone has no known number of values, but beside children it has as many as theirs.
        let mut known = each.iter().flatten();
        known.next()?;
        let none = ValueCount::exact(0);
        let sum = each.iter().try_fold(none, |sum, one| Some(sum.or((*one)?)));
        let domain = if same.len() > 1 {
            self.root_values(same)
        } else {
            None
        };
        fewest([domain, sum])
    }

    /// How many values the columns have at most that the partition keys of item types are from, which are the same for all.
    fn root_values(&self, same: &[&ResolvedItem]) -> Option<ValueCount> {
        let items = same
            .iter()
            .filter_map(|item| Some((*item, self.values(item)?)));
        let items: Vec<(&ResolvedItem, Vec<KeyValue<'_>>)> = items.collect();
        let nulls = |at: usize| {
            let values = items.iter().filter_map(|(_, values)| values.get(at));
            values.map(|value| value.nulls).max().unwrap_or(0)
        };
        let of_each = items.iter().filter_map(|(item, values)| {
            let values = values.iter().enumerate().map(|(at, value)| KeyValue {
                nulls: nulls(at),
                ..value.clone()
            });
            self.product(item, values.collect(), &|placeholder| {
                let by_statistics = || {
                    let (table, column) = self.root(item, placeholder)?;
                    let most = match table.estimated_rows {
                        Some(rows) if self.is_unique(table, column) => Some(rows),
                        _ => column.distinct,
                    };
                    most.filter(|most| *most > 0).map(ValueCount::estimated)
                };
                let by_type = self.type_values(item, placeholder);
                fewest([by_type.or_else(by_statistics), shard_values(placeholder)])
            })
        });
        of_each.min_by_key(|values| values.most)
    }

    /// How many values an item type's partition key has at most, as far as types, constraints and statistics tell; never more
    /// than it has rows.
    fn key_values(&self, item: &ResolvedItem) -> Option<ValueCount> {
        if self
            .key
            .iter()
            .any(|key| item.item.node(&key.name).is_none())
        {
            return None;
        }
        let rows = item.rows.filter(|rows| *rows > 0);
        fewest([self.template_values(item), rows.map(ValueCount::estimated)])
    }

    /// How many values a placeholder has at most, by its type and constraints, or else by statistics: those of its column, or the
    /// rows of the table that a foreign key leads to; for NULL none.
    fn column_values(&self, item: &ResolvedItem, placeholder: &Placeholder) -> Option<ValueCount> {
        let by_statistics = || {
            let (table, column) = self.column(item, placeholder)?;
            let mut keys = table.foreign_keys.iter();
            let key = keys.find(|key| key.columns == [column.name.as_str()]);
            let parent =
                key.and_then(|key| self.whole.catalog.table(&key.references)?.estimated_rows);
            let parent = parent.filter(|rows| *rows > 0);
            // As many values as there will be rows.
            let is_unique = self.is_unique(table, column)
                && self.is_of_each_row(item, self.join(item, placeholder));
            let known = [column.distinct, parent].into_iter().flatten();
            known
                .min()
                .filter(|_| !is_unique)
                .map(ValueCount::estimated)
        };
        let by_type = self.type_values(item, placeholder);
        fewest([by_type.or_else(by_statistics), shard_values(placeholder)])
    }

    /// The values in an item type's partition key, without shards that are one; `None` where an attribute is no template.
    fn values<'r>(&self, item: &'r ResolvedItem) -> Option<Vec<KeyValue<'r>>> {
        let mut values = Vec::new();
        for key in self.key {
            let template = item.item.template(&key.name)?;
            for part in &template.parts {
                let (parts, is_optional) = match part {
                    TemplatePart::Optional(inner) => (inner.as_slice(), true),
                    part => (std::slice::from_ref(part), false),
                };
                let placeholders = parts.iter().filter_map(TemplatePart::value);
                let placeholders =
                    placeholders.filter(|it| !(self.joins_shards && shard(it).is_some()));
                values.extend(placeholders.map(|placeholder| KeyValue {
                    placeholder,
                    nulls: values_of_null(item, placeholder, is_optional),
                    parents: self.parents(item, placeholder),
                }));
            }
        }
        Some(values)
    }

    /// The values that a key has whose placeholders have these. Not each is there with each: those of one column have no
    /// more values together than it has, and those of one joined parent no more than it has rows.
    fn product(
        &self,
        item: &ResolvedItem,
        values: Vec<KeyValue<'_>>,
        of: &dyn Fn(&Placeholder) -> Option<ValueCount>,
    ) -> Option<ValueCount> {
        let by_parent = values.into_iter().map(|mut value| {
            let parent = value.parents.pop();
            let place = parent.is_none().then_some(&value.placeholder.place);
            ((parent, place), value)
        });
        let groups = grouped(by_parent).into_iter();
        let mut counts = groups.map(|((parent, _), same)| {
            let nulls = same.iter().map(|value| value.nulls).max().unwrap_or(0);
            let most = match (parent, same.first()) {
                (None, Some(value)) => of(&Placeholder {
                    filters: Vec::new(),
                    ..value.placeholder.clone()
                }),
                _ => self.parent_rows(item, parent),
            };
            let product = match parent {
                None => all_of(
                    same.iter()
                        .map(|one| Some(of(one.placeholder)?.and(one.nulls))),
                ),
                Some(_) => self.product(item, same, of),
            };
            fewest([product, most.map(|most| most.and(nulls))])
        });
        all_of(&mut counts)
    }

    /// The joined parent that a placeholder is from, or whose foreign key it is, and the parents that lead to that, the
    /// first of them last.
    fn parents(&self, item: &ResolvedItem, placeholder: &Placeholder) -> Vec<usize> {
        let Some(scan) = self.whole.passes.so_far(item.item.pass) else {
            return Vec::new();
        };
        let from = self.join(item, placeholder);
        let leads_on = match scan.columns.get(placeholder.place.column) {
            Some(ScanColumn::Column { name, .. }) => scan.joins.iter().position(|join| {
                let mut on = join.on.iter();
                on.any(|it| it.join == from && it.ours == *name)
            }),
            _ => None,
        };
        let before = |join: &usize| scan.joins.get(*join)?.on.first()?.join;
        std::iter::successors(leads_on.or(from), before).collect()
    }

    /// The join that a placeholder's column is from.
    fn join(&self, item: &ResolvedItem, placeholder: &Placeholder) -> Option<usize> {
        let scan = self.whole.passes.so_far(item.item.pass)?;
        match scan.columns.get(placeholder.place.column)? {
            ScanColumn::Column { join, .. } => *join,
            _ => None,
        }
    }

    /// About how many rows a joined parent has, unless there will be more with each row of ours.
    fn parent_rows(&self, item: &ResolvedItem, parent: Option<usize>) -> Option<ValueCount> {
        let scan = self.whole.passes.so_far(item.item.pass)?;
        let join = scan.joins.get(parent?)?;
        let rows = self.whole.catalog.table(&join.table)?.estimated_rows;
        let rows = rows.filter(|rows| *rows > 0 && !self.is_of_each_row(item, parent));
        rows.map(ValueCount::estimated)
    }

    /// Whether each row of an item type has a row of its own in a joined parent, which is found by columns that are unique; so it
    /// has in its own table (`None`).
    fn is_of_each_row(&self, item: &ResolvedItem, parent: Option<usize>) -> bool {
        let (Some(parent), Some(scan)) = (parent, self.whole.passes.so_far(item.item.pass)) else {
            return true;
        };
        let on = scan.joins.get(parent).map_or(&[][..], |join| &join.on);
        let is_matched = |column: &usize| {
            let name = scan.own_column(*column);
            let mut on = on.iter();
            on.any(|it| it.join.is_none() && name == Some(it.ours.as_str()))
        };
        let mut unique = item.facts.unique.iter();
        unique.any(|key| key.columns.iter().all(is_matched))
    }

    fn is_unique(&self, table: &Table, column: &Column) -> bool {
        let own = std::slice::from_ref(&column.name);
        table.is_declared_unique(own, self.whole.catalog.dbms)
    }
}

/// A value in a partition key.
#[derive(Debug, Clone)]
struct KeyValue<'r> {
    placeholder: &'r Placeholder,
    /// How many values of the key's part stand for NULL: one or none.
    nulls: u64,
    /// The joins that lead to it, the first last.
    parents: Vec<usize>,
}

/// Whether a placeholder may find NULL.
fn is_nullable(item: &ResolvedItem, placeholder: &Placeholder) -> bool {
    let place = &placeholder.place;
    !place.path.is_empty() || item.nullable.contains(&place.column)
}

/// How many values stand for NULL beside those of the column: one, by `default` or where an optional segment is left out.
fn values_of_null(item: &ResolvedItem, placeholder: &Placeholder, is_optional: bool) -> u64 {
    let has = |wanted: fn(&Filter) -> bool| placeholder.filters.iter().any(wanted);
    let is_counted = has(|it| matches!(it, Filter::Present { .. }));
    let is_replaced = is_optional || has(|it| matches!(it, Filter::Default(_)));
    u64::from(is_nullable(item, placeholder) && is_replaced && !is_counted)
}

/// Each with each.
fn all_of(counts: impl IntoIterator<Item = Option<ValueCount>>) -> Option<ValueCount> {
    let mut counts = counts.into_iter();
    counts.try_fold(ValueCount::exact(1), |all, one| Some(all.times(one?)))
}

/// The least of what is known.
fn fewest(known: [Option<ValueCount>; 2]) -> Option<ValueCount> {
    known.into_iter().flatten().min_by_key(|values| values.most)
}

/// How many values something has.
#[derive(Debug, Clone, Copy)]
struct ValueCount {
    /// At most so many.
    most: u64,
    /// Whether that is by the database's statistics, and not by types and constraints.
    estimated: bool,
}

impl ValueCount {
    fn exact(most: u64) -> Self {
        Self {
            most,
            estimated: false,
        }
    }

    fn times(self, other: Self) -> Self {
        Self {
            most: self.most.saturating_mul(other.most),
            estimated: self.estimated || other.estimated,
        }
    }

    /// The one and the other.
    fn or(self, other: Self) -> Self {
        Self {
            most: self.most.saturating_add(other.most),
            estimated: self.estimated || other.estimated,
        }
    }

    /// By the database's statistics.
    fn estimated(most: u64) -> Self {
        Self {
            most,
            estimated: true,
        }
    }

    /// So many more.
    fn and(self, more: u64) -> Self {
        self.or(Self::exact(more))
    }
}

impl fmt::Display for ValueCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = counted(self.most, "value");
        if self.estimated {
            write!(f, "about {values} by the database's statistics")
        } else {
            f.write_str(&values)
        }
    }
}

/// What an access pattern reads of a partition key in a second.
struct AskedReads<'b> {
    pattern: &'b AccessPattern,
    /// Its requests.
    requests: f64,
    /// How many values of the key they go to; all shards of a value are one, where each request asks all of them.
    values: ValueCount,
    /// How many shards of a value each request asks.
    shards: f64,
    /// The key: patterns with the same one ask the same values.
    key: String,
    /// Whether these are the reads of items that an index has found.
    fetches: bool,
}

impl<'b> AskedReads<'b> {
    /// Each request reads one unit of a key value at least, half a unit if it may be eventually consistent. A request of all
    /// shards reads so much of each of them. `None` where the rate or the values are not known.
    fn of(
        whole: &ResolvedMapping<'_>,
        pattern: &'b AccessPattern,
        found: &[&ResolvedItem],
    ) -> Option<Self> {
        let requests = pattern.rate?;
        let partition = pattern.partition.iter().map(|(key, _)| key.clone());
        let partition: Vec<KeyAttribute> = partition.collect();
        let asked_key = PartitionKey {
            whole,
            key: &partition,
            joins_shards: pattern.shards.is_some(),
        };
        let mut given = pattern
            .partition
            .iter()
            .flat_map(|(_, asked)| asked.placeholders());
        let is_one = given.all(|one| one.place.column == AccessPattern::SHARD);
        let (values, asked_values) = if is_one {
            let written = pattern
                .partition
                .iter()
                .map(|(_, asked)| format!("{asked}\n"));
            (ValueCount::exact(1), joined(written, ""))
        } else {
            (asked_key.found_values(found)?, asked_key.domains(found))
        };
        // A local index lies in the table's own partitions.
        let mut global = whole.table.indexes.iter();
        let asked = pattern.index.as_ref();
        let index = global.find(|index| asked.is_some_and(|name| *index.name == **name));
        let of_index = index.map_or_else(String::new, |index| format!("{}: ", index.name));
        (values.most > 0).then(|| Self {
            pattern,
            requests,
            values,
            shards: f64::from(pattern.shards.unwrap_or(1)),
            key: of_index + &asked_values,
            fetches: false,
        })
    }

    /// The reads of the items that an index finds, by the table's own key: one item for each request, at least.
    fn fetched(
        whole: &ResolvedMapping<'_>,
        pattern: &'b AccessPattern,
        found: &[&ResolvedItem],
    ) -> Option<Self> {
        let requests = pattern.rate.filter(|_| pattern.fetch)?;
        let own = PartitionKey {
            whole,
            key: std::slice::from_ref(&whole.table.partition),
            joins_shards: false,
        };
        let values = own.found_values(found)?;
        (values.most > 0).then(|| Self {
            pattern,
            requests,
            values,
            shards: 1.0,
            key: own.domains(found),
            fetches: true,
        })
    }

    /// How many values of the key they go to, shards counted.
    fn asked(&self) -> f64 {
        float(self.values.most) * self.shards
    }

    /// The read units of its requests, at least.
    fn units(&self) -> f64 {
        self.requests * self.pattern.read_unit() * self.shards
    }

    /// Read units a second of one value, at least.
    fn each(&self) -> f64 {
        self.units() / self.asked()
    }
}

/// Tells of reads that a partition cannot answer: those of one pattern, and those of several that alone are few enough.
fn hot_reads(whole: &ResolvedMapping<'_>, asked: &[AskedReads<'_>]) {
    let (hot, others): (Vec<_>, Vec<_>) = asked
        .iter()
        .partition(|reads| reads.each() > PARTITION_READS);
    for reads in hot {
        let kind = if reads.pattern.consistent {
            "strongly consistent"
        } else {
            "eventually consistent"
        };
        let requests = count(rounded(reads.requests));
        let asked = if reads.fetches { "fetches" } else { "requests" };
        let what = format!("{requests} {kind} {asked} a second");
        let is_halved = reads.pattern.consistent && reads.each() / 2.0 <= PARTITION_READS;
        let each = (reads.values, reads.each());
        tell_hot(whole, reads.pattern, &what, each, is_halved);
    }
    let by_key = grouped(others.into_iter().map(|reads| (&reads.key, reads)));
    for (_, same) in by_key {
        // By most values, so that it is not too much.
        let most = same
            .iter()
            .max_by(|one, other| one.asked().total_cmp(&other.asked()));
        let (Some(reads), Some(most)) = (same.first(), most) else {
            continue;
        };
        let units: f64 = same.iter().map(|other| other.units()).sum();
        let each = units / most.asked();
        if each > PARTITION_READS {
            let names = same.iter().map(|other| format!("`{}`", other.pattern.name));
            let names = joined(each_once(names), ", ");
            let requests: f64 = same.iter().map(|other| other.requests).sum();
            let what = format!(
                "{names} together: {} requests a second",
                count(rounded(requests))
            );
            tell_hot(whole, reads.pattern, &what, (most.values, each), false);
        }
    }
}

/// `what` is asked of so many values, each with so many units a second.
fn tell_hot(
    whole: &ResolvedMapping<'_>,
    pattern: &AccessPattern,
    what: &str,
    (values, each): (ValueCount, f64),
    is_halved: bool,
) {
    let (over, of_each) = match values.most {
        1 => ("for one partition key value".to_owned(), ""),
        _ => (format!("over a partition key with {values}"), " for each"),
    };
    let message = format!(
        "{what} {over} take at least {} read units a second{of_each}; one partition takes {}",
        count(above(each, PARTITION_READS)),
        count(rounded(PARTITION_READS)),
    );
    let mut help = "ask by a key with more values, keep copies of the items under several keys and ask one at random, or cache the answers (DAX, or in the application)".to_owned();
    if is_halved {
        help.push_str("; eventually consistent reads take half the units");
    }
    if values.most > 1 {
        help.push_str(
            "; this assumes that all values are asked equally often, and `preview --all` counts by the rows of each",
        );
    }
    let place = whole.pattern_place(pattern);
    whole.diagnostics.add(Code::HotReads, place, message, help);
}

/// A number that is more than a limit, rounded, but not to the limit.
fn above(number: f64, limit: f64) -> u64 {
    rounded(number).max(rounded(limit).saturating_add(1))
}

/// Most shards that the filter takes.
const MOST_SHARDS: u32 = 1_000_000;

/// Writes a second of the fullest of so many shards, about. Each write goes to a shard by a hash, so the shards are not
/// equally full: a shard's writes in one second have a binomial distribution with the standard deviation σ, and the largest
/// of n of them is expected at the mean + σ·√(2 ln n) at most (Boucheron et al., "Concentration Inequalities", 2.5).
fn fullest(writes: f64, shards: u32) -> f64 {
    let shards = f64::from(shards);
    let mean = writes / shards;
    let deviation = (mean * (1.0 - 1.0 / shards)).sqrt();
    mean + deviation * (2.0 * shards.ln()).sqrt()
}

/// The fewest shards of which the fullest takes its writes.
pub(super) fn shards_for(writes: f64) -> Option<u32> {
    let mut numbers = 1..=MOST_SHARDS;
    numbers.find(|shards| fullest(writes, *shards) <= PARTITION_WRITES)
}

/// A partition key with shards.
struct ShardedKey {
    /// The attribute that has the shard.
    attribute: Arc<str>,
    /// Its shards.
    shards: u32,
    /// How many values the column of the shards has at most, where its type tells.
    sources: Option<u64>,
    /// How many values the rest of the key has at most; 1 without a rest.
    others: Option<ValueCount>,
}

impl ShardedKey {
    /// `None` where no attribute has a shard, or more than one.
    fn of(of: &PartitionKey<'_, '_>, item: &ResolvedItem) -> Option<Self> {
        let mut found = None;
        for key in of.key {
            for placeholder in item.item.template(&key.name)?.placeholders() {
                let Some(shards) = shard(placeholder) else {
                    continue;
                };
                let nulls = values_of_null(item, placeholder, false);
                let sources = of.type_values(item, placeholder);
                let sources = sources.map(|values| values.and(nulls).most);
                let before = found.replace((key.name.clone(), shards, sources));
                if before.is_some() {
                    return None;
                }
            }
        }
        let (attribute, shards, sources) = found?;
        Some(Self {
            attribute,
            shards,
            sources,
            others: None,
        })
    }

    /// The key of item types that have the same values in it.
    fn of_all(of: &PartitionKey<'_, '_>, same: &[&ResolvedItem]) -> Option<Self> {
        let mut keys = same.iter().filter_map(|item| Self::of(of, item));
        let first = keys.next()?;
        // Of columns that fill so many shards the one that fills most.
        let sources = keys.fold(first.sources, |most, key| {
            most.zip(key.sources).map(|(a, b)| a.max(b))
        });
        let rest = PartitionKey {
            joins_shards: true,
            ..*of
        };
        Some(Self {
            sources,
            others: rest.domain_values(same, |item| rest.template_values(item)),
            ..first
        })
    }

    /// Too few shards for the writes, though these go to all values of the rest of the key alike.
    fn few(&self, writes: f64) -> Option<(String, String)> {
        let each = writes / float(self.others?.most.max(1));
        let sources = self.sources.and_then(|sources| u32::try_from(sources).ok());
        let filled = sources.map_or(self.shards, |sources| sources.min(self.shards));
        let full = fullest(each, filled);
        if full <= PARTITION_WRITES {
            return None;
        }
        let over = match self.others {
            Some(others) if others.most > 1 => {
                format!("{others} with {} each", counted(self.shards, "shard"))
            }
            _ => counted(self.shards, "shard"),
        };
        let are = text_if(
            filled < self.shards,
            format!(", of which the column can fill {filled}"),
        );
        let message = format!(
            "{} writes a second over {over}{are}: {} for each on average, and about {} for the busiest; one partition accepts {}",
            count(rounded(writes)),
            count(rounded(each / f64::from(filled))),
            count(above(full, PARTITION_WRITES)),
            count(rounded(PARTITION_WRITES)),
        );
        let needed = shards_for(each);
        let help = match needed {
            Some(needed) if sources.is_none_or(|sources| sources >= needed) => format!(
                "write shard({needed}): the busiest shard then gets about {} writes a second; `preview --all` shows how the rows spread",
                count(rounded(fullest(each, needed)))
            ),
            _ => "shard by a column with more distinct values, such as the primary key".to_owned(),
        };
        Some((message, help))
    }

    /// More shards than needed, though all writes go to one value of the rest of the key, and what reading them costs.
    fn many(&self, writes: f64, bound: &[BoundPattern]) -> Option<(String, String)> {
        let needed = shards_for(writes)?;
        if self.shards <= needed.saturating_mul(2) {
            return None;
        }
        let patterns = bound.iter().map(|bound| &bound.pattern);
        let reads_all = patterns.clone().filter(|pattern| {
            let mut partition = pattern.partition.iter();
            pattern.shards == Some(self.shards)
                && partition.any(|(key, _)| key.name == self.attribute)
        });
        let costs = reads_all.map(|pattern| {
            let unit = pattern.read_unit();
            let rate = pattern.rate.unwrap_or(1.0);
            let units = |shards: u32| count(rounded(rate * unit * f64::from(shards)).max(1));
            let of = match pattern.rate {
                Some(_) => "read units a second",
                None => "read units a request",
            };
            format!(
                "`{}` takes at least {} {of} instead of {}",
                pattern.name,
                units(self.shards),
                units(needed)
            )
        });
        let mut costs: Vec<String> = costs.collect();
        if costs.is_empty() {
            if patterns.count() > 0 {
                return None;
            }
            costs.push(format!(
                "to read all of them takes {} requests",
                self.shards
            ));
        }
        let message = format!(
            "{} writes a second need {}, but the key has {}: {}",
            count(rounded(writes)),
            counted(needed, "shard"),
            self.shards,
            costs.join(", "),
        );
        let help = format!(
            "write shard({}), which leaves room for about twice the writes",
            needed.saturating_mul(2)
        );
        Some((message, help))
    }
}

fn shard(placeholder: &Placeholder) -> Option<u32> {
    placeholder.filters.iter().find_map(|filter| match filter {
        Filter::Shard(shards) => Some(*shards),
        _ => None,
    })
}

fn shard_values(placeholder: &Placeholder) -> Option<ValueCount> {
    shard(placeholder).map(|shards| ValueCount::exact(u64::from(shards)))
}

/// Whether a filter makes one value of many.
fn makes_few(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Map { .. }
            | Filter::Present { .. }
            | Filter::Truncate(_)
            | Filter::Date
            | Filter::Format(_)
            | Filter::Shard(_)
            | Filter::Bool
            | Filter::Redact
    )
}
