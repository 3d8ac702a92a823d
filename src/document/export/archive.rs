//! What keeps expired items: texts that every format of infrastructure has alike.
//!
//! The table's stream → a Lambda function that is only called for what DynamoDB itself deleted →
//! one object in S3 for each batch, a line of DynamoDB JSON for each item, as in the archive that
//! `migrate` writes. What fails is tried again for as long as the stream keeps it.

/// The function, `handler` in a file called `index`.
pub(super) const FUNCTION: &str = include_str!("archive.py");

/// The function's runtime.
pub(super) const RUNTIME: &str = "python3.13";

/// Which records of the stream it is called for: deletions by DynamoDB itself.
pub(super) const FILTER: &str = r#"{"eventName":["REMOVE"],"userIdentity":{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]}}"#;

/// Seconds for which records are gathered, so that objects are few: the most that Lambda allows.
pub(super) const GATHER_SECONDS: u64 = 300;
/// Most records of a batch. Each may bring 400 KB; Lambda cuts batches at 6 MB by itself.
pub(super) const BATCH: u64 = 1_000;
/// Seconds that the function may take.
pub(super) const TIMEOUT_SECONDS: u64 = 60;
/// Its memory in MB.
pub(super) const MEMORY: u64 = 256;
/// Seconds for which the queue keeps what says which records were lost: 14 days.
pub(super) const QUEUE_SECONDS: u64 = 1_209_600;
/// Days for which logs are kept.
pub(super) const LOG_DAYS: u64 = 30;
/// Days after which objects go to colder storage.
pub(super) const COLD_DAYS: u64 = 30;
