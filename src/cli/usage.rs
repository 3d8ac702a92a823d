//! Tips for arguments that are missing, unknown or unreadable: clap only names them.

use std::error::Error;
use std::num::ParseIntError;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::format::printable;
use super::options::NotARegion;
use super::output::write_to_stderr;
use crate::diagnostic::nearest;
use crate::format::address::{AddressFault, without_logins};

/// The tips for missing arguments, each with the beginning of the name that clap prints.
const MISSING_TIPS: &[(&str, &str)] = &[
    (
        "<MAPPING>",
        "`dynafold init --source URL` writes a first mapping",
    ),
    (
        "--target ",
        "targets are `dynamodb`, `local` and `local:FILE`",
    ),
];

/// Options to which other tools give other names, such as `--database`.
const RENAMED_OPTIONS: [&str; 4] = ["source", "target", "output", "deny-warnings"];

/// The tip for an unknown argument. It replaces clap's, which is to write the argument as a value.
fn unknown_tip(word: &str) -> String {
    match word.strip_prefix("--") {
        None if word.starts_with('-') => "--help lists the options".to_owned(),
        None if word.contains(':') => "name a database with --source URL".to_owned(),
        None => {
            "a command takes one mapping, and options; name a database with --source URL".to_owned()
        }
        Some("mapping") => "write the mapping file without an option".to_owned(),
        Some(option) => match nearest(option, RENAMED_OPTIONS) {
            Some(near) => format!("did you mean '--{near}'? --help lists the options"),
            None => "--help lists the options".to_owned(),
        },
    }
}

/// The tip for a URL where a file is expected: the option that takes such a URL.
fn misplaced_url_tip(url: &str) -> &'static str {
    match url.split(':').next() {
        Some("s3") => {
            "s3://BUCKET/PREFIX goes with `export --to`, `plan --to` and `migrate --route`"
        }
        Some("http" | "https") => "name an endpoint with --endpoint-url URL",
        _ => "name a database with --source URL",
    }
}

fn tips(error: &clap::Error) -> Vec<StyledStr> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) => {
            let is_near = match error.get(ContextKind::SuggestedArg) {
                Some(ContextValue::String(suggested)) => {
                    nearest(word, [suggested.as_str()]).is_some()
                }
                _ => false,
            };
            let tip = (!is_near).then(|| unknown_tip(word).into());
            tip.into_iter().collect()
        }
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => {
            let is_missing = |name: &str| missing.iter().any(|each| each.starts_with(name));
            let tips = MISSING_TIPS.iter().filter(|(name, _)| is_missing(name));
            tips.map(|(_, tip)| (*tip).into()).collect()
        }
        _ if error.source().is_some_and(<dyn Error>::is::<ParseIntError>) => {
            vec!["write a whole number".into()]
        }
        _ if error.source().is_some_and(<dyn Error>::is::<AddressFault>) => {
            let given = error.get(ContextKind::InvalidValue);
            let tip = given.and_then(|given| match given {
                ContextValue::String(url) => Some(misplaced_url_tip(url).into()),
                _ => None,
            });
            tip.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The same error with our tips, if there are any, in place of clap's, and without a value that may be a secret.
pub(super) fn explained(mut error: clap::Error) -> clap::Error {
    if error.source().is_some_and(<dyn Error>::is::<NotARegion>) {
        let hidden = ContextValue::String("…".to_owned());
        error.insert(ContextKind::InvalidValue, hidden);
    }
    let tips = tips(&error);
    if !tips.is_empty() {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Prints clap's message. It may quote an argument that holds control characters or a URL with a password: then the
/// message is printed without these, and without colours.
pub(super) fn print_usage(error: &clap::Error) -> ExitCode {
    let message = error.render().to_string();
    let text = without_logins(&message);
    if error.use_stderr() && printable(&text) != message {
        write_to_stderr(text.trim_end());
    } else {
        // If the stream is closed, nobody reads the message.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(super::failure::FAILED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options::region;

    #[test]
    fn what_is_no_region_is_not_shown() {
        let region = clap::Arg::new("region").long("region").value_parser(region);
        let command = clap::Command::new("dynafold").arg(region);
        let error = command.try_get_matches_from(["dynafold", "--region", "wJalr/Xutn"]);
        let text = explained(error.unwrap_err()).to_string();
        assert!(!text.contains("Xutn"), "{text}");
        assert!(text.contains("eu-west-1"), "{text}");
    }

    #[test]
    fn a_short_option_that_is_not_known_is_no_mapping() {
        assert_eq!(unknown_tip("-x"), "--help lists the options");
    }
}
