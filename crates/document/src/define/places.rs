//! The table and its indexes: keys, what they hold, and example items laid out by item collection.

use std::cmp::Ordering;

use dynafold_dynamodb::{
    Attribute, Autoscale, Billing, Index, Item, KeyAttribute, Projection, Table, Throughput,
    readable, sort_order,
};
use dynafold_format::count;
use dynafold_mapping::forecast::PlaceKind;
use dynafold_mapping::model::{AccessPattern, Part, Template};
use dynafold_mapping::template::Filter;
use dynafold_mapping::{IndexProof, MembershipProof};

use super::super::definition::{Cell, Collection, Entry, Key, Member, Place};
use super::Ground;
use super::choice::Choice;

/// The table, its global indexes, its local ones.
pub(super) fn places(ground: &Ground<'_>, choice: &Choice<'_>) -> Vec<Place> {
    let table = &ground.model.table;
    let mut places = vec![Place {
        name: table.name.clone(),
        kind: PlaceKind::Table,
        partition: vec![key(&table.partition)],
        sort: table.sort.iter().map(key).collect(),
        projection: "everything".to_owned(),
        billing: billing(table.billing, table.settings.autoscale),
        members: ground
            .model
            .item_types
            .iter()
            .map(|item| Member {
                name: item.name.to_string(),
                when: None,
                single_partition: None,
            })
            .collect(),
        collections: Vec::new(),
    }];
    let of = |index: &Index, kind| Place {
        name: index.name.clone(),
        kind,
        partition: index.partition.iter().map(key).collect(),
        sort: index.sort.iter().map(key).collect(),
        projection: match &index.projection {
            Projection::All => "every attribute".to_owned(),
            Projection::Keys => "keys alone".to_owned(),
            Projection::Include(names) => format!("keys and {}", names.join(", ")),
        },
        billing: match (kind, index.throughput) {
            (PlaceKind::LocalIndex, _) => "the table's".to_owned(),
            (_, Some(own)) => billing(
                Billing::Provisioned(own),
                index.autoscale.or(table.settings.autoscale),
            ),
            (_, None) => billing(table.billing, index.autoscale.or(table.settings.autoscale)),
        },
        members: members(&ground.proofs.indexes, &index.name),
        collections: Vec::new(),
    };
    places.extend(table.indexes.iter().map(|i| of(i, PlaceKind::GlobalIndex)));
    places.extend(
        table
            .local_indexes
            .iter()
            .map(|i| of(i, PlaceKind::LocalIndex)),
    );
    for place in &mut places {
        place.collections = collections(ground, choice, place);
    }
    places
}

fn key(key: &KeyAttribute) -> Key {
    Key {
        name: key.name.to_string(),
        key_type: key.key_type.word(),
    }
}

fn billing(billing: Billing, autoscale: Option<Autoscale>) -> String {
    let Some(Throughput { read, write }) = billing.provisioned() else {
        return "on demand".to_owned();
    };
    let scaled = autoscale.map_or(String::new(), |autoscale| {
        format!(
            ", scaled up to {} with {} % in use",
            count(autoscale.max),
            autoscale.target
        )
    });
    format!(
        "{} read and {} write units a second{scaled}",
        count(read),
        count(write)
    )
}

fn members(proofs: &[IndexProof], index: &str) -> Vec<Member> {
    let proof = proofs.iter().find(|proof| proof.index == index);
    let items = proof
        .map(|proof| proof.items.as_slice())
        .unwrap_or_default();
    items
        .iter()
        .map(|item| member(&item.item_type, item))
        .collect()
}

fn member(name: &str, proof: &MembershipProof) -> Member {
    Member {
        name: name.to_owned(),
        when: Some(proof.when.clone()).filter(|when| !when.is_empty()),
        single_partition: proof.single_partition.clone(),
    }
}

/// The indexes that an item type is in.
pub(super) fn indexes_of(ground: &Ground<'_>, item_type: &str) -> Vec<Member> {
    let all = ground.proofs.indexes.iter().filter_map(|index| {
        let mut items = index.items.iter();
        let item = items.find(|item| item.item_type == item_type)?;
        Some(member(&index.index, item))
    });
    all.collect()
}

/// What an attribute is for, in the table and the indexes that its item type is in.
pub(super) fn roles(table: &Table, within: &[Member], name: &str) -> Vec<String> {
    let is = |key: &KeyAttribute| &*key.name == name;
    let mut roles = Vec::new();
    if is(&table.partition) {
        roles.push("partition key".to_owned());
    }
    if table.sort.as_ref().is_some_and(is) {
        roles.push("sort key".to_owned());
    }
    for index in table.all_indexes() {
        if within.iter().all(|member| member.name != index.name) {
            continue;
        }
        // That of a local index is the table's own.
        let is_local = table.local_indexes.contains(index);
        if !is_local && index.partition.iter().any(is) {
            roles.push(format!("{} partition key", index.name));
        }
        if index.sort.iter().any(is) {
            roles.push(format!("{} sort key", index.name));
        }
    }
    if table.ttl.as_deref() == Some(name) {
        roles.push("TTL".to_owned());
    }
    roles
}

/// What the table has besides keys and indexes, as far as the mapping says it.
pub(super) fn settings(table: &Table) -> Vec<(&'static str, String)> {
    let settings = &table.settings;
    let yes = |is: bool| if is { "on" } else { "off" }.to_owned();
    let off = || Some("off".to_owned());
    let listed = |all: &[String]| (!all.is_empty()).then(|| all.join(", "));
    let ttl = table.ttl.as_ref();
    let tags = settings.tags.iter();
    let tags: Vec<String> = tags
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let warm = settings.warm_throughput.map(|warm| {
        let (read, write) = (count(warm.read), count(warm.write));
        format!("{read} reads, {write} writes a second")
    });
    let said = [
        ("Billing", Some(billing(table.billing, settings.autoscale))),
        (
            "TTL",
            ttl.map(|ttl| format!("by the attribute {ttl}"))
                .or_else(off),
        ),
        (
            "Stream",
            settings
                .stream
                .map(|stream| stream.word().to_owned())
                .or_else(off),
        ),
        (
            "Point-in-time recovery",
            settings.point_in_time_recovery.map(yes),
        ),
        ("Deletion protection", settings.deletion_protection.map(yes)),
        ("Class", settings.class.map(|class| class.word().to_owned())),
        ("Warm throughput", warm),
        ("Replicas", listed(&settings.replicas)),
        ("Tags", listed(&tags)),
    ];
    let said = said.into_iter();
    said.filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// A partition key's values, and the items that have them with their item types.
type Group<'i> = (Vec<&'i Attribute>, Vec<(usize, &'i Item)>);

/// The chosen items that are in a place, by partition key in the order in which they are met.
fn collections(ground: &Ground<'_>, choice: &Choice<'_>, place: &Place) -> Vec<Collection> {
    let table = &ground.model.table;
    let index = table.index(&place.name);
    let index = index.filter(|_| place.kind != PlaceKind::Table);
    let projected = |name: &str| index.is_none_or(|index| table.projects(index, name));
    let mut groups: Vec<Group<'_>> = Vec::new();
    for index in 0..choice.types() {
        for chosen in choice.of_type(index) {
            let item = &chosen.item;
            let Some(partition) = values(item, &place.partition) else {
                continue;
            };
            if values(item, &place.sort).is_none() {
                continue;
            }
            match groups.iter_mut().find(|(other, _)| *other == partition) {
                Some((_, items)) => items.push((index, item)),
                None => groups.push((partition, vec![(index, item)])),
            }
        }
    }
    let entry = |(index, item): (usize, &Item)| {
        let item_type = ground.model.item_types.get(index);
        let others = item.attributes.iter();
        let others = others.filter(|(name, _)| !place.has_key(name) && projected(name));
        Entry {
            item_type: item_type.map_or(String::new(), |item| item.name.to_string()),
            sort: keyed(item, &place.sort),
            attributes: others.map(|(name, value)| cell(name, value)).collect(),
        }
    };
    let groups = groups.into_iter().map(|(_, mut items)| {
        items.sort_by(|(_, a), (_, b)| {
            let keys = place.sort.iter();
            let each = keys.map(|key| sort_order(a.get(&key.name), b.get(&key.name)));
            each.fold(Ordering::Equal, Ordering::then)
        });
        let first = items.first().map(|(_, item)| keyed(item, &place.partition));
        Collection {
            partition: first.unwrap_or_default(),
            items: items.into_iter().map(entry).collect(),
        }
    });
    groups.collect()
}

/// The values of a key; `None` where one is missing and the item is not in the index.
fn values<'i>(item: &'i Item, keys: &[Key]) -> Option<Vec<&'i Attribute>> {
    keys.iter().map(|key| item.get(&key.name)).collect()
}

fn keyed(item: &Item, keys: &[Key]) -> Vec<Cell> {
    let keys = keys.iter();
    keys.filter_map(|key| Some(cell(&key.name, item.get(&key.name)?)))
        .collect()
}

// Values and templates as the document writes them.

/// Characters of a value that are shown; a document of a hundred items stays one that can be read.
const SHOWN: usize = 240;

/// The attributes of an item.
#[must_use]
pub fn cells(item: &Item) -> Vec<Cell> {
    let attributes = item.attributes.iter();
    attributes.map(|(name, value)| cell(name, value)).collect()
}

pub(super) fn cell(name: &str, value: &Attribute) -> Cell {
    Cell {
        name: name.to_owned(),
        data_type: value.type_name(),
        value: shown(value),
    }
}

/// A value as people read it.
pub(super) fn shown(value: &Attribute) -> String {
    let text = readable(value);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A template as people read it: without filters, but for what tells shards.
pub(super) fn plainly(template: &Template) -> String {
    fn part(of: &Part) -> String {
        match of {
            Part::Text(text) => text.clone(),
            Part::Value(placeholder) => {
                let shards = placeholder.place.column == AccessPattern::SHARD
                    || matches!(placeholder.filters.last(), Some(Filter::Shard(_)));
                if shards {
                    placeholder.to_string()
                } else {
                    format!("{{{}}}", placeholder.place.written)
                }
            }
            Part::Optional(inner) => {
                let inner: String = inner.iter().map(part).collect();
                format!("[{inner}]")
            }
        }
    }
    template.parts.iter().map(part).collect()
}
