//! The parts that `scripts/bench` puts beside the whole tool, each a process of its own: an
//! endpoint that answers at once, a client that does nothing but sign and send, reading alone, and
//! the embedded engine's import alone.

mod client;
mod endpoint;
mod import;
mod read;

use std::io;
use std::process::ExitCode;

/// The tool's allocator, so that only the work differs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments.as_slice() {
        ["endpoint", milliseconds] => endpoint::serve(milliseconds),
        ["client", endpoint, items, count] => client::send(endpoint, items, count),
        ["read", table] => read::run(table),
        ["import", items, table] => import::run(items, table),
        // `cargo bench` starts every bench; these measure nothing by themselves.
        ["--bench", ..] => Ok(()),
        _ => Err(invalid(
            "endpoint MILLISECONDS | client ADDRESS FILE ITEMS | read TABLE | import FILE TABLE-FILE",
        )),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("parts: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// An error in words.
fn invalid(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text.into())
}
