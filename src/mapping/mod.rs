//! The mapping language: from YAML with places to a model that cannot be invalid.

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
pub use proof::{
    Coverage, IndexProof, KeyProof, Membership, MembershipProof, OrderProof, PatternProof, Proofs,
    SizeProof, TypesProof, Verdict, Writes,
};
pub use raw::{Raw, Spanned};
pub(crate) use resolve::aligned;
pub use resolve::{Described, Outline, Resolution, outline, resolve};
pub use starter::starter;
