//! The `dynafold` program.

use std::process::ExitCode;

/// The SDK allocates a lot per request; docs/performance.md compares allocators.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    dynafold::cli::run()
}
