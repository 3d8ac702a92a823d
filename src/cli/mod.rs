//! The command line: arguments, one file per command, reports and progress. The only room that
//! prints, reads the environment, or chooses an exit code.

mod args;
mod catalog;
mod cells;
mod check;
mod completion;
mod demo;
mod design;
mod diff;
mod docs;
mod ending;
mod erase;
mod export;
mod failure;
mod files;
mod finish;
mod flags;
mod handed;
mod identity;
mod init;
mod inspect;
mod mapping;
mod migrate;
mod options;
mod output;
mod plan;
mod preview;
mod prices;
mod progress;
mod proofs;
mod query;
mod report;
mod selection;
mod signals;
mod target;
mod usage;
mod verify;
mod work;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::format;
use crate::target::CREDENTIAL_CRATES;
use args::Command;
use failure::{Failure, FailureFormat};
use flags::UnreadArguments;
use options::Color;
use output::OutputStreams;

/// How a command ended, when nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Exit code 0.
    Well,
    /// Exit code 3: finished, but something differs.
    Differs,
    /// Exit code 130: interrupted, and may be started again.
    Interrupted,
}

impl Outcome {
    /// Whether something differs, where nothing was interrupted.
    fn of(is_well: bool) -> Self {
        if is_well { Self::Well } else { Self::Differs }
    }
}

/// Runs the program with the process's arguments and returns its exit code.
///
/// 0 all is well; 1 failed; 2 wrong usage; 3 finished, but something differs; 130 interrupted.
pub fn run() -> ExitCode {
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    if let Some(exit) = completion::answer(&words) {
        return exit;
    }
    let form = FailureFormat::form_of_arguments(&words);
    let arguments = match flags::parse(&words) {
        Ok(arguments) => arguments,
        // clap answers --help, --version and wrong usage (exit code 2).
        Err(UnreadArguments::Clap(error)) => return usage::print_usage(&usage::explained(error)),
        Err(UnreadArguments::Failure(failure)) => {
            return failed(&OutputStreams::new(Color::Auto), &failure, form);
        }
    };
    start_logging(arguments.global.verbose);
    let output = OutputStreams::new(arguments.global.color);
    if let Err(error) = room_for_files() {
        let failure = Failure::failed(format!("cannot open {FILES} files"))
            .with_cause(&error)
            .with_help("raise the limit: ulimit -n 1024");
        return failed(&output, &failure, form);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            let failure = Failure::failed("cannot start").with_cause(&error);
            return failed(&output, &failure, form);
        }
    };
    let ended = runtime.block_on(dispatch(arguments.command, &output));
    // A driver's thread that still waits for its server must not hold the exit up.
    runtime.shutdown_background();
    match ended {
        Ok(Outcome::Well) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(3),
        Ok(Outcome::Interrupted) => ExitCode::from(failure::INTERRUPTED),
        Err(failure) => failed(&output, &failure, form),
    }
}

/// Files that the smallest command has open at once. The runtime panics where it finds no room for its own.
const FILES: usize = 16;

#[cfg(unix)]
fn room_for_files() -> std::io::Result<()> {
    let open = || std::fs::File::open("/dev/null");
    std::iter::repeat_with(open)
        .take(FILES)
        .collect::<std::io::Result<Vec<_>>>()
        .map(drop)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn room_for_files() -> std::io::Result<()> {
    Ok(())
}

/// Says why a command failed, to people and to programs.
fn failed(output: &OutputStreams, failure: &Failure, form: Option<FailureFormat>) -> ExitCode {
    output.failure(failure);
    if let Some(form) = form
        && output.answer(failure, form).is_err()
    {
        return ExitCode::from(failure::FAILED);
    }
    ExitCode::from(failure.exit)
}

/// Runs a command line of the program's own.
async fn carry_out(
    words: &[std::ffi::OsString],
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    match flags::parse(words) {
        Ok(arguments) => Box::pin(dispatch(arguments.command, output)).await,
        Err(UnreadArguments::Failure(failure)) => Err(failure),
        Err(UnreadArguments::Clap(error)) => Err(Failure::of(&error)),
    }
}

async fn dispatch(command: Command, output: &OutputStreams) -> Result<Outcome, Failure> {
    match command {
        // It goes through most of the others, and its future is as large as theirs together.
        Command::Demo(arguments) => Box::pin(demo::run(arguments, output)).await,
        Command::Init(arguments) => init::run(arguments, output).await,
        Command::Design(arguments) => design::run(arguments, output).await,
        Command::Inspect(arguments) => inspect::run(arguments, output).await,
        Command::Check(arguments) => check::run(arguments, output).await,
        Command::Diff(arguments) => diff::run(arguments, output).await,
        Command::Preview(arguments) => preview::run(arguments, output).await,
        Command::Migrate(arguments) => migrate::run(arguments, output).await,
        Command::Plan(arguments) => plan::run(arguments, output).await,
        Command::Work(arguments) => work::run(arguments, output).await,
        Command::Finish(arguments) => finish::run(arguments, output).await,
        Command::Export(arguments) => export::run(arguments, output).await,
        Command::Verify(arguments) => verify::run(arguments, output).await,
        Command::Query(arguments) => query::run(arguments, output).await,
        Command::Erase(arguments) => erase::run(arguments, output).await,
        Command::Docs(arguments) => docs::run(arguments, output).await,
        Command::Schema => {
            output.json(&crate::mapping::schema())?;
            Ok(Outcome::Well)
        }
        Command::Completions { shell } => {
            output.text(&completion::script(shell)?)?;
            Ok(Outcome::Well)
        }
    }
}

fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    // The SDK tells at TRACE what it sends, items and all. Unasked, what we say ourselves is enough.
    let drivers = match verbose {
        0 => LevelFilter::OFF,
        _ => level.min(LevelFilter::DEBUG),
    };
    let silent = CREDENTIAL_CRATES.map(|name| (name, drivers.min(LevelFilter::WARN)));
    let wanted = Targets::new()
        .with_default(drivers)
        .with_target(env!("CARGO_CRATE_NAME"), level)
        .with_targets(silent);
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(|| output::Stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .finish()
        .with(wanted)
        .init();
}
