//! How many items there are of which size.

use super::forecast::SizeClass;

/// Bytes of the largest item of each class. A write unit is a KB begun, and 400 KB are the most.
const CLASSES: [u64; 13] = [
    128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 409_600,
];

/// Counts items by their sizes.
#[derive(Debug)]
pub(super) struct Sizes {
    classes: [SizeClass; CLASSES.len()],
}

impl Sizes {
    pub(super) fn new() -> Self {
        Self {
            classes: CLASSES.map(|up_to| SizeClass {
                up_to,
                items: 0,
                bytes: 0,
            }),
        }
    }

    pub(super) fn add(&mut self, size: u64) {
        let at = CLASSES.partition_point(|up_to| *up_to < size);
        // Nothing is larger than the last class: the fold has refused it.
        let last = CLASSES.len() - 1;
        if let Some(class) = self.classes.get_mut(at.min(last)) {
            class.items += 1;
            class.bytes += size;
        }
    }

    /// The classes up to the largest that has items.
    pub(super) fn classes(&self) -> Vec<SizeClass> {
        let used = self.classes.iter().rposition(|class| class.items > 0);
        let used = used.map_or(0, |last| last + 1);
        self.classes.iter().take(used).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_ends_with_its_largest_size() {
        let mut sizes = Sizes::new();
        for size in [1, 128, 129, 1_024, 1_025] {
            sizes.add(size);
        }
        let counts = sizes.classes();
        let counts: Vec<(u64, u64)> = counts.iter().map(|c| (c.up_to, c.items)).collect();
        assert_eq!(
            counts,
            [(128, 2), (256, 1), (512, 0), (1_024, 1), (2_048, 1)]
        );
        sizes.add(409_600);
        assert_eq!(sizes.classes().len(), CLASSES.len());
        assert!(Sizes::new().classes().is_empty());
    }
}
