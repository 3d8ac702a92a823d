//! From a schema and its SQL to a proposed table.
//!
//! [`workload::read`] reads statements with their rates. [`design`] understands each read ([`ask`]), lists the ways to
//! store items that serve it ([`structure`]), prices them with the catalog's estimates ([`facts`]) and takes the cheapest
//! choice of all ([`choose`]). The answer is a mapping ([`written`]), which `check`, `verify` and `verify --patterns` hold against
//! the real rows, and a [`Report`] with a line for each statement. Pure, and the same for the same input, whatever the
//! order of the statements.

mod ask;
mod choose;
mod facts;
mod guess;
mod path;
mod report;
mod structure;
pub mod workload;
mod written;

use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::price::Prices;
use dynafold_mapping::starter::StarterNames;
use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_sql::{WriteKind, table, write_statement};

use ask::{Ask, Unserved, ask};
use choose::{Candidate, Choice, Problem, Solution, solve};
pub use guess::guess;
pub use report::{Alternative, IndexReport, ReadReport, Report, ServedRead, Sum, WriteReport};
use structure::{KeyPart, Structure, serves, structures};
use workload::Statement;
use written::{Placed, Writing, own_part};

/// Seconds of a month of thirty days.
const MONTH: f64 = 2_592_000.0;
/// What an index is worth a month in US dollars besides what DynamoDB charges: someone has to know it, and a table has 20.
pub const INDEX_PRICE: f64 = 1.0;
/// More than any design costs: that a read is not served, or not consistently.
const UNSERVED: f64 = 1e12;
const INCONSISTENT: f64 = 1e9;

/// What a design may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Most global indexes: 20 at DynamoDB.
    pub indexes: usize,
    /// Whether delimiters in values are escaped in keys.
    pub escapes: bool,
}

/// A proposed table.
#[derive(Debug, Clone)]
pub struct Design {
    /// The mapping, as YAML.
    pub mapping: String,
    /// What it serves, why, and for how much.
    pub report: Report,
    /// Columns of text that stand before a delimiter in a key: if one of their values holds it, keys must be escaped.
    pub before_delimiters: Vec<(TableName, String)>,
}

/// A read of the workload, understood.
struct Read<'w, 'c> {
    statement: &'w Statement,
    asks: Vec<Ask<'c>>,
}

/// Writes a second of a table, and of the columns that its updates set.
#[derive(Debug, Clone, Default)]
struct Writes {
    all: f64,
    columns: BTreeMap<String, f64>,
}

/// Proposes a table.
#[must_use]
pub fn design(
    catalog: &Catalog,
    statements: &[Statement],
    prices: &Prices,
    limits: &Limits,
) -> Design {
    let mut statements: Vec<&Statement> = statements.iter().collect();
    statements.sort_by(|a, b| a.name.cmp(&b.name));
    let mut reads: Vec<Read<'_, '_>> = Vec::new();
    let mut unserved: Vec<(&Statement, Unserved)> = Vec::new();
    let mut writes: BTreeMap<TableName, Writes> = BTreeMap::new();
    let mut written: Vec<(&Statement, &Table, WriteKind)> = Vec::new();
    for statement in statements {
        if let Some(write) = write_statement(&statement.sql, catalog.dbms) {
            match table(catalog, write.schema.as_ref(), &write.table) {
                Some(table) => {
                    let rate = statement.rate.unwrap_or(1.0);
                    let known = writes.entry(table.name.clone()).or_default();
                    known.all += rate;
                    for column in write.columns {
                        *known.columns.entry(column).or_default() += rate;
                    }
                    written.push((statement, table, write.kind));
                }
                None => unserved.push((
                    statement,
                    Unserved {
                        why: format!(
                            "writes {}, which the schema does not have",
                            write.table.text
                        ),
                        instead: "check the name",
                    },
                )),
            }
            continue;
        }
        match ask(&statement.sql, catalog) {
            Ok(asks) => reads.push(Read { statement, asks }),
            Err(why) => unserved.push((statement, why)),
        }
    }
    let pricing = Pricing {
        catalog,
        prices,
        writes: &writes,
    };
    let (structures, ways) = candidates(catalog, &reads, &pricing);
    reads_without(catalog, &ways, &reads, &mut unserved);
    let problem = pricing.problem(&structures, &ways, limits.indexes);
    let solution = solve(&problem);
    let mut placed = Vec::new();
    let mut not_chosen = Vec::new();
    for ((read, ways), choice) in reads.iter().zip(&ways).zip(&solution.reads) {
        let Some(way) = choice.and_then(|choice| ways.get(choice)) else {
            if !ways.is_empty() {
                not_chosen.push(read.statement);
            }
            continue;
        };
        let Some(ask) = read.asks.get(way.ask) else {
            continue;
        };
        placed.push((
            Placed {
                name: &read.statement.name,
                about: &read.statement.about,
                rate: read.statement.rate,
                strong: read.statement.strong,
                ask,
                structure: way.structure,
                part: way.part,
            },
            read.statement,
            way.clone(),
        ));
    }
    for statement in not_chosen {
        unserved.push((
            statement,
            Unserved {
                why: format!("would need more than {} indexes", limits.indexes),
                instead: "allow more by --max-indexes, or write its items twice",
            },
        ));
    }
    let stored: Vec<&Table> = catalog
        .tables
        .iter()
        .filter(|table| table.is_stored())
        .collect();
    let names = StarterNames::choose(catalog, &stored);
    let mut slots = solution.slots.clone();
    slots.retain(|structure, _| {
        placed
            .iter()
            .any(|(placed, ..)| placed.structure == *structure)
    });
    let report = report::report(&report::Material {
        catalog,
        names: &names,
        pricing: &pricing,
        structures: &structures,
        slots: &slots,
        placed: &placed,
        unserved: &unserved,
        written: &written,
        solution: &solution,
        alternatives: alternatives(&problem, &solution, limits.indexes),
    });
    let not_served: Vec<String> = report
        .reads
        .iter()
        .filter_map(ReadReport::not_served)
        .collect();
    let reads: Vec<Placed<'_, '_>> = placed.into_iter().map(|(placed, ..)| placed).collect();
    let writing = Writing {
        catalog,
        names: &names,
        structures: &structures,
        slots: &slots,
        reads: &reads,
        header: header(catalog),
        not_served: &not_served,
        escapes: limits.escapes,
    };
    Design {
        mapping: writing.mapping(),
        report,
        before_delimiters: before_delimiters(catalog, &structures, &slots),
    }
}

/// Reads for which no structure was found are not served.
fn reads_without<'w>(
    catalog: &Catalog,
    ways: &[Vec<Way>],
    reads: &[Read<'w, '_>],
    unserved: &mut Vec<(&'w Statement, Unserved)>,
) {
    let without = ways.iter().zip(reads).filter(|(ways, _)| ways.is_empty());
    for (_, read) in without {
        let why = read.asks.first().map(|ask| structure::reason(ask, catalog));
        let why = Unserved {
            why: why.unwrap_or_default(),
            instead: "sort in the application, or leave the range out by a filter there",
        };
        unserved.push((read.statement, why));
    }
}

/// How a read may be served.
#[derive(Debug, Clone)]
struct Way {
    ask: usize,
    structure: usize,
    part: usize,
    cost: f64,
    at_home: bool,
    /// Whether it reads consistently, where that is asked for.
    is_consistent: bool,
}

/// All structures that may serve something, and for each read the ways to serve it.
fn candidates<'c>(
    catalog: &'c Catalog,
    reads: &[Read<'_, 'c>],
    pricing: &Pricing<'_>,
) -> (Vec<Structure<'c>>, Vec<Vec<Way>>) {
    let mut partitions: BTreeMap<TableName, BTreeSet<Vec<KeyPart>>> = BTreeMap::new();
    for ask in reads.iter().flat_map(|read| &read.asks) {
        let equal = ask.equal.iter().map(|equal| KeyPart {
            path: equal.path.clone(),
            folds: equal.folds,
            reversed: false,
        });
        partitions
            .entry(ask.root.name.clone())
            .or_default()
            .insert(equal.collect());
    }
    let mut all: Vec<Structure<'c>> = Vec::new();
    for read in reads {
        for ask in &read.asks {
            let known = partitions
                .get(&ask.root.name)
                .into_iter()
                .flatten()
                .cloned();
            let known: Vec<Vec<KeyPart>> = known.collect();
            for structure in structures(ask, &known, &read.statement.name, catalog) {
                if !all.iter().any(|known| known.same(&structure)) {
                    all.push(structure);
                }
            }
        }
    }
    let ways = reads.iter().map(|read| {
        let mut ways = Vec::new();
        for (place, ask) in read.asks.iter().enumerate() {
            for (at, structure) in all.iter().enumerate() {
                let Some(part) = serves(structure, ask, &read.statement.name, catalog) else {
                    continue;
                };
                let cost = pricing.read(read.statement, ask) + pricing.copies(ask);
                let can_be_home = structure.can_be_home(catalog);
                let way = Way {
                    ask: place,
                    structure: at,
                    part,
                    cost,
                    at_home: false,
                    is_consistent: !read.statement.strong,
                };
                if read.statement.strong && can_be_home {
                    ways.push(Way {
                        at_home: true,
                        is_consistent: true,
                        ..way.clone()
                    });
                }
                ways.push(way);
            }
        }
        ways
    });
    let ways = ways.collect();
    (all, ways)
}

/// Columns of text in keys, with something behind them.
fn before_delimiters(
    catalog: &Catalog,
    structures: &[Structure<'_>],
    slots: &BTreeMap<usize, usize>,
) -> Vec<(TableName, String)> {
    let used = slots.keys().filter_map(|at| structures.get(*at));
    let chosen = used.flat_map(|structure| structure.parts.iter().cloned());
    let own = own_types(catalog).map(|(_, part)| part);
    let mut found: BTreeSet<(TableName, String)> = BTreeSet::new();
    for part in chosen.chain(own) {
        for keys in [&part.partition, &part.sort] {
            let all_but_last = keys.iter().take(keys.len().saturating_sub(1));
            for key in all_but_last {
                if let Some((table, column)) = key.path.find(part.table, catalog)
                    && structure::is_loose(column)
                {
                    found.insert((table.name.clone(), column.name.clone()));
                }
            }
        }
    }
    found.into_iter().collect()
}

/// The least cost for other numbers of indexes than the one that was chosen.
fn alternatives(problem: &Problem, chosen: &Solution, most: usize) -> Vec<Alternative> {
    let used = chosen.slots.values().max().copied().unwrap_or(0);
    let mut found = Vec::new();
    for indexes in (0..used).rev().take(3) {
        let solution = solve(&Problem {
            most_indexes: indexes.min(most),
            ..problem.clone()
        });
        let is_dropped = |cost: f64| cost >= UNSERVED;
        let dropped = (solution.cost / UNSERVED).floor();
        found.push(Alternative {
            indexes,
            usd_month: (!is_dropped(solution.cost)).then_some(solution.cost),
            not_served: dropped,
        });
    }
    found
}

fn header(catalog: &Catalog) -> String {
    let file = catalog.database.rsplit(['/', '\\']).next();
    let name = file.and_then(|file| file.split('.').next());
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    let mut table = name.unwrap_or_default().replace(is_odd, "-");
    while table.len() < 3 {
        table.push('_');
    }
    table.truncate(200);
    format!(
        "# Proposed by `dynafold design` from the schema of {} `{}` and its workload.
# Behind each key stand the statements that ask for it. Edit it: `dynafold check`, `verify` and
# `verify --patterns` hold it against the real rows.
dynafold: 1

table:
  name: ${{TABLE_NAME:-{table}}}
",
        catalog.dbms,
        catalog.database.replace('\n', " "),
    )
}

/// What reads and writes cost, in US dollars a month on demand.
struct Pricing<'d> {
    catalog: &'d Catalog,
    prices: &'d Prices,
    writes: &'d BTreeMap<TableName, Writes>,
}

impl Pricing<'_> {
    /// Requests a second of a statement; one where it is not said.
    fn rate(statement: &Statement) -> f64 {
        statement.rate.unwrap_or(1.0)
    }

    fn item_bytes(&self, table: &Table) -> f64 {
        facts::bytes(table.columns.iter())
    }

    /// Read units of one request of a read: half a unit for each 4 KB, or one where it is consistent.
    fn units(&self, ask: &Ask<'_>, strong: bool) -> f64 {
        let copied = |table: &Table, outputs: &[(path::Path, String)]| -> f64 {
            outputs
                .iter()
                .map(|(path, _)| facts::copied(path, table, self.catalog))
                .sum()
        };
        let of_root = self.item_bytes(ask.root) + copied(ask.root, &ask.outputs);
        let mut bytes = facts::found(ask, self.catalog) * of_root;
        for child in &ask.children {
            let each = facts::rows(child.table) / facts::rows(ask.root);
            bytes += each * (self.item_bytes(child.table) + copied(child.table, &child.outputs));
        }
        let each = if strong { 1.0 } else { 0.5 };
        (bytes / 4096.0).ceil().max(1.0) * each
    }

    fn read(&self, statement: &Statement, ask: &Ask<'_>) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few requests")]
        let requests = ask.requests as f64;
        let units = self.units(ask, statement.strong) * requests;
        self.prices
            .reads(units * Self::rate(statement) * MONTH)
            .unwrap_or_default()
    }

    /// Write units of one item: one for each KB.
    fn write_units(&self, table: &Table) -> f64 {
        (self.item_bytes(table) / 1024.0).ceil().max(1.0)
    }

    fn writes_of(&self, table: &TableName) -> f64 {
        self.writes.get(table).map_or(0.0, |writes| writes.all)
    }

    /// What copies cost: their storage, and that each update of a copied column writes all items that have it.
    fn copies(&self, ask: &Ask<'_>) -> f64 {
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
                .writes(rate * items * self.write_units(table) * MONTH)
                .unwrap_or_default();
        }
        cost
    }

    fn index(&self, structure: &Structure<'_>) -> f64 {
        let parts = structure.parts.iter().map(|part| {
            let writes = self.writes_of(&part.table.name) * self.write_units(part.table);
            let share = if structure.when.is_empty() { 1.0 } else { 0.1 };
            let bytes = facts::rows(part.table) * (self.item_bytes(part.table) + 100.0) * share;
            self.prices.writes(writes * MONTH).unwrap_or_default()
                + self.prices.storage(bytes).unwrap_or_default()
        });
        parts.sum()
    }

    fn problem(
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
                    cost: way.cost + if way.is_consistent { 0.0 } else { INCONSISTENT },
                    at_home: way.at_home,
                })
                .collect();
            if !choices.is_empty() {
                choices.push(Choice {
                    structure: nothing,
                    cost: UNSERVED,
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
    fn storage(&self, table: &Table) -> f64 {
        let bytes = facts::rows(table) * (self.item_bytes(table) + 100.0);
        self.prices.storage(bytes).unwrap_or_default()
    }
}

/// The item types that stand at home by a structure, and those that get a key of their own.
fn own_types<'c>(catalog: &'c Catalog) -> impl Iterator<Item = (&'c Table, structure::Part<'c>)> {
    let tables = catalog.tables.iter();
    let tables =
        tables.filter(|table| table.is_stored() && table.readable && !table.row_key().is_empty());
    tables.map(|table| (table, own_part(catalog, table)))
}
