//! Dynafold folds a relational database into one DynamoDB table.

pub mod catalog;
pub mod diagnostic;
pub mod item;
pub mod mapping;
pub mod source;
pub mod target;
pub mod value;
