//! What a person has to decide, or would find out too late: one line for each kind, the heaviest first.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::price::{PARTITION_READS, PARTITION_WRITES};
use dynafold_format::{count, each_once, float, joined, whole};
use dynafold_mapping::KeySize;
use dynafold_relational::catalog::{Column, DataType, Table, TableName, TypeFamily};
use dynafold_sql::WriteKind;

use crate::ask::Equal;
use crate::facts::{cascading, rows};
use crate::names::{has_term, words};
use crate::observed::ColumnSample;
use crate::owner::is_audit;
use crate::path::Path;
use crate::pricing::{MONTH, Pricing, is_moved};
use crate::report::{DELIMITER, Material, Warning};
use crate::structure::{KeyPart, Part, Structure, own_part};
use crate::workload::Statement;
use crate::writes::Write;
use crate::written::Placed;

/// Bytes of a column beyond which it is large: it costs writes and reads that do not need it.
const LARGE: f64 = 512.0;
/// Items beyond which a list is long.
const LONG: f64 = 100.0;
/// US dollars a month from which a saving is worth a word.
const WORTH: f64 = 1.0;
/// US dollars a million requests from which an index is dear for the reads that ask it: some hundred times what a read costs.
const DEAR: f64 = 100.0;
const DAY: f64 = 86_400.0;

/// All of a design's, and the large columns that may well have items of their own: those that save the most first.
pub(crate) fn traps(
    material: &Material<'_, '_, '_>,
) -> (Vec<Warning>, Vec<(TableName, BTreeSet<String>)>) {
    let (lines, large) = large_columns(material);
    let found = [
        contention(material),
        hot_keys(material),
        one_partition(material),
        few_values(material),
        skewed(material),
        lines,
        moved_entries(material),
        dear_indexes(material),
        copies(material),
        unbounded(material),
        inconsistent(material),
        many_at_once(material),
        cascades(material),
        expiring(material),
        expiry(material),
        soft_deletes(material),
        cursors(material),
        folded_case(material),
        unique(material),
        text_numbers(material),
        large_values(material),
        long_keys(material),
        delimiters(material),
        absent_keys(material),
        undeclared(material),
        audit(material),
        personal(material),
        filtered(material),
        rates(material),
    ];
    (found.into_iter().flatten().collect(), large)
}

/// A line of a kind; nothing where nobody is concerned.
fn line(kind: &str, concerned: impl IntoIterator<Item = String>, why: &str) -> Vec<Warning> {
    let mut seen = BTreeSet::new();
    let concerned = concerned.into_iter().filter(|one| seen.insert(one.clone()));
    let concerned: Vec<String> = concerned.collect();
    let is_any = !concerned.is_empty();
    is_any
        .then(|| Warning::new(kind, concerned, why))
        .into_iter()
        .collect()
}

/// What people call a table.
fn called(table: &Table) -> &str {
    &table.name.name
}

/// A number in a sentence.
fn about(number: f64) -> String {
    // The sum of nothing is -0.
    let number = number + 0.0;
    if number >= 10.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.1}").trim_end_matches(".0").to_owned()
    }
}

/// A structure, and one of its parts.
type Stored<'s, 'c> = (&'s Structure<'c>, &'s Part<'c>);

/// A read that is served.
type Served<'s, 'm, 'w, 'c> = (&'w Statement, &'s Placed<'m, 'c>, Stored<'s, 'c>, usize);

impl<'m, 'w, 'c> Material<'m, 'w, 'c> {
    /// The tables of the schema: those of figures and of large columns are none.
    fn tables(&self) -> impl Iterator<Item = &'c Table> {
        let tables = self.catalog.tables.iter();
        tables.filter(|table| {
            let figures = &self.pricing.figures.tables;
            !figures.contains_key(&table.name) && !self.splits.contains_key(&table.name)
        })
    }

    /// The reads that are served: the statement, how, the structure with the part that is read, and the slot.
    fn served(&self) -> impl Iterator<Item = Served<'_, 'm, 'w, 'c>> {
        self.placed
            .iter()
            .filter_map(move |(placed, statement, _)| {
                let structure = self.structures.get(placed.structure)?;
                let part = structure.parts.get(placed.part)?;
                let slot = self.slots.get(&placed.structure).copied().unwrap_or(0);
                Some((*statement, placed, (structure, part), slot))
            })
    }

    /// Where a table's items stand: in the table itself by a key of their own where no structure is chosen there, and in indexes.
    fn parts<'s>(&'s self, table: &'c Table) -> Vec<(usize, Option<&'s Structure<'c>>, Part<'c>)> {
        let structures = self.slots.iter().filter_map(|(at, slot)| {
            let structure = self.structures.get(*at)?;
            let mut parts = structure.parts.iter();
            let part = parts.find(|part| part.table.name == table.name)?;
            Some((*slot, Some(structure), part.clone()))
        });
        let mut found: Vec<_> = structures.collect();
        if found.iter().all(|(slot, ..)| *slot > 0) {
            let own = own_part(self.catalog, table, self.pricing.pins);
            found.push((0, None, own));
        }
        found
    }

    /// The share of a part's items that have the most frequent partition key value.
    fn most_frequent(&self, part: &Part<'_>) -> f64 {
        self.pricing.most_frequent(part)
    }

    /// Write units a second that a part takes in an index.
    fn index_writes(&self, (structure, part): Stored<'_, 'c>, slot: usize) -> f64 {
        let pricing = self.pricing;
        let projected = self.projected.get(&slot).and_then(Option::as_ref);
        let units = |write: &Write| pricing.in_index(structure, part, write, projected, 0.0);
        let writes = pricing.statements(part.table);
        writes.map(|write| write.rate * units(write)).sum()
    }

    /// The statements that write: with the table, and what they do.
    fn writes(&self) -> impl Iterator<Item = (&'w Statement, &'c Table, &Write)> {
        self.written
            .iter()
            .enumerate()
            .filter_map(move |(at, (statement, table, _))| {
                let mut all = self.pricing.statements(table);
                Some((*statement, *table, all.find(|write| write.at == at)?))
            })
    }

    /// Items of one table that come to each parent in a day.
    fn inserted(&self, table: &Table) -> f64 {
        let inserts = self.pricing.statements(table);
        let inserts = inserts.filter(|write| write.kind == WriteKind::Insert);
        inserts.map(|write| write.rate).sum::<f64>() * DAY
    }

    /// How many items a read finds at most, and how many more in a day: now it finds so many on average and at most. Where parents
    /// come too, each gets its share of the new items and no more.
    fn growth(&self, table: &Table, parent: Option<&Table>, [mean, most]: [f64; 2]) -> (f64, f64) {
        let all = self.inserted(table);
        let parent = parent.map(|parent| (rows(parent), self.inserted(parent)));
        match parent.filter(|(_, come)| *come > 0.0) {
            Some((parents, come)) => {
                let share = (mean * parents / rows(table)).min(1.0);
                (most.max(all / come * share), 0.0)
            }
            None => (most, all * mean / rows(table)),
        }
    }

    /// The reads that find rows of a table and have no condition on one of its columns.
    fn forgetful(&self, table: &TableName, column: &str) -> Vec<&'w str> {
        let is_of = |base: &TableName| {
            let split = self.splits.get(base).map(|split| &split.base);
            split.unwrap_or(base) == table
        };
        let place = (table.clone(), column.to_owned());
        let forgetful = self.served().filter(|(_, placed, ..)| {
            let mut tables = placed.ask.tables();
            tables.any(|table| is_of(&table.name)) && !placed.ask.clauses.compared.contains(&place)
        });
        forgetful.map(|(statement, ..)| &*statement.name).collect()
    }

    fn sample(&self, path: &Path, table: &Table) -> Option<&ColumnSample> {
        let (table, column) = path.find(table, self.catalog)?;
        self.pricing.facts.sample(table, column)
    }
}

/// Whether an UPDATE or DELETE names the key of one row.
fn finds_one_row(table: &Table, write: &Write) -> bool {
    let is_found = |key: &[String]| {
        !key.is_empty() && key.iter().all(|column| write.found_by.contains(column))
    };
    is_found(table.row_key()) || table.unique_keys.iter().any(|key| is_found(&key.columns))
}

/// Values that are computed from what they were: one item takes so many writes, and two that read it first lose one.
fn contention(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let (mut calm, mut hot) = (Vec::new(), Vec::new());
    for (statement, table, write) in material.writes() {
        if write.from_itself.is_empty() {
            continue;
        }
        let columns = write.from_itself.join(", ");
        let items = rows(table).max(1.0);
        let each = write.rate * material.pricing.write_units(table) / items;
        let one = format!(
            "{} ({}.{columns}, {}/s)",
            statement.name,
            called(table),
            about(write.rate)
        );
        // A favourite may get a tenth of all.
        if each > PARTITION_WRITES / 10.0 || write.rate > PARTITION_WRITES {
            hot.push(one);
        } else {
            calm.push(one);
        }
    }
    for name in material.pricing.figures.tables.keys() {
        let Some(table) = material.catalog.table(name) else {
            continue;
        };
        let rate = material
            .pricing
            .statements(table)
            .map(|write| write.rate)
            .sum::<f64>();
        if rate / rows(table) > PARTITION_WRITES / 10.0 {
            hot.push(format!("{} ({}/s)", called(table), about(rate)));
        }
    }
    let mut found = line(
        "counter under contention",
        hot,
        "one item accepts about 1,000 write units a second, and more may meet one: split the counter over several items by `shard(n)` and add them up when you read, or count from the table's stream",
    );
    found.extend(line(
        "counter",
        calm,
        "add with ADD, or with a condition if the value must not pass a bound; if you read the value and then write it, one of two simultaneous writes is lost",
    ));
    found
}

/// What one partition key value of the table or of an index takes, of the statements of all item types that stand there.
#[derive(Debug, Default)]
struct PartitionLoad {
    statements: BTreeSet<String>,
    columns: String,
    writes: f64,
    reads: f64,
}

/// Partition key values that take more than a partition does.
fn hot_keys(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let pricing = material.pricing;
    let concepts = |part: &Part<'_>| -> Vec<(TableName, String)> {
        let keys = part.partition.iter();
        keys.map(|key| key.path.concept(part.table, material.catalog))
            .collect()
    };
    // Item types stand under one value where their keys mean the same. Requests for a row itself are as uneven as its children.
    let tables = material.catalog.tables.iter();
    let stored = tables.filter(|table| table.is_stored() && !table.row_key().is_empty());
    let parts: Vec<_> = stored.flat_map(|table| material.parts(table)).collect();
    let place = |slot: usize, structure: Option<&Structure<'_>>, part: &Part<'_>| {
        let named = structure.and_then(|structure| structure.named.clone());
        (slot, named, concepts(part))
    };
    let mut shares: BTreeMap<_, f64> = BTreeMap::new();
    for (slot, structure, part) in &parts {
        if rows(part.table) > LONG {
            let share = shares.entry(place(*slot, *structure, part)).or_default();
            *share = share.max(material.most_frequent(part));
        }
    }
    let share = |slot: usize, structure: Option<&Structure<'_>>, part: &Part<'_>| {
        let own = material.most_frequent(part);
        let common = shares.get(&place(slot, structure, part)).copied();
        let common = common.filter(|_| part.is_row()).unwrap_or(0.0);
        own.max(common) / structure.map_or(1.0, |structure| float(structure.shards))
    };
    let mut loads: BTreeMap<_, PartitionLoad> = BTreeMap::new();
    for (slot, structure, part) in &parts {
        let load = loads.entry(place(*slot, *structure, part)).or_default();
        load.columns = columns(part);
        for write in pricing.statements(part.table) {
            let units = match structure.filter(|_| *slot > 0) {
                Some(structure) => {
                    let projected = material.projected.get(slot).and_then(Option::as_ref);
                    pricing.in_index(structure, part, write, projected, 0.0)
                }
                None => pricing.write_units(part.table),
            };
            let statement = material.written.get(write.at);
            if let Some((statement, ..)) = statement.filter(|_| units > 0.0) {
                load.writes += write.rate * units * share(*slot, *structure, part);
                load.statements.insert(statement.name.clone());
            }
        }
    }
    for (statement, placed, (structure, part), slot) in material.served() {
        let load = loads.entry(place(slot, Some(structure), part)).or_default();
        let units = pricing.units(placed.ask, statement.strong && slot == 0, slot > 0, &[]);
        load.columns = columns(part);
        load.reads += Pricing::rate(statement) * units * share(slot, Some(structure), part);
        load.statements.insert(statement.name.clone());
    }
    let hot = loads
        .into_iter()
        .filter(|(_, load)| load.writes > PARTITION_WRITES || load.reads > PARTITION_READS);
    let hot = hot.map(|((slot, ..), load)| {
        let of = match (slot, &*load.columns) {
            (0, columns) => format!("{columns} in the table"),
            (_, "") => format!("all of GSI{slot}"),
            (_, columns) => format!("{columns} in GSI{slot}"),
        };
        format!(
            "{} ({of}: about {:.0} write units and {:.0} read units a second)",
            joined(load.statements, " and "),
            load.writes,
            load.reads
        )
    });
    line(
        "hot key",
        hot,
        "DynamoDB accepts 1,000 write units and 3,000 read units a second for one partition key value (in brackets: what the most frequent value gets by its share of the rows): spread the value by `shard(n)`, or use a key with more values",
    )
}

/// Reads for which all items stand under one partition key value.
fn one_partition(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for (statement, _, (structure, part), slot) in material.served() {
        if !part.partition.is_empty() {
            continue;
        }
        let writes = material.index_writes((structure, part), slot) / float(structure.shards);
        found.push(format!(
            "{} (about {} write units a second)",
            statement.name,
            about(writes)
        ));
    }
    line(
        "all in one partition",
        found,
        "the read asks for no key, so all items of the index have one partition key value, which accepts 1,000 write units a second: if it may get more, spread it by `shard(n)`, or use a Scan or an export instead",
    )
}

/// Partition keys of few values.
fn few_values(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for (statement, _, (_, part), _) in material.served() {
        let values = part.partition.iter();
        let values = values.map(|key| material.pricing.facts.distinct(&key.path, part.table));
        let values: f64 = values.product();
        let many = rows(part.table) / values > LONG;
        if !part.partition.is_empty() && values <= 10.0 && many {
            found.push(format!("{} ({})", statement.name, columns(part)));
        }
    }
    line(
        "few distinct values",
        found,
        "this partition key is cheap, but it has 10 values at most, and costs do not show that each of them gathers a large share of the items: put another column before it, add a day or `shard(n)`, or keep a sparse index of the rare value only",
    )
}

/// The columns of a partition key.
fn columns(part: &Part<'_>) -> String {
    let columns = part.partition.iter().map(|key| &*key.path.column);
    columns.collect::<Vec<_>>().join(" and ")
}

/// Columns of which one value is that of most rows.
fn skewed(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for (statement, placed, (structure, part), _) in material.served() {
        let whens = structure
            .when
            .iter()
            .filter_map(|when| Some(&when.filter.as_ref()?.path));
        let filters = placed.ask.filters.iter().map(|filter| &filter.path);
        let keys = part
            .partition
            .iter()
            .map(|key| &key.path)
            .chain(whens)
            .chain(filters);
        for path in keys {
            let Some(sample) = material.sample(path, part.table) else {
                continue;
            };
            let share = float(sample.most) / float(sample.present.max(1));
            // A hundred times the mean, or more than half of several.
            let mean = 1.0 / float(sample.distinct.max(1));
            let is_much = sample.distinct > 1 && share > 0.6 || share > 20.0 * mean && share > 0.05;
            if is_much && float(sample.present) > LONG {
                found.push(format!(
                    "{} ({}: {:.0} %)",
                    statement.name,
                    path.column,
                    share * 100.0
                ));
            }
        }
    }
    line(
        "skewed values",
        found,
        "one value has that share of the rows, so averages say little: expect a long list and a busy partition for that value; if it is a state that few reads ask for, index only the other ones (a sparse index)",
    )
}

/// Large columns in items whose writes and reads do not need them.
fn large_columns(
    material: &Material<'_, '_, '_>,
) -> (Vec<Warning>, Vec<(TableName, BTreeSet<String>)>) {
    let pricing = material.pricing;
    let facts = pricing.facts;
    let made = material.splits.iter().map(|(name, split)| {
        let columns: Vec<&str> = split.large.iter().map(String::as_str).collect();
        let item = material.names.item_type(name);
        format!("{} of {} ({item})", columns.join(" and "), split.base.name)
    });
    let mut lines = line(
        "large columns",
        made,
        "they stand in items of their own: a statement pays for them only if it uses a column of that item; an INSERT or DELETE writes both items, in one transaction",
    );
    let mut found: Vec<(f64, TableName, BTreeSet<String>)> = Vec::new();
    for table in material.tables() {
        let large = table
            .columns
            .iter()
            .filter(|column| facts.bytes(table, column) > LARGE);
        let large: Vec<&Column> = large.collect();
        let bytes: f64 = large.iter().map(|column| facts.bytes(table, column)).sum();
        let rest = facts.item(table) - bytes;
        if large.is_empty() || rest <= 0.0 {
            continue;
        }
        let is_large = |name: &String| large.iter().any(|column| column.name == *name);
        let less = |unit: f64| (facts.item(table) / unit).ceil() - (rest / unit).ceil();
        let mut saved = 0.0;
        let mut who = Vec::new();
        for (statement, of, write) in material.writes() {
            let is_apart = write.kind == WriteKind::Update
                && !write.columns.is_empty()
                && !write.columns.iter().any(is_large);
            if of.name == table.name && is_apart && less(1024.0) > 0.0 {
                saved += pricing.usd_writes(write.rate * less(1024.0));
                who.push(statement.name.clone());
            }
        }
        for (statement, placed, _, slot) in material.served() {
            let mut outputs = placed.ask.outputs.iter();
            let wants = outputs.any(|(path, _)| path.steps.is_empty() && is_large(&path.column));
            if placed.ask.root.name != table.name || wants || slot > 0 {
                continue;
            }
            let items = facts.found(placed.ask);
            let units =
                (items * facts.item(table) / 4096.0).ceil() - (items * rest / 4096.0).ceil();
            if units > 0.0 {
                saved += pricing.usd_reads(units * 0.5 * Pricing::rate(statement));
                who.push(statement.name.clone());
            }
        }
        if saved < WORTH {
            continue;
        }
        let names: Vec<&str> = large.iter().map(|column| &*column.name).collect();
        lines.extend(line(
            "large columns",
            [format!("{} of {}", names.join(" and "), called(table))],
            &format!(
                "they are about {bytes:.0} of the item's {:.0} bytes, and {} pay for them without setting or selecting them: in items of their own they would save about {saved:.2} USD a month, as long as no other read needs them; or store them in S3",
                facts.item(table),
                who.join(", "),
            ),
        ));
        let names = names.into_iter().map(str::to_owned);
        found.push((saved, table.name.clone(), names.collect()));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let found = found
        .into_iter()
        .map(|(_, table, columns)| (table, columns));
    (lines, found.collect())
}

/// Indexes whose keys or attributes change all the time.
fn moved_entries(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let pricing = material.pricing;
    let mut found = Vec::new();
    for (statement, table, write) in material.writes() {
        let mut indexes = BTreeSet::new();
        let (mut sum, mut moves) = (0.0, false);
        for (at, slot) in material.slots.iter().filter(|(_, slot)| **slot > 0) {
            let structure = material.structures.get(*at);
            let part = structure.and_then(|structure| {
                let mut parts = structure.parts.iter();
                Some((structure, parts.find(|part| part.table.name == table.name)?))
            });
            let Some((structure, part)) = part.filter(|_| write.kind == WriteKind::Update) else {
                continue;
            };
            let projected = material.projected.get(slot).and_then(Option::as_ref);
            let units = pricing.in_index(structure, part, write, projected, 0.0);
            if units > 0.0 {
                sum += pricing.usd_writes(units * write.rate);
                moves |= is_moved(structure, part, write);
                indexes.insert(format!("GSI{slot}"));
            }
        }
        if sum >= 10.0 * WORTH {
            let how = if moves { "moves" } else { "changes" };
            let indexes = joined(indexes, " and ");
            let name = &statement.name;
            found.push(format!(
                "{name} {how} entries of {indexes} ({sum:.2} USD a month)"
            ));
        }
    }
    line(
        "index on what changes often",
        found,
        "each change of a key costs two writes in the index, each change of a projected attribute one: leave the column out of the index if the read can do without it, or read it from the table (`fetch: true`)",
    )
}

/// Indexes that cost far more than the reads that ask them are likely worth.
fn dear_indexes(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let pricing = material.pricing;
    let mut found = Vec::new();
    for (at, slot) in material.slots.iter().filter(|(_, slot)| **slot > 0) {
        let Some(structure) = material.structures.get(*at) else {
            continue;
        };
        let mut cost = 0.0;
        for part in &structure.parts {
            cost += pricing.usd_writes(material.index_writes((structure, part), *slot));
        }
        let reads = material
            .placed
            .iter()
            .filter(|(placed, ..)| placed.structure == *at);
        let (names, rates): (Vec<&str>, Vec<f64>) = reads
            .map(|(placed, statement, _)| (placed.name, Pricing::rate(statement)))
            .unzip();
        let requests = rates.iter().sum::<f64>() * MONTH / 1e6;
        if !names.is_empty() && cost > 10.0 * WORTH && cost > DEAR * requests {
            found.push(format!(
                "{} by GSI{slot} ({cost:.2} USD a month for {}/s)",
                names.join(" and "),
                about(rates.iter().sum())
            ));
        }
    }
    line(
        "dear index",
        found,
        "keeping its entries up to date costs far more than the reads that use it: consider a Scan, an export to S3 with Athena, or a search index that the stream feeds",
    )
}

/// Copies of what changes.
fn copies(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, placed, _, _) in material.served() {
        for (table, outputs) in placed.ask.types() {
            for (path, _) in outputs {
                let Some(step) = path.steps.last() else {
                    continue;
                };
                let Some(parent) = material.catalog.table(&step.table) else {
                    continue;
                };
                for (statement, of, write) in material.writes() {
                    if of.name == parent.name && write.columns.contains(&path.column) {
                        let name =
                            format!("{} ({}.{})", statement.name, called(parent), path.column);
                        let copies = copied(material, table, parent, path);
                        found.entry(name).or_default().insert(copies);
                    }
                }
            }
        }
    }
    let found = found
        .into_iter()
        .map(|(name, items)| format!("{name} writes {}", joined(items, ", and ")));
    line(
        "copies to keep up to date",
        found,
        "whoever changes the column has to change its copies too, from the stream or at once; until then they are stale",
    )
}

/// How many copies of a parent's column there are, and whether a key finds them.
fn copied<'c>(
    material: &Material<'_, '_, 'c>,
    table: &'c Table,
    parent: &Table,
    path: &Path,
) -> String {
    let mean = (rows(table) / rows(parent)).max(1.0);
    let mut said = format!("about {} items of {}", about(mean), called(table));
    let own = path.steps.first().map_or(&[][..], |step| &*step.columns);
    if let ([_], [column]) = (&*path.steps, own) {
        let sample = material.sample(&Path::own(column), table);
        let most = sample.map_or(0.0, |one| float(one.most) / float(one.rows) * rows(table));
        if most > mean {
            said.push_str(&format!(", up to {}", about(most)));
        }
    }
    let is_of_parent = |part: &Part<'_>| {
        let mut keys = part.partition.iter();
        let steps = path.steps.len();
        !part.partition.is_empty()
            && keys.all(|key| match key.path.steps.len() {
                0 => steps == 1 && own.contains(&key.path.column),
                _ => key.path.steps == path.steps,
            })
    };
    let parts = material.parts(table);
    let mut parts = parts.iter();
    if !parts.any(|(_, structure, part)| {
        is_of_parent(part) && structure.is_none_or(|structure| structure.when.is_empty())
    }) {
        said.push_str(", which no key finds");
    }
    said
}

/// Lists that grow without a bound.
fn unbounded(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let facts = material.pricing.facts;
    let (mut listed, mut whole) = (Vec::new(), Vec::new());
    for (statement, placed, _, _) in material.served() {
        let ask = placed.ask;
        let is_whole = ask.sorts || ask.computes;
        if ask.limit.is_some() && !is_whole {
            continue;
        }
        let found = if is_whole { &mut whole } else { &mut listed };
        let children = ask.children.iter();
        // The large columns of a row are one item.
        let children = children.filter(|child| !material.splits.contains_key(&child.table.name));
        for child in children {
            let each = rows(child.table) / rows(ask.root);
            let (each, grows) = material.growth(child.table, Some(ask.root), [each; 2]);
            if each > LONG || grows > LONG {
                found.push(grown(&statement.name, "about", each, grows));
            }
        }
        let is_one = |equal: &Equal| {
            let sample = material.sample(&equal.path, ask.root);
            let sample = sample.filter(|_| equal.path.steps.is_empty());
            sample.is_some_and(|one| one.is_all && one.present > 1 && one.distinct == one.present)
        };
        if !ask.children.is_empty() || facts.is_by_key(ask) || ask.equal.iter().any(is_one) {
            continue;
        }
        let (all, most) = (facts.found_in_all(ask), facts.most_found(ask));
        let parent = ask.equal.iter().find_map(|equal| {
            let own = Some(&equal.path.column).filter(|_| equal.path.steps.is_empty())?;
            let mut keys = ask.root.foreign_keys.iter();
            let key = keys.find(|key| key.columns.as_slice() == std::slice::from_ref(own))?;
            material.catalog.table(&key.references)
        });
        let (most, grows) = material.growth(ask.root, parent, [all, most]);
        // Of ranges and conditions the mean is known alone.
        let is_most = most > all && ask.range.is_none() && ask.when.is_empty();
        if most > LONG || grows > LONG {
            let how = if is_most { "up to" } else { "about" };
            found.push(grown(&statement.name, how, most, grows));
        }
    }
    let mut lines = line(
        "unbounded list",
        listed,
        "it has no LIMIT: read it in pages (Limit, LastEvaluatedKey), put a time into the key, keep sums, or let old items expire",
    );
    lines.extend(line(
        "unbounded list",
        whole,
        "the application sorts or computes, and needs all of the items, also where the SQL has a LIMIT: use a key that sorts them, keep sums, or let old items expire",
    ));
    lines
}

fn grown(name: &str, how: &str, items: f64, a_day: f64) -> String {
    let items = about(items);
    if a_day >= 1.0 {
        let a_day = about(a_day);
        format!("{name} ({how} {items} items now, {a_day} more a day)")
    } else {
        format!("{name} ({how} {items} items)")
    }
}

fn inconsistent(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let away = material.placed.iter().filter(|(placed, statement, way)| {
        let slot = material.slots.get(&placed.structure).copied().unwrap_or(0);
        statement.strong && (slot > 0 || !way.is_consistent)
    });
    line(
        "not strongly consistent",
        away.map(|(_, statement, _)| statement.name.clone()),
        "an index follows the table a moment later: to see a write at once, read by the table's own key, or keep a lookup item that is written in one transaction with the item",
    )
}

/// UPDATE and DELETE of more than one row, and those whose rows no key finds.
fn many_at_once(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let (mut many, mut lost) = (Vec::new(), Vec::new());
    for (statement, table, write) in material.writes() {
        if write.kind == WriteKind::Insert {
            continue;
        }
        let mut priced = material.priced.writes.iter();
        if priced.any(|one| one.name == statement.name && !one.has_key) {
            lost.push(statement.name.clone());
        }
        if !finds_one_row(table, write) {
            many.push(statement.name.clone());
        }
    }
    let mut lines = line(
        "no key finds the rows",
        lost,
        "no partition key of the table or of an index that holds all its rows is in the WHERE: only a Scan finds them, whose cost is not included; let the program give the item's key, add a read with this WHERE to the workload, which gives it an index, or let rows that are deleted by their age expire (`ttl`)",
    );
    lines.extend(line(
        "many items at once",
        many,
        "DynamoDB writes single items by their whole key: find the items first, by a Query where a key finds them, and send one write for each",
    ));
    lines
}

/// Deletes by which the database deletes rows of other tables.
fn cascades(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let deletes = material.writes();
    let deletes = deletes.filter(|(_, _, write)| write.kind == WriteKind::Delete);
    let found = deletes.filter_map(|(statement, table, _)| {
        let children = cascading(material.pricing.facts.catalog, table);
        let children =
            children.map(|(child, each)| format!("about {} of {}", about(each), called(child)));
        let children = joined(children, ", ");
        (!children.is_empty()).then(|| format!("{} ({children})", statement.name))
    });
    line(
        "cascades",
        found,
        "the database deletes these rows too (ON DELETE CASCADE), and nothing does so in DynamoDB: find them by a Query for each item type and delete them one by one, at once or from the stream; the statement's cost includes these deletes, and not the Queries",
    )
}

/// Rows that are deleted by their age.
fn expiry(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    const TERMS: [&str; 11] = [
        "expire",
        "expires",
        "expired",
        "expiresat",
        "expiry",
        "expirydate",
        "expiration",
        "validuntil",
        "ttl",
        "purgeat",
        "deleteafter",
    ];
    let mut found = Vec::new();
    for table in material.tables() {
        if material.expiries.contains_key(&table.name) {
            continue;
        }
        for column in &table.columns {
            let is_time = column.data_type.family() == TypeFamily::Time;
            let is_called_so = has_term(&column.name, &TERMS);
            if !is_time && !is_called_so {
                continue;
            }
            let deleted = material.writes().find(|(_, of, write)| {
                write.kind == WriteKind::Delete
                    && of.name == table.name
                    && write.below.contains(&column.name)
            });
            if let Some((statement, ..)) = deleted {
                found.push(format!(
                    "{}.{} ({})",
                    called(table),
                    column.name,
                    statement.name
                ));
            } else if is_time && is_called_so {
                found.push(format!("{}.{}", called(table), column.name));
            }
        }
    }
    line(
        "TTL",
        found,
        "DynamoDB deletes expired items itself and for free, if the table's `ttl` names an attribute with the time in seconds (`{column | epoch}`; of a time in the past, such as when a row came, plus your period: `{column | plus(30d) | epoch}`, else what is there expires at once); that may take a few days, and until then reads have to leave them out",
    )
}

/// Rows that expire, as the workload asks.
fn expiring(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for (name, column) in material.expiries {
        let Some(table) = material.catalog.table(name) else {
            continue;
        };
        let mut said = format!("{} by {}", called(table), column.column);
        if let Some(after) = &column.after {
            said = format!("{said} + {after}");
        }
        said.push_str(&not_asked(material.forgetful(name, &column.column)));
        // Those that are used.
        let mut figures = material.pricing.figures.tables.iter();
        if figures.any(|(own, kept)| kept.of.base == *name && material.catalog.table(own).is_some())
        {
            said.push_str(" (counts and sums keep what has expired: take it off by the stream)");
        }
        found.push(said);
    }
    line(
        "expires",
        found,
        "DynamoDB deletes such items by `ttl`, free of charge and within a few days, so that no statement has to: reads that do not ask for the time find them until then; children of an item and copies do not go with it; without a period (`+ 30d`) what is past expires at once",
    )
}

fn not_asked(reads: Vec<&str>) -> String {
    if reads.is_empty() {
        return String::new();
    }
    format!(" (not asked by {})", joined(reads, " and "))
}

/// Rows that are marked as deleted, and stay.
fn soft_deletes(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    const TERMS: [&str; 9] = [
        "deleted",
        "deletedat",
        "isdeleted",
        "deleteflag",
        "archived",
        "removed",
        "discarded",
        "trashed",
        "voided",
    ];
    let mut found = Vec::new();
    for table in material.tables() {
        for column in &table.columns {
            let family = column.data_type.family();
            // A number or a text is a mark where the workload uses it as one.
            let is_used = || {
                let place = (table.name.clone(), column.name.clone());
                let mut reads = material.served();
                let mut writes = material.writes().filter(|(_, of, _)| of.name == table.name);
                reads.any(|(_, placed, ..)| placed.ask.clauses.compared.contains(&place))
                    || writes.any(|(.., write)| write.columns.contains(&column.name))
            };
            let is_mark = matches!(family, TypeFamily::Time | TypeFamily::Boolean) || is_used();
            if !has_term(&column.name, &TERMS) || !is_mark {
                continue;
            }
            let forgetful = not_asked(material.forgetful(&table.name, &column.name));
            found.push(format!("{}.{}{forgetful}", called(table), column.name));
        }
    }
    line(
        "soft delete",
        found,
        "rows with that mark remain items that are stored, read and filtered: leave them out of indexes (`$when`), let them expire by TTL, or move them to an archive; reads that do not ask for the mark find them",
    )
}

fn cursors(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let found = material.served();
    let found = found.filter(|(_, placed, ..)| placed.ask.clauses.skips);
    let (sorted, paged): (Vec<_>, Vec<_>) = found.partition(|(_, placed, ..)| placed.ask.sorts);
    let named = |found: Vec<Served<'_, '_, '_, '_>>| {
        let names = found.into_iter();
        names
            .map(|(statement, ..)| statement.name.clone())
            .collect::<Vec<_>>()
    };
    let mut lines = line(
        "OFFSET",
        named(paged),
        "no Query skips rows: a page continues after the last item of the one before (LastEvaluatedKey), so nobody can jump to page 7",
    );
    lines.extend(line(
        "OFFSET",
        named(sorted),
        "no key sorts these rows: the application reads them all for each page, sorts them and skips the first ones",
    ));
    lines
}

/// Texts that are compared without case.
fn folded_case(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for (statement, placed, ..) in material.served() {
        let ask = placed.ask;
        let is_loose = |path: &Path| {
            let column = path.column_of(ask.root, material.catalog);
            column.is_some_and(|column| column.insensitive)
        };
        for equal in &ask.equal {
            if equal.folds || is_loose(&equal.path) {
                found.push(format!("{} ({})", statement.name, equal.path.column));
            }
        }
        for range in ask
            .range
            .iter()
            .filter(|range| range.folds || is_loose(&range.path))
        {
            found.push(format!("{} ({})", statement.name, range.path.column));
        }
    }
    line(
        "case",
        found,
        "the database ignores case, and a key is compared by its bytes: write the key and ask for it in one form, as with `| lower`, and keep the text as it was typed in an attribute",
    )
}

/// Keys that nothing keeps unique any more.
fn unique(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for table in material.tables() {
        let is_written = material.writes().any(|(_, of, _)| of.name == table.name);
        let unique = table
            .unique_keys
            .iter()
            .filter(|key| key.columns != table.row_key());
        for key in unique.filter(|_| is_written) {
            found.push(format!("{}({})", called(table), key.columns.join(" + ")));
        }
        let row_key = table.row_key();
        let is_of_row = |key: &KeyPart| {
            let own = key.path.steps.first().map(|step| &step.columns);
            match own {
                Some(columns) => columns.iter().all(|column| row_key.contains(column)),
                None => row_key.contains(&key.path.column),
            }
        };
        let is_lost = || {
            let parts = material.parts(table);
            let mut parts = parts.iter().filter(|(slot, ..)| *slot == 0);
            parts.any(|(.., part)| !part.partition.iter().chain(&part.sort).all(is_of_row))
        };
        if is_written && !row_key.is_empty() && table.is_stored() && is_lost() {
            found.push(format!("{}({})", called(table), row_key.join(" + ")));
        }
    }
    line(
        "unique",
        found,
        "neither an index nor a key with further columns keeps values unique: put a guard item whose key is the value, with attribute_not_exists, in one transaction with the item (`check --guarantees` shows what becomes of each key)",
    )
}

/// Numbers that are text.
fn text_numbers(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for (statement, placed, ..) in material.served() {
        let ask = placed.ask;
        let sorted = ask.clauses.sorted.iter().filter_map(|(table, column)| {
            let table = material.catalog.table(table)?;
            Some((table, table.column(column)?))
        });
        let range = ask.range.iter();
        let ranged = range.filter_map(|range| range.path.find(ask.root, material.catalog));
        for (table, column) in sorted.chain(ranged) {
            let digits = material.pricing.facts.sample(table, column);
            let is_number = digits.is_some_and(|one| one.present > 0 && one.digits == one.present);
            if is_number && matches!(column.data_type, DataType::Text { .. }) {
                found.push(format!("{} ({})", statement.name, column.name));
            }
        }
    }
    line(
        "numbers as text",
        found,
        "the column is text and all its values are digits: 10 sorts before 9, here as in the database; pad it (`{column | pad(10)}` over a number) where numbers are meant",
    )
}

/// Values that take much of what an item holds.
fn large_values(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for table in material.tables() {
        for column in &table.columns {
            let longest = material.pricing.facts.sample(table, column);
            let longest = longest.map_or(0, |sample| sample.longest);
            if longest > 100_000 {
                found.push(format!(
                    "{}.{} ({longest} bytes)",
                    called(table),
                    column.name
                ));
            }
        }
    }
    line(
        "large values",
        found,
        "an item holds 400 KB, all attributes together: store such values in S3 and their address in the item, or compress them (`oversize`)",
    )
}

/// Keys that may be longer than DynamoDB takes: by the limits of their columns, or by what was counted where these have none.
fn long_keys(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for table in material.tables() {
        let item_type = material.names.item_type(&table.name);
        let sizes = material.sizes.iter();
        let sizes = sizes.filter(|size| size.item_type == item_type);
        for key in sizes.flat_map(|size| &size.keys) {
            let slot = slot_of(key, material.slots.values());
            let Some(long) = too_long(material, table, key, slot) else {
                continue;
            };
            let reads = material.served();
            let reads =
                reads.filter(|(_, _, (_, part), at)| *at == slot && part.table.name == table.name);
            let mut reads = each_once(reads.map(|(statement, ..)| &*statement.name));
            if reads.is_empty() {
                reads.push(item_type);
            }
            found.push(format!(
                "{} ({}: {long}, {} allowed)",
                reads.join(" and "),
                key.attribute,
                count(key.allowed)
            ));
        }
    }
    line(
        "long keys",
        found,
        "all parts of a key and the signs between them count, a letter with up to 4 bytes, and `migrate` rejects rows with longer keys: shorten a text in the key by `| truncate(n)`, or limit the column in the database",
    )
}

/// Of a key's attribute the number of its index; 0 of the table itself.
fn slot_of<'s>(key: &KeySize, mut slots: impl Iterator<Item = &'s usize>) -> usize {
    let name = key.attribute.trim_start_matches('_');
    let is_of = |slot: &usize| name == format!("GSI{slot}PK") || name == format!("GSI{slot}SK");
    slots.find(|slot| is_of(slot)).copied().unwrap_or(0)
}

/// How long a key may be, where that may be too long.
fn too_long<'c>(
    material: &Material<'_, '_, 'c>,
    table: &'c Table,
    key: &KeySize,
    slot: usize,
) -> Option<String> {
    let mut parts = material.parts(table);
    parts.retain(|(at, ..)| *at == slot);
    let (mut bytes, mut unlimited) = (whole(key.bytes), Vec::new());
    for written in &key.without_limit {
        let column = written.trim_matches('`').rsplit('.').next();
        let mut paths = parts
            .iter()
            .flat_map(|(.., part)| part.partition.iter().chain(&part.sort))
            .map(|key| &key.path);
        let Some(path) = paths.find(|path| Some(&*path.column) == column) else {
            continue;
        };
        match material.sample(path, table).filter(|one| one.is_all) {
            Some(sample) => bytes += sample.longest,
            // SQLite limits no column; its numbers and times are short.
            None if path.is_loose(table, material.catalog) => unlimited.push(&**written),
            None => {}
        }
    }
    if !unlimited.is_empty() {
        return Some(format!("no limit of {}", unlimited.join(" and ")));
    }
    (bytes > whole(key.allowed)).then(|| format!("up to {} bytes", count(bytes)))
}

fn delimiters(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let names = material
        .escaped
        .iter()
        .map(|(table, column)| format!("{}.{column}", table.name));
    line(
        DELIMITER,
        names,
        "values hold `#`, which separates the parts of keys: they are escaped there (`key_escape: percent`), and every program that writes or asks has to escape them too",
    )
}

/// Columns in the keys of indexes that may be NULL.
fn absent_keys(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for (statement, placed, (_, part), slot) in material.served() {
        for key in part.partition.iter().filter(|_| slot > 0) {
            if key.path.may_be_null(placed.ask.root, material.catalog) {
                found.push(format!("{} ({})", statement.name, key.path.column));
            }
        }
    }
    line(
        "NULL in keys",
        found,
        "rows with NULL there are not in the index (it is sparse): a read by `= :value` does not need them, any other read of the index does not find them",
    )
}

/// Columns that look like references, and are none.
fn undeclared(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let equal = material.served().flat_map(|(_, placed, ..)| {
        let own = placed.ask.equal.iter();
        let own = own.filter(|equal| equal.path.steps.is_empty());
        own.map(|equal| (&placed.ask.root.name, &*equal.path.column))
    });
    let asked: BTreeSet<(&TableName, &str)> = equal.collect();
    let mut found = Vec::new();
    for table in material.tables() {
        for column in &table.columns {
            let name = words(&column.name);
            // `tenant_code`, where tenants have a unique `code`.
            let is_of = |other: &Table| {
                let parent = words(&other.name.name).concat();
                let parent = parent.trim_end_matches('s');
                let mut keys = other.keys(material.catalog.dbms);
                other.name != table.name
                    && keys.any(|key| match key.columns {
                        [one] => name.concat() == format!("{parent}{}", words(one).concat()),
                        _ => false,
                    })
            };
            let is_id = name.len() > 1 && name.last().is_some_and(|last| last == "id");
            let looks_so = || is_id || material.tables().any(is_of);
            let mut keys = table.foreign_keys.iter();
            let is_one = keys.any(|key| key.columns.contains(&column.name));
            let is_asked = asked.contains(&(&table.name, &*column.name));
            if is_asked && !is_one && !table.row_key().contains(&column.name) && looks_so() {
                found.push(format!("{}.{}", called(table), column.name));
            }
        }
    }
    let mut lines = line(
        "no declared reference",
        found,
        "its name is that of a reference, but the schema declares none: it is treated as a plain value, and keeps no items together",
    );
    lines.extend(line(
        "reference by a join alone",
        material.by_join.iter().cloned(),
        "statements join by it, but the schema declares no foreign key: a row whose parent is missing is loaded under that parent's key all the same",
    ));
    lines
}

/// Who made or changed a row owns nothing.
fn audit(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let mut found = Vec::new();
    for table in material.tables() {
        for key in table.foreign_keys.iter().filter(|key| is_audit(key)) {
            found.push(format!("{}.{}", called(table), key.columns.join("+")));
        }
    }
    line(
        "audit columns",
        found,
        "they say who made or changed a row, and do not decide where its items stand",
    )
}

/// Whether a column holds data of persons, by its name and its type.
fn is_personal(column: &Column) -> bool {
    const TERMS: [&str; 18] = [
        "address",
        "email",
        "emailaddress",
        "familyname",
        "firstname",
        "fullname",
        "givenname",
        "iban",
        "lastname",
        "mail",
        "mobile",
        "passport",
        "phone",
        "phonenumber",
        "postcode",
        "ssn",
        "surname",
        "telephone",
    ];
    const BIRTH: [&str; 4] = ["birth", "birthdate", "birthday", "dateofbirth"];
    const IDS: [&str; 2] = ["nationalid", "taxid"];
    // What tells of such a value, and is none.
    const ABOUT: [&str; 6] = ["id", "type", "kind", "status", "count", "format"];
    let is_about = words(&column.name).pop();
    let is_about = is_about.is_some_and(|last| ABOUT.contains(&&*last));
    let is = |terms: &[&str]| has_term(&column.name, terms);
    match &column.data_type {
        DataType::Boolean | DataType::Time { .. } | DataType::Timestamp { .. } => false,
        DataType::Date => is(&BIRTH),
        _ => is(&IDS) || !is_about && (is(&TERMS) || is(&BIRTH)),
    }
}

/// Data of persons that stands in keys, or is copied.
fn personal(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let named = |statement: &Statement, table: &Table, paths: Vec<&Path>| {
        let columns = paths.into_iter();
        let columns = columns.filter_map(|path| path.column_of(table, material.catalog));
        let columns = columns.filter(|column| is_personal(column));
        let columns: BTreeSet<&str> = columns.map(|column| &*column.name).collect();
        let columns = Some(columns).filter(|columns| !columns.is_empty())?;
        Some(format!("{} ({})", statement.name, joined(columns, " and ")))
    };
    let (mut keys, mut copied) = (Vec::new(), Vec::new());
    for (statement, placed, (_, part), _) in material.served() {
        let held = part.partition.iter().chain(&part.sort).map(|key| &key.path);
        keys.extend(named(statement, part.table, held.collect()));
        for (table, outputs) in placed.ask.types() {
            let copies = outputs.iter().map(|(path, _)| path);
            let copies = copies.filter(|path| !path.steps.is_empty());
            copied.extend(named(statement, table, copies.collect()));
        }
    }
    let mut found = line(
        "personal data in keys",
        keys,
        "keys show up in logs, metrics and URLs, and cannot be changed: a keyed hash of the value finds the same items",
    );
    found.extend(line(
        "personal data in copies",
        copied,
        "what erases it has to erase the copies",
    ));
    found
}

fn filtered(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let facts = material.pricing.facts;
    let found = material.served().filter_map(|(statement, placed, ..)| {
        let found = facts.found(placed.ask);
        let is_much = !placed.ask.filters.is_empty() && found > LONG;
        is_much.then(|| format!("{} ({} items)", statement.name, about(found)))
    });
    line(
        "filter",
        found,
        "the read pays for all of these items, and a filter then leaves out those that it does not want",
    )
}

fn rates(material: &Material<'_, '_, '_>) -> Vec<Warning> {
    let unrated = material
        .placed
        .iter()
        .filter(|(_, statement, _)| statement.rate.is_none());
    let unrated = unrated.count();
    let mut found = Vec::new();
    if unrated > 0 {
        let all = material.placed.len();
        found.push(Warning::from(format!(
            "guessed rates: {unrated} of {all} reads have no rate: one request a second is assumed for each"
        )));
    }
    let writes = material
        .written
        .iter()
        .filter(|(statement, ..)| statement.rate.is_none());
    let writes: Vec<String> = writes
        .map(|(statement, ..)| statement.name.clone())
        .collect();
    found.extend(line(
        "guessed write rates",
        writes,
        "one a second is assumed for each",
    ));
    if material.written.is_empty() {
        let why = "no writes: no statement writes, so the costs do not include keeping indexes and copies up to date";
        found.push(Warning::from(why.to_owned()));
    }
    found
}
