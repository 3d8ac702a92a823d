//! What was shown of a mapping, as `check` tells it.

use serde::Serialize;

use crate::claim::{Claim, ClaimKind};
use crate::guarantee::Guarantees;

/// Everything that was shown of a mapping: claims, and plain data beside them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proofs {
    /// Keys, sort keys, indexes, sizes and access patterns.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// The pairs of item types of which a key attribute begins with different texts: no key is of both.
    pub pairs_by_beginning: usize,
    /// The pairs that were not compared, since there are too many. Every other pair has a claim.
    pub pairs_not_compared: usize,
    /// Which columns are in items.
    pub coverage: Coverage,
    /// The columns in keys that the database numbers.
    pub numbered_keys: Vec<String>,
    /// Which item types are in each index.
    pub indexes: Vec<IndexProof>,
    /// For each item type: how large its items can be, and what writing one costs.
    pub sizes: Vec<SizeProof>,
    /// For each access pattern: how it is served.
    pub patterns: Vec<PatternProof>,
    /// What the database guarantees, and what takes its place.
    #[serde(skip)]
    pub guarantees: Guarantees,
}

impl Proofs {
    /// The claims of a kind.
    pub fn of(&self, kind: ClaimKind) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(move |claim| claim.kind == kind)
    }

    /// Whether the schema proves that no two items have one key.
    pub fn keys_differ(&self) -> bool {
        self.of(ClaimKind::KeysDiffer).all(Claim::is_proved)
    }
}

/// Which columns are in items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Columns of the tables that item types are made from or look up.
    pub columns: usize,
    /// Those of them that are in an item, under their own names or in a template.
    pub in_items: usize,
    /// Those of which an item has only a part: a member of a document, the position in an array, or what `redact`, `shard`
    /// or `present` makes of them.
    pub in_part: Vec<String>,
    /// Those that `omit` leaves out by name.
    pub omitted: Vec<String>,
    /// Those that are in no item and that no `omit` names.
    pub in_no_item: Vec<String>,
    /// Tables that may have further columns, whose names the server hides from the user. These are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hiding_names: Vec<String>,
    /// Tables from which nothing is read.
    pub unused_tables: Vec<String>,
    /// Item types that are made from queries, whose tables are not looked into.
    pub queries: Vec<String>,
}

/// Which item types are in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexProof {
    /// The name of the index.
    pub index: String,
    /// Whether it is a local one: a collection of items is then at most 10 GB, and the index is made with the table.
    pub local: bool,
    /// Item types that are or may be in it.
    pub items: Vec<MembershipProof>,
}

/// When an item type is in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MembershipProof {
    /// The name of the item type.
    pub item_type: String,
    /// What it depends on; empty where every item is in the index.
    pub when: String,
    /// The one partition key value that all its items share, if they do.
    pub single_partition: Option<String>,
}

/// How large an item can be, and what writing one costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SizeProof {
    /// The name of the item type.
    pub item_type: String,
    /// Most bytes of an item; `None` where there is no limit.
    pub most_bytes: Option<usize>,
    /// What has no limit: columns, documents, children.
    pub without_limit: Vec<String>,
    /// The largest columns, where an item can pass 400 KB by its columns' limits.
    pub largest: Vec<String>,
    /// How long its keys can be, those of indexes too.
    #[serde(skip)]
    pub keys: Vec<KeySize>,
    /// What one put writes.
    pub writes: Writes,
}

/// How long a text in a key can be, all its parts and what stands between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySize {
    /// The attribute.
    pub attribute: String,
    /// Most bytes of what has a limit.
    pub bytes: usize,
    /// The columns without a limit.
    pub without_limit: Vec<String>,
    /// Most bytes that DynamoDB takes.
    pub allowed: usize,
}

/// What one put writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Writes {
    /// Indexes that every item is in.
    pub indexes: Vec<String>,
    /// Indexes that some items are in.
    pub sparse_indexes: Vec<String>,
    /// Fewest write units: one for the table and one for each index that every item is in.
    pub least_units: u64,
    /// Most write units; `None` where an item's size has no limit.
    pub most_units: Option<u64>,
}

/// How an access pattern is served.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PatternProof {
    /// The access pattern.
    pub pattern: String,
    /// `GetItem` or `Query`.
    pub operation: &'static str,
    /// Whether the items that it finds are then read whole by `BatchGetItem`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fetches: bool,
    /// The index; the table itself where there is none.
    pub index: Option<String>,
    /// The key condition, for people.
    pub condition: String,
    /// The item types that it finds.
    pub finds: Vec<String>,
    /// How many partitions are asked, each by a request of its own.
    pub partitions: u32,
    /// Fewest read units of a call: nothing is found.
    pub least_units: f64,
    /// Most read units of a call; `None` where the number of items or their size has no limit.
    pub most_units: Option<f64>,
}
