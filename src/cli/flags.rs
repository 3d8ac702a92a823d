//! The parameters of an access pattern as options of `query`. The mapping is read before the command line, so that clap
//! knows these options, checks them and lists them in `--help`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, ArgAction, Command as Clap, CommandFactory as _, FromArgMatches as _};

use super::query::patterns;
use crate::access::has_option;
use crate::cli::args::{Arguments, Command};
use crate::cli::failure::Failure;
use crate::cli::options::{Color, with_paths};
use crate::cli::output::OutputStreams;
use crate::format::address;
use crate::mapping::model::{AccessPattern, Parameter, ParameterKind};
use crate::value::TimeKind;

/// Why the command line was not read.
pub(in crate::cli) enum UnreadArguments {
    /// clap ends it: wrong usage, `--help`, `--version`.
    Clap(clap::Error),
    /// The mapping cannot be read, or has no such pattern.
    Failure(Failure),
}

impl From<clap::Error> for UnreadArguments {
    fn from(error: clap::Error) -> Self {
        Self::Clap(error)
    }
}

/// Reads a command line.
pub(in crate::cli) fn parse(words: &[OsString]) -> Result<Arguments, UnreadArguments> {
    let mut command = with_paths(Arguments::command());
    let mut pattern = None;
    let is_file = |named: &NamedQuery| address::check_file(&named.mapping).is_ok();
    if let Some(named) = named_query(words, &command).filter(is_file) {
        let output = OutputStreams::new(Color::Auto);
        match patterns::outlined(Path::new(&named.mapping), Some(&output)) {
            Ok(query_context) => match &named.pattern {
                Some(name) => {
                    let found = query_context.find(name).map_err(UnreadArguments::Failure)?;
                    command = with_parameters(command, &named.mapping, found);
                    pattern = Some(found.clone());
                }
                None => {
                    let list = patterns::list(&query_context);
                    command = with_note(command, format!("Access patterns:\n{list}"));
                }
            },
            // The help of the command itself needs no mapping.
            Err(failure) if words.iter().any(|word| word == "--help" || word == "-h") => {
                let why = failure.one_line();
                let note = format!("the mapping's access patterns are not listed: {why}");
                command = with_note(command, note);
            }
            Err(failure) => return Err(UnreadArguments::Failure(failure)),
        }
    }
    let matches = command.try_get_matches_from(words)?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    if let (Command::Query(query), Some(pattern)) = (&mut arguments.command, &pattern)
        && let Some(matches) = matches.subcommand_matches("query")
    {
        for parameter in &pattern.parameters {
            let value = matches.try_get_one::<String>(&id(parameter));
            if let Ok(Some(value)) = value {
                query
                    .given
                    .push((parameter.name.to_string(), value.clone()));
            }
        }
    }
    Ok(arguments)
}

/// The mapping and the access pattern that a command line of `query` names.
pub(in crate::cli) struct NamedQuery {
    /// The mapping's path.
    pub(in crate::cli) mapping: String,
    pub(in crate::cli) pattern: Option<String>,
}

/// Finds the words that are neither options nor values of options. The options of parameters are not known yet: the word
/// after an unknown option is taken for its value. `None` for another command, or without a mapping.
pub(in crate::cli) fn named_query(words: &[OsString], command: &Clap) -> Option<NamedQuery> {
    let query = command.find_subcommand("query")?;
    let takes_value = |option: &str| {
        let of = |arg: &&Arg| match (option.strip_prefix("--"), option.strip_prefix('-')) {
            (Some(long), _) => arg.get_long() == Some(long),
            (None, Some(short)) => arg.get_short().is_some_and(|c| short.ends_with(c)),
            (None, None) => false,
        };
        let mut known = query.get_arguments().chain(command.get_arguments());
        let is_flag = matches!(option, "--help" | "-h" | "--version" | "-V");
        let short_value = option.len() > 2 && !option.starts_with("--");
        match known.find(of) {
            Some(arg) => matches!(arg.get_action(), ArgAction::Set | ArgAction::Append),
            None => !is_flag && !short_value,
        }
    };
    let mut names = Vec::new();
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--" {
            names.extend(words.by_ref().map(Cow::into_owned));
        } else if word.len() > 1 && word.starts_with('-') {
            if !word.contains('=') && takes_value(&word) {
                words.next();
            }
        } else {
            names.push(word.into_owned());
        }
    }
    let mut names = names.into_iter();
    names.next().filter(|command| command == "query")?;
    Some(NamedQuery {
        mapping: names.next()?,
        pattern: names.next(),
    })
}

/// The id of a parameter's option in clap.
fn id(parameter: &Parameter) -> String {
    format!("parameter {}", parameter.name)
}

/// The heading, in `--help`, of the options that every pattern has.
const COMMON_HEADING: &str = "Options";

/// The command with an option for each parameter, before all others. A parameter whose name is that of an option gets none:
/// it is given with `--param`.
pub(in crate::cli) fn with_parameters(
    command: Clap,
    mapping: &str,
    pattern: &AccessPattern,
) -> Clap {
    let about = pattern
        .description
        .clone()
        .unwrap_or_else(|| format!("Asks `{}`", pattern.name));
    let usage = format!(
        "{} query {mapping} {} [OPTIONS]",
        command.get_name(),
        patterns::synopsis(pattern)
    );
    let common = |arg: Arg| arg.help_heading(COMMON_HEADING);
    command.mut_args(common).mut_subcommand("query", |query| {
        let (options, others): (Vec<&Parameter>, Vec<&Parameter>) = pattern
            .parameters
            .iter()
            .partition(|parameter| has_option(&parameter.name));
        let notes = others.iter().map(|parameter| {
            let name = &parameter.name;
            format!(
                "the parameter `{name}` has the name of an option: give it as --param {name}=VALUE"
            )
        });
        let notes: Vec<String> = notes.collect();
        let fixed = query.get_arguments().cloned().map(|arg| {
            if arg.is_positional() {
                arg.hide(true)
            } else {
                common(arg)
            }
        });
        // clap orders headings by their first option, so its own `--help` and `--version` would put theirs first.
        let help = Arg::new("help").short('h').action(ArgAction::Help);
        let version = Arg::new("version").short('V').action(ArgAction::Version);
        Clap::new("query")
            .about(about)
            .override_usage(usage)
            .args(options.into_iter().map(option))
            .args(fixed)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .arg(common(help.long("help").help("Print help")))
            .arg(common(version.long("version").help("Print version")))
            .after_help(notes.join("\n"))
    })
}

/// The option by which a parameter is given.
fn option(parameter: &Parameter) -> Arg {
    Arg::new(id(parameter))
        .long(parameter.name.to_string())
        .value_name(parameter.kind.placeholder())
        .allow_hyphen_values(true)
        .help(help(parameter))
        .help_heading("Parameters")
}

/// The help text of a parameter's option: the kind of value, and the default.
fn help(parameter: &Parameter) -> String {
    let kind = match parameter.kind {
        ParameterKind::Text => "Text, as it is",
        ParameterKind::Number => "A number",
        ParameterKind::Boolean => "true or false",
        ParameterKind::Time(Some((TimeKind::Date, _))) => "A date: 2026-01-31",
        ParameterKind::Time(Some((TimeKind::TimeOfDay | TimeKind::TimeOfDayWithOffset, _))) => {
            "A time of day: 14:05:00"
        }
        ParameterKind::Time(_) => "A date or time: 2026-01-31T14:05:00",
        ParameterKind::Binary => "Bytes in base64",
        ParameterKind::Hex => "Bytes in hexadecimal digits",
    };
    match &parameter.from_clock {
        Some(template) => format!("{kind} [default: {template}]"),
        None => kind.to_owned(),
    }
}

/// The command with a text at the end of the help of `query`: the mapping's patterns, or why they are not listed.
fn with_note(command: Clap, note: String) -> Clap {
    command.mut_subcommand("query", |query| query.after_help(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Option<(String, Option<String>)> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let named = named_query(&words, &Arguments::command())?;
        Some((named.mapping, named.pattern))
    }

    #[test]
    fn a_parameter_never_takes_the_name_of_an_option() {
        let command = Arguments::command();
        let query = command.find_subcommand("query").unwrap();
        let all = query.get_arguments().chain(command.get_arguments());
        let mut names: Vec<&str> = all.filter_map(Arg::get_long).collect();
        names.extend(["help", "version"]);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, crate::access::OPTIONS);
    }

    #[test]
    fn mapping_and_pattern_are_found_wherever_they_stand() {
        let wanted = Some(("m.yaml".to_owned(), Some("p".to_owned())));
        for line in [
            "dynafold query m.yaml p --userId 7",
            "dynafold query m.yaml --userId 7 p",
            "dynafold query --userId=7 --all m.yaml p",
            "dynafold --color never -v query --target local:x m.yaml -p a=b p --explain",
            "dynafold query m.yaml --format json -- p",
        ] {
            assert_eq!(names(line), wanted, "{line}");
        }
        assert_eq!(
            names("dynafold query m.yaml"),
            Some(("m.yaml".to_owned(), None))
        );
        assert_eq!(names("dynafold check m.yaml"), None);
        assert_eq!(names("dynafold query --all"), None);
    }
}
