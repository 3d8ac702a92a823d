//! What a design costs by estimates: reads, writes, copies, indexes, storage. docs/design.md has the formulas.

use std::collections::BTreeMap;

use dynafold_dynamodb::price::Prices;
use dynafold_format::float;
use dynafold_relational::catalog::{Catalog, Table, TableName};

use crate::ask::Ask;
use crate::choose::{Candidate, Choice, Problem};
use crate::structure::{Part, Structure, own_part};
use crate::workload::Statement;
use crate::{Way, facts, path};

/// Seconds of a month of thirty days.
pub(crate) const MONTH: f64 = 2_592_000.0;
/// What an index is worth a month in US dollars besides what DynamoDB charges: someone has to know it, and a table has 20.
const INDEX_PRICE: f64 = 1.0;
/// More than any design costs, for each request a second: that a read is not served, or not consistently.
const UNSERVED: f64 = 1e8;
pub(crate) const INCONSISTENT: f64 = 1e5;

/// Writes a second of a table, and of the columns that its updates set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Writes {
    pub(crate) all: f64,
    pub(crate) columns: BTreeMap<String, f64>,
}

/// What reads and writes cost, in US dollars a month on demand.
pub(crate) struct Pricing<'d> {
    pub(crate) catalog: &'d Catalog,
    pub(crate) prices: &'d Prices,
    pub(crate) writes: &'d BTreeMap<TableName, Writes>,
}

impl Pricing<'_> {
    /// Requests a second of a statement; one where it is not said.
    pub(crate) fn rate(statement: &Statement) -> f64 {
        statement.rate.unwrap_or(1.0)
    }

    /// Read units of one request of a read: half a unit for each 4 KB, or one where it is consistent.
    pub(crate) fn units(&self, ask: &Ask<'_>, strong: bool) -> f64 {
        let copied = |table: &Table, outputs: &[(path::Path, String)]| -> f64 {
            outputs
                .iter()
                .map(|(path, _)| facts::copied(path, table, self.catalog))
                .sum()
        };
        let of_root = item_bytes(ask.root) + copied(ask.root, &ask.outputs);
        let mut bytes = facts::found(ask, self.catalog) * of_root;
        for child in &ask.children {
            let each = facts::rows(child.table) / facts::rows(ask.root);
            bytes += each * (item_bytes(child.table) + copied(child.table, &child.outputs));
        }
        let each = if strong { 1.0 } else { 0.5 };
        (bytes / 4096.0).ceil().max(1.0) * each
    }

    pub(crate) fn read(&self, statement: &Statement, ask: &Ask<'_>) -> f64 {
        let requests = float(ask.requests);
        let units = self.units(ask, statement.strong) * requests;
        self.prices
            .reads(units * Self::rate(statement) * MONTH)
            .unwrap_or_default()
    }

    pub(crate) fn writes_of(&self, table: &TableName) -> f64 {
        self.writes.get(table).map_or(0.0, |writes| writes.all)
    }

    /// What copies cost: their storage, and that each update of a copied column writes all items that have it.
    pub(crate) fn copies(&self, ask: &Ask<'_>) -> f64 {
        let of_root = ask.outputs.iter().map(|(path, _)| (ask.root, path));
        let of_children = ask.children.iter().flat_map(|child| {
            child
                .outputs
                .iter()
                .map(move |(path, _)| (child.table, path))
        });
        let mut cost = 0.0;
        let mut updated: BTreeMap<(TableName, Vec<path::Step>), f64> = BTreeMap::new();
        for (table, path) in of_root.chain(of_children) {
            let Some(step) = path.steps.last() else {
                continue;
            };
            let bytes = facts::copied(path, table, self.catalog) * facts::rows(table);
            cost += self.prices.storage(bytes).unwrap_or_default();
            let rate = self
                .writes
                .get(&step.table)
                .and_then(|writes| writes.columns.get(&path.column));
            let known = updated
                .entry((table.name.clone(), path.steps.clone()))
                .or_default();
            *known = known.max(rate.copied().unwrap_or_default());
        }
        for ((table, steps), rate) in updated {
            let (Some(table), Some(parent)) = (
                self.catalog.table(&table),
                steps
                    .last()
                    .and_then(|step| self.catalog.table(&step.table)),
            ) else {
                continue;
            };
            let items = (facts::rows(table) / facts::rows(parent)).max(1.0);
            cost += self
                .prices
                .writes(rate * items * write_units(table) * MONTH)
                .unwrap_or_default();
        }
        cost
    }

    pub(crate) fn index(&self, structure: &Structure<'_>) -> f64 {
        let parts = structure.parts.iter().map(|part| {
            let writes = self.writes_of(&part.table.name) * write_units(part.table);
            let share = if structure.when.is_empty() { 1.0 } else { 0.1 };
            let bytes = facts::rows(part.table) * (item_bytes(part.table) + 100.0) * share;
            self.moves(part)
                + self.prices.writes(writes * MONTH).unwrap_or_default()
                + self.prices.storage(bytes).unwrap_or_default()
        });
        parts.sum()
    }

    /// What updates of key columns cost besides: the item is deleted and written anew.
    fn moves(&self, part: &Part<'_>) -> f64 {
        let Some(writes) = self.writes.get(&part.table.name) else {
            return 0.0;
        };
        let keys = part.partition.iter().chain(&part.sort);
        let own = keys.filter(|key| key.path.steps.is_empty());
        let rates = own.filter_map(|key| writes.columns.get(&key.path.column));
        let rate = rates.copied().fold(0.0, f64::max);
        let cost = self.prices.writes(rate * write_units(part.table) * MONTH);
        cost.unwrap_or_default()
    }

    /// What it costs to have a structure as the table's own key. A key of the rows' own is worth a little: it does not change.
    fn home(&self, structure: &Structure<'_>) -> f64 {
        let parts = structure.parts.iter().map(|part| {
            let own = own_part(self.catalog, part.table);
            let row_key = part.table.row_key().iter();
            let mut row_key = row_key.map(|column| path::Path::own(column));
            let held = |path: path::Path| part.partition.iter().any(|key| key.path == path);
            let is_own = part.partition == own.partition || row_key.all(held);
            self.moves(part) + if is_own { 0.0 } else { 0.01 }
        });
        parts.sum()
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
        let candidate = |structure: &Structure<'_>| Candidate {
            types: structure
                .parts
                .iter()
                .filter_map(|part| types.binary_search(&&part.table.name).ok())
                .collect(),
            can_be_home: structure.can_be_home(self.catalog),
            index_cost: self.index(structure),
            home_cost: self.home(structure),
            cost: 0.0,
        };
        let mut candidates: Vec<Candidate> = structures.iter().map(candidate).collect();
        // Not to be served costs more than anything else.
        let nothing = candidates.len();
        candidates.push(Candidate {
            can_be_home: true,
            ..Candidate::default()
        });
        let reads = ways.iter().map(|ways| {
            let mut choices: Vec<Choice> = ways
                .iter()
                .map(|way| Choice {
                    structure: way.structure,
                    cost: way.cost
                        + if way.is_consistent {
                            0.0
                        } else {
                            INCONSISTENT * (1.0 + way.rate)
                        },
                    at_home: way.at_home,
                })
                .collect();
            if !choices.is_empty() {
                choices.push(Choice {
                    structure: nothing,
                    cost: UNSERVED * (1.0 + ways.first().map_or(0.0, |way| way.rate)),
                    at_home: false,
                });
            }
            choices
        });
        Problem {
            reads: reads.collect(),
            structures: candidates,
            index_price: INDEX_PRICE,
            most_indexes,
        }
    }

    /// What the items of a table cost to store.
    pub(crate) fn storage(&self, table: &Table) -> f64 {
        let bytes = facts::rows(table) * (item_bytes(table) + 100.0);
        self.prices.storage(bytes).unwrap_or_default()
    }
}

/// By the types of its columns, or by the bytes that the database has for a row, where these are more.
fn item_bytes(table: &Table) -> f64 {
    let stored = table.estimated_bytes.map_or(0.0, float) / facts::rows(table);
    let is_telling = table.estimated_rows.is_some_and(|rows| rows >= 100);
    let by_types = facts::bytes(table.columns.iter());
    if is_telling {
        by_types.max(stored)
    } else {
        by_types
    }
}

/// Write units of one item: one for each KB.
pub(crate) fn write_units(table: &Table) -> f64 {
    (item_bytes(table) / 1024.0).ceil().max(1.0)
}
