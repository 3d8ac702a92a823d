//! A table that exists against the table that the mapping describes.

use std::collections::BTreeSet;
use std::fmt;

use super::TableDescription;
use crate::mapping::model::{Billing, Index, KeyAttribute, Projection, Table, Throughput};

/// Names every difference, the table's key first. A TTL that could not be read is not one.
#[must_use]
pub fn compare(wanted: &Table, found: &TableDescription) -> Vec<Difference> {
    let (found, ttl_known) = (&found.table, found.ttl_known);
    let mut all = Vec::new();
    let (wanted_key, found_key) = (key(wanted), key(found));
    if wanted_key != found_key {
        all.push(Difference::Key {
            wanted: wanted_key,
            found: found_key,
        });
    }
    indexes(&wanted.indexes, &found.indexes, false, &mut all);
    indexes(&wanted.local_indexes, &found.local_indexes, true, &mut all);
    if ttl_known && wanted.ttl != found.ttl {
        all.push(Difference::Ttl {
            wanted: wanted.ttl.clone(),
            found: found.ttl.clone(),
        });
    }
    if wanted.billing != found.billing {
        all.push(Difference::Billing {
            index: None,
            wanted: paid(wanted.billing),
            found: paid(found.billing),
        });
    } else if let Billing::Provisioned(whole) = wanted.billing {
        throughputs(whole, &wanted.indexes, &found.indexes, &mut all);
    }
    all
}

fn indexes(wanted: &[Index], found: &[Index], local: bool, all: &mut Vec<Difference>) {
    for index in wanted {
        let Some(other) = found.iter().find(|other| other.name == index.name) else {
            all.push(Difference::IndexMissing {
                name: index.name.clone(),
                local,
            });
            continue;
        };
        // A local index has the table's partition key, which was compared.
        let (wanted_key, found_key) = (index_key(index, local), index_key(other, local));
        if wanted_key != found_key {
            all.push(Difference::IndexKey {
                name: index.name.clone(),
                wanted: wanted_key,
                found: found_key,
            });
        }
        let (wanted_held, found_held) = (held(&index.projection), held(&other.projection));
        if wanted_held != found_held {
            all.push(Difference::IndexProjection {
                name: index.name.clone(),
                lacking: lacks(&index.projection, &other.projection),
                wanted: wanted_held,
                found: found_held,
            });
        }
    }
    for other in found {
        if !wanted.iter().any(|index| index.name == other.name) {
            all.push(Difference::IndexExtra {
                name: other.name.clone(),
            });
        }
    }
}

fn throughputs(whole: Throughput, wanted: &[Index], found: &[Index], all: &mut Vec<Difference>) {
    for index in wanted {
        let Some(other) = found.iter().find(|other| other.name == index.name) else {
            continue;
        };
        let units = |index: &Index| index.throughput.unwrap_or(whole);
        if units(index) != units(other) {
            all.push(Difference::Billing {
                index: Some(index.name.clone()),
                wanted: paid(Billing::Provisioned(units(index))),
                found: paid(Billing::Provisioned(units(other))),
            });
        }
    }
}

fn key(table: &Table) -> String {
    attributes(
        std::slice::from_ref(&table.partition),
        table.sort.as_slice(),
    )
}

fn index_key(index: &Index, local: bool) -> String {
    if local {
        attributes(&[], &index.sort)
    } else {
        attributes(&index.partition, &index.sort)
    }
}

/// `PK (S), SK (S)`; multi-attribute keys as `[a (S), b (S)], SK (S)`.
fn attributes(partition: &[KeyAttribute], sort: &[KeyAttribute]) -> String {
    let say = |keys: &[KeyAttribute]| {
        let texts: Vec<String> = keys
            .iter()
            .map(|key| format!("{} ({:?})", key.name, key.key_type))
            .collect();
        match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        }
    };
    match (partition, sort) {
        (partition, []) => say(partition),
        ([], sort) => say(sort),
        (partition, sort) => format!("{}, {}", say(partition), say(sort)),
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

fn held(projection: &Projection) -> String {
    match projection {
        Projection::All => "all attributes".to_owned(),
        Projection::Keys => "keys alone".to_owned(),
        Projection::Include(names) => {
            let sorted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            let names: Vec<&str> = sorted.into_iter().collect();
            format!("keys and {}", names.join(", "))
        }
    }
}

fn paid(billing: Billing) -> String {
    match billing {
        Billing::OnDemand => "on demand".to_owned(),
        Billing::Provisioned(Throughput { read, write }) => {
            format!("provisioned for {read} reads and {write} writes a second")
        }
    }
}

// The ways in which a table can differ from its mapping, in words.

/// One way in which a table is not what the mapping says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The table's key: attributes or their types.
    Key {
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
    /// An index of the mapping is not there.
    IndexMissing {
        /// Its name.
        name: String,
        /// Whether it is a local one, which cannot be added to a table that exists.
        local: bool,
    },
    /// The table has an index that the mapping does not know.
    IndexExtra {
        /// Its name.
        name: String,
    },
    /// An index's key: attributes or their types.
    IndexKey {
        /// The index.
        name: String,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
    /// What an index holds.
    IndexProjection {
        /// The index.
        name: String,
        /// Whether it lacks an attribute that the mapping wants in it.
        lacking: bool,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
    /// The attribute that holds the expiry time.
    Ttl {
        /// As the mapping says it.
        wanted: Option<String>,
        /// As the table has it.
        found: Option<String>,
    },
    /// A setting that no item depends on: the stream, backups, tags and so on.
    Setting {
        /// The mapping's key for it.
        setting: &'static str,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it; `None` where the endpoint does not tell.
        found: Option<String>,
        /// The error code of an endpoint that does not set or tell it.
        why: Option<String>,
    },
    /// How the table, or an index of it, is paid for.
    Billing {
        /// The index; `None` for the table.
        index: Option<String>,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
}

impl Difference {
    /// Whether items could not be written, or access patterns not be served: the key, and an index
    /// that is missing or has another key or holds less. The rest costs money or comfort.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        match self {
            Self::Key { .. } | Self::IndexMissing { .. } | Self::IndexKey { .. } => true,
            Self::IndexProjection { lacking, .. } => *lacking,
            Self::IndexExtra { .. }
            | Self::Ttl { .. }
            | Self::Setting { .. }
            | Self::Billing { .. } => false,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { wanted, found } => {
                write!(f, "the table's key is {found}, the mapping says {wanted}")
            }
            Self::IndexMissing { name, local } => {
                let kind = if *local { "local index" } else { "index" };
                write!(f, "the table has no {kind} {name}")
            }
            Self::IndexExtra { name } => {
                write!(f, "the mapping does not know the table's index {name}")
            }
            Self::IndexKey {
                name,
                wanted,
                found,
            } => write!(
                f,
                "the key of index {name} is {found}, the mapping says {wanted}"
            ),
            Self::IndexProjection {
                name,
                wanted,
                found,
                lacking: _,
            } => write!(f, "index {name} holds {found}, the mapping says {wanted}"),
            Self::Ttl { wanted, found } => {
                let say = |ttl: &Option<String>| ttl.clone().unwrap_or_else(|| "none".to_owned());
                let (wanted, found) = (say(wanted), say(found));
                write!(f, "the TTL attribute is {found}, the mapping says {wanted}")
            }
            Self::Setting {
                setting,
                wanted,
                found,
                why,
            } => {
                match found {
                    Some(found) => write!(f, "`{setting}` is {found}")?,
                    None => write!(f, "`{setting}` is not known here")?,
                }
                if let Some(code) = why {
                    write!(f, " (the endpoint answers {code})")?;
                }
                write!(f, ", the mapping says {wanted}")
            }
            Self::Billing {
                index,
                wanted,
                found,
            } => {
                let what = index
                    .as_ref()
                    .map_or_else(|| "the table".to_owned(), |name| format!("index {name}"));
                write!(f, "{what} is {found}, the mapping says {wanted}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::mapping::model::{KeyType, Settings};

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
                "index GSI1 holds keys alone, the mapping says keys and a, b",
                "the mapping does not know the table's index other",
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
