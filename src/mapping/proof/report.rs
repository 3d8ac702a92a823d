//! What was shown of a mapping, as `check` tells it.

use serde::Serialize;

/// Everything that was shown of a mapping.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proofs {
    /// For each item type: whether two of its rows may have one key.
    pub keys: Vec<KeyProof>,
    /// Whether two item types may have one key.
    pub item_types: TypesProof,
    /// For each sort key of each item type: whether the order of its text is that of its values.
    pub order: Vec<OrderProof>,
    /// Which columns are in items.
    pub coverage: Coverage,
    /// Which item types are in each index.
    pub indexes: Vec<IndexProof>,
    /// For each item type: how large its items can be, and what writing one costs.
    pub sizes: Vec<SizeProof>,
    /// For each access pattern: how it is served.
    pub patterns: Vec<PatternProof>,
}

impl Proofs {
    /// Whether the schema proves that no two items have one key.
    #[must_use]
    pub fn keys_differ(&self) -> bool {
        let mut all = self.keys.iter().chain(&self.item_types.others);
        all.all(|proof| proof.verdict == Verdict::Proved)
    }
}

/// How a proof ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Proved,
    /// Nothing shows that it holds; the load will check.
    Unproved,
    /// It does not hold: the schema allows rows that break it.
    Refuted,
}

/// Whether two rows of an item type may have one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyProof {
    /// The item type.
    pub item_type: String,
    /// How the proof ended.
    pub verdict: Verdict,
    /// Why.
    pub because: String,
    /// Two rows that would have one key, where the proof did not hold.
    pub example: Option<String>,
}

/// Whether two item types may have one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypesProof {
    /// Pairs of item types.
    pub pairs: usize,
    /// Pairs of which a key attribute begins with different texts.
    pub by_beginning: usize,
    /// The other pairs, each with what keeps it apart or an example of a key that both make.
    pub others: Vec<KeyProof>,
}

/// Whether the order of a sort key's text is the order of its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderProof {
    /// The item type.
    pub item_type: String,
    /// The sort key attribute.
    pub attribute: String,
    /// How the proof ended.
    pub verdict: Verdict,
    /// Why.
    pub because: String,
}

/// Which columns are in items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Columns of the tables that item types are made from or look up.
    pub columns: usize,
    /// Those of them that are in an item, under their own names or in a template.
    pub in_items: usize,
    /// Those that `omit` leaves out by name.
    pub omitted: Vec<String>,
    /// Those that are in no item and that no `omit` names.
    pub in_no_item: Vec<String>,
    /// Tables from which nothing is read.
    pub unused_tables: Vec<String>,
    /// Item types that are made from queries, whose tables are not looked into.
    pub queries: Vec<String>,
}

/// Which item types are in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexProof {
    /// The index.
    pub index: String,
    /// Item types that are or may be in it.
    pub items: Vec<MembershipProof>,
}

/// When an item type is in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MembershipProof {
    /// The item type.
    pub item_type: String,
    /// Whether always.
    pub membership: Membership,
    /// What it depends on; empty where it is always.
    pub because: String,
    /// The one partition key value that all its items share, if they do.
    pub single_partition: Option<String>,
}

/// Whether an item type is in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Membership {
    /// Every item.
    Always,
    /// Items that have the index's key attributes: the index is sparse.
    Sparse,
}

/// How large an item can be, and what writing one costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SizeProof {
    /// The item type.
    pub item_type: String,
    /// Most bytes of an item; `None` where there is no limit.
    pub most_bytes: Option<usize>,
    /// What has no limit: columns, documents, children.
    pub without_limit: Vec<String>,
    /// The largest columns, where an item can pass 400 KB by its columns' limits.
    pub largest: Vec<String>,
    /// What one put writes.
    pub writes: Writes,
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
