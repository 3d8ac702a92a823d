//! A table's description: keys, indexes, TTL and capacity; and the settings that no item depends on.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::word;

/// A DynamoDB table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The table's name, which is unique in the account and the region.
    pub name: String,
    /// The attribute of the partition key.
    pub partition: KeyAttribute,
    /// The attribute of the sort key; `None` for a table without one.
    pub sort: Option<KeyAttribute>,
    /// Global secondary indexes.
    pub indexes: Vec<Index>,
    /// Local secondary indexes: the table's partition key, a sort key of their own.
    pub local_indexes: Vec<Index>,
    /// The attribute that holds the expiry time.
    pub ttl: Option<String>,
    /// How capacity is paid for.
    pub billing: Billing,
    /// What no item depends on: stream, backups, tags and so on.
    pub settings: Settings,
}

impl Table {
    /// The attributes of its key, the partition key first.
    pub fn key(&self) -> impl Iterator<Item = &KeyAttribute> + Clone {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    /// Whether an attribute is of its key.
    pub fn is_key(&self, name: &str) -> bool {
        self.key().any(|key| *key.name == *name)
    }

    /// All indexes, the global ones first.
    pub fn all_indexes(&self) -> impl Iterator<Item = &Index> + Clone {
        self.indexes.iter().chain(&self.local_indexes)
    }

    /// The attributes of all keys, each once: those of the table, then those of its indexes.
    pub fn key_attributes(&self) -> Vec<&KeyAttribute> {
        let mut attributes: Vec<&KeyAttribute> = Vec::new();
        let global = self.indexes.iter().flat_map(Index::key);
        let local = self.local_indexes.iter().flat_map(|index| &index.sort);
        for key in self.key().chain(global).chain(local) {
            if !attributes.iter().any(|known| known.name == key.name) {
                attributes.push(key);
            }
        }
        attributes
    }

    /// Its key for people: `PK (S), SK (S)`.
    pub fn key_text(&self) -> String {
        key_text(std::slice::from_ref(&self.partition), self.sort.as_slice())
    }

    /// The index of a name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.all_indexes().find(|index| index.name == name)
    }

    /// Whether an index holds an attribute of the items in it.
    pub fn projects(&self, index: &Index, attribute: &str) -> bool {
        let mut keys = self.key().chain(index.key());
        match &index.projection {
            Projection::All => true,
            _ if keys.any(|key| *key.name == *attribute) => true,
            Projection::Keys => false,
            Projection::Include(names) => names.iter().any(|name| name == attribute),
        }
    }
}

/// An attribute of a key, of the table or of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyAttribute {
    /// The attribute's name.
    pub name: Arc<str>,
    /// The type that its values must have.
    pub key_type: KeyType,
}

/// The types that a key attribute can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

impl KeyType {
    /// Every type with DynamoDB's word for it.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("S", Self::S), ("N", Self::N), ("B", Self::B)];

    /// DynamoDB's word for it.
    pub fn word(self) -> &'static str {
        word(Self::WORDS, self)
    }
}

/// A secondary index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Partition key attributes: one, or up to four for a multi-attribute key. Of a local index that of the table.
    pub partition: Vec<KeyAttribute>,
    /// Sort key attributes: none to four.
    pub sort: Vec<KeyAttribute>,
    /// What is copied into it.
    pub projection: Projection,
    /// Its own provisioned capacity; the table's where it has none of its own.
    pub throughput: Option<Throughput>,
    /// How that capacity follows the load; the table's policy where it has none of its own.
    pub autoscale: Option<Autoscale>,
}

impl Index {
    /// The attributes of its key, those of the partition key first.
    pub fn key(&self) -> impl Iterator<Item = &KeyAttribute> + Clone {
        self.partition.iter().chain(&self.sort)
    }

    /// Its key for people; multi-attribute keys as `[a (S), b (S)], SK (S)`.
    pub fn key_text(&self) -> String {
        key_text(&self.partition, &self.sort)
    }
}

/// A key for people; a part without attributes is left out.
pub fn key_text(partition: &[KeyAttribute], sort: &[KeyAttribute]) -> String {
    let part = |keys: &[KeyAttribute]| {
        let texts: Vec<String> = keys
            .iter()
            .map(|key| format!("{} ({})", key.name, key.key_type.word()))
            .collect();
        match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        }
    };
    let parts = [partition, sort]
        .into_iter()
        .filter(|keys| !keys.is_empty());
    parts.map(part).collect::<Vec<_>>().join(", ")
}

/// What an index holds besides keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    /// Every attribute.
    All,
    /// Keys alone.
    Keys,
    /// Keys and these attributes.
    Include(Vec<String>),
}

impl Projection {
    /// What it holds, for people.
    pub fn text(&self) -> String {
        match self {
            Self::All => "all attributes".to_owned(),
            Self::Keys => "keys only".to_owned(),
            Self::Include(names) => {
                let sorted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
                let names: Vec<&str> = sorted.into_iter().collect();
                format!("keys and {}", names.join(", "))
            }
        }
    }

    /// DynamoDB's word for it, and the attributes that it names.
    pub fn service_words(&self) -> (&'static str, &[String]) {
        match self {
            Self::All => ("ALL", &[]),
            Self::Keys => ("KEYS_ONLY", &[]),
            Self::Include(names) => ("INCLUDE", names),
        }
    }
}

/// How capacity is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Billing {
    /// By request.
    OnDemand,
    /// By the hour, for this much.
    Provisioned(Throughput),
}

impl Billing {
    /// What is provisioned, where that is paid for.
    pub fn provisioned(self) -> Option<Throughput> {
        match self {
            Self::OnDemand => None,
            Self::Provisioned(units) => Some(units),
        }
    }

    /// What is paid for, for people.
    pub fn text(self) -> String {
        match self {
            Self::OnDemand => "on demand".to_owned(),
            Self::Provisioned(Throughput { read, write }) => {
                format!("provisioned for {read} reads and {write} writes a second")
            }
        }
    }

    /// DynamoDB's word for it.
    pub fn service_word(self) -> &'static str {
        match self {
            Self::OnDemand => "PAY_PER_REQUEST",
            Self::Provisioned(_) => "PROVISIONED",
        }
    }
}

/// Provisioned capacity, in units a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throughput {
    /// Read capacity units.
    pub read: u64,
    /// Write capacity units.
    pub write: u64,
}

/// The settings that a mapping names: no item depends on them. What it does not name is left to the service, and of a table
/// that exists it is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// What the table's stream holds; `None` for no stream.
    pub stream: Option<StreamView>,
    /// Whether continuous backups are on.
    pub point_in_time_recovery: Option<bool>,
    /// Whether the table is protected against deletion.
    pub deletion_protection: Option<bool>,
    /// The table class.
    pub class: Option<TableClass>,
    /// Tags, in the order of the file.
    pub tags: Vec<(String, String)>,
    /// What the table is warmed up for, in units a second.
    pub warm_throughput: Option<Throughput>,
    /// Regions that hold a replica, besides the table's own.
    pub replicas: Vec<String>,
    /// How provisioned capacity follows the load.
    pub autoscale: Option<Autoscale>,
    /// Backups by AWS Backup, which infrastructure makes and no load.
    pub backups: Option<Backups>,
}

/// When backups are made, and how long they are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backups {
    /// `cron(…)` or `rate(…)`, in UTC, as AWS Backup reads it.
    pub schedule: String,
    /// For how many days a backup is kept.
    pub keep_days: u64,
}

/// What a record of a table's stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamView {
    /// The key alone.
    KeysOnly,
    /// The item as it is after the change.
    NewImage,
    /// The item as it was before the change.
    OldImage,
    /// Both.
    NewAndOldImages,
}

impl StreamView {
    /// DynamoDB's word for it.
    pub fn service_word(self) -> &'static str {
        match self {
            Self::KeysOnly => "KEYS_ONLY",
            Self::NewImage => "NEW_IMAGE",
            Self::OldImage => "OLD_IMAGE",
            Self::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }

    /// All of them, with the mapping's words.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("keys-only", Self::KeysOnly),
        ("new-image", Self::NewImage),
        ("old-image", Self::OldImage),
        ("new-and-old-images", Self::NewAndOldImages),
    ];

    /// The mapping's word.
    pub fn word(self) -> &'static str {
        word(Self::WORDS, self)
    }
}

/// How storage and requests of a table are priced against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableClass {
    /// Cheap requests.
    Standard,
    /// Cheap storage.
    InfrequentAccess,
}

impl TableClass {
    /// DynamoDB's word for it.
    pub fn service_word(self) -> &'static str {
        match self {
            Self::Standard => "STANDARD",
            Self::InfrequentAccess => "STANDARD_INFREQUENT_ACCESS",
        }
    }

    /// All of them, with the mapping's words.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("standard", Self::Standard),
        ("infrequent-access", Self::InfrequentAccess),
    ];

    /// The mapping's word.
    pub fn word(self) -> &'static str {
        word(Self::WORDS, self)
    }
}

/// Bounds and target of provisioned capacity that follows the load, for reads and writes alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Autoscale {
    /// The least capacity, in units a second; `None`: what is provisioned at first.
    pub min: Option<u64>,
    /// The most capacity, in units a second.
    pub max: u64,
    /// Percent of the capacity that should be in use, 20 to 90.
    pub target: u64,
}
