//! The one integration binary: a list of modules.

// `cfg(test)` tells clippy that all of this is tests, helpers too.
#[cfg(test)]
mod source {
    mod mysql;
    mod sqlite;
}
#[cfg(test)]
mod support {
    pub(crate) mod mysql;
    pub(crate) mod sqlite;
    pub(crate) mod types;
}
