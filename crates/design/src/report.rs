//! What a design serves, how, and for how much.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dynafold_format::{count, counted, figure, float, text_if, usd};
use dynafold_mapping::SizeProof;
use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_sql::WriteKind;
use serde::{Deserialize, Serialize};

use crate::UnservedRead;
use crate::ask::Ask;
use crate::choose::{INCONSISTENT, Solution};
use crate::compare::{PricedMapping, times, without_scans};
use crate::facts::{rows, significant};
use crate::names::MappingNames;
use crate::pins::Expiries;
use crate::pricing::Pricing;
use crate::seconds::SecondRequest;
use crate::splits::Splits;
use crate::structure::{Part, Structure};
use crate::workload::Statement;
use crate::written::{Placed, Projected};

/// A design, statement by statement.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// The reads, by name.
    pub reads: Vec<ReadReport>,
    /// The statements that write, by name.
    pub writes: Vec<WriteReport>,
    /// The indexes.
    pub indexes: Vec<IndexReport>,
    /// What it costs a month in US dollars, on demand, and how it comes about.
    pub sum: MonthlyCost,
    /// Fewer indexes, and what they would cost or leave unserved.
    pub alternatives: Vec<Alternative>,
    /// How much cheaper another of the choices that the search considered may be at most by its estimates, stated prices included, in
    /// US dollars a month; 0 where that search was not cut short. It bounds nothing else: no other key, and no other split of a row.
    pub gap_usd_month: f64,
    /// What a person has to decide.
    pub warnings: Vec<Warning>,
    /// Guessed reads that were left out because nothing would be found, each with the reason.
    pub not_guessed: Vec<String>,
    /// Tables and views that are not in the mapping, each with the reason.
    pub left_out: Vec<String>,
    /// The error that `check` finds in the mapping, none of which is known: then nothing is priced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What a person has to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    kind: String,
    /// The statements, tables or columns that are concerned; none where it is of the whole workload.
    concerned: Vec<String>,
    why: String,
}

/// The kind of warnings of values that hold the delimiter of keys.
pub(crate) const DELIMITER: &str = "delimiter in values";

/// A read.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServedRead {
    /// `GetItem`, or `Query`.
    pub request: Cow<'static, str>,
    /// The index; `None` for the table itself.
    pub index: Option<String>,
    /// The item types of the answer.
    pub items: Vec<String>,
    /// How many requests.
    pub requests: u64,
    /// Those of them that then read items by the keys that the index has given, or parents by the references in the answer.
    pub fetches: u64,
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteReport {
    /// The statement's name.
    pub name: String,
    /// INSERT, UPDATE or DELETE.
    pub kind: Cow<'static, str>,
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IndexReport {
    /// Its name.
    pub name: String,
    /// The item types in it.
    pub items: Vec<String>,
    /// The reads that it serves.
    pub reads: Vec<String>,
}

/// US dollars a month.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MonthlyCost {
    /// Reads.
    pub reads: f64,
    /// Writes, those of the indexes included, and copies that are kept up to date.
    pub writes: f64,
    /// Storage of the table and its indexes.
    pub storage: f64,
    /// All of it. The stated price of an index is not in it: DynamoDB does not charge that.
    pub all: f64,
    /// The writes whose rows no key finds: their Scans are not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_scans_of: Vec<String>,
}

impl MonthlyCost {
    /// `12.00 USD a month on demand: reads 1.00, writes 10.00, storage 1.00`.
    pub fn text(&self) -> String {
        let [reads, writes, storage] = [self.reads, self.writes, self.storage].map(usd);
        let all = usd(self.all);
        let scans = without_scans(&self.without_scans_of);
        format!(
            "{all} USD a month on demand{scans}: reads {reads}, writes {writes}, storage {storage}"
        )
    }
}

/// The best design with fewer indexes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Alternative {
    /// How many.
    pub indexes: usize,
    /// What it would cost by the search, the difference of stated prices included; `None` where it leaves reads unserved.
    pub usd_month: Option<f64>,
    /// The names of the reads that it does not serve.
    pub unserved: Vec<String>,
    /// Reads that ask for consistency and do not get it.
    pub not_consistent: u64,
    /// The writes whose rows no key would find: their Scans are in its cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with_scans_of: Vec<String>,
}

impl Warning {
    pub(crate) fn new(kind: &str, concerned: Vec<String>, why: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            concerned,
            why: why.to_owned(),
        }
    }

    /// Of columns that stand before a delimiter in keys, where nobody has looked into their values.
    pub fn of_unseen_delimiters(columns: &[(TableName, String)]) -> Self {
        let columns = columns.iter();
        let columns = columns.map(|(table, column)| format!("{}.{column}", table.name));
        Self::new(
            DELIMITER,
            columns.collect(),
            "in keys, `#` follows these values: if a value may contain `#`, set `key_escape: percent` (with --source, this is looked up)",
        )
    }

    /// Of a schema of SQLite alone, where nobody has looked at the values.
    pub fn of_unseen_values() -> Self {
        Self::new(
            "values not looked at",
            Vec::new(),
            "SQLite stores values of any type in a column: the design assumes that all values are of the declared types, and that the times of a column have one form (with --source, this is looked up)",
        )
    }

    /// Of columns in keys of whose rows only so many were looked at; none where there are no such columns.
    pub fn of_further_rows(columns: &[&(TableName, String)], rows: u32) -> Option<Self> {
        let named: Vec<String> = columns
            .iter()
            .map(|(table, column)| format!("{}.{column}", table.name))
            .collect();
        (!named.is_empty()).then(|| {
            Self::new(
                "rows not looked at",
                named,
                &format!(
                    "only the first {} rows of the table were searched for `#` in texts and for negative numbers: if a later row has `#`, set `key_escape: percent`; if one has a negative number, replace `pad` by `ordered`",
                    count(rows)
                ),
            )
        })
    }

    /// Says more at its end.
    pub(crate) fn add(&mut self, why: &str) {
        self.why.push_str(why);
    }

    /// Whether it is of values that hold the delimiter of keys, or may.
    pub fn is_about_delimiters(&self) -> bool {
        self.kind == DELIMITER
    }

    /// As far as it concerns one statement.
    fn for_statement(mut self, statement: &str) -> Option<Self> {
        let is_named = |one: &String| {
            one.match_indices(statement).any(|(at, _)| {
                let before = one.get(..at).and_then(|before| before.chars().next_back());
                let behind = one.get(at + statement.len()..);
                let behind = behind.and_then(|behind| behind.chars().next());
                let is_part = |sign: char| sign.is_alphanumeric() || "_.-".contains(sign);
                !before.is_some_and(is_part) && !behind.is_some_and(is_part)
            })
        };
        self.concerned.retain(is_named);
        (!self.concerned.is_empty()).then_some(self)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.concerned.is_empty() {
            return write!(f, "{}: {}", self.kind, self.why);
        }
        let mut concerned = self.concerned.iter();
        let separator = if concerned.any(|one| one.contains(", ")) {
            "; "
        } else {
            ", "
        };
        let concerned = self.concerned.join(separator);
        write!(f, "{}: {concerned}: {}", self.kind, self.why)
    }
}

impl Report {
    /// What it says of one statement.
    pub fn for_statement(mut self, statement: &str) -> Self {
        self.reads.retain(|read| read.name == statement);
        self.writes.retain(|write| write.name == statement);
        let is_its = |read: &String| *read == statement;
        self.indexes.retain(|index| index.reads.iter().any(is_its));
        let served = self.reads.iter().filter_map(|read| read.served.as_ref());
        let items: Vec<&String> = served.flat_map(|served| &served.items).collect();
        for index in &mut self.indexes {
            index.reads.retain(is_its);
            index.items.retain(|item| items.contains(&item));
        }
        let warnings = self.warnings.into_iter();
        self.warnings = warnings
            .filter_map(|warning| warning.for_statement(statement))
            .collect();
        let begins = format!("{statement}: ");
        self.not_guessed.retain(|read| read.starts_with(&begins));
        self.alternatives.clear();
        self.left_out.clear();
        let served = self.reads.iter().filter_map(|read| read.served.as_ref());
        let reads: f64 = served.map(|served| served.usd_month).sum();
        let writes: f64 = self.writes.iter().map(|write| write.usd_month).sum();
        let mut without_scans_of = self.sum.without_scans_of;
        without_scans_of.retain(|write| write.split(' ').next() == Some(statement));
        self.sum = MonthlyCost {
            reads,
            writes,
            storage: 0.0,
            all: reads + writes,
            without_scans_of,
        };
        self
    }

    /// Whether each read is served, by a mapping that `check` takes.
    pub fn serves_all(&self) -> bool {
        self.fault.is_none() && self.reads.iter().all(|read| read.served.is_some())
    }

    /// A line for a mapping with an error.
    pub fn fault_text(&self) -> Option<String> {
        let fault = self.fault.as_ref()?;
        Some(format!(
            "`check` refuses the proposed mapping, so there are no prices: {fault}"
        ))
    }

    /// How much better another design may be.
    pub fn search_gap_text(&self) -> String {
        if self.gap_usd_month >= INCONSISTENT {
            "the search was cut short: another design that it considers may serve more reads, or more reads with strong consistency".to_owned()
        } else if self.gap_usd_month > 0.0 {
            format!(
                "the search was cut short: by its estimates, no other design that it considers is more than {} USD a month cheaper. A design that it does not consider may be: compare your own mapping with `--compare`",
                usd(self.gap_usd_month)
            )
        } else {
            "the search was complete: by its estimates, no other design that it considers is cheaper. The estimates are rough: they ignore what item types in a shared index cost each other, and only a few complete mappings were priced. Compare your own mapping with `--compare`".to_owned()
        }
    }

    /// Whether it serves no less than another one and saves so much a month.
    pub(crate) fn is_better(&self, other: &Self, saved: f64) -> bool {
        let served = |report: &Self| {
            let all = report.reads.iter().filter_map(|read| read.served.as_ref());
            let consistent = all.clone().filter(|one| one.consistent != Some(false));
            [all.count(), consistent.count()]
        };
        let (own, others) = (served(self), served(other));
        let mut pairs = own.iter().zip(&others);
        pairs.all(|(own, others)| own >= others) && self.sum.all + saved < other.sum.all
    }
}

impl Alternative {
    /// Why it was not chosen.
    pub fn rejection_text(&self) -> String {
        let mut said = match self.usd_month {
            Some(cost) => format!("about {} USD a month, as the search estimates", usd(cost)),
            None => format!(
                "the search found no way to serve {}",
                counted(self.unserved.len(), "read")
            ),
        };
        if !self.unserved.is_empty() {
            said.push_str(&format!(" ({})", self.unserved.join(", ")));
        }
        if self.not_consistent > 0 {
            said.push_str(&format!(
                ", {} not strongly consistent",
                counted(self.not_consistent, "read")
            ));
        }
        if self.usd_month.is_some() {
            let scans = self.with_scans_of.join(", ");
            let scans = text_if(
                !scans.is_empty(),
                format!(" The Scans of {scans} are included, unlike in a total."),
            );
            said.push_str(&format!(
                ". Each dropped index counts as 1 USD saved, which AWS does not charge.{scans} `--max-indexes {}` searches again and prices that mapping",
                self.indexes
            ));
        }
        said
    }
}

impl ServedRead {
    /// The requests, and where they are asked.
    pub fn request_text(&self) -> String {
        let place = self.index.as_deref().unwrap_or("the table");
        let first = times(self.requests.saturating_sub(self.fetches));
        let asked = format!("{first}{} on {place}", self.request);
        match self.fetches {
            0 => asked,
            fetches => format!("{asked}, {}BatchGetItem", times(fetches)),
        }
    }
}

impl ReadReport {
    /// What a table of those that are served says: name, request, item types, rate, items, read units, price.
    pub fn table_row(&self) -> Option<[String; 7]> {
        let served = self.served.as_ref()?;
        Some([
            self.name.clone(),
            served.request_text(),
            served.items.join(", "),
            rate(self.rate),
            figure(served.found),
            figure(served.units),
            usd(served.usd_month),
        ])
    }

    /// A line for those that are not served.
    pub fn not_served(&self) -> Option<String> {
        let why = self.why_not.as_ref()?;
        let instead = self.instead.as_deref().unwrap_or_default();
        Some(not_served(&self.name, why, instead))
    }
}

impl WriteReport {
    /// What a table says: name, statement, item type, rate, write units, price.
    pub fn table_row(&self) -> [String; 6] {
        [
            self.name.clone(),
            self.kind.to_string(),
            self.item.clone(),
            rate(self.rate),
            figure(self.units),
            usd(self.usd_month),
        ]
    }
}

fn rate(rate: Option<f64>) -> String {
    match rate {
        None => "not given".to_owned(),
        Some(rate) if rate < 0.1 => format!("{}/s", significant(rate, 2)),
        Some(rate) => format!("{}/s", figure(rate)),
    }
}

pub(crate) fn not_served(name: &str, why: &str, instead: &str) -> String {
    format!("{name}: it {why}; instead: {instead}")
}

/// What a report is made of.
pub(crate) struct Material<'m, 'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) names: &'m MappingNames,
    /// Which items expire, and by which column.
    pub(crate) expiries: &'m Expiries,
    pub(crate) splits: &'m Splits,
    pub(crate) pricing: &'m Pricing<'m>,
    pub(crate) structures: &'m [Structure<'c>],
    pub(crate) slots: &'m BTreeMap<usize, usize>,
    pub(crate) placed: &'m [Placed<'m, 'c>],
    /// What finds the rows of writes.
    pub(crate) found: &'m [Placed<'m, 'c>],
    /// What is placed besides the reads of the workload.
    pub(crate) seconds: &'m [&'m SecondRequest],
    pub(crate) projected: &'m Projected,
    /// What the mapping costs.
    pub(crate) priced: &'m PricedMapping,
    /// How large its items can be.
    pub(crate) sizes: &'m [SizeProof],
    pub(crate) unserved: &'m [UnservedRead<'m>],
    pub(crate) written: &'m [(&'m Statement, &'c Table, WriteKind)],
    pub(crate) solution: &'m Solution,
    pub(crate) alternatives: Vec<Alternative>,
    /// The columns that stand before a delimiter and hold it.
    pub(crate) escaped: Vec<(TableName, String)>,
    pub(crate) not_guessed: Vec<String>,
    /// References that the schema does not declare.
    pub(crate) by_join: Vec<String>,
}

impl<'m> Material<'m, '_> {
    /// The second request that a statement is.
    pub(crate) fn second(&self, statement: &Statement) -> Option<&'m SecondRequest> {
        let mut seconds = self.seconds.iter().copied();
        seconds.find(|second| second.statement.name == statement.name)
    }
}

pub(crate) fn report(
    material: &Material<'_, '_>,
    warnings: Vec<Warning>,
    fault: Option<String>,
) -> Report {
    let priced = material.priced;
    let sum = MonthlyCost {
        reads: priced.usd_reads,
        writes: priced.usd_writes,
        storage: priced.usd_storage,
        all: priced.usd_month,
        without_scans_of: priced.scans(),
    };
    // Second requests are told with the first ones.
    let placed = material.placed.iter();
    let served = placed.filter(|one| material.second(one.statement).is_none());
    let mut reads: Vec<ReadReport> = served.map(|one| read_report(material, one)).collect();
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
    let written = material.written.iter();
    let writes = written.map(|one| write_report(material, one)).collect();
    let mut alternatives = material.alternatives.clone();
    for other in &mut alternatives {
        other.usd_month = other.usd_month.map(|more| sum.all + more);
    }
    let tables = material.catalog.tables.iter();
    let left_out = tables.filter_map(|table| {
        let why = if !table.is_stored() {
            format!("it is a {}", table.kind.word())
        } else if !table.readable {
            "this user may not read it".to_owned()
        } else if table.row_key().is_empty() {
            "it has no key that identifies its rows".to_owned()
        } else {
            return None;
        };
        let name = material.catalog.display_name(&table.name);
        Some(format!("{name}: {why}"))
    });
    Report {
        indexes: indexes(material),
        reads,
        writes,
        sum,
        alternatives,
        gap_usd_month: material.solution.gap,
        warnings,
        not_guessed: material.not_guessed.clone(),
        left_out: left_out.collect(),
        fault,
    }
}

/// A read that is served.
fn read_report(material: &Material<'_, '_>, placed: &Placed<'_, '_>) -> ReadReport {
    let pricing = material.pricing;
    let Placed { statement, ask, .. } = *placed;
    let slot = material.slots.get(&placed.structure).copied().unwrap_or(0);
    let structure = material.structures.get(placed.structure);
    let part = structure.and_then(|one| one.parts.get(placed.part));
    let mut priced = material.priced.reads.iter();
    let priced = priced.find(|read| read.name == statement.name);
    let priced = priced.and_then(|read| read.served.as_ref());
    let consistent = statement
        .strong
        .then_some(slot == 0 && placed.is_consistent);
    let mut found = pricing.facts.found(ask) * float(ask.items_of_row());
    for child in &ask.children {
        found += rows(child.table) / rows(ask.root);
    }
    ReadReport {
        name: statement.name.clone(),
        about: statement.about.clone(),
        rate: statement.rate,
        served: Some(ServedRead {
            request: Cow::Borrowed(
                if slot == 0 && part.is_some_and(|part| gives_key(ask, part)) {
                    "GetItem"
                } else {
                    "Query"
                },
            ),
            index: (slot > 0).then(|| format!("GSI{slot}")),
            items: (ask.tables())
                .map(|table| material.names.item_type(&table.name).to_owned())
                .collect(),
            requests: priced.map_or(ask.requests, |priced| priced.requests),
            fetches: priced.map_or(0, |priced| priced.fetches),
            found,
            units: priced.map_or(0.0, |priced| priced.units),
            usd_month: priced.map_or(0.0, |priced| priced.usd_month),
            consistent,
            notes: ask.notes.iter().map(ToString::to_string).collect(),
        }),
        why_not: None,
        instead: None,
    }
}

/// A statement that writes.
fn write_report(
    material: &Material<'_, '_>,
    (statement, table, kind): &(&Statement, &Table, WriteKind),
) -> WriteReport {
    let mut priced = material.priced.writes.iter();
    let priced = priced.find(|write| write.name == statement.name);
    WriteReport {
        name: statement.name.clone(),
        kind: Cow::Borrowed(match kind {
            WriteKind::Insert => "INSERT",
            WriteKind::Update => "UPDATE",
            WriteKind::Delete => "DELETE",
        }),
        item: material.names.item_type(&table.name).to_owned(),
        rate: statement.rate,
        units: priced.map_or(0.0, |write| write.units),
        usd_month: priced.map_or(0.0, |write| write.usd_month),
    }
}

/// Whether a read gives the whole key of one item.
pub(crate) fn gives_key(ask: &Ask<'_>, part: &Part<'_>) -> bool {
    ask.children.is_empty()
        && ask.filters.is_empty()
        && ask.required.is_empty()
        && part.keys().all(|key| ask.has_equal(&key.path))
}

fn indexes(material: &Material<'_, '_>) -> Vec<IndexReport> {
    let most = material.slots.values().max().copied().unwrap_or(0);
    let index = |slot: usize| {
        let is_here = |structure: usize| material.slots.get(&structure) == Some(&slot);
        let structures = material.structures.iter().enumerate();
        let here = structures.filter(|(at, _)| is_here(*at));
        let parts = here.flat_map(|(_, structure)| &structure.parts);
        let items = parts.map(|part| material.names.item_type(&part.table.name).to_owned());
        let reads = material.placed.iter().chain(material.found);
        let reads = reads.filter(|placed| is_here(placed.structure));
        IndexReport {
            name: format!("GSI{slot}"),
            items: items.collect::<BTreeSet<_>>().into_iter().collect(),
            reads: reads.map(|placed| placed.name().to_owned()).collect(),
        }
    };
    (1..=most).map(index).collect()
}
