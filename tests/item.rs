//! The fold: rows, items, and DynamoDB's limits.

mod fold;
