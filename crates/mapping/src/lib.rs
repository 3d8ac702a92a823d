//! The mapping language: from YAML with places to a model that cannot be invalid, what is proved of it, and what it makes
//! of rows.
//!
//! [`Raw`] is a file as it was written; [`resolve()`] holds it against a catalog and gives a [`model::Model`] with all
//! that is wrong ([`diagnostic`]) and all that is claimed ([`claim`]). [`item`] folds rows into items; [`access`] makes
//! requests of access patterns. Pure: it reads no file, asks no database and sends nothing.

pub mod access;
#[cfg(test)]
#[path = "tests/all_sql.rs"]
mod all_sql;
pub mod claim;
pub mod diagnostic;
pub mod diff;
mod expression;
pub mod forecast;
mod grammar;
pub mod guarantee;
pub mod item;
pub mod model;
mod partition;
mod proof;
mod raw;
mod resolve;
pub mod sample;
pub mod scalar;
pub mod template;
mod variables;
pub mod yaml;

pub use grammar::schema;
pub use partition::{CarriedColumn, ElsewhereItemType, OtherShards, PartitionScope};
pub use proof::{
    Coverage, IndexProof, KeySize, MembershipProof, PatternProof, Proofs, SizeProof, Writes,
};
pub use raw::{Raw, Spanned};
pub use resolve::{Described, Outline, OutlinedItemType, Resolution, outline, resolve};
pub use resolve::{aligned, fickle_part, kind_of, writing};
