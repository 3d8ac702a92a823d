//! What two mappings change between them: the table, indexes, item types and access patterns, and what has to be written
//! and deleted in a table that was loaded by the first so that it is that of the second.
//!
//! Both are checked against one catalog. An item type is called the same only where everything that its items depend on
//! is the same, to the letter; where it is not, its items may differ, and need not.

mod made;
mod migration;

use dynafold_dynamodb::price::Rates;
use dynafold_dynamodb::{Autoscale, Index, Table, Throughput};
use dynafold_format::{float, joined};
use dynafold_relational::catalog::Catalog;
use jiff::tz::TimeZone;
use serde::Serialize;

pub use migration::{Migration, MigrationAction, MigrationStep, StaleItems};

use made::{ABOVE, Made, Part};

use crate::model::{AccessPattern, Model, ParameterOrigin};
use crate::proof::{PatternProof, Proofs, SizeProof};

/// A mapping that is compared.
#[derive(Clone, Copy)]
pub struct DiffSide<'m> {
    /// What it makes.
    pub model: &'m Model,
    /// What was shown of it.
    pub proofs: &'m Proofs,
    /// The schema against which it was checked.
    pub catalog: &'m Catalog,
}

/// What two mappings change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MappingDiff {
    /// The table's name, key, TTL, billing and settings, as far as they change.
    pub table: Vec<Change>,
    /// The indexes, those that stay the same too.
    pub indexes: Vec<IndexDiff>,
    /// The item types, those that stay the same too: in the order of the new mapping, then those that it lacks.
    pub item_types: Vec<ItemTypeDiff>,
    /// The access patterns, likewise.
    pub patterns: Vec<PatternDiff>,
    /// Units a second at the rates of the old mapping, at least; `None` where it says no rates.
    pub rates_before: Option<Rates>,
    /// The same of the new one.
    pub rates_after: Option<Rates>,
    /// What has to be written and deleted.
    pub migration: Migration,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What changes.
    pub what: String,
    /// How it was; `None` where it was not there.
    pub before: Option<String>,
    /// How it will be; `None` where it is there no more.
    pub after: Option<String>,
}

/// Whether something is in one mapping or in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Only in the new one.
    Added,
    /// Only in the old one.
    Removed,
    /// In both, and not the same.
    Changed,
    /// The same in both.
    Same,
}

impl ChangeKind {
    fn of(was_there: bool, is_there: bool, is_same: bool) -> Self {
        match (was_there, is_there) {
            (false, _) => Self::Added,
            (_, false) => Self::Removed,
            _ if is_same => Self::Same,
            _ => Self::Changed,
        }
    }
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexDiff {
    /// Its name.
    pub index: String,
    /// Whether it is a local one.
    pub local: bool,
    /// What becomes of it.
    pub change: ChangeKind,
    /// Its key, what it holds of items, and its capacity, as far as they change.
    pub changes: Vec<Change>,
    /// The item types of which it holds items, or may: of the new mapping, or of the old where it is removed.
    pub holds: Vec<String>,
}

/// An item type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemTypeDiff {
    /// Its name.
    pub item_type: String,
    /// What becomes of it.
    pub change: ChangeKind,
    /// What decides which rows make its items: `from`, `where`, `explode`, `join`.
    pub rows: Vec<Change>,
    /// Attributes of the table's key.
    pub keys: Vec<Change>,
    /// Other attributes.
    pub attributes: Vec<Change>,
    /// What else its items depend on.
    pub others: Vec<Change>,
    /// Write units of one item, with index entries; of the old mapping.
    pub units_before: Option<UnitRange>,
    /// The same of the new one.
    pub units_after: Option<UnitRange>,
}

/// Units of something that may cost more or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnitRange {
    /// The fewest.
    pub least: u64,
    /// The most; `None` where there is no limit that the schema shows.
    pub most: Option<u64>,
}

/// An access pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatternDiff {
    /// Its name.
    pub pattern: String,
    /// What becomes of it.
    pub change: ChangeKind,
    /// How it is served, as far as that changes; of one that is added or removed how it is, or was.
    pub changes: Vec<Change>,
}

/// Compares two mappings. `prunes`: whether items of the new mapping's types can be told apart, so that stale ones can be
/// deleted.
pub fn diff(old: DiffSide<'_>, new: DiffSide<'_>, prunes: bool) -> MappingDiff {
    let (before, after) = (made(old), made(new));
    let pairs = paired(&before, &after, |made| &*made.item_type.name).into_iter();
    let item_types: Vec<ItemTypeDiff> = pairs.map(|(was, is)| item_type(was, is)).collect();
    let (table, indexes) = (table(old.model, new.model), indexes(old, new));
    let migration = migration::migration(&migration::Subject {
        old,
        new,
        prunes,
        before: &before,
        after: &after,
        item_types: &item_types,
        indexes: &indexes,
    });
    MappingDiff {
        table,
        indexes,
        item_types,
        patterns: patterns(old, new),
        rates_before: rates(old),
        rates_after: rates(new),
        migration,
    }
}

impl MappingDiff {
    /// Whether nothing changes, not even what the rates cost.
    pub fn is_empty(&self) -> bool {
        let same = |change: ChangeKind| change == ChangeKind::Same;
        self.rates_before == self.rates_after
            && self.table.is_empty()
            && self.indexes.iter().all(|index| same(index.change))
            && self.item_types.iter().all(|one| same(one.change))
            && self.patterns.iter().all(|pattern| same(pattern.change))
    }
}

fn made(side: DiffSide<'_>) -> Vec<Made<'_>> {
    let all = side.model.item_types.iter();
    all.filter_map(|item_type| Made::of(item_type, side))
        .collect()
}

fn find<'a, 'm>(all: &'a [Made<'m>], name: &str) -> Option<&'a Made<'m>> {
    all.iter().find(|made| *made.item_type.name == *name)
}

/// How something was and how it is; `None` where it is not.
type Pair<'a, T> = (Option<&'a T>, Option<&'a T>);

/// What is there by its names: all of the new ones, then the old ones that are there no more.
fn paired<'a, T>(before: &'a [T], after: &'a [T], name: fn(&T) -> &str) -> Vec<Pair<'a, T>> {
    let find = |all: &'a [T], wanted: &str| all.iter().find(|one| name(one) == wanted);
    let new = after.iter().map(|is| (find(before, name(is)), Some(is)));
    let gone = before.iter().filter(|was| find(after, name(was)).is_none());
    new.chain(gone.map(|was| (Some(was), None))).collect()
}

/// One change, where there is one.
fn changed(what: &str, before: Option<String>, after: Option<String>) -> Option<Change> {
    (before != after).then(|| Change {
        what: what.to_owned(),
        before,
        after,
    })
}

/// A change of which it is not said how it was and will be.
fn written_otherwise(what: &str) -> Change {
    Change {
        what: what.to_owned(),
        before: None,
        after: None,
    }
}

/// The time zone of times without one; `None` for UTC.
fn zone(model: &Model) -> Option<String> {
    let zone = &model.time_zone;
    (*zone != TimeZone::UTC).then(|| {
        zone.iana_name()
            .map_or_else(|| format!("{zone:?}"), str::to_owned)
    })
}

fn table(old: &Model, new: &Model) -> Vec<Change> {
    let (old_table, new_table) = (&old.table, &new.table);
    let both = |what: &str, of: &dyn Fn(&Table) -> Option<String>| {
        changed(what, of(old_table), of(new_table))
    };
    let (was, is) = (&old_table.settings, &new_table.settings);
    // Of settings it is said that they change, not how they are written.
    let setting = |what: &str, is_same: bool| (!is_same).then(|| written_otherwise(what));
    let all = [
        both("name", &|table| Some(table.name.clone())),
        both("key", &|table| Some(table.key_text())),
        changed("time_zone", zone(old), zone(new)),
        both("ttl", &|table| table.ttl.clone()),
        both("billing", &|table| Some(table.billing.text())),
        setting("stream", was.stream == is.stream),
        setting(
            "point_in_time_recovery",
            was.point_in_time_recovery == is.point_in_time_recovery,
        ),
        setting(
            "deletion_protection",
            was.deletion_protection == is.deletion_protection,
        ),
        setting("class", was.class == is.class),
        setting("tags", was.tags == is.tags),
        setting("warm_throughput", was.warm_throughput == is.warm_throughput),
        setting("replicas", was.replicas == is.replicas),
        setting("autoscale", was.autoscale == is.autoscale),
        setting("backups", was.backups == is.backups),
        setting("roll_up", old.roll_ups == new.roll_ups),
    ];
    all.into_iter().flatten().collect()
}

fn indexes(old: DiffSide<'_>, new: DiffSide<'_>) -> Vec<IndexDiff> {
    let (before, after) = (all_indexes(old), all_indexes(new));
    let diff = |(was, is): Pair<'_, (&Index, bool)>| {
        let (index, local) = is.or(was)?;
        let key = |(index, _): &(&Index, bool)| index.key_text();
        let holds = |(index, _): &(&Index, bool)| index.projection.text();
        let mut all = vec![
            changed("key", was.map(key), is.map(key)),
            changed("holds", was.map(holds), is.map(holds)),
        ];
        if let (Some((was, was_local)), Some((is, is_local))) = (was, is) {
            let kind = |local: bool| Some(if local { "local" } else { "global" }.to_owned());
            let capacities = [(was, old), (is, new)];
            let [before, after] =
                capacities.map(|(index, side)| own_capacity(index, &side.model.table));
            all.insert(0, changed("kind", kind(*was_local), kind(*is_local)));
            all.push((before != after).then(|| written_otherwise("capacity")));
        }
        let changes: Vec<Change> = all.into_iter().flatten().filter(|_| is.is_some()).collect();
        let side = if is.is_some() { new } else { old };
        let proofs = side.proofs.indexes.iter();
        let members = proofs.filter(|proof| proof.index == index.name);
        let members = members.flat_map(|proof| &proof.items);
        Some(IndexDiff {
            index: index.name.clone(),
            local: *local,
            change: ChangeKind::of(was.is_some(), is.is_some(), changes.is_empty()),
            changes,
            holds: members.map(|member| member.item_type.clone()).collect(),
        })
    };
    let pairs = paired(&before, &after, |(index, _)| index.name.as_str());
    pairs.into_iter().filter_map(diff).collect()
}

/// The indexes of a mapping, with whether each is a local one.
fn all_indexes(side: DiffSide<'_>) -> Vec<(&Index, bool)> {
    let table = &side.model.table;
    let global = table.indexes.iter().map(|index| (index, false));
    let local = table.local_indexes.iter().map(|index| (index, true));
    global.chain(local).collect()
}

/// The capacity of an index, where it is not the table's.
fn own_capacity(index: &Index, table: &Table) -> (Option<Throughput>, Option<Autoscale>) {
    let throughput = index.throughput;
    let autoscale = index.autoscale;
    (
        throughput.filter(|own| table.billing.provisioned() != Some(*own)),
        autoscale.filter(|own| table.settings.autoscale != Some(*own)),
    )
}

fn item_type(was: Option<&Made<'_>>, is: Option<&Made<'_>>) -> ItemTypeDiff {
    let changes = |of: for<'a, 'm> fn(&'a Made<'m>) -> &'a [Part]| {
        part_changes(was.map_or(&[], of), is.map_or(&[], of))
    };
    let is_key = |change: &Change| {
        let mut sides = was.iter().chain(&is);
        sides.any(|made| made.side.model.table.is_key(&change.what))
    };
    let attributes = changes(|made| &made.attributes);
    let (keys, attributes): (Vec<Change>, Vec<Change>) = attributes.into_iter().partition(is_key);
    let (rows, mut others) = (changes(|made| &made.rows), changes(|made| &made.others));
    others.retain(|change| change.what != ABOVE || (was.is_some() && is.is_some()));
    let units = |made: &Made<'_>| units(made.side.proofs, &made.item_type.name);
    let (units_before, units_after) = (was.and_then(units), is.and_then(units));
    let all = [&rows, &keys, &attributes, &others];
    let is_same = all.iter().all(|changes| changes.is_empty()) && units_before == units_after;
    let name = was.or(is).map(|made| made.item_type.name.to_string());
    ItemTypeDiff {
        item_type: name.unwrap_or_default(),
        change: ChangeKind::of(was.is_some(), is.is_some(), is_same),
        rows,
        keys,
        attributes,
        others,
        units_before,
        units_after,
    }
}

/// What of parts that have names is not the same in both.
fn part_changes(before: &[Part], after: &[Part]) -> Vec<Change> {
    let pairs = paired(before, after, |part| part.name.as_str()).into_iter();
    let changes = pairs.filter_map(|(was, is)| {
        let part = is.or(was)?;
        let differs = was.map(|part| &part.exact) != is.map(|part| &part.exact);
        // Of what is in one mapping only, what it does not have is no change.
        let is_there = (was.is_some() && is.is_some()) || part.text.is_some();
        (differs && is_there).then(|| Change {
            what: part.name.clone(),
            before: was.and_then(|part| part.text.clone()),
            after: is.and_then(|part| part.text.clone()),
        })
    });
    changes.collect()
}

fn units(proofs: &Proofs, item_type: &str) -> Option<UnitRange> {
    let mut sizes = proofs.sizes.iter();
    let SizeProof { writes, .. } = sizes.find(|size| size.item_type == item_type)?;
    Some(UnitRange {
        least: writes.least_units,
        most: writes.most_units,
    })
}

fn patterns(old: DiffSide<'_>, new: DiffSide<'_>) -> Vec<PatternDiff> {
    // Of some filters only their names are shown.
    let exact = |one: &AccessPattern| {
        let keys = (&one.partition, &one.sort, &one.parameters);
        [
            ("params", format!("{:?}", one.origins)),
            ("filter", format!("{:?}", one.filter)),
            ("key", format!("{keys:?}")),
        ]
    };
    let diff = |(old_pattern, new_pattern): Pair<'_, AccessPattern>| {
        let was = old_pattern.map(|pattern| served(pattern, old));
        let is = new_pattern.map(|pattern| served(pattern, new));
        let text = |side: &Option<ServedParts>, what: &str| {
            let mut all = side.iter().flatten();
            all.find(|(other, _)| *other == what)?.1.clone()
        };
        let whats = is.as_ref().or(was.as_ref()).into_iter().flatten();
        let changes =
            whats.filter_map(|(what, _)| changed(what, text(&was, what), text(&is, what)));
        let mut changes: Vec<Change> = changes.collect();
        if changes.is_empty() {
            let both = old_pattern.zip(new_pattern).into_iter();
            let mut all = both.flat_map(|(was, is)| exact(was).into_iter().zip(exact(is)));
            let first = all.find(|(was, is)| was != is);
            changes.extend(first.map(|((what, _), _)| written_otherwise(what)));
        }
        Some(PatternDiff {
            pattern: new_pattern.or(old_pattern)?.name.to_string(),
            change: ChangeKind::of(was.is_some(), is.is_some(), changes.is_empty()),
            changes,
        })
    };
    let (before, after) = (&old.model.patterns, &new.model.patterns);
    let pairs = paired(before, after, |pattern| &*pattern.name);
    pairs.into_iter().filter_map(diff).collect()
}

/// What the rates of a mapping take where every item and every answer is as small as can be.
fn rates(side: DiffSide<'_>) -> Option<Rates> {
    let written = side.model.item_types.iter().filter_map(|item_type| {
        let units = units(side.proofs, &item_type.name)?;
        Some(item_type.write_rate? * float(units.least))
    });
    let read = side
        .model
        .patterns
        .iter()
        .filter_map(|pattern| Some(pattern.rate? * proof_of(pattern, side)?.least_units));
    // The order in which they stand makes no difference.
    let sum = |rates: &mut dyn Iterator<Item = f64>| {
        let mut rates: Vec<f64> = rates.collect();
        rates.sort_by(f64::total_cmp);
        rates.into_iter().sum()
    };
    let rates = Rates {
        reads: sum(&mut { read }),
        writes: sum(&mut { written }),
    };
    (rates != Rates::default()).then_some(rates)
}

/// How an access pattern is served, each part under its name; all patterns have the same names.
type ServedParts = Vec<(&'static str, Option<String>)>;

/// What was shown of an access pattern.
fn proof_of<'s>(pattern: &AccessPattern, side: DiffSide<'s>) -> Option<&'s PatternProof> {
    let mut proofs = side.proofs.patterns.iter();
    proofs.find(|proof| proof.pattern == *pattern.name)
}

fn served(pattern: &AccessPattern, side: DiffSide<'_>) -> ServedParts {
    let (proof, catalog) = (proof_of(pattern, side), side.catalog);
    let finds = proof.map(|proof| proof.finds.join(", "));
    let declared = pattern.parameters.iter().map(|one| match &one.from_clock {
        Some(clock) => format!("{} {} = {clock}", one.name, one.kind.placeholder()),
        None => format!("{} {}", one.name, one.kind.placeholder()),
    });
    let columns = pattern
        .origins
        .iter()
        .filter_map(|(name, origin)| match origin {
            ParameterOrigin::Column { table, column } => {
                Some(format!("{name}: {}.{column}", catalog.display_name(table)))
            }
            ParameterOrigin::Clock(_) => None,
        });
    let renamed = pattern.answer.iter();
    let renamed = renamed.map(|(name, column)| format!("{name}: {column}"));
    let list = |texts: &mut dyn Iterator<Item = String>| {
        let text = joined(texts, ", ");
        (!text.is_empty()).then_some(text)
    };
    let items = list(&mut pattern.items.iter().map(ToString::to_string));
    let flag = |is: bool| is.then(|| "yes".to_owned());
    vec![
        ("operation", proof.map(|proof| proof.operation.to_owned())),
        ("index", pattern.index.as_ref().map(ToString::to_string)),
        ("key", proof.map(|proof| proof.condition.clone())),
        ("parameters", list(&mut declared.into_iter())),
        ("params", list(&mut columns.into_iter())),
        ("finds", finds),
        ("items", items),
        ("filter", pattern.filter_text(dynafold_dynamodb::readable)),
        ("limit", pattern.limit.map(|limit| limit.to_string())),
        ("shards", pattern.shards.map(|shards| shards.to_string())),
        ("descending", flag(pattern.descending)),
        ("consistent", flag(pattern.consistent)),
        ("fetch", flag(pattern.fetch)),
        ("sql", pattern.sql.clone()),
        ("answer", list(&mut renamed.into_iter())),
        ("rate", pattern.rate.map(|rate| rate.to_string())),
        ("read units", proof.map(read_units)),
    ]
}

/// Read units of a call.
fn read_units(proof: &PatternProof) -> String {
    match proof.most_units {
        Some(most) if most > proof.least_units => format!("{} to {most}", proof.least_units),
        Some(most) => most.to_string(),
        None => format!("{} or more", proof.least_units),
    }
}
