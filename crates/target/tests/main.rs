//! What of a target is tested without any.

// `cfg(test)` tells clippy that all of this is tests, helpers too.
#[cfg(test)]
mod throttle;
