//! The table and its indexes: keys, what they hold, and example items laid out by item collection.

use std::cmp::Ordering;
use std::slice;

use dynafold_dynamodb::{
    Attribute, Autoscale, Billing, Index, Item, KeyAttribute, Projection, Table, Throughput,
    readable, sort_order,
};
use dynafold_format::{count, counted, grouped};
use dynafold_mapping::forecast::PlaceKind;
use dynafold_mapping::sample::SampleItem;

use super::{DefinitionInputs, DocumentFacts};
use crate::phrases;
use crate::tree::{
    self, About, DocBlock, DocRow, ItemCell, TextLine, TextPiece, code, joined, link, plain, prose,
    texts,
};

pub(super) struct TableOrIndex<'g> {
    pub(super) name: &'g str,
    pub(super) kind: PlaceKind,
    partition: &'g [KeyAttribute],
    sort: &'g [KeyAttribute],
    /// `None` of the table itself.
    index: Option<&'g Index>,
}

/// The table, its global indexes, its local ones.
pub(super) fn places(table: &Table) -> impl Iterator<Item = TableOrIndex<'_>> {
    let own = TableOrIndex {
        name: &table.name,
        kind: PlaceKind::Table,
        partition: slice::from_ref(&table.partition),
        sort: table.sort.as_slice(),
        index: None,
    };
    let global = table.indexes.iter();
    let global = global.map(|index| (index, PlaceKind::GlobalIndex));
    let local_indexes = table.local_indexes.iter();
    let local = local_indexes.map(|index| (index, PlaceKind::LocalIndex));
    let indexes = global.chain(local).map(|(index, kind)| TableOrIndex {
        name: &index.name,
        kind,
        partition: &index.partition,
        sort: &index.sort,
        index: Some(index),
    });
    std::iter::once(own).chain(indexes)
}

/// A table of them, and what the table has besides.
pub(super) fn table(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let table = &facts.inputs.model.table;
    let keys = |keys: &[KeyAttribute]| {
        let keys = keys.iter().map(|key| {
            let key_type = TextPiece::Type(key.key_type.word().to_owned());
            vec![code(&*key.name), plain(" "), key_type]
        });
        joined(keys, &plain(", "))
    };
    let rows = places(table).map(|place| {
        DocRow::new(vec![
            vec![plain(place.name), TextPiece::Sub(vec![plain(place.what())])],
            keys(place.partition),
            keys(place.sort),
            vec![plain(place.projection())],
            vec![plain(place.billing(table))],
            place.members(facts.inputs),
        ])
    });
    let rows = tree::DocTable::new(
        "The table and its indexes",
        [
            "Name",
            "Partition key",
            "Sort key",
            "Projects",
            "Capacity",
            "Holds",
        ],
        rows,
    );
    vec![DocBlock::Table(rows), settings(table)]
}

/// The item collections of the table and of each index, side by side.
pub(super) fn collections(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let views = places(&facts.inputs.model.table).filter_map(|place| place.collections(facts));
    let views: Vec<tree::DocTable> = views.collect();
    let examples = phrases::examples(facts.inputs.examples.as_ref());
    let mut blocks = vec![DocBlock::note(examples)];
    if !views.is_empty() {
        blocks.push(DocBlock::Views("Item collections side by side", views));
    }
    blocks
}

impl TableOrIndex<'_> {
    fn what(&self) -> &'static str {
        match self.kind {
            PlaceKind::Table => "table",
            PlaceKind::GlobalIndex => "global secondary index",
            PlaceKind::LocalIndex => "local secondary index",
        }
    }

    /// What of an item is in it.
    fn projection(&self) -> String {
        match self.index.map(|index| &index.projection) {
            None => "everything".to_owned(),
            Some(Projection::All) => "every attribute".to_owned(),
            Some(Projection::Keys) => "keys only".to_owned(),
            Some(Projection::Include(names)) => format!("keys and {}", names.join(", ")),
        }
    }

    /// How its capacity is paid for.
    fn billing(&self, table: &Table) -> String {
        let own = self.index.and_then(|index| index.autoscale);
        let policy = own.or(table.settings.autoscale);
        match (self.kind, self.index.and_then(|index| index.throughput)) {
            (PlaceKind::LocalIndex, _) => "the table's".to_owned(),
            (_, Some(own)) => billing(Billing::Provisioned(own), policy),
            (_, None) => billing(table.billing, policy),
        }
    }

    /// The item types in it.
    fn members(&self, inputs: &DefinitionInputs<'_>) -> TextLine {
        if self.index.is_none() {
            let item_types = inputs.model.item_types.iter();
            let all = item_types.map(|item| vec![link(About::ItemType, &item.name)]);
            return joined(all, &TextPiece::Break);
        }
        let indexes = inputs.proofs.indexes.iter();
        let proofs = indexes.filter(|proof| proof.index == self.name);
        let lines = proofs.flat_map(|proof| &proof.items).map(|member| {
            let mut line = TextLine::new();
            if !member.when.is_empty() {
                line.push(plain("some "));
            }
            line.push(link(About::ItemType, &member.item_type));
            if !member.when.is_empty() {
                line.push(TextPiece::Sub(prose(&member.when)));
            }
            if let Some(value) = &member.single_partition {
                let all = vec![plain("all under "), TextPiece::Value(value.clone())];
                line.push(TextPiece::Sub(all));
            }
            line
        });
        joined(lines, &TextPiece::Break)
    }

    /// The chosen items that are in it, by partition key in the order in which they are met; `None`
    /// without one.
    fn collections(&self, facts: &DocumentFacts<'_>) -> Option<tree::DocTable> {
        let item_types = facts.inputs.model.item_types.iter().enumerate();
        let keyed = item_types.flat_map(|(at, item_type)| {
            let chosen = facts.shown_items.of_type(at);
            chosen.filter_map(move |SampleItem { item, .. }| {
                values(item, self.sort)?;
                Some((values(item, self.partition)?, (&*item_type.name, item)))
            })
        });
        let groups = grouped(keyed);
        if groups.is_empty() {
            return None;
        }
        let title = |role: &str, keys: &[KeyAttribute]| {
            let names: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
            format!("{} ({role})", names.join(", "))
        };
        let mut titles = vec![title("partition key", self.partition)];
        if !self.sort.is_empty() {
            titles.push(title("sort key", self.sort));
        }
        titles.push("Attributes".to_owned());
        let rows = groups
            .into_iter()
            .flat_map(|(partition, items)| self.rows(&facts.inputs.model.table, &partition, items));
        let caption = format!("{} {}", self.what(), self.name);
        let mut view = tree::DocTable::new(caption, titles, rows);
        view.class = "view";
        Some(view)
    }

    /// An item collection: its partition key spans the rows of its items.
    fn rows(
        &self,
        table: &Table,
        partition: &[&Attribute],
        mut items: Vec<(&str, &Item)>,
    ) -> Vec<DocRow> {
        items.sort_by(|(_, a), (_, b)| {
            let keys = self.sort.iter();
            let each = keys.map(|key| sort_order(a.get(&key.name), b.get(&key.name)));
            each.fold(Ordering::Equal, Ordering::then)
        });
        let line = |values: &[&Attribute]| {
            let values = values
                .iter()
                .map(|value| vec![TextPiece::Value(shown(value))]);
            joined(values, &TextPiece::Break)
        };
        let is_key = |name: &str| {
            let mut keys = self.partition.iter().chain(self.sort);
            keys.any(|key| *key.name == *name)
        };
        let projected = |name: &str| self.index.is_none_or(|index| table.projects(index, name));
        let all = items.len();
        let rows = items.into_iter().enumerate().map(|(at, (name, item))| {
            let mut cells = Vec::new();
            if at == 0 {
                cells.push(line(partition));
            }
            if !self.sort.is_empty() {
                cells.push(line(&values(item, self.sort).unwrap_or_default()));
            }
            let attributes = item.attributes.iter();
            let others = attributes.filter(|(name, _)| !is_key(name) && projected(name));
            cells.push(vec![
                TextPiece::Marked("role", name.to_owned()),
                TextPiece::Attributes(others.map(|(name, value)| cell(name, value)).collect()),
            ]);
            DocRow {
                span: if at == 0 { all } else { 0 },
                ..DocRow::new(cells)
            }
        });
        rows.collect()
    }
}

fn billing(billing: Billing, autoscale: Option<Autoscale>) -> String {
    let Some(Throughput { read, write }) = billing.provisioned() else {
        return "on demand".to_owned();
    };
    let scaled = autoscale.map_or(String::new(), |autoscale| {
        format!(
            ", autoscaled up to {} at {} % utilization",
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

/// What the table has besides keys and indexes, as far as the mapping says it.
pub(super) fn settings(table: &Table) -> DocBlock {
    let settings = &table.settings;
    let yes = |is: bool| if is { "on" } else { "off" }.to_owned();
    let off = || Some("off".to_owned());
    let listed = |all: &[String]| (!all.is_empty()).then(|| all.join(", "));
    let ttl = table.ttl.as_ref();
    let replicated = if settings.replicas.is_empty() {
        "; these deletions cost no write units"
    } else {
        "; these deletions cost write units in each replica"
    };
    let tags = settings.tags.iter();
    let tags: Vec<String> = tags
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let warm = settings.warm_throughput.map(|warm| {
        let (read, write) = (count(warm.read), count(warm.write));
        format!("{read} reads, {write} writes a second")
    });
    let local_indexes = (!table.local_indexes.is_empty()).then_some(
        "they are in the table's partitions and use its capacity; with them no item collection may pass 10 GB, and none can be \
         added or removed later",
    );
    let lines = [
        ("Billing", Some(billing(table.billing, settings.autoscale))),
        ("Local indexes", local_indexes.map(str::to_owned)),
        (
            "TTL",
            ttl.map(|ttl| {
                format!(
                    "by the attribute {ttl}; DynamoDB deletes an item late, typically within a few days of \
                     its expiry: filter on {ttl} where expired items must not be found, and never use \
                     TTL for locks{replicated}"
                )
            })
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
        (
            "Backups",
            settings.backups.as_ref().map(|backups| {
                let kept = counted(backups.keep_days, "day");
                format!("{}, each kept {kept} (AWS Backup, made by CloudFormation or Terraform)", backups.schedule)
            }),
        ),
        ("Deletion protection", settings.deletion_protection.map(yes)),
        ("Table class", settings.class.map(|class| class.word().to_owned())),
        ("Warm throughput", warm),
        ("Replicas", listed(&settings.replicas)),
        ("Tags", listed(&tags)),
    ];
    let lines = lines.into_iter();
    texts(lines.filter_map(|(name, value)| Some((name, value?))))
}

/// The values of a key; `None` where one is missing and the item is not in the index.
fn values<'i>(item: &'i Item, keys: &[KeyAttribute]) -> Option<Vec<&'i Attribute>> {
    keys.iter().map(|key| item.get(&key.name)).collect()
}

// Values as the document writes them.

/// Characters of a value that are shown; a document of a hundred items stays one that can be read.
const SHOWN: usize = 240;

/// The attributes of an item.
pub fn cells(item: &Item) -> Vec<ItemCell> {
    let attributes = item.attributes.iter();
    attributes.map(|(name, value)| cell(name, value)).collect()
}

fn cell(name: &str, value: &Attribute) -> ItemCell {
    ItemCell {
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
