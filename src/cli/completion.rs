//! Shell completion: the script of a shell calls the program, which knows its own commands and, of
//! the mapping that the line names, the access patterns and their parameters.
//!
//! No database is asked, and nothing is printed but what may follow: a mapping that is not there or
//! has faults offers no patterns.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Command as Clap, CommandFactory as _};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate, Shell};

use super::args::Arguments;
use super::failure::{FAILED, Failure};
use super::flags::{named_query, with_parameters};
use super::query::patterns::{QueryContext, outlined};
use crate::mapping::model::AccessPattern;

/// Names the shell that asks, in the environment that its script makes.
const VARIABLE: &str = "DYNAFOLD_COMPLETE";
const PROGRAM: &str = "dynafold";

/// The script by which a shell asks.
pub(super) fn script(shell: Shell) -> Result<String, Failure> {
    let shells = Shells::builtins();
    let unknown = || Failure::usage(format!("there is no completion for {shell}"));
    let completer = shells.completer(&shell.to_string()).ok_or_else(unknown)?;
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .map_err(|error| Failure::failed("the script cannot be written").with_cause(&error))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Answers a shell that asks what may follow on a line; `None` when none asks.
pub(super) fn answer(words: &[OsString]) -> Option<ExitCode> {
    // The line stands behind the first `--`.
    let line = || words.iter().skip_while(|word| *word != "--").skip(1);
    let shell = CompleteEnv::with_factory(|| command(&line().cloned().collect::<Vec<_>>()));
    let folder = std::env::current_dir().ok();
    match shell
        .var(VARIABLE)
        .try_complete(words.iter().cloned(), folder.as_deref())
    {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::from(FAILED)),
    }
}

/// The command line's grammar, with what the mapping of an unfinished line adds to it.
fn command(line: &[OsString]) -> Clap {
    let command = Arguments::command();
    let Some(named) = named_query(line, &command) else {
        return command;
    };
    let mapping = expanded(&named.mapping);
    let Ok(query_context) = outlined(&mapping, None) else {
        return command;
    };
    let mut patterns = query_context.patterns.iter();
    let found = patterns.find(|pattern| named.pattern.as_deref() == Some(&pattern.name));
    let command = match found {
        Some(pattern) => with_parameters(command, &named.mapping, pattern),
        None => command,
    };
    let command = with_candidates(command, &query_context, found);
    match named.pattern.as_deref() {
        // The pattern comes next, and options can wait.
        Some("") => without_options(command),
        _ => command,
    }
}

/// A path as the shell would expand it.
fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The command with the patterns as values of its argument, and the parameters of one as those of
/// `--param`.
fn with_candidates(
    command: Clap,
    query_context: &QueryContext,
    found: Option<&AccessPattern>,
) -> Clap {
    let patterns = query_context.patterns.iter();
    let patterns = patterns.map(|pattern| (pattern.name.to_string(), pattern.description.clone()));
    let parameters = found.into_iter().flat_map(|pattern| &pattern.parameters);
    let parameters = parameters.map(|parameter| (format!("{}=", parameter.name), None));
    let (patterns, parameters) = (patterns.collect(), parameters.collect());
    command.mut_subcommand("query", |query| {
        query
            .mut_arg("pattern", |arg| arg.add(candidates(patterns)))
            .mut_arg("params", |arg| arg.add(candidates(parameters)))
    })
}

/// Values with what they are for, in this order.
fn candidates(values: Vec<(String, Option<String>)>) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let values = values.iter().enumerate().map(|(at, (value, help))| {
            CompletionCandidate::new(value)
                .help(help.clone().map(Into::into))
                .display_order(Some(at))
        });
        values.collect()
    })
}

/// The command with no option of `query` to show.
fn without_options(command: Clap) -> Clap {
    command
        .mut_args(|arg| arg.hide(true))
        .mut_subcommand("query", |query| {
            query
                .mut_args(|arg| arg.hide(true))
                .disable_help_flag(true)
                .disable_version_flag(true)
        })
}
