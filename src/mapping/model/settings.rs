//! What a table has besides keys, indexes, TTL and capacity: settings that no item depends on.

use super::Throughput;

/// The settings that a mapping names. What it does not name is left to the service, and of a table
/// that exists it is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// What the table's stream holds; `None` for no stream.
    pub stream: Option<StreamView>,
    /// Whether continuous backups are on.
    pub point_in_time_recovery: Option<bool>,
    /// Whether the table is guarded against deletion.
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
    /// All of them, with the mapping's words.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("keys-only", Self::KeysOnly),
        ("new-image", Self::NewImage),
        ("old-image", Self::OldImage),
        ("new-and-old-images", Self::NewAndOldImages),
    ];

    /// The mapping's word.
    #[must_use]
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
    /// All of them, with the mapping's words.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("standard", Self::Standard),
        ("infrequent-access", Self::InfrequentAccess),
    ];

    /// The mapping's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        word(Self::WORDS, self)
    }
}

fn word<T: PartialEq + Copy>(words: &[(&'static str, T)], wanted: T) -> &'static str {
    let found = words.iter().find(|(_, value)| *value == wanted);
    found.map_or("", |(word, _)| word)
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
