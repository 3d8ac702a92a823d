//! The heaviest keys of a stream, in bounded memory.
//!
//! A weighted Misra-Gries summary. It holds at most `2 × counters` keys. When it is full, the
//! weight of the key in the middle is taken from every key, and what has none left is forgotten.
//! So much may have been taken from each key, and no more: [`Sketch::error`]. Each time, at least
//! `counters` keys lose that weight, so the error is at most the total weight ÷ `counters`, and
//! every key heavier than that is held. While nothing was forgotten, all weights are exact.
//!
//! The summary, its bound, and cutting at the middle are from Misra and Gries, "Finding repeated
//! elements" (1982), and Anderson et al., "A high-performance algorithm for identifying frequent
//! items in data streams" (2017).

use std::collections::HashMap;

use dynafold_dynamodb::BuildFingerprintHasher;
use dynafold_format::whole;

/// Bytes of a key's text that are kept.
const TEXT: usize = 256;

/// Weights of keys. Keys are told apart by fingerprints; the text is for people.
#[derive(Debug)]
pub(super) struct Sketch {
    held: HashMap<u128, SketchCounter, BuildFingerprintHasher>,
    counters: usize,
    /// The weight of everything that was added.
    pub(super) total: u64,
    /// By how much a weight may be too low; what is not held weighs no more than this. 0: all
    /// weights are exact.
    pub(super) error: u64,
}

#[derive(Debug)]
struct SketchCounter {
    weight: u64,
    text: Box<str>,
}

/// A key of a sketch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeavyKey {
    pub(super) fingerprint: u128,
    /// The key, for people; cut where it is long.
    pub(super) text: Box<str>,
    /// Its weight is at least this.
    pub(super) least: u64,
    /// Its weight is at most this.
    pub(super) most: u64,
}

impl Sketch {
    /// An empty sketch. Its error will be at most the total weight ÷ `counters`.
    pub(super) fn new(counters: usize) -> Self {
        Self {
            held: HashMap::default(),
            counters: counters.max(1),
            total: 0,
            error: 0,
        }
    }

    /// Adds weight to a key. `text` is asked for when the key is not held.
    pub(super) fn add(&mut self, fingerprint: u128, weight: u64, text: impl FnOnce() -> String) {
        self.total += weight;
        if let Some(held) = self.held.get_mut(&fingerprint) {
            held.weight += weight;
            return;
        }
        if self.held.len() >= 2 * self.counters {
            self.forget();
        }
        let text = shortened(text()).into_boxed_str();
        self.held
            .insert(fingerprint, SketchCounter { weight, text });
    }

    /// Takes the middle weight from every key.
    fn forget(&mut self) {
        let mut weights: Vec<u64> = self.held.values().map(|held| held.weight).collect();
        let heavier = self.counters.min(weights.len().saturating_sub(1));
        let (_, middle, _) = weights.select_nth_unstable_by(heavier, |a, b| b.cmp(a));
        let middle = *middle;
        self.held.retain(|_, held| {
            held.weight = held.weight.saturating_sub(middle);
            held.weight > 0
        });
        self.error += middle;
    }

    /// How many keys there were, where none was forgotten.
    pub(super) fn distinct(&self) -> Option<u64> {
        (self.error == 0).then(|| whole(self.held.len()))
    }

    /// All keys that are held, in no order.
    pub(super) fn held(&self) -> impl Iterator<Item = HeavyKey> {
        self.held.iter().map(|(fingerprint, held)| HeavyKey {
            fingerprint: *fingerprint,
            text: held.text.clone(),
            least: held.weight,
            most: held.weight + self.error,
        })
    }

    /// The heaviest keys, the heaviest first; equal ones by their texts.
    pub(super) fn heaviest(&self, most: usize) -> Vec<HeavyKey> {
        let mut all: Vec<HeavyKey> = self.held().collect();
        all.sort_unstable_by(|one, other| {
            (other.least.cmp(&one.least))
                .then_with(|| one.text.cmp(&other.text))
                .then_with(|| one.fingerprint.cmp(&other.fingerprint))
        });
        all.truncate(most);
        all
    }
}

/// A text that memory is bounded by.
fn shortened(mut text: String) -> String {
    if text.len() > TEXT {
        text.truncate(text.floor_char_boundary(TEXT));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn add(sketch: &mut Sketch, key: u128, weight: u64) {
        sketch.add(key << 64, weight, || key.to_string());
    }

    #[test]
    fn few_keys_are_exact() {
        let mut sketch = Sketch::new(4);
        for key in 0..8 {
            add(&mut sketch, key, 1);
            add(&mut sketch, key, u64::try_from(key).unwrap());
        }
        assert_eq!((sketch.error, sketch.distinct()), (0, Some(8)));
        let heaviest = sketch.heaviest(2);
        assert_eq!((heaviest[0].text.as_ref(), heaviest[0].least), ("7", 8));
        assert_eq!((heaviest[1].text.as_ref(), heaviest[1].most), ("6", 7));
    }

    #[test]
    fn long_keys_are_cut() {
        let mut sketch = Sketch::new(1);
        sketch.add(1, 1, || "é".repeat(2000));
        assert!(sketch.heaviest(1)[0].text.len() < 270);
    }

    proptest! {
        #[test]
        fn weights_lie_within_their_bounds(
            counters in 1_usize..20,
            stream in proptest::collection::vec((0_u128..60, 0_u64..50), 0..600),
            heavy in 0_u64..5_000,
        ) {
            let mut sketch = Sketch::new(counters);
            let mut exact: HashMap<u128, u64> = HashMap::new();
            for (key, weight) in stream.into_iter().chain([(99, heavy)]) {
                add(&mut sketch, key, weight);
                *exact.entry(key).or_default() += weight;
                prop_assert!(sketch.held.len() <= 2 * counters);
            }
            let total: u64 = exact.values().sum();
            prop_assert_eq!(sketch.total, total);
            prop_assert!(sketch.error <= total / u64::try_from(counters).unwrap());
            for (key, weight) in exact {
                let least = sketch.held.get(&(key << 64)).map_or(0, |held| held.weight);
                let most = least + sketch.error;
                prop_assert!(least <= weight && weight <= most, "{key}: {least} {weight} {most}");
                if weight > sketch.error {
                    prop_assert!(sketch.held.contains_key(&(key << 64)));
                }
            }
        }
    }
}
