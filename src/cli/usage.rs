//! Says what to do about a missing argument: clap only says that it is missing.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::format::printable;
use super::output::tell;

/// How a missing argument's name begins, and the tip for it.
const TIPS: &[(&str, &str)] = &[
    (
        "<MAPPING>",
        "`dynafold init --source URL` writes a starter mapping",
    ),
    (
        "--target ",
        "targets are `dynamodb`, `local` and `local:FILE`",
    ),
];

/// The same error, with a tip for each missing argument that has one.
pub(super) fn explained(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return error;
    }
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_missing = |name: &str| missing.iter().any(|each| each.starts_with(name));
    let tips = TIPS.iter().filter(|(name, _)| is_missing(name));
    let tips: Vec<_> = tips.map(|(_, tip)| (*tip).into()).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Prints what clap has to say. Its words may hold an argument as it was given: then they go without colours.
pub(super) fn told(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() && printable(&text) != text {
        tell(text.trim_end());
    } else {
        // Where nobody listens any more, it is lost.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(super::failure::FAILED))
}
