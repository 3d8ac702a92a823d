//! The mapping language: from YAML with places to a model that cannot be invalid.

#[cfg(test)]
#[path = "tests/all_sql.rs"]
mod all_sql;
mod expression;
mod grammar;
pub mod model;
mod proof;
mod raw;
mod resolve;
mod starter;
pub mod template;
mod variables;
pub mod yaml;

pub use grammar::schema;
pub use proof::{Coverage, IndexProof, MembershipProof, PatternProof, Proofs, SizeProof, Writes};
pub use raw::{Raw, Spanned};
pub use resolve::{Described, Outline, Resolution, outline, resolve};
pub(crate) use resolve::{aligned, is_fickle_query, kind_of, reads_more, writing};
pub use starter::{Starter, starter};
