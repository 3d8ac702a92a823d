//! Compares what the source says should be in the table with what is there.
//!
//! Every item is made again from one snapshot of the source and read from the table by its key,
//! strongly consistently, up to 100 at a time and several requests at once. Then the table's keys
//! are scanned for items that the source does not make. Nothing but the set of keys grows with the
//! data. Findings name keys, attributes and types, never values.

mod compare;
mod report;
mod run;

pub use report::{
    AttributeDifference, AttributeFinding, Compared, Finding, FindingKind, VerifyOutcome,
    VerifyReport,
};
pub use run::{Verify, verify};
