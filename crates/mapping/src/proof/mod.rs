//! Proofs: what can be shown of a mapping before any row is read, each in words that a reviewer can
//! follow.
//!
//! A proof goes by what the schema and the filters tell. Where they do not tell enough, it says so
//! and gives an example of what could happen; it never guesses. Pure: the resolver hands in the
//! item types with their facts, and turns what is wrong into diagnostics.
//!
//! | file | question |
//! | --- | --- |
//! | `injective` | may two rows of an item type have one key? |
//! | `apart` | may two item types have one key? |
//! | `order` | is the order of a sort key's text the order of its values? |
//! | `coverage` | which columns are in no item? |
//! | `indexes` | which item types are in an index, and when? |
//! | `size` | how large can an item be, and what does writing it cost? |
//! | `guarantees` | what does the database keep, and what takes its place? |
//! | `recoverable` | which values can be recovered from an item? |
//! | `reach` | which item types does an access pattern find? |
//!
//! They stand on `text` (what a value can look like), `domain` and `passage` (what a column's type and the filters make of
//! it), `texts` (which of them), `forms` (whole templates) and `meet` (two automata that read one text).

mod apart;
mod coverage;
mod domain;
mod facts;
mod forms;
mod guarantees;
mod indexes;
mod injective;
mod meet;
mod numbered_keys;
mod order;
mod passage;
mod reach;
mod recoverable;
mod report;
mod size;
mod text;
mod texts;

pub(super) use apart::{ApartReason, MOST_PAIRS, Pairs, pairs};
pub(super) use coverage::coverage;
pub(super) use domain::Domain;
pub(super) use facts::{
    ColumnFact, Covered, ProofSubject, RelationKind, RowFacts, TypeBounds, UniqueColumns,
};
pub(super) use guarantees::guarantees;
pub(super) use indexes::{fixed, index, key_attributes, may_lack};
pub(super) use injective::{KeyProofEnd, prove};
pub(super) use meet::ProofBudget;
pub(super) use numbered_keys::numbered_keys;
pub(super) use order::{disorders, proofs as order, sort_keys};
pub(super) use reach::{KeyCondition, Reachability, reach};
pub use recoverable::RowDomains;
pub use report::{
    Coverage, IndexProof, KeySize, MembershipProof, PatternProof, Proofs, SizeProof, Writes,
};
pub(super) use size::{column_bytes, refused, size};
pub use texts::KeyTexts;
pub(super) use texts::key_texts;
