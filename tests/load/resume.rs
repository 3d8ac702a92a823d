//! The program killed, cut off and started again: the table ends as the source says, the files
//! beside it hold each line once, and the books add up.
//!
//! Everything here runs the program itself, against the endpoint that misbehaves.

mod bench;
pub(super) mod case;
mod connections;
mod disks;
mod faults;
mod kills;
mod left;
mod moving;
mod repeat;
mod signals;
mod unasked;
