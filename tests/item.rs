//! The fold: rows, items, and DynamoDB's limits.

mod determinism;
mod fold;
mod size;
