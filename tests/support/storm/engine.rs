//! What the embedded engine answers: tables and their settings always, items where it keeps them.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::ServiceAnswer;

/// Reads, which the map answers itself.
pub(crate) const READS: [&str; 4] = ["BatchGetItem", "GetItem", "Query", "Scan"];

/// Runs one operation of the engine on a request's body.
pub(crate) fn run<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Result<ServiceAnswer, ServiceAnswer> {
    let request = serde_json::from_slice(body)?;
    Ok(ServiceAnswer::good(serde_json::to_string(&operation(
        request,
    )?)?))
}

/// Everything but writes of items.
pub(crate) fn answer(
    engine: &Database,
    operation: &str,
    body: &[u8],
) -> Result<ServiceAnswer, ServiceAnswer> {
    match operation {
        "BatchGetItem" => run(body, |request| engine.batch_get_item(request)),
        "CreateTable" => run(body, |request| engine.create_table(request)),
        "DeleteTable" => run(body, |request| engine.delete_table(request)),
        "DescribeTable" => run(body, |request| engine.describe_table(request)),
        "DescribeTimeToLive" => run(body, |request| engine.describe_time_to_live(request)),
        "GetItem" => run(body, |request| engine.get_item(request)),
        "ListTables" => run(body, |request| engine.list_tables(request)),
        "ListTagsOfResource" => run(body, |request| engine.list_tags_of_resource(request)),
        "Query" => run(body, |request| engine.query(request)),
        "Scan" => run(body, |request| engine.scan(request)),
        "TagResource" => run(body, |request| engine.tag_resource(request)),
        "UpdateTable" => run(body, |request| engine.update_table(request)),
        "UpdateTimeToLive" => run(body, |request| engine.update_time_to_live(request)),
        _ => Err(ServiceAnswer::error(
            400,
            "UnknownOperationException",
            &format!("the rehearsal endpoint does not do {operation}"),
        )),
    }
}
