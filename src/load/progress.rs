//! What a run tells while it goes on. The command line draws bars from it; nothing is drawn here.

/// Hears how a run goes. Called for each chunk or batch, never for each row; every method may be
/// called from any thread.
pub trait Progress: Send + Sync {
    /// A pass begins: its index and name, the item types that it serves, and about how many rows
    /// it will read.
    fn pass(&self, pass: usize, name: &str, item_types: &[usize], estimated_rows: Option<u64>) {
        let _ = (pass, name, item_types, estimated_rows);
    }

    /// So many more rows were read for an item type.
    fn rows(&self, item_type: usize, rows: u64) {
        let _ = (item_type, rows);
    }

    /// So many more rows of an item type became no item.
    fn rejected(&self, item_type: usize, rows: u64) {
        let _ = (item_type, rows);
    }

    /// So many more items of an item type are in the table (or compared, for `verify`).
    fn written(&self, item_type: usize, items: u64) {
        let _ = (item_type, items);
    }

    /// So many items were held back by throttling and wait to be sent again.
    fn throttled(&self, items: u64) {
        let _ = items;
    }

    /// The run turns to something else than reading and writing.
    fn step(&self, step: Step) {
        let _ = step;
    }
}

/// What a run does besides reading and writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Reading the keys of all items before the first write.
    ProvingKeys,
    /// Looking for equal keys among all that were made.
    ComparingKeys,
    /// Reading again to name the rows that share a key.
    NamingDuplicates,
    /// Ending the load on the target.
    Finishing,
    /// Looking for items in the table that the source does not make.
    LookingForUnexpected,
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
