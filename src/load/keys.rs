//! The keys of a run, as fingerprints: finds duplicates exactly.
//!
//! 16 bytes for each item, kept in memory for the whole run; the one thing in a load that grows
//! with the data.

use crate::item::Fingerprints;

/// How many sets share the fingerprints. While a set grows it is there twice, the old and the new;
/// in so many parts that is little of the whole.
const PARTS: usize = 64;

/// The fingerprints seen so far.
#[derive(Debug)]
pub struct Keys {
    parts: [Fingerprints; PARTS],
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            parts: std::array::from_fn(|_| Fingerprints::default()),
        }
    }
}

impl Keys {
    /// Takes a fingerprint in; `false` when it was there already.
    pub fn insert(&mut self, fingerprint: u128) -> bool {
        let at = part(fingerprint);
        self.parts
            .get_mut(at)
            .is_some_and(|seen| seen.insert(fingerprint))
    }

    /// Whether a fingerprint is there.
    #[must_use]
    pub fn contains(&self, fingerprint: u128) -> bool {
        let seen = self.parts.get(part(fingerprint));
        seen.is_some_and(|seen| seen.contains(&fingerprint))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(Fingerprints::len).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(Fingerprints::is_empty)
    }
}

/// The set that a fingerprint belongs to. By its lowest bits, since the sets hash by the highest.
fn part(fingerprint: u128) -> usize {
    let [lowest, ..] = fingerprint.to_le_bytes();
    usize::from(lowest) % PARTS
}
