//! Attribute values and items, with the size that DynamoDB counts.

use std::cmp::Ordering;
use std::sync::Arc;

use dynafold_relational::value::{Number, Text};

/// A DynamoDB attribute value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// String.
    S(Text),
    /// Number.
    N(Number),
    /// Binary.
    B(Vec<u8>),
    /// Boolean.
    Bool(bool),
    /// Null.
    Null,
    /// List.
    L(Vec<Attribute>),
    /// Map, in the order its members were made. Equality of items is not by this order: see
    /// [`Attribute::same`].
    M(Vec<(Arc<str>, Attribute)>),
    /// String set.
    Ss(Vec<Text>),
    /// Number set.
    Ns(Vec<Number>),
    /// Binary set.
    Bs(Vec<Vec<u8>>),
}

/// A value that holds no others, wherever it stands: in an attribute, or in a row.
#[derive(Debug, Clone, Copy)]
pub enum Scalar<'v> {
    /// String.
    S(&'v str),
    /// Number.
    N(&'v Number),
    /// Binary.
    B(&'v [u8]),
    /// Boolean.
    Bool(bool),
    /// Null.
    Null,
}

/// One item: attribute names and values, key attributes first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// The attributes; names are unique.
    pub attributes: Vec<(Arc<str>, Attribute)>,
}

impl Scalar<'_> {
    /// DynamoDB's name for the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::S(_) => "S",
            Self::N(_) => "N",
            Self::B(_) => "B",
            Self::Bool(_) => "BOOL",
            Self::Null => "NULL",
        }
    }

    /// Bytes that DynamoDB counts for the value (limits.md 3).
    pub fn size(&self) -> usize {
        match self {
            Self::S(text) => text.len(),
            Self::N(number) => number.size(),
            Self::B(bytes) => bytes.len(),
            Self::Bool(_) | Self::Null => 1,
        }
    }
}

impl Attribute {
    /// The value, where it holds no others.
    pub fn scalar(&self) -> Option<Scalar<'_>> {
        Some(match self {
            Self::S(text) => Scalar::S(text),
            Self::N(number) => Scalar::N(number),
            Self::B(bytes) => Scalar::B(bytes),
            Self::Bool(truth) => Scalar::Bool(*truth),
            Self::Null => Scalar::Null,
            _ => return None,
        })
    }

    /// DynamoDB's name for the type: `S`, `N`, `B`, `BOOL`, `NULL`, `L`, `M`, `SS`, `NS`, `BS`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::S(_) => "S",
            Self::N(_) => "N",
            Self::B(_) => "B",
            Self::Bool(_) => "BOOL",
            Self::Null => "NULL",
            Self::L(_) => "L",
            Self::M(_) => "M",
            Self::Ss(_) => "SS",
            Self::Ns(_) => "NS",
            Self::Bs(_) => "BS",
        }
    }

    /// Bytes that DynamoDB counts for the value, its name left out (limits.md 3 and 4).
    pub fn size(&self) -> usize {
        match self {
            Self::S(text) => text.len(),
            Self::N(number) => number.size(),
            Self::B(bytes) => bytes.len(),
            Self::Bool(_) | Self::Null => 1,
            Self::L(elements) => 3 + elements.iter().map(|e| 1 + e.size()).sum::<usize>(),
            Self::M(members) => {
                3 + members
                    .iter()
                    .map(|(name, value)| name.len() + 1 + value.size())
                    .sum::<usize>()
            }
            Self::Ss(members) => members.iter().map(Text::len).sum(),
            Self::Ns(members) => members.iter().map(Number::size).sum(),
            Self::Bs(members) => members.iter().map(Vec::len).sum(),
        }
    }

    /// Whether two values are the same to DynamoDB: members of maps and sets in any order.
    pub fn same(&self, other: &Self) -> bool {
        fn same_set<T: Ord>(a: &[T], b: &[T]) -> bool {
            a.len() == b.len() && sorted(a, Ord::cmp) == sorted(b, Ord::cmp)
        }
        match (self, other) {
            (Self::L(a), Self::L(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Self::M(a), Self::M(b)) => same_members(a, b),
            (Self::Ss(a), Self::Ss(b)) => same_set(a, b),
            (Self::Ns(a), Self::Ns(b)) => same_set(a, b),
            (Self::Bs(a), Self::Bs(b)) => same_set(a, b),
            (a, b) => a == b,
        }
    }
}

/// The order of two values of one sort key in DynamoDB. Values that no one sort key has, of two types or none, are equal.
pub fn sort_order(a: Option<&Attribute>, b: Option<&Attribute>) -> Ordering {
    match (a, b) {
        (Some(Attribute::S(a)), Some(Attribute::S(b))) => a.cmp(b),
        (Some(Attribute::N(a)), Some(Attribute::N(b))) => a.cmp(b),
        (Some(Attribute::B(a)), Some(Attribute::B(b))) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

fn same_members(a: &[(Arc<str>, Attribute)], b: &[(Arc<str>, Attribute)]) -> bool {
    // A document may have tens of thousands of members: to look each up would take minutes.
    a.len() == b.len()
        && sorted(a, by_name)
            .into_iter()
            .zip(sorted(b, by_name))
            .all(|((name, value), (other_name, other))| name == other_name && value.same(other))
}

fn by_name((a, _): &(Arc<str>, Attribute), (b, _): &(Arc<str>, Attribute)) -> Ordering {
    a.cmp(b)
}

fn sorted<T>(members: &[T], order: impl Fn(&T, &T) -> Ordering) -> Vec<&T> {
    let mut sorted: Vec<&T> = members.iter().collect();
    sorted.sort_by(|a, b| order(a, b));
    sorted
}

impl Item {
    /// Finds an attribute.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes
            .iter()
            .find(|(other, _)| other.as_ref() == name)
            .map(|(_, value)| value)
    }

    /// Bytes that DynamoDB counts against the 400 KB: names and values.
    pub fn size(&self) -> usize {
        self.attributes
            .iter()
            .map(|(name, value)| name.len() + value.size())
            .sum()
    }

    /// Whether two items are the same to DynamoDB: attributes in any order.
    pub fn same(&self, other: &Self) -> bool {
        same_members(&self.attributes, &other.attributes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    fn text(text: &str) -> Attribute {
        Attribute::S(text.into())
    }

    fn n(text: &str) -> Attribute {
        Attribute::N(number(text))
    }

    fn map(members: &[(&str, Attribute)]) -> Attribute {
        let members = members.iter();
        Attribute::M(
            members
                .map(|(name, value)| ((*name).into(), value.clone()))
                .collect(),
        )
    }

    #[test]
    fn sizes_are_those_that_dynamodb_counts() {
        for (value, type_name, size) in [
            (text(""), "S", 0),
            (text("äb"), "S", 3),
            (n("100.5"), "N", 4),
            (Attribute::B(vec![0, 1, 2]), "B", 3),
            (Attribute::Bool(false), "BOOL", 1),
            (Attribute::Null, "NULL", 1),
            // 3 bytes, and one more for each element.
            (Attribute::L(Vec::new()), "L", 3),
            (
                Attribute::L(vec![text("ab"), Attribute::Null]),
                "L",
                3 + 3 + 2,
            ),
            (map(&[]), "M", 3),
            (map(&[("name", text("ab")), ("n", n("1"))]), "M", 3 + 7 + 4),
            (map(&[("in", map(&[("a", text("b"))]))]), "M", 3 + 3 + 6),
            (Attribute::Ss(vec!["a".into(), "äb".into()]), "SS", 4),
            (Attribute::Ns(vec![number("1"), number("-42")]), "NS", 5),
            (Attribute::Bs(vec![vec![0], vec![1, 2]]), "BS", 3),
        ] {
            assert_eq!(
                (value.type_name(), value.size()),
                (type_name, size),
                "{value:?}"
            );
            if let Some(scalar) = value.scalar() {
                assert_eq!(
                    (scalar.type_name(), scalar.size()),
                    (type_name, size),
                    "{value:?}"
                );
            }
        }
    }

    #[test]
    fn values_are_the_same_in_any_order_of_members_but_not_of_elements() {
        let set =
            |members: &[&str]| Attribute::Ss(members.iter().map(|one| (*one).into()).collect());
        let (a, b) = (
            ("a", text("x")),
            ("b", map(&[("c", n("1")), ("d", n("2"))])),
        );
        let other = ("b", map(&[("d", n("2")), ("c", n("1"))]));
        for (one, two) in [
            (
                map(&[a.clone(), b.clone()]),
                map(&[other.clone(), a.clone()]),
            ),
            (set(&["a", "b"]), set(&["b", "a"])),
            (n("1.0"), n("1")),
            (
                Attribute::L(vec![map(&[a.clone(), b.clone()])]),
                Attribute::L(vec![map(&[other, a.clone()])]),
            ),
        ] {
            assert!(one.same(&two) && two.same(&one), "{one:?} {two:?}");
        }
        for (one, two) in [
            (map(std::slice::from_ref(&a)), map(&[a, b.clone()])),
            (map(&[("a", text("x"))]), map(&[("b", text("x"))])),
            (set(&["a", "a", "b"]), set(&["a", "b", "b"])),
            (set(&["a", "b"]), set(&["a"])),
            (
                Attribute::L(vec![n("1"), n("2")]),
                Attribute::L(vec![n("2"), n("1")]),
            ),
            (text("1"), n("1")),
            (set(&["1"]), Attribute::Ns(vec![number("1")])),
        ] {
            assert!(!one.same(&two) && !two.same(&one), "{one:?} {two:?}");
        }
    }

    #[test]
    fn sort_keys_are_in_the_order_of_their_type() {
        for (one, two, order) in [
            (text("B"), text("a"), Ordering::Less),
            (text("10"), text("9"), Ordering::Less),
            (text("a"), text("a b"), Ordering::Less),
            (n("10"), n("9"), Ordering::Greater),
            (n("1.0"), n("1"), Ordering::Equal),
            (
                Attribute::B(vec![128]),
                Attribute::B(vec![1, 2]),
                Ordering::Greater,
            ),
            (text("1"), n("2"), Ordering::Equal),
        ] {
            assert_eq!(sort_order(Some(&one), Some(&two)), order, "{one:?} {two:?}");
            assert_eq!(
                sort_order(Some(&two), Some(&one)),
                order.reverse(),
                "{one:?} {two:?}"
            );
        }
        assert_eq!(sort_order(None, None), Ordering::Equal);
    }
}
