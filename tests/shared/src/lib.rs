//! What the tests of several crates share: models made by hand ([`model`]), cases ([`cases`]), and
//! the record of what cannot be tested here ([`missing`]).

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "tests alone use it"
)]

pub mod cases;
pub mod missing;
pub mod model;

/// Processor time of this thread, where the system tells it.
#[must_use]
pub fn spent() -> Option<std::time::Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(std::time::Duration::from_nanos(
        text.split(' ').next()?.parse().ok()?,
    ))
}
