//! Says what to do about a missing argument: clap only says that it is missing.

use clap::error::{ContextKind, ContextValue, ErrorKind};

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
