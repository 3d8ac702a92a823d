//! A DynamoDB that misbehaves, to rehearse a load against: see docs/rehearse.md.

#[path = "../tests/support/storm/mod.rs"]
mod storm;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use storm::{Arguments, Storm};

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "rehearse: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until Ctrl-C, and prints the counts then.
fn run(arguments: Arguments) -> io::Result<()> {
    let settings = arguments.settings().map_err(io::Error::other)?;
    let storm = Storm::start(settings)?;
    writeln!(io::stdout(), "{}", storm.url())?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(tokio::signal::ctrl_c())?;
    let counts = serde_json::to_string_pretty(&storm.stop())?;
    writeln!(io::stdout(), "{counts}")
}
