//! What a person has to decide, or would find out too late: one line for each kind, the heaviest first.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dynafold_dynamodb::price::{PARTITION_READS, PARTITION_WRITES};
use dynafold_format::{count, counted, each_once, float, has_word, joined, text_if, usd, whole};
use dynafold_mapping::KeySize;
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, ForeignKey, ReferentialAction, Table, TableName, TypeFamily,
    UniqueKey,
};
use dynafold_sql::{Condition, Constant, Lists, SqlQuery, WriteKind, parametrized};

use crate::ask::{Ask, Asked, ChildAsk, Equal, RangeAsk, When, ignores_case, why_mixed};
use crate::compare::PricedMapping;
use crate::facts::{Facts, rows, significant};
use crate::names::{has_term, words};
use crate::observed::ColumnSample;
use crate::owner::is_audit;
use crate::path::{Path, Step};
use crate::pricing::{MONTH, Pricing, is_moved, read_units, write_units};
use crate::report::{DELIMITER, Material, Warning};
use crate::seconds::CopiedColumns;
use crate::structure::{KeyPart, Part, Structure, own_part};
use crate::workload::Statement;
use crate::writes::{Values, Write};

/// Bytes of a column beyond which it is large: it costs writes and reads that do not need it.
const LARGE: f64 = 512.0;
/// Items beyond which a list is long.
const LONG: f64 = 100.0;
/// US dollars a month from which a saving is worth a word.
const WORTH: f64 = 1.0;
/// US dollars a million requests from which an index is dear for the reads that ask it: some hundred times what a read costs.
const DEAR: f64 = 100.0;
const DAY: f64 = 86_400.0;

/// Large columns that may well have items of their own.
#[derive(Debug, Clone)]
pub(crate) struct LargeColumns {
    pub(crate) table: TableName,
    pub(crate) columns: BTreeSet<String>,
    /// US dollars a month that this would save, without what it costs reads that select them.
    pub(crate) saved: f64,
    /// The place of the warning that says so.
    pub(crate) warning: usize,
}

/// What may well be otherwise: what saves the most first.
pub(crate) struct Otherwise {
    /// Large columns that may have items of their own.
    pub(crate) large: Vec<LargeColumns>,
    /// Copies that second requests may replace.
    pub(crate) copied: Vec<CopiedColumns>,
    /// Copies that no key finds.
    pub(crate) scans_for: BTreeSet<CopyPlace>,
    /// US dollars a month of the Scans for them, which the design's costs do not have.
    pub(crate) usd_scans: f64,
}

/// The items that have copies: those of a table, with the way from there to the parent.
pub(crate) type CopyPlace = (TableName, Vec<Step>);

/// All of a design's, and what may well be otherwise.
pub(crate) fn traps(material: &Material<'_, '_>) -> (Vec<Warning>, Otherwise) {
    let lines = &mut Lines::default();
    contention(material, lines);
    hot_keys(material, lines);
    one_partition(material, lines);
    few_values(material, lines);
    skewed(material, lines);
    let large = large_columns(material, lines);
    moved_entries(material, lines);
    dear_indexes(material, lines);
    dear_figures(material, lines);
    let (copied, scans_for, usd_scans) = copies(material, lines);
    unbounded(material, lines);
    inconsistent(material, lines);
    many_at_once(material, lines);
    upserts(material, lines);
    next_numbers(material, lines);
    cascades(material, lines);
    expiring(material, lines);
    expiry(material, lines);
    soft_deletes(material, lines);
    cursors(material, lines);
    folded_case(material, lines);
    unique(material, lines);
    odd_texts(material, lines);
    large_values(material, lines);
    long_keys(material, lines);
    delimiters(material, lines);
    absent_keys(material, lines);
    undeclared(material, lines);
    audit(material, lines);
    personal(material, lines);
    filtered(material, lines);
    rates(material, lines);
    let otherwise = Otherwise {
        large,
        copied,
        scans_for,
        usd_scans,
    };
    (std::mem::take(&mut lines.0), otherwise)
}

#[derive(Default)]
struct Lines(Vec<Warning>);

impl Lines {
    /// Adds a line of a kind, in which each of the concerned stands once; none where nobody is concerned.
    fn add(&mut self, kind: &str, concerned: impl IntoIterator<Item = String>, why: &str) {
        let concerned = each_once(concerned);
        if !concerned.is_empty() {
            self.0.push(Warning::new(kind, concerned, why));
        }
    }

    /// Adds a line that is of the whole workload.
    fn of_all(&mut self, kind: &str, why: &str) {
        self.0.push(Warning::new(kind, Vec::new(), why));
    }
}

/// A statement with what is said of it.
fn noted(statement: &Statement, note: impl fmt::Display) -> String {
    format!("{} ({note})", statement.name)
}

/// A column with its table, as people call both.
fn named(table: &Table, column: &str) -> String {
    format!("{}.{column}", table.name.name)
}

/// A number in a sentence.
fn about(number: f64) -> String {
    // The sum of nothing is -0.
    let number = number + 0.0;
    if number >= 10.0 {
        format!("{number:.0}")
    } else if number > 0.0 && number < 0.1 {
        significant(number, 2).to_string()
    } else {
        format!("{number:.1}").trim_end_matches(".0").to_owned()
    }
}

/// Behind a place, the capacity units a second that it takes; what is zero is left out.
fn units_a_second(writes: f64, reads: f64) -> String {
    let loads = [(writes, "write"), (reads, "read")].into_iter();
    let loads = loads.filter(|(units, _)| *units > 0.0);
    let loads = loads.map(|(units, kind)| {
        if units < 1.0 {
            format!("less than 1 {kind} unit")
        } else {
            format!("about {} {kind} units", about(units))
        }
    });
    let loads = joined(loads, " and ");
    text_if(!loads.is_empty(), format!(": {loads} a second"))
}

/// A read that is served: how, and by which part of which structure.
struct Served<'m, 'c> {
    statement: &'m Statement,
    ask: &'m Ask<'c>,
    structure: &'m Structure<'c>,
    part: &'m Part<'c>,
    slot: usize,
    is_consistent: bool,
}

impl<'m, 'c> Material<'m, 'c> {
    /// The tables of the schema: those of figures and of large columns are none.
    fn tables(&self) -> impl Iterator<Item = &'c Table> {
        let tables = self.catalog.tables.iter();
        tables.filter(|table| {
            let figures = &self.pricing.figures.tables;
            !figures.contains_key(&table.name) && !self.splits.contains_key(&table.name)
        })
    }

    /// Their columns.
    fn columns(&self) -> impl Iterator<Item = (&'c Table, &'c Column)> {
        self.tables()
            .flat_map(|table| table.columns.iter().map(move |column| (table, column)))
    }

    fn served(&self) -> impl Iterator<Item = Served<'m, 'c>> {
        self.placed.iter().filter_map(move |read| {
            let structure = self.structures.get(read.structure)?;
            Some(Served {
                statement: read.statement,
                ask: read.ask,
                structure,
                part: structure.parts.get(read.part)?,
                slot: self.slots.get(&read.structure).copied().unwrap_or(0),
                is_consistent: read.is_consistent,
            })
        })
    }

    /// The name of the read of which a statement is the second request.
    fn first_of(&self, second: &Statement) -> Option<String> {
        self.second(second)?;
        let mut placed = self.placed.iter();
        let first = placed.find(|read| {
            let rest = second.name.strip_prefix(read.name());
            !read.ask.referred.is_empty() && rest.is_some_and(|rest| rest.starts_with('_'))
        });
        first.map(|read| read.name().to_owned())
    }

    /// The statements that write: with the table, and what they do.
    fn writes(&self) -> impl Iterator<Item = (&'m Statement, &'c Table, &Write)> {
        let written = self.written.iter().enumerate();
        written.filter_map(move |(at, (statement, table, _))| {
            let mut all = self.pricing.statements(table);
            Some((*statement, *table, all.find(|write| write.at == at)?))
        })
    }

    /// The structures in indexes: each with its place and the number of its index.
    fn indexes(&self) -> impl Iterator<Item = (usize, usize, &'m Structure<'c>)> {
        let slots = self.slots.iter().filter(|(_, slot)| **slot > 0);
        slots.filter_map(move |(at, slot)| Some((*at, *slot, self.structures.get(*at)?)))
    }

    /// Where a table's items stand: in the table itself by a key of their own where no structure is chosen there, and in indexes.
    fn parts<'s>(&'s self, table: &'c Table) -> Vec<(usize, Option<&'s Structure<'c>>, Part<'c>)> {
        let structures = self.slots.iter().filter_map(|(at, slot)| {
            let structure = self.structures.get(*at)?;
            Some((*slot, Some(structure), part_of(structure, table)?.clone()))
        });
        let mut found: Vec<_> = structures.collect();
        if found.iter().all(|(slot, ..)| *slot > 0) {
            let own = own_part(self.catalog, table, self.pricing.pins);
            found.push((0, None, own));
        }
        found
    }

    /// Write units of one request of a statement in an index.
    fn index_units(
        &self,
        slot: usize,
        structure: &Structure<'_>,
        part: &Part<'_>,
        write: &Write,
    ) -> f64 {
        let projected = self.projected.get(&slot).and_then(Option::as_ref);
        self.pricing.in_index(structure, part, write, projected)
    }

    /// Write units a second that a part takes in an index.
    fn index_writes(&self, slot: usize, structure: &Structure<'_>, part: &Part<'_>) -> f64 {
        let writes = self.pricing.statements(part.table);
        writes
            .map(|write| write.rate * self.index_units(slot, structure, part, write))
            .sum()
    }

    /// Rows of a table that are inserted in a day.
    fn inserted(&self, table: &Table) -> f64 {
        let inserts = self.pricing.statements(table);
        let inserts = inserts.filter(|write| write.kind == WriteKind::Insert);
        inserts.map(|write| write.rate).sum::<f64>() * DAY
    }

    /// Whether a read has a condition on a column.
    fn is_compared(&self, table: &Table, column: &Column) -> bool {
        let place = (table.name.clone(), column.name.clone());
        self.served()
            .any(|read| read.ask.clauses.compared.contains(&place))
    }

    /// How many more items that meet these conditions come in a day than go, in the list of a table's rows that gets the most. A list
    /// has the rows with the same values in some columns; `share`: how much of a write that gives these constants in them goes to one
    /// list.
    fn growth(
        &self,
        table: &Table,
        columns: &[&String],
        when: &[&When],
        share: &dyn Fn(&Values) -> f64,
    ) -> f64 {
        let writes = self.pricing.statements(table);
        let writes = writes.flat_map(|write| self.listed(table, columns, when, write));
        let rates = writes.filter_map(|(rate, values)| {
            let mut given = values.clone();
            given.retain(|column, value| columns.contains(&column) && *value != Constant::Other);
            // What has NULL is in no list.
            let is_listed = !given.values().any(|value| *value == Constant::Null);
            is_listed.then(|| (rate * share(&given), given))
        });
        let mut rates: Vec<(f64, Values)> = rates.collect();
        // What comes says which list it is.
        rates.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let lists = rates.iter().map(|(_, first)| {
            let (mut sum, mut list) = (0.0, first.clone());
            for (rate, given) in &rates {
                let given = given.iter();
                let is_same = |(column, value): (&String, &Constant)| {
                    let own = list.get(column);
                    own.map_or(*rate > 0.0, |own| own == value)
                };
                if given.clone().all(is_same) {
                    sum += rate;
                    list.extend(given.map(|(column, value)| (column.clone(), value.clone())));
                }
            }
            sum
        });
        lists.fold(0.0, f64::max) * DAY
    }

    /// How many rows a second a statement brings into lists of rows that meet these conditions, or takes out of them where the number is
    /// negative, with what it says of them. Where it says nothing of a condition, it writes as many of these rows as of all.
    fn listed<'w>(
        &self,
        table: &Table,
        columns: &[&String],
        when: &[&When],
        write: &'w Write,
    ) -> Vec<(f64, &'w Values)> {
        let facts = self.pricing.facts;
        let found = self.rows_found(table, write);
        let (before, after) = (&write.said.before, &write.said.after);
        let is_update = write.kind == WriteKind::Update;
        let changes = |when: &&When| when.takes(before) != when.takes(after);
        let sets = |column: &&String| write.columns.contains(*column);
        if is_update && !columns.iter().any(sets) && !when.iter().any(changes) {
            return Vec::new();
        }
        // A row that it takes out was there; of several that it finds, as many as of all.
        let is_one = is_update && found <= 1.0;
        let leaves = is_one && when.iter().any(|when| when.takes(after) == Some(false));
        let met = |values: &Values| {
            let each = when.iter().map(|when| match when.takes(values) {
                Some(false) => 0.0,
                None if !leaves => 1.0,
                Some(true) | None => 1.0 / facts.share(when, table),
            });
            write.rate * found * each.product::<f64>()
        };
        let goes = (write.kind != WriteKind::Insert).then(|| (-met(before), before));
        let comes = (write.kind != WriteKind::Delete).then(|| (met(after), after));
        goes.into_iter().chain(comes).collect()
    }

    /// About how many rows an UPDATE or DELETE finds by values alone, for each set of them; 1 of any other.
    fn rows_found(&self, table: &Table, write: &Write) -> f64 {
        let by = &write.found_by;
        let mut keys = table.keys(self.catalog.dbms);
        let is_row = keys.any(|key| key.columns.iter().all(|column| by.contains(column)));
        let is_alone =
            write.below.is_empty() && write.said.before.keys().all(|column| by.contains(column));
        if is_row || by.is_empty() || !is_alone {
            return 1.0;
        }
        let facts = self.pricing.facts;
        let values = by
            .iter()
            .map(|column| facts.distinct(&Path::own(column), table));
        (rows(table) / values.product::<f64>()).max(1.0)
    }

    /// The same of the rows that a read finds by its parameters; 0 between two bounds. Where parents come too, each gets its share of the
    /// new items, as those that are there have theirs.
    fn list_growth(&self, ask: &Ask<'_>) -> f64 {
        // The application says how far apart these are.
        let is_span = |range: &RangeAsk| range.low.is_some() && range.high.is_some();
        if ask.range.as_ref().is_some_and(is_span) {
            return 0.0;
        }
        let is_own = |equal: &Equal| {
            equal.path.steps.is_empty() && matches!(equal.value, Asked::Parameter(_))
        };
        let columns = ask.equal.iter().filter(|equal| is_own(equal));
        let columns: Vec<&String> = columns.map(|equal| &equal.path.column).collect();
        let when: Vec<&When> = ask.conditions().collect();
        self.growth(ask.root, &columns, &when, &|given| {
            let mut rest = ask.clone();
            let is_given = |equal: &Equal| is_own(equal) && given.contains_key(&equal.path.column);
            rest.equal.retain(|equal| !is_given(equal));
            let mut keys = ask.root.foreign_keys.iter();
            let comes = keys.any(|key| {
                let [column] = &*key.columns else {
                    return false;
                };
                let parent = self.catalog.table(&key.references);
                rest.has_equal(&Path::own(column))
                    && parent.is_some_and(|parent| self.inserted(parent) > 0.0)
            });
            if comes {
                0.0
            } else {
                self.pricing.facts.most_found(&rest) / rows(ask.root)
            }
        })
    }

    /// The same of the children of a parent.
    fn child_growth(&self, child: &ChildAsk<'_>, parent: &Table) -> f64 {
        let columns = child.way.first().map_or(&[][..], |step| &*step.columns);
        let columns: Vec<&String> = columns.iter().collect();
        let come = self.inserted(parent) > 0.0;
        self.growth(child.table, &columns, &[], &|given| {
            if !given.is_empty() && given.len() == columns.len() {
                1.0
            } else if come {
                0.0
            } else {
                1.0 / rows(parent)
            }
        })
    }

    /// Whether a statement names a table.
    fn is_named(&self, table: &Table) -> bool {
        let reads = self.placed.iter().map(|read| read.statement);
        let writes = self.written.iter().map(|(statement, ..)| *statement);
        let mut statements = reads.chain(writes);
        statements.any(|statement| has_word(&statement.sql, &table.name.name))
    }

    /// The reads that find or join rows of a table, or count them, and have no condition on one of its columns, in words.
    fn not_asked(&self, table: &TableName, column: &str) -> String {
        let kept = |name: &TableName| Some(&self.pricing.figures.tables.get(name)?.of);
        let is_of = |name: &TableName| {
            let split = self.splits.get(name).map(|split| &split.base);
            let counted = kept(name).map(|figures| &figures.base);
            split.or(counted).unwrap_or(name) == table
        };
        let is_asked = |ask: &Ask<'_>| {
            ask.clauses
                .compared
                .iter()
                .any(|(of, one)| is_of(of) && one == column)
                || kept(&ask.root.name)
                    .is_some_and(|figures| figures.decided_by.iter().any(|one| one == column))
        };
        let reads = self.served().filter(|read| {
            let ask = read.ask;
            let outputs = ask.types().flat_map(|(_, outputs)| outputs);
            let paths = outputs.map(|(path, _)| path);
            let paths = paths.chain(ask.compared()).chain(&ask.required);
            let mut steps = paths.flat_map(|path| &path.steps);
            let is_found = ask.tables().any(|table| is_of(&table.name))
                || steps.any(|step| is_of(&step.table));
            is_found && !is_asked(ask)
        });
        let reads = joined(reads.map(|read| &*read.statement.name), " and ");
        if reads.is_empty() {
            reads
        } else {
            format!(" (without a condition on it: {reads})")
        }
    }

    fn sample(&self, path: &Path, table: &Table) -> Option<&ColumnSample> {
        let (table, column) = path.find(table, self.catalog)?;
        self.pricing.facts.sample(table, column)
    }
}

/// The part of a structure that has a table's items.
fn part_of<'s, 'c>(structure: &'s Structure<'c>, table: &Table) -> Option<&'s Part<'c>> {
    let mut parts = structure.parts.iter();
    parts.find(|part| part.table.name == table.name)
}

/// The columns of a partition key.
fn columns(part: &Part<'_>) -> String {
    joined(part.partition.iter().map(|key| &*key.path.column), " and ")
}

/// Values that are computed from what they were: one item takes so many writes, and two that read it first lose one.
fn contention(material: &Material<'_, '_>, lines: &mut Lines) {
    // A favourite may get a tenth of all.
    let is_much = |each: f64| each > PARTITION_WRITES / 10.0;
    let (mut calm, mut hot) = (Vec::new(), Vec::new());
    for (statement, table, write) in material.writes() {
        if write.from_itself.is_empty() {
            continue;
        }
        let of = if write.says_all(table.row_key()) {
            1.0
        } else {
            rows(table)
        };
        let each = write.rate * material.pricing.write_units(table) / of;
        let counter = named(table, &write.from_itself.join(", "));
        let counted = noted(statement, format!("{counter}, {}/s", about(write.rate)));
        if is_much(each) || write.rate > PARTITION_WRITES {
            hot.push(counted);
        } else {
            calm.push(counted);
        }
    }
    let figures = material.pricing.figures.tables.keys();
    for table in figures.filter_map(|name| material.catalog.table(name)) {
        let writes = material.pricing.statements(table);
        let rate: f64 = writes.map(|write| write.rate).sum();
        if is_much(rate / rows(table)) {
            hot.push(format!("{} ({}/s)", table.name.name, about(rate)));
        }
    }
    lines.add(
        "counter under contention",
        hot,
        "one item accepts about 1,000 write units a second, and a popular item may get more: split the counter over several items with `shard(n)` and add them up when you read, or count from the table's stream",
    );
    lines.add(
        "counter",
        calm,
        "change it in one request with ADD, and with a condition if the value has a bound: a program that reads the value and then writes it loses one of two simultaneous changes",
    );
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
fn hot_keys(material: &Material<'_, '_>, lines: &mut Lines) {
    let pricing = material.pricing;
    let tables = material.catalog.tables.iter();
    let stored = tables.filter(|table| table.is_stored() && !table.row_key().is_empty());
    let parts: Vec<_> = stored.flat_map(|table| material.parts(table)).collect();
    // Item types stand under one value where their keys mean the same. Requests for a row itself are as uneven as its children.
    let place = |slot: usize, structure: Option<&Structure<'_>>, part: &Part<'_>| {
        let named = structure.and_then(|structure| structure.named.clone());
        let keys = part.partition.iter();
        let concepts = keys.map(|key| key.path.concept(part.table, material.catalog));
        (slot, named, concepts.collect::<Vec<_>>())
    };
    let mut shares: BTreeMap<_, f64> = BTreeMap::new();
    for (slot, structure, part) in &parts {
        if rows(part.table) > LONG {
            let share = shares.entry(place(*slot, *structure, part)).or_default();
            *share = share.max(pricing.most_frequent(part));
        }
    }
    let share = |slot: usize, structure: Option<&Structure<'_>>, part: &Part<'_>| {
        let own = pricing.most_frequent(part);
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
                Some(structure) => material.index_units(*slot, structure, part, write),
                None => pricing.write_units(part.table),
            };
            let statement = material.written.get(write.at);
            if let Some((statement, ..)) = statement.filter(|_| units > 0.0) {
                let keys = part.partition.iter().map(|key| &key.path);
                let is_own = keys.clone().all(|path| path.steps.is_empty());
                let shards = structure.map_or(1.0, |structure| float(structure.shards));
                let share = if is_own && write.says_all(keys.map(|path| &path.column)) {
                    1.0 / shards
                } else {
                    let today = share_of_today(pricing.facts, part, write);
                    share(*slot, *structure, part).max(today / shards)
                };
                load.writes += write.rate * units * share;
                load.statements.insert(statement.name.clone());
            }
        }
    }
    for read in material.served() {
        let (slot, structure) = (read.slot, Some(read.structure));
        let load = loads.entry(place(slot, structure, read.part)).or_default();
        let is_strong = read.statement.strong && slot == 0;
        let units = pricing.units(read.ask, is_strong, slot > 0, &[]);
        load.columns = columns(read.part);
        let share = || share(slot, structure, read.part);
        // Each shard is asked.
        let units = units * float(read.ask.shards);
        load.reads += units
            * material.second(read.statement).map_or_else(
                || Pricing::rate(read.statement) * share(),
                |second| second.most_frequent,
            );
        load.statements.insert(read.statement.name.clone());
    }
    loads.retain(|_, load| load.writes > PARTITION_WRITES || load.reads > PARTITION_READS);
    let hot = loads.into_iter().map(|((slot, ..), load)| {
        let of = match (slot, &*load.columns) {
            (0, "") => "all of the table".to_owned(),
            (0, columns) => format!("{columns} in the table"),
            (_, "") => format!("all of GSI{slot}"),
            (_, columns) => format!("{columns} in GSI{slot}"),
        };
        let statements = joined(load.statements, " and ");
        let units = units_a_second(load.writes, load.reads);
        format!("{statements} ({of}{units})")
    });
    lines.add(
        "hot key",
        hot,
        "one partition key value accepts 1,000 write units and 3,000 read units a second. The load in brackets is that of the most frequent value, estimated from its share of the rows. Spread the value with `shard(n)`, or use a key with more values",
    );
}

/// The share of the rows that a statement writes on one day which one partition key value gets, where it gives a date of the key as that of
/// its own day: old rows have other dates, and say nothing of it. 0 where it gives none so.
fn share_of_today(facts: Facts<'_>, part: &Part<'_>, write: &Write) -> f64 {
    let is_today = |key: &&KeyPart| {
        let column = part.table.column(&key.path.column);
        key.path.steps.is_empty()
            && write.now.contains(&key.path.column)
            && column.is_some_and(|column| matches!(column.data_type, DataType::Date))
    };
    let (dates, others): (Vec<&KeyPart>, Vec<&KeyPart>) = part.partition.iter().partition(is_today);
    if dates.is_empty() {
        return 0.0;
    }
    let others = others.into_iter();
    let shares = others.map(|key| facts.most_frequent(&key.path, part.table));
    shares.product()
}

/// Where all items stand under one partition key value, with all statements that ask for them or write them.
fn one_partition(material: &Material<'_, '_>, lines: &mut Lines) {
    let mut places: BTreeMap<_, (&Structure<'_>, BTreeSet<String>)> = BTreeMap::new();
    for read in material.served() {
        if read.part.partition.is_empty() {
            let place = (read.slot, &read.structure.named);
            let (_, statements) = places
                .entry(place)
                .or_insert((read.structure, BTreeSet::new()));
            statements.insert(read.statement.name.clone());
            statements.extend(material.first_of(read.statement));
        }
    }
    let all = places
        .into_iter()
        .map(|((slot, _), (structure, mut statements))| {
            let mut units = 0.0;
            let parts = structure.parts.iter();
            for part in parts.filter(|part| part.partition.is_empty()) {
                for write in material.pricing.statements(part.table) {
                    let own = match slot {
                        0 => material.pricing.write_units(part.table),
                        _ => material.index_units(slot, structure, part, write),
                    };
                    let statement = material.written.get(write.at).filter(|_| own > 0.0);
                    statements.extend(statement.map(|(statement, ..)| statement.name.clone()));
                    units += write.rate * own;
                }
            }
            let place = match slot {
                0 => "the table".to_owned(),
                slot => format!("GSI{slot}"),
            };
            let units = units_a_second(units / float(structure.shards), 0.0);
            format!("{} (in {place}{units})", joined(statements, " and "))
        });
    let all: Vec<String> = all.collect();
    lines.add(
        "all in one partition",
        all,
        "the read asks for no key, so all items of the type share one partition key value there. One value accepts 1,000 write units and 3,000 read units a second: if it may get more, spread it with `shard(n)`, give the read an index of keys alone, or use a Scan or an export instead",
    );
}

/// Partition keys of few values.
fn few_values(material: &Material<'_, '_>, lines: &mut Lines) {
    let few = material.served().filter(|Served { part, .. }| {
        let values = part.partition.iter();
        let values = values.map(|key| material.pricing.facts.distinct(&key.path, part.table));
        let values: f64 = values.product();
        !part.partition.is_empty() && values <= 10.0 && rows(part.table) / values > LONG
    });
    lines.add(
        "few distinct values",
        few.map(|read| noted(read.statement, columns(read.part))),
        "this partition key has at most 10 values, so at least one of them holds a large share of the items. The costs do not show this risk. Put another column before it in the key, add a day or `shard(n)`, or index only the rare value (a sparse index)",
    );
}

/// Partition keys of which one value is that of most rows.
fn skewed(material: &Material<'_, '_>, lines: &mut Lines) {
    let mut found = Vec::new();
    let mut has_examples = false;
    for read in material.served() {
        // Of a constant the read's own figures are known.
        let is_constant = |path: &Path| {
            let mut equal = read.ask.equal.iter();
            equal.any(|equal| equal.when.is_some() && equal.path == *path)
        };
        let keys = read.part.partition.iter().map(|key| &key.path);
        let keys: Vec<&Path> = keys.filter(|path| !is_constant(path)).collect();
        let samples = keys
            .iter()
            .map(|path| material.sample(path, read.part.table));
        let Some(samples) = samples.collect::<Option<Vec<&ColumnSample>>>() else {
            continue;
        };
        let share = |sample: &&ColumnSample| float(sample.most) / float(sample.present.max(1));
        let share: f64 = samples.iter().map(share).product();
        let values = samples.iter().map(|sample| float(sample.distinct.max(1)));
        let values: f64 = values.product();
        // Twenty times the mean, or more than half of several.
        let is_much = values > 1.0 && share > 0.6 || share > 20.0 / values && share > 0.05;
        if is_much && samples.iter().all(|sample| float(sample.present) > LONG) {
            let columns = joined(keys.iter().map(|path| &*path.column), " and ");
            let percent = format!("{columns}: {:.0} %", share * 100.0);
            found.push(noted(read.statement, percent));
            let dbms = material.catalog.dbms;
            let prepared = parametrized(&read.statement.sql, dbms, Lists::Split);
            has_examples |= prepared
                .is_ok_and(|prepared| !prepared.keeps_literals && !prepared.examples.is_empty());
        }
    }
    let meant = text_if(
        has_examples,
        ". A literal counts as an example if its statement has no parameters. If the application always asks for that value, write another value of the statement as a parameter, such as `LIMIT :n`: then the index holds only the rows with the literal",
    );
    lines.add(
        "skewed values",
        found,
        &format!("one value has that share of the rows, so averages say little: expect a long list and a busy partition for that value. If few reads ask for it, index only the rows with other values (a sparse index){meant}"),
    );
}

/// Large columns in items whose writes and reads do not need them.
fn large_columns(material: &Material<'_, '_>, lines: &mut Lines) -> Vec<LargeColumns> {
    let pricing = material.pricing;
    let facts = pricing.facts;
    let made = material.splits.iter().map(|(name, split)| {
        let columns = joined(split.large.iter().map(String::as_str), " and ");
        let item = material.names.item_type(name);
        format!("{columns} of {} ({item})", split.base.name)
    });
    lines.add(
        "large columns",
        made,
        "`design` puts them into a second item for each row: a statement pays for that item only if it uses one of its columns. An INSERT or DELETE writes both items; in one transaction (TransactWriteItems) they cost twice the write units that are shown",
    );
    let mut found: Vec<LargeColumns> = Vec::new();
    for table in material.tables() {
        let large = table.columns.iter();
        let large = large.filter(|column| facts.bytes(table, column) > LARGE);
        let large: Vec<&Column> = large.collect();
        let bytes: f64 = large.iter().map(|column| facts.bytes(table, column)).sum();
        let item = facts.item(table);
        let rest = item - bytes;
        if large.is_empty() || rest <= 0.0 {
            continue;
        }
        let is_large = |name: &String| large.iter().any(|column| column.name == *name);
        let less = write_units(item) - write_units(rest);
        let mut saved = 0.0;
        let mut payers: Vec<&str> = Vec::new();
        let mut users: Vec<&str> = Vec::new();
        for (statement, of, write) in material.writes() {
            let is_apart = write.kind == WriteKind::Update
                && !write.columns.is_empty()
                && !write.columns.iter().any(is_large);
            if of.name == table.name && is_apart && less > 0.0 {
                saved += pricing.usd_writes(write.rate * less);
                payers.push(&statement.name);
            }
        }
        for read in material.served() {
            let mut outputs = read.ask.outputs.iter();
            let wants = outputs.any(|(path, _)| path.steps.is_empty() && is_large(&path.column));
            if read.ask.root.name != table.name {
                continue;
            }
            users.extend(wants.then_some(&*read.statement.name));
            if wants || read.slot > 0 {
                continue;
            }
            let items = facts.found(read.ask);
            let units = read_units(items * item) - read_units(items * rest);
            if units > 0.0 {
                saved += pricing.usd_reads(units * 0.5 * Pricing::rate(read.statement));
                payers.push(&read.statement.name);
            }
        }
        if saved < WORTH {
            continue;
        }
        let names = large.iter().map(|column| column.name.clone());
        let columns = joined(names.clone(), " and ");
        let users = text_if(
            !users.is_empty(),
            format!(
                ", minus the extra cost of the reads that select them ({})",
                users.join(" and ")
            ),
        );
        lines.add(
            "large columns",
            [format!("{columns} of {}", table.name.name)],
            &format!(
                "they take about {bytes:.0} of the item's {item:.0} bytes, and {} {} for them without using them. Store them in S3, or in a second item for each row, which would save about {saved:.2} USD a month{users}",
                payers.join(", "),
                if payers.len() == 1 { "pays" } else { "pay" },
            ),
        );
        found.push(LargeColumns {
            table: table.name.clone(),
            columns: names.collect(),
            saved,
            warning: lines.0.len().saturating_sub(1),
        });
    }
    found.sort_by(|a, b| {
        let by_name = || a.table.cmp(&b.table);
        b.saved.total_cmp(&a.saved).then_with(by_name)
    });
    found
}

/// Indexes whose keys or attributes change all the time.
fn moved_entries(material: &Material<'_, '_>, lines: &mut Lines) {
    let mut found = Vec::new();
    let updates = material.writes();
    for (statement, table, write) in updates.filter(|(.., write)| write.kind == WriteKind::Update) {
        let mut indexes = BTreeSet::new();
        let (mut sum, mut moves) = (0.0, false);
        for (_, slot, structure) in material.indexes() {
            // An index may have both items of a row.
            let is_of = |part: &&Part<'_>| {
                let split = material.splits.get(&part.table.name);
                split.map_or(&part.table.name, |split| &split.base) == &table.name
            };
            for part in structure.parts.iter().filter(is_of) {
                let mut writes = material.pricing.statements(part.table);
                let Some(write) = writes.find(|one| one.at == write.at) else {
                    continue;
                };
                let units = material.index_units(slot, structure, part, write);
                if units > 0.0 {
                    sum += material.pricing.usd_writes(units * write.rate);
                    moves |= is_moved(structure, part, write);
                    indexes.insert(format!("GSI{slot}"));
                }
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
    lines.add(
        "index on a column that changes often",
        found,
        "each change of a key costs two writes in the index, each change of a projected attribute one. If the read does not need the column, leave it out of the index; otherwise let the Query find only the keys, and read the items from the table (`fetch: true`)",
    );
}

/// Indexes that cost far more than the reads that ask them are likely worth.
fn dear_indexes(material: &Material<'_, '_>, lines: &mut Lines) {
    let dear = material.indexes().filter_map(|(at, slot, structure)| {
        let parts = structure.parts.iter();
        let units = parts.map(|part| material.index_writes(slot, structure, part));
        let reads = material.placed.iter();
        let reads = reads.filter(|read| read.structure == at);
        let reads: Vec<&Statement> = reads.map(|read| read.statement).collect();
        if reads.is_empty() {
            return None;
        }
        let cost = material.pricing.usd_writes(units.sum());
        dear(cost, &reads, &format!("GSI{slot}"), material.priced)
    });
    lines.add(
        "expensive index",
        dear,
        "keeping its entries up to date costs far more than the reads that use it: if a Scan, an export to S3 with Athena, or a search index that the stream feeds will do instead, leave these reads out of the workload and run `design` again",
    );
}

/// Items of figures that cost far more to keep than the reads that ask for them are likely worth.
fn dear_figures(material: &Material<'_, '_>, lines: &mut Lines) {
    let figures = material.pricing.figures.tables.keys();
    let tables = figures.filter_map(|name| material.catalog.table(name));
    let dear = tables.filter_map(|table| {
        let rate: f64 = (material.pricing.statements(table))
            .map(|write| write.rate)
            .sum();
        let reads = material.served();
        let reads = reads.filter(|read| read.ask.root.name == table.name);
        let reads: Vec<&Statement> = reads.map(|read| read.statement).collect();
        let units = rate * material.pricing.write_units(table);
        let cost = material.pricing.usd_writes(units);
        dear(cost, &reads, &table.name.name, material.priced)
    });
    lines.add(
        "expensive aggregates",
        dear,
        "each write of a counted row also writes its aggregates, which costs far more than the reads that use them: compute them with Athena from an export to S3, recompute them from the items from time to time, or update them in batches from the stream",
    );
}

/// Reads by something that costs so much a month, and far more than they are likely worth, with what they would cost as Scans.
fn dear(cost: f64, reads: &[&Statement], by: &str, priced: &PricedMapping) -> Option<String> {
    let rate: f64 = reads.iter().map(|read| Pricing::rate(read)).sum();
    let is_dear = cost > 10.0 * WORTH && cost > DEAR * rate * MONTH / 1e6;
    is_dear.then(|| {
        let names = joined(reads.iter().map(|read| &*read.name), " and ");
        let scans = usd(priced.usd_scan * rate * MONTH);
        let scans = text_if(
            priced.usd_scan > 0.0,
            format!("; as Scans of the whole table they would cost {scans} USD"),
        );
        let rate = about(rate);
        format!("{by}, used by {names} (costs {cost:.2} USD a month for {rate} reads/s{scans})")
    })
}

/// Copies of what changes, and those that no key finds, with US dollars a month of the Scans for these.
fn copies(
    material: &Material<'_, '_>,
    lines: &mut Lines,
) -> (Vec<CopiedColumns>, BTreeSet<CopyPlace>, f64) {
    let (pricing, facts) = (material.pricing, material.pricing.facts);
    let mut found: BTreeMap<String, Copies<'_>> = BTreeMap::new();
    // Those of a parent in the items of a table, which each write of these pays for.
    let mut held: BTreeMap<_, (BTreeSet<Path>, Seconds)> = BTreeMap::new();
    let served = material.served();
    let copied_paths = served.flat_map(|read| {
        let paths = copied_paths(material.catalog, read.ask).into_iter();
        paths.map(move |(table, path)| {
            let share = held_share(material, &read, &path);
            ((read.statement, read.ask, share), table, path)
        })
    });
    for ((read, ask, share), table, path) in copied_paths {
        let parent = path.steps.last().map(|step| &step.table);
        let Some(parent) = parent.and_then(|parent| material.catalog.table(parent)) else {
            continue;
        };
        let is_key = ask.equal.iter().any(|equal| equal.path == path);
        let is_read = !is_key && !is_mere_presence(ask, &path);
        let second = (is_read && ask.children.is_empty()).then(|| {
            let items = Pricing::rate(read) * facts.answered(ask);
            let units = 0.5 * read_units(facts.item(parent)) * items;
            let place = (read.name.clone(), parent.name.clone());
            (place, pricing.usd_reads(units))
        });
        if second.is_some() {
            let place = (&table.name, &parent.name);
            let (paths, seconds) = held.entry(place).or_default();
            paths.insert(path.clone());
            seconds.extend(second.clone());
        }
        for (place, step, columns) in path.parents() {
            for (statement, of, write) in material.writes() {
                let may_come = || path.may_come(place, table, material.catalog);
                let changed = columns.iter().filter(|one| write.changes(one, may_come));
                let changed: Vec<String> = changed.map(|column| named(of, column)).collect();
                if of.name == step.table && !changed.is_empty() {
                    let steps = path.steps.get(..=place).unwrap_or_default().to_vec();
                    let known = found.entry(statement.name.clone()).or_default();
                    known.kind = Some(write.kind);
                    known.rate = Pricing::rate(statement);
                    known.columns.extend(changed);
                    let most = known.items.entry((table.name.clone(), steps)).or_default();
                    *most = most.max(share);
                    known.reads.insert(&read.name);
                    known.seconds.extend(second.clone());
                }
            }
        }
    }
    let mut by_second: Vec<CopiedColumns> = (held.into_iter())
        .filter_map(|((table, _), held)| in_items(material, table, held))
        .collect();
    let (mut scans_for, mut usd_scans) = (BTreeSet::new(), 0.0);
    let found = found.into_iter().map(|(name, copies)| {
        let is_unfound = |place: &&CopyPlace| !has_key_of(material, place);
        let unfound: Vec<&CopyPlace> = copies.items.keys().filter(is_unfound).collect();
        // One Scan finds them all.
        let has_scans = f64::from(u8::from(!unfound.is_empty()));
        let scans = has_scans * material.priced.usd_scan * copies.rate * MONTH;
        scans_for.extend(unfound.into_iter().cloned());
        usd_scans += scans;
        let mut writes = material.priced.writes.iter();
        let cost = writes.find(|write| write.name == name);
        let cost = cost.map_or(0.0, |write| write.usd_copies);
        let reads = material.priced.reads.iter();
        let served = reads.filter(|read| copies.reads.contains(&*read.name));
        let served = served.filter_map(|read| read.served.as_ref());
        let of_reads: f64 = served.map(|served| served.usd_month).sum();
        let second: f64 = copies.seconds.values().sum();
        by_second.push(CopiedColumns {
            reads: copies.seconds.into_keys().collect(),
            saved: cost + scans - second,
        });
        let what = match copies.kind {
            Some(WriteKind::Insert) => "adds a row with",
            Some(WriteKind::Delete) => "deletes a row with",
            Some(WriteKind::Update) | None => "changes",
        };
        let items = copies.items.iter();
        let items = items.filter_map(|(place, share)| copied(material, place, *share));
        let said = format!(
            "{name} {what} {}: copies in {} cost {} USD a month to update and serve {} ({} USD a month)",
            joined(copies.columns, ", "),
            joined(items.collect::<BTreeSet<_>>(), " and "),
            usd(cost),
            joined(copies.reads, " and "),
            usd(of_reads)
        );
        (cost, said)
    });
    let mut found: Vec<(f64, String)> = found.collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    by_second.retain(|one| !one.reads.is_empty());
    by_second.sort_by(|a, b| b.saved.total_cmp(&a.saved));
    lines.add(
        "copies to keep up to date",
        found.into_iter().map(|(_, said)| said),
        "a program that makes such a change must change the copies too, at once or from the stream; until then the copies are stale. If that costs more than it saves, do not select the column in the read: get the parent with a second request (GetItem, or BatchGetItem for several parents), by the reference in the answer",
    );
    (by_second, scans_for, usd_scans)
}

/// Whether a read asks of a parent's column only that the parent is there.
fn is_mere_presence(ask: &Ask<'_>, path: &Path) -> bool {
    let is_selected = ask.outputs.iter().any(|(output, _)| output == path);
    ask.required.contains(path) && !is_selected && !ask.compared().any(|one| one == path)
}

/// The columns of parents that items have for a read, with their table: the read selects them, they find, sort or leave out rows,
/// or they show that the parent is there.
pub(crate) fn copied_paths<'c>(catalog: &Catalog, ask: &Ask<'c>) -> Vec<(&'c Table, Path)> {
    let types = ask.types();
    let mut found: Vec<(&Table, Path)> = types
        .flat_map(|(table, outputs)| outputs.iter().map(move |(path, _)| (table, path.clone())))
        .collect();
    let of_root = ask.compared().chain(&ask.required);
    found.extend(of_root.map(|path| (ask.root, path.clone())));
    for when in ask.conditions() {
        for steps in &when.parents {
            let parent = steps.last().and_then(|step| catalog.table(&step.table));
            let columns = parent.into_iter().flat_map(|parent| &parent.columns);
            let named = columns.filter(|column| has_word(&when.said, &column.name));
            found.extend(named.map(|column| {
                let (steps, column) = (steps.clone(), column.name.clone());
                (ask.root, Path { steps, column })
            }));
        }
    }
    found
}

/// The reads that a second request could serve, with the parent, and what that costs in US dollars a month.
type Seconds = BTreeMap<(String, TableName), f64>;

/// What copies cost in the writes of the items that have them.
fn in_items(
    material: &Material<'_, '_>,
    table: &TableName,
    (paths, seconds): (BTreeSet<Path>, Seconds),
) -> Option<CopiedColumns> {
    let (pricing, table) = (material.pricing, material.catalog.table(table)?);
    let own = pricing.facts.item(table);
    let copied = paths
        .iter()
        .map(|path| pricing.facts.attribute(path, table));
    let units = write_units(own + copied.sum::<f64>()) - write_units(own);
    let rate: f64 = pricing.statements(table).map(|write| write.rate).sum();
    let second: f64 = seconds.values().sum();
    Some(CopiedColumns {
        reads: seconds.into_keys().collect(),
        saved: pricing.usd_writes(rate * units) - second,
    })
}

/// What a statement writes besides its own row.
#[derive(Default)]
struct Copies<'w> {
    kind: Option<WriteKind>,
    /// Requests a second.
    rate: f64,
    columns: BTreeSet<String>,
    /// The items of which table, by which way to the parent, with the share of them.
    items: BTreeMap<CopyPlace, f64>,
    /// The reads that have them.
    reads: BTreeSet<&'w str>,
    /// Those of them that a second request could serve.
    seconds: Seconds,
}

/// The share of a table's items that have a parent's column for a read: where only the partition key of a sparse index has it, those
/// of the rows that meet the index's condition.
fn held_share(material: &Material<'_, '_>, read: &Served<'_, '_>, path: &Path) -> f64 {
    let (ask, part) = (read.ask, read.part);
    let is_in = |keys: &[KeyPart]| keys.iter().any(|key| key.path == *path);
    let outputs = ask.types().flat_map(|(_, outputs)| outputs);
    let outputs = outputs.map(|(output, _)| output);
    let filters = ask.filters.iter().map(|filter| &filter.path);
    let mut attributes = outputs.chain(filters).chain(&ask.required);
    let decides =
        |when: &When| when.parents.contains(&path.steps) && has_word(&when.said, &path.column);
    let is_key_alone = is_in(&part.partition)
        && !is_in(&part.sort)
        && !ask.conditions().any(decides)
        && !attributes.any(|one| one == path);
    let when = read.structure.when.iter().filter(|_| is_key_alone);
    when.map(|when| material.pricing.facts.share(when, part.table))
        .product()
}

/// How many copies of a parent's column there are in this share of the items, and whether a key finds them.
fn copied(material: &Material<'_, '_>, place: &CopyPlace, share: f64) -> Option<String> {
    let (table, steps) = (material.catalog.table(&place.0)?, &*place.1);
    let mean = share * material.pricing.facts.having(steps, table);
    let name = &table.name.name;
    let items = if mean > 1.0 {
        format!("about {} items of {name}", about(mean))
    } else {
        format!("an item of {name}")
    };
    let mut remarks: Vec<String> = Vec::new();
    let own = steps.first().map_or(&[][..], |step| &*step.columns);
    if let ([_], [column]) = (steps, own) {
        let sample = material.sample(&Path::own(column), table);
        let most = sample.map_or(0.0, |one| float(one.most) / float(one.rows) * rows(table));
        let most = share * most;
        if most > mean.max(1.0) {
            let is_mean = text_if(share < 1.0, "about ");
            remarks.push(format!("up to {is_mean}{}", about(most)));
        }
    }
    if !has_key_of(material, place) {
        remarks.push("no key finds them".to_owned());
    }
    let remarks = text_if(!remarks.is_empty(), format!(" ({})", remarks.join(", ")));
    Some(items + &remarks)
}

/// Whether a key finds all copies of a parent's columns.
fn has_key_of(material: &Material<'_, '_>, (table, steps): &CopyPlace) -> bool {
    let is_of_parent = |part: &Part<'_>| {
        let mut keys = part.partition.iter();
        !part.partition.is_empty() && keys.all(|key| key.path.is_told_by(steps))
    };
    let table = material.catalog.table(table).into_iter();
    let mut parts = table.flat_map(|table| material.parts(table));
    parts.any(|(_, structure, part)| {
        is_of_parent(&part) && structure.is_none_or(|structure| structure.when.is_empty())
    })
}

/// How long a list is, where it is long or becomes so, by its items and how many more it gets in a day.
fn long_list((how, items): (&str, f64), grows: f64) -> Option<String> {
    (items > LONG || grows > LONG).then(|| {
        let more = text_if(grows >= 1.0, format!(" now, {} more a day", about(grows)));
        format!("{how} {} items{more}", about(items))
    })
}

/// How many items a read finds for the values that most rows have: `up to` so many where they were counted, else `about`.
fn most_items(material: &Material<'_, '_>, ask: &Ask<'_>) -> (&'static str, f64) {
    let facts = material.pricing.facts;
    let all = facts.found_in_all(ask);
    let most = facts.most_found(ask);
    let most = most_groups(material, ask).map_or(most, |groups| groups.max(most));
    // Of ranges and conditions the mean share is known alone, and of several columns the one with the fewest rows.
    let is_exact = ask.range.is_none() && ask.conditions().next().is_none();
    let asked = ask.equal.iter().filter(|equal| equal.when.is_none());
    let is_of_several = asked.count() > 1;
    let how = match (most > all, is_exact) {
        (true, true) => "up to",
        (true, false) if is_of_several => "up to about",
        _ => "about",
    };
    (how, most)
}

/// About how many items of kept aggregates a read finds for the values that most rows have: as many as there are such rows, or values of
/// the columns that it does not ask for.
fn most_groups(material: &Material<'_, '_>, ask: &Ask<'_>) -> Option<f64> {
    let kept = material.pricing.figures.tables.get(&ask.root.name)?;
    let base = material.catalog.table(&kept.of.base)?;
    let facts = material.pricing.facts;
    let (mut share, mut values) = (1.0_f64, 1.0);
    for path in kept.of.groups.iter().map(|group| Path::own(group)) {
        if ask.has_equal(&path) {
            share = share.min(facts.most_frequent(&path, base));
        } else {
            values *= facts.distinct(&path, base);
        }
    }
    let is_list = ask.range.is_none() && values > 1.0;
    is_list.then(|| values.min(share * rows(base)))
}

/// Whether a read finds one row at most for each value that it asks for.
fn finds_one(material: &Material<'_, '_>, ask: &Ask<'_>) -> bool {
    let is_one = |equal: &Equal| {
        let sample = material.sample(&equal.path, ask.root);
        let sample = sample.filter(|_| equal.path.steps.is_empty());
        sample.is_some_and(|one| one.is_all && one.present > 1 && one.distinct == one.present)
    };
    material.pricing.facts.asks_for_key(ask) || ask.equal.iter().any(is_one)
}

/// Lists that grow without a bound.
fn unbounded(material: &Material<'_, '_>, lines: &mut Lines) {
    let facts = material.pricing.facts;
    let (mut listed, mut whole, mut of_row) = (Vec::new(), Vec::new(), Vec::new());
    for Served { statement, ask, .. } in material.served() {
        let is_whole = ask.sorts || ask.computes;
        if ask.limit.is_some() && !is_whole {
            continue;
        }
        let found = if ask.children.is_empty() && facts.filters_for_key(ask) {
            &mut of_row
        } else if is_whole {
            &mut whole
        } else {
            &mut listed
        };
        let mut add = |items: (&str, f64), grows: f64| {
            let long = long_list(items, grows);
            found.extend(long.map(|long| noted(statement, long)));
        };
        for child in &ask.children {
            // The large columns of a row are one item.
            if !material.splits.contains_key(&child.table.name) {
                let each = rows(child.table) / rows(ask.root);
                add(("about", each), material.child_growth(child, ask.root));
            }
        }
        if ask.children.is_empty() && !finds_one(material, ask) {
            add(most_items(material, ask), material.list_growth(ask));
        }
    }
    lines.add(
        "unbounded list",
        listed,
        "it has no LIMIT: read it in pages (Limit, LastEvaluatedKey), put a time into the key, store the aggregates, or let old items expire",
    );
    lines.add(
        "unbounded list",
        whole,
        "the application sorts or computes, so it needs all of the items, even if the SQL has a LIMIT: use a key that sorts them, store the aggregates, or let old items expire",
    );
    lines.add(
        "unbounded list",
        of_row,
        "the answer is one row, but the read pays for all of these items: use a key that also has the columns of the filter",
    );
}

fn inconsistent(material: &Material<'_, '_>, lines: &mut Lines) {
    let strong = material.served().filter(|read| read.statement.strong);
    let away = strong.filter(|read| read.slot > 0 || !read.is_consistent);
    lines.add(
        "not strongly consistent",
        away.map(|read| read.statement.name.clone()),
        "a global index is updated shortly after the table: to see a write immediately, read by the table's own key, or keep a lookup item that is written in one transaction with the item",
    );
}

/// Statements that write more than one row, and those whose rows no key finds.
fn many_at_once(material: &Material<'_, '_>, lines: &mut Lines) {
    let (mut many, mut lost) = (Vec::new(), Vec::new());
    for (statement, table, write) in material.writes() {
        if write.kind == WriteKind::Insert {
            many.extend(write.inserts_several.then(|| statement.name.clone()));
            continue;
        }
        let mut priced = material.priced.writes.iter();
        if priced.any(|one| one.name == statement.name && !one.has_key) {
            lost.push(statement.name.clone());
        }
        let unique = table.unique_keys.iter().map(|key| &*key.columns);
        let partial = table.indexes.iter().filter(|index| {
            let is_said =
                |sql: &String| says(sql, table, &write.said.before, material.catalog.dbms);
            index.unique && index.condition.as_ref().is_none_or(is_said)
        });
        let partial = partial.map(|index| &*index.columns);
        let mut keys = unique.chain(partial).chain([table.row_key()]);
        let is_found = |column: &String| write.found_by.contains(column);
        if !keys.any(|key| !key.is_empty() && key.iter().all(is_found)) {
            many.push(statement.name.clone());
        }
    }
    lines.add(
        "no key finds the rows",
        lost,
        "the WHERE, or the conflict of an upsert, gives no partition key of the table, and none of an index that holds all of these rows. Only a Scan finds them, or a Query that reads all rows, if all share one partition key value. The costs do not include that. Put the item's key into the WHERE; or add a SELECT with this WHERE to the workload, so that it gets an index; or, if rows are deleted by age, let them expire (`ttl`)",
    );
    lines.add(
        "many items at once",
        many,
        "DynamoDB writes one item at a time, by its whole key. If the statement does not give the keys, find the items first (with a Query if a key finds them), then send one write for each (BatchWriteItem puts or deletes up to 25). For an UPDATE or DELETE that lists no keys, the costs count only one item",
    );
}

/// Whether all rows of a table with these values meet a condition in SQL, as far as it is read.
fn says(condition: &str, table: &Table, values: &Values, dbms: Dbms) -> bool {
    let query = SqlQuery::read(&format!("SELECT 1 WHERE {condition}"), Some(dbms)).ok();
    let conditions = query.as_ref().and_then(SqlQuery::select);
    let conditions = conditions.map_or(&[][..], |select| &*select.conditions);
    let is_said = |one: &Condition| {
        let said = one.said();
        said.is_some_and(|(column, constant)| {
            // Values that are equal may have other texts: of a time, or where case does not matter.
            let is_exact = |own: &Column| {
                let is_text =
                    matches!(own.data_type, DataType::Text { .. } | DataType::Enum { .. });
                is_text && !own.insensitive
            };
            let operands = one.operands();
            let is_cast = operands.first().is_some_and(|side| side.is_computed());
            let mut values = values.iter();
            values.any(|(name, value)| {
                column.name.is(name)
                    && *value == constant
                    && (!is_cast || table.column(name).is_some_and(is_exact))
            })
        })
    };
    !conditions.is_empty() && conditions.iter().all(is_said)
}

/// Upserts that do not give the whole key of the item that may be there.
fn upserts(material: &Material<'_, '_>, lines: &mut Lines) {
    let found = material.writes().filter_map(|(statement, table, write)| {
        let given = write.upserts_by.as_ref()?;
        let mut unknown = BTreeSet::new();
        for (slot, _, part) in material.parts(table) {
            let own = part.keys().filter(|_| slot == 0);
            let own = own.flat_map(|key| key.path.own_columns());
            unknown.extend(own.filter(|column| !given.contains(column)).cloned());
        }
        (!unknown.is_empty()).then(|| noted(statement, joined(unknown, " and ")))
    });
    lines.add(
        "upsert",
        found,
        "the table's key has these columns, and the existing row may have other values in them: PutItem would write a second item beside the old one. Find the old item first. If its key changes, delete it and put the new one in one transaction. The costs count one put, but neither the search nor the delete; a counter counts as an UPDATE",
    );
}

/// Rows that get the number behind the greatest that there is.
fn next_numbers(material: &Material<'_, '_>, lines: &mut Lines) {
    let numbered = material.writes().filter(|(_, _, write)| write.numbers);
    lines.add(
        "next number",
        numbered.map(|(statement, ..)| statement.name.clone()),
        "it takes the greatest number plus 1, and two statements at the same time may take the same number. Keep the last number in a counter item, add 1 with ADD (the response has the new number), and put the item with attribute_not_exists",
    );
}

/// Deletes by which the database deletes rows of other tables.
fn cascades(material: &Material<'_, '_>, lines: &mut Lines) {
    let deletes = material.writes();
    let deletes = deletes.filter(|(_, _, write)| write.kind == WriteKind::Delete);
    let found = deletes.filter_map(|(statement, table, _)| {
        let mut children = Vec::new();
        deleted_with(material.pricing.facts, table, (1.0, 4), &mut children);
        (!children.is_empty()).then(|| noted(statement, joined(children, ", ")))
    });
    lines.add(
        "cascades",
        found,
        "the database deletes these rows too (ON DELETE CASCADE), but DynamoDB does not: find them with a Query for each item type and delete them one by one, at once or from the stream. The statement's cost includes these deletes, but not the Queries",
    );
}

/// Adds the rows that the database deletes with so many of a table, over so many tables in a row, and the tables whose rows keep it
/// from that.
fn deleted_with(
    facts: Facts<'_>,
    table: &Table,
    (rows, further): (f64, u8),
    found: &mut Vec<String>,
) {
    let Some(further) = further.checked_sub(1) else {
        return;
    };
    for (child, each) in facts.cascading(table) {
        let refuses = |other: &&Table| {
            let mut keys = other.foreign_keys.iter();
            let keeps = |key: &ForeignKey| {
                key.references == child.name && key.on_delete == ReferentialAction::NoAction
            };
            other.name != child.name && other.is_stored() && keys.any(keeps)
        };
        let keepers = facts.catalog.tables.iter().filter(refuses);
        let keepers = joined(keepers.map(|other| &*other.name.name), " or ");
        let refused = format!("; the database refuses that while rows of {keepers} refer to them");
        let refused = text_if(!keepers.is_empty(), refused);
        let number = about(rows * each);
        found.push(format!("about {number} from {}{refused}", child.name.name));
        deleted_with(facts, child, (rows * each, further), found);
    }
}

/// Rows that expire, as the workload asks.
fn expiring(material: &Material<'_, '_>, lines: &mut Lines) {
    let mut found = Vec::new();
    for (name, column) in material.expiries {
        let Some(table) = material.catalog.table(name) else {
            continue;
        };
        let mut said = format!("{} by {}", name.name, column.column);
        if let Some(after) = &column.after {
            said = format!("{said} + {after}");
        }
        if let Some(never) = never_expire(material, table, &column.column) {
            said = format!("{said} ({never})");
        }
        let not_asked = material.not_asked(name, &column.column);
        // Those that are used.
        let mut figures = material.pricing.figures.tables.iter();
        let is_counted = figures
            .any(|(own, kept)| kept.of.base == *name && material.catalog.table(own).is_some());
        let counted = if is_counted {
            " (counts and sums still include expired items: subtract these when the stream reports their deletion)"
        } else {
            ""
        };
        found.push(format!("{said}{not_asked}{counted}"));
    }
    lines.add(
        "expires",
        found,
        "DynamoDB deletes such items by `ttl`, free of charge, within a few days after they expire. Until then, reads without a condition on the time find them. Children and copies of an item are not deleted with it. Without a period (`+ 30d`), items whose time is past expire at once",
    );
}

/// That rows may not expire by a column, because of its values.
fn never_expire(material: &Material<'_, '_>, table: &Table, column: &str) -> Option<String> {
    let column = table.column(column)?;
    let sample = material.pricing.facts.sample(table, column)?;
    let is_integer = matches!(column.data_type, DataType::Integer { .. });
    if sample.mixed > 0 {
        let why = why_mixed(column).0;
        return Some(format!(
            "a column {why}; rows whose value is not of its type are rejected or never expire"
        ));
    }
    // Milliseconds have thirteen digits since 2001.
    (is_integer && sample.longest > 12).then(|| {
        "some of its numbers are too large for seconds: DynamoDB never deletes items whose time is in milliseconds".to_owned()
    })
}

/// Rows that are deleted by their age.
fn expiry(material: &Material<'_, '_>, lines: &mut Lines) {
    const TERMS: &str = "expire expires expired expiresat expiry expirydate expiration validuntil ttl purgeat deleteafter";
    let mut texts = Vec::new();
    let found = material.columns().filter_map(|(table, column)| {
        let is_time = column.data_type.family() == TypeFamily::Time;
        let is_called_so = has_term(&column.name, TERMS);
        if material.expiries.contains_key(&table.name) || !is_time && !is_called_so {
            return None;
        }
        let deletes = material.writes().find(|(_, of, write)| {
            let is_delete = write.kind == WriteKind::Delete && of.name == table.name;
            is_delete && write.below.contains(&column.name)
        });
        // Whole numbers of ten digits are seconds since 1970, from 2001 to 2286.
        let is_epoch = || {
            let sample = material.pricing.facts.sample(table, column);
            let is_long = sample.is_some_and(|one| {
                one.present > 0 && one.longest == 10 && one.bytes == 10 * one.present
            });
            is_long && matches!(column.data_type, DataType::Integer { .. })
        };
        let said = named(table, &column.name);
        match deletes {
            Some((statement, ..)) if column.data_type.family() == TypeFamily::Text => {
                texts.push(format!("{said} ({})", statement.name));
                None
            }
            Some((statement, ..)) => Some(format!("{said} ({})", statement.name)),
            None => (is_called_so && (is_time || is_epoch())).then_some(said),
        }
    });
    let found: Vec<String> = found.collect();
    lines.add(
        "TTL",
        found,
        "DynamoDB deletes expired items itself, free of charge, if the table's `ttl` names an attribute with the time in seconds. A column of whole seconds can be used as it is; write other times as `{column | epoch}`. If the column says when the row was made, add your period: `{column | plus(30d) | epoch}`; otherwise all items expire at once. Deletion may take a few days, and until then reads must leave expired items out",
    );
    lines.add(
        "TTL",
        texts,
        "DynamoDB deletes expired items itself, free of charge, if the table's `ttl` names an attribute with the time in seconds. This column is text, and no filter turns text into a time: add a column with the seconds or of a time type, and use that one",
    );
}

/// Rows that are marked as deleted, and stay.
fn soft_deletes(material: &Material<'_, '_>, lines: &mut Lines) {
    const TERMS: &str =
        "deleted deletedat isdeleted deleteflag archived removed discarded trashed voided";
    let marks = material.columns().filter(|(table, column)| {
        let is_set = || {
            let mut writes = material.writes();
            writes
                .any(|(_, of, write)| of.name == table.name && write.columns.contains(&column.name))
        };
        has_term(&column.name, TERMS)
            && match column.data_type.family() {
                TypeFamily::Time | TypeFamily::Boolean => true,
                // A mark where the workload uses it as one.
                _ => material.is_compared(table, column) || is_set(),
            }
    });
    let marks = marks.map(|(table, column)| {
        named(table, &column.name) + &material.not_asked(&table.name, &column.name)
    });
    lines.add(
        "soft delete",
        marks,
        "items with that mark are still stored, read and filtered: leave them out of indexes (`$when`), let them expire by TTL, or move them to an archive. Reads without a condition on the mark find them",
    );
}

fn cursors(material: &Material<'_, '_>, lines: &mut Lines) {
    for (sorts, why) in [
        (
            false,
            "DynamoDB has no OFFSET: a page starts after the last item of the previous one (LastEvaluatedKey), so nobody can jump to page 7",
        ),
        (
            true,
            "no key sorts these rows: the application reads them all for each page, sorts them and skips the first ones",
        ),
    ] {
        let reads = material.served();
        let skips = reads.filter(|read| read.ask.clauses.skips && read.ask.sorts == sorts);
        let skips = skips.map(|read| read.statement.name.clone());
        lines.add("OFFSET", skips, why);
    }
}

/// Texts that are compared without case.
fn folded_case(material: &Material<'_, '_>, lines: &mut Lines) {
    let folded = material.served().flat_map(|Served { statement, ask, .. }| {
        let equal = ask.equal.iter().map(|equal| (&equal.path, equal.folds));
        let range = ask.range.iter().map(|range| (&range.path, range.folds));
        let folded = equal.chain(range).filter(move |(path, folds)| {
            let column = path.column_of(ask.root, material.catalog);
            *folds || column.is_some_and(ignores_case)
        });
        folded.map(move |(path, _)| noted(statement, &path.column))
    });
    lines.add(
        "case",
        folded,
        "the SQL ignores case, but DynamoDB compares keys by their bytes: use one form in keys and in requests, for example `| lower`, and keep the original text in an attribute",
    );
}

/// Keys that nothing keeps unique any more.
fn unique(material: &Material<'_, '_>, lines: &mut Lines) {
    let mut found = Vec::new();
    for table in material.tables() {
        if !material.writes().any(|(_, of, _)| of.name == table.name) {
            continue;
        }
        let row_key = table.row_key();
        let is_of_row = |key: &KeyPart| {
            let mut own = key.path.own_columns().iter();
            own.all(|column| row_key.contains(column))
        };
        let mut parts = material.parts(table);
        parts.retain(|(slot, ..)| *slot == 0);
        let is_lost = || {
            let mut parts = parts.iter();
            parts.any(|(.., part)| !part.keys().all(is_of_row))
        };
        // The table's own key may keep one.
        let is_kept = |key: &UniqueKey| {
            let mut parts = parts.iter();
            parts.any(|(_, structure, part)| {
                structure.is_none_or(|one| one.shards == 1) && part.enforces(key, material.catalog)
            })
        };
        let unique = table.unique_keys.iter().filter(|key| !is_kept(key));
        let unique = unique.map(|key| &*key.columns);
        let mut lost: Vec<&[String]> = unique.filter(|key| *key != row_key).collect();
        if !row_key.is_empty() && table.is_stored() && is_lost() {
            lost.push(row_key);
        }
        let lost = lost.into_iter().map(|key| (key, None));
        let indexes = table.indexes.iter().filter(|index| index.unique);
        let partial = indexes.map(|index| (&*index.columns, index.condition.as_ref()));
        found.extend(lost.chain(partial).map(|(key, condition)| {
            let of = condition.map_or_else(String::new, |sql| format!(" WHERE {sql}"));
            format!("{}({}){of}", table.name.name, key.join(" + "))
        }));
    }
    lines.add(
        "unique",
        found,
        "DynamoDB does not keep these values unique: indexes never do, and a key does not if it has other columns too. Write a guard item whose key is the value, with attribute_not_exists, in the same transaction as the item (`check --guarantees` shows what enforces each key)",
    );
}

/// Numbers, dates and times that are text.
fn odd_texts(material: &Material<'_, '_>, lines: &mut Lines) {
    let (mut numbers, mut dates, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for Served { statement, ask, .. } in material.served() {
        let sorted = ask.clauses.sorted.iter().filter_map(|(table, column)| {
            let table = material.catalog.table(table)?;
            Some((table, table.column(column)?))
        });
        let range = ask.range.iter();
        let ranged = range.filter_map(|range| range.path.find(ask.root, material.catalog));
        let compared = sorted.chain(ranged);
        for (table, column) in
            compared.filter(|(_, column)| matches!(column.data_type, DataType::Text { .. }))
        {
            let sample = material.pricing.facts.sample(table, column);
            let Some(sample) = sample.filter(|one| one.present > 0) else {
                continue;
            };
            let said = || noted(statement, &column.name);
            numbers.extend((sample.digits == sample.present).then(said));
            dates.extend((sample.day_first * 2 > sample.present).then(said));
            times.extend((sample.offsets > 1).then(said));
        }
    }
    lines.add(
        "dates as text",
        dates,
        "the column is text, and most of its values are dates that do not begin with the year: 02/01/2026 sorts before 31/12/2025, in DynamoDB and in the database. Change them to the form 2026-01-02 in the database before you load them",
    );
    lines.add(
        "times with offsets",
        times,
        "the column is text, and its times have different offsets (`Z`, `+09:00`): sorted as text, later times may come before earlier ones, in DynamoDB and in the database. Change them all to UTC in the database before you load them",
    );
    lines.add(
        "numbers as text",
        numbers,
        "the column is text and all its values are digits: 10 sorts before 9, in DynamoDB and in the database. If they are meant as numbers, use a number column and pad it (`{column | pad(10)}`)",
    );
}

/// Values that take much of what an item holds.
fn large_values(material: &Material<'_, '_>, lines: &mut Lines) {
    let large = material.columns().filter_map(|(table, column)| {
        let longest = material.pricing.facts.sample(table, column)?.longest;
        (longest > 100_000).then(|| format!("{} ({longest} bytes)", named(table, &column.name)))
    });
    lines.add(
        "large values",
        large,
        "an item holds at most 400 KB, all attributes together: store such values in S3 and their address in the item, or compress them (`oversize`)",
    );
}

/// Keys that may be longer than DynamoDB takes: by the limits of their columns, or by what was counted where these have none.
fn long_keys(material: &Material<'_, '_>, lines: &mut Lines) {
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
                reads.filter(|read| read.slot == slot && read.part.table.name == table.name);
            let mut reads = each_once(reads.map(|read| &*read.statement.name));
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
    lines.add(
        "long keys",
        found,
        "all parts of a key count, with the characters between them, and a character takes up to 4 bytes. `migrate` rejects rows with longer keys: shorten a text in the key with `| truncate(n)`, or limit the column's length in the database",
    );
}

/// Of a key's attribute the number of its index; 0 of the table itself.
fn slot_of<'s>(key: &KeySize, mut slots: impl Iterator<Item = &'s usize>) -> usize {
    let name = key.attribute.trim_start_matches('_');
    let is_of = |slot: &usize| name == format!("GSI{slot}PK") || name == format!("GSI{slot}SK");
    slots.find(|slot| is_of(slot)).copied().unwrap_or(0)
}

/// How long a key may be, where that may be too long.
fn too_long<'c>(
    material: &Material<'_, 'c>,
    table: &'c Table,
    key: &KeySize,
    slot: usize,
) -> Option<String> {
    let mut parts = material.parts(table);
    parts.retain(|(at, ..)| *at == slot);
    let (mut bytes, mut unlimited) = (whole(key.bytes), Vec::new());
    for written in &key.without_limit {
        let column = written.trim_matches('`').rsplit('.').next();
        let mut keys = parts.iter().flat_map(|(.., part)| part.keys());
        let Some(KeyPart { path, .. }) = keys.find(|key| Some(&*key.path.column) == column) else {
            continue;
        };
        match material.sample(path, table).filter(|one| one.is_all) {
            Some(sample) => bytes += sample.longest,
            // SQLite limits no column; its numbers and times are short. Of a table that no statement names nobody has counted any.
            None if path.is_loose(table, material.catalog) && material.is_named(table) => {
                unlimited.push(&**written);
            }
            None => {}
        }
    }
    if !unlimited.is_empty() {
        return Some(format!("no limit for {}", unlimited.join(" and ")));
    }
    (bytes > whole(key.allowed)).then(|| format!("up to {} bytes", count(bytes)))
}

fn delimiters(material: &Material<'_, '_>, lines: &mut Lines) {
    let escaped = material.escaped.iter();
    lines.add(
        DELIMITER,
        escaped.map(|(table, column)| format!("{}.{column}", table.name)),
        "values hold `#`, which separates the parts of keys. So it is escaped in keys (`key_escape: percent`): every program that writes items, or reads them by such a key, must escape it too",
    );
}

/// Columns in the keys of indexes that may be NULL.
fn absent_keys(material: &Material<'_, '_>, lines: &mut Lines) {
    let in_indexes = material.served().filter(|read| read.slot > 0);
    let absent = in_indexes.flat_map(|read| {
        let paths = read.part.partition.iter().map(|key| &key.path);
        let absent = paths.filter(move |path| path.may_be_null(read.ask.root, material.catalog));
        absent.map(move |path| noted(read.statement, &path.column))
    });
    lines.add(
        "NULL in keys",
        absent,
        "the index has no entries for rows with NULL in such a column (it is sparse). A read with `= :value` never asks for them, but any other read of the index misses them",
    );
    let keyless = material.tables().flat_map(|table| {
        let key = table.row_key().iter();
        key.filter_map(move |column| {
            let sample = material.sample(&Path::own(column), table)?;
            let rows = sample.rows - sample.present;
            (rows > 0).then(|| named(table, &format!("{column}, {}", counted(rows, "row"))))
        })
    });
    lines.add(
        "NULL in the table's key",
        keyless,
        "such a row has no key: `migrate` rejects it, and no read finds it. Set a value in the database, or add `| default(x)` in the key",
    );
}

/// Columns that look like references, and are none.
fn undeclared(material: &Material<'_, '_>, lines: &mut Lines) {
    let is_asked = |table: &Table, column: &Column| {
        let mut reads = material.served();
        let path = Path::own(&column.name);
        // Also of the aggregates of its rows.
        let own = Some((table.name.clone(), column.name.clone()));
        reads.any(|read| {
            let asked = (read.ask.root.name.clone(), column.name.clone());
            read.ask.has_equal(&path) && material.pricing.figures.of_rows(asked) == own
        })
    };
    let undeclared = material.columns().filter(|(table, column)| {
        let name = words(&column.name);
        let is_id = name.len() > 1 && name.last().is_some_and(|last| last == "id");
        // `tenant_code`, where tenants have a unique `code`; `tenant_code`, where that is the key of another table.
        let is_key_of = |other: &Table| {
            let parent = words(&other.name.name).concat();
            let parent = parent.trim_end_matches('s');
            let mut keys = other.keys(material.catalog.dbms);
            let is_called_so = name.len() > 1 && other.row_key() == [column.name.clone()];
            let is_composed = |columns: &[String]| match columns {
                [one] => name.concat() == format!("{parent}{}", words(one).concat()),
                _ => false,
            };
            other.name != table.name && (is_called_so || keys.any(|key| is_composed(key.columns)))
        };
        let mut keys = table.foreign_keys.iter().map(|key| &*key.columns);
        let is_key =
            table.row_key().contains(&column.name) || keys.any(|key| key.contains(&column.name));
        !is_key && is_asked(table, column) && (is_id || material.tables().any(is_key_of))
    });
    lines.add(
        "no declared reference",
        undeclared.map(|(table, column)| named(table, &column.name)),
        "it is named like a foreign key, but the schema declares none: `design` treats it as a plain value, and does not put items beside a parent because of it",
    );
    lines.add(
        "reference by a join alone",
        material.by_join.iter().cloned(),
        "statements join by it, but the schema declares no foreign key: `design` treats it as one. A row whose parent is missing is loaded all the same",
    );
}

/// Who made or changed a row owns nothing.
fn audit(material: &Material<'_, '_>, lines: &mut Lines) {
    let audits = material.tables().flat_map(|table| {
        let keys = table.foreign_keys.iter().filter(|key| is_audit(key));
        keys.map(|key| named(table, &key.columns.join("+")))
    });
    lines.add(
        "audit columns",
        audits,
        "they record who made or changed a row, so `design` does not put items beside that parent. If you want that, write `-- keep: CHILD beside PARENT` in the workload",
    );
}

/// Whether a column holds data of persons, by its name and its type.
fn is_personal(column: &Column) -> bool {
    const TERMS: &str = "address email emailaddress familyname firstname fullname givenname iban lastname mail mobile passport phone phonenumber postalcode postcode ssn street surname telephone zipcode";
    const BIRTH: &str = "birth birthdate birthday dateofbirth";
    const IDS: &str = "nationalid taxid";
    // What tells of such a value, and is none.
    const ABOUT: [&str; 6] = ["id", "type", "kind", "status", "count", "format"];
    let is_about = words(&column.name).pop();
    let is_about = is_about.is_some_and(|last| ABOUT.contains(&&*last));
    let is = |terms: &str| has_term(&column.name, terms);
    match &column.data_type {
        DataType::Boolean | DataType::Time { .. } | DataType::Timestamp { .. } => false,
        DataType::Date => is(BIRTH),
        _ => is(IDS) || !is_about && (is(TERMS) || is(BIRTH)),
    }
}

/// Data of persons that stands in keys, or is copied.
fn personal(material: &Material<'_, '_>, lines: &mut Lines) {
    let held = |statement: &Statement, table: &Table, paths: Vec<&Path>| {
        let columns = paths.into_iter();
        let columns = columns.filter_map(|path| path.column_of(table, material.catalog));
        let columns = columns.filter(|column| is_personal(column));
        let columns: BTreeSet<&str> = columns.map(|column| &*column.name).collect();
        (!columns.is_empty()).then(|| noted(statement, joined(columns, " and ")))
    };
    let (mut keys, mut copied) = (Vec::new(), Vec::new());
    for Served {
        statement,
        ask,
        part,
        ..
    } in material.served()
    {
        let in_key = part.keys().map(|key| &key.path);
        keys.extend(held(statement, part.table, in_key.collect()));
        for (table, outputs) in ask.types() {
            let copies = outputs.iter().map(|(path, _)| path);
            let copies = copies.filter(|path| !path.steps.is_empty());
            copied.extend(held(statement, table, copies.collect()));
        }
    }
    lines.add(
        "personal data in keys",
        keys,
        "keys appear in logs, metrics and URLs, and cannot be changed: use a keyed hash of the value in the key instead (`| pseudonym`)",
    );
    lines.add(
        "personal data in copies",
        copied,
        "a program that erases this data must erase the copies too",
    );
}

fn filtered(material: &Material<'_, '_>, lines: &mut Lines) {
    let filtered = material
        .served()
        .filter(|read| !read.ask.filters.is_empty());
    let facts = material.pricing.facts;
    let much = filtered.filter_map(|Served { statement, ask, .. }| {
        let found = facts.found(ask);
        // Where most items do not pass, those that fill a LIMIT may be the last ones, or too few.
        if ask.limit.is_none() || facts.passing_all(ask) > 0.5 || finds_one(material, ask) {
            let much = found > LONG;
            return much.then(|| noted(statement, format!("{} items", about(found))));
        }
        let mut all = ask.clone();
        all.limit = None;
        let long = long_list(most_items(material, &all), material.list_growth(&all));
        long.map(|long| noted(statement, long))
    });
    lines.add(
        "filter",
        much,
        "DynamoDB reads all of these items, and the read pays for them. Only then does a filter drop those that do not match",
    );
}

fn rates(material: &Material<'_, '_>, lines: &mut Lines) {
    let all = material.placed.len();
    let unrated = material.placed.iter();
    let unrated = unrated.filter(|read| read.statement.rate.is_none());
    let unrated = unrated.count();
    if unrated > 0 {
        let why = format!(
            "{unrated} of {all} reads have no rate: one request a second is assumed for each"
        );
        lines.of_all("guessed rates", &why);
    }
    let writes = material.written.iter().map(|(statement, ..)| statement);
    let writes = writes.filter(|statement| statement.rate.is_none());
    lines.add(
        "guessed write rates",
        writes.map(|statement| statement.name.clone()),
        "one a second is assumed for each",
    );
    if material.written.is_empty() {
        let why = "no statement writes, so the costs do not include keeping indexes and copies up to date";
        lines.of_all("no writes", why);
    }
}
