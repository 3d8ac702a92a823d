//! What the rates of access patterns and item types come to for one partition, and what is found after it expired.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use dynafold_dynamodb::KeyAttribute;
use dynafold_dynamodb::price::{PARTITION_READS, PARTITION_WRITES};
use dynafold_format::{count, counted, float, rounded};
use dynafold_relational::catalog::{Column, DataType, Table};

use super::keys::may_be_in;
use super::patterns::BoundPattern;
use super::reached::PatternFinds;
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::Code;
use crate::model::{AccessPattern, Placeholder};
use crate::raw::Spanned;
use crate::template::Filter;

/// Write units a second that a table takes with its indexes (limits.md 29).
const TABLE_WRITES: f64 = 40_000.0;

/// Tells of rates that partitions cannot take, of shards that do not fit the writes, and of patterns that find expired items.
/// `finds`: what each pattern finds, in the same order.
pub(super) fn check(whole: &ResolvedMapping<'_>, bound: &[BoundPattern], finds: &[PatternFinds]) {
    for (bound, finds) in bound.iter().zip(finds) {
        let is_found = |item: &&ResolvedItem| {
            let mut names = finds.item_types.iter();
            names.any(|name| *name == *item.item.name)
        };
        let found: Vec<&ResolvedItem> = whole.resolved.iter().filter(is_found).collect();
        hot_reads(whole, &bound.pattern, &found);
        expired(whole, &bound.pattern, &found);
    }
    let table = whole.table;
    let own = std::slice::from_ref(&table.partition);
    let all: Vec<&ResolvedItem> = whole.resolved.iter().collect();
    shards(whole, bound, own, &all);
    few_values(whole, own, &all, None);
    for (index, written) in table.indexes.iter().zip(&whole.raw.table.indexes) {
        let within = all.iter().copied().filter(|item| may_be_in(item, index));
        let within: Vec<&ResolvedItem> = within.collect();
        shards(whole, bound, &index.partition, &within);
        few_values(whole, &index.partition, &within, Some(&written.name));
    }
}

/// A key of few values gives each the rows and the writes of many items. One value alone is `single-partition`.
fn few_values(
    whole: &ResolvedMapping<'_>,
    partition: &[KeyAttribute],
    within: &[&ResolvedItem],
    index: Option<&Spanned<String>>,
) {
    for item in within {
        // Shards are `shard-count`'s.
        if ShardedKey::of(whole, item, partition).is_some() {
            continue;
        }
        let Some(values) = template_values(whole, item, partition).filter(|it| it.most > 1) else {
            continue;
        };
        let each = |all: f64| all / float(values.most);
        // By statistics alone, many rows make a key of few values only where these hold the whole table back.
        let holds_back = !values.estimated || float(values.most) < TABLE_WRITES / PARTITION_WRITES;
        let rows = item
            .rows
            .filter(|rows| holds_back && each(float(*rows)) > PARTITION_WRITES);
        let writes = item
            .item
            .write_rate
            .filter(|rate| each(*rate) > PARTITION_WRITES);
        let much = match (writes, rows) {
            (Some(writes), _) => format!("{} writes a second", count(rounded(writes))),
            (None, Some(rows)) => format!("about {}", counted(rows, "row")),
            (None, None) => continue,
        };
        let of = match index {
            Some(index) => format!("the partition key of `{}`", index.value),
            None => "the partition key".to_owned(),
        };
        let message = format!("{of} has {values} for {much} of {}", item.item.name);
        let help = format!(
            "one value takes about {} write units a second: put a column with many values into the key, spread it with `shard(n)`, or keep only the few items that are asked for in the index, by `$when`",
            count(rounded(PARTITION_WRITES))
        );
        let place = match (index, partition.first()) {
            (Some(index), _) => index.span.clone(),
            (None, Some(key)) => item.place(&key.name),
            (None, None) => item.name_span.clone(),
        };
        whole.diagnostics.add(Code::FewValues, place, message, help);
    }
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

    fn plus(self, more: u64) -> Self {
        Self {
            most: self.most.saturating_add(more),
            ..self
        }
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

/// How many values a partition key has that is made of templates.
fn template_values(
    whole: &ResolvedMapping<'_>,
    item: &ResolvedItem,
    partition: &[KeyAttribute],
) -> Option<ValueCount> {
    let mut values = ValueCount::exact(1);
    for key in partition {
        for placeholder in item.item.template(&key.name)?.placeholders() {
            values = values.times(column_values(whole, item, placeholder)?);
        }
    }
    Some(values)
}

/// Whether a value stands for NULL beside those of the column.
fn has_default(placeholder: &Placeholder) -> bool {
    let mut filters = placeholder.filters.iter();
    filters.any(|filter| matches!(filter, Filter::Default(_)))
}

/// The table's column that a placeholder reads, if it reads the whole of it.
fn column<'a>(
    whole: &ResolvedMapping<'a>,
    item: &ResolvedItem,
    placeholder: &Placeholder,
) -> Option<(&'a Table, &'a Column)> {
    let place = &placeholder.place;
    let scan = whole.passes.so_far(item.item.pass)?;
    let (table, column) = scan.origin(place.column)?;
    let table = whole.catalog.table(table)?;
    let column = table.column(column)?;
    place.path.is_empty().then_some((table, column))
}

/// How many values a placeholder has at most, by its filters, and by the type and the CHECKs of its column.
fn type_values(
    whole: &ResolvedMapping<'_>,
    item: &ResolvedItem,
    placeholder: &Placeholder,
) -> Option<u64> {
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
    let listed = column(whole, item, placeholder).map(|(_, column)| column.listed.len());
    let by_check = listed.filter(|values| *values > 0);
    let least = by_filter.chain(by_type).chain(by_check).min()?;
    let null = u64::from(has_default(placeholder));
    Some(u64::try_from(least).ok()? + null)
}

fn tell(
    whole: &ResolvedMapping<'_>,
    code: Code,
    pattern: &AccessPattern,
    message: String,
    help: String,
) {
    let mut written = whole.raw.patterns.iter();
    let place = written.find(|raw| raw.name.value == *pattern.name);
    let place = place.map_or(0..0, |raw| raw.name.span.clone());
    whole.diagnostics.add(code, place, message, help);
}

/// Each request reads one unit of a key value at least, half a unit if it may be eventually consistent. A request of all
/// shards reads each of them: shards take nothing off a value.
fn hot_reads(whole: &ResolvedMapping<'_>, pattern: &AccessPattern, found: &[&ResolvedItem]) {
    let Some(rate) = pattern.rate else { return };
    let partition: Vec<KeyAttribute> = pattern
        .partition
        .iter()
        .map(|(key, _)| key.clone())
        .collect();
    let given = pattern
        .partition
        .iter()
        .flat_map(|(_, asked)| asked.placeholders());
    let is_one = given
        .into_iter()
        .all(|one| one.place.column == AccessPattern::SHARD);
    let values = if is_one {
        Some(ValueCount::exact(1))
    } else {
        let each = found.iter().map(|item| key_values(whole, item, &partition));
        let each: Option<Vec<ValueCount>> = each.collect();
        each.map(|each| ValueCount {
            most: each.iter().map(|values| values.most).sum(),
            estimated: each.iter().any(|values| values.estimated),
        })
    };
    let Some(values) = values.filter(|values| values.most > 0) else {
        return;
    };
    let (units, kind) = if pattern.consistent {
        (1.0, "strongly consistent")
    } else {
        (0.5, "eventually consistent")
    };
    let each = rate * units / float(values.most);
    if each <= PARTITION_READS {
        return;
    }
    let over = match values.most {
        1 => "one partition key value are".to_owned(),
        _ => format!("a partition key with {values} are"),
    };
    let message = format!(
        "{} {kind} requests a second over {over} at least {} read units a second for each; one partition takes {}",
        count(rounded(rate)),
        count(rounded(each)),
        count(rounded(PARTITION_READS)),
    );
    let mut help = "ask by a key with more values, keep copies of the items under several keys and ask one at random, or cache the answers (DAX, or in the application)".to_owned();
    if pattern.consistent && each / 2.0 <= PARTITION_READS {
        help.push_str("; eventually consistent reads take half the units");
    }
    tell(whole, Code::HotReads, pattern, message, help);
}

/// DynamoDB deletes an expired item within days, not at once; until then a Query returns it.
fn expired(whole: &ResolvedMapping<'_>, pattern: &AccessPattern, found: &[&ResolvedItem]) {
    let Some(ttl) = &whole.table.ttl else { return };
    let mut filtered = pattern.filter.iter().flat_map(|filter| &filter.names);
    let mut keys = pattern.sort.iter().map(|(key, _)| &key.name);
    if filtered.any(|name| **name == **ttl) || keys.any(|name| **name == **ttl) {
        return;
    }
    let expiring = found.iter().filter(|item| item.item.node(ttl).is_some());
    let expiring: Vec<&str> = expiring.map(|item| &*item.item.name).collect();
    if expiring.is_empty() {
        return;
    }
    let message = format!(
        "items of {} may come back after they have expired: DynamoDB deletes them days later",
        expiring.join(", ")
    );
    let rest = if expiring.len() < found.len() {
        format!(" OR attribute_not_exists({ttl})")
    } else {
        String::new()
    };
    let help = format!(
        "leave them out: filter: \"{ttl} >= :time{rest}\" and params: {{ time: \"{{now | epoch}}\" }}; never use such an item as a lock"
    );
    tell(whole, Code::ExpiredItems, pattern, message, help);
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
fn shards_for(writes: f64) -> Option<u32> {
    let mut numbers = 1..=MOST_SHARDS;
    numbers.find(|shards| fullest(writes, *shards) <= PARTITION_WRITES)
}

/// Holds the number of shards of a partition key against the writes of its item types.
fn shards(
    whole: &ResolvedMapping<'_>,
    bound: &[BoundPattern],
    partition: &[KeyAttribute],
    within: &[&ResolvedItem],
) {
    for item in within {
        let Some(key) = ShardedKey::of(whole, item, partition) else {
            continue;
        };
        let is_same = |other: &&&ResolvedItem| {
            let theirs = ShardedKey::of(whole, other, partition);
            theirs.is_some_and(|theirs| theirs.text == key.text)
        };
        let same: Vec<&&ResolvedItem> = within.iter().filter(is_same).collect();
        let rates = same.iter().filter_map(|other| other.item.write_rate);
        let writes: f64 = rates.sum();
        let is_first = same
            .first()
            .is_some_and(|first| first.item.name == item.item.name);
        if writes <= 0.0 || !is_first {
            continue;
        }
        let told = key.few(writes).or_else(|| key.many(writes, bound));
        let Some((message, help)) = told else {
            continue;
        };
        whole
            .diagnostics
            .add(Code::ShardCount, item.place(&key.attribute), message, help);
    }
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
    /// The templates of the key.
    text: String,
}

impl ShardedKey {
    /// `None` where no attribute has a shard, or more than one.
    fn of(
        whole: &ResolvedMapping<'_>,
        item: &ResolvedItem,
        partition: &[KeyAttribute],
    ) -> Option<Self> {
        let mut found = None;
        let mut others = Some(ValueCount::exact(1));
        let mut text = String::new();
        for key in partition {
            let template = item.item.template(&key.name)?;
            let _ = writeln!(text, "{template}");
            for placeholder in template.placeholders() {
                let Some(shards) = shard(placeholder) else {
                    let own = column_values(whole, item, placeholder);
                    others = others.zip(own).map(|(all, own)| all.times(own));
                    continue;
                };
                let sources = type_values(whole, item, placeholder);
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
            others,
            text,
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
        let are = if filled < self.shards {
            format!(", of which the column can fill {filled},")
        } else {
            String::new()
        };
        let message = format!(
            "{} writes a second over {over}{are} are {} for each on average, and about {} for the fullest; one partition takes {}",
            count(rounded(writes)),
            count(rounded(each / f64::from(filled))),
            count(rounded(full)),
            count(rounded(PARTITION_WRITES)),
        );
        let needed = shards_for(each);
        let help = match needed {
            Some(needed) if sources.is_none_or(|sources| sources >= needed) => format!(
                "write shard({needed}): about {} writes a second for the fullest; `preview --all` shows how the rows spread",
                count(rounded(fullest(each, needed)))
            ),
            _ => {
                "take the shard from a column with more values, such as the primary key".to_owned()
            }
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
            let unit = if pattern.consistent { 1.0 } else { 0.5 };
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
            "{} writes a second need {}, and the key has {}: {}",
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

/// How many values an item type's partition key has at most, as far as types, constraints and statistics tell; never more
/// than it has rows.
fn key_values(
    whole: &ResolvedMapping<'_>,
    item: &ResolvedItem,
    partition: &[KeyAttribute],
) -> Option<ValueCount> {
    if partition
        .iter()
        .any(|key| item.item.node(&key.name).is_none())
    {
        return None;
    }
    let rows = item.rows.filter(|rows| *rows > 0).map(|most| ValueCount {
        most,
        estimated: true,
    });
    let values = template_values(whole, item, partition);
    [values, rows]
        .into_iter()
        .flatten()
        .min_by_key(|it| it.most)
}

/// How many values a placeholder has at most, by its type and constraints, or else by statistics: those of its own column, or
/// the rows of the table that a foreign key leads to.
fn column_values(
    whole: &ResolvedMapping<'_>,
    item: &ResolvedItem,
    placeholder: &Placeholder,
) -> Option<ValueCount> {
    let by_type = type_values(whole, item, placeholder).map(ValueCount::exact);
    let by_statistics = || {
        let (table, column) = column(whole, item, placeholder)?;
        let mut keys = table.foreign_keys.iter();
        let key = keys.find(|key| key.columns == [column.name.as_str()]);
        let parent = key.and_then(|key| whole.catalog.table(&key.references)?.estimated_rows);
        let parent = parent.filter(|rows| *rows > 0);
        let own = std::slice::from_ref(&column.name);
        if table.is_declared_unique(own, whole.catalog.dbms) {
            return None;
        }
        let distinct = column.distinct;
        let most = [distinct, parent].into_iter().flatten().min()?;
        let null = u64::from(has_default(placeholder));
        let estimated = ValueCount {
            most,
            estimated: true,
        };
        Some(estimated.plus(null))
    };
    let shards = shard(placeholder).map(|shards| ValueCount::exact(u64::from(shards)));
    [by_type.or_else(by_statistics), shards]
        .into_iter()
        .flatten()
        .min_by_key(|values| values.most)
}
