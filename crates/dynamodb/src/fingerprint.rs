//! 128 bits that stand for an item's key, in sets and maps of many millions of keys.

use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{Attribute, DigestKey};

/// What keys are hashed under, while the process lives.
static SECRET: OnceLock<DigestKey> = OnceLock::new();

/// Has this process hash keys under a key that others hash under too, so that their fingerprints can be compared. Nobody may
/// know it before the keys are made: then they could be made to collide. `false`: this process hashes under another key
/// already, which stays.
pub fn share_fingerprints(key: DigestKey) -> bool {
    *SECRET.get_or_init(|| key) == key
}

/// 128 bits that stand for an item's key, for as long as the process lives.
///
/// Each part is hashed with its type and its length, so that no two keys share a fingerprint by the
/// way their bytes join (`a` + `bc` and `ab` + `c`, the number 1 and the text `1`). Numbers are
/// canonical text already. Nobody can choose keys that collide, because the hash has a secret. Two
/// different keys among a thousand million collide by chance once in 10^20 runs.
pub fn fingerprint(partition: &Attribute, sort: Option<&Attribute>) -> u128 {
    let secret = SECRET.get_or_init(DigestKey::random);
    secret.values(std::iter::once(partition).chain(sort))
}

/// A key's fingerprint, and what stands for its partition key alone: the low half of
/// [`partition_fingerprint`].
pub fn fingerprints(partition: &Attribute, sort: Option<&Attribute>) -> (u128, u64) {
    let low = low_half(value_hash(partition));
    (fingerprint(partition, sort), low)
}

/// 128 bits that stand for the values of a partition key, of one attribute or several, the same in
/// every run: for weights and samples. No claim rests on it, since keys
/// that collide can be made.
pub fn partition_fingerprint<'a>(values: impl IntoIterator<Item = &'a Attribute>) -> u128 {
    let hashes = values.into_iter().map(value_hash);
    hashes
        .reduce(|before, next| {
            let both = [before.to_le_bytes(), next.to_le_bytes()];
            xxh3_128_with_seed(both.as_flattened(), 0)
        })
        .unwrap_or(0)
}

fn low_half(value: u128) -> u64 {
    u64::try_from(value & u128::from(u64::MAX)).unwrap_or_default()
}

fn value_hash(attribute: &Attribute) -> u128 {
    match attribute {
        Attribute::S(text) => xxh3_128_with_seed(text.as_bytes(), 1),
        Attribute::N(number) => xxh3_128_with_seed(number.as_str().as_bytes(), 2),
        Attribute::B(bytes) => xxh3_128_with_seed(bytes, 3),
        // No key is of another type; what DynamoDB would refuse has been refused before.
        other => xxh3_128_with_seed(other.type_name().as_bytes(), 4),
    }
}

/// Hashes fingerprints, for sets and maps of them.
pub type BuildFingerprintHasher = BuildHasherDefault<FingerprintHasher>;

/// Fingerprints are hashes already: their halves, put together, will do.
#[derive(Debug, Default, Clone, Copy)]
pub struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = low_half(fingerprint) ^ low_half(fingerprint >> 64);
    }
}

#[cfg(test)]
mod tests {
    use dynafold_relational::value::Number;

    use super::*;

    fn text(text: &str) -> Attribute {
        Attribute::S(text.into())
    }

    /// A number of XXH3's own, at which one of its factors is zero, hides what stands beside it.
    #[test]
    fn keys_that_were_made_to_collide_differ() {
        let crafted = |one: &str, other: &str| {
            let (before, between, after) = ("x".repeat(54), "x".repeat(440), "x".repeat(88));
            let first = "Á:&L";
            let second = "Z\u{374}Y1";
            text(&format!(
                "N#{before}{one}{first}{between}{other}{second}{after}"
            ))
        };
        let keys = [crafted("aab", "aaa"), crafted("aaa", "aab")];
        let unkeyed = keys.each_ref().map(|key| partition_fingerprint([key]));
        assert_eq!(unkeyed[0], unkeyed[1], "they were not made for this hash");
        assert_ne!(fingerprint(&keys[0], None), fingerprint(&keys[1], None));
    }

    #[test]
    fn a_key_comes_with_the_low_half_of_its_partitions_fingerprint() {
        let (partition, sort) = (text("a"), text("b"));
        let (whole, low) = fingerprints(&partition, Some(&sort));
        assert_eq!(whole, fingerprint(&partition, Some(&sort)));
        let expected = partition_fingerprint([&partition]).to_le_bytes();
        assert_eq!(low.to_le_bytes(), expected[..8]);
    }

    #[test]
    fn a_process_hashes_under_one_key_alone() {
        let _ = fingerprint(&text("a"), None);
        assert!(!share_fingerprints(DigestKey::from([0; 16])));
    }

    #[test]
    fn keys_that_look_alike_differ() {
        let keys = [
            fingerprint(&text("a"), Some(&text("bc"))),
            fingerprint(&text("ab"), Some(&text("c"))),
            fingerprint(&text("abc"), None),
            fingerprint(&text("1"), None),
            fingerprint(&Attribute::N(Number::from(1_i64)), None),
            fingerprint(&Attribute::B(b"1".to_vec()), None),
            fingerprint(&text("bc"), Some(&text("a"))),
        ];
        let unique: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(unique.len(), keys.len());
    }
}
