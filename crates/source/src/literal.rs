//! The values of a range: as its text says them, and as SQL has them.

use dynafold_format::hex;
use dynafold_relational::value::{Number, NumberError};

/// A value as the text of a range says it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RangeLiteral {
    /// Digits with sign, point and exponent.
    Number(String),
    Text(String),
    /// Bytes, as pairs of hexadecimal digits.
    Bytes(String),
}

impl RangeLiteral {
    /// Reads a value of a range. What is neither a number nor in quotes is text as it stands.
    pub(super) fn parse(value: &str) -> Self {
        if is_number(value) {
            return Self::Number(value.to_owned());
        }
        let quoted = |prefix: &str| {
            let rest = value.strip_prefix(prefix)?;
            rest.strip_suffix('\'')
        };
        if let Some(digits) = quoted("x'")
            && digits.len().is_multiple_of(2)
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        {
            return Self::Bytes(digits.to_owned());
        }
        Self::Text(quoted("'").map_or_else(|| value.to_owned(), |text| text.replace("''", "'")))
    }

    /// How a range says text.
    pub(super) fn text(text: &str) -> String {
        format!("'{}'", text.replace('\'', "''"))
    }

    /// How a range says bytes.
    pub(super) fn bytes(bytes: &[u8]) -> String {
        format!("x'{}'", hex(bytes))
    }

    /// As standard SQL has it.
    pub(super) fn sql(&self) -> String {
        match self {
            Self::Number(number) => number.clone(),
            // No literal holds this character.
            Self::Text(text) if text.contains('\0') => {
                format!("CAST(x'{}' AS TEXT)", hex(text.as_bytes()))
            }
            Self::Text(text) => Self::text(text),
            Self::Bytes(digits) => format!("x'{digits}'"),
        }
    }
}

/// Whether this is a decimal number, however large.
pub(super) fn is_number(text: &str) -> bool {
    Number::parse(text) != Err(NumberError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_literal_whatever_it_holds() {
        for (value, sql) in [
            ("-12.5e+3", "-12.5e+3"),
            ("1; DROP TABLE t", "'1; DROP TABLE t'"),
            ("1e", "'1e'"),
            ("-", "'-'"),
            ("'it''s'", "'it''s'"),
            ("'' OR 1=1 --'", "''' OR 1=1 --'"),
            ("'", "''''"),
            ("x'00Ff'", "x'00Ff'"),
            ("x'0'", "'x''0'''"),
            ("x'zz'", "'x''zz'''"),
            ("'a\0b'", "CAST(x'610062' AS TEXT)"),
        ] {
            assert_eq!(RangeLiteral::parse(value).sql(), sql, "{value}");
        }
    }

    #[test]
    fn what_a_range_says_of_a_text_is_read_back() {
        for text in ["", "'", "''", "it's", "x'00'", "42", "\\'", "'; --"] {
            let written = RangeLiteral::text(text);
            assert_eq!(
                RangeLiteral::parse(&written),
                RangeLiteral::Text(text.to_owned())
            );
        }
    }
}
