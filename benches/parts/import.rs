//! The embedded engine's own import of items that are ready: the ceiling of a load into a file.

use std::fs;
use std::io;

use dynoxide::{Database, ImportOptions};
use serde_json::json;

use crate::invalid;

/// The batches of the tool's bulk load.
const BATCH: usize = 1000;

/// Imports a file of DynamoDB JSON lines into a new table.
pub(crate) fn run(items: &str, table: &str) -> io::Result<()> {
    let database = Database::new(table).map_err(io::Error::other)?;
    let request = json!({
        "TableName": "bench",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            { "AttributeName": "PK", "KeyType": "HASH" },
            { "AttributeName": "SK", "KeyType": "RANGE" },
        ],
        "AttributeDefinitions": [
            { "AttributeName": "PK", "AttributeType": "S" },
            { "AttributeName": "SK", "AttributeType": "S" },
        ],
    });
    let request = serde_json::from_value(request)?;
    database.create_table(request).map_err(io::Error::other)?;
    let text = fs::read_to_string(items)?;
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return Err(invalid("there are no items"));
    }
    for batch in lines.chunks(BATCH) {
        let items = batch.iter().map(|line| serde_json::from_str(line));
        let items = items.collect::<Result<Vec<_>, _>>()?;
        database
            .import_items("bench", items, ImportOptions::default())
            .map_err(io::Error::other)?;
    }
    Ok(())
}
