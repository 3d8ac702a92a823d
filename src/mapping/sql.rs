//! SQL of a mapping, taken apart as far as it must be understood.
//!
//! It is no parser. What stands in quotes, comments and dollar quotes is told from the rest, and
//! parentheses are counted; the rest is words and signs. What it does not understand it says nothing
//! of.

mod ends;
mod sorted;
mod tokens;

pub(crate) use ends::takes_in;
pub(crate) use sorted::{Sorted, sorted, sources};
