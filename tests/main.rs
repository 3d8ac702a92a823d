//! The one integration binary: a list of modules.
