//! The keys of a run, as fingerprints: finds duplicates exactly.
//!
//! 16 bytes for each item, kept in memory for the whole run; the one thing in a load that grows
//! with the data.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// The fingerprints seen so far.
#[derive(Debug, Default)]
pub struct Keys {
    seen: HashSet<u128, BuildHasherDefault<Fold64>>,
    /// Whether they are left to somebody else.
    unkept: bool,
}

impl Keys {
    /// Keeps nothing and finds nothing: for callers that prove the keys in another way.
    pub(crate) fn unkept() -> Self {
        Self {
            unkept: true,
            ..Self::default()
        }
    }

    /// Takes a fingerprint in; `false` when it was there already.
    pub fn insert(&mut self, fingerprint: u128) -> bool {
        self.unkept || self.seen.insert(fingerprint)
    }

    /// Whether a fingerprint is there.
    #[must_use]
    pub fn contains(&self, fingerprint: u128) -> bool {
        self.seen.contains(&fingerprint)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
}

/// Fingerprints are hashes already: half of their bits will do.
#[derive(Debug, Default)]
pub(crate) struct Fold64(u64);

impl Hasher for Fold64 {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = u64::try_from(value >> 64).unwrap_or_default();
    }
}
