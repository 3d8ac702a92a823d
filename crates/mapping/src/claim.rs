//! What the program claims: of a mapping, of a table, of an answer. One record for each claim; all text, JSON and
//! documents are printed from these records, and whoever doubts one knows what it relies on.
//!
//! `docs/claims.md` says what each verdict means for each kind of claim.

use serde::Serialize;

/// One claim, and how far it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What is claimed.
    #[serde(rename = "claim")]
    pub kind: ClaimKind,
    /// What the claim is about.
    pub of: ClaimSubject,
    /// How far it was shown.
    #[serde(flatten)]
    pub verdict: ClaimVerdict,
    /// Why the verdict is this one, for people.
    pub because: String,
    /// What it relies on: constraints that the database enforces, rows that were compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// A case that breaks it: one that was found, or one that the schema allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// What is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// No two rows of the item types make one key; with two item types, no row of one makes a key of the other.
    KeysDiffer,
    /// The text of a sort key, read as bytes, is in the order of its values.
    TextOrder,
    /// Every item of the item type is in the index.
    AlwaysInIndex,
    /// No item of the mapping is in the index.
    IndexEmpty,
    /// No item of the item type is larger than its `most_bytes`.
    ItemSize,
    /// The pattern finds items of these item types and of no other.
    PatternFinds,
    /// The pattern answers what its SQL answers.
    PatternAnswers,
    /// The table holds the items that the source makes, and no other item of the mapping.
    TableEqual,
    /// The table holds no item with this partition key value; where item types are named, none of these.
    PartitionEmpty,
    /// Every row that was read and every item that was made is accounted for.
    BooksBalance,
}

/// What a claim is about. What does not apply is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ClaimSubject {
    /// Names of item types; all of the mapping's if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub item_types: Vec<String>,
    /// The sort key attribute whose order is claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The index that the claim is about, or that the access pattern asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The access pattern's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// A partition key value of the table, as DynamoDB JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
}

/// How far a claim was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// For every row and every value: by structure, from facts that the database enforces, or because every
    /// possible case was compared.
    Proved,
    /// Every case that was asked agreed; there are others.
    Agrees {
        /// Cases that were asked.
        asked: u64,
        /// Cases that there are; `None` where nobody can count them.
        possible: Option<u64>,
    },
    /// It was not shown: [`Claim::because`] says why.
    NotProved,
    /// A case that breaks it was found.
    Differs,
}

impl Claim {
    /// A claim, how far it was shown, and why that is so; without facts and without an example.
    pub fn new(kind: ClaimKind, of: ClaimSubject, shown: (ClaimVerdict, String)) -> Self {
        let (verdict, because) = shown;
        Self {
            kind,
            of,
            verdict,
            because,
            facts: Vec::new(),
            example: None,
        }
    }

    /// Whether the claim was shown for every case.
    pub fn is_proved(&self) -> bool {
        self.verdict == ClaimVerdict::Proved
    }
}
