//! What a warning puts at risk, so that those who sign a design read the heaviest first.

/// What a warning puts at risk, the heaviest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Rows may become no item, several rows one item, or a column is in no item.
    Rows,
    /// An answer may be another than the database's, or miss something.
    Answers,
    /// Requests may be throttled.
    Throughput,
    /// Something was not checked, or was not shown.
    Unproved,
    /// Nothing: the mapping can be made simpler.
    Tidiness,
}

impl Risk {
    /// All of them, the heaviest first.
    pub const ALL: &'static [Self] = &[
        Self::Rows,
        Self::Answers,
        Self::Throughput,
        Self::Unproved,
        Self::Tidiness,
    ];

    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Rows => "rows or values that may be in no item",
            Self::Answers => "answers that may differ from the database's",
            Self::Throughput => "requests that may be throttled",
            Self::Unproved => "what was not checked",
            Self::Tidiness => "what the mapping does not need",
        }
    }
}
