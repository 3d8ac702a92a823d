//! Extends a mapping as little as possible, so that it serves further reads. Existing keys do not change; only access patterns,
//! copied attributes, indexes and item types are added.
//!
//! A read is served by an existing key ([`Existing::serving`]), else by the key of a new item type, else by an index. Indexes are
//! chosen for all such reads together, at the least cost. The extended mapping has to pass `check`, without a new doubt about the
//! answer of any access pattern.

mod index_plan;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::KeyType;
use dynafold_dynamodb::price::Prices;
use dynafold_format::joined;
use dynafold_mapping::Described;
use dynafold_mapping::diagnostic::Code;
use dynafold_mapping::model::Model;
use dynafold_mapping::scalar::quoted;
use dynafold_mapping::yaml::{YamlNode, parse};
use dynafold_relational::catalog::{Catalog, Table, TableName};
use serde::Serialize;

use self::index_plan::IndexPlan;
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
use crate::written::{IndexNames, Item, Placed, Writing, reference};
use crate::{
    Candidates, Limits, Read, SHORT, Understood, UnservedRead, Way, add_fetches, add_relaxed,
    before_delimiters, candidates, index_names, modelled, padded, placed_reads, reads_without,
    refuse_escaped, refuse_figures, understood, with_signed,
};

/// A mapping to be extended.
#[derive(Clone, Copy)]
pub struct Mapping<'m> {
    /// Its text.
    pub text: &'m str,
    /// Gives the value of an environment variable.
    pub variables: &'m dyn Fn(&str) -> Option<String>,
    /// The columns of its SQL queries.
    pub described: &'m Described,
}

/// An extended mapping.
#[derive(Debug, Clone)]
pub struct Update {
    /// The text of the mapping with added lines.
    pub mapping: String,
    /// The reads of the workload, by name.
    pub reads: Vec<UpdatedRead>,
    /// Text columns before a delimiter in a new key: the key is impossible if one of their values contains the delimiter.
    pub before_delimiters: Vec<(TableName, String)>,
    /// Integer columns that are padded with zeros in a new key: negative numbers cannot be padded.
    pub padded: Vec<(TableName, String)>,
}

/// A read of the workload.
#[derive(Debug, Clone, Serialize)]
pub struct UpdatedRead {
    /// The statement's name.
    pub name: String,
    /// The statement's description.
    pub about: String,
    /// What is added to the mapping for it; empty if an access pattern of this name already has its SQL, or if it is not
    /// served.
    pub changes: Vec<String>,
    /// What the application has to do, and what was changed in the SQL.
    pub notes: Vec<String>,
    /// Why it is not served. Completes a sentence that begins with "it".
    pub why_not: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
}

/// Why a mapping is not updated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// When the mapping has errors.
    #[error("the mapping has errors")]
    Mapping,
    /// When `keep` asks for another key than an existing one.
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
    /// When an addition would change an existing part.
    #[error("the added lines would change `{name}`, but --update changes nothing that exists")]
    Changed {
        /// The name of an item type, an index or an access pattern.
        name: String,
    },
}

/// Diagnostics of access patterns that may answer otherwise than their SQL.
const DOUBTS: [Code; 7] = [
    Code::ExtraItems,
    Code::ParameterForm,
    Code::UnusedParameter,
    Code::RangeEnd,
    Code::TextOrder,
    Code::OtherOrder,
    Code::SameKey,
];
// An update keeps no figures in item types of their own, splits off no large columns, and lets no further items expire.
static NO_FIGURES: BTreeMap<TableName, KeptFigures> = BTreeMap::new();
static NO_EXPIRIES: Expiries = Expiries::new();
static NO_SPLITS: Splits = Splits::new();

const KEYS_STAY: &str =
    "leave this statement out, or design a new table and compare both with `--compare`";

/// Extends a mapping so that it serves further reads, with its keys unchanged.
///
/// # Errors
///
/// [`UpdateError`] where the mapping has errors, or `keep` asks for another key.
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
    let old = MappingDraft::new(*mapping, catalog, limits).ok_or(UpdateError::Mapping)?;
    old.refuse_conflicting_pins()?;
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
        // The keys of existing item types may contain characters that no row was seen to have.
        let observed = &Observed::default();
        let unseen = Facts { catalog, observed };
        refuse_escaped(&mut reads, unseen, false, |_| false, &mut unserved);
    }
    refuse_figures(&mut reads, facts, &mut unserved);
    let mut draft = old.clone();
    let mut for_indexes: Vec<Read<'_, '_>> = Vec::new();
    for read in reads {
        let served = draft.by_existing_keys(&read, facts);
        match served.or_else(|| draft.by_new_item_types(&read, facts)) {
            Some((extended, updated)) => {
                draft = extended;
                done.push(updated);
            }
            None => for_indexes.push(read),
        }
    }
    let inputs = Pricing {
        facts,
        figures: &Figures::default(),
        pins: &limits.pins,
        placed: &BTreeSet::new(),
        prices,
        writes: &writes,
        is_guessed: false,
    };
    draft = draft.by_indexes(&inputs, for_indexes, &mut unserved, &mut done);
    if let Some(name) = changed_name(&old.model, &draft.model) {
        return Err(UpdateError::Changed { name });
    }
    done.extend(unserved.into_iter().map(|(statement, why)| UpdatedRead {
        why_not: Some(why.why),
        instead: Some(why.instead.to_owned()),
        ..UpdatedRead::of(statement, Vec::new(), &[])
    }));
    done.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Update {
        mapping: draft.text,
        reads: done,
        before_delimiters: before_delimiters(catalog, &draft.parts),
        padded: padded(catalog, &draft.parts),
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

    /// The line of a read that is not served.
    pub fn not_served(&self) -> Option<String> {
        let instead = self.instead.as_deref().unwrap_or_default();
        let why = self.why_not.as_deref()?;
        Some(crate::report::not_served(&self.name, why, instead))
    }
}

/// The reads for which the mapping has no access pattern. If it has one of the same name, that must have the same SQL.
fn new_reads<'w, 'c>(
    model: &Model,
    of_rows: (&Catalog, &Observed),
    reads: Vec<Read<'w, 'c>>,
    unserved: &mut Vec<UnservedRead<'w>>,
    done: &mut Vec<UpdatedRead>,
) -> Vec<Read<'w, 'c>> {
    // Whether the access pattern of the statement's name answers its SQL; `None` if there is no such pattern.
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

/// Removes the asks with a filter on whether an attribute exists, if the item types keep NULL as an attribute: then it exists in
/// every item. A sparse index with a condition on the row still serves them.
fn refuse_kept_nulls<'w>(
    existing: &Existing<'_>,
    reads: &mut Vec<Read<'w, '_>>,
    unserved: &mut Vec<UnservedRead<'w>>,
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

/// The name of an existing item type, index or access pattern that differs in the new model.
fn changed_name(old: &Model, new: &Model) -> Option<String> {
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

/// A mapping with its additions so far.
#[derive(Clone)]
struct MappingDraft<'u> {
    mapping: Mapping<'u>,
    catalog: &'u Catalog,
    limits: &'u Limits,
    text: String,
    model: Model,
    doubts: BTreeSet<(Code, String)>,
    names: std::sync::Arc<MappingNames>,
    /// Whether the mapping escapes delimiters.
    escapes: bool,
    /// The added keys.
    parts: Vec<Part<'u>>,
}

/// An extended mapping, and the read that it now serves.
type Served<'u> = (MappingDraft<'u>, UpdatedRead);

/// The model of a mapping's text, and the [`DOUBTS`] about it; else its error.
fn read_model(
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

impl<'u> MappingDraft<'u> {
    fn new(mapping: Mapping<'u>, catalog: &'u Catalog, limits: &'u Limits) -> Option<Self> {
        let (model, doubts) = read_model(&mapping, mapping.text, catalog).ok()?;
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
        let keys = &model.table;
        let sort = keys.sort.as_ref().map_or("", |sort| &*sort.name);
        let names = MappingNames::choose(catalog).with(
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

    /// Fails if `keep` asks for another key than an existing one.
    fn refuse_conflicting_pins(&self) -> Result<(), UpdateError> {
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

    /// The mapping with these additions; else why `check` refuses them.
    fn with_additions(&self, additions: &[Addition], parts: &[Part<'u>]) -> Result<Self, String> {
        let mut text = self.text.clone();
        for addition in additions {
            let added = addition.added(&text);
            text = added.map_err(|why: Unwritable| why.to_string())?;
        }
        let (model, doubts) = read_model(&self.mapping, &text, self.catalog)?;
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

    /// What the existing item types have.
    fn existing_items(&self) -> BTreeMap<TableName, Item> {
        let root = parse(&self.text).ok();
        let aliases = |item: &str| -> Vec<String> {
            let items = root.as_ref().and_then(|root| root.get("items"));
            let join = items.and_then(|items| items.get(item)?.get("join"));
            let entries = join.map(YamlNode::entries).unwrap_or_default();
            entries.iter().map(|entry| entry.key.clone()).collect()
        };
        self.existing().items(&aliases)
    }

    /// A writer for additions.
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

    /// Serves a read by an existing key of the table or an index.
    fn by_existing_keys(&self, read: &Read<'_, 'u>, facts: Facts<'_>) -> Option<Served<'u>> {
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
            conditions.find_map(|condition| self.by_existing_key(read.statement, ask, &condition))
        })
    }

    fn by_existing_key(
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
        let (existing, before) = (self.existing(), self.existing_items());
        let mut items = before.clone();
        writing.answer(read, &mut items);
        let by_type = condition.finds_others && !self.names.type_attribute.is_empty();
        let by_type = by_type.then(|| Some(writing.type_filter(ask)));
        let mut filters = std::iter::once(None).chain(by_type);
        filters.find_map(|filter| {
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
            changes.extend(copied_attributes(
                &writing,
                existing,
                &before,
                &items,
                &statement.name,
            ));
            let mut additions = item_additions(&writing, &before, &mut items);
            additions.push(Addition::block("access_patterns", &statement.name, lines));
            let extended = self.with_additions(&additions, &[]).ok()?;
            Some((extended, UpdatedRead::of(statement, changes, &notes)))
        })
    }

    /// Whether item types can be added: only if partition key and sort key have type S.
    fn can_add_item_types(&self) -> bool {
        let table = &self.model.table;
        let sort = table.sort.as_ref();
        table.partition.key_type == KeyType::S
            && sort.is_some_and(|sort| sort.key_type == KeyType::S)
    }

    /// Whether the key has values before a delimiter that may contain it, and the mapping does not escape them.
    fn needs_escaping(&self, part: &Part<'_>) -> bool {
        let is_unescaped = self.limits.escapes() && !self.escapes;
        is_unescaped && !before_delimiters(self.catalog, std::slice::from_ref(part)).is_empty()
    }

    /// The tables of a read that have no item type yet.
    fn new_tables(&self, ask: &Ask<'u>) -> Vec<&'u Table> {
        let known = self.existing().tables();
        let new = ask.tables().filter(|table| !known.contains(&table.name));
        new.collect()
    }

    /// Serves a read by new item types, each in its owner's item collection or with a key of its own.
    fn by_new_item_types(&self, read: &Read<'_, 'u>, facts: Facts<'_>) -> Option<Served<'u>> {
        let mut asks = read.asks.iter().filter(|_| self.can_add_item_types());
        asks.find_map(|ask| {
            let new_tables = self.new_tables(ask);
            let parts = new_tables.iter().copied();
            let parts = parts.map(|table| own_part(self.catalog, table, &self.limits.pins));
            let parts: Vec<Part<'u>> = parts.collect();
            if new_tables.is_empty() || parts.iter().any(|part| self.needs_escaping(part)) {
                return None;
            }
            let (slots, writes) = (BTreeMap::new(), BTreeMap::new());
            let writing = self.writing(&[], &[], &slots, &[], &writes);
            let additions = new_tables.iter().map(|table| {
                let lines = writing.item(table, &mut Item::default());
                let name = self.names.item_type(&table.name);
                Addition::block("items", name, lines.trim_end().to_owned())
            });
            let additions: Vec<Addition> = additions.collect();
            let with = self.with_additions(&additions, &parts).ok()?;
            let (extended, mut updated) = with.by_existing_keys(read, facts)?;
            let types = new_tables
                .iter()
                .map(|table| self.names.item_type(&table.name));
            let types = types.map(|name| format!("the item type {name}"));
            updated.changes.splice(0..0, types);
            Some((extended, updated))
        })
    }

    /// Serves reads by new indexes, or by further item types in existing indexes. If this fails for all reads together, it tries
    /// them one by one.
    fn by_indexes<'w>(
        self,
        inputs: &Pricing<'_>,
        reads: Vec<Read<'w, 'u>>,
        unserved: &mut Vec<UnservedRead<'w>>,
        done: &mut Vec<UpdatedRead>,
    ) -> Self {
        match self.with_cheapest_indexes(inputs, reads.clone()) {
            Ok((extended, updated, not)) => {
                done.extend(updated);
                unserved.extend(not);
                extended
            }
            Err(why) => {
                if let [read] = reads.as_slice() {
                    let why = format!("needs a change that this mapping does not allow: {why}");
                    let instead = KEYS_STAY;
                    unserved.push((read.statement, Unserved { why, instead }));
                    return self;
                }
                let one =
                    |extended: Self, read| extended.by_indexes(inputs, vec![read], unserved, done);
                reads.into_iter().fold(self, one)
            }
        }
    }

    /// Adds the cheapest indexes for these reads; else why `check` refuses them.
    fn with_cheapest_indexes<'w>(
        &self,
        inputs: &Pricing<'_>,
        mut reads: Vec<Read<'w, 'u>>,
    ) -> Result<IndexedDraft<'w, 'u>, String> {
        let mut unserved = Vec::new();
        let known = self.existing().tables();
        let pricing = Pricing {
            placed: &known,
            ..*inputs
        };
        add_fetches(&mut reads, &BTreeSet::new());
        let Candidates {
            structures,
            mut ways,
            hot,
        } = candidates(self.catalog, &mut reads, &pricing);
        let without = (ways.as_slice(), hot.as_slice());
        reads_without(pricing.facts, without, &reads, &mut unserved);
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
        let plan = IndexPlan {
            draft: self,
            known: &known,
            reads: &placed,
            structures: &structures,
            slots: &slots,
            writes: pricing.writes,
        };
        let new = self.new_names(numbers.len());
        let first = plan.additions(&new);
        let shared = plan.in_existing_indexes(&new, &first.projected);
        let chosen = structures
            .iter()
            .enumerate()
            .filter(|(at, _)| slots.contains_key(at));
        let parts: Vec<Part<'u>> = chosen.flat_map(|(_, one)| one.parts.clone()).collect();
        let again = shared.map(|names| plan.additions(&names));
        let extended = again
            .and_then(|again| Some((self.with_additions(&again.additions, &parts).ok()?, again)));
        let (extended, added) = match extended {
            Some(found) => found,
            None => (self.with_additions(&first.additions, &parts)?, first),
        };
        let updated = placed.iter().zip(added.changes);
        let updated = updated
            .map(|(read, changes)| UpdatedRead::of(read.statement, changes, &read.ask.notes));
        Ok((extended, updated.collect(), unserved))
    }

    /// Why a way to serve a read is impossible while existing keys stay.
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
            if !is_known && !self.can_add_item_types() {
                return unserved(
                    format!(
                        "reads {}, which needs a table with a partition key and a sort key of type S",
                        table.name
                    ),
                    "design a new table, with both keys of type S",
                );
            }
            if self.needs_escaping(part) {
                return unserved(
                    "would need a key with values before `#`, but some values contain `#`"
                        .to_owned(),
                    "keep `#` out of these values, or set `key_escape: percent`, which changes keys",
                );
            }
        }
        None
    }

    /// Free names for new indexes and the attributes of their keys.
    fn new_names(&self, most: usize) -> Vec<IndexNames> {
        let items = self.model.item_types.iter();
        let attributes = items.flat_map(|item| item.attributes.iter().map(|(name, _)| &**name));
        let indexes = self.model.table.all_indexes().map(|index| &*index.name);
        let taken: BTreeSet<&str> = attributes.chain(indexes).collect();
        let is_taken = |name: &String| taken.contains(name.as_str());
        // Each name that is taken makes at most one number unusable.
        let all = index_names(self.catalog, most + taken.len()).into_iter();
        let free = all.filter(|one| {
            ![&one.name, &one.partition, &one.sort]
                .into_iter()
                .any(is_taken)
        });
        free.take(most).collect()
    }
}

/// A mapping with further indexes, the reads that it now serves, and those that it does not.
type IndexedDraft<'w, 'u> = (MappingDraft<'u>, Vec<UpdatedRead>, Vec<UnservedRead<'w>>);

/// What existing item types get: copied attributes, and the joins to the parents that these come from.
fn item_additions(
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

/// The attributes that existing item types get for a read, in words.
fn copied_attributes(
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
