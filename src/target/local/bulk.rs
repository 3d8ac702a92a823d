//! What a load puts into a table: the engine's import.
//!
//! The import checks keys and values as a BatchWriteItem does, and writes a batch in one
//! transaction, all of it or nothing. It does not check the size of items; that is done here.
//!
//! The engine's own bulk settings stay off. They stop SQLite from syncing: a power cut could then
//! lose, or damage, what the run's state already counts as written. Larger transactions gain most
//! of what they would: 40,000 items a second on a file, against 50,000.

use dynoxide::types::{Item as EngineItem, MAX_ITEM_SIZE};
use dynoxide::{DynoxideError, ImportOptions};

use super::connector::unreadable;
use super::file::Opener;
use crate::target::dynamodb::without_values;
use crate::target::{Batch, BatchLimit, Entry, ErrorClass, TargetError, Written};

/// Enough items to a transaction that its sync costs little; the bytes bound the memory.
pub(super) const LIMIT: BatchLimit = BatchLimit {
    items: 2500,
    bytes: 4_000_000,
};

/// Writes a batch of puts in one transaction.
pub(super) fn import(opener: &Opener, table: &str, batch: &Batch) -> Result<Written, TargetError> {
    let items = batch.entries().iter().enumerate();
    let parsed = items.map(|(index, entry)| parse(entry, batch.json(index)));
    let parsed = parsed.collect::<Result<Vec<_>, _>>();
    let database = opener.made()?;
    parsed
        .and_then(|items| database.import_items(table, items, ImportOptions::default()))
        .map(|_| Written::default())
        .map_err(|error| refused(opener, table, &error))
}

fn parse(entry: &Entry, json: &str) -> Result<EngineItem, DynoxideError> {
    if entry.size > MAX_ITEM_SIZE {
        return Err(DynoxideError::ValidationException(
            "Item size has exceeded the maximum allowed size".to_owned(),
        ));
    }
    serde_json::from_str(json).map_err(|error| unreadable(&error))
}

fn refused(opener: &Opener, table: &str, error: &DynoxideError) -> TargetError {
    if error.status_code() == 500 {
        return opener.error(error);
    }
    let kind = error.error_type();
    let code = kind.rsplit_once('#').map_or(kind, |(_, code)| code);
    TargetError {
        class: match error {
            DynoxideError::ResourceNotFoundException(_) => ErrorClass::Fatal,
            _ => ErrorClass::Invalid,
        },
        code: code.to_owned(),
        message: format!(
            "import into table {table}: {} ({code})",
            without_values(&error.to_string())
        ),
        help: None,
        throttles: Vec::new(),
    }
}
