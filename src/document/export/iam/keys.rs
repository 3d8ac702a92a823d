//! The partition key values that an access pattern asks for, as `dynamodb:LeadingKeys` tells them.
//!
//! A value is made of pieces: text stands for itself, the tenant for the caller's tag, a shard for its
//! digits, and whatever else a caller gives for anything.

use crate::mapping::model::{AccessPattern, KeyType, Part, Placeholder, Template};
use crate::mapping::template::Filter;

/// Which partition key values are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Keys {
    /// Those of this shape.
    Shaped(Vec<Piece>),
    /// All of them.
    Any,
    /// Those of which the condition key tells nothing.
    Untold,
}

/// A piece of a partition key value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that stands for itself.
    Text(String),
    /// The caller's tag of this name.
    Tag(String),
    /// As many digits.
    Digits(usize),
    /// Any text.
    Any,
}

impl Piece {
    fn is_wild(&self) -> bool {
        matches!(self, Self::Digits(_) | Self::Any)
    }
}

impl Keys {
    pub(super) fn of(pattern: &AccessPattern, tenant: Option<&str>) -> Self {
        let Some(template) = told(pattern) else {
            return Self::Untold;
        };
        let mut pieces: Vec<Piece> = Vec::new();
        for part in &template.parts {
            let piece = match part {
                Part::Text(text) => Piece::Text(text.clone()),
                Part::Value(value) => of_value(pattern, value, tenant),
                Part::Optional(_) => Piece::Any,
            };
            if piece != Piece::Any || pieces.last() != Some(&Piece::Any) {
                pieces.push(piece);
            }
        }
        if pieces == [Piece::Any] {
            return Self::Any;
        }
        Self::Shaped(pieces)
    }

    /// Whether only a tenant's own are asked for.
    pub(super) fn are_bound(&self) -> bool {
        matches!(self, Self::Shaped(pieces) if pieces.iter().any(|piece| matches!(piece, Piece::Tag(_))))
    }

    /// Whether a wildcard stands straight beside the tag, so that one tenant's are like another's.
    pub(super) fn run_into_the_tag(&self) -> bool {
        let Self::Shaped(pieces) = self else {
            return false;
        };
        let is_tag = |piece: &Piece| matches!(piece, Piece::Tag(_));
        pieces.windows(2).any(|pair| match pair {
            [one, other] => (is_tag(one) && !is_text(other)) || (!is_text(one) && is_tag(other)),
            _ => false,
        })
    }

    /// Whether values of both may be one: neither their beginnings nor their ends tell them apart.
    pub(super) fn may_meet(&self, other: &Self) -> bool {
        let (Self::Shaped(one), Self::Shaped(other)) = (self, other) else {
            return true;
        };
        let ends = |pieces: &[Piece]| match (pieces.first(), pieces.last()) {
            (Some(first), Some(last)) => (text_of(first), text_of(last)),
            _ => (String::new(), String::new()),
        };
        let ((first, last), (others_first, others_last)) = (ends(one), ends(other));
        let begin = first.starts_with(&others_first) || others_first.starts_with(&first);
        let end = last.ends_with(&others_last) || others_last.ends_with(&last);
        begin && end
    }

    /// The value of a condition, and whether `*` and `?` count in it; `None` where there is none.
    pub(super) fn condition(&self) -> Option<(String, bool)> {
        let Self::Shaped(pieces) = self else {
            return None;
        };
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(literal) => push_literal(&mut text, literal),
                Piece::Tag(name) => text.push_str(&format!("${{aws:PrincipalTag/{name}}}")),
                Piece::Digits(width) => text.extend(std::iter::repeat_n('?', *width)),
                Piece::Any => text.push('*'),
            }
        }
        Some((text, pieces.iter().any(Piece::is_wild)))
    }
}

/// The template of a partition key that the condition key tells: one text.
pub(super) fn told(pattern: &AccessPattern) -> Option<&Template> {
    match pattern.partition.as_slice() {
        [(key, template)] if key.key_type == KeyType::S => Some(template),
        _ => None,
    }
}

/// The parameter of a value.
pub(super) fn parameter<'m>(pattern: &'m AccessPattern, value: &Placeholder) -> Option<&'m str> {
    let parameter = pattern.parameters.get(value.place.column)?;
    Some(&parameter.name)
}

/// Whether the filters make different texts of different values, so that a tag can hold what is made.
pub(super) fn keep_apart(filters: &[Filter]) -> bool {
    let keeps = |filter: &Filter| matches!(filter, Filter::Pad { .. } | Filter::String);
    filters.iter().all(keeps)
}

fn of_value(pattern: &AccessPattern, value: &Placeholder, tenant: Option<&str>) -> Piece {
    if let Some(Filter::Shard(shards)) = value.filters.last() {
        return Piece::Digits(shards.saturating_sub(1).to_string().len());
    }
    let name = parameter(pattern, value).filter(|name| Some(*name) == tenant);
    match name.filter(|_| keep_apart(&value.filters)) {
        Some(name) => Piece::Tag(name.to_owned()),
        None => Piece::Any,
    }
}

fn is_text(piece: &Piece) -> bool {
    matches!(piece, Piece::Text(text) if !text.is_empty())
}

fn text_of(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.clone(),
        _ => String::new(),
    }
}

/// Adds a text that stands for itself: what a condition would read as more is a variable of its own.
fn push_literal(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '*' | '?' | '$' => out.extend(['$', '{', c, '}']),
            c => out.push(c),
        }
    }
}
