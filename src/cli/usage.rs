//! Says what to do about an argument that is missing or not known: clap only says so.

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

/// How a missing argument's name begins, and the tip for it.
const TIPS: &[(&str, &str)] = &[
    (
        "<MAPPING>",
        "`dynafold init --source URL` writes a first mapping",
    ),
    (
        "--target ",
        "targets are `dynamodb`, `local` and `local:FILE`",
    ),
];

/// Options that other tools call otherwise.
const OPTIONS: [&str; 4] = ["source", "target", "output", "deny-warnings"];

/// The tip for an argument that is not known; that it could be written as a value helps nobody.
fn unknown(word: &str) -> String {
    match word.strip_prefix("--") {
        None if word.starts_with('-') => "--help lists the options".to_owned(),
        None if word.contains(':') => "name a database with --source URL".to_owned(),
        None => {
            "a command takes one mapping, and options; name a database with --source URL".to_owned()
        }
        Some("mapping") => "write the mapping file without an option".to_owned(),
        Some(option) => match nearest(option, OPTIONS) {
            Some(near) => format!("did you mean '--{near}'? --help lists the options"),
            None => "--help lists the options".to_owned(),
        },
    }
}

/// The tip for a URL in the place of a file's name: which option takes it.
fn misplaced(url: &str) -> &'static str {
    match url.split(':').next() {
        Some("s3") => {
            "s3://BUCKET/PREFIX goes with `export --to`, `plan --to` and `migrate --route`"
        }
        Some("http" | "https") => "name an endpoint with --endpoint-url URL",
        _ => "name a database with --source URL",
    }
}

/// The tips for an error that has some: for each missing argument, for one that is not known, for a number, for a file.
fn tips(error: &clap::Error) -> Vec<StyledStr> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) => {
            let is_near = match error.get(ContextKind::SuggestedArg) {
                Some(ContextValue::String(suggested)) => {
                    nearest(word, [suggested.as_str()]).is_some()
                }
                _ => false,
            };
            let tip = (!is_near).then(|| unknown(word).into());
            tip.into_iter().collect()
        }
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => {
            let is_missing = |name: &str| missing.iter().any(|each| each.starts_with(name));
            let tips = TIPS.iter().filter(|(name, _)| is_missing(name));
            tips.map(|(_, tip)| (*tip).into()).collect()
        }
        _ if error.source().is_some_and(<dyn Error>::is::<ParseIntError>) => {
            vec!["write a whole number".into()]
        }
        _ if error.source().is_some_and(<dyn Error>::is::<AddressFault>) => {
            let given = error.get(ContextKind::InvalidValue);
            let tip = given.and_then(|given| match given {
                ContextValue::String(url) => Some(misplaced(url).into()),
                _ => None,
            });
            tip.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The same error, with our tips in place of clap's where we have some, and without what may be a secret.
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

/// Prints what clap has to say. Its words may hold an argument as it was given: one that steers the terminal, or a URL with a
/// password. Then they go without colours, and without either.
pub(super) fn print_usage(error: &clap::Error) -> ExitCode {
    let words = error.render().to_string();
    let text = without_logins(&words);
    if error.use_stderr() && printable(&text) != words {
        write_to_stderr(text.trim_end());
    } else {
        // Where nobody listens any more, it is lost.
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
        assert_eq!(unknown("-x"), "--help lists the options");
    }
}
