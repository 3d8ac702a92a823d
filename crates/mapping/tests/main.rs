//! The mapping language from outside: checking, and the fold. No server, no database, no driver.

// `cfg(test)` tells clippy that all of this is tests, helpers too.
#[cfg(test)]
mod check;
#[cfg(test)]
mod fold;
