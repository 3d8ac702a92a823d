//! Proves that access patterns answer what their SQL answers.

mod absent;
mod combined;
mod draw;
mod drawing;
mod literal;
mod missing;
mod origin;
mod tuples;

pub use draw::{Call, DrawError, Drawn, Ground, Why, draw};
