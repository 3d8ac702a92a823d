//! What Dynafold does with a mapping: [`check`] holds it against a schema and a source, and hands out a model; [`load`] reads the rows, folds them and writes the items; [`verify`]
//! makes every item again and compares; [`preview`] says what a load would make; [`proof`] finds keys that two items
//! share.
//!
//! It speaks to a source and a target through their traits alone, prints nothing and reads no variable of the
//! environment. The command line calls it, and so does any program.

pub mod check;
pub mod load;
pub mod preview;
pub mod proof;
pub mod verify;
