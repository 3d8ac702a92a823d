//! What a design costs by estimates: reads, writes, copies, indexes, storage. docs/design-costs.md has the formulas.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::price::{PARTITION_WRITES, Prices};
use dynafold_format::{float, has_word, whole};
use dynafold_relational::catalog::{Table, TableName};
use dynafold_sql::WriteKind;

use crate::ask::Ask;
use crate::choose::{
    INCONSISTENT, Placement, Problem, ReadOption, StructureCost, UNSERVED, UpdateCost,
};
use crate::facts::{Facts, Met, entries_changed, taken_out};
use crate::figures::Figures;
use crate::path::{Path, Step};
use crate::pins::Pins;
use crate::structure::{KeyPart, Part, Structure, is_allowed, own_part};
use crate::workload::Statement;
use crate::writes::{Values, Write, Writes};
use crate::{MANY, SHORT, Way, facts};

/// Seconds of a month of thirty days.
pub(crate) const MONTH: f64 = 2_592_000.0;
/// What an index is worth a month in US dollars besides what DynamoDB charges: someone has to know it, and a table has 20.
const INDEX_PRICE: f64 = 1.0;
/// Columns up to which an index projects those alone: DynamoDB takes 20.
pub(crate) const PROJECTED: usize = 20;

/// What it is worth that rows have a key of their own in the table: it does not change.
const OWN_KEY: f64 = 0.01;
/// What it is worth that an item type is read in the table and not in an index, where nothing else decides: it is read consistently,
/// and stored once. More than [`OWN_KEY`].
const INDEXED: f64 = 0.02;

/// What is worth half an index: that the application sorts, or that items are left out after they were paid for.
const APART: f64 = 0.5;

/// The part that counts of what a read of whole lists costs more if values are asked for as often as rows have them: nobody knows whether
/// they are.
const UNEVEN: f64 = 0.1;

/// What a read by two requests in a row is worth: its second request waits for the first.
pub(crate) const IN_A_ROW: f64 = 5.0;

/// What a copied column is worth: someone has to keep it up to date.
const COPY: f64 = 0.5;

/// What it is worth that the writes of one partition key value are few: as much as an index where a partition could take no
/// more of them.
pub(crate) fn heat(writes: f64) -> f64 {
    INDEX_PRICE * writes / PARTITION_WRITES
}

/// Keys that one `BatchGetItem` takes.
const KEYS: f64 = 100.0;
/// Bytes of items that one `BatchGetItem` answers with.
const ANSWER: f64 = 16_777_216.0;

/// Units of a consistent read of so many bytes: one for each 4 KiB begun.
pub(crate) fn read_units(bytes: f64) -> f64 {
    (bytes / 4096.0).ceil().max(1.0)
}

/// Units of a write of an item or an entry of so many bytes: one for each KiB begun.
pub(crate) fn write_units(bytes: f64) -> f64 {
    (bytes / 1024.0).ceil().max(1.0)
}

/// Read units of so many items that are read by their keys, each rounded up by itself, and the requests that this takes.
pub(crate) fn fetched(items: f64, bytes: f64) -> (f64, f64) {
    let units = items * read_units(bytes) * 0.5;
    let requests = (items / KEYS).max(items * bytes / ANSWER).ceil().max(1.0);
    (units, requests)
}

/// What reads and writes cost, in US dollars a month on demand.
#[derive(Clone, Copy)]
pub(crate) struct Pricing<'d> {
    pub(crate) facts: Facts<'d>,
    pub(crate) prices: &'d Prices,
    pub(crate) pins: &'d Pins,
    /// The tables whose items have a key already, which stays.
    pub(crate) placed: &'d BTreeSet<TableName>,
    pub(crate) writes: &'d BTreeMap<TableName, Writes>,
    pub(crate) figures: &'d Figures,
    /// Whether all reads are guessed: then nobody is known to ask for rows by their key more than for those of a parent.
    pub(crate) is_guessed: bool,
}

impl Pricing<'_> {
    /// Requests a second of a statement; one where it is not said.
    pub(crate) fn rate(statement: &Statement) -> f64 {
        statement.rate.unwrap_or(1.0)
    }

    /// Bytes that one request of a read reads. `others`: item types that stand between and are left out.
    fn read_bytes(&self, ask: &Ask<'_>, in_index: bool, others: &[(&Table, f64)]) -> f64 {
        let facts = self.facts;
        let item = |table: &Table, outputs: &[(Path, String)], filters: &[&Path]| {
            let paths = outputs.iter().map(|(path, _)| path);
            let paths = paths.chain(filters.iter().copied());
            if in_index && outputs.len() <= PROJECTED {
                facts.entry(table, paths)
            } else {
                facts.item(table) + paths.map(|path| facts.copied(path, table)).sum::<f64>()
            }
        };
        let filters: Vec<&Path> = ask.filters.iter().map(|filter| &filter.path).collect();
        let entries = facts.found(ask) * float(ask.items_of_row());
        let mut bytes = entries * item(ask.root, ask.held(), &filters);
        let each = |table: &Table| facts::rows(table) / facts::rows(ask.root);
        for child in &ask.children {
            bytes += each(child.table) * item(child.table, &child.outputs, &[]);
        }
        for (table, of_each) in others {
            bytes += of_each * facts.item(table);
        }
        bytes
    }

    /// Read units of one request of a read: half a unit for each 4 KB, or one where it is consistent.
    pub(crate) fn units(
        &self,
        ask: &Ask<'_>,
        strong: bool,
        in_index: bool,
        others: &[(&Table, f64)],
    ) -> f64 {
        let bytes = self.read_bytes(ask, in_index, others);
        let each = if strong { 1.0 } else { 0.5 };
        read_units(bytes) * each
    }

    pub(crate) fn read(
        &self,
        statement: &Statement,
        ask: &Ask<'_>,
        in_index: bool,
        others: &[(&Table, f64)],
    ) -> f64 {
        let mut units = self.units(ask, statement.strong && !in_index, in_index, others);
        if ask.fetches {
            let copied = ask.outputs.iter();
            let copied = copied.map(|(path, _)| self.facts.copied(path, ask.root));
            let bytes = self.facts.item(ask.root) + copied.sum::<f64>();
            let answered = self.facts.answered(ask);
            let twin = ask.twin.iter().map(|twin| self.facts.item(twin.table));
            let each = twin.chain([bytes]);
            units += each.map(|bytes| fetched(answered, bytes).0).sum::<f64>();
        }
        self.usd_reads(units * float(ask.requests) * Self::rate(statement))
    }

    /// US dollars a month where each request reads all items of all tables, as a Scan does.
    pub(crate) fn scan(&self, statement: &Statement) -> f64 {
        let tables = self.facts.catalog.tables.iter();
        let tables = tables.filter(|table| table.is_stored());
        let bytes = tables.map(|table| facts::rows(table) * self.facts.item(table));
        let bytes = bytes.sum::<f64>();
        self.usd_reads(read_units(bytes) * 0.5 * Self::rate(statement)) + APART
    }

    /// US dollars a month for so many read units a second.
    pub(crate) fn usd_reads(&self, units: f64) -> f64 {
        self.prices.reads(units * MONTH).unwrap_or_default()
    }

    /// US dollars a month for so many write units a second.
    pub(crate) fn usd_writes(&self, units: f64) -> f64 {
        self.prices.writes(units * MONTH).unwrap_or_default()
    }

    /// The share of a part's items that have the most frequent partition key value.
    pub(crate) fn most_frequent(&self, part: &Part<'_>) -> f64 {
        let keys = part.partition.iter();
        let shares = keys.map(|key| self.facts.most_frequent(&key.path, part.table));
        shares.product::<f64>().min(1.0)
    }

    /// The stated price of what a read leaves to the application, or pays for in vain.
    pub(crate) fn apart(&self, statement: &Statement, ask: &Ask<'_>) -> f64 {
        let (each, in_a_row) = if ask.fetches {
            let items = self.facts.answered(ask) * float(ask.items_of_row());
            let then = fetched(items, self.facts.item(ask.root));
            (1.0 + then.1, IN_A_ROW)
        } else {
            (1.0, 0.0)
        };
        let further = (float(ask.requests) * each - 1.0).max(0.0);
        let of_children = ask.children.iter().flat_map(|child| &child.outputs);
        let copied = ask.outputs.iter().chain(of_children);
        let copied = copied.filter(|(path, _)| !path.steps.is_empty()).count();
        APART * further + self.whole_lists(statement, ask) + COPY * float(whole(copied)) + in_a_row
    }

    /// The stated price of reading whole lists: to sort them, to leave out items by a filter, or to compute from long ones.
    fn whole_lists(&self, statement: &Statement, ask: &Ask<'_>) -> f64 {
        let times = u8::from(ask.sorts) + u8::from(!ask.filters.is_empty());
        let facts = self.facts;
        let most = facts.most_found(ask);
        let beyond = if ask.computes { most - MANY } else { 0.0 };
        let beyond = (beyond / SHORT).ceil().max(0.0);
        if times == 0 {
            return APART * beyond;
        }
        let mean = facts.found(ask);
        let limit = ask.limit.map_or(f64::INFINITY, float);
        let most = most.min(limit / facts.passing_all(ask));
        let share = (most / facts::rows(ask.root)).min(1.0);
        let uneven = share * most + (1.0 - share) * mean;
        let units = |items: f64| read_units(items * facts.item(ask.root)) * 0.5;
        let more = (units(uneven) - units(mean)).max(0.0) * float(ask.requests);
        let lists = f64::from(times) * (most.min(MANY) / SHORT).ceil().max(1.0);
        APART * (lists + beyond) + UNEVEN * self.usd_reads(more * Self::rate(statement))
    }

    /// Whether a structure can be the table's own key, also under the pins.
    pub(crate) fn can_be_base_table(&self, structure: &Structure<'_>) -> bool {
        let mut parts = structure.parts.iter();
        structure.can_be_base_table(self.facts.catalog)
            && is_allowed(self.pins, structure)
            && !parts.any(|part| self.placed.contains(&part.table.name))
    }

    /// What copies cost: their storage, and that each write which changes a copied column, or a reference on the way to it, writes all
    /// items that have it.
    pub(crate) fn copies(&self, ask: &Ask<'_>) -> f64 {
        let outputs = (ask.types())
            .flat_map(|(table, outputs)| outputs.iter().map(move |(path, _)| (table, path)));
        let mut cost = 0.0;
        let mut updated: BTreeMap<(TableName, Vec<Step>), f64> = BTreeMap::new();
        for (table, path) in outputs {
            let bytes = self.facts.copied(path, table) * facts::rows(table);
            cost += self.prices.storage(bytes).unwrap_or_default();
            for (place, step, columns) in path.parents() {
                let writes = self.writes.get(&step.table);
                let rates = columns.iter().filter_map(|name| writes?.columns.get(name));
                let mut rate = rates.copied().fold(0.0, f64::max);
                let statements = writes.into_iter().flat_map(|writes| &writes.statements);
                let changes = statements.filter(|write| {
                    write.kind != WriteKind::Update
                        && path.may_come(place, table, self.facts.catalog)
                });
                rate += changes.map(|write| write.rate).sum::<f64>();
                let steps = path.steps.get(..=place).unwrap_or_default();
                let known = updated.entry((table.name.clone(), steps.to_vec()));
                let known = known.or_default();
                *known = known.max(rate);
            }
        }
        for ((table, steps), rate) in updated {
            if let Some(table) = self.facts.catalog.table(&table) {
                let items = self.facts.having(&steps, table);
                cost += self.usd_writes(rate * items * self.write_units(table));
            }
        }
        cost
    }

    /// What a structure costs as an index, whatever it projects: entries come and go, and move where their key changes.
    pub(crate) fn index(&self, structure: &Structure<'_>) -> f64 {
        let parts = structure.parts.iter().map(|part| {
            let share = self.share(structure, part);
            let bytes = facts::rows(part.table) * share * (3.0 * 60.0 + 100.0);
            let writes = self
                .statements(part.table)
                .map(|write| write.rate * self.entries(structure, part, write, 0.0));
            self.usd_writes(writes.sum()) + self.prices.storage(bytes).unwrap_or_default()
        });
        parts.sum()
    }

    /// What a read adds to the costs of the index that it asks: updates of what is projected for it, and wide columns.
    pub(crate) fn extras(&self, structure: &Structure<'_>, ask: &Ask<'_>) -> Vec<(usize, f64)> {
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        let root = (ask.root, ask.held());
        let children = ask
            .children
            .iter()
            .map(|child| (child.table, &*child.outputs));
        let twin = ask.twin.iter().map(|twin| (twin.table, &[][..]));
        for (table, outputs) in std::iter::once(root).chain(children).chain(twin) {
            let mut parts = structure.parts.iter().enumerate();
            let Some((place, part)) = parts.find(|(_, part)| part.table.name == table.name) else {
                continue;
            };
            let filters = ask.filters.iter().map(|filter| &filter.path);
            let paths: Vec<&Path> = outputs
                .iter()
                .map(|(path, _)| path)
                .chain(filters)
                .collect();
            let is_whole = outputs.len() > PROJECTED;
            let share = self.share(structure, part);
            let is_needed =
                |column: &String| is_whole || paths.iter().any(|path| **path == Path::own(column));
            let bytes = if is_whole {
                self.facts.item(table)
            } else {
                self.facts.entry(table, paths.iter().copied())
            };
            let units = write_units(bytes);
            let stored = (bytes - self.facts.entry(table, std::iter::empty())).max(0.0);
            let stored = self.prices.storage(facts::rows(table) * share * stored);
            if let Some(stored) = stored.filter(|stored| *stored > 0.0) {
                // No write is called so.
                found.insert(usize::MAX - place, stored);
            }
            for write in self.statements(table) {
                let stays = f64::from(u8::from(write.columns.iter().any(is_needed)));
                // A unit of each entry is in the costs of the index already.
                let further = units * self.entries(structure, part, write, stays)
                    - self.entries(structure, part, write, 0.0);
                if further > 0.0 {
                    let known = found.entry(write.at).or_default();
                    *known += self.usd_writes(write.rate * further);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Write units a second that meet one partition key value of the table, where a structure is its own key.
    pub(crate) fn hottest_in_base_table(&self, structure: &Structure<'_>, part: usize) -> f64 {
        let Some(part) = structure.parts.get(part) else {
            return 0.0;
        };
        let rates = self.statements(part.table).map(|write| match write.kind {
            // The old item goes, the new one comes.
            WriteKind::Update if is_moved(structure, part, write) => 2.0 * write.rate,
            _ => write.rate,
        });
        let writes = rates.fold(0.0, |sum, rate| sum + rate) * self.write_units(part.table);
        writes * self.most_frequent(part) / float(structure.shards)
    }

    /// Write units a second that meet one partition key value of an index for a read.
    pub(crate) fn hottest(&self, structure: &Structure<'_>, part: usize, ask: &Ask<'_>) -> f64 {
        let Some(part) = structure.parts.get(part) else {
            return 0.0;
        };
        let all = structure.parts.iter().filter(|_| structure.is_twin);
        let parts: Vec<&Part<'_>> = all.collect();
        let parts = if parts.is_empty() { vec![part] } else { parts };
        let own = ask.held().iter().map(|(path, _)| path);
        let filters = ask.filters.iter().map(|filter| &filter.path);
        let needed = own.chain(filters).filter(|path| path.steps.is_empty());
        let projected = needed.map(|path| path.column.clone()).collect();
        let writes = parts.into_iter().flat_map(|part| {
            let writes = self.statements(part.table);
            let projected = &projected;
            writes.map(move |write| {
                write.rate * self.in_index(structure, part, write, Some(projected))
            })
        });
        let all = writes.fold(0.0, |sum, units| sum + units);
        all * self.most_frequent(part) / float(structure.shards)
    }

    /// Write units of one request of a statement in an index that holds these columns.
    pub(crate) fn in_index(
        &self,
        structure: &Structure<'_>,
        part: &Part<'_>,
        write: &Write,
        projected: Option<&BTreeSet<String>>,
    ) -> f64 {
        let table = part.table;
        let is_needed = |column: &String| projected.is_none_or(|names| names.contains(column));
        let columns = table
            .columns
            .iter()
            .filter(|column| is_needed(&column.name));
        let own = columns.map(|column| self.facts.attribute(&Path::own(&column.name), table));
        let units = write_units(own.sum::<f64>() + 120.0);
        let stays = f64::from(u8::from(write.columns.iter().any(is_needed)));
        units * self.entries(structure, part, write, stays)
    }

    /// About how many entries of an index one request of a statement writes. `stays`: those of an entry that stays and whose key it
    /// does not set; two if the key of the item changes.
    fn entries(
        &self,
        structure: &Structure<'_>,
        part: &Part<'_>,
        write: &Write,
        stays: f64,
    ) -> f64 {
        let met = |values: &Values| self.met(structure, part, values);
        let (before, after) = (&write.said.before, &write.said.after);
        match write.kind {
            WriteKind::Insert => met(after).of_all(),
            WriteKind::Delete => met(before).of_all(),
            WriteKind::Update if is_moved(structure, part, write) => {
                let stays = if sets_key(part, write) { 2.0 } else { stays };
                let taken_out = || {
                    if decides(structure, write) {
                        self.taken_out(structure, part)
                    } else {
                        0.0
                    }
                };
                entries_changed([met(before), met(after)], stays, taken_out)
            }
            WriteKind::Update if stays > 0.0 => met(before).of_all() * stays,
            WriteKind::Update => 0.0,
        }
    }

    /// The share of the updates without a known value that take a row out of an index.
    fn taken_out(&self, structure: &Structure<'_>, part: &Part<'_>) -> f64 {
        let writes = self
            .statements(part.table)
            .filter(|write| write.kind != WriteKind::Update || decides(structure, write));
        let writes = writes.map(|write| {
            let met = [&write.said.before, &write.said.after];
            let met = met.map(|values| self.met(structure, part, values));
            (write.kind, write.rate, met)
        });
        taken_out(writes)
    }

    pub(crate) fn statements(&self, table: &Table) -> impl Iterator<Item = &Write> {
        let writes = self.writes.get(&table.name);
        writes.into_iter().flat_map(|writes| &writes.statements)
    }

    /// The share of an item type's items that an index holds: those that meet its conditions, and have its partition key.
    pub(crate) fn share(&self, structure: &Structure<'_>, part: &Part<'_>) -> f64 {
        self.met(structure, part, &Values::new()).of_all()
    }

    /// How many of the items of rows with these values it holds.
    fn met(&self, structure: &Structure<'_>, part: &Part<'_>, values: &Values) -> Met {
        let table = structure.keyed(part).table;
        let when = structure.when.iter();
        let met = when.map(|when| self.facts.met_by(when, table, values));
        // What a condition asks for is counted by it.
        let is_asked = |path: &Path| {
            let mut when = structure.when.iter();
            when.any(|when| has_word(&when.text, &path.column))
        };
        let paths: BTreeSet<&Path> = part.partition.iter().map(|key| &key.path).collect();
        let paths = paths.into_iter().filter(|path| !is_asked(path));
        let present = paths.map(|path| self.facts.given(path, table, values));
        met.chain(present).fold(Met::ALL, Met::and)
    }

    /// What it costs to have a structure as the table's own key: updates move items, and must first find them where their own
    /// condition does not say the key, but says the key that they have without a structure.
    fn base_table(&self, structure: &Structure<'_>) -> f64 {
        let parts = structure.parts.iter().map(|part| {
            let own = own_part(self.facts.catalog, part.table, self.pins);
            let row_key = part.table.row_key().iter();
            let mut row_key = row_key.map(|column| Path::own(column));
            let held = |path: Path| part.partition.iter().any(|key| key.path == path);
            let is_own = part.partition == own.partition || !self.is_guessed && row_key.all(held);
            let writes = self.statements(part.table).map(|write| {
                let is_said = |key: &KeyPart| {
                    key.path.steps.is_empty() && write.found_by.contains(&key.path.column)
                };
                let is_found =
                    |part: &Part<'_>| write.kind == WriteKind::Insert || part.keys().all(is_said);
                let search = if is_found(part) || !is_found(&own) {
                    0.0
                } else {
                    self.usd_reads(0.5 * write.rate) + APART
                };
                let moves = match write.kind {
                    WriteKind::Update if is_moved(structure, part, write) => {
                        self.usd_writes(write.rate * self.write_units(part.table)) + APART
                    }
                    _ => 0.0,
                };
                search + moves
            });
            writes.sum::<f64>() + if is_own { 0.0 } else { OWN_KEY }
        });
        parts.sum()
    }

    /// The updates that change a structure's key.
    fn key_updates(&self, structure: &Structure<'_>) -> BTreeSet<usize> {
        let parts = structure.parts.iter();
        let moves = parts.flat_map(|part| {
            let writes = self.statements(part.table);
            writes
                .filter(|write| write.kind == WriteKind::Update && is_moved(structure, part, write))
        });
        moves.map(|write| write.at).collect()
    }

    /// What each update costs in a structure as an index, and what it costs where it changes the key of the items: every
    /// entry of an item goes, and comes anew.
    fn update_costs(&self, structure: &Structure<'_>) -> BTreeMap<usize, UpdateCost> {
        let mut found = BTreeMap::new();
        for part in &structure.parts {
            let updates = self.statements(part.table);
            for write in updates.filter(|write| write.kind == WriteKind::Update) {
                let in_place = self.entries(structure, part, write, 0.0);
                let key_changed = self.entries(structure, part, write, 2.0);
                // Both items of a row have an entry.
                let cost: &mut UpdateCost = found.entry(write.at).or_default();
                cost.in_place += self.usd_writes(write.rate * in_place);
                cost.key_changed += self.usd_writes(write.rate * key_changed);
            }
        }
        found
    }

    pub(crate) fn problem(
        &self,
        structures: &[Structure<'_>],
        ways: &[Vec<Way>],
        most_indexes: usize,
    ) -> Problem {
        let mut types: Vec<&TableName> = structures
            .iter()
            .flat_map(|one| one.parts.iter().map(|part| &part.table.name))
            .collect();
        types.sort();
        types.dedup();
        let candidate = |structure: &Structure<'_>| StructureCost {
            types: structure
                .parts
                .iter()
                .filter_map(|part| types.binary_search(&&part.table.name).ok())
                .collect(),
            can_be_base_table: self.can_be_base_table(structure),
            index_cost: self.index(structure) + INDEXED * float(whole(structure.parts.len())),
            base_table_cost: self.base_table(structure),
            key_updates: self.key_updates(structure),
            update_costs: self.update_costs(structure),
        };
        let mut candidates: Vec<StructureCost> = structures.iter().map(candidate).collect();
        // Not to be served costs more than anything else.
        let nothing = candidates.len();
        candidates.push(StructureCost {
            can_be_base_table: true,
            ..StructureCost::default()
        });
        // The items of figures are written besides those of the rows.
        let kept = types.iter().enumerate();
        let kept = kept.filter(|(_, name)| self.figures.tables.contains_key(**name));
        let item_costs = kept.filter_map(|(kind, name)| {
            let table = self.facts.catalog.table(name)?;
            let rates = self.statements(table).map(|write| write.rate);
            let units = rates.sum::<f64>() * self.write_units(table);
            Some((kind, self.usd_writes(units)))
        });
        let reads = ways.iter().map(|ways| {
            let mut choices: Vec<ReadOption> = ways
                .iter()
                .map(|way| ReadOption {
                    structure: way.structure,
                    cost: way.cost
                        + if way.is_consistent {
                            0.0
                        } else {
                            INCONSISTENT * (1.0 + way.rate)
                        },
                    placement: way.placement,
                    extras: way.extras.clone(),
                })
                .collect();
            if !choices.is_empty() {
                choices.push(ReadOption {
                    structure: nothing,
                    cost: UNSERVED * (1.0 + ways.first().map_or(0.0, |way| way.rate)),
                    placement: Placement::Any,
                    extras: Vec::new(),
                });
            }
            choices
        });
        Problem {
            reads: reads.collect(),
            structures: candidates,
            item_costs: item_costs.collect(),
            index_price: INDEX_PRICE,
            most_indexes,
        }
    }

    /// Write units of one item.
    pub(crate) fn write_units(&self, table: &Table) -> f64 {
        write_units(self.facts.item(table))
    }
}

/// Whether an update changes the key of an item's entry, or whether it has one.
pub(crate) fn is_moved(structure: &Structure<'_>, part: &Part<'_>, write: &Write) -> bool {
    sets_key(part, write) || decides(structure, write)
}

/// Whether an update sets a column of the condition that decides which rows are in an index.
fn decides(structure: &Structure<'_>, write: &Write) -> bool {
    let named = |text: &str| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut words = text.split(|c| !is_word(c));
        words.any(|word| write.columns.iter().any(|column| column == word))
    };
    structure.when.iter().any(|when| named(&when.said))
}

/// Whether an update changes the key of an item's entry: a column of it, or the reference to the parent that has it.
fn sets_key(part: &Part<'_>, write: &Write) -> bool {
    let mut columns = part.keys().flat_map(|key| key.path.own_columns());
    columns.any(|column| write.columns.contains(column))
}
