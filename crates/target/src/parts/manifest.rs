//! What an export says of itself, and what `ImportTable` is asked with.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::{Table, create_table_input};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::plan::PartsPlan;
use super::{Compression, ItemLines};
use crate::s3::S3Object;

/// The name of the manifest in the folder of an export.
pub(super) const MANIFEST: &str = "manifest.json";

/// What an export holds, and what it was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of this file.
    pub version: u32,
    /// The table's name in the mapping.
    pub table: String,
    /// How parts are compressed.
    pub compression: Compression,
    /// How items are written.
    #[serde(default, skip_serializing_if = "ItemLines::is_default")]
    pub lines: ItemLines,
    /// A hash of the mapping file and of the values that it takes from the environment.
    pub mapping: String,
    /// The database, without user and password.
    pub source: String,
    /// A hash of what tells the state of the source, where the database can tell: two equal ones are of the same rows.
    pub stamp: Option<String>,
    /// The time that decided what has expired, in RFC 3339.
    pub now: String,
    /// The item types and the partition that it is about, where it is not about all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection: Vec<String>,
    /// Items of each type.
    pub item_types: Vec<ItemTypeCount>,
    /// Items of all parts.
    pub items: u64,
    /// Their bytes, as DynamoDB counts them.
    pub item_bytes: u64,
    /// Whether each part holds items of one chunk: of a load by many workers. Items are in order within a part alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_chunk: bool,
    /// The parts, in their order; those without an item are left out.
    pub parts: Vec<Part>,
}

/// Items of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemTypeCount {
    /// Its name.
    pub item_type: String,
    /// How many there are.
    pub items: u64,
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its path from the folder of the export.
    pub file: String,
    /// Its items, one a line.
    pub items: u64,
    /// Bytes of its lines, before they are compressed.
    pub uncompressed_bytes: u64,
    /// Its own bytes.
    pub bytes: u64,
    /// SHA-256 of these.
    pub sha256: String,
}

impl Part {
    /// Whether its name is that of a file in `data/`, and leads nowhere else.
    fn is_in_data(&self) -> bool {
        let name = self.file.strip_prefix("data/");
        name.is_some_and(|name| !name.contains(['/', '\\']) && name != "..")
    }
}

/// A part that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenPart {
    /// What it holds.
    pub part: Part,
    /// What S3 tells the contents of its object by; a file has none.
    pub etag: Option<String>,
}

impl WrittenPart {
    /// Whether a part is among the objects as it was written.
    pub(super) fn is_among(objects: &[S3Object]) -> impl Fn(&Self) -> bool {
        let by_name: BTreeMap<&str, &S3Object> = (objects.iter())
            .map(|object| (object.name.as_str(), object))
            .collect();
        move |one| {
            by_name.get(one.part.file.as_str()).is_some_and(|object| {
                let is_same = one.etag.as_ref() == Some(&object.etag) && !object.etag.is_empty();
                is_same && object.size == one.part.bytes
            })
        }
    }
}

impl Manifest {
    /// The version that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// The bytes of its parts, before they are compressed.
    pub fn uncompressed_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.uncompressed_bytes).sum()
    }

    /// The parts that may be read, by their names: those in `data/`, each once.
    pub(super) fn readable_parts(&self) -> BTreeMap<&str, &Part> {
        let in_data = self.parts.iter().filter(|part| part.is_in_data());
        in_data.map(|part| (part.file.as_str(), part)).collect()
    }

    /// The name of a part of an export that is not by chunk.
    pub(super) fn planned_name(&self, part: u64) -> String {
        PartsPlan::name(&format!("{part:05}"), &self.lines, self.compression)
    }

    /// Tells the names of parts that an export of these items may have; those by chunk may have any.
    pub(super) fn planned_parts(&self) -> impl Fn(&str) -> bool {
        let plan = PartsPlan::of(self.items, self.item_bytes);
        let names: BTreeSet<String> = if self.by_chunk {
            BTreeSet::new()
        } else {
            (0..plan.parts())
                .map(|part| self.planned_name(part))
                .collect()
        };
        let has_any = self.by_chunk;
        move |name| has_any || names.contains(name)
    }

    /// What it says otherwise than `made`, the manifest of the items that the source makes.
    pub fn differences(&self, made: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.table != made.table {
            let (listed, table) = (&self.table, &made.table);
            found.push(format!(
                "{MANIFEST} is for the table `{listed}`, but the mapping's table is `{table}`"
            ));
        }
        let beyond = |of: &Self, other: &Self| -> Vec<String> {
            let types = of.item_types.iter();
            let beyond = types.filter(|one| !other.item_types.contains(one));
            beyond
                .map(|one| format!("{} {}", one.items, one.item_type))
                .collect()
        };
        let (listed, makes) = (beyond(self, made), beyond(made, self));
        if !(listed.is_empty() && makes.is_empty()) {
            let [listed, makes] = [listed, makes].map(|types| match types.as_slice() {
                [] => "no others".to_owned(),
                types => types.join(", "),
            });
            found.push(format!(
                "{MANIFEST} counts {listed} by item type, but the source makes {makes}"
            ));
        }
        if self.item_bytes != made.item_bytes {
            let (listed, made) = (self.item_bytes, made.item_bytes);
            found.push(format!(
                "{MANIFEST} counts {listed} bytes of items, but the source makes {made}"
            ));
        }
        found
    }

    /// Where it contradicts itself: parts that were not planned, that no import reads or that are listed twice, and sums.
    pub(super) fn contradictions(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut names = BTreeSet::new();
        let is_planned = self.planned_parts();
        for part in &self.parts {
            let name = &part.file;
            if !part.is_in_data() {
                found.push(format!("{name} is listed, but it is not a file of data/"));
            } else if !is_planned(name) {
                found.push(format!("{name} is a part that the export did not plan"));
            }
            if !names.insert(name) {
                found.push(format!("{name} is listed more than once"));
            }
        }
        let in_parts = self.parts.iter().map(|part| part.items);
        let of_types = self.item_types.iter().map(|one| one.items);
        let sums = [
            ("parts", in_parts.fold(0, u64::saturating_add)),
            ("item types", of_types.fold(0, u64::saturating_add)),
        ];
        for (of, sum) in sums.into_iter().filter(|(_, sum)| *sum != self.items) {
            let all = self.items;
            found.push(format!(
                "{MANIFEST} counts {all} items, but {sum} by its {of}"
            ));
        }
        found
    }
}

/// The name of the file with what `aws dynamodb import-table` is asked.
pub const IMPORT_TABLE: &str = "import-table.json";

/// The input of `ImportTable`, but for the bucket. `ImportTable` makes the table with its key, billing and global indexes;
/// what else the mapping says of the table is set afterwards. Gives the input, and what is left to be set.
pub fn import_table(table: &Table, compression: Compression) -> (Value, Vec<&'static str>) {
    const TAKEN: [&str; 5] = [
        "AttributeDefinitions",
        "KeySchema",
        "BillingMode",
        "ProvisionedThroughput",
        "GlobalSecondaryIndexes",
    ];
    const LEFT: [(&str, &str); 6] = [
        ("LocalSecondaryIndexes", "local indexes"),
        ("StreamSpecification", "the stream"),
        ("WarmThroughput", "the warm throughput"),
        ("DeletionProtectionEnabled", "the deletion protection"),
        ("TableClass", "the table class"),
        ("Tags", "tags"),
    ];
    // It refuses a definition of an attribute that no key of its own has: a local index's.
    let own = Table {
        local_indexes: Vec::new(),
        ..table.clone()
    };
    let (whole, definition) = (create_table_input(table), create_table_input(&own));
    let mut left: Vec<&str> = (LEFT.iter())
        .filter(|(name, _)| whole.get(name).is_some())
        .map(|(_, words)| *words)
        .collect();
    left.extend(table.ttl.as_ref().map(|_| "the TTL"));
    left.extend(
        table
            .settings
            .point_in_time_recovery
            .map(|_| "point-in-time recovery"),
    );
    left.extend((!table.settings.replicas.is_empty()).then_some("replicas"));
    let mut parameters = json!({ "TableName": table.name });
    if let (Some(parameters), Value::Object(members)) = (parameters.as_object_mut(), definition) {
        let taken = members
            .into_iter()
            .filter(|(name, _)| TAKEN.contains(&name.as_str()));
        parameters.extend(taken);
    }
    let request = json!({
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": compression.service_word(),
        "TableCreationParameters": parameters,
    });
    (request, left)
}
