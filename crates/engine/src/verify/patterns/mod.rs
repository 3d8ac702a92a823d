//! Proves that access patterns answer what their SQL answers.
//!
//! For each pattern with `sql`, [`draw`] makes calls with values that occur in the source and with
//! some that do not. [`prove`] asks both sides and compares. What is compared of an item type is what
//! its own templates make of the SQL's columns (`projection`), so that a key stands for the columns in
//! it; a row finds its item by the table's key or by the source's. What cannot be told apart is not
//! proved, and never taken for equal. Differences name keys and attributes, not values.
//!
//! A pattern is proved where every call that could find a row or an item was asked (`doubts`, `reach`); else its answers
//! agree, as far as they were asked.

mod call;
mod coerce;
mod columns;
mod compare;
mod doubts;
mod draw;
mod kinds;
mod origin;
mod others;
mod places;
mod projection;
mod prove;
mod reach;
mod report;
mod shape;
mod slots;
mod values;
mod work;

pub use call::{DrawContext, DrawReason};
pub use prove::{prove, unprovable_patterns};
pub use report::{
    ComparedType, DifferentCall, Example, ExampleKind, PatternReport, PatternsOutcome,
    PatternsReport,
};
pub use work::Proving;
