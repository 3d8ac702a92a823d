//! Templates: parsing, printing back, and filters. Pure.

/// A filter with its arguments read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// Placeholder until the room is built.
    Upper,
}
