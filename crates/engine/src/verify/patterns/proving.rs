//! What is asked for.

use std::fmt;

use dynafold_mapping::claim::Claim;

use super::call::Ground;
use crate::load::Cancel;

/// What is to be proved.
pub struct Proving<'a> {
    /// The schema, the mapping and the run's clock.
    pub ground: Ground<'a>,
    /// What `check` claims of the item types that each pattern finds.
    pub finds: Vec<Claim>,
    /// The patterns that are asked about; all of them where none is named.
    pub names: &'a [String],
    /// About how many calls of each pattern.
    pub values: usize,
    /// Differences that are named, of each pattern and of each call.
    pub examples: usize,
    /// Stops the proof.
    pub cancel: &'a Cancel,
    /// Told which pattern is at work, of how many, and how many calls it takes.
    pub progress: &'a (dyn Fn(usize, usize, &str, usize) + Send + Sync),
}

impl fmt::Debug for Proving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proving")
            .field("names", &self.names)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}
