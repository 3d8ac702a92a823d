//! Compares what the source says should be in the table with what is there.
//!
//! Every item is made again from one snapshot of the source, read in chunks side by side, and read
//! from the table by its key, strongly consistently, up to 100 at a time and several requests at
//! once. Then the table's keys are scanned for items that the source does not make. Nothing grows
//! with the data: keys that do not fit into a small memory go to disk. Findings name keys,
//! attributes and types, never values. On request what is missing or different is written as it
//! should be; nothing else is, and nothing is deleted.

mod compare;
pub mod patterns;
mod report;
mod run;

pub use report::{
    AttributeDifference, AttributeFinding, ComparedBooks, Finding, FindingKind, VerifyOutcome,
    VerifyReport,
};
pub use run::{Verify, VerifyOptions, verify};
