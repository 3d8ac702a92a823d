//! The codes of diagnostics. Each has an anchor in docs/diagnostics.md.

use super::{Risk, Severity};

macro_rules! codes {
    (@risk) => { None };
    (@risk $risk:ident) => { Some(Risk::$risk) };
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $severity:ident $(, $risk:ident)?;)*) => {
        /// A diagnostic's code. The text is stable: scripts and documentation name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $doc])* $name,)*
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable text, such as `unknown-column`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Whether this code is a fault or a risk.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// What a warning puts at risk; `None` of errors.
            pub fn risk(self) -> Option<Risk> {
                match self { $(Self::$name => codes!(@risk $($risk)?),)* }
            }
        }
    };
}

codes! {
    /// The file is not YAML.
    Yaml = "yaml", Error;
    /// A key of the mapping is not one that the language has.
    UnknownKey = "unknown-key", Error;
    /// A key is written twice in one map.
    DuplicateKey = "duplicate-key", Error;
    /// A key that must be there is missing.
    MissingKey = "missing-key", Error;
    /// A value has another shape than the language asks for: a list where a map belongs, say.
    WrongShape = "wrong-shape", Error;
    /// A value is none of those that are possible here.
    WrongValue = "wrong-value", Error;
    /// An environment variable is not set, and its `${VARIABLE}` has no default.
    UnsetVariable = "unset-variable", Error;
    /// A template is not well formed.
    Template = "template", Error;
    /// A template stands without quotes, so that YAML reads a map.
    UnquotedTemplate = "unquoted-template", Error;
    /// A filter's name is not known.
    UnknownFilter = "unknown-filter", Error;
    /// A filter's arguments are wrong in number or kind.
    FilterArguments = "filter-arguments", Error;
    /// A filter cannot take the values it is given.
    FilterType = "filter-type", Error;
    /// The source has no such table.
    UnknownTable = "unknown-table", Error;
    /// The connected user may not read the table.
    UnreadableTable = "unreadable-table", Error;
    /// The table has no such column.
    UnknownColumn = "unknown-column", Error;
    /// No join of that alias is declared.
    UnknownAlias = "unknown-alias", Error;
    /// The column belongs to no foreign key, or to several.
    Join = "join", Error;
    /// Two directives exclude each other, or one lacks another that it needs.
    Directive = "directive", Error;
    /// An embed cannot find its children, or tell whose they are.
    Embed = "embed", Error;
    /// What is to be exploded is no array.
    Explode = "explode", Error;
    /// The table has no such index.
    UnknownIndex = "unknown-index", Error;
    /// An attribute would be written twice in one item.
    AttributeClash = "attribute-clash", Error;
    /// A key attribute cannot have the type that the table says.
    KeyType = "key-type", Error;
    /// The TTL attribute cannot be a number of seconds.
    TtlType = "ttl-type", Error;
    /// An attribute that `oversize` names cannot be compressed.
    Compress = "compress", Error;
    /// A name breaks DynamoDB's rules for names.
    Name = "name", Error;
    /// An access pattern asks for what its key or index cannot serve.
    AccessPattern = "access-pattern", Error;
    /// An access pattern asks for other shards than the item's key has.
    Shards = "shards", Error;
    /// A roll-up names what cannot be summed, or what its function cannot find.
    RollUp = "roll-up", Error;
    /// An access pattern names a parameter that its key condition does not take.
    Parameter = "parameter", Error;
    /// A filter expression is not well formed, or names a key attribute.
    Filter = "filter", Error;
    /// An access pattern, or `ttl`, names an attribute that no item has.
    UnknownAttribute = "unknown-attribute", Error;
    /// An access pattern names an attribute, or its SQL selects a column, that its index does not hold.
    NotProjected = "not-projected", Error;
    /// A limit of DynamoDB is exceeded: too many indexes, too many projected attributes.
    Limit = "limit", Error;
    /// The source refuses a condition or a query, or nothing gives one of their parameters a value.
    Sql = "sql", Error;
    /// A view is joined, of which nothing shows that it has at most one row for each row of the item type.
    UnprovenJoin = "unproven-join", Warning, Rows;
    /// A column whose type has no place of its own in DynamoDB is carried as the database prints it.
    PrintedType = "printed-type", Warning, Answers;
    /// `*` leaves out a column that the database calls invisible.
    InvisibleColumn = "invisible-column", Warning, Rows;
    /// `*` leaves out a column that the connected user may not read.
    HiddenColumns = "hidden-columns", Warning, Rows;
    /// Row security may hide rows that an item type is made of from the connected user.
    HiddenRows = "hidden-rows", Warning, Rows;
    /// Text in a template looks like a placeholder, but is plain text.
    LooksLikeAPlaceholder = "looks-like-a-placeholder", Warning, Answers;
    /// A column of the table's own key, or of what an embed gathers by, may be NULL; such rows are rejected.
    NullableKey = "nullable-key", Warning, Rows;
    /// A filter refuses values that its column can hold; such rows are rejected.
    RefusedValues = "refused-values", Warning, Rows;
    /// All items of a type share one partition key value of an index or of the table.
    SinglePartition = "single-partition", Warning, Throughput;
    /// A partition key of booleans or enums has too few values for the rows or writes of an item type.
    FewValues = "few-values", Warning, Throughput;
    /// A key's shards are too few for the writes of its item types, or many more than they need.
    ShardCount = "shard-count", Warning, Throughput;
    /// No item type has the index's key, so that the index would stay empty.
    EmptyIndex = "empty-index", Warning, Answers;
    /// Two item types could make the same key.
    SameKey = "same-key", Warning, Rows;
    /// A key leaves out columns that tell its rows, or the children of a parent, apart.
    KeyNotUnique = "key-not-unique", Warning, Rows;
    /// Nothing shows that two rows never make one key; the load will check.
    KeyUnproved = "key-unproved", Warning, Rows;
    /// A key attribute of the table or of an index may be empty text, which DynamoDB refuses.
    EmptyKey = "empty-key", Warning, Rows;
    /// A key attribute may have more bytes than DynamoDB takes, by the limits of its columns.
    LongKey = "long-key", Warning, Rows;
    /// A number in a sort key is not padded, so that text order is not number order.
    UnpaddedNumber = "unpadded-number", Warning, Answers;
    /// `key_escape` changes the order of numbers or times in a sort key.
    EscapedOrder = "escaped-order", Warning, Answers;
    /// A time in a sort key is written so that text order is not the order of time.
    UnorderedTime = "unordered-time", Warning, Answers;
    /// An access pattern finds item types beyond those that it promises.
    ExtraItems = "extra-items", Warning, Answers;
    /// An access pattern asks one partition key value more often than a partition can answer.
    HotReads = "hot-reads", Warning, Throughput;
    /// An access pattern returns items that have expired and are not deleted yet.
    ExpiredItems = "expired-items", Warning, Answers;
    /// An access pattern can never find what it promises, or no row meets a condition.
    NeverMatches = "never-matches", Error;
    /// A parameter of an access pattern is written otherwise than the item's key writes it.
    ParameterForm = "parameter-form", Warning, Answers;
    /// The SQL of an access pattern does not use one of the pattern's parameters.
    UnusedParameter = "unused-parameter", Warning, Answers;
    /// A range of an access pattern includes or leaves out items at its bound otherwise than it, or its query, says.
    RangeEnd = "range-end", Warning, Answers;
    /// The relational query of an access pattern sorts text otherwise than DynamoDB does.
    TextOrder = "text-order", Warning, Answers;
    /// An access pattern orders or limits what comes back otherwise than its SQL.
    OtherOrder = "other-order", Warning, Answers;
    /// The database compares text without regard to case, accents or blanks, and a key tells such texts apart.
    InsensitiveKey = "insensitive-key", Warning, Answers;
    /// What an access pattern answers cannot be compared with what its SQL answers.
    UnprovedAnswer = "unproved-answer", Warning, Unproved;
    /// A warning is accepted that does not occur.
    UnneededAcceptance = "unneeded-acceptance", Warning, Tidiness;
    /// Something could not be checked without a connection to the source.
    Unchecked = "unchecked", Warning, Unproved;
}

#[cfg(test)]
mod tests {
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
