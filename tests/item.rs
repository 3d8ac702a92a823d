//! The fold, with a load or an engine as its judge. What needs neither is tested in `crates/mapping/tests`.

mod determinism;
mod size;
