//! From a schema and its SQL to a proposed table.
//!
//! [`workload::read`] reads statements with their rates. [`design`] understands each read (`ask`), lists the ways to
//! store items that serve it (`structure`), prices them with the catalog's estimates (`facts`) and takes the cheapest
//! choice of all (`choose`). The answer is a mapping (`written`), which `check`, `verify` and `verify --patterns` hold against
//! the real rows, and a [`Report`] with a line for each statement. Pure, and the same for the same input, whatever the
//! order of the statements.

mod ask;
mod choose;
mod compare;
mod counted;
mod edit;
mod existing;
mod facts;
mod figures;
mod guess;
mod names;
mod observed;
mod owner;
mod path;
mod pins;
mod pricing;
mod report;
mod seconds;
mod slots;
mod splits;
mod structure;
mod traps;
mod update;
pub mod workload;
mod writes;
mod written;

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::MAX_GLOBAL_INDEXES;
use dynafold_dynamodb::price::{PARTITION_WRITES, Prices};
use dynafold_format::{count, float, has_word, joined, rounded, text_if, whole};
use dynafold_mapping::diagnostic::{Diagnostic, Severity};
use dynafold_mapping::model::Model;
use dynafold_mapping::scalar::{quoted, scalar};
use dynafold_mapping::{Described, Raw, SizeProof, resolve};
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, ForeignKey, Table, TableKind, TableName, Trigger,
};
use dynafold_relational::scan::{Join, ScanColumn};
use dynafold_sql::{
    Constant, WriteKind, WriteStatement, identifier, table, table_reference, unread_write,
    with_large_stack, write_statement,
};

use ask::{Ask, Unserved, When, ask};
use ask::{by_filter, note_ties, unkept_figures};
use choose::{INCONSISTENT, Placement, Problem, Solution, UNSERVED, improved, solve};
pub use compare::{NotPriced, PricedMapping, PricedRead, PricedRequest, price, without_scans};
pub use counted::{CountedWorkload, Counts, counted};
use facts::Facts;
use figures::Figures;
pub use guess::guess;
use names::{MappingNames, table_name};
pub use observed::{ColumnSample, Observed};
use path::Path;
pub use pins::{Expiries, ExpiryTime, Pins, RefusedExpiry, RefusedPin, check_expiries, check_pins};
use pricing::Pricing;
pub use report::{
    Alternative, IndexReport, MonthlyCost, ReadReport, Report, ServedRead, Warning, WriteReport,
};
pub use seconds::second_requests;
use seconds::{Referring, SecondRequest};
use splits::{Apart, Large};
use structure::{KeyPart, Part, Structure, add_new, own_part, serves, structures, united};
use traps::{CopyPlace, LargeColumns, Otherwise, copied_paths};
pub use update::{Mapping, Update, UpdateError, UpdatedRead, update};
use workload::Statement;
use writes::{SaidValues, Values, Write, Writes};
use written::{IndexNames, Placed, Writing};

/// What a design may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Most global indexes: 20 at DynamoDB.
    pub indexes: usize,
    /// Columns of text whose values hold the delimiter where it stands behind them in a key: then it is escaped in values.
    pub delimited: BTreeSet<(TableName, String)>,
    /// Columns of whole numbers that hold negative ones.
    pub signed: BTreeSet<(TableName, String)>,
    /// What was counted in rows.
    pub observed: Observed,
    /// Which items stand beside which parent.
    pub pins: Pins,
    /// Which items expire, and by which column.
    pub expiries: Expiries,
}

impl Default for Limits {
    /// Those of DynamoDB, for rows of which nothing is known.
    fn default() -> Self {
        Self {
            indexes: usize::from(MAX_GLOBAL_INDEXES),
            delimited: BTreeSet::new(),
            signed: BTreeSet::new(),
            observed: Observed::default(),
            pins: Pins::new(),
            expiries: Expiries::new(),
        }
    }
}

impl Limits {
    /// Whether delimiters in values are escaped.
    pub fn escapes(&self) -> bool {
        !self.delimited.is_empty()
    }
}

/// A proposed table.
#[derive(Debug, Clone)]
pub struct Design {
    /// The mapping, as YAML.
    pub mapping: String,
    /// What it serves, why, and for how much.
    pub report: Report,
    /// Columns of text that stand before a delimiter in a key, but for the only text of a partition key: if one of their values holds it,
    /// keys must be escaped.
    pub before_delimiters: Vec<(TableName, String)>,
    /// Where delimiters are escaped, all columns of text in keys.
    pub escaped: Vec<(TableName, String)>,
    /// Columns of whole numbers that are padded with zeros in a key: a negative number cannot be.
    pub padded: Vec<(TableName, String)>,
}

/// The conditions that may decide who is in an index, and those of rows in the collections of parents that are missing, over the
/// names of their tables: to be counted in rows.
pub fn conditions(
    catalog: &Catalog,
    statements: &[Statement],
    observed: &Observed,
) -> BTreeSet<(TableName, String)> {
    let mut catalog = catalog.clone();
    add_references(&mut catalog, statements, observed);
    let asks = statements
        .iter()
        .filter_map(|statement| ask(&statement.sql, &catalog, observed).ok());
    let asks: Vec<Ask<'_>> = asks.flatten().collect();
    let found = asks.iter().flat_map(|ask| {
        let simple = ask.conditions().filter(|when| is_simple(&when.text));
        simple.filter_map(|when| when.counted(ask.root, catalog.dbms))
    });
    // An index has the rows that meet all of them.
    let all = asks.iter().filter(|ask| {
        let is_own = |when: &When| when.parents.is_empty() && is_simple(&when.text);
        ask.when.len() > 1 && ask.when.iter().all(is_own)
    });
    let all = all.map(|ask| {
        let texts = ask.when.iter().map(|when| when.text.as_str());
        (ask.root.name.clone(), joined(texts, " AND "))
    });
    let children = asks.iter().flat_map(|ask| &ask.children);
    let orphans = children.filter_map(|child| child.orphans(&catalog));
    found.chain(all).chain(orphans).collect()
}

/// Those that decide who is in an index of a mapping.
pub fn conditions_of(model: &Model, catalog: &Catalog) -> BTreeSet<(TableName, String)> {
    let observed = &Observed::default();
    let facts = Facts { catalog, observed };
    let found = model.scans().into_iter().flat_map(|scan| {
        let flags = scan.columns.iter().filter_map(|column| match column {
            ScanColumn::Flag(condition) => Some(condition),
            _ => None,
        });
        let all = flags.chain(&scan.conditions);
        let simple = all.filter(|condition| is_simple(condition));
        simple.flat_map(move |condition| -> Vec<(TableName, String)> {
            let table = scan.from.table().and_then(|name| catalog.table(name));
            let is_own = |join: &Join| !names_joined(condition, join, table, catalog);
            match (scan.from.table(), table) {
                (Some(name), _) if scan.joins.iter().all(is_own) => {
                    vec![(name.clone(), condition.clone())]
                }
                (_, Some(table)) => {
                    let conditions = facts.conditions(condition, scan, table);
                    let counted = conditions.iter();
                    let counted = counted.filter_map(|when| when.counted(table, catalog.dbms));
                    counted.collect()
                }
                _ => Vec::new(),
            }
        })
    });
    found.collect()
}

/// Whether a condition may name a joined parent of the rows, so that it is no condition of their table alone.
fn names_joined(condition: &str, join: &Join, own: Option<&Table>, catalog: &Catalog) -> bool {
    let parent = catalog.table(&join.table);
    let mut columns = parent.into_iter().flat_map(|parent| &parent.columns);
    has_word(condition, &join.alias)
        || columns.any(|column| {
            own.is_none_or(|own| own.column(&column.name).is_none())
                && has_word(condition, &column.name)
        })
}

/// Whether a condition does not look at other tables, which takes long to count.
fn is_simple(condition: &str) -> bool {
    !condition.to_uppercase().contains("SELECT")
}

/// A read of the workload, understood.
#[derive(Clone)]
struct Read<'w, 'c> {
    statement: &'w Statement,
    asks: Vec<Ask<'c>>,
}

/// Mean number of children beyond which nobody lists them all.
const LISTED: f64 = 1_000.0;

/// US dollars a month that a second item type for large columns has to save.
const SPLIT: f64 = 5.0;
/// Tables whose large columns are tried apart, at most: those that save the most. Each takes a search, a long one of a large workload.
const SPLITS: usize = 12;
const SPLITS_OF_MANY: usize = 4;

/// Reads that are tried with an index of their own, at most: those that pay the most for what others need.
const ALONE: usize = 4;
/// Reads with second requests that are tried without, at most.
const REFERRING: usize = 12;
/// US dollars a month that an index of its own has to save for a read, keys that find copies, a read without a second request, or a
/// design with fewer indexes.
const OTHER: f64 = 2.0;
/// Statements up to which these are tried: each takes a search.
const SMALL: usize = 100;

/// Proposes a table. The search prices each read by what it needs itself. What its choice costs as a mapping is known only then, so
/// that others are tried and the cheapest mapping is taken: large columns that are paid for in vain apart, reads that pay for what
/// others need in an index with an index of their own, reads by one request, and fewer indexes.
pub fn design(
    catalog: &Catalog,
    statements: &[Statement],
    prices: &Prices,
    limits: &Limits,
) -> Design {
    let searched = || searched(catalog, statements, prices, limits);
    let (mut best, tried) = with_large_stack(searched);
    for large in &best.otherwise.large {
        let warning = best.design.report.warnings.get_mut(large.warning);
        if let Some(warning) = warning {
            warning.add(match tried.get(&large.table) {
                Some(true) => {
                    ". The search tried a second item: the resulting design saves less than 5 USD a month, or serves less of the workload"
                }
                Some(false) => ". The search could not try a second item: another read finds them together with other items",
                None if large.saved < SPLIT => ". The search did not try a second item: less than 5 USD a month is too little",
                None => ". The search did not try a second item: each try takes a whole search, so it tries only the tables that save the most",
            });
        }
    }
    best.design
}

/// The best of the proposals that are tried, and the tables whose large columns were to be apart in one, with whether they could be.
fn searched(
    catalog: &Catalog,
    statements: &[Statement],
    prices: &Prices,
    limits: &Limits,
) -> (Proposal, BTreeMap<TableName, bool>) {
    let setting = SearchSetting {
        indexes: limits.indexes,
        ..SearchSetting::default()
    };
    let propose = |setting: &SearchSetting| proposal(catalog, statements, prices, limits, setting);
    let mut search = DesignSearch {
        best: propose(&setting),
        setting,
        propose: &propose,
    };
    search.setting.not_served = search.best.not_served.clone();
    let fetching = search.best.fetching();
    if !fetching.is_empty() {
        let single = statements.iter().map(|one| one.name.clone()).collect();
        search.attempt(0.0, |setting| setting.single = single);
    }
    // The search prices copies as if a key found them.
    if search.best.otherwise.usd_scans >= OTHER {
        let copies = search.best.otherwise.scans_for.clone();
        search.attempt(OTHER, |setting| setting.found_copies = copies);
    }
    let is_small = statements.len() <= SMALL;
    let second_requests = |search: &mut DesignSearch<'_>| {
        let of_rows = (catalog, &limits.observed);
        let wanted = seconds::candidates(&search.best.otherwise.copied, of_rows, statements, ALONE);
        search.attempt_second_requests(wanted);
    };
    second_requests(&mut search);
    let most = if is_small { SPLITS } else { SPLITS_OF_MANY };
    let mut tried_apart = BTreeMap::new();
    let first = search.best.otherwise.large.clone().into_iter();
    for large in first.filter(|large| large.saved >= SPLIT).take(most) {
        let is_possible = search.attempt_apart(&large);
        tried_apart.insert(large.table, is_possible);
    }
    if !search.setting.large.is_empty() {
        // A second request costs less where the parent's item has no large columns.
        second_requests(&mut search);
    }
    if search.setting.referring.len() > 1 {
        // Reads of a parent were tried together, and one may gain nothing by it.
        let reads: Vec<String> = search.setting.referring.keys().cloned().collect();
        let most = if is_small { REFERRING } else { ALONE };
        for read in reads.into_iter().take(most) {
            search.attempt(OTHER, |setting| {
                setting.referring.remove(&read);
            });
        }
    }
    if !is_small {
        return (search.best, tried_apart);
    }
    for read in fetching.into_iter().take(ALONE) {
        search.attempt(OTHER, |setting| {
            if !setting.single.remove(&read) {
                setting.single.insert(read);
            }
        });
    }
    for read in search.best.shared.clone().into_iter().take(ALONE) {
        search.attempt(OTHER, |setting| {
            setting.alone.insert(read);
        });
    }
    let fewer = search.best.design.report.alternatives.clone();
    for fewer in fewer.iter().filter(|one| one.usd_month.is_some()) {
        search.attempt(OTHER, |setting| setting.indexes = fewer.indexes);
    }
    (search.best, tried_apart)
}

/// The best proposal so far, and the setting that it was made with.
struct DesignSearch<'s> {
    best: Proposal,
    setting: SearchSetting,
    propose: &'s dyn Fn(&SearchSetting) -> Proposal,
}

impl DesignSearch<'_> {
    /// Makes a proposal with another setting, and keeps both if it saves so much a month. Returns the tables whose large columns
    /// it has apart: see [`Proposal::apart`].
    fn attempt(
        &mut self,
        saved: f64,
        change: impl FnOnce(&mut SearchSetting),
    ) -> BTreeMap<TableName, bool> {
        let mut setting = self.setting.clone();
        change(&mut setting);
        let proposed = (self.propose)(&setting);
        let apart = proposed.apart.clone();
        if proposed.is_better(&self.best, saved) {
            (self.best, self.setting) = (proposed, setting);
        }
        apart
    }

    /// Tries the large columns of a table apart: first with what else reads by a unique key want beside them; then, if there is any,
    /// without that. Returns whether they could be apart.
    fn attempt_apart(&mut self, large: &LargeColumns) -> bool {
        let mut attempt = |is_narrow: bool| {
            let is_taken = self.setting.large.contains_key(&large.table);
            let saved = if is_taken { OTHER } else { SPLIT };
            let apart = self.attempt(saved, |setting| {
                let columns = large.columns.clone();
                let apart = Apart { columns, is_narrow };
                setting.large.insert(large.table.clone(), apart);
            });
            apart.get(&large.table).copied()
        };
        let is_wide = attempt(false);
        if is_wide == Some(true) {
            attempt(true);
        }
        is_wide.is_some()
    }

    fn attempt_second_requests(&mut self, wanted: Vec<Referring>) {
        for referring in wanted {
            let mut all = self.setting.referring.clone();
            for (read, second) in referring {
                all.entry(read).or_default().add(second);
            }
            // Each takes a search: what was taken together is not tried alone.
            if all != self.setting.referring {
                self.attempt(seconds::SAVED, |setting| setting.referring = all);
            }
        }
    }
}

/// What a proposal is made with.
#[derive(Debug, Clone, Default)]
struct SearchSetting {
    /// Large columns that have items of their own.
    large: Large,
    /// Reads that share no index with others.
    alone: BTreeSet<String>,
    /// Reads that are one request, without a further one for the items by their keys.
    single: BTreeSet<String>,
    /// For each read, the parents that it gets by a second request.
    referring: Referring,
    /// Copies that a key is to find, if that costs less than Scans.
    found_copies: BTreeSet<CopyPlace>,
    /// Most indexes.
    indexes: usize,
    /// Reads that no design serves, which decide nothing.
    not_served: NotServed,
}

/// A read that is not served, with the reason.
type UnservedRead<'w> = (&'w Statement, Unserved);

/// The reads that are not served, with the reason.
type NotServed = BTreeMap<String, Unserved>;

/// A proposal, and what may be tried instead.
struct Proposal {
    design: Design,
    otherwise: Otherwise,
    /// Reads that pay for what others need in an index, the dearest first.
    shared: Vec<String>,
    not_served: NotServed,
    /// The tables whose large columns are apart, with whether those items have columns without which reads by a unique key would
    /// find both items of a row.
    apart: BTreeMap<TableName, bool>,
    /// Writes whose rows no key finds.
    lost: usize,
    /// Whether a second request is not served.
    lacks_second: bool,
    /// What was chosen from, and the choice.
    #[cfg(test)]
    problem: (Problem, Solution),
}

impl Proposal {
    /// The reads by two requests in a row.
    fn fetching(&self) -> Vec<String> {
        let reads = self.design.report.reads.iter();
        let fetching = reads.filter(|read| {
            let served = read.served.as_ref();
            served.is_some_and(|served| served.fetches > 0)
        });
        fetching.map(|read| read.name.clone()).collect()
    }

    /// Whether its mapping passes `check`, serves no less than another one, finds the rows of no fewer writes, whose Scans have no
    /// price, and saves so much a month, with the Scans for copies.
    fn is_better(&self, other: &Self, saved: f64) -> bool {
        let (report, others) = (&self.design.report, &other.design.report);
        let with_scans = saved + self.otherwise.usd_scans - other.otherwise.usd_scans;
        report.fault.is_none()
            && !self.lacks_second
            && (others.fault.is_some()
                || self.lost <= other.lost && report.is_better(others, with_scans))
    }
}

/// A proposal.
#[expect(
    clippy::too_many_lines,
    reason = "the steps of a design, one after the other"
)]
fn proposal(
    catalog: &Catalog,
    statements: &[Statement],
    prices: &Prices,
    limits: &Limits,
    setting: &SearchSetting,
) -> Proposal {
    let mut catalog = with_signed(catalog, &limits.signed);
    let by_join = add_references(&mut catalog, statements, &limits.observed);
    let is_guessed = statements.iter().all(|one| one.guessed.is_some());
    let (workload, not_guessed) = with_rows(&catalog, statements, &limits.observed);
    let of_rows = catalog;
    let by_two = seconds::two_requests((&of_rows, &limits.observed), &workload, &setting.referring);
    let seconds: Vec<&SecondRequest> = by_two.iter().flat_map(|read| &read.seconds).collect();
    let mut statements = workload.clone();
    statements.extend(seconds.iter().map(|second| &second.statement));
    statements.sort_by(|a, b| a.name.cmp(&b.name));
    let (figures, catalog) = Figures::of(&of_rows, &limits.observed, &statements);
    let catalog = &catalog;
    let Understood {
        mut reads,
        mut unserved,
        mut writes,
        written,
    } = understood(catalog, &limits.observed, &figures, &statements);
    for read in &mut reads {
        if let Some(two) = by_two.iter().find(|two| two.name == read.statement.name) {
            read.asks.clone_from(&two.asks);
        }
    }
    figures.add_writes(&mut writes);
    reads.retain(|read| {
        let why = setting.not_served.get(&read.statement.name);
        unserved.extend(why.map(|why| (read.statement, why.clone())));
        why.is_none()
    });
    splits::by_row(&mut reads, &setting.large, &writes, catalog.dbms);
    let of_base = Facts {
        catalog,
        observed: &limits.observed,
    };
    let splits = splits::splits(of_base, &setting.large, &reads, &writes, prices);
    let splits = splits.unwrap_or_default();
    let catalog = &splits::with_splits(catalog, &splits);
    splits::apart(&mut reads, &splits, catalog);
    splits::add_writes(&mut writes, &splits);
    let facts = Facts {
        catalog,
        observed: &splits::observed(&limits.observed, &splits),
    };
    let pricing = Pricing {
        facts,
        pins: &limits.pins,
        placed: &BTreeSet::new(),
        prices,
        writes: &writes,
        figures: &figures,
        is_guessed,
    };
    let mut searches = searches(&of_rows, &writes, &reads);
    let copies = (&setting.found_copies, &writes);
    searches.extend(copy_searches((&of_rows, catalog), copies, &written, &reads));
    let searching = searches.iter().map(|(statement, more)| {
        let queries = std::iter::once(&statement.sql).chain(more);
        let asks = queries.filter_map(|sql| ask(sql, catalog, facts.observed).ok());
        let mut asks: Vec<Ask<'_>> = asks.flatten().collect();
        // Of the item its key is wanted, which an index has.
        for ask in &mut asks {
            ask.outputs.clear();
        }
        let folded = asks.iter().filter_map(|ask| with_folded(ask, &reads));
        let folded: Vec<Ask<'_>> = folded.collect();
        asks.extend(folded);
        Read { statement, asks }
    });
    let searching = searching.filter(|read| !read.asks.is_empty());
    let searching: Vec<Read<'_, '_>> = searching.collect();
    let others = searching.len();
    reads.extend(searching);
    add_relaxed(&mut reads, facts);
    if limits.escapes() {
        refuse_escaped(&mut reads, facts, true, is_never_escaped, &mut unserved);
    }
    refuse_figures(&mut reads, facts, &mut unserved);
    let asked = reads.len().saturating_sub(others);
    if !is_guessed {
        add_fetches(reads.get_mut(..asked).unwrap_or_default(), &setting.single);
    }
    let mut candidates = candidates(catalog, &mut reads, &pricing);
    for (at, read) in reads.iter().enumerate() {
        if setting.alone.contains(&read.statement.name) {
            candidates.set_alone(at);
        }
        let mut seconds = seconds.iter();
        if seconds.any(|second| second.statement.name == read.statement.name) {
            candidates.set_by_key(at, &read.asks);
        }
    }
    let Candidates {
        structures,
        ways,
        hot,
    } = candidates;
    reads_without(
        facts,
        (ways.as_slice(), hot.as_slice()),
        reads.get(..asked).unwrap_or_default(),
        &mut unserved,
    );
    let mut problem = pricing.problem(&structures, &ways, setting.indexes);
    for (choices, read) in problem.reads.iter_mut().zip(&reads).skip(asked) {
        if let Some(scan) = choices.last_mut() {
            scan.cost = pricing.scan(read.statement);
        }
    }
    let solution = cheapest(&problem, &reads, &ways);
    let (placed, mut not_chosen) = placed_reads(&reads, &ways, &solution, limits);
    let is_search =
        |statement: &Statement| searches.iter().any(|(one, _)| std::ptr::eq(one, statement));
    not_chosen.retain(|(statement, _)| !is_search(statement));
    unserved.extend(not_chosen);
    let is_used = |structure: &usize| placed.iter().any(|read| read.structure == *structure);
    let mut first_slots = solution.slots.clone();
    first_slots.retain(|structure, _| is_used(structure));
    let structures = by_unique_keys(structures, &first_slots, &placed, catalog);
    let (found, placed): (Vec<_>, Vec<_>) =
        (placed.into_iter()).partition(|read| is_search(read.statement));
    // Of the figures those that somebody asks for.
    let catalog = &figures.only_used(catalog, &structures, &first_slots);
    let names = MappingNames::choose(catalog);
    unserved.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    let lacking = setting.not_served.iter();
    let lacking = lacking.filter(|(_, why)| why.instead == MORE_INDEXES);
    let lacking: Vec<String> = lacking.map(|(name, _)| name.clone()).collect();
    let not_served: Vec<String> = unserved
        .iter()
        .map(|(statement, why)| report::not_served(&statement.name, &why.why, why.instead))
        .collect();
    let alternatives = alternatives(
        &problem,
        &ways,
        (reads.as_slice(), asked),
        &solution,
        &lacking,
    );
    let unarranged = Writing {
        catalog,
        pins: &limits.pins,
        expiries: &limits.expiries,
        names: &names,
        structures: &structures,
        slots: &first_slots,
        reads: &placed,
        found: &found,
        header: header(catalog, is_guessed),
        not_served: &not_served,
        escapes: limits.escapes(),
        indexes: &[],
        figures: &figures.tables,
        splits: &splits,
        writes: &writes,
        labels: OnceCell::new(),
    };
    let slots = slots::arranged(
        &first_slots,
        &structures,
        [&placed, &found],
        &unarranged.wanted(),
        &pricing,
        setting.indexes,
    );
    let indexes = index_names(catalog, slots.values().max().copied().unwrap_or(0));
    let writing = Writing {
        slots: &slots,
        indexes: &indexes,
        labels: OnceCell::new(),
        ..unarranged
    };
    let (mapping, projected) = writing.mapping();
    let described = figures.described(catalog);
    let observed = &limits.observed;
    let (priced, sizes, fault) = match modelled(&mapping, &|_| None, &of_rows, &described) {
        Ok((model, sizes, _)) => {
            let priced = price("", &of_rows, &model, &workload, prices, observed);
            (priced, sizes, None)
        }
        Err(why) => (PricedMapping::default(), Vec::new(), Some(why)),
    };
    let parts = parts(catalog, &limits.pins, &structures, &slots);
    let to_rows = |columns: Vec<(TableName, String)>| {
        let columns = columns.into_iter().map(|(table, column)| {
            let split = splits.get(&table);
            (split.map_or(table, |split| split.base.clone()), column)
        });
        let columns: BTreeSet<(TableName, String)> = columns
            .filter_map(|column| figures.of_rows(column))
            .collect();
        columns.into_iter().collect::<Vec<_>>()
    };
    let before_delimiters = to_rows(before_delimiters(catalog, &parts));
    let escaped = limits.escapes().then(|| to_rows(texts(catalog, &parts)));
    let escaped = escaped.unwrap_or_default();
    let material = report::Material {
        catalog,
        names: &names,
        expiries: &limits.expiries,
        splits: &splits,
        pricing: &pricing,
        structures: &structures,
        slots: &slots,
        placed: &placed,
        found: &found,
        seconds: &seconds,
        projected: &projected,
        priced: &priced,
        sizes: &sizes,
        unserved: &unserved,
        written: &written,
        solution: &solution,
        alternatives,
        escaped: escaped
            .iter()
            .filter(|column| limits.delimited.contains(*column))
            .cloned()
            .collect(),
        not_guessed,
        by_join,
    };
    let served = placed
        .iter()
        .filter_map(|one| material.second(one.statement));
    let lacks_second = served.count() < seconds.len();
    let (warnings, otherwise) = traps::traps(&material);
    let report = report::report(&material, warnings, fault);
    let design = Design {
        padded: to_rows(padded(catalog, &parts)),
        mapping,
        report,
        before_delimiters,
        escaped,
    };
    let shared = shared(&placed, &slots, &priced);
    Proposal {
        #[cfg(test)]
        problem: (problem, solution.clone()),
        design,
        otherwise,
        shared,
        apart: splits
            .values()
            .map(|split| (split.base.clone(), split.is_wide))
            .collect(),
        lacks_second,
        lost: priced.writes.iter().filter(|one| !one.has_key).count(),
        not_served: unserved
            .into_iter()
            .map(|(statement, why)| (statement.name.clone(), why))
            .collect(),
    }
}

/// The reads that cost more in an index than they would if it held what they need alone, those that pay the most first.
fn shared(
    placed: &[Placed<'_, '_>],
    slots: &BTreeMap<usize, usize>,
    priced: &PricedMapping,
) -> Vec<String> {
    let more = placed.iter().filter_map(|read| {
        let is_index = slots.get(&read.structure).is_some_and(|slot| *slot > 0);
        let alike = placed
            .iter()
            .filter(|other| other.structure == read.structure);
        let mut reads = priced.reads.iter();
        let own = reads.find(|one| one.name == read.name())?;
        let more = own.served.as_ref()?.usd_month - read.cost;
        (is_index && alike.count() > 1 && more > OTHER).then_some((more, read.name()))
    });
    let mut more: Vec<(f64, &str)> = more.collect();
    more.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    more.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// The model of a mapping's text, how large its items can be, and what is said of it; else the first error.
fn modelled(
    text: &str,
    variables: &dyn Fn(&str) -> Option<String>,
    catalog: &Catalog,
    described: &Described,
) -> Result<(Model, Vec<SizeProof>, Vec<Diagnostic>), String> {
    let (raw, faults) = Raw::read(text, variables);
    let (found, diagnostics) = match raw {
        Some(raw) => {
            let resolution = resolve(&raw, faults, catalog, described);
            let found = resolution.model.zip(resolution.proofs);
            (found, resolution.diagnostics)
        }
        None => (None, faults),
    };
    let Some((model, proofs)) = found else {
        let mut diagnostics = diagnostics.into_iter();
        let error = diagnostics.find(|one| one.severity() == Severity::Error);
        return Err(error.map_or_else(String::new, |error| error.message));
    };
    Ok((model, proofs.sizes, diagnostics))
}

/// Adds the references that statements join by and the schema does not declare: gives them in words.
fn add_references<S: Borrow<Statement>>(
    catalog: &mut Catalog,
    statements: &[S],
    observed: &Observed,
) -> Vec<String> {
    let found = statements
        .iter()
        .flat_map(|statement| ask::references(&statement.borrow().sql, catalog, observed));
    let found = found.map(|(child, key)| {
        let place = (child, key.columns.clone(), key.references.clone());
        (place, key)
    });
    let found: BTreeMap<(TableName, Vec<String>, TableName), ForeignKey> = found.collect();
    let mut said = Vec::new();
    for ((child, columns, parent), key) in found {
        let mut tables = catalog.tables.iter_mut();
        if let Some(table) = tables.find(|table| table.name == child) {
            table.foreign_keys.push(key);
            let columns = columns.join("+");
            said.push(format!("{}.{columns} to {}", child.name, parent.name));
        }
    }
    said
}

/// The statements, by name, but for guessed ones over what holds no rows yet, since `verify --patterns` has nothing to compare
/// with these and an index for them would hold nothing, and for lists that are too long for anybody. Where no table has rows,
/// all of the former stay. Gives the others with the reason.
fn with_rows<'w>(
    catalog: &Catalog,
    statements: &'w [Statement],
    observed: &Observed,
) -> (Vec<&'w Statement>, Vec<String>) {
    let mut kept: Vec<&Statement> = Vec::new();
    let mut left = Vec::new();
    let is_any = observed.columns.values().any(|sample| sample.rows > 0);
    for statement in statements {
        let guessed = statement.guessed.as_ref();
        let why = guessed.and_then(|(name, columns)| {
            let table = catalog.table(name)?;
            let empty = || empty(catalog, table, columns, observed);
            is_any
                .then(empty)
                .flatten()
                .or_else(|| too_long(catalog, table, columns))
        });
        match why {
            Some(why) => left.push(format!("{}: {why}", statement.name)),
            None => kept.push(statement),
        }
    }
    kept.sort_by(|a, b| a.name.cmp(&b.name));
    left.sort();
    (kept, left)
}

/// Why no row can be found by columns of a table.
fn empty(
    catalog: &Catalog,
    table: &Table,
    columns: &[String],
    observed: &Observed,
) -> Option<String> {
    columns.iter().find_map(|column| {
        let place = (table.name.clone(), column.clone());
        let sample = observed.columns.get(&place)?;
        let table = catalog.display_name(&table.name);
        match (sample.rows, sample.present) {
            (0, _) => Some(format!("{table} holds no rows")),
            (_, 0) => Some(format!("{column} is NULL in all rows of {table}")),
            _ => None,
        }
    })
}

/// Why nobody lists the children that a foreign key gives to a parent.
fn too_long(catalog: &Catalog, table: &Table, columns: &[String]) -> Option<String> {
    let mut keys = table.foreign_keys.iter();
    let key = keys.find(|key| key.columns == columns)?;
    let parent = catalog.table(&key.references)?;
    let mean = facts::rows(table) / facts::rows(parent);
    (mean > LISTED).then(|| {
        format!(
            "a row of {} has about {} rows of {}, too many for a list",
            catalog.display_name(&parent.name),
            count(rounded(mean)),
            catalog.display_name(&table.name)
        )
    })
}

/// The cheapest choice. Where there is too much to search, the one without requests in a row is searched too, of which there is
/// less, and made cheaper by these.
fn cheapest(problem: &Problem, reads: &[Read<'_, '_>], ways: &[Vec<Way>]) -> Solution {
    let solution = solve(problem);
    if solution.gap <= 0.0 {
        return solution;
    }
    let mut fewer = problem.clone();
    for ((choices, ways), read) in fewer.reads.iter_mut().zip(ways).zip(reads) {
        for (choice, way) in choices.iter_mut().zip(ways) {
            if read.asks.get(way.ask).is_some_and(|ask| ask.fetches) {
                choice.cost = f64::INFINITY;
            }
        }
    }
    let least = solution.least;
    let single = solve(&fewer);
    let others = [improved(problem, &single), single];
    let served = |one: &Solution| one.reads.iter().flatten().count();
    let mut best = others.into_iter().fold(solution, |best, other| {
        let more = served(&other).cmp(&served(&best));
        if more.is_gt() || more.is_eq() && other.cost < best.cost - 1e-9 {
            other
        } else {
            best
        }
    });
    let mut pairs = best.reads.iter().zip(&problem.reads);
    let is_whole = pairs.all(|(served, choices)| served.is_some() || choices.is_empty());
    best.gap = (best.cost - least).max(if is_whole { 0.0 } else { UNSERVED });
    best
}

/// The reads that are served, with the way that was chosen for each, and those for which there was no room.
fn placed_reads<'d, 'w, 'c>(
    reads: &'d [Read<'w, 'c>],
    ways: &[Vec<Way>],
    solution: &Solution,
    limits: &Limits,
) -> (Vec<Placed<'d, 'c>>, Vec<UnservedRead<'w>>) {
    let mut placed = Vec::new();
    let mut not_chosen = Vec::new();
    for ((read, ways), choice) in reads.iter().zip(ways).zip(&solution.reads) {
        let Some(way) = choice.and_then(|choice| ways.get(choice)) else {
            if !ways.is_empty() {
                let why = if solution.gap >= UNSERVED {
                    "was not placed before the search was cut short".to_owned()
                } else {
                    format!("would need more than {} indexes", limits.indexes)
                };
                let instead = MORE_INDEXES;
                not_chosen.push((read.statement, Unserved { why, instead }));
            }
            continue;
        };
        let Some(ask) = read.asks.get(way.ask) else {
            continue;
        };
        placed.push(Placed {
            statement: read.statement,
            ask,
            structure: way.structure,
            part: way.part,
            cost: way.cost,
            is_consistent: way.is_consistent,
        });
    }
    (placed, not_chosen)
}

/// The structures, those that are the table's own keys without the columns that a unique key does not need.
fn by_unique_keys<'c>(
    mut structures: Vec<Structure<'c>>,
    slots: &BTreeMap<usize, usize>,
    placed: &[Placed<'_, 'c>],
    catalog: &Catalog,
) -> Vec<Structure<'c>> {
    for (at, _) in slots.iter().filter(|(_, slot)| **slot == 0) {
        let asks = placed.iter().filter(|read| read.structure == *at);
        let asks: Vec<&Ask<'_>> = asks.map(|read| read.ask).collect();
        if let Some(structure) = structures.get_mut(*at)
            && let Some(shorter) = structure.by_unique_key(&asks, catalog)
        {
            *structure = shorter;
        }
    }
    structures
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
#[derive(Default)]
struct Understood<'w, 'c> {
    reads: Vec<Read<'w, 'c>>,
    unserved: Vec<UnservedRead<'w>>,
    writes: BTreeMap<TableName, Writes>,
    written: Vec<(&'w Statement, &'c Table, WriteKind)>,
}

fn understood<'w, 'c>(
    catalog: &'c Catalog,
    observed: &Observed,
    figures: &Figures,
    statements: &[&'w Statement],
) -> Understood<'w, 'c> {
    let mut found = Understood::default();
    for &statement in statements {
        if let Some(write) = write_statement(&statement.sql, catalog.dbms) {
            match written_table(&write, catalog) {
                Ok(table) => {
                    let write = with_own_names(write, table, catalog.dbms);
                    let kind = write.kind;
                    let write = counter_as_update(write, table, catalog.dbms);
                    let rate = statement.rate.unwrap_or(1.0) * rows_written(&write, table);
                    let known = found.writes.entry(table.name.clone()).or_default();
                    known.all += rate;
                    for column in &write.columns {
                        *known.columns.entry(column.clone()).or_default() += rate;
                    }
                    known.statements.push(Write {
                        at: found.written.len(),
                        name: statement.name.clone(),
                        kind: write.kind,
                        rate,
                        inserts_several: write.rows != Some(1),
                        numbers: write.numbers,
                        said: said_values(&write, table, catalog.dbms),
                        upserts_by: (write.upserts_by.as_ref())
                            .map(|by| conflicting(by, &write, table, catalog.dbms)),
                        now: (write.now.iter().cloned())
                            .chain(now_by_default(&write, table, catalog.dbms))
                            .collect(),
                        columns: write.columns,
                        from_itself: write.from_itself,
                        found_by: write.found_by,
                        below: write.below,
                    });
                    found.written.push((statement, table, kind));
                }
                Err(why) => found.unserved.push((statement, why)),
            }
            continue;
        }
        if let Some(why) = unread_write(&statement.sql, catalog.dbms) {
            let why = why.to_owned();
            let instead = "write an INSERT, UPDATE or DELETE for each table that it changes; in an UPDATE with a join, write the table before each column that it sets";
            found.unserved.push((statement, Unserved { why, instead }));
            continue;
        }
        let kept = figures.asks(statement, catalog, observed);
        match ask(&statement.sql, catalog, observed) {
            Err(why) if kept.is_empty() => found.unserved.push((statement, why)),
            asks => {
                let asks = asks.unwrap_or_default().into_iter().chain(kept).collect();
                found.reads.push(Read { statement, asks });
            }
        }
    }
    found
}

/// The table that a statement writes. Fails if the schema does not have it, if it is a view, or if it lacks a column that the
/// statement sets.
fn written_table<'c>(write: &WriteStatement, catalog: &'c Catalog) -> Result<&'c Table, Unserved> {
    let refused = |why: String, instead| Err(Unserved { why, instead });
    let name = &write.table.text;
    let Some(table) = table(catalog, write.schema.as_ref(), &write.table) else {
        let why = format!("writes {name}, which the schema does not have");
        return refused(why, "check the name");
    };
    if table.kind == TableKind::View {
        let why = format!("writes {}, which is a view", table.name.name);
        return refused(why, "write to the base tables of the view");
    }
    let is_declared =
        |name: &String| column_called(table, name).is_some() || is_rowid(name, catalog.dbms);
    let mut set = write.columns.iter().chain(write.inserted.iter().flatten());
    match set.find(|name| !is_declared(name)) {
        Some(column) => {
            let why = format!("sets the column `{column}`, which the table {name} does not have");
            refused(why, "check the name of the column")
        }
        None => Ok(table),
    }
}

/// The column that a statement calls so, in any case.
fn column_called<'t>(table: &'t Table, name: &str) -> Option<&'t Column> {
    let mut columns = table.columns.iter();
    columns.find(|column| column.name.eq_ignore_ascii_case(name))
}

/// Whether a name that no column of a table has is that of SQLite's rowid, which each row has.
fn is_rowid(name: &str, dbms: Dbms) -> bool {
    let names = ["rowid", "_rowid_", "oid"];
    dbms == Dbms::Sqlite && names.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// The same statement with the names of the table's columns as the table spells them. In the place of SQLite's rowid stands the column
/// that is the rowid by another name: INTEGER PRIMARY KEY.
fn with_own_names(mut write: WriteStatement, table: &Table, dbms: Dbms) -> WriteStatement {
    let is_alias = |column: &&Column| column.declared.eq_ignore_ascii_case("integer");
    let alias = match table.primary_key.as_slice() {
        [key] => table.column(key).filter(is_alias),
        _ => None,
    };
    let lists = [
        &mut write.columns,
        &mut write.from_itself,
        &mut write.found_by,
        &mut write.below,
        &mut write.now,
    ];
    let names = lists.into_iter().flatten();
    let named = [&mut write.inserted, &mut write.upserts_by];
    let names = names.chain(named.into_iter().flatten().flatten());
    let names = names.chain(write.listed.iter_mut().map(|(name, _)| name));
    let said = write.values.iter_mut().chain(&mut write.found_values);
    for name in names.chain(said.map(|(name, _)| name)) {
        let rowid = alias.filter(|_| is_rowid(name, dbms));
        if let Some(column) = column_called(table, name).or(rowid) {
            name.clone_from(&column.name);
        }
    }
    write
}

/// An upsert of one row that computes a column from what it was as the UPDATE of that row by its key: a counter's row is nearly always
/// there. Any other INSERT without the columns that it sets where its row is there.
fn counter_as_update(mut write: WriteStatement, table: &Table, dbms: Dbms) -> WriteStatement {
    if write.kind != WriteKind::Insert {
        return write;
    }
    let is_counter = write.rows == Some(1) && !write.from_itself.is_empty();
    let Some(named) = write.upserts_by.clone().filter(|_| is_counter) else {
        write.columns.clear();
        return write;
    };
    let by = conflicting(&named, &write, table, dbms);
    // Of what the new row would have, the row that is there has the key.
    let values = std::mem::take(&mut write.values).into_iter();
    write.found_values = values.filter(|(name, _)| by.contains(name)).collect();
    write.found_by = by;
    write.kind = WriteKind::Update;
    write
}

/// The columns by which the row of an upsert is there already: those that it names, or else a key of which it gives all columns.
fn conflicting(named: &[String], write: &WriteStatement, table: &Table, dbms: Dbms) -> Vec<String> {
    if !named.is_empty() {
        let columns = table.columns.iter().map(|column| &column.name);
        let named = columns.filter(|column| named.contains(column));
        return named.cloned().collect();
    }
    let is_given = |column: &String| {
        let inserted = write.inserted.as_ref();
        inserted.is_none_or(|inserted| inserted.contains(column))
    };
    let mut keys = table.keys(dbms).map(|key| key.columns);
    let key = keys.find(|key| !key.is_empty() && key.iter().all(is_given));
    key.unwrap_or_else(|| table.row_key()).to_vec()
}

/// The rows that a statement writes, as far as it says: those that an INSERT has, or as many keys as its `IN` lists have. Of an array whose
/// length nobody knows as many are taken as of a page.
fn rows_written(write: &WriteStatement, table: &Table) -> f64 {
    let key = table.row_key();
    let is_row = !key.is_empty() && key.iter().all(|column| write.found_by.contains(column));
    let lists = write.listed.iter();
    let lists = lists.filter(|(name, _)| is_row && key.contains(name));
    let values = |values: usize| match values {
        0 => ask::PAGE,
        several => whole(several),
    };
    let keys: f64 = lists.map(|(_, count)| float(values(*count))).product();
    float(write.rows.unwrap_or(1)) * keys
}

/// What a statement says of its row, by the columns of its table. A column that an UPDATE does not set stays as its WHERE says it; one
/// that it sets to what is no constant is taken to have a value.
fn said_values(write: &WriteStatement, table: &Table, dbms: Dbms) -> SaidValues {
    let own = |said: &[(String, Constant)]| -> Values {
        let own = said.iter().filter_map(|(name, value)| {
            let column = table.column(name)?;
            Some((name.clone(), as_typed(value.clone(), column)))
        });
        own.collect()
    };
    let (before, mut after) = (own(&write.found_values), own(&write.values));
    match write.kind {
        WriteKind::Insert => {
            let is_given = |column: &&Column| {
                !column.invisible && (dbms != Dbms::Sqlite || column.generated.is_none())
            };
            let columns = table.columns.iter().filter(is_given);
            let said = columns.zip(&write.in_order).filter_map(|(column, value)| {
                Some((column.name.clone(), as_typed(value.clone()?, column)))
            });
            after.extend(said);
            after.extend(defaults(write, table, dbms));
        }
        WriteKind::Update => {
            let is_own = |name: &&String| table.column(name).is_some();
            for name in write.columns.iter().filter(is_own) {
                after.entry(name.clone()).or_insert(Constant::Other);
            }
            for (name, value) in &before {
                let known = after.entry(name.clone());
                known.or_insert_with(|| value.clone());
            }
        }
        WriteKind::Delete => {}
    }
    SaidValues { before, after }
}

/// A constant as its column has it: MySQL and SQLite take 0 and 1 for FALSE and TRUE.
fn as_typed(value: Constant, column: &Column) -> Constant {
    match (value, &column.data_type) {
        (Constant::Number(number), DataType::Boolean) if matches!(&*number, "0" | "1") => {
            Constant::Boolean(number == "1")
        }
        (Constant::Boolean(value), DataType::Integer { .. }) => {
            Constant::Number(u8::from(value).to_string())
        }
        (value, _) => value,
    }
}

/// The columns that an INSERT leaves out and that get the time or the date at which it runs.
fn now_by_default(write: &WriteStatement, table: &Table, dbms: Dbms) -> Vec<String> {
    let is_now = |sql: &String| dynafold_sql::is_now(sql, dbms);
    let now = left_out(write, table).filter(|column| column.default.as_ref().is_some_and(is_now));
    now.map(|column| column.name.clone()).collect()
}

/// The columns that an INSERT leaves out, which get their defaults.
fn left_out<'t>(write: &WriteStatement, table: &'t Table) -> impl Iterator<Item = &'t Column> {
    let left_out = table.columns.iter().filter(move |column| {
        let named = write.inserted.as_ref();
        named.is_some_and(|named| !named.contains(&column.name)) && column.generated.is_none()
    });
    // A trigger may set any column.
    let is_of_insert = |trigger: &Trigger| {
        trigger.event.is_empty() || trigger.event.to_uppercase().contains("INSERT")
    };
    let has_trigger = table.triggers.iter().flatten().any(is_of_insert);
    left_out.filter(move |_| !has_trigger)
}

/// The defaults of the columns that an INSERT leaves out.
fn defaults(write: &WriteStatement, table: &Table, dbms: Dbms) -> Values {
    let defaults = left_out(write, table).filter_map(|column| {
        let value = match &column.default {
            Some(default) => dynafold_sql::constant(default, dbms).unwrap_or(Constant::Other),
            None if column.is_numbered() => Constant::Other,
            None => column.nullable.then_some(Constant::Null)?,
        };
        Some((column.name.clone(), as_typed(value, column)))
    });
    defaults.collect()
}

/// A table, and the columns of it that a WHERE holds equal to something.
type SaidColumns<'w> = (&'w TableName, BTreeSet<&'w String>);

/// The statements that say the same of a table's rows.
type WritesOf<'w> = (&'w Table, Vec<&'w Write>);

/// For the updates and deletes that give their row's whole key, the reads that find it where no read of the workload does: an item
/// whose key nobody knows is found by a Scan alone. With the query of all that they say, where that is more.
fn searches(
    catalog: &Catalog,
    writes: &BTreeMap<TableName, Writes>,
    reads: &[Read<'_, '_>],
) -> Vec<(Statement, Option<String>)> {
    let mut found: BTreeMap<SaidColumns<'_>, WritesOf<'_>> = BTreeMap::new();
    for (name, writes) in writes {
        // Figures and large columns have the keys of their rows.
        let Some(table) = catalog.table(name).filter(|table| table.is_stored()) else {
            continue;
        };
        for write in &writes.statements {
            let said: BTreeSet<&String> = write.found_by.iter().collect();
            if write.kind != WriteKind::Insert && write.gives_row(table) {
                let known = found.entry((name, said)).or_insert((table, Vec::new()));
                known.1.push(write);
            }
        }
    }
    let own = |columns: &BTreeSet<&String>| -> BTreeSet<Path> {
        columns.iter().map(|column| Path::own(column)).collect()
    };
    let search = |((_, said), (table, writes)): (SaidColumns<'_>, WritesOf<'_>)| {
        let key: BTreeSet<&String> = table.row_key().iter().collect();
        let is_asked = |columns: &BTreeSet<&String>| {
            let columns = own(columns);
            let asks_so = |ask: &Ask<'_>| {
                let equal = ask.equal.iter().map(|equal| equal.path.clone());
                let is_all = ask.when.is_empty() && ask.filters.is_empty() && ask.range.is_none();
                is_all && ask.root.name == table.name && equal.collect::<BTreeSet<_>>() == columns
            };
            let mut reads = reads.iter().filter(|read| !read.asks.is_empty());
            reads.any(|read| read.asks.iter().all(asks_so))
        };
        if is_asked(&key) || is_asked(&said) {
            return None;
        }
        let names: BTreeSet<&str> = writes.iter().map(|write| &*write.name).collect();
        let statement = Statement {
            name: joined(names, ", "),
            rate: Some(writes.iter().map(|write| write.rate).sum()),
            sql: by_columns(catalog, table, &key),
            ..Statement::default()
        };
        // What it says besides may be in the key of the table.
        let more = (said.len() > key.len()).then(|| by_columns(catalog, table, &said));
        Some((statement, more))
    };
    found.into_iter().filter_map(search).collect()
}

/// For copies of parents' columns, the reads that find them by the reference when a statement changes the columns: a copy that no key
/// finds is found by a Scan alone. Those further away than one parent are left out.
fn copy_searches(
    (of_rows, catalog): (&Catalog, &Catalog),
    (copies, writes): (&BTreeSet<CopyPlace>, &BTreeMap<TableName, Writes>),
    written: &[(&Statement, &Table, WriteKind)],
    reads: &[Read<'_, '_>],
) -> Vec<(Statement, Option<String>)> {
    let search = |(name, steps): &CopyPlace| {
        let (table, [step]) = (of_rows.table(name)?, steps.as_slice()) else {
            return None;
        };
        let asks = reads.iter().flat_map(|read| &read.asks);
        let paths = asks.flat_map(|ask| copied_paths(catalog, ask));
        let paths = paths.filter(|(of, path)| of.name == *name && path.steps.first() == Some(step));
        let columns = paths.filter_map(|(of, path)| {
            let (place, _, columns) = path.parents().next()?;
            Some((columns.to_vec(), path.may_come(place, of, catalog)))
        });
        let columns: BTreeSet<(Vec<String>, bool)> = columns.collect();
        let statements = writes.get(&step.table).into_iter();
        let statements = statements.flat_map(|writes| &writes.statements);
        let changes = statements.filter(|write| {
            columns.iter().any(|(columns, may_come)| {
                let mut columns = columns.iter();
                columns.any(|column| write.changes(column, || *may_come))
            })
        });
        let changes = changes.filter_map(|write| Some(written.get(write.at)?.0));
        let changes: Vec<&Statement> = changes.collect();
        let names: BTreeSet<&str> = changes.iter().map(|one| &*one.name).collect();
        (!names.is_empty()).then(|| {
            let statement = Statement {
                name: joined(names, ", "),
                rate: Some(changes.iter().map(|one| Pricing::rate(one)).sum()),
                sql: by_columns(of_rows, table, &step.columns.iter().collect()),
                ..Statement::default()
            };
            (statement, None)
        })
    };
    copies.iter().filter_map(search).collect()
}

/// The same with the columns in lower case, too, that reads ask for so: of a write that says a text, a key has both.
fn with_folded<'c>(ask: &Ask<'c>, reads: &[Read<'_, '_>]) -> Option<Ask<'c>> {
    let is_folded = |path: &Path| {
        let mut asks = reads.iter().flat_map(|read| &read.asks);
        asks.any(|other| {
            let mut equal = other.equal.iter();
            let mut range = other.range.iter();
            other.root.name == ask.root.name
                && (equal.any(|equal| equal.folds && equal.path == *path)
                    || range.any(|range| range.folds && range.path == *path))
        })
    };
    let equal = ask.equal.iter().filter(|equal| is_folded(&equal.path));
    let folded = equal.map(|equal| ask::Equal {
        folds: true,
        ..equal.clone()
    });
    let mut found = ask.clone();
    found.equal.extend(folded);
    (found.equal.len() > ask.equal.len()).then_some(found)
}

/// The query of a table's rows with these values.
fn by_columns(catalog: &Catalog, table: &Table, columns: &BTreeSet<&String>) -> String {
    let name = |name: &str| identifier(name, catalog.dbms);
    let conditions = (1..).zip(columns);
    let conditions = conditions.map(|(at, column)| format!("{} = :p{at}", name(column)));
    format!(
        "SELECT {} FROM {} WHERE {}",
        joined(columns.iter().map(|column| name(column)), ", "),
        table_reference(catalog, &table.name),
        joined(conditions, " AND ")
    )
}

/// Reads for which no structure was found are not served.
fn reads_without<'w>(
    facts: Facts<'_>,
    (ways, hot): (&[Vec<Way>], &[f64]),
    reads: &[Read<'w, '_>],
    unserved: &mut Vec<UnservedRead<'w>>,
) {
    let catalog = facts.catalog;
    let without = ways.iter().zip(hot).zip(reads);
    let without = without.filter(|((ways, _), _)| ways.is_empty());
    for ((_, hot), read) in without {
        let first = read.asks.first();
        let (why, instead) = match first {
            Some(ask) if *hot > 0.0 && is_everything(ask) => {
                let why = format!(
                    "reads all rows of {}, for which an index would get about {hot:.0} write units a second on one partition key value",
                    ask.root.name.name
                );
                (why, SCAN)
            }
            Some(ask) if is_area(ask, catalog) => {
                let why = structure::reason(ask, catalog);
                (
                    why,
                    "store a geohash or the number of a grid cell as an attribute, and query the cells of the area by their prefix",
                )
            }
            _ if *hot > 0.0 => {
                let why = format!(
                    "would need an index with about {hot:.0} write units a second on one partition key value, which accepts 1,000"
                );
                (
                    why,
                    "if it is worth the cost, spread the key with `shard(n)` and query every shard; otherwise use a Scan, export the table and query it with Athena, or feed another store from the stream",
                )
            }
            _ => {
                let mut why = first
                    .map(|ask| structure::reason(ask, catalog))
                    .unwrap_or_default();
                why.push_str(&unsortable_rows(&read.asks, facts).unwrap_or_default());
                (why, first.map_or("", structure::way_out))
            }
        };
        unserved.push((read.statement, Unserved { why, instead }));
    }
}

/// Whether a read asks for ranges of two coordinates.
fn is_area(ask: &Ask<'_>, catalog: &Catalog) -> bool {
    let ranges = ask.range.iter().map(|range| &range.path);
    let filters = ask.filters.iter().map(|filter| &filter.path);
    let coordinates = ranges.chain(filters).filter(|path| {
        let column = path.column_of(ask.root, catalog);
        column.is_some_and(|column| matches!(column.data_type, DataType::Float { .. }))
    });
    let coordinates: BTreeSet<&Path> = coordinates.collect();
    coordinates.len() > 1
}

const SCAN: &str = "read it by a Scan with a filter on the item type, or export the table to S3 and query it with Athena: neither needs a key";

/// Whether a read asks for all rows of its table.
fn is_everything(ask: &Ask<'_>) -> bool {
    ask.equal.is_empty()
        && ask.range.is_none()
        && ask.filters.is_empty()
        && ask.when.is_empty()
        && ask.limit.is_none()
        && ask.children.is_empty()
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
    placement: Placement,
    /// What it adds to the costs of an index.
    extras: Vec<(usize, f64)>,
    /// Whether it reads consistently, where that is asked for.
    is_consistent: bool,
}

/// Adds the collections whose children stand as reads of them alone want it.
fn add_sorted<'c>(all: &mut Vec<Structure<'c>>, wanted: &[Structure<'c>]) {
    let collections = all.iter().filter(|one| one.is_collection());
    let sorted = collections.flat_map(|one| {
        let wanted = wanted.iter();
        wanted.filter_map(move |other| structure::with_sorted(one, other))
    });
    let sorted: Vec<Structure<'c>> = sorted.take(UNIONS).collect();
    add_new(all, sorted);
}

/// Adds the collections that have the children of several others.
fn add_unions(all: &mut Vec<Structure<'_>>) {
    let collections = all.iter().filter(|one| one.is_collection());
    let collections: Vec<Structure<'_>> = collections.cloned().collect();
    let mut unions: Vec<Structure<'_>> = Vec::new();
    for one in &collections {
        let with = unions.iter().filter_map(|union| united(union, one));
        let with: Vec<Structure<'_>> = with.chain([one.clone()]).collect();
        for union in with {
            if unions.len() < UNIONS && !unions.iter().any(|known| known.same(&union)) {
                unions.push(union);
            }
        }
    }
    add_new(all, unions);
}

/// The way out for a read that would need one more index.
const MORE_INDEXES: &str =
    "allow more with --max-indexes, or write each item a second time under another key";

/// Items up to which an application may well sort or compute, and a filter leave out what is not wanted where its price is not
/// known.
const SHORT: f64 = 100.0;
/// Items up to which it may where that costs less than what else would do, or nothing else would.
const MANY: f64 = 10.0 * SHORT;
/// Keys of what reads have in common that are tried for a table, at most.
const COMMON: usize = 16;
/// Bytes that one Query reads.
const PAGE: f64 = 1_048_576.0;

/// Whether one Query reads all items of the most frequent value, as far as these were counted.
fn is_one_page(ask: &Ask<'_>, facts: Facts<'_>) -> bool {
    facts.is_counted(ask) && facts.most_found(ask) * facts.item(ask.root) <= PAGE
}

/// Adds the other forms of reads that find few items: fewer columns in the key and the rest by filter, sorted by the application.
fn add_relaxed(reads: &mut [Read<'_, '_>], facts: Facts<'_>) {
    let mut asked: BTreeMap<TableName, BTreeSet<Vec<Path>>> = BTreeMap::new();
    for ask in reads.iter().flat_map(|read| &read.asks) {
        let paths = ask.equal.iter().map(|equal| equal.path.clone());
        let known = asked.entry(ask.root.name.clone()).or_default();
        known.insert(paths.collect());
    }
    for known in asked.values_mut() {
        add_common(known);
    }
    for read in reads {
        let mut found: Vec<Ask<'_>> = Vec::new();
        let is_sortable = |ask: &Ask<'_>| facts.most_found(ask) <= MANY;
        // What is paid for in vain is a matter of its price.
        let is_priced = |ask: &Ask<'_>| facts.most_found(ask) <= SHORT || is_one_page(ask, facts);
        for ask in &read.asks {
            found.push(ask.clone());
            found.extend(ask::by_index(ask));
            let own: Vec<Path> = ask.equal.iter().map(|equal| equal.path.clone()).collect();
            let known = asked.get(&ask.root.name).into_iter().flatten();
            let kept =
                known.filter(|kept| !kept.is_empty() && kept.iter().all(|path| own.contains(path)));
            for kept in kept {
                for keeps_range in [true, false] {
                    let is_same = kept.len() == own.len()
                        && ask.when.is_empty()
                        && (keeps_range || ask.range.is_none());
                    if is_same || keeps_range && ask.range.is_none() && ask.equal.is_empty() {
                        continue;
                    }
                    found.extend(by_filter(ask, kept, keeps_range).filter(is_priced));
                }
            }
        }
        let unsorted = found.iter().filter_map(|ask| {
            let sql = ask.unsorted.clone().filter(|_| !ask.order.is_empty())?;
            let mut ask = ask.clone();
            ask.sql = sql;
            ask.leave_order();
            Some(ask).filter(is_sortable)
        });
        let unsorted: Vec<Ask<'_>> = unsorted.collect();
        found.extend(unsorted);
        found.retain(|ask| splits::finds_whole_rows(ask, facts.catalog));
        for ask in &mut found {
            note_ties(ask, facts.catalog);
        }
        read.asks = found;
    }
}

/// Adds what reads ask for in common: one key of it serves them by filters.
fn add_common(asked: &mut BTreeSet<Vec<Path>>) {
    let pairs = asked
        .iter()
        .flat_map(|one| asked.iter().map(move |other| (one, other)));
    let common = pairs.map(|(one, other)| -> Vec<Path> {
        let both = one.iter().filter(|path| other.contains(path));
        both.cloned().collect()
    });
    let known = |paths: &Vec<Path>| {
        let mut all = asked.iter();
        all.any(|one| one.len() == paths.len() && paths.iter().all(|path| one.contains(path)))
    };
    let common: BTreeSet<Vec<Path>> = common
        .filter(|paths| !paths.is_empty() && !known(paths))
        .collect();
    asked.extend(common.into_iter().take(COMMON));
}

/// Adds the reads by two requests in a row, each behind the same one by a single request.
pub(crate) fn add_fetches(reads: &mut [Read<'_, '_>], single: &BTreeSet<String>) {
    for read in reads.iter_mut().filter(|read| !read.statement.strong) {
        let is_single = single.contains(&read.statement.name);
        let asks = std::mem::take(&mut read.asks);
        read.asks = asks
            .into_iter()
            .flat_map(|ask| {
                // A Scan reads all rows for less. Both items of a row are found so alone.
                let may_fetch = !is_everything(&ask) && (!is_single || ask.twin.is_some());
                let fetching = ask.fetching().filter(|_| may_fetch);
                std::iter::once(ask).chain(fetching)
            })
            .collect();
    }
}

/// Whether no key that `design` writes escapes a text: it has no letter of a template, whose words are in capital letters.
fn is_never_escaped(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// Where delimiters in values are escaped, so are the letters of templates: texts that have them then neither sort as they are nor
/// stand as they are in the words of a query. `may_be_bare`: whether there may be sort keys without words, in which texts that are never
/// NULL keep their order: `%` stays the same sign, and U+0001 is less than all others. `may_stand`: whether a constant has none of these letters.
fn refuse_escaped<'w>(
    reads: &mut Vec<Read<'w, '_>>,
    facts: Facts<'_>,
    may_be_bare: bool,
    may_stand: impl Fn(&str) -> bool,
    unserved: &mut Vec<UnservedRead<'w>>,
) {
    let catalog = facts.catalog;
    // The names of item types stand in templates, in capital letters.
    let is_ascii = catalog
        .tables
        .iter()
        .all(|table| table.name.name.is_ascii());
    let is_text = |path: &Path, table: &Table| {
        let found = path.find(table, catalog);
        let is_same =
            found.is_some_and(|(at, column)| facts.observed.is_unescaped(at, &column.name));
        let is_kept = is_same && is_ascii && !path.may_be_null(table, catalog);
        path.is_loose(table, catalog) && !is_kept
    };
    reads.retain_mut(|read| {
        let rows = unsortable_rows(&read.asks, facts);
        let asks = read.asks.iter();
        let asks = asks.filter_map(|ask| ask::without_constants(ask, &may_stand));
        let asks = asks.filter_map(|mut ask| {
            let mut order = ask.order.iter();
            let sorts = !ask::is_one_row(&ask) && order.any(|(path, _)| is_text(path, ask.root));
            let mut range = ask.range.iter();
            let is_between =
                range.any(|range| range.prefix.is_none() && is_text(&range.path, ask.root));
            let mut sorted = false;
            for child in &mut ask.children {
                if child.order.iter().any(|(path, _)| is_text(path, child.table)) {
                    child.order.clear();
                    sorted = true;
                }
            }
            if sorted {
                ask.sql = ask.unsorted.take()?;
                ask.note(ask::CHILDREN_BY_KEY);
            }
            if let Some(range) = &ask.range
                && range.path.is_loose(ask.root, catalog)
            {
                ask.note(format!(
                    "keys are escaped, so some texts sort differently: the bounds of {} must not contain capital letters, `_`, `#` or `%`",
                    range.path.column
                ));
            }
            // What stands for NULL would be escaped too.
            let is_plain = |path: &Path| {
                !path.is_loose(ask.root, catalog) || !path.may_be_null(ask.root, catalog)
            };
            ask.is_bare = sorts
                && may_be_bare
                && ask.range.is_none()
                && ask.children.is_empty()
                && ask.twin.is_none()
                && ask.order.iter().all(|(path, _)| is_plain(path));
            let is_whole = splits::finds_whole_rows(&ask, catalog);
            ((!sorts || ask.is_bare) && !is_between && is_whole).then_some(ask)
        });
        read.asks = asks.collect();
        if read.asks.is_empty() {
            let why = "asks for an order or a range of texts with capital letters, `_` or `#`. Some values in keys hold `#`, so keys are escaped, and such texts sort differently in escaped keys";
            let instead = "keep `#` out of the values that are used in keys, or sort in the application";
            let why = format!("{why}{}", rows.unwrap_or_default());
            unserved.push((read.statement, Unserved { why, instead }));
        }
        !read.asks.is_empty()
    });
}

/// How many rows a read would leave to the application to sort, in words; `None` where that is no matter.
fn unsortable_rows(asks: &[Ask<'_>], facts: Facts<'_>) -> Option<String> {
    let sorted = asks
        .iter()
        .filter(|ask| !ask.order.is_empty() && ask.unsorted.is_some());
    let most = sorted.map(|ask| {
        let limit = None;
        facts.most_found(&Ask {
            limit,
            ..ask.clone()
        })
    });
    let least = most.reduce(f64::min).filter(|least| *least > MANY)?;
    Some(format!(
        "; `design` lets the application sort at most 1,000 rows, but here the most frequent value may have about {least:.0}"
    ))
}

/// Figures over more rows than the application may well read are not computed from items each time.
fn refuse_figures<'w>(
    reads: &mut Vec<Read<'w, '_>>,
    facts: Facts<'_>,
    unserved: &mut Vec<UnservedRead<'w>>,
) {
    reads.retain_mut(|read| {
        let most = read.asks.iter().map(|ask| facts.most_found(ask));
        let least = most.fold(f64::INFINITY, f64::min);
        // Where an item of figures would cost more, the application may well read some more.
        let has_kept = read.asks.iter().any(|ask| !ask.computes);
        read.asks.retain(|ask| {
            !ask.computes || facts.most_found(ask) <= MANY || has_kept && is_one_page(ask, facts)
        });
        if read.asks.is_empty() {
            let mut why =
                format!("would compute aggregates over {least:.0} rows or more at each call");
            let mut instead = ask::COUNTER;
            let unkept = unkept_figures(&read.statement.sql, facts.catalog, facts.observed);
            if let Some((column, way_out)) = unkept {
                why = format!("asks for aggregates that no item keeps: {column}");
                instead = way_out;
            }
            unserved.push((read.statement, Unserved { why, instead }));
        }
        !read.asks.is_empty()
    });
}

/// All structures that may serve something, and for each read the ways to serve it.
fn candidates<'c>(
    catalog: &'c Catalog,
    reads: &mut [Read<'_, 'c>],
    pricing: &Pricing<'_>,
) -> Candidates<'c> {
    let found = tried(catalog, reads, pricing);
    if found.ways.iter().all(|ways| !ways.is_empty()) {
        return found;
    }
    let without = found
        .ways
        .iter()
        .zip(&mut *reads)
        .zip(&found.hot)
        .filter(|((ways, _), _)| ways.is_empty());
    // What has no structure is read by what is equal alone, or by nothing, however much that is; what would be written too often
    // for one partition key value is spread over several.
    for ((_, read), hot) in without {
        let asks = std::mem::take(&mut read.asks);
        for ask in asks {
            if *hot > 0.0 {
                read.asks.extend(spread(&ask, *hot, catalog));
                read.asks.push(ask);
                continue;
            }
            let single = ask.equal.iter().map(|equal| vec![equal.path.clone()]);
            let all: Vec<Path> = ask.equal.iter().map(|equal| equal.path.clone()).collect();
            for kept in single.chain([all]) {
                read.asks.extend(by_filter(&ask, &kept, true));
            }
            read.asks.push(ask);
        }
    }
    tried(catalog, reads, pricing)
}

/// Write units a second that one shard is planned for: four fifths of what a partition takes, since no hash spreads evenly.
const SHARD_WRITES: f64 = 800.0;
/// US dollars a million requests beyond which no index is spread over shards for a read: a Scan or an export costs less.
const DEAREST: f64 = 1_000.0;
/// Shards that one read may well ask.
const SHARDS: u64 = 100;

/// The same read over so many shards that each takes its writes. All rows are read by a Scan rather.
fn spread<'c>(ask: &Ask<'c>, writes: f64, catalog: &Catalog) -> Option<Ask<'c>> {
    let shards = rounded((writes / SHARD_WRITES).ceil()).max(2);
    let is_other = is_everything(ask)
        || is_area(ask, catalog)
        || !ask.children.is_empty()
        || ask.fetches
        || ask.twin.is_some();
    if shards > SHARDS || is_other {
        return None;
    }
    let mut ask = ask.clone();
    ask.requests = ask.requests.saturating_mul(shards);
    ask.shards = shards;
    ask.note(format!(
        "one partition key value would get about {writes:.0} write units a second: it is spread over {shards} shards, and each read queries all of them"
    ));
    Some(ask)
}

/// What may be chosen.
struct Candidates<'c> {
    structures: Vec<Structure<'c>>,
    /// For each read the ways to serve it.
    ways: Vec<Vec<Way>>,
    /// For each read the writes a second by which an index for it would pass what one partition takes; 0 where none would.
    hot: Vec<f64>,
}

impl Candidates<'_> {
    /// Gives a read its own copies of all structures that may be an index for it.
    fn set_alone(&mut self, read: usize) {
        let Some(ways) = self.ways.get_mut(read) else {
            return;
        };
        let mut copies: BTreeMap<usize, usize> = BTreeMap::new();
        let mut all = Vec::new();
        for way in ways.drain(..) {
            if way.placement != Placement::Index {
                all.push(Way {
                    placement: Placement::BaseTable,
                    extras: Vec::new(),
                    ..way.clone()
                });
            }
            if way.placement == Placement::BaseTable {
                continue;
            }
            let copy = *copies.entry(way.structure).or_insert_with(|| {
                let copy = self.structures.get(way.structure).cloned();
                self.structures.extend(copy);
                self.structures.len().saturating_sub(1)
            });
            all.push(Way {
                structure: copy,
                placement: Placement::Index,
                ..way
            });
        }
        *ways = all;
    }

    /// Has a read find items of the table by their whole keys.
    fn set_by_key(&mut self, read: usize, asks: &[Ask<'_>]) {
        let Some(ways) = self.ways.get_mut(read) else {
            return;
        };
        ways.retain_mut(|way| {
            let structure = self.structures.get(way.structure);
            let part = structure.and_then(|one| one.parts.get(way.part));
            let found = asks.get(way.ask).zip(part);
            let is_index = way.placement == Placement::Index;
            way.placement = Placement::BaseTable;
            way.extras.clear();
            !is_index && found.is_some_and(|(ask, part)| report::gives_key(ask, part))
        });
    }
}

/// Collections made of others, at most.
const UNIONS: usize = 64;

/// The places of structures, by the tables whose rows they have.
fn by_table<'c>(all: &[Structure<'c>]) -> BTreeMap<&'c TableName, Vec<usize>> {
    let mut found: BTreeMap<&TableName, Vec<usize>> = BTreeMap::new();
    for (at, structure) in all.iter().enumerate() {
        let tables = structure.parts.iter().map(|part| &part.table.name);
        for table in tables.collect::<BTreeSet<_>>() {
            found.entry(table).or_default().push(at);
        }
    }
    found
}

#[expect(
    clippy::too_many_lines,
    reason = "each way to serve each read, with what it costs"
)]
fn tried<'c>(
    catalog: &'c Catalog,
    reads: &[Read<'_, 'c>],
    pricing: &Pricing<'_>,
) -> Candidates<'c> {
    let mut partitions: BTreeMap<TableName, BTreeSet<Vec<KeyPart>>> = BTreeMap::new();
    for ask in reads.iter().flat_map(|read| &read.asks) {
        let equal = ask.equal.iter().map(KeyPart::of_equal);
        partitions
            .entry(ask.root.name.clone())
            .or_default()
            .insert(equal.collect());
        for child in structure::children(ask, catalog) {
            let known = partitions.entry(child.table.name.clone()).or_default();
            known.insert(child.partition);
        }
    }
    let mut all: Vec<Structure<'c>> = Vec::new();
    // For reads as they are, without what a filter or the application may do.
    let mut strict: Vec<Structure<'c>> = Vec::new();
    let mut of_first: BTreeMap<&TableName, Vec<usize>> = BTreeMap::new();
    for read in reads {
        // By the keys that an index gives nothing else is found than by its items.
        for (place, ask) in read.asks.iter().enumerate().filter(|(_, ask)| !ask.fetches) {
            let Some(known) = partitions.get(&ask.root.name) else {
                continue;
            };
            for structure in structures(ask, known, &read.statement.name, catalog) {
                let alike = of_first.entry(&ask.root.name).or_default();
                strict.extend((place == 0).then(|| structure.clone()));
                let is_same = |at: &&usize| all.get(**at).is_some_and(|one| one.same(&structure));
                let known = alike.iter().find(is_same).copied();
                match known.and_then(|at| all.get_mut(at)) {
                    Some(known) => known.named = known.named.take().min(structure.named),
                    None => {
                        alike.push(all.len());
                        all.push(structure);
                    }
                }
            }
        }
    }
    add_sorted(&mut all, &strict);
    add_unions(&mut all);
    let with_table = by_table(&all);
    let mut hot: Vec<f64> = Vec::new();
    let ways = reads.iter().map(|read| {
        let mut ways = Vec::new();
        let mut hottest = 0.0;
        // By structure what the read before costs at most in an index, all that it adds included.
        let mut single: BTreeMap<usize, f64> = BTreeMap::new();
        for (place, ask) in read.asks.iter().enumerate() {
            if !ask.fetches {
                single.clear();
            }
            // No other structure has its rows.
            let candidates = with_table.get(&ask.root.name).into_iter().flatten();
            for (at, structure) in candidates.filter_map(|at| Some((*at, all.get(*at)?))) {
                let Some(part) = serves(structure, ask, catalog) else {
                    continue;
                };
                let others = others(structure, ask);
                let writes = pricing.hottest(structure, part, ask);
                let apart = pricing.apart(read.statement, ask);
                let common = pricing.copies(ask) + apart + pricing::heat(writes);
                let price =
                    |in_index| pricing.read(read.statement, ask, in_index, &others) + common;
                let at_one_key = pricing.hottest_in_base_table(structure, part);
                // An item of its own stands somewhere, however often it is written.
                let is_row = structure.parts.get(part).is_some_and(Part::is_row);
                let is_cool = is_row || at_one_key <= PARTITION_WRITES;
                let can_be_base_table = is_cool && pricing.can_be_base_table(structure);
                let (in_base_table, in_index) = (price(false), price(true));
                let strong = read.statement.strong;
                let extras = pricing.extras(structure, ask);
                let added = extras.iter().map(|(_, cost)| cost).sum::<f64>();
                let kept = pricing.index(structure) + added;
                let requests = Pricing::rate(read.statement) * pricing::MONTH / 1e6;
                // An index that has to be spread is not worth any cost.
                let is_dear = structure.shards > 1 && kept > DEAREST * requests;
                let is_hot = writes > PARTITION_WRITES || is_dear;
                // One that gathers everything takes the table's own key from all others, and these would need the index.
                let is_all = structure.named.is_some() && structure.shards > 1;
                let way = |placement: Placement, cost: f64| Way {
                    ask: place,
                    structure: at,
                    part,
                    cost,
                    rate: Pricing::rate(read.statement),
                    placement,
                    extras: match placement {
                        Placement::BaseTable => Vec::new(),
                        Placement::Any | Placement::Index => extras.clone(),
                    },
                    is_consistent: !strong || placement == Placement::BaseTable,
                };
                if ask.fetches {
                    // The table's own items are whole already.
                    let is_dearer = single.get(&at).is_some_and(|cost| *cost <= in_index);
                    if !is_hot && !is_dearer {
                        ways.push(way(Placement::Index, in_index));
                    }
                    continue;
                }
                if !is_hot {
                    single.insert(at, in_index + added);
                }
                if is_hot && (!can_be_base_table || is_dear && is_all) {
                    let all = writes * float(structure.shards);
                    hottest = if hottest > 0.0 { all.min(hottest) } else { all };
                    continue;
                }
                if is_hot {
                    ways.push(way(Placement::BaseTable, in_base_table));
                } else if !can_be_base_table {
                    ways.push(way(Placement::Index, in_index));
                } else if strong || (in_base_table - in_index).abs() > 1e-9 {
                    ways.push(way(Placement::BaseTable, in_base_table));
                    ways.push(way(Placement::Index, in_index));
                } else {
                    ways.push(way(Placement::Any, in_base_table));
                }
            }
        }
        hot.push(hottest);
        ways
    });
    let ways = ways.collect();
    Candidates {
        structures: all,
        ways,
        hot,
    }
}

/// Item types of a collection that a read does not want and reads all the same, with how many of them there are for a parent.
fn others<'c>(structure: &Structure<'c>, ask: &Ask<'_>) -> Vec<(&'c Table, f64)> {
    if ask.children.is_empty() {
        return Vec::new();
    }
    let parts = structure.parts.iter().skip(1).filter(|part| {
        let mut children = ask.children.iter();
        !children.any(|child| child.table.name == part.table.name)
            && structure.reads_child(ask, part)
    });
    parts
        .map(|part| (part.table, facts::rows(part.table) / facts::rows(ask.root)))
        .collect()
}

/// The names of so many indexes, the keys of which are kept apart from columns.
fn index_names(catalog: &Catalog, most: usize) -> Vec<IndexNames> {
    let mut columns = catalog.tables.iter().flat_map(|table| &table.columns);
    let is_key = |name: &str| {
        let name = name.trim_start_matches('_');
        name.starts_with("GSI") && (name.ends_with("PK") || name.ends_with("SK"))
    };
    let prefix = text_if(columns.any(|column| is_key(&column.name)), "__");
    let names = |slot: usize| IndexNames {
        name: format!("GSI{slot}"),
        partition: format!("{prefix}GSI{slot}PK"),
        sort: format!("{prefix}GSI{slot}SK"),
        is_shared: false,
    };
    (1..=most).map(names).collect()
}

/// The parts of the chosen structures, and those of the keys that item types have of their own.
fn parts<'c>(
    catalog: &'c Catalog,
    pins: &Pins,
    structures: &[Structure<'c>],
    slots: &BTreeMap<usize, usize>,
) -> Vec<structure::Part<'c>> {
    let used = slots.keys().filter_map(|at| structures.get(*at));
    let chosen = used.flat_map(|structure| structure.parts.iter().cloned());
    let own = catalog.tables.iter().filter(|table| has_items(table));
    let own = own.map(|table| own_part(catalog, table, pins));
    chosen.chain(own).collect()
}

/// Whether a table's rows become items.
fn has_items(table: &Table) -> bool {
    table.is_stored() && table.readable && !table.row_key().is_empty()
}

/// The columns at which parts of keys end, each once.
fn key_columns<'p>(
    catalog: &Catalog,
    keys: impl Iterator<Item = (&'p Part<'p>, &'p KeyPart)>,
    is_wanted: impl Fn(&Column) -> bool,
) -> Vec<(TableName, String)> {
    let columns = keys.filter_map(|(part, key)| key.path.find(part.table, catalog));
    let wanted = columns.filter(|(_, column)| is_wanted(column));
    let places = wanted.map(|(table, column)| (table.name.clone(), column.name.clone()));
    let places: BTreeSet<(TableName, String)> = places.collect();
    places.into_iter().collect()
}

/// Columns of whole numbers in sort keys.
fn padded(catalog: &Catalog, parts: &[Part<'_>]) -> Vec<(TableName, String)> {
    let keys = parts.iter();
    let keys = keys.flat_map(|part| part.sort.iter().map(move |key| (part, key)));
    key_columns(catalog, keys, |column| {
        let data_type = &column.data_type;
        matches!(data_type, DataType::Integer { unsigned, .. } if !unsigned)
    })
}

/// Columns of text in keys.
fn texts(catalog: &Catalog, parts: &[Part<'_>]) -> Vec<(TableName, String)> {
    let keys = parts.iter();
    let keys = keys.flat_map(|part| part.keys().map(move |key| (part, key)));
    key_columns(catalog, keys, path::is_loose)
}

/// Columns of text that can be told from what stands behind them in keys only while they do not hold the delimiter. The only text of a
/// partition key can always: it is what remains between the words and values around it.
fn before_delimiters(catalog: &Catalog, parts: &[Part<'_>]) -> Vec<(TableName, String)> {
    let keys = parts.iter().flat_map(|part| {
        let is_loose = move |key: &&KeyPart| key.path.is_loose(part.table, catalog);
        let partition = part.partition.iter().filter(is_loose).rev().skip(1);
        // Behind what is sorted by stands another sign.
        let sort = part.sort.iter().enumerate().rev().skip(1);
        let sort = sort.filter(move |(at, _)| part.separator(*at, catalog) == '#');
        let keys = partition.chain(sort.map(|(_, key)| key));
        keys.map(move |key| (part, key))
    });
    key_columns(catalog, keys, path::is_loose)
}

/// What fewer indexes than were chosen would cost more, or leave unserved of the first `asked` reads; the others are the searches of writes.
/// `lacking`: reads for which there was no index before.
fn alternatives(
    problem: &Problem,
    ways: &[Vec<Way>],
    (reads, asked): (&[Read<'_, '_>], usize),
    chosen: &Solution,
    lacking: &[String],
) -> Vec<Alternative> {
    let used = chosen.slots.values().max().copied().unwrap_or(0);
    // Without what stands for reads that are not served or not consistent.
    let priced = |solution: &Solution| {
        let (mut unserved, mut scans) = (Vec::new(), Vec::new());
        let (mut cost, mut not_consistent) = (solution.cost, 0);
        let all = ways.iter().zip(&solution.reads).zip(reads);
        for (at, ((ways, choice), read)) in all.enumerate() {
            match choice.and_then(|choice| ways.get(choice)) {
                Some(way) if !way.is_consistent => {
                    not_consistent += 1;
                    cost -= INCONSISTENT * (1.0 + way.rate);
                }
                None if !ways.is_empty() => {
                    let names = if at < asked {
                        &mut unserved
                    } else {
                        &mut scans
                    };
                    names.push(read.statement.name.clone());
                }
                _ => {}
            }
        }
        (cost, unserved, scans, not_consistent)
    };
    let (least, left, scanned, _) = priced(chosen);
    let alternative = |indexes: usize| {
        let solution = solve(&Problem {
            most_indexes: indexes,
            ..problem.clone()
        });
        let (cost, mut unserved, mut with_scans_of, not_consistent) = priced(&solution);
        let usd_month = (unserved.is_empty() && left.is_empty()).then_some(cost - least);
        if usd_month.is_none() {
            unserved.extend(lacking.iter().cloned());
            unserved.sort();
        }
        with_scans_of.retain(|write| !scanned.contains(write));
        Alternative {
            indexes,
            usd_month,
            unserved,
            not_consistent,
            with_scans_of,
        }
    };
    (0..used).rev().take(3).map(alternative).collect()
}

fn header(catalog: &Catalog, is_guessed: bool) -> String {
    let table = table_name(catalog);
    let name = format!("${{TABLE_NAME:-{table}}}");
    // What YAML takes for something else than text, such as `null`.
    let name = if scalar(&table) == table {
        name
    } else {
        quoted(&name)
    };
    let schema = format!("{} `{}`", catalog.dbms, catalog.database.replace('\n', " "));
    let about = if is_guessed {
        format!(
            "# Proposed by Dynafold from the schema of {schema}. The access patterns are guessed from keys and foreign keys:
# delete those that you do not need. With your SQL, `dynafold design --workload FILE` proposes a better mapping.
# The comment behind a key names the access patterns that use it."
        )
    } else {
        format!(
            "# Proposed by `dynafold design` from the schema of {schema} and its workload.
# The comment behind a key names the statements that use it."
        )
    };
    format!(
        "{about} Edit it. Then `dynafold check` checks it, and `verify` and
# `verify --patterns` test it with the real data.
dynafold: 1

table:
  name: {name}
"
    )
}

#[cfg(test)]
mod tests {
    use dynafold_dynamodb::price::SHIPPED;
    use dynafold_relational::catalog::sample::shop;

    use super::*;

    /// Rows by their key, a parent by another key with its children, pages, figures, sparse and spread indexes, and what is
    /// written more often than it is read by another key.
    const READS: [&str; 12] = [
        "SELECT * FROM users WHERE id = :id",
        "SELECT * FROM orders WHERE id = :id",
        "SELECT u.id, u.email, o.id AS oid, o.placed_at FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE u.email = :e",
        "SELECT u.id, u.email, o.id AS oid FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE u.id = :u",
        "SELECT id, placed_at FROM orders WHERE user_id = :u ORDER BY placed_at DESC LIMIT 10 OFFSET 10",
        "SELECT id FROM orders WHERE placed_at >= :a AND placed_at < :b ORDER BY placed_at LIMIT 9",
        "SELECT id FROM orders WHERE user_id IS NULL",
        "SELECT user_id, count(*) AS n FROM orders GROUP BY user_id ORDER BY n DESC LIMIT 3",
        "SELECT count(*) FROM orders WHERE user_id = :u",
        "SELECT no, price FROM \"Order Details\" WHERE \"Order ID\" = :o ORDER BY no",
        "SELECT \"Order ID\", no, total FROM \"Order Details\" WHERE price = :p",
        "SELECT id, placed_at FROM orders WHERE user_id = :u",
    ];
    const WRITES: [&str; 6] = [
        "INSERT INTO orders (id) VALUES (:id)",
        "UPDATE orders SET user_id = :u WHERE id = :id",
        "UPDATE orders SET placed_at = :at WHERE id = :id",
        "UPDATE users SET email = :e WHERE id = :id",
        "INSERT INTO \"Order Details\" (no) VALUES (:no)",
        "UPDATE \"Order Details\" SET total = :t WHERE \"Order ID\" = :o AND no = :no",
    ];

    #[test]
    fn the_rows_of_a_write_are_searched_in_its_own_table_behind_another_one_that_is_called_the_same()
     {
        let mut catalog = shop();
        let mut other = catalog.find("users").unwrap().clone();
        other.name.schema = "later".to_owned();
        catalog.search_path.push("later".to_owned());
        catalog.tables.push(other.clone());
        let id = "id".to_owned();
        assert_eq!(
            by_columns(&catalog, &other, &BTreeSet::from([&id])),
            r#"SELECT "id" FROM later.users WHERE "id" = :p1"#
        );
    }

    /// The indexes of a proposal for tables as [`traps::tests::schema`] reads them.
    fn indexes_for(tables: &str, sql: &str) -> usize {
        let (catalog, limits) = traps::tests::schema(tables);
        let found = traps::tests::all_served(&catalog, &limits, sql);
        found.report.indexes.len()
    }

    #[test]
    fn an_insert_gives_the_columns_that_it_leaves_out_their_defaults() {
        let mut table = Table::new(TableName::default(), TableKind::Table);
        for (name, default, nullable) in [
            ("id", None, false),
            ("note", None, true),
            ("state", Some("'new'::text"), false),
            ("at", Some("now()"), false),
            ("rank", None, false),
        ] {
            let mut column = Column::new(name.to_owned(), String::new(), DataType::Boolean);
            column.default = default.map(str::to_owned);
            column.nullable = nullable;
            table.columns.push(column);
        }
        let values = |table: &Table, sql: &str| {
            let write = write_statement(sql, Dbms::Postgres).unwrap();
            said_values(&write, table, Dbms::Postgres).after
        };
        let left_out = [
            ("note".to_owned(), Constant::Null),
            ("state".to_owned(), Constant::Text("new".to_owned())),
            ("at".to_owned(), Constant::Other),
        ];
        let sql = "INSERT INTO t (id) VALUES (:id)";
        assert_eq!(values(&table, sql), BTreeMap::from(left_out));
        assert_eq!(
            values(&table, "INSERT INTO t VALUES (:id, :n, :s, :a, :r)"),
            BTreeMap::new()
        );
        // Without column names the values are those of the visible columns.
        table.columns[1].invisible = true;
        let state = ("state".to_owned(), Constant::Text("old".to_owned()));
        assert_eq!(
            values(&table, "INSERT INTO t VALUES (:id, 'old', :a, :r)"),
            BTreeMap::from([state])
        );
        // A trigger may set any of them.
        table.triggers = Some(vec![Trigger {
            name: "fill".to_owned(),
            event: "BEFORE INSERT OR UPDATE".to_owned(),
        }]);
        assert_eq!(values(&table, sql), BTreeMap::new());
    }

    #[test]
    fn a_write_says_a_boolean_as_a_number_too() {
        let (mut catalog, _) = traps::tests::schema("mysql\nt 10: id, is_live bool, n");
        catalog.tables[0].columns[1].default = Some("0".to_owned());
        let said = |sql: &str, column: &str| {
            let write = write_statement(sql, Dbms::Mysql).unwrap();
            let said = said_values(&write, &catalog.tables[0], Dbms::Mysql);
            [said.before, said.after].map(|values| values.get(column).cloned())
        };
        let is = |value| Some(Constant::Boolean(value));
        for (sql, expected) in [
            ("INSERT INTO t (id) VALUES (:i)", [None, is(false)]),
            ("INSERT INTO t VALUES (:i, 1, :n)", [None, is(true)]),
            (
                "UPDATE t SET is_live = 1 WHERE id = :i AND is_live = 0",
                [is(false), is(true)],
            ),
        ] {
            assert_eq!(said(sql, "is_live"), expected, "{sql}");
        }
        let one = Some(Constant::Number("1".to_owned()));
        let sql = "UPDATE t SET n = TRUE WHERE id = :i";
        assert_eq!(said(sql, "n"), [None, one]);
    }

    #[test]
    fn a_write_that_is_not_read_says_so_in_plain_words() {
        let (catalog, limits) = traps::tests::schema("mysql\na 10: id, x\nb 10: id, x");
        let sql = "-- both (1/s)\nUPDATE a JOIN b ON b.id = a.id SET a.x = 1, b.x = 1;
            -- listed (1/s)\nUPDATE a, b SET b.x = 1 WHERE b.id = a.id;
            -- taken (1/s)\nDELETE a, b FROM a JOIN b ON b.id = a.id;
            -- cleared (1/s)\nTRUNCATE TABLE a;
            -- bare (1/s)\nUPDATE a JOIN b ON b.id = a.id SET x = 1 WHERE a.id = :id;
            -- broken (1/s)\nUPDATE a SET x = 1 WHERE;
            -- other (1/s)\nUPDATE a JOIN b ON b.id = a.id SET b.x = 1 WHERE a.id = :id;";
        let report = traps::tests::designed(&catalog, &limits, sql).report;
        let reads = report.reads.iter();
        let told = reads.map(|read| (&*read.name, read.why_not.as_deref().unwrap_or_default()));
        let told: BTreeMap<&str, &str> = told.collect();
        for (name, words) in [
            ("both", "updates several tables at once"),
            ("listed", "updates several tables at once"),
            ("taken", "deletes from several tables at once"),
            ("cleared", "TRUNCATE"),
            ("bare", "names a column without its table"),
            ("broken", "its SQL cannot be read"),
        ] {
            let why = told.get(name).copied().unwrap_or_default();
            assert!(why.contains(words), "{name}: {why}");
        }
        // One that sets the columns of one table is a write of that one.
        assert_eq!(report.writes.len(), 1);
        assert!(!told.contains_key("other"));
    }

    #[test]
    fn a_write_by_the_rowid_is_one_by_the_column_that_is_the_rowid() {
        let (mut catalog, _) = traps::tests::schema("t 10: id, a");
        let other = catalog.clone();
        catalog.dbms = Dbms::Sqlite;
        "INTEGER".clone_into(&mut catalog.tables[0].columns[0].declared);
        for name in ["rowid", "_rowid_", "OID"] {
            let sql = format!("INSERT INTO t ({name}, a) VALUES (:i, :a)");
            let write = write_statement(&sql, Dbms::Sqlite).unwrap();
            assert!(written_table(&write, &other).is_err(), "{name}");
            let table = written_table(&write, &catalog).unwrap();
            let write = with_own_names(write, table, catalog.dbms);
            assert_eq!(write.inserted.unwrap(), ["id", "a"]);
        }
        let delete = "DELETE FROM t WHERE rowid IN (:r, :s)";
        let delete = write_statement(delete, Dbms::Sqlite).unwrap();
        let delete = with_own_names(delete, &catalog.tables[0], catalog.dbms);
        assert_eq!(delete.found_by, ["id"]);
        assert!((rows_written(&delete, &catalog.tables[0]) - 2.0).abs() < 1e-9);
        // Where no column is the rowid, it is no column of the table.
        catalog.tables[0].columns[0].declared.clear();
        let insert = write_statement("INSERT INTO t (rowid) VALUES (1)", Dbms::Sqlite).unwrap();
        assert!(written_table(&insert, &catalog).is_ok());
    }

    #[test]
    fn an_array_of_unknown_length_writes_a_page_of_rows() {
        let (catalog, _) = traps::tests::schema("t 10: id, a");
        let delete = write_statement("DELETE FROM t WHERE id = ANY($1)", Dbms::Postgres).unwrap();
        let rows = rows_written(&delete, &catalog.tables[0]);
        assert!((rows - float(ask::PAGE)).abs() < 1e-9);
    }

    /// Reads for which there is an index, which others may share for nothing.
    const CARTS: &str = "carts 300: id, customer distinct=100 most=5\n";
    const CART_READS: &str = "-- cart (1/s)\nSELECT id FROM carts WHERE id = :id;
        -- cartsOf (1/s)\nSELECT id FROM carts WHERE customer = :c;\n";

    #[test]
    fn reads_share_the_index_of_what_they_ask_for_in_common() {
        let orders = "orders 6000: id, tenant distinct=60 most=200, number, status text distinct=4 most=4000, placed";
        let sql = "-- order (45/s)\nSELECT * FROM orders WHERE id = :id;
            -- byNumber (12/s)\nSELECT id, status FROM orders WHERE tenant = :t AND number = :n;
            -- toShip (3/s)\nSELECT id, number FROM orders WHERE tenant = :t AND status = 'paid' ORDER BY placed, id LIMIT 50;";
        let (catalog, mut limits) = traps::tests::schema(orders);
        limits.indexes = 1;
        let found = traps::tests::all_served(&catalog, &limits, sql);
        assert!(found.mapping.contains("filter: "), "{}", found.mapping);
        assert_eq!(found.report.indexes.len(), 1);
    }

    #[test]
    fn a_list_does_not_read_what_an_index_projects_for_others() {
        let tables = "notes 9000: id, author distinct=100 most=90, body text longest=400
            posts 900: id, slug text unique, body text longest=400";
        let sql = "-- note (900/s, strong)\nSELECT * FROM notes WHERE id = :id;
            -- post (900/s, strong)\nSELECT * FROM posts WHERE id = :id;
            -- notesOf (100/s)\nSELECT id FROM notes WHERE author = :a;
            -- bySlug (100/s)\nSELECT id, body FROM posts WHERE slug = :s;";
        let (catalog, limits) = traps::tests::schema(tables);
        let found = traps::tests::all_served(&catalog, &limits, sql);
        let mut reads = found.report.reads.iter();
        let list = reads.find(|read| read.name == "notesOf").unwrap();
        let units = list.served.as_ref().unwrap().units;
        // Those of 90 entries without the body of each.
        assert!(units < 3.0, "{units} {}", found.mapping);
    }

    #[test]
    fn where_keys_are_escaped_texts_sort_by_a_key_without_words() {
        let tables = "codes 90: id, code text hash
            users 3000: id, tenant distinct=20 most=1500, name text, nick text null";
        let sql = "-- list (9/s)\nSELECT id, name FROM users WHERE tenant = :t ORDER BY name, id LIMIT 50;";
        let (catalog, limits) = traps::tests::schema(tables);
        let mapping = traps::tests::all_served(&catalog, &limits, sql).mapping;
        for text in [
            "key_escape: percent",
            "GSI1PK: \"USERS.TENANT#{tenant}\"",
            "GSI1SK: \"{name}\\u0001{id | pad(20)}\"",
        ] {
            assert!(mapping.contains(text), "{text}: {mapping}");
        }
        // What stands for NULL would be escaped.
        let by_nick = sql.replace("ORDER BY name", "ORDER BY nick");
        let report = traps::tests::designed(&catalog, &limits, &by_nick).report;
        assert!(!report.serves_all(), "{report:#?}");
    }

    #[test]
    fn the_only_text_of_a_partition_key_may_hold_the_delimiter() {
        let tables = "tags 9000: id, tag text distinct=900 most=20, tenant, kind text";
        let (catalog, limits) = traps::tests::schema(tables);
        for (equal, looked_at) in [
            ("tag = :g AND tenant = :t", vec![]),
            ("tag = :g AND kind = :k", vec!["kind"]),
            ("tag = :g AND kind = :k AND tenant = :t", vec!["kind"]),
        ] {
            let sql = format!("-- byTag (9/s)\nSELECT id FROM tags WHERE {equal};");
            let found = traps::tests::all_served(&catalog, &limits, &sql);
            let columns = found.before_delimiters.iter().map(|(_, column)| &**column);
            let columns: Vec<&str> = columns.collect();
            assert_eq!(columns, looked_at, "{}", found.mapping);
        }
    }

    #[test]
    fn items_have_their_types_name_where_a_text_may_look_like_the_partition_key_of_another() {
        let tables = "notes 9000: id, tag text distinct=900 most=20
            links 9000: id, tag text distinct=900 most=20, tenant";
        let sql = "-- note (900/s, strong)\nSELECT * FROM notes WHERE id = :id;
            -- link (900/s, strong)\nSELECT * FROM links WHERE id = :id;
            -- notesOf (9/s)\nSELECT id FROM notes WHERE tag = :g;
            -- linksOf (9/s)\nSELECT id FROM links WHERE tag = :g AND tenant = :t;";
        for (kind, name) in [("tag text", "NOTES#"), ("tag", "")] {
            let (catalog, mut limits) = traps::tests::schema(&tables.replace("tag text", kind));
            limits.indexes = 1;
            let mapping = traps::tests::all_served(&catalog, &limits, sql).mapping;
            let keys = format!("GSI1PK: \"TAG#{{tag}}\"    # notesOf\n      GSI1SK: \"{name}{{id");
            assert!(mapping.contains(&keys), "{keys}: {mapping}");
        }
    }

    #[test]
    fn where_costs_tie_a_read_is_served_by_the_key_of_the_table() {
        for (tables, sql, key) in [
            (
                "refunds 300: id, order_no distinct=200 most=3",
                "-- refundsOf (2/s)\nSELECT id FROM refunds WHERE order_no = :o;",
                "key: { PK: \"ORDER_NO#{order_no}\"",
            ),
            // No key finds the row of the update, whichever it is.
            (
                "shifts 300: id, driver distinct=100 most=5, zone distinct=10 most=40, starts, ends null",
                "-- shiftsOf (1/s)\nSELECT id, ends FROM shifts WHERE zone = :z AND starts >= :a AND starts < :b ORDER BY starts;
                -- begin (0.1/s)\nINSERT INTO shifts (id, driver, zone, starts) VALUES (:i, :d, :z, :s);
                -- end (0.1/s)\nUPDATE shifts SET ends = :e WHERE driver = :d;",
                "key: { PK: \"ZONE#{zone}\"",
            ),
        ] {
            let (catalog, limits) = traps::tests::schema(&format!("{CARTS}{tables}"));
            let sql = format!("{CART_READS}{sql}");
            let found = traps::tests::all_served(&catalog, &limits, &sql);
            assert!(found.mapping.contains(key), "{}", found.mapping);
            assert_eq!(found.report.indexes.len(), 1);
        }
    }

    #[test]
    fn the_items_of_figures_are_written_in_the_table_too_where_an_index_serves_them() {
        let events =
            "events 40000: id, kind distinct=60 most=2000, day distinct=300 most=900, a, b, c, d";
        let sql = "-- perDay (0.5/s)\nSELECT day, count(*) AS n FROM events WHERE kind = :k GROUP BY day;
            -- sums (0.01/s)\nSELECT day, sum(a) AS a, sum(b) AS b, sum(c) AS c, sum(d) AS d FROM events WHERE kind = :k GROUP BY day;
            -- add (1/s)\nINSERT INTO events (id, kind, day, a, b, c, d) VALUES (:i, :k, :y, :a, :b, :c, :d);";
        let (catalog, limits) = traps::tests::schema(&format!("{CARTS}{events}"));
        let sql = format!("{CART_READS}{sql}");
        let found = traps::tests::all_served(&catalog, &limits, &sql);
        let in_index = found.mapping.matches("index: GSI").count();
        assert_eq!(in_index, 1, "{}", found.mapping);
    }

    #[test]
    fn a_filter_beside_a_limit_counts_the_rows_that_pass_it() {
        let (catalog, mut limits) = traps::tests::schema(
            "jobs 20000: id, kind distinct=20 most=1100, state text distinct=2 most=19980, at",
        );
        let table = catalog.find("jobs").unwrap().name.clone();
        let counted = (table, "jobs.state = 'new'".to_owned());
        limits.observed.conditions.insert(counted, 0.001);
        let sql = "-- take (200/s)\nSELECT id FROM jobs WHERE kind = :k AND state = 'new' ORDER BY at, id LIMIT 10;
            -- feed (20/s)\nSELECT id FROM jobs WHERE kind = :k ORDER BY at, id LIMIT 20;
            -- fin (5/s)\nUPDATE jobs SET state = :s WHERE id = :id;";
        let found = traps::tests::designed(&catalog, &limits, sql);
        let is_sparse = found.mapping.contains("$when: \"jobs.state = 'new'\"");
        assert!(is_sparse, "{}", found.mapping);
    }

    #[test]
    fn what_no_item_keeps_is_computed_from_up_to_a_thousand_rows() {
        for (most, is_served) in [(163, true), (1163, false)] {
            let tables = format!("staff 3000: id, era distinct=20 most={most}, hired");
            let (catalog, limits) = traps::tests::schema(&tables);
            let sql =
                "-- perEra (1/s)\nSELECT count(*) AS n, max(hired) AS h FROM staff WHERE era = :e;";
            let report = traps::tests::designed(&catalog, &limits, sql).report;
            assert_eq!(report.serves_all(), is_served, "{report:#?}");
        }
    }

    #[test]
    fn reads_that_ask_the_same_in_other_words_share_an_index() {
        let leaves = "leaves 9000: id, approver distinct=300 most=60, state text distinct=4 most=8000, at, prio\n";
        let ids = "-- ids (1/s)\nSELECT id FROM leaves WHERE approver = :a AND state = 'pending' ORDER BY at, id;\n";
        let all = "-- all (1/s)\nSELECT l.id, l.at FROM leaves l WHERE l.state = 'pending' AND l.approver = :a ORDER BY l.at, l.id;\n";
        let decide = "-- decide (60/s)\nUPDATE leaves SET state = :s WHERE id = :id;\n";
        assert_eq!(indexes_for(leaves, &format!("{ids}{all}{decide}")), 1);
        let take = "-- take (9/s)\nSELECT id FROM leaves WHERE state = 'pending' AND at <= :now ORDER BY at, id LIMIT 10;\n";
        let overdue = "-- overdue (1/s)\nSELECT id, prio FROM leaves WHERE state = 'pending' AND at <= :now ORDER BY at, id LIMIT 100;\n";
        assert_eq!(indexes_for(leaves, &format!("{take}{overdue}{decide}")), 1);
    }

    /// Statements of two lists, each at one of these rates.
    fn drawn(random: &mut fastrand::Rng, reads: &[&str], writes: &[&str]) -> Vec<Statement> {
        let reads = (reads, "r", &[1.0, 40.0, 300.0][..]);
        let writes = (writes, "w", &[1.0, 40.0, 6_000.0][..]);
        let mut statements = Vec::new();
        for (all, letter, rates) in [reads, writes] {
            for at in 0..random.usize(1..=3) {
                statements.push(Statement {
                    name: format!("{letter}{at}"),
                    rate: Some(rates[random.usize(0..rates.len())]),
                    sql: all[random.usize(0..all.len())].to_owned(),
                    ..Statement::default()
                });
            }
        }
        statements
    }

    /// Whether a proposal's choice is as cheap as the cheapest of all; `None` where there are too many.
    fn is_cheapest((problem, solution): &(Problem, Solution)) -> Option<bool> {
        let ways = problem.reads.iter().map(|choices| choices.len().max(1));
        // A read that nothing serves has no choice.
        let mut left = problem.clone();
        left.reads.retain(|choices| !choices.is_empty());
        (ways.product::<usize>() <= 1_500).then(|| {
            let best = choose::tests::brute_force_cost(&left);
            (solution.cost - best).abs() <= 1e-9 * best.abs() + 1e-6
        })
    }

    #[test]
    fn of_the_keys_of_large_columns_no_choice_is_cheaper_than_the_one_that_is_found() {
        let reads = [
            "SELECT * FROM docs WHERE id = :id",
            "SELECT * FROM docs WHERE slug = :s",
            "SELECT * FROM docs WHERE slug = :s AND owner = :o",
            "SELECT id, views FROM docs WHERE slug = :s",
            "SELECT id, views FROM docs WHERE id = :id",
            "SELECT body FROM docs WHERE id = :id",
            "SELECT id, views FROM docs WHERE owner = :o ORDER BY id LIMIT 9",
            "SELECT * FROM docs WHERE owner = :o ORDER BY id LIMIT 3",
        ];
        let writes = [
            "UPDATE docs SET views = views + 1 WHERE id = :id",
            "UPDATE docs SET body = :b WHERE id = :id",
            "UPDATE docs SET slug = :s WHERE id = :id",
            "INSERT INTO docs (id, slug, owner, views, body) VALUES (:i, :s, :o, 0, :b)",
        ];
        let tables = "docs 4000: id, slug text unique, owner distinct=100 most=60, views, body text longest=3000";
        let (catalog, mut limits) = traps::tests::schema(tables);
        let prices = Prices::read(SHIPPED, None).unwrap();
        let table = catalog.find("docs").unwrap().name.clone();
        let both = "items: [DOCS, DOCS_BODY]\n    key: { PK: \"SLUG#{s}\"";
        let (mut tried, mut beside) = (0, 0);
        for seed in 0..150 {
            let mut random = fastrand::Rng::with_seed(seed);
            let statements = drawn(&mut random, &reads, &writes);
            limits.indexes = random.usize(1..=2);
            let apart = Apart {
                columns: BTreeSet::from(["body".to_owned()]),
                is_narrow: random.bool(),
            };
            let setting = SearchSetting {
                indexes: limits.indexes,
                large: Large::from([(table.clone(), apart)]),
                ..SearchSetting::default()
            };
            let proposal = proposal(&catalog, &statements, &prices, &limits, &setting);
            if let Some(is_cheapest) = is_cheapest(&proposal.problem) {
                assert!(is_cheapest, "{seed}: {}", proposal.design.mapping);
                tried += 1;
                beside += usize::from(proposal.design.mapping.contains(both));
            }
        }
        assert!(tried > 40 && beside > 2, "{tried} {beside}");
    }

    #[test]
    fn of_the_keys_that_find_copies_no_choice_is_cheaper_than_the_one_that_is_found() {
        let reads = [
            "SELECT t.id, t.state FROM tags g JOIN tickets t ON t.id = g.ticket WHERE g.tag = :tag",
            "SELECT g.id, t.team FROM tags g JOIN tickets t ON t.id = g.ticket WHERE g.id = :id",
            "SELECT id, state FROM tickets WHERE team = :team",
            "SELECT * FROM tickets WHERE id = :id",
        ];
        let writes = [
            "UPDATE tickets SET state = :s WHERE id = :id",
            "UPDATE tickets SET team = :t WHERE id = :id",
            "INSERT INTO tags (id, ticket, tag) VALUES (:i, :t, :g)",
            "UPDATE tags SET tag = :g WHERE id = :id",
        ];
        let tables = "tickets 6000: id, state text distinct=4 most=3000, team distinct=100 most=60
            tags 9000: id, ticket @tickets distinct=6000 most=4, tag text distinct=900 most=20";
        let (catalog, mut limits) = traps::tests::schema(tables);
        let prices = Prices::read(SHIPPED, None).unwrap();
        let (mut tried, mut found) = (0, 0);
        for seed in 0..150 {
            let mut random = fastrand::Rng::with_seed(seed);
            let statements = drawn(&mut random, &reads, &writes);
            limits.indexes = random.usize(1..=2);
            let mut setting = SearchSetting {
                indexes: limits.indexes,
                ..SearchSetting::default()
            };
            let propose = |setting: &SearchSetting| {
                proposal(&catalog, &statements, &prices, &limits, setting)
            };
            let first = propose(&setting);
            setting.found_copies = first.otherwise.scans_for.clone();
            if setting.found_copies.is_empty() {
                continue;
            }
            let proposal = propose(&setting);
            if let Some(is_cheapest) = is_cheapest(&proposal.problem) {
                assert!(is_cheapest, "{seed}: {}", proposal.design.mapping);
                tried += 1;
                found += usize::from(proposal.otherwise.scans_for.is_empty());
            }
        }
        assert!(tried > 5 && found > 2, "{tried} {found}");
    }

    #[test]
    fn of_real_candidates_no_choice_is_cheaper_than_the_one_that_is_found() {
        let mut catalog = shop();
        for table in &mut catalog.tables {
            table.estimated_rows = Some(if table.name.name == "users" {
                50
            } else {
                4_000
            });
        }
        let prices = r#"{"date": "2026-01-01", "default_region": "r", "regions": {"r": {
            "usd_per_million_write_units": 0.625, "usd_per_million_read_units": 0.125, "usd_per_gb_month": 0.25}}}"#;
        let prices = Prices::read(prices, None).unwrap();
        let (mut tried, mut spread, mut figures, mut fetched) = (0, 0, 0, 0);
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let statements = drawn(&mut random, &READS, &WRITES);
            let limits = Limits {
                indexes: random.usize(1..=2),
                ..Limits::default()
            };
            let setting = SearchSetting {
                indexes: limits.indexes,
                ..SearchSetting::default()
            };
            let proposal = proposal(&catalog, &statements, &prices, &limits, &setting);
            let Some(is_cheapest) = is_cheapest(&proposal.problem) else {
                continue;
            };
            let words: Vec<&str> = statements.iter().map(|one| &*one.sql).collect();
            assert!(is_cheapest, "{seed}: {words:#?}");
            tried += 1;
            spread += usize::from(words.iter().any(|sql| sql.contains("placed_at >= :a")));
            figures += usize::from(words.iter().any(|sql| sql.contains("count(")));
            let mut reads = proposal.design.report.reads.iter();
            fetched += usize::from(reads.any(|read| {
                let served = read.served.as_ref();
                served.is_some_and(|served| served.fetches > 0)
            }));
        }
        assert!(
            tried > 80 && spread > 10 && figures > 10 && fetched > 5,
            "{tried} {spread} {figures} {fetched}"
        );
    }
}
