//! Hashes under a secret. Nobody can make two keys whose hashes are equal; two items have equal ones by chance alone.

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
        f.write_str("Secret")
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
        let half = |half: u64| u128::from(random.hash_one(half));
        Self((half(0) << 64 | half(1)).to_le_bytes())
    }

    /// The secret itself, to be kept where a later run needs it.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// 128 bits that stand for values of keys, one after the other.
    pub(super) fn values<'a>(self, values: impl IntoIterator<Item = &'a Attribute>) -> u128 {
        let mut text = Vec::with_capacity(64);
        for one in values {
            let whole;
            let bytes = match scalar(one) {
                Some(bytes) => bytes,
                None => {
                    whole = self.digest(0, one).to_le_bytes();
                    &whole
                }
            };
            // Two values have the same text only where they are the same. A key has 3 KB at most.
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            text.push(tag(one));
            text.extend(length.to_le_bytes());
            text.extend(bytes);
        }
        let mut hasher = SipHasher13::new_with_key(&self.0);
        // At once: the hasher takes longer over each of many small parts than over their bytes.
        hasher.write(&text);
        hasher.finish128().as_u128()
    }

    /// 128 bits that stand for a whole item: equal where [`Item::same`] is true.
    #[must_use]
    pub fn item(self, item: &Item) -> u128 {
        let seed = self.0.first_chunk();
        let seed = seed.map_or(0, |seed| u64::from_le_bytes(*seed));
        self.members(seed, &item.attributes)
    }

    /// Of what has no order the hashes are added up.
    fn members(self, seed: u64, members: &[(Arc<str>, Attribute)]) -> u128 {
        let hashes = members.iter().map(|(name, value)| {
            let seed = xxh3_64_with_seed(name.as_bytes(), seed);
            self.digest(seed, value)
        });
        hashes.fold(0, u128::wrapping_add)
    }

    fn digest(self, seed: u64, attribute: &Attribute) -> u128 {
        fn sum<'a>(all: impl Iterator<Item = &'a [u8]>, hash: impl Fn(&[u8]) -> u128) -> u128 {
            all.map(hash).fold(0, u128::wrapping_add)
        }
        let seed = seed.wrapping_add(u64::from(tag(attribute)));
        let hash = |bytes: &[u8]| xxh3_128_with_seed(bytes, seed);
        let inner = match attribute {
            Attribute::L(elements) => {
                let hashes = elements.iter().zip(0_u64..).map(|(element, at)| {
                    let seed = xxh3_64_with_seed(&at.to_le_bytes(), seed);
                    self.digest(seed, element)
                });
                hashes.fold(0, u128::wrapping_add)
            }
            Attribute::M(members) => self.members(seed, members),
            Attribute::Ss(all) => sum(all.iter().map(|one| one.as_bytes()), hash),
            Attribute::Ns(all) => sum(all.iter().map(|one| one.as_str().as_bytes()), hash),
            Attribute::Bs(all) => sum(all.iter().map(Vec::as_slice), hash),
            _ => return hash(scalar(attribute).unwrap_or_default()),
        };
        hash(&inner.to_le_bytes())
    }
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
