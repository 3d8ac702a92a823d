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
