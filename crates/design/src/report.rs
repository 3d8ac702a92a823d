//! What a design serves, how, and for how much.

use std::collections::BTreeMap;

use dynafold_format::{float, whole};
use dynafold_mapping::starter::StarterNames;
use dynafold_relational::catalog::{Catalog, Table};
use dynafold_sql::WriteKind;
use serde::Serialize;

use crate::ask::{Unserved, is_one_row};
use crate::choose::Solution;
use crate::pricing::{MONTH, Pricing, write_units};
use crate::structure::Structure;
use crate::workload::Statement;
use crate::written::Placed;
use crate::{Way, facts, own_types};

/// A design, statement by statement.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The reads, by name.
    pub reads: Vec<ReadReport>,
    /// The statements that write, by name.
    pub writes: Vec<WriteReport>,
    /// The indexes.
    pub indexes: Vec<IndexReport>,
    /// What it costs a month in US dollars, on demand, and how it comes about.
    pub sum: Sum,
    /// Fewer indexes, and what they would cost or leave unserved.
    pub alternatives: Vec<Alternative>,
    /// How much cheaper another design may be at most in US dollars a month; 0 where none is.
    pub gap_usd_month: f64,
    /// What a person has to decide.
    pub warnings: Vec<String>,
    /// Tables without a key, which are not in the mapping.
    pub left_out: Vec<String>,
}

/// A read.
#[derive(Debug, Clone, Serialize)]
pub struct ReadReport {
    /// The statement's name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Requests a second, as the workload says; `None` where it does not, and one is reckoned.
    pub rate: Option<f64>,
    /// How it is served.
    pub served: Option<ServedRead>,
    /// Why no Query serves it. Completes a sentence that begins with "it".
    pub why_not: Option<String>,
    /// What is usual instead.
    pub instead: Option<String>,
}

/// How a read is served.
#[derive(Debug, Clone, Serialize)]
pub struct ServedRead {
    /// `GetItem`, or `Query`.
    pub request: &'static str,
    /// The index; `None` for the table itself.
    pub index: Option<String>,
    /// The item types of the answer.
    pub items: Vec<String>,
    /// How many requests.
    pub requests: u64,
    /// About how many items it finds.
    pub found: f64,
    /// Read units of one answer.
    pub units: f64,
    /// US dollars a month.
    pub usd_month: f64,
    /// Whether it is strongly consistent, where the workload asks for that.
    pub consistent: Option<bool>,
    /// What is left to the application, and what was changed.
    pub notes: Vec<String>,
}

/// A statement that writes.
#[derive(Debug, Clone, Serialize)]
pub struct WriteReport {
    /// The statement's name.
    pub name: String,
    /// INSERT, UPDATE or DELETE.
    pub kind: &'static str,
    /// The item type.
    pub item: String,
    /// Requests a second.
    pub rate: Option<f64>,
    /// Write units of one, those of the indexes included.
    pub units: f64,
    /// US dollars a month.
    pub usd_month: f64,
}

/// An index.
#[derive(Debug, Clone, Serialize)]
pub struct IndexReport {
    /// Its name.
    pub name: String,
    /// The item types in it.
    pub items: Vec<String>,
    /// The reads that it serves.
    pub reads: Vec<String>,
}

/// US dollars a month.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Sum {
    /// Reads.
    pub reads: f64,
    /// Writes, those of the indexes included, and copies that are kept up to date.
    pub writes: f64,
    /// Storage of the table and its indexes.
    pub storage: f64,
    /// All of it. The stated price of an index is not in it: DynamoDB does not charge that.
    pub all: f64,
}

/// The best design with fewer indexes.
#[derive(Debug, Clone, Serialize)]
pub struct Alternative {
    /// How many.
    pub indexes: usize,
    /// What the search reckoned for it, the stated price of indexes included; `None` where it leaves reads unserved.
    pub usd_month: Option<f64>,
    /// Reads that it does not serve.
    pub not_served: u64,
    /// Reads that ask for consistency and do not get it.
    pub not_consistent: u64,
}

impl ReadReport {
    /// A line for those that are not served.
    #[must_use]
    pub fn not_served(&self) -> Option<String> {
        let why = self.why_not.as_ref()?;
        let instead = self.instead.as_deref().unwrap_or_default();
        Some(format!("{}: it {why}; instead: {instead}", self.name))
    }
}

/// What a report is made of.
pub(crate) struct Material<'m, 'w, 'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) names: &'m StarterNames,
    pub(crate) pricing: &'m Pricing<'m>,
    pub(crate) structures: &'m [Structure<'c>],
    pub(crate) slots: &'m BTreeMap<usize, usize>,
    pub(crate) placed: &'m [(Placed<'m, 'c>, &'w Statement, Way)],
    pub(crate) unserved: &'m [(&'w Statement, Unserved)],
    pub(crate) written: &'m [(&'w Statement, &'c Table, WriteKind)],
    pub(crate) solution: &'m Solution,
    pub(crate) alternatives: Vec<Alternative>,
}

pub(crate) fn report(material: &Material<'_, '_, '_>) -> Report {
    let mut sum = Sum::default();
    let mut reads: Vec<ReadReport> = Vec::new();
    let mut warnings = Vec::new();
    let pricing = material.pricing;
    for one in material.placed {
        sum.reads += pricing.read(one.1, one.0.ask);
        sum.writes += pricing.copies(one.0.ask);
        reads.push(read_report(material, one, &mut warnings));
    }
    for (statement, why) in material.unserved {
        reads.push(ReadReport {
            name: statement.name.clone(),
            about: statement.about.clone(),
            rate: statement.rate,
            served: None,
            why_not: Some(why.why.clone()),
            instead: Some(why.instead.to_owned()),
        });
    }
    reads.sort_by(|a, b| a.name.cmp(&b.name));
    let writes: Vec<WriteReport> = material
        .written
        .iter()
        .map(|one| write_report(material, one))
        .collect();
    sum.writes += writes.iter().map(|write| write.usd_month).sum::<f64>();
    let unrated = material
        .placed
        .iter()
        .filter(|(_, statement, _)| statement.rate.is_none())
        .count();
    if unrated > 0 {
        warnings.push(format!(
            "{unrated} of {} reads have no rate: one request a second is reckoned for each",
            material.placed.len()
        ));
    }
    if material.written.is_empty() {
        warnings.push("no statement writes: indexes and copies are reckoned without what keeping them up to date costs".to_owned());
    }
    for (table, _) in own_types(material.catalog) {
        sum.storage += pricing.storage(table);
    }
    for (structure, _) in material.slots.iter().filter(|(_, slot)| **slot > 0) {
        let parts = material
            .structures
            .get(*structure)
            .into_iter()
            .flat_map(|one| &one.parts);
        sum.storage += parts.map(|part| pricing.storage(part.table)).sum::<f64>();
    }
    sum.all = sum.reads + sum.writes + sum.storage;
    let left_out = material
        .catalog
        .tables
        .iter()
        .filter(|table| table.is_stored() && table.row_key().is_empty());
    Report {
        indexes: indexes(material),
        reads,
        writes,
        sum,
        alternatives: material.alternatives.clone(),
        gap_usd_month: material.solution.gap,
        warnings,
        left_out: left_out
            .map(|table| material.catalog.display_name(&table.name))
            .collect(),
    }
}

/// A read that is served.
fn read_report<'w>(
    material: &Material<'_, 'w, '_>,
    (placed, statement, way): &(Placed<'_, '_>, &'w Statement, Way),
    warnings: &mut Vec<String>,
) -> ReadReport {
    let pricing = material.pricing;
    let ask = placed.ask;
    let slot = material.slots.get(&placed.structure).copied().unwrap_or(0);
    let usd = pricing.read(statement, ask);
    let consistent = statement.strong.then_some(slot == 0 && way.at_home);
    if consistent == Some(false) {
        warnings.push(format!("{}: an index is not strongly consistent; write in a transaction what must be seen at once, or read the items by their key", statement.name));
    }
    let named = material
        .structures
        .get(placed.structure)
        .and_then(|one| one.named.as_ref());
    if named.is_some() {
        warnings.push(format!("{}: all items of the answer stand under one partition key value, which takes 1,000 writes and 3,000 read units a second", statement.name));
    }
    let is_open = ask.limit.is_none() && !is_one_row(ask) && ask.children.is_empty();
    let found = facts::found(ask, material.catalog);
    if is_open && found > 1_000.0 {
        warnings.push(format!(
            "{}: the list has no LIMIT, and may have about {found:.0} items",
            statement.name
        ));
    }
    let types = std::iter::once(ask.root).chain(ask.children.iter().map(|child| child.table));
    ReadReport {
        name: statement.name.clone(),
        about: statement.about.clone(),
        rate: statement.rate,
        served: Some(ServedRead {
            request: if slot == 0 && has_whole_key(material, placed) {
                "GetItem"
            } else {
                "Query"
            },
            index: (slot > 0).then(|| format!("GSI{slot}")),
            items: types
                .map(|table| material.names.item_type(&table.name).to_owned())
                .collect(),
            requests: ask.requests,
            found,
            units: pricing.units(ask, statement.strong),
            usd_month: usd,
            consistent,
            notes: ask.notes.clone(),
        }),
        why_not: None,
        instead: None,
    }
}

/// A statement that writes.
fn write_report(
    material: &Material<'_, '_, '_>,
    (statement, table, kind): &(&Statement, &Table, WriteKind),
) -> WriteReport {
    let in_indexes = material.slots.iter().filter(|(structure, slot)| {
        let structure = material.structures.get(**structure);
        **slot > 0
            && structure
                .is_some_and(|one| one.parts.iter().any(|part| part.table.name == table.name))
    });
    let copies = float(whole(1 + in_indexes.count()));
    let pricing = material.pricing;
    let units = write_units(table) * copies;
    let usd = pricing
        .prices
        .writes(units * Pricing::rate(statement) * MONTH)
        .unwrap_or_default();
    WriteReport {
        name: statement.name.clone(),
        kind: match kind {
            WriteKind::Insert => "INSERT",
            WriteKind::Update => "UPDATE",
            WriteKind::Delete => "DELETE",
        },
        item: material.names.item_type(&table.name).to_owned(),
        rate: statement.rate,
        units,
        usd_month: usd,
    }
}

/// Whether a read gives the whole key of one item.
fn has_whole_key(material: &Material<'_, '_, '_>, placed: &Placed<'_, '_>) -> bool {
    let part = material
        .structures
        .get(placed.structure)
        .and_then(|one| one.parts.get(placed.part));
    let is_given =
        |path: &crate::path::Path| placed.ask.equal.iter().any(|equal| equal.path == *path);
    placed.ask.children.is_empty()
        && part.is_some_and(|part| {
            part.partition
                .iter()
                .chain(&part.sort)
                .all(|key| is_given(&key.path))
        })
}

fn indexes(material: &Material<'_, '_, '_>) -> Vec<IndexReport> {
    let most = material.slots.values().max().copied().unwrap_or(0);
    let index = |slot: usize| {
        let here = material
            .slots
            .iter()
            .filter(|(_, at)| **at == slot)
            .map(|(structure, _)| *structure);
        let here: Vec<usize> = here.collect();
        let parts = here
            .iter()
            .filter_map(|at| material.structures.get(*at))
            .flat_map(|one| &one.parts);
        let mut items: Vec<String> = parts
            .map(|part| material.names.item_type(&part.table.name).to_owned())
            .collect();
        items.sort();
        items.dedup();
        let reads = material
            .placed
            .iter()
            .filter(|(placed, ..)| here.contains(&placed.structure));
        IndexReport {
            name: format!("GSI{slot}"),
            items,
            reads: reads.map(|(placed, ..)| placed.name.to_owned()).collect(),
        }
    };
    (1..=most).map(index).collect()
}
