//! Dynafold folds a relational database into one DynamoDB table.

pub mod batch;
pub mod catalog;
pub mod cli;
pub mod diagnostic;
pub mod item;
pub mod load;
pub mod mapping;
pub mod preview;
pub mod retry;
pub mod source;
pub mod target;
pub mod value;
pub mod verify;
