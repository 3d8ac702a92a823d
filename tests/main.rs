//! The one integration binary: a list of modules.

// `cfg(test)` tells clippy that all of this is tests, helpers too.
#[cfg(test)]
mod support {
    pub(crate) mod postgres;
}

#[cfg(test)]
mod source {
    mod postgres;
}
