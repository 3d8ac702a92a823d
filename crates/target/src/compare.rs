//! A table that exists against the table that the mapping describes.

use std::fmt;

use dynafold_dynamodb::{Billing, Index, Projection, Table, Throughput, key_text};

use super::TableDescription;
use DifferenceWeight::{Breaking, Comfort, Fixed, Lacking};

/// One way in which a table is not what the mapping says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it means for a load.
    pub weight: DifferenceWeight,
    text: String,
}

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceWeight {
    /// It costs money or comfort.
    Comfort,
    /// Access patterns could not be served: a global index is missing. It can be added to the table that is there.
    Lacking,
    /// The same: an index has another key, holds less, or is missing and cannot be added.
    Breaking,
    /// The same, or items could not be written, and a table that exists cannot be changed so: its key, and
    /// local indexes.
    Fixed,
}

impl Difference {
    /// Whether items could not be written, or access patterns not be served.
    pub fn is_breaking(&self) -> bool {
        self.weight > Comfort
    }

    /// A setting that no item depends on: the stream, backups, tags and so on. `found`: as the table has it,
    /// `None` where the endpoint does not tell. `why`: the error code of an endpoint that does not set or tell
    /// it.
    pub(super) fn setting(
        setting: &str,
        wanted: &str,
        found: Option<&str>,
        why: Option<&str>,
    ) -> Self {
        let found = found.unwrap_or("not known here");
        let why = why.map_or_else(String::new, |code| {
            format!(" (the endpoint answers {code})")
        });
        Self {
            weight: Comfort,
            text: format!("`{setting}` is {found}{why}, the mapping says {wanted}"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Differences as they are found.
#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn push(&mut self, weight: DifferenceWeight, text: String) {
        self.0.push(Difference { weight, text });
    }

    /// Tells two things apart by their words. `what` goes before them: `the table's key is`.
    fn differ(&mut self, weight: DifferenceWeight, what: &str, wanted: &str, found: &str) {
        if wanted != found {
            self.push(weight, format!("{what} {found}, the mapping says {wanted}"));
        }
    }
}

impl Differences {
    /// Tells of a global index that the table lacks. DynamoDB keeps the type of a key attribute that it knows, whatever
    /// is declared with a new index: such an index would have another key.
    fn missing(&mut self, index: &Index, table: &Table) {
        let name = &index.name;
        let known = table.key_attributes();
        let local = table.local_indexes.iter().find(|local| local.name == *name);
        let local = local.map(|_| "a local index of the table has this name".to_owned());
        let other = index.key().find_map(|key| {
            let known = known.iter().find(|known| known.name == key.name)?;
            (known.key_type != key.key_type).then(|| {
                format!(
                    "its key attribute {} has type {}, but the table's keys have it as {}",
                    key.name,
                    key.key_type.word(),
                    known.key_type.word()
                )
            })
        });
        match local.or(other) {
            None => self.push(Lacking, format!("the table has no index {name}")),
            Some(why) => self.push(
                Breaking,
                format!("the table has no index {name}, which cannot be added: {why}"),
            ),
        }
    }
}

/// Names every difference, the table's key first. A TTL that could not be read is not one.
pub fn compare(wanted: &Table, found: &TableDescription) -> Vec<Difference> {
    let (found, ttl_known) = (&found.table, found.ttl_known);
    let mut all = Differences::default();
    all.differ(
        Fixed,
        "the table's key is",
        &wanted.key_text(),
        &found.key_text(),
    );
    indexes(&wanted.indexes, &found.indexes, Some(found), &mut all);
    indexes(&wanted.local_indexes, &found.local_indexes, None, &mut all);
    if ttl_known {
        let ttl = |table: &Table| table.ttl.clone().unwrap_or_else(|| "none".to_owned());
        let what = "the TTL attribute is";
        all.differ(Comfort, what, &ttl(wanted), &ttl(found));
    }
    match wanted.billing {
        Billing::Provisioned(whole) if wanted.billing == found.billing => {
            throughputs(whole, &wanted.indexes, &found.indexes, &mut all);
        }
        _ => {
            let (wanted, found) = (wanted.billing.text(), found.billing.text());
            all.differ(Comfort, "the table is", &wanted, &found);
        }
    }
    all.0
}

/// `table`: the one that is there, of which these are the global indexes; `None` for local ones.
fn indexes(wanted: &[Index], found: &[Index], table: Option<&Table>, all: &mut Differences) {
    for index in wanted {
        let name = &index.name;
        let Some(other) = found.iter().find(|other| other.name == *name) else {
            match table {
                Some(table) => all.missing(index, table),
                None => all.push(Fixed, format!("the table has no local index {name}")),
            }
            continue;
        };
        // A local index has the table's partition key, which was compared.
        let key = |index: &Index| index_key(index, table.is_none());
        let what = format!("the key of index {name} is");
        all.differ(Breaking, &what, &key(index), &key(other));
        let weight = if lacks(&index.projection, &other.projection) {
            Breaking
        } else {
            Comfort
        };
        let held = |index: &Index| index.projection.text();
        let what = format!("index {name} holds");
        all.differ(weight, &what, &held(index), &held(other));
    }
    for other in found {
        if !wanted.iter().any(|index| index.name == other.name) {
            let name = &other.name;
            let text = format!("the mapping does not have the table's index {name}, which stays");
            all.push(Comfort, text);
        }
    }
}

fn throughputs(whole: Throughput, wanted: &[Index], found: &[Index], all: &mut Differences) {
    for index in wanted {
        let Some(other) = found.iter().find(|other| other.name == index.name) else {
            continue;
        };
        let units = |index: &Index| Billing::Provisioned(index.throughput.unwrap_or(whole)).text();
        let what = format!("index {} is", index.name);
        all.differ(Comfort, &what, &units(index), &units(other));
    }
}

fn index_key(index: &Index, local: bool) -> String {
    if local {
        key_text(&[], &index.sort)
    } else {
        index.key_text()
    }
}

fn lacks(wanted: &Projection, found: &Projection) -> bool {
    match (wanted, found) {
        (_, Projection::All) | (Projection::Keys, _) => false,
        (Projection::All, _) => true,
        (Projection::Include(wanted), Projection::Keys) => !wanted.is_empty(),
        (Projection::Include(wanted), Projection::Include(found)) => {
            !wanted.iter().all(|name| found.contains(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dynafold_dynamodb::{KeyAttribute, KeyType, Settings};

    use super::*;

    fn attribute(name: &str) -> KeyAttribute {
        KeyAttribute {
            name: Arc::from(name),
            key_type: KeyType::S,
        }
    }

    fn index(name: &str, projection: Projection) -> Index {
        Index {
            name: name.to_owned(),
            partition: vec![attribute("GSI1PK")],
            sort: vec![attribute("GSI1SK")],
            projection,
            throughput: None,
            autoscale: None,
        }
    }

    fn table() -> Table {
        Table {
            name: "app".to_owned(),
            partition: attribute("PK"),
            sort: Some(attribute("SK")),
            indexes: vec![index(
                "GSI1",
                Projection::Include(vec!["b".to_owned(), "a".to_owned()]),
            )],
            local_indexes: vec![index("LSI1", Projection::All)],
            ttl: Some("expires".to_owned()),
            billing: Billing::OnDemand,
            settings: Settings::default(),
        }
    }

    fn described(table: Table) -> TableDescription {
        TableDescription {
            status: "ACTIVE".to_owned(),
            table,
            unready_indexes: Vec::new(),
            id: None,
            ttl_known: true,
            item_count: None,
        }
    }

    #[test]
    fn a_table_is_itself_in_whatever_order_it_is_told() {
        let mut found = table();
        found.indexes[0].projection = Projection::Include(vec!["a".to_owned(), "b".to_owned()]);
        found.local_indexes[0].partition = vec![attribute("PK")];
        assert_eq!(compare(&table(), &described(found)), []);
    }

    #[test]
    fn every_difference_is_named() {
        let mut found = table();
        found.sort = None;
        found.partition.key_type = KeyType::N;
        found.indexes[0].sort = vec![attribute("GSI1SK"), attribute("more")];
        found.indexes[0].projection = Projection::Keys;
        found.indexes.push(index("other", Projection::All));
        found.local_indexes.clear();
        found.ttl = None;
        found.billing = Billing::Provisioned(Throughput { read: 5, write: 6 });
        let found = compare(&table(), &described(found));
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "the table's key is PK (N), the mapping says PK (S), SK (S)",
                "the key of index GSI1 is GSI1PK (S), [GSI1SK (S), more (S)], the mapping says GSI1PK (S), GSI1SK (S)",
                "index GSI1 holds keys only, the mapping says keys and a, b",
                "the mapping does not have the table's index other, which stays",
                "the table has no local index LSI1",
                "the TTL attribute is none, the mapping says expires",
                "the table is provisioned for 5 reads and 6 writes a second, the mapping says on demand",
            ]
        );
        let breaking: Vec<bool> = found.iter().map(Difference::is_breaking).collect();
        assert_eq!(breaking, [true, true, true, false, true, false, false]);
    }

    #[test]
    fn an_index_that_holds_more_serves_as_well() {
        let mut found = table();
        found.indexes[0].projection = Projection::All;
        let found = compare(&table(), &described(found));
        let breaking: Vec<bool> = found.iter().map(Difference::is_breaking).collect();
        assert_eq!(breaking, [false]);
    }

    #[test]
    fn an_unreadable_ttl_is_no_difference() {
        let mut found = described(table());
        found.table.ttl = None;
        found.ttl_known = false;
        assert_eq!(compare(&table(), &found), []);
    }

    #[test]
    fn an_index_without_capacity_of_its_own_has_the_tables() {
        let mut wanted = table();
        let (five, ten) = (
            Throughput { read: 5, write: 5 },
            Throughput {
                read: 10,
                write: 10,
            },
        );
        wanted.billing = Billing::Provisioned(five);
        let mut found = wanted.clone();
        found.indexes[0].throughput = Some(five);
        assert_eq!(compare(&wanted, &described(found.clone())), []);
        found.indexes[0].throughput = Some(ten);
        let texts: Vec<String> = compare(&wanted, &described(found))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            texts,
            [
                "index GSI1 is provisioned for 10 reads and 10 writes a second, the mapping says provisioned for 5 reads and 5 writes a second"
            ]
        );
    }
}
