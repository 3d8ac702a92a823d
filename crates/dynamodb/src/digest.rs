//! Hashes under a secret. Keys are hashed by `SipHash`, so that nobody can make two whose hashes are equal. Whole items are
//! hashed by XXH3, which is faster, from a secret seed: equal hashes of two items are not ruled out, only unlikely.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;

use siphasher::sip128::{Hasher128 as _, SipHasher13};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use super::{Attribute, Item};

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
    #[must_use]
    pub fn random() -> Self {
        let random = RandomState::new();
        let half = |number: u64| u128::from(random.hash_one(number));
        Self((half(0) << 64 | half(1)).to_le_bytes())
    }

    /// The secret itself, to be kept where a later run needs it.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// 128 bits that stand for values of keys, one after the other.
    pub(super) fn values<'a>(self, values: impl IntoIterator<Item = &'a Attribute>) -> u128 {
        let mut encoded = Vec::with_capacity(64);
        for value in values {
            let nested;
            let bytes = match scalar(value) {
                Some(bytes) => bytes,
                None => {
                    nested = self.digest(0, value).to_le_bytes();
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
    #[must_use]
    pub fn item(self, item: &Item) -> u128 {
        let half = self.0.first_chunk();
        let seed = half.map_or(0, |half| u64::from_le_bytes(*half));
        self.members(seed, &item.attributes)
    }

    fn members(self, seed: u64, members: &[(Arc<str>, Attribute)]) -> u128 {
        let own_seed = |name: &str| xxh3_64_with_seed(name.as_bytes(), seed);
        sum(members
            .iter()
            .map(|(name, value)| self.digest(own_seed(name), value)))
    }

    fn digest(self, outer_seed: u64, attribute: &Attribute) -> u128 {
        let seed = outer_seed.wrapping_add(u64::from(tag(attribute)));
        let hash = |bytes: &[u8]| xxh3_128_with_seed(bytes, seed);
        let own_seed = |position: u64| xxh3_64_with_seed(&position.to_le_bytes(), seed);
        let inner = match attribute {
            Attribute::L(elements) => {
                let numbered = elements.iter().zip(0..);
                sum(numbered.map(|(element, position)| self.digest(own_seed(position), element)))
            }
            Attribute::M(members) => self.members(seed, members),
            Attribute::Ss(texts) => sum(texts.iter().map(|text| hash(text.as_bytes()))),
            Attribute::Ns(numbers) => sum(numbers.iter().map(|one| hash(one.as_str().as_bytes()))),
            Attribute::Bs(all) => sum(all.iter().map(|bytes| hash(bytes))),
            _ => return hash(scalar(attribute).unwrap_or_default()),
        };
        hash(&inner.to_le_bytes())
    }
}

/// One hash of many that does not depend on their order.
fn sum(hashes: impl Iterator<Item = u128>) -> u128 {
    hashes.fold(0, u128::wrapping_add)
}

/// The bytes of a value that holds no others. NULL and `false`, which their tags tell apart, have none.
fn scalar(attribute: &Attribute) -> Option<&[u8]> {
    match attribute {
        Attribute::S(string) => Some(string.as_bytes()),
        Attribute::N(number) => Some(number.as_str().as_bytes()),
        Attribute::B(bytes) => Some(bytes),
        Attribute::Bool(true) => Some(&[1]),
        Attribute::Bool(false) | Attribute::Null => Some(&[]),
        _ => None,
    }
}

fn tag(attribute: &Attribute) -> u8 {
    match attribute {
        Attribute::S(_) => 0,
        Attribute::N(_) => 1,
        Attribute::B(_) => 2,
        Attribute::Bool(_) => 3,
        Attribute::Null => 4,
        Attribute::L(_) => 5,
        Attribute::M(_) => 6,
        Attribute::Ss(_) => 7,
        Attribute::Ns(_) => 8,
        Attribute::Bs(_) => 9,
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
