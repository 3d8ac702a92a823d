//! The `dynafold` program.

fn main() {}
