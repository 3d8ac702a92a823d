//! Hashes under a secret. Keys are hashed by `SipHash`, so that nobody can make two whose hashes are equal. Whole items are
//! hashed by XXH3, which is faster, from a secret seed: equal hashes of two items are not ruled out, only unlikely.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;

use siphasher::sip128::{Hasher128 as _, SipHasher13};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use super::{Attribute, Item, Scalar};

/// What hashes are made under.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DigestKey([u8; 16]);

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey")
    }
}

impl From<[u8; 16]> for DigestKey {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl DigestKey {
    /// A new one, from the operating system's random numbers.
    pub fn random() -> Self {
        let random = RandomState::new();
        let half = |number: u64| u128::from(random.hash_one(number));
        Self((half(0) << 64 | half(1)).to_le_bytes())
    }

    /// The secret itself, to be kept where a later run needs it.
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// 128 bits that stand for values of keys, one after the other.
    pub(super) fn values<'a>(self, values: impl IntoIterator<Item = &'a Attribute>) -> u128 {
        let mut encoded = Vec::with_capacity(64);
        for value in values {
            let nested;
            let bytes = match value.scalar() {
                Some(scalar) => scalar_bytes(&scalar),
                None => {
                    nested = DigestSeed(0).attribute(value).to_le_bytes();
                    &nested
                }
            };
            // With type and length, only equal values are encoded alike. A key has 3 KB at most.
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            encoded.push(tag(value));
            encoded.extend(length.to_le_bytes());
            encoded.extend(bytes);
        }
        let mut hasher = SipHasher13::new_with_key(&self.0);
        // At once: the hasher takes longer over each of many small parts than over their bytes.
        hasher.write(&encoded);
        hasher.finish128().as_u128()
    }

    /// 128 bits that stand for a whole item: equal where [`Item::same`] is true.
    pub fn item(self, item: &Item) -> u128 {
        self.seed().members(&item.attributes)
    }

    /// Where the digest of an item begins: the sum of those of its attributes, each under the seed of
    /// [`DigestSeed::member`].
    pub fn seed(self) -> DigestSeed {
        let half = self.0.first_chunk();
        DigestSeed(half.map_or(0, |half| u64::from_le_bytes(*half)))
    }
}

/// A place in an item, by which the digest of what stands there is told from the same elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct DigestSeed(u64);

impl DigestSeed {
    /// The place of a member.
    pub fn member(self, name: &str) -> Self {
        Self(xxh3_64_with_seed(name.as_bytes(), self.0))
    }

    /// The place of an element.
    pub fn element(self, position: u64) -> Self {
        Self(xxh3_64_with_seed(&position.to_le_bytes(), self.0))
    }

    /// The places within a list that stands here.
    pub fn in_list(self) -> Self {
        self.tagged(LIST)
    }

    /// The places within a map that stands here.
    pub fn in_map(self) -> Self {
        self.tagged(MAP)
    }

    /// The digest of the list or map within which this is, from the sum of its members'.
    pub fn around(self, sum: u128) -> u128 {
        self.hash(&sum.to_le_bytes())
    }

    /// The digest of a value that holds no others and stands here.
    pub fn scalar(self, scalar: Scalar<'_>) -> u128 {
        self.tagged(scalar_tag(scalar)).hash(scalar_bytes(&scalar))
    }

    /// The digest of a value that stands here.
    pub fn attribute(self, attribute: &Attribute) -> u128 {
        if let Some(scalar) = attribute.scalar() {
            return self.scalar(scalar);
        }
        let within = self.tagged(tag(attribute));
        within.around(match attribute {
            Attribute::L(elements) => {
                let numbered = elements.iter().zip(0..);
                sum(numbered.map(|(element, position)| within.element(position).attribute(element)))
            }
            Attribute::M(members) => within.members(members),
            Attribute::Ss(texts) => sum(texts.iter().map(|text| within.hash(text.as_bytes()))),
            Attribute::Ns(numbers) => sum(numbers
                .iter()
                .map(|one| within.hash(one.as_str().as_bytes()))),
            Attribute::Bs(all) => sum(all.iter().map(|bytes| within.hash(bytes))),
            _ => 0,
        })
    }

    fn members(self, members: &[(Arc<str>, Attribute)]) -> u128 {
        let members = members.iter();
        sum(members.map(|(name, value)| self.member(name).attribute(value)))
    }

    fn tagged(self, tag: u8) -> Self {
        Self(self.0.wrapping_add(u64::from(tag)))
    }

    fn hash(self, bytes: &[u8]) -> u128 {
        xxh3_128_with_seed(bytes, self.0)
    }
}

/// One hash of many that does not depend on their order.
fn sum(hashes: impl Iterator<Item = u128>) -> u128 {
    hashes.fold(0, u128::wrapping_add)
}

/// The bytes of a value. NULL and `false`, which their tags tell apart, have none.
fn scalar_bytes<'v>(scalar: &Scalar<'v>) -> &'v [u8] {
    match scalar {
        Scalar::S(text) => text.as_bytes(),
        Scalar::N(number) => number.as_str().as_bytes(),
        Scalar::B(bytes) => bytes,
        Scalar::Bool(true) => &[1],
        Scalar::Bool(false) | Scalar::Null => &[],
    }
}

fn scalar_tag(scalar: Scalar<'_>) -> u8 {
    match scalar {
        Scalar::S(_) => 0,
        Scalar::N(_) => 1,
        Scalar::B(_) => 2,
        Scalar::Bool(_) => 3,
        Scalar::Null => 4,
    }
}

const LIST: u8 = 5;
const MAP: u8 = 6;

fn tag(attribute: &Attribute) -> u8 {
    match attribute {
        Attribute::L(_) => LIST,
        Attribute::M(_) => MAP,
        Attribute::Ss(_) => 7,
        Attribute::Ns(_) => 8,
        Attribute::Bs(_) => 9,
        other => other.scalar().map_or(0, scalar_tag),
    }
}

#[cfg(test)]
mod tests {
    use dynafold_relational::value::Number;

    use super::*;

    fn item(attributes: Vec<(&str, Attribute)>) -> Item {
        let attributes = attributes.into_iter();
        Item {
            attributes: attributes
                .map(|(name, value)| (name.into(), value))
                .collect(),
        }
    }

    #[test]
    fn an_items_digest_does_not_depend_on_the_order_in_which_dynamodb_answers() {
        let secret = DigestKey::random();
        let text = |text: &str| Attribute::S(text.into());
        let map = |members: Vec<(&str, Attribute)>| Attribute::M(item(members).attributes);
        let numbers = |all: [i64; 2]| Attribute::Ns(all.map(Number::from).to_vec());
        let one = item(vec![
            ("PK", text("a")),
            (
                "m",
                map(vec![("x", numbers([1, 2])), ("y", Attribute::Null)]),
            ),
        ]);
        let other = item(vec![
            (
                "m",
                map(vec![("y", Attribute::Null), ("x", numbers([2, 1]))]),
            ),
            ("PK", text("a")),
        ]);
        assert!(one.same(&other));
        assert_eq!(secret.item(&one), secret.item(&other));
        let others = [
            item(vec![("PK", text("a"))]),
            item(vec![("PK", text("am"))]),
            item(vec![("PK", text("a")), ("m", text(""))]),
            item(vec![("PK", text("a")), ("m", Attribute::L(Vec::new()))]),
            item(vec![("PK", text("a")), ("m", map(Vec::new()))]),
            item(vec![
                ("PK", text("a")),
                ("m", map(vec![("x", numbers([1, 3]))])),
            ]),
            one.clone(),
        ];
        let unique: std::collections::HashSet<_> =
            others.iter().map(|item| secret.item(item)).collect();
        assert_eq!(unique.len(), others.len());
        assert_ne!(DigestKey::random().item(&one), secret.item(&one));
    }
}
