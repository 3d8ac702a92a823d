//! What a deletion costs: as much as the item that goes, which only the answer tells.
//!
//! Keys to delete come in the order of their hashes, so that the last ones cost what the next ones
//! will. The first ones are thought to cost what the largest item does, so that they go one by one;
//! from there the estimate falls by steps to what answers say, and rises with them at once.

/// What is left of the estimate after an answer that says less.
const FALL: f64 = 0.8;

/// The units of one deletion.
#[derive(Debug)]
pub struct Toll {
    least: f64,
    units: f64,
}

impl Toll {
    /// Between what nothing costs and what the largest item does.
    pub fn new(least: f64, most: f64) -> Self {
        Self {
            least,
            units: most.max(least),
        }
    }

    /// What the next one is thought to cost.
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and some thousands at most"
    )]
    pub fn units(&self) -> u64 {
        self.units.ceil() as u64
    }

    /// Enters what deletions have cost together, as a service told that is believed.
    pub fn answered(&mut self, deletions: f64, used: f64) {
        if deletions < 1.0 {
            return;
        }
        let each = used / deletions;
        let fallen = (self.units * FALL).max(self.least);
        self.units = each.max(fallen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_falls_by_steps_and_rises_at_once() {
        let mut toll = Toll::new(2.0, 400.0);
        toll.answered(1.0, 100.0);
        assert_eq!(toll.units(), 320);
        for _ in 0..20 {
            toll.answered(10.0, 50.0);
        }
        assert_eq!(toll.units(), 5);
        toll.answered(1.0, 100.0);
        assert_eq!(toll.units(), 100);
        for _ in 0..40 {
            toll.answered(25.0, 1.0);
        }
        assert_eq!(toll.units(), 2);
    }
}
