//! DynamoDB's types by their words.

use crate::word;

/// DynamoDB's types, but for NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DynamoType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
    /// Boolean.
    Bool,
    /// String set.
    Ss,
    /// Number set.
    Ns,
    /// Binary set.
    Bs,
    /// List.
    L,
    /// Map.
    M,
}

impl DynamoType {
    /// All of them, with DynamoDB's words.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("S", Self::S),
        ("N", Self::N),
        ("B", Self::B),
        ("BOOL", Self::Bool),
        ("SS", Self::Ss),
        ("NS", Self::Ns),
        ("BS", Self::Bs),
        ("L", Self::L),
        ("M", Self::M),
    ];

    /// DynamoDB's word for it.
    pub fn word(self) -> &'static str {
        word(Self::WORDS, self)
    }
}
