//! The keys of a few items, as fingerprints: finds duplicates exactly.
//!
//! 16 bytes for each item, kept in memory: for samples. Whole runs compare their keys on disk, with
//! [`crate::proof`].

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// The fingerprints seen so far.
#[derive(Debug, Default)]
pub(crate) struct Keys {
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
    pub(crate) fn insert(&mut self, fingerprint: u128) -> bool {
        self.unkept || self.seen.insert(fingerprint)
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
