//! The smallest change to a mapping that serves further reads. Keys that exist stay: what is added are access patterns, copied
//! attributes, indexes and item types.
//!
//! A read is served by a key that there is ([`Existing::serving`]), else by that of a new item type, else by an index, of which
//! the cheapest choice for all such reads is taken. What is added has to pass the checks of the mapping, without a new doubt
//! about what any access pattern answers.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::price::Prices;
use dynafold_dynamodb::{Index, KeyType, Projection};
use dynafold_format::joined;
use dynafold_mapping::Described;
use dynafold_mapping::diagnostic::Code;
use dynafold_mapping::model::Model;
use dynafold_mapping::scalar::quoted;
use dynafold_mapping::yaml::{YamlNode, parse};
use dynafold_relational::catalog::{Catalog, Table, TableName};
use serde::Serialize;

use crate::ask::{Ask, Note, Unserved, by_filter};
use crate::choose::solve;
use crate::edit::{Addition, Unwritable};
use crate::existing::{Existing, KeyCondition};
use crate::facts::Facts;
use crate::figures::{Figures, KeptFigures};
use crate::names::MappingNames;
use crate::observed::Observed;
use crate::pins::Expiries;
use crate::pricing::Pricing;
use crate::seconds::{TwoRequests, is_sql_of};
use crate::splits::Splits;
use crate::structure::{Part, Structure, own_part};
use crate::workload::Statement;
use crate::writes::Writes;
use crate::written::{
    IndexKey, IndexNames, Item, Placed, Projected, Writing, reference, within_limit,
};
use crate::{
    Candidates, Limits, Read, SHORT, Understood, Way, add_fetches, add_relaxed, before_delimiters,
    candidates, index_names, modelled, padded, placed_reads, reads_without, refuse_escaped,
    refuse_figures, understood, with_signed,
};

/// A mapping that is to serve more.
#[derive(Clone, Copy)]
pub struct Mapping<'m> {
    /// Its text.
    pub text: &'m str,
    /// Gives the value of an environment variable.
    pub variables: &'m dyn Fn(&str) -> Option<String>,
    /// What its queries give.
    pub described: &'m Described,
}

/// A mapping that serves more.
#[derive(Debug, Clone)]
pub struct Update {
    /// Its text: that of the mapping with lines between.
    pub mapping: String,
    /// The reads of the workload, by name.
    pub reads: Vec<UpdatedRead>,
    /// Columns of text that stand before a delimiter in a new key: if one of their values holds it, the key cannot be.
    pub before_delimiters: Vec<(TableName, String)>,
    /// Columns of whole numbers that are padded with zeros in a new key: a negative number cannot be.
    pub padded: Vec<(TableName, String)>,
}

/// A read of the workload.
#[derive(Debug, Clone, Serialize)]
pub struct UpdatedRead {
    /// The statement's name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What is added to the mapping for it; nothing where an access pattern of its name has its SQL,
    /// or where it is not served.
    pub changes: Vec<String>,
    /// What is left to the application, and what was changed.
    pub notes: Vec<String>,
    /// Why it is not served. Completes a sentence that begins with "it".
    pub why_not: Option<String>,
    /// What is usual instead.
    pub instead: Option<String>,
}

/// Why a mapping is not updated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// When the mapping has errors.
    #[error("the mapping has errors")]
    Mapping,
    /// When a pin says otherwise than a key that exists.
    #[error("`keep` asks for another key of `{item}`, but --update does not change existing keys")]
    Pin {
        /// The item type.
        item: String,
    },
    /// When the workload says that items expire.
    #[error(
        "--update does not change when items expire: set `ttl` in the mapping, and remove `-- expires:` from the workload"
    )]
    Expiry,
    /// When an addition would change what is there.
    #[error("the added lines would change `{name}`, but --update changes nothing that exists")]
    Changed {
        /// An item type, an index or an access pattern.
        name: String,
    },
}

/// Diagnostics that tell of answers which may not be those of the SQL.
const DOUBTS: [Code; 7] = [
    Code::ExtraItems,
    Code::ParameterForm,
    Code::UnusedParameter,
    Code::RangeEnd,
    Code::TextOrder,
    Code::OtherOrder,
    Code::SameKey,
];
/// Figures are kept by item types of their own, which an update does not add.
static NO_FIGURES: BTreeMap<TableName, KeptFigures> = BTreeMap::new();
/// Nor are large columns put apart, nor does anything expire anew.
static NO_EXPIRIES: Expiries = Expiries::new();
static NO_SPLITS: Splits = Splits::new();

const KEYS_STAY: &str =
    "leave this statement out, or design a new table and compare both with `--compare`";

/// Serves further reads by a mapping, its keys unchanged.
///
/// # Errors
///
/// [`UpdateError`] where the mapping has errors, or a pin wants another key.
pub fn update(
    mapping: &Mapping<'_>,
    catalog: &Catalog,
    statements: &[Statement],
    prices: &Prices,
    limits: &Limits,
) -> Result<Update, UpdateError> {
    if !limits.expiries.is_empty() {
        return Err(UpdateError::Expiry);
    }
    let catalog = &with_signed(catalog, &limits.signed);
    let mut statements: Vec<&Statement> = statements.iter().collect();
    statements.sort_by(|a, b| a.name.cmp(&b.name));
    let Understood {
        reads,
        mut unserved,
        writes,
        ..
    } = understood(catalog, &limits.observed, &Figures::default(), &statements);
    let facts = Facts {
        catalog,
        observed: &limits.observed,
    };
    let old = Growing::new(*mapping, catalog, limits).ok_or(UpdateError::Mapping)?;
    old.keeps_pins()?;
    let mut done: Vec<UpdatedRead> = Vec::new();
    let mut reads = new_reads(
        &old.model,
        (catalog, &limits.observed),
        reads,
        &mut unserved,
        &mut done,
    );
    refuse_kept_nulls(&old.existing(), &mut reads, &mut unserved);
    add_relaxed(&mut reads, facts);
    if old.escapes {
        // The item types of a mapping may have other letters in their keys.
        let observed = &Observed::default();
        refuse_escaped(&mut reads, Facts { catalog, observed }, &mut unserved);
    }
    refuse_figures(&mut reads, facts, &mut unserved);
    let mut growing = old.clone();
    let mut left: Vec<Read<'_, '_>> = Vec::new();
    for read in reads {
        let served = growing.by_keys(&read, facts);
        match served.or_else(|| growing.by_new_items(&read, facts)) {
            Some((grown, updated)) => {
                growing = grown;
                done.push(updated);
            }
            None => left.push(read),
        }
    }
    let further = Further {
        facts,
        prices,
        writes: &writes,
    };
    growing = growing.by_indexes(&further, left, &mut unserved, &mut done);
    if let Some(name) = changed(&old.model, &growing.model) {
        return Err(UpdateError::Changed { name });
    }
    done.extend(unserved.into_iter().map(|(statement, why)| UpdatedRead {
        why_not: Some(why.why),
        instead: Some(why.instead.to_owned()),
        ..UpdatedRead::of(statement, Vec::new(), &[])
    }));
    done.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Update {
        mapping: growing.text,
        reads: done,
        before_delimiters: before_delimiters(catalog, &growing.parts),
        padded: padded(catalog, &growing.parts),
    })
}

impl UpdatedRead {
    fn of(statement: &Statement, changes: Vec<String>, notes: &[Note]) -> Self {
        Self {
            name: statement.name.clone(),
            about: statement.about.clone(),
            changes,
            notes: notes.iter().map(ToString::to_string).collect(),
            why_not: None,
            instead: None,
        }
    }

    /// A line for those that are not served.
    pub fn not_served(&self) -> Option<String> {
        let instead = self.instead.as_deref().unwrap_or_default();
        let why = self.why_not.as_deref()?;
        Some(crate::report::not_served(&self.name, why, instead))
    }
}

/// The reads that the mapping has no access pattern for. Of a name that it has, the SQL must be the same.
fn new_reads<'w, 'c>(
    model: &Model,
    of_rows: (&Catalog, &Observed),
    reads: Vec<Read<'w, 'c>>,
    unserved: &mut Vec<(&'w Statement, Unserved)>,
    done: &mut Vec<UpdatedRead>,
) -> Vec<Read<'w, 'c>> {
    // Whether the access pattern of the statement's name, where there is one, answers its SQL.
    let answers = |statement: &Statement, asks: &[Ask<'c>]| {
        let mut patterns = model.patterns.iter();
        let pattern = patterns.find(|pattern| *pattern.name == *statement.name)?;
        let two = TwoRequests::of_model(model, of_rows, statement);
        let asks = asks.iter().chain(two.iter().flat_map(|two| &two.asks));
        let (own, dbms) = (pattern.sql.as_deref(), of_rows.0.dbms);
        Some(own.is_none_or(|own| is_sql_of(own, statement, dbms, asks)))
    };
    let mut new = Vec::new();
    let mut unread = Vec::new();
    let unserved_ones = std::mem::take(unserved).into_iter();
    let unserved_ones = unserved_ones.map(|(statement, why)| (statement, Err(why)));
    let reads = reads.into_iter().map(|read| (read.statement, Ok(read)));
    for (statement, read) in reads.chain(unserved_ones) {
        let asks = read.as_ref().map_or(&[][..], |read| read.asks.as_slice());
        match (answers(statement, asks), read) {
            (Some(true), _) => done.push(UpdatedRead::of(statement, Vec::new(), &[])),
            (Some(false), _) => unread.push((
                statement,
                Unserved {
                    why: "has the name of an access pattern that answers other SQL".to_owned(),
                    instead: "give it another name, or change that access pattern yourself",
                },
            )),
            (None, Ok(read)) => new.push(read),
            (None, Err(why)) => unread.push((statement, why)),
        }
    }
    *unserved = unread;
    new
}

/// Takes out what asks whether an attribute exists, of item types that keep NULL as an attribute: it exists in every item. An index of
/// the rows that meet the condition still serves, where the condition is one of the row.
fn refuse_kept_nulls<'w>(
    existing: &Existing<'_>,
    reads: &mut Vec<Read<'w, '_>>,
    unserved: &mut Vec<(&'w Statement, Unserved)>,
) {
    let keeping = existing.keeping_nulls();
    reads.retain_mut(|read| {
        read.asks.retain_mut(|ask| {
            if !ask.tables().any(|table| keeping.contains(&table.name)) {
                return true;
            }
            for when in &mut ask.when {
                when.filter = when.filter.take().filter(|one| !one.test.asks_existence());
            }
            ask.required.is_empty() && !ask.filters.iter().any(|one| one.test.asks_existence())
        });
        if read.asks.is_empty() {
            let why = "needs a filter that tests whether an attribute exists, but with `nulls: keep` it exists in every item, also for NULL";
            let unserved_read = Unserved {
                why: why.to_owned(),
                instead: "leave `nulls: keep` out of the item type, or leave the rows out in the application",
            };
            unserved.push((read.statement, unserved_read));
        }
        !read.asks.is_empty()
    });
}

/// What was changed of what must stay.
fn changed(old: &Model, new: &Model) -> Option<String> {
    let keys = old.table.key_attributes();
    let item = old.item_types.iter().find(|item| {
        let mut others = new.item_types.iter();
        let Some(other) = others.find(|other| other.name == item.name) else {
            return true;
        };
        let template = |of: &dynafold_mapping::model::ItemType, name: &str| {
            of.template(name).map(ToString::to_string)
        };
        let mut keys = keys.iter();
        keys.any(|key| {
            item.node(&key.name).is_some()
                && template(item, &key.name) != template(other, &key.name)
        })
    });
    let mut indexes = old.table.all_indexes();
    let index = indexes.find(|index| new.table.index(&index.name) != Some(index));
    let pattern = old.patterns.iter().find(|pattern| {
        let mut others = new.patterns.iter();
        !others.any(|other| other == *pattern)
    });
    let item = item.map(|item| item.name.to_string());
    item.or(index.map(|index| index.name.clone()))
        .or(pattern.map(|pattern| pattern.name.to_string()))
}

/// What indexes are priced by.
struct Further<'f> {
    facts: Facts<'f>,
    prices: &'f Prices,
    writes: &'f BTreeMap<TableName, Writes>,
}

/// A mapping to which things are added.
#[derive(Clone)]
struct Growing<'u> {
    mapping: Mapping<'u>,
    catalog: &'u Catalog,
    limits: &'u Limits,
    text: String,
    model: Model,
    doubts: BTreeSet<(Code, String)>,
    names: std::sync::Arc<MappingNames>,
    /// Whether the mapping escapes delimiters.
    escapes: bool,
    /// The keys that were added.
    parts: Vec<Part<'u>>,
}

/// A mapping with more in it, and the read that it serves.
type Served<'u> = (Growing<'u>, UpdatedRead);

/// The model of a mapping's text, and the doubts about it; else what is wrong.
fn read(
    mapping: &Mapping<'_>,
    text: &str,
    catalog: &Catalog,
) -> Result<(Model, BTreeSet<(Code, String)>), String> {
    let (model, _, diagnostics) = modelled(text, mapping.variables, catalog, mapping.described)?;
    let diagnostics = diagnostics.into_iter();
    let doubts = diagnostics.filter(|one| DOUBTS.contains(&one.code));
    let doubts = doubts.map(|one| (one.code, one.message));
    Ok((model, doubts.collect()))
}

impl<'u> Growing<'u> {
    fn new(mapping: Mapping<'u>, catalog: &'u Catalog, limits: &'u Limits) -> Option<Self> {
        let (model, doubts) = read(&mapping, mapping.text, catalog).ok()?;
        let root = parse(mapping.text).ok()?;
        let setting = |name: &str| root.get("table")?.get(name)?.text();
        let type_attribute = match setting("type_attribute") {
            Some("false") => "",
            other => other.unwrap_or("_type"),
        };
        let existing = Existing {
            model: &model,
            catalog,
        };
        let known = existing.whole().into_iter();
        let known = known.map(|one| (one.table.name.clone(), one.item.name.to_string()));
        let known: Vec<(TableName, String)> = known.collect();
        let taken = model.item_types.iter().map(|item| item.name.to_string());
        let taken: Vec<String> = taken.collect();
        let stored: Vec<&Table> = catalog
            .tables
            .iter()
            .filter(|one| one.is_stored())
            .collect();
        let keys = &model.table;
        let sort = keys.sort.as_ref().map_or("", |sort| &*sort.name);
        let names = MappingNames::choose(catalog, &stored).with(
            [&keys.partition.name, sort, type_attribute],
            &known,
            &taken,
        );
        Some(Self {
            escapes: setting("key_escape") == Some("percent"),
            names: names.into(),
            mapping,
            catalog,
            limits,
            text: mapping.text.to_owned(),
            model,
            doubts,
            parts: Vec::new(),
        })
    }

    fn existing(&self) -> Existing<'_> {
        Existing {
            model: &self.model,
            catalog: self.catalog,
        }
    }

    /// Refuses pins that ask for another key than one that exists.
    fn keeps_pins(&self) -> Result<(), UpdateError> {
        for one in self.existing().whole() {
            let pinned = self.limits.pins.get(&one.table.name);
            let own = one.own_partition(&self.model.table.partition);
            if pinned.is_some_and(|pinned| own.as_ref() != Some(&pinned.iter().cloned().collect()))
            {
                let item = one.item.name.to_string();
                return Err(UpdateError::Pin { item });
            }
        }
        Ok(())
    }

    /// The mapping with additions; else why it cannot have them.
    fn with(&self, additions: &[Addition], parts: &[Part<'u>]) -> Result<Self, String> {
        let mut text = self.text.clone();
        for addition in additions {
            let added = addition.added(&text);
            text = added.map_err(|why: Unwritable| why.to_string())?;
        }
        let (model, doubts) = read(&self.mapping, &text, self.catalog)?;
        if let Some((_, doubt)) = doubts.difference(&self.doubts).next() {
            return Err(doubt.clone());
        }
        Ok(Self {
            text,
            model,
            doubts,
            parts: self.parts.iter().chain(parts).cloned().collect(),
            ..self.clone()
        })
    }

    /// What the item types have already.
    fn items(&self) -> BTreeMap<TableName, Item> {
        let root = parse(&self.text).ok();
        let aliases = |item: &str| -> Vec<String> {
            let items = root.as_ref().and_then(|root| root.get("items"));
            let join = items.and_then(|items| items.get(item)?.get("join"));
            let entries = join.map(YamlNode::entries).unwrap_or_default();
            entries.iter().map(|entry| entry.key.clone()).collect()
        };
        self.existing().items(&aliases)
    }

    /// Writes what is added to a mapping.
    fn writing<'d>(
        &'d self,
        reads: &'d [Placed<'d, 'u>],
        structures: &'d [Structure<'u>],
        slots: &'d BTreeMap<usize, usize>,
        indexes: &'d [IndexNames],
        writes: &'d BTreeMap<TableName, Writes>,
    ) -> Writing<'d, 'u> {
        Writing {
            found: &[],
            catalog: self.catalog,
            pins: &self.limits.pins,
            expiries: &NO_EXPIRIES,
            names: &self.names,
            structures,
            slots,
            reads,
            header: String::new(),
            not_served: &[],
            escapes: self.escapes,
            figures: &NO_FIGURES,
            splits: &NO_SPLITS,
            writes,
            indexes,
            labels: OnceCell::new(),
        }
    }

    /// Serves a read by a key that there is.
    fn by_keys(&self, read: &Read<'_, 'u>, facts: Facts<'_>) -> Option<Served<'u>> {
        let existing = self.existing();
        let mut asks: Vec<Ask<'u>> = read.asks.clone();
        for ask in &read.asks {
            for kept in existing.keepable(ask) {
                let forms = [true, false].into_iter();
                let forms = forms.filter_map(|keeps_range| by_filter(ask, &kept, keeps_range));
                asks.extend(forms.filter(|ask| facts.found(ask) <= SHORT));
            }
        }
        asks.sort_by_key(|ask| (!ask.filters.is_empty(), ask.sorts));
        asks.iter().find_map(|ask| {
            let mut conditions = existing.serving(ask).into_iter();
            conditions.find_map(|condition| self.by_key(read.statement, ask, &condition))
        })
    }

    fn by_key(
        &self,
        statement: &Statement,
        ask: &Ask<'u>,
        condition: &KeyCondition,
    ) -> Option<Served<'u>> {
        if statement.strong && condition.index.is_some() {
            return None;
        }
        let read = &Placed {
            statement,
            ask,
            structure: 0,
            part: 0,
            cost: 0.0,
            is_consistent: true,
        };
        let (slots, writes) = (BTreeMap::new(), BTreeMap::new());
        let writing = self.writing(std::slice::from_ref(read), &[], &slots, &[], &writes);
        let (existing, before) = (self.existing(), self.items());
        let mut items = before.clone();
        writing.answer(read, &mut items);
        let by_type = condition.finds_others && !self.names.type_attribute.is_empty();
        let filters = [None, by_type.then(|| writing.type_filter(ask))];
        let mut tried = filters.into_iter().enumerate();
        tried.find_map(|(at, filter)| {
            if at > 0 && filter.is_none() {
                return None;
            }
            let mut notes = ask.notes.clone();
            let mut answer = writing.answer(read, &mut items);
            if let Some(filter) = filter {
                answer.filters.push(filter);
                notes.push(
                    "the request also reads other items of the collection, and a filter drops them"
                        .into(),
                );
            }
            let index = condition.index.as_deref();
            let lines = writing.pattern_lines(read, index, &condition.text, &answer);
            let mut changes = vec![match index {
                Some(index) => format!("an access pattern on {index}"),
                None => "an access pattern on the table".to_owned(),
            }];
            changes.extend(copied(&writing, existing, &before, &items, &statement.name));
            let mut additions = to_items(&writing, &before, &mut items);
            additions.push(Addition::block("access_patterns", &statement.name, lines));
            let grown = self.with(&additions, &[]).ok()?;
            Some((grown, UpdatedRead::of(statement, changes, &notes)))
        })
    }

    /// Whether an item type can be added: the table's key is two texts.
    fn takes_items(&self) -> bool {
        let table = &self.model.table;
        let sort = table.sort.as_ref();
        table.partition.key_type == KeyType::S
            && sort.is_some_and(|sort| sort.key_type == KeyType::S)
    }

    /// Whether values that may hold a delimiter would stand before one.
    fn is_ambiguous(&self, part: &Part<'_>) -> bool {
        let is_unescaped = self.limits.escapes() && !self.escapes;
        is_unescaped && !before_delimiters(self.catalog, std::slice::from_ref(part)).is_empty()
    }

    /// The tables of a read that the mapping has no item type of.
    fn missing(&self, ask: &Ask<'u>) -> Vec<&'u Table> {
        let known = self.existing().tables();
        let new = ask.tables().filter(|table| !known.contains(&table.name));
        new.collect()
    }

    /// Serves a read by new item types, each beside its owner or with a key of its own.
    fn by_new_items(&self, read: &Read<'_, 'u>, facts: Facts<'_>) -> Option<Served<'u>> {
        let mut asks = read.asks.iter().filter(|_| self.takes_items());
        asks.find_map(|ask| {
            let missing = self.missing(ask);
            let parts = missing.iter().copied();
            let parts = parts.map(|table| own_part(self.catalog, table, &self.limits.pins));
            let parts: Vec<Part<'u>> = parts.collect();
            if missing.is_empty() || parts.iter().any(|part| self.is_ambiguous(part)) {
                return None;
            }
            let (slots, writes) = (BTreeMap::new(), BTreeMap::new());
            let writing = self.writing(&[], &[], &slots, &[], &writes);
            let additions = missing.iter().map(|table| {
                let lines = writing.item(table, &mut Item::default());
                let name = self.names.item_type(&table.name);
                Addition::block("items", name, lines.trim_end().to_owned())
            });
            let additions: Vec<Addition> = additions.collect();
            let with = self.with(&additions, &parts).ok()?;
            let (grown, mut updated) = with.by_keys(read, facts)?;
            let types = missing
                .iter()
                .map(|table| self.names.item_type(&table.name));
            let types = types.map(|name| format!("the item type {name}"));
            updated.changes.splice(0..0, types);
            Some((grown, updated))
        })
    }

    /// Serves reads by new indexes, or by new keys in indexes that there are.
    fn by_indexes<'w>(
        self,
        further: &Further<'_>,
        reads: Vec<Read<'w, 'u>>,
        unserved: &mut Vec<(&'w Statement, Unserved)>,
        done: &mut Vec<UpdatedRead>,
    ) -> Self {
        match self.indexed(further, reads.clone()) {
            Ok((grown, updated, not)) => {
                done.extend(updated);
                unserved.extend(not);
                grown
            }
            Err(why) => {
                if let [read] = reads.as_slice() {
                    let why = format!("needs a change that this mapping does not allow: {why}");
                    let instead = KEYS_STAY;
                    unserved.push((read.statement, Unserved { why, instead }));
                    return self;
                }
                let one = |grown: Self, read| grown.by_indexes(further, vec![read], unserved, done);
                reads.into_iter().fold(self, one)
            }
        }
    }

    /// The cheapest indexes for these reads, with those that are served and those that are not; else why the mapping cannot
    /// have them.
    fn indexed<'w>(
        &self,
        further: &Further<'_>,
        mut reads: Vec<Read<'w, 'u>>,
    ) -> Result<Indexed<'w, 'u>, String> {
        let mut unserved = Vec::new();
        let known = self.existing().tables();
        let figures = Figures::default();
        let pricing = Pricing {
            facts: further.facts,
            figures: &figures,
            pins: &self.limits.pins,
            placed: &known,
            prices: further.prices,
            writes: further.writes,
            is_guessed: false,
        };
        add_fetches(&mut reads, &BTreeSet::new());
        let Candidates {
            structures,
            mut ways,
            hot,
        } = candidates(self.catalog, &mut reads, &pricing);
        let without = (ways.as_slice(), hot.as_slice());
        reads_without(further.facts, without, &reads, &mut unserved);
        for (read, ways) in reads.iter().zip(&mut ways) {
            let mut refused = None;
            ways.retain(|way| {
                let structure = structures.get(way.structure);
                let why = structure.and_then(|one| self.refusal(way, one, &known));
                refused = refused.take().or(why.clone());
                why.is_none()
            });
            if let Some(why) = refused.filter(|_| ways.is_empty()) {
                unserved.push((read.statement, why));
            }
        }
        let most = self
            .limits
            .indexes
            .saturating_sub(self.model.table.indexes.len());
        let problem = pricing.problem(&structures, &ways, most);
        let solution = solve(&problem);
        let (placed, not_chosen) = placed_reads(&reads, &ways, &solution, self.limits);
        unserved.extend(not_chosen);
        if placed.is_empty() {
            return Ok((self.clone(), Vec::new(), unserved));
        }
        let is_used = |at: &usize| placed.iter().any(|read| read.structure == *at);
        let used = solution.slots.iter().filter(|(at, _)| is_used(at));
        let used: BTreeMap<usize, usize> = used.map(|(at, slot)| (*at, *slot)).collect();
        let numbers: BTreeSet<usize> = used.values().copied().filter(|slot| *slot > 0).collect();
        let number = |slot: usize| numbers.iter().filter(|other| **other <= slot).count();
        let slots: BTreeMap<usize, usize> =
            used.iter().map(|(at, slot)| (*at, number(*slot))).collect();
        let adding = Adding {
            growing: self,
            known: &known,
            reads: &placed,
            structures: &structures,
            slots: &slots,
            writes: further.writes,
        };
        let new = self.new_names(numbers.len());
        let first = adding.added(&new);
        let shared = adding.shared(&new, &first.projected);
        let chosen = structures
            .iter()
            .enumerate()
            .filter(|(at, _)| slots.contains_key(at));
        let parts: Vec<Part<'u>> = chosen.flat_map(|(_, one)| one.parts.clone()).collect();
        let again = shared.map(|names| adding.added(&names));
        let grown =
            again.and_then(|again| Some((self.with(&again.additions, &parts).ok()?, again)));
        let (grown, added) = match grown {
            Some(found) => found,
            None => (self.with(&first.additions, &parts)?, first),
        };
        let updated = placed.iter().zip(added.changes);
        let updated = updated
            .map(|(read, changes)| UpdatedRead::of(read.statement, changes, &read.ask.notes));
        Ok((grown, updated.collect(), unserved))
    }

    /// Why a way to serve a read cannot be without another key.
    fn refusal(
        &self,
        way: &Way,
        structure: &Structure<'u>,
        known: &BTreeSet<TableName>,
    ) -> Option<Unserved> {
        let unserved = |why: String, instead| Some(Unserved { why, instead });
        if !way.is_consistent {
            return unserved(
                "asks for strong consistency, but the existing keys stay, and an index cannot give it".to_owned(),
                KEYS_STAY,
            );
        }
        let whole = self.existing().whole();
        for part in &structure.parts {
            let table = &part.table.name;
            let is_known = known.contains(table);
            if is_known && !whole.iter().any(|one| one.table.name == *table) {
                return unserved(
                    format!("reads {}, and no item type has all of its rows", table.name),
                    "add an item type without `where`",
                );
            }
            if !is_known && !self.takes_items() {
                return unserved(
                    format!(
                        "reads {}, which needs a table with a partition key and a sort key of type S",
                        table.name
                    ),
                    "design a new table, with both keys of type S",
                );
            }
            if self.is_ambiguous(part) {
                return unserved(
                    "would need a key with values before `#`, but some values contain `#`"
                        .to_owned(),
                    "keep `#` out of these values, or set `key_escape: percent`, which changes keys",
                );
            }
        }
        None
    }

    /// Names of new indexes, with the attributes of their keys.
    fn new_names(&self, most: usize) -> Vec<IndexNames> {
        let items = self.model.item_types.iter();
        let attributes = items.flat_map(|item| item.attributes.iter().map(|(name, _)| &**name));
        let indexes = self.model.table.all_indexes().map(|index| &*index.name);
        let taken: BTreeSet<&str> = attributes.chain(indexes).collect();
        let is_taken = |name: &String| taken.contains(name.as_str());
        // Each name that is taken keeps one number out at most.
        let all = index_names(self.catalog, most + taken.len()).into_iter();
        let free = all.filter(|one| {
            ![&one.name, &one.partition, &one.sort]
                .into_iter()
                .any(is_taken)
        });
        free.take(most).collect()
    }
}

/// A mapping with more indexes, the reads that it serves, and those that it does not.
type Indexed<'w, 'u> = (
    Growing<'u>,
    Vec<UpdatedRead>,
    Vec<(&'w Statement, Unserved)>,
);

/// Indexes, and the reads that they are for.
struct Adding<'d, 'u> {
    growing: &'d Growing<'u>,
    /// The tables that the mapping has item types of.
    known: &'d BTreeSet<TableName>,
    reads: &'d [Placed<'d, 'u>],
    structures: &'d [Structure<'u>],
    slots: &'d BTreeMap<usize, usize>,
    writes: &'d BTreeMap<TableName, Writes>,
}

/// What is added for indexes.
struct Added {
    additions: Vec<Addition>,
    projected: Projected,
    /// For each read.
    changes: Vec<Vec<String>>,
}

impl<'u> Adding<'_, 'u> {
    fn added(&self, names: &[IndexNames]) -> Added {
        let growing = self.growing;
        let writing = growing.writing(self.reads, self.structures, self.slots, names, self.writes);
        let before = growing.items();
        let mut items = before.clone();
        let mut projected = Projected::new();
        // The first time tells which copies there are.
        for read in self.reads {
            writing.pattern(read, &mut items, &mut projected);
        }
        let mut pattern = |read: &Placed<'_, 'u>| {
            let lines = writing.pattern(read, &mut items, &mut projected);
            Addition::block("access_patterns", read.name(), lines)
        };
        let patterns: Vec<Addition> = self.reads.iter().map(&mut pattern).collect();
        for (at, index) in names.iter().enumerate() {
            let keys = growing.model.table.key().map(|key| &*key.name);
            let keys: Vec<&str> = keys.chain([&*index.partition, &*index.sort]).collect();
            if let Some(Some(names)) = projected.get_mut(&(at + 1)) {
                names.retain(|name| !keys.contains(&name.as_str()));
            }
        }
        let indexes = growing.model.table.indexes.iter();
        let named = indexes.map(|index| index.projection.service_words().1.len());
        within_limit(&mut projected, named.sum());
        let mut additions: Vec<Addition> = Vec::new();
        for (at, index) in names
            .iter()
            .enumerate()
            .filter(|(_, index)| !index.is_shared)
        {
            let (entry, reads) = writing.index_entry(at + 1, &projected);
            additions.push(Addition::line(
                &["table", "indexes"],
                &index.name,
                entry,
                reads,
            ));
        }
        let mut new: Vec<&Table> = Vec::new();
        for (at, slot) in self.slots {
            let parts = self
                .structures
                .get(*at)
                .into_iter()
                .flat_map(|one| &one.parts);
            for (place, part) in parts.enumerate() {
                let table = &part.table.name;
                if !self.known.contains(table) {
                    if !new.iter().any(|known| known.name == *table) {
                        new.push(part.table);
                    }
                    continue;
                }
                let item = items.entry(table.clone()).or_default();
                let Some(key) = writing.index_key(part.table, item, *slot, (*at, place)) else {
                    continue;
                };
                let within = ["items", growing.names.item_type(table), "attributes"];
                let (partition, sort) = writing.key_names(*slot);
                let IndexKey {
                    partition: value,
                    sort: sort_value,
                    when,
                } = key;
                let value = match when {
                    Some(when) => format!("{{ $value: {value}, $when: {when} }}"),
                    None => value,
                };
                let reads = self.of_structure(*at);
                additions.push(Addition::line(&within, &partition, value, reads));
                additions.push(Addition::line(&within, &sort, sort_value, String::new()));
            }
        }
        for table in new {
            let item = items.entry(table.name.clone()).or_default();
            let lines = writing.item(table, item).trim_end().to_owned();
            let name = growing.names.item_type(&table.name);
            additions.push(Addition::block("items", name, lines));
        }
        additions.extend(to_items(&writing, &before, &mut items));
        additions.extend(patterns);
        let existing = growing.existing();
        let changes = self.reads.iter().map(|read| {
            let mut changes = self.changes(read, names);
            changes.extend(copied(&writing, existing, &before, &items, read.name()));
            changes
        });
        Added {
            changes: changes.collect(),
            additions,
            projected,
        }
    }

    /// The reads that a structure serves.
    fn of_structure(&self, at: usize) -> String {
        let reads = self.reads.iter().filter(|read| read.structure == at);
        joined(reads.map(Placed::name), ", ")
    }

    fn changes(&self, read: &Placed<'_, 'u>, names: &[IndexNames]) -> Vec<String> {
        let parts = self
            .structures
            .get(read.structure)
            .into_iter()
            .flat_map(|one| &one.parts);
        let types = parts.map(|part| {
            (
                &part.table.name,
                self.growing.names.item_type(&part.table.name),
            )
        });
        let types: Vec<(&TableName, &str)> = types.collect();
        let new = types
            .iter()
            .filter(|(table, _)| !self.known.contains(table));
        let mut changes: Vec<String> = new
            .map(|(_, name)| format!("the item type {name}"))
            .collect();
        let slot = self.slots.get(&read.structure).copied().unwrap_or(0);
        let index = slot.checked_sub(1).and_then(|at| names.get(at));
        match index {
            Some(index) if index.is_shared => {
                let types = joined(types.iter().map(|(_, name)| *name), " and ");
                changes.push(format!("{types} in the index {}", index.name));
            }
            Some(index) => changes.push(format!("the index {}", index.name)),
            None => {}
        }
        let place = index.map_or("the table", |index| &index.name);
        changes.push(format!("an access pattern on {place}"));
        changes
    }

    /// The names with those of indexes that there are in the place of new ones, where none of the item types stands there and all
    /// that is read is there; `None` where there is none.
    fn shared(&self, new: &[IndexNames], projected: &Projected) -> Option<Vec<IndexNames>> {
        let model = &self.growing.model;
        let whole = self.growing.existing().whole();
        let mut names = new.to_vec();
        let mut taken: Vec<&str> = Vec::new();
        for (at, own) in names.iter_mut().enumerate() {
            let here = self.slots.iter().filter(|(_, slot)| **slot == at + 1);
            let here = here.filter_map(|(structure, _)| self.structures.get(*structure));
            let tables = here.flat_map(|one| &one.parts).map(|part| &part.table.name);
            let tables: Vec<&TableName> = tables.collect();
            let fits = |index: &Index| {
                let ([partition], [sort]) = (&*index.partition, &*index.sort) else {
                    return false;
                };
                let is_text = partition.key_type == KeyType::S && sort.key_type == KeyType::S;
                let mut items = whole.iter().filter(|one| tables.contains(&&one.table.name));
                let is_free = items.all(|one| {
                    let mut keys = [partition, sort].into_iter();
                    one.item.spreads.is_empty()
                        && keys.all(|key| one.item.node(&key.name).is_none())
                });
                let holds_all = match projected.get(&(at + 1)) {
                    Some(Some(names)) => names.iter().all(|name| model.table.projects(index, name)),
                    _ => index.projection == Projection::All,
                };
                is_text && is_free && holds_all
            };
            let mut indexes = model.table.indexes.iter();
            let index = indexes.find(|index| !taken.contains(&&*index.name) && fits(index));
            if let Some(index) = index {
                taken.push(&index.name);
                *own = IndexNames {
                    name: index.name.clone(),
                    partition: index.partition.first()?.name.to_string(),
                    sort: index.sort.first()?.name.to_string(),
                    is_shared: true,
                };
            }
        }
        (!taken.is_empty()).then_some(names)
    }
}

/// What item types that there are get: copied attributes, and the parents that these are looked up in.
fn to_items(
    writing: &Writing<'_, '_>,
    before: &BTreeMap<TableName, Item>,
    items: &mut BTreeMap<TableName, Item>,
) -> Vec<Addition> {
    let mut additions = Vec::new();
    for (name, item) in items {
        let Some((known, table)) = before.get(name).zip(writing.catalog.table(name)) else {
            continue;
        };
        let item_type = writing.names.item_type(name);
        for (path, attribute, reads) in item.copies.clone() {
            let value = quoted(&format!("{{{}}}", reference(item, table, &path)));
            let comment = format!("for {}", joined(reads.iter().map(String::as_str), ", "));
            let within = ["items", item_type, "attributes"];
            additions.push(Addition::line(&within, &attribute, value, comment));
        }
        for (way, alias) in item.joins.iter().skip(known.joins.len()) {
            let value = writing.join(table, way, &item.joins);
            let within = ["items", item_type, "join"];
            additions.push(Addition::line(&within, alias, value, String::new()));
        }
    }
    additions
}

/// The attributes that item types get for a read.
fn copied(
    writing: &Writing<'_, '_>,
    existing: Existing<'_>,
    before: &BTreeMap<TableName, Item>,
    items: &BTreeMap<TableName, Item>,
    read: &str,
) -> Vec<String> {
    let known = items.iter().filter(|(name, _)| before.contains_key(name));
    let copies = known.flat_map(|(name, item)| item.copies.iter().map(move |copy| (name, copy)));
    let copies = copies.filter(|(_, (_, _, reads))| reads.contains(read));
    copies
        .map(|(name, (path, attribute, _))| {
            let item_type = writing.names.item_type(name);
            let from = match path.steps.last() {
                Some(step) => {
                    let from = writing.catalog.display_name(&step.table);
                    format!(", copied from {from}")
                }
                None => existing
                    .other_holder(name, &path.column)
                    .map_or_else(String::new, |other| {
                        format!(", so far only in {other}: from now on each update of {item_type} writes it too")
                    }),
            };
            format!("{item_type}.{attribute}{from}")
        })
        .collect()
}
