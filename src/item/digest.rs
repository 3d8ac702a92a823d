//! Hashes under a secret. Nobody can make two keys whose hashes are equal; two items have equal ones by chance alone.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;

use siphasher::sip128::{Hasher128 as _, SipHasher13};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{Attribute, Item};

/// What hashes are made under.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Secret([u8; 16]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl From<[u8; 16]> for Secret {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl Secret {
    /// A new one, from the operating system's random numbers.
    pub(crate) fn random() -> Self {
        let random = RandomState::new();
        let half = |half: u64| u128::from(random.hash_one(half));
        Self((half(0) << 64 | half(1)).to_le_bytes())
    }

    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// 128 bits that stand for values, one after the other.
    pub(super) fn values<'a>(self, values: impl IntoIterator<Item = &'a Attribute>) -> u128 {
        let mut text = Vec::with_capacity(64);
        for one in values {
            self.value(&mut text, one);
        }
        let mut hasher = SipHasher13::new_with_key(&self.0);
        // At once: the hasher takes longer over each of many small parts than over their bytes.
        hasher.write(&text);
        hasher.finish128().as_u128()
    }

    /// 128 bits that stand for a whole item: equal where [`Item::same`] is true.
    pub(crate) fn item(self, item: &Item) -> u128 {
        self.members(&mut Vec::with_capacity(512), &item.attributes)
    }

    // The text that is hashed: two values have the same one only where they are the same. What has no
    // order is hashed one by one, and stands there as the sum.

    fn value(self, text: &mut Vec<u8>, attribute: &Attribute) {
        text.push(tag(attribute));
        match attribute {
            Attribute::S(string) => sized(text, string.as_bytes()),
            Attribute::N(number) => sized(text, number.as_str().as_bytes()),
            Attribute::B(bytes) => sized(text, bytes),
            Attribute::Bool(bool) => text.push(u8::from(*bool)),
            Attribute::Null => {}
            Attribute::L(elements) => {
                count(text, elements.len());
                for element in elements {
                    self.value(text, element);
                }
            }
            Attribute::M(members) => {
                let sum = self.members(text, members);
                text.extend(sum.to_le_bytes());
            }
            Attribute::Ss(all) => self.set(text, all.iter().map(|one| one.as_bytes())),
            Attribute::Ns(all) => self.set(text, all.iter().map(|one| one.as_str().as_bytes())),
            Attribute::Bs(all) => self.set(text, all.iter().map(Vec::as_slice)),
        }
    }

    fn members(self, text: &mut Vec<u8>, members: &[(Arc<str>, Attribute)]) -> u128 {
        let begin = text.len();
        let mut sum = 0_u128;
        for (name, value) in members {
            sized(text, name.as_bytes());
            self.value(text, value);
            sum = sum.wrapping_add(self.quick(text.get(begin..).unwrap_or_default()));
            text.truncate(begin);
        }
        sum
    }

    fn set<'a>(self, text: &mut Vec<u8>, all: impl Iterator<Item = &'a [u8]>) {
        let hashes = all.map(|one| self.quick(one));
        let sum = hashes.fold(0, u128::wrapping_add);
        text.extend(sum.to_le_bytes());
    }

    fn quick(self, text: &[u8]) -> u128 {
        let seed = self
            .0
            .first_chunk()
            .map_or(0, |seed| u64::from_le_bytes(*seed));
        xxh3_128_with_seed(text, seed)
    }
}

fn count(text: &mut Vec<u8>, length: usize) {
    // An item has 400 KB at most.
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    text.extend(length.to_le_bytes());
}

fn sized(text: &mut Vec<u8>, bytes: &[u8]) {
    count(text, bytes.len());
    text.extend(bytes);
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
    use super::*;
    use crate::value::Number;

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
        let secret = Secret::random();
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
        assert_ne!(Secret::random().item(&one), secret.item(&one));
    }
}
