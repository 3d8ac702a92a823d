//! From a schema and its SQL to a proposed table.
//!
//! [`workload::read`] reads statements with their rates. [`design`] understands each read (`ask`), lists the ways to
//! store items that serve it (`structure`), prices them with the catalog's estimates (`facts`) and takes the cheapest
//! choice of all (`choose`). The answer is a mapping (`written`), which `check`, `verify` and `verify --patterns` hold against
//! the real rows, and a [`Report`] with a line for each statement. Pure, and the same for the same input, whatever the
//! order of the statements.

mod ask;
mod choose;
mod facts;
mod guess;
mod path;
mod pricing;
mod report;
mod structure;
pub mod workload;
mod written;

use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::price::Prices;
use dynafold_mapping::starter::StarterNames;
use dynafold_relational::catalog::{Catalog, DataType, Table, TableName};
use dynafold_sql::{WriteKind, table, write_statement};

use ask::{Ask, Unserved, ask};
use choose::{Problem, Solution, solve};
pub use guess::guess;
use pricing::{INCONSISTENT, Pricing, Writes};
pub use report::{Alternative, IndexReport, ReadReport, Report, ServedRead, Sum, WriteReport};
use structure::own_part;
use structure::{KeyPart, Structure, serves, structures};
use workload::Statement;
use written::{Placed, Writing};

/// What a design may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Most global indexes: 20 at DynamoDB.
    pub indexes: usize,
    /// Whether delimiters in values are escaped in keys.
    pub escapes: bool,
    /// Columns of whole numbers that hold negative ones.
    pub signed: BTreeSet<(TableName, String)>,
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
    /// Columns of whole numbers that are padded with zeros in a key: a negative number cannot be.
    pub padded: Vec<(TableName, String)>,
}

/// A read of the workload, understood.
struct Read<'w, 'c> {
    statement: &'w Statement,
    asks: Vec<Ask<'c>>,
}

/// Proposes a table.
#[must_use]
pub fn design(
    catalog: &Catalog,
    statements: &[Statement],
    prices: &Prices,
    limits: &Limits,
) -> Design {
    let catalog = &with_signed(catalog, &limits.signed);
    let mut statements: Vec<&Statement> = statements.iter().collect();
    statements.sort_by(|a, b| a.name.cmp(&b.name));
    let Understood {
        reads,
        mut unserved,
        writes,
        written,
    } = understood(catalog, &statements);
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
    let is_used = |structure: &usize| placed.iter().any(|one| one.0.structure == *structure);
    let mut slots = solution.slots.clone();
    slots.retain(|structure, _| is_used(structure));
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
        alternatives: alternatives(&problem, &ways, &solution),
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
        index_prefix: index_prefix(catalog),
        writes: &writes,
    };
    Design {
        padded: padded(catalog, &structures, &slots),
        mapping: writing.mapping(),
        report,
        before_delimiters: before_delimiters(catalog, &structures, &slots),
    }
}

/// The catalog, in which whole numbers that may be negative are decimals: their order is not that of padded digits.
fn with_signed(catalog: &Catalog, signed: &BTreeSet<(TableName, String)>) -> Catalog {
    let mut catalog = catalog.clone();
    for table in &mut catalog.tables {
        for column in &mut table.columns {
            if signed.contains(&(table.name.clone(), column.name.clone())) {
                column.data_type = DataType::Decimal {
                    precision: None,
                    scale: None,
                };
            }
        }
    }
    catalog
}

/// What a workload asks and writes.
struct Understood<'w, 'c> {
    reads: Vec<Read<'w, 'c>>,
    unserved: Vec<(&'w Statement, Unserved)>,
    writes: BTreeMap<TableName, Writes>,
    written: Vec<(&'w Statement, &'c Table, WriteKind)>,
}

fn understood<'w, 'c>(catalog: &'c Catalog, statements: &[&'w Statement]) -> Understood<'w, 'c> {
    let mut reads: Vec<Read<'w, 'c>> = Vec::new();
    let mut unserved: Vec<(&Statement, Unserved)> = Vec::new();
    let mut writes: BTreeMap<TableName, Writes> = BTreeMap::new();
    let mut written: Vec<(&Statement, &Table, WriteKind)> = Vec::new();
    for &statement in statements {
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
    Understood {
        reads,
        unserved,
        writes,
        written,
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
    /// Requests a second.
    rate: f64,
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
                    rate: Pricing::rate(read.statement),
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

/// What keeps the names of the keys of indexes apart from columns.
fn index_prefix(catalog: &Catalog) -> String {
    let mut columns = catalog.tables.iter().flat_map(|table| &table.columns);
    let is_key = |name: &str| {
        let name = name.trim_start_matches('_');
        name.starts_with("GSI") && (name.ends_with("PK") || name.ends_with("SK"))
    };
    if columns.any(|column| is_key(&column.name)) {
        "__".to_owned()
    } else {
        String::new()
    }
}

/// Columns of whole numbers in sort keys.
fn padded(
    catalog: &Catalog,
    structures: &[Structure<'_>],
    slots: &BTreeMap<usize, usize>,
) -> Vec<(TableName, String)> {
    let used = slots.keys().filter_map(|at| structures.get(*at));
    let chosen = used.flat_map(|structure| structure.parts.iter().cloned());
    let own = own_types(catalog).map(|(_, part)| part);
    let mut found: BTreeSet<(TableName, String)> = BTreeSet::new();
    for part in chosen.chain(own) {
        for key in &part.sort {
            if let Some((table, column)) = key.path.find(part.table, catalog)
                && matches!(
                    column.data_type,
                    DataType::Integer {
                        unsigned: false,
                        ..
                    }
                )
            {
                found.insert((table.name.clone(), column.name.clone()));
            }
        }
    }
    found.into_iter().collect()
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

/// What fewer indexes than were chosen would cost, or leave unserved.
fn alternatives(problem: &Problem, ways: &[Vec<Way>], chosen: &Solution) -> Vec<Alternative> {
    let used = chosen.slots.values().max().copied().unwrap_or(0);
    let alternative = |indexes: usize| {
        let solution = solve(&Problem {
            most_indexes: indexes,
            ..problem.clone()
        });
        let mut usd_month = solution.cost;
        let (mut not_served, mut not_consistent) = (0, 0);
        for (ways, choice) in ways.iter().zip(&solution.reads) {
            match choice.and_then(|choice| ways.get(choice)) {
                Some(way) if !way.is_consistent => {
                    not_consistent += 1;
                    usd_month -= INCONSISTENT * (1.0 + way.rate);
                }
                None if !ways.is_empty() => not_served += 1,
                _ => {}
            }
        }
        Alternative {
            indexes,
            usd_month: (not_served == 0).then_some(usd_month),
            not_served,
            not_consistent,
        }
    };
    (0..used).rev().take(3).map(alternative).collect()
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

/// The item types that stand at home by a structure, and those that get a key of their own.
fn own_types(catalog: &Catalog) -> impl Iterator<Item = (&Table, structure::Part<'_>)> {
    let tables = catalog.tables.iter();
    let tables =
        tables.filter(|table| table.is_stored() && table.readable && !table.row_key().is_empty());
    tables.map(|table| (table, own_part(catalog, table)))
}
