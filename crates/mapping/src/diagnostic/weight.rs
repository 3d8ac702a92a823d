//! What a warning puts at risk, so that those who sign a design read the heaviest first.

use super::Code;

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

impl Code {
    /// What a warning puts at risk; `None` of errors.
    pub fn risk(self) -> Option<Risk> {
        Some(match self {
            Self::UnprovenJoin
            | Self::InvisibleColumn
            | Self::HiddenColumns
            | Self::HiddenRows
            | Self::NullableKey
            | Self::RefusedValues
            | Self::SameKey
            | Self::KeyNotUnique
            | Self::KeyUnproved
            | Self::EmptyKey
            | Self::LongKey => Risk::Rows,
            Self::PrintedType
            | Self::LooksLikeAPlaceholder
            | Self::EmptyIndex
            | Self::UnpaddedNumber
            | Self::EscapedOrder
            | Self::UnorderedTime
            | Self::ExtraItems
            | Self::ExpiredItems
            | Self::ParameterForm
            | Self::UnusedParameter
            | Self::RangeEnd
            | Self::TextOrder
            | Self::OtherOrder
            | Self::InsensitiveKey => Risk::Answers,
            Self::SinglePartition | Self::FewValues | Self::ShardCount | Self::HotReads => {
                Risk::Throughput
            }
            Self::UnprovedAnswer | Self::Unchecked => Risk::Unproved,
            Self::UnneededAcceptance => Risk::Tidiness,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn every_warning_and_no_error_has_a_risk() {
        for code in Code::ALL {
            let is_warning = code.severity() == Severity::Warning;
            assert_eq!(code.risk().is_some(), is_warning, "{}", code.as_str());
        }
    }

    #[test]
    fn risks_are_ordered_by_weight() {
        assert!(Risk::ALL.is_sorted());
        let all = Code::ALL.iter().filter_map(|code| code.risk());
        let used: std::collections::BTreeSet<Risk> = all.collect();
        assert!(used.iter().eq(Risk::ALL), "{used:?}");
    }
}
