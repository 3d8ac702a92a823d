//! The first items of each item type, without writing any.

