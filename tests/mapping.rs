//! What is claimed of keys, with real databases as judges. What needs none is tested in `crates/mapping/tests`.

mod alike;
mod enforced;
