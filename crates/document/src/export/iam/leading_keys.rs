//! The partition key values that an access pattern asks for, as `dynamodb:LeadingKeys` tells them.
//!
//! A value is made of pieces: text stands for itself, the tenant for the caller's tag, a shard for its
//! digits, and whatever else a caller gives for anything.

use dynafold_dynamodb::KeyType;
use dynafold_mapping::model::{AccessPattern, Placeholder, Template, TemplatePart};
use dynafold_mapping::template::Filter;

/// Which partition key values are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LeadingKeys {
    /// Those of this shape.
    Shaped(Vec<KeyValuePiece>),
    Any,
    /// Those that the condition key cannot express: numbers, binary, several attributes.
    Inexpressible,
}

/// A piece of a partition key value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyValuePiece {
    /// Text that stands for itself.
    Text(String),
    /// The caller's tag of this name.
    Tag(String),
    /// As many digits.
    Digits(usize),
    Any,
}

impl KeyValuePiece {
    /// The text that stands for itself; empty for another piece.
    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    fn is_wild(&self) -> bool {
        matches!(self, Self::Digits(_) | Self::Any)
    }
}

impl LeadingKeys {
    pub(super) fn of(pattern: &AccessPattern, tenant: Option<&str>) -> Self {
        let Some(template) = single_text_key(pattern) else {
            return Self::Inexpressible;
        };
        let mut pieces: Vec<KeyValuePiece> = Vec::new();
        for part in &template.parts {
            let piece = match part {
                TemplatePart::Text(text) => KeyValuePiece::Text(text.clone()),
                TemplatePart::Value(value) => piece_of_value(pattern, value, tenant),
                TemplatePart::Optional(_) => KeyValuePiece::Any,
            };
            if piece != KeyValuePiece::Any || pieces.last() != Some(&KeyValuePiece::Any) {
                pieces.push(piece);
            }
        }
        if pieces == [KeyValuePiece::Any] {
            return Self::Any;
        }
        Self::Shaped(pieces)
    }

    /// Whether only a tenant's own are asked for.
    pub(super) fn are_bound(&self) -> bool {
        matches!(self, Self::Shaped(pieces) if pieces.iter().any(|piece| matches!(piece, KeyValuePiece::Tag(_))))
    }

    /// Whether nothing stands behind the tag, so that no part of one tag can be taken for another's.
    pub(super) fn end_with_the_tag(&self) -> bool {
        matches!(self, Self::Shaped(pieces) if matches!(pieces.last(), Some(KeyValuePiece::Tag(_))))
    }

    /// Whether a wildcard stands straight beside the tag, so that one tenant's are like another's.
    pub(super) fn run_into_the_tag(&self) -> bool {
        let Self::Shaped(pieces) = self else {
            return false;
        };
        let is_tag = |piece: &KeyValuePiece| matches!(piece, KeyValuePiece::Tag(_));
        pieces.windows(2).any(|pair| match pair {
            [one, other] => {
                (is_tag(one) && other.text().is_empty()) || (one.text().is_empty() && is_tag(other))
            }
            _ => false,
        })
    }

    /// Whether values of both may be one: neither their beginnings nor their ends tell them apart.
    pub(super) fn may_meet(&self, other: &Self) -> bool {
        fn ends(pieces: &[KeyValuePiece]) -> (&str, &str) {
            let (first, last) = (pieces.first(), pieces.last());
            (
                first.map_or("", KeyValuePiece::text),
                last.map_or("", KeyValuePiece::text),
            )
        }
        let (Self::Shaped(one), Self::Shaped(other)) = (self, other) else {
            return true;
        };
        let ((first, last), (others_first, others_last)) = (ends(one), ends(other));
        let begin = first.starts_with(others_first) || others_first.starts_with(first);
        let end = last.ends_with(others_last) || others_last.ends_with(last);
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
                KeyValuePiece::Text(literal) => push_literal(&mut text, literal),
                KeyValuePiece::Tag(name) => text.push_str(&format!("${{aws:PrincipalTag/{name}}}")),
                KeyValuePiece::Digits(width) => text.extend(std::iter::repeat_n('?', *width)),
                KeyValuePiece::Any => text.push('*'),
            }
        }
        Some((text, pieces.iter().any(KeyValuePiece::is_wild)))
    }
}

/// The template of a partition key that the condition key can express: one text.
fn single_text_key(pattern: &AccessPattern) -> Option<&Template> {
    match pattern.partition.as_slice() {
        [(key, template)] if key.key_type == KeyType::S => Some(template),
        _ => None,
    }
}

/// The parameter that a placeholder takes.
pub(super) fn parameter<'m>(pattern: &'m AccessPattern, value: &Placeholder) -> Option<&'m str> {
    let parameter = pattern.parameters.get(value.place.column)?;
    Some(&parameter.name)
}

/// Whether the filters make different texts of different values, so that a tag can hold what is made.
pub(super) fn keep_values_apart(filters: &[Filter]) -> bool {
    let keeps = |filter: &Filter| matches!(filter, Filter::Pad { .. } | Filter::String);
    filters.iter().all(keeps)
}

fn piece_of_value(
    pattern: &AccessPattern,
    value: &Placeholder,
    tenant: Option<&str>,
) -> KeyValuePiece {
    if let Some(shards) = value.shards() {
        return KeyValuePiece::Digits(shards.saturating_sub(1).to_string().len());
    }
    let name = parameter(pattern, value).filter(|name| Some(*name) == tenant);
    match name.filter(|_| keep_values_apart(&value.filters)) {
        Some(name) => KeyValuePiece::Tag(name.to_owned()),
        None => KeyValuePiece::Any,
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

#[cfg(test)]
mod tests {
    use super::KeyValuePiece::{Any, Digits};
    use super::*;

    fn text(text: &str) -> KeyValuePiece {
        KeyValuePiece::Text(text.to_owned())
    }

    fn tag() -> KeyValuePiece {
        KeyValuePiece::Tag("tenant".to_owned())
    }

    #[test]
    fn without_text_beside_its_tag_one_tenant_is_like_another() {
        for (pieces, is_alike) in [
            (vec![text("USER#"), tag()], false),
            (vec![tag(), text("#"), Any], false),
            (vec![text("USER#"), tag(), Any], true),
            (vec![Digits(2), tag()], true),
        ] {
            let keys = LeadingKeys::Shaped(pieces);
            assert_eq!(keys.run_into_the_tag(), is_alike, "{keys:?}");
        }
    }

    #[test]
    fn keys_meet_unless_their_beginnings_or_ends_differ() {
        let tenants = LeadingKeys::Shaped(vec![text("USER#"), tag(), text("#A")]);
        for (pieces, meets) in [
            (vec![text("USER#1"), Any], true),
            (vec![Any, text("A")], true),
            (vec![text("ACCOUNT#"), Any], false),
            (vec![Any, text("#B")], false),
        ] {
            let keys = LeadingKeys::Shaped(pieces);
            assert_eq!(tenants.may_meet(&keys), meets, "{keys:?}");
        }
        assert!(tenants.may_meet(&LeadingKeys::Any));
    }

    #[test]
    fn a_condition_takes_text_as_it_is() {
        let keys = LeadingKeys::Shaped(vec![text("5*$#"), tag(), text("#"), Digits(2)]);
        let condition = "5${*}${$}#${aws:PrincipalTag/tenant}#??".to_owned();
        assert_eq!(keys.condition(), Some((condition, true)));
    }
}
