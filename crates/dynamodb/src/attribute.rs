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
            Self::S(_) | Self::N(_) | Self::B(_) | Self::Bool(_) | Self::Null => {
                self.scalar().map_or("", |scalar| scalar.type_name())
            }
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
            Self::S(_) | Self::N(_) | Self::B(_) | Self::Bool(_) | Self::Null => {
                self.scalar().map_or(0, |scalar| scalar.size())
            }
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

/// The order of two values of one sort key in DynamoDB.
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
