//! How a target fails.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Throttled: send again, later and slower.
    Throttle,
    /// The server or the network failed: send again.
    Transient,
    /// The batch as a whole was refused because of one of its items: split it to find it.
    Invalid,
    /// Nothing that is sent will be taken: stop.
    Fatal,
}

/// What has failed, for programs to match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetErrorKind {
    /// When the table takes no more requests for now. A load reports it when it lasts until its deadline.
    Throttled,
    /// When a quota of the account is exceeded.
    Quota,
    /// When the credentials do not allow the operation.
    AccessDenied,
    /// When there are no credentials, or they have expired or are refused.
    Credentials,
    /// When no AWS region is known.
    Region,
    /// When the endpoint cannot be reached, does not answer in time, or answers what DynamoDB would not.
    Connection,
    /// When the service itself fails.
    Unavailable,
    /// When there is no such table, or no such index of it.
    TableMissing,
    /// When the table is being made, changed or deleted, or another one was made under its name.
    TableInUse,
    /// When the service refuses what is sent: an item, a key, a request.
    Refused,
    /// When the table's KMS key cannot be used.
    EncryptionKey,
    /// When another process holds the file of the embedded engine.
    Locked,
    /// When no space is left for the file of the embedded engine.
    DiskFull,
    /// When the file of the embedded engine cannot be used for another reason.
    File,
    /// When the service gives a code that is not known here.
    Other,
}

/// How a target failed.
#[derive(Debug, Clone)]
pub struct TargetError {
    /// What has failed.
    pub kind: TargetErrorKind,
    /// What to do about it.
    pub class: ErrorClass,
    /// The service's error code, or one of ours: `Connection`, `Credentials`, `Region`, `File`.
    pub code: String,
    /// One line: what was done and what became of it. No secrets, no values of rows, and nothing of the cause.
    pub message: String,
    /// What the user can do about it.
    pub help: Option<String>,
    /// Why the service throttled, where it says so.
    pub throttles: Vec<Throttle>,
    cause: Option<Arc<Cause>>,
}

/// What an error comes from.
#[derive(Debug)]
struct Cause {
    error: Box<dyn Error + Send + Sync>,
    /// How many errors of its chain, from the first, say only through which layer it came.
    layers: usize,
}

/// One of the service's reasons for throttling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttle {
    /// Such as `TableWriteKeyRangeThroughputExceeded`.
    pub reason: String,
    /// The ARN of the table or index; may be empty.
    pub resource: String,
}

impl TargetError {
    /// An error without help or cause.
    pub fn new(kind: TargetErrorKind, class: ErrorClass, code: &str, message: String) -> Self {
        Self {
            kind,
            class,
            code: code.to_owned(),
            message,
            help: None,
            throttles: Vec::new(),
            cause: None,
        }
    }

    /// An error about a file on this machine. A lock on one ends.
    pub(crate) fn of_file(kind: TargetErrorKind, message: impl Into<String>) -> Self {
        let class = match kind {
            TargetErrorKind::Locked => ErrorClass::Transient,
            _ => ErrorClass::Fatal,
        };
        Self::new(kind, class, "File", message.into())
    }

    /// The same, with what the user can do about it.
    pub fn with_help(self, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { help, ..self }
    }

    /// The same, with what it comes from. `layers`: how many errors of that chain are passed over, which say only
    /// through which layer it came.
    pub fn with_cause(self, cause: impl Into<Box<dyn Error + Send + Sync>>, layers: usize) -> Self {
        let error = cause.into();
        let cause = Some(Arc::new(Cause { error, layers }));
        Self { cause, ..self }
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

// By hand: thiserror would give the `Arc` as the source, which nobody can downcast to what is in it.
impl Error for TargetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.cause.as_deref()?;
        let first: &(dyn Error + 'static) = cause.error.as_ref();
        std::iter::successors(Some(first), |&error| error.source()).nth(cause.layers)
    }
}

/// What the service itself says, without the values of rows.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ServiceText(pub(crate) String);
