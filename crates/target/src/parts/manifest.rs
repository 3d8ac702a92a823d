//! What an export says of itself, and what `ImportTable` is asked with.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dynafold_dynamodb::{Table, definition};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Compression, damaged, failed};
use crate::{Result, private};

/// The name of the manifest in the folder of an export.
const NAME: &str = "manifest.json";

/// What an export holds, and what it was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of this file.
    pub version: u32,
    /// The table's name in the mapping.
    pub table: String,
    /// How parts are compressed.
    pub compression: Compression,
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

impl Manifest {
    /// The version that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// Whether a folder holds an export that is complete.
    #[must_use]
    pub fn is_in(folder: &Path) -> bool {
        folder.join(NAME).exists()
    }

    /// Reads the manifest of a complete export.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it is not there, not readable, or of another version.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let text = fs::read(&path).map_err(|error| {
            failed(&path, "read", error).with_help("name the folder of an export that is complete")
        })?;
        let manifest: Self = serde_json::from_slice(&text).map_err(|error| {
            damaged(&path, "is not the manifest of an export").with_cause(error, 0)
        })?;
        if manifest.version != Self::VERSION {
            let what = format!(
                "is of version {}; this program reads version {}",
                manifest.version,
                Self::VERSION
            );
            return Err(damaged(&path, &what));
        }
        Ok(manifest)
    }

    /// Writes it into the folder: whole, or not at all.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write_json(&folder.join(NAME), self)
    }
}

/// Writes a file of JSON under another name first, and syncs it.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let before = path.with_extension("tmp");
    let write = || -> std::io::Result<()> {
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        let mut file = private::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&before)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&before, path)?;
        sync_folder(path)
    };
    write().map_err(|error| failed(path, "write", error))
}

/// Makes new names in a file's folder durable.
pub(super) fn sync_folder(file: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = file.parent() {
        fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Writes `import-table.json`: the input of `aws dynamodb import-table`, but for the bucket. `ImportTable` makes the table with
/// its key, billing and global indexes; what else the mapping says of the table is set afterwards. Gives the file, and what
/// is left to be set.
///
/// # Errors
///
/// [`crate::TargetError`] when it cannot be written.
pub fn import_table(
    folder: &Path,
    table: &Table,
    compression: Compression,
) -> Result<(PathBuf, Vec<&'static str>)> {
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
    let definition = definition(table);
    let mut left: Vec<&str> = (LEFT.iter())
        .filter(|(name, _)| definition.get(name).is_some())
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
    let path = folder.join("import-table.json");
    write_json(
        &path,
        &json!({
            "InputFormat": "DYNAMODB_JSON",
            "InputCompressionType": compression.service_word(),
            "TableCreationParameters": parameters,
        }),
    )?;
    Ok((path, left))
}
