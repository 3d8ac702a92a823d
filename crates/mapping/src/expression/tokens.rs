//! The words and signs of a filter expression.

use std::ops::Range;

use dynafold_dynamodb::Attribute;
use dynafold_relational::value::Number;

use super::{ExpressionError, fault};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String, bool),
    Parameter(String),
    Constant(Attribute),
    Sign(&'static str),
}

impl Token {
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Name(name, _) => format!("`{name}`"),
            Self::Parameter(name) => format!("`:{name}`"),
            Self::Constant(_) => "this value".to_owned(),
            Self::Sign(sign) => format!("`{sign}`"),
        }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Name(name, false) if name.eq_ignore_ascii_case(word))
    }
}

const SIGNS: [&str; 13] = [
    "<>", "<=", ">=", "=", "<", ">", "(", ")", ",", ".", "[", "]", "#",
];

/// Takes a text apart.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(sign) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let quoted = |quote: char| {
            let inner = rest.get(1..).unwrap_or_default();
            let length = inner.find(quote);
            let length = length.ok_or_else(|| fault(at..text.len(), "the quote is not closed"))?;
            Ok((inner.get(..length).unwrap_or_default(), length + 2))
        };
        let (token, length) = match sign {
            sign if sign.is_whitespace() => {
                at += sign.len_utf8();
                continue;
            }
            '\'' => {
                let (inner, length) = quoted('\'')?;
                (Token::Constant(Attribute::S(inner.into())), length)
            }
            '`' => {
                let (inner, length) = quoted('`')?;
                (Token::Name(inner.to_owned(), true), length)
            }
            ':' => {
                let name = word(rest.get(1..).unwrap_or_default());
                if name.is_empty() {
                    return Err(fault(at..at + 1, "`:` begins a parameter: `:name`"));
                }
                (Token::Parameter(name.to_owned()), name.len() + 1)
            }
            '0'..='9' | '-' => {
                let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
                let length = rest.find(|c| !inner(c)).unwrap_or(rest.len());
                let written = rest.get(..length).unwrap_or_default();
                let number = Number::parse(written)
                    .map_err(|error| fault(at..at + length, format!("`{written}`: {error}")))?;
                (Token::Constant(Attribute::N(number)), length)
            }
            sign if sign == '_' || sign.is_alphabetic() => {
                let name = word(rest);
                let token = match name {
                    "true" => Token::Constant(Attribute::Bool(true)),
                    "false" => Token::Constant(Attribute::Bool(false)),
                    "null" => Token::Constant(Attribute::Null),
                    name => Token::Name(name.to_owned(), false),
                };
                (token, name.len())
            }
            sign => match SIGNS.iter().find(|known| rest.starts_with(**known)) {
                Some(&"#") => {
                    return Err(fault(
                        at..at + 1,
                        "names are written without `#`: all of them are replaced",
                    ));
                }
                Some(known) => (Token::Sign(known), known.len()),
                None => {
                    let span = at..at + sign.len_utf8();
                    return Err(match sign {
                        '"' => fault(span, "a text stands in single quotes: 'text'".to_owned()),
                        sign => fault(span, format!("`{sign}` is not expected here")),
                    });
                }
            },
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

/// The name that a text begins with.
fn word(text: &str) -> &str {
    let inner = |c: char| c == '_' || c.is_alphanumeric();
    let length = text.find(|c| !inner(c)).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
}
