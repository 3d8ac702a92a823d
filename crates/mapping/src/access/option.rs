//! How a parameter is given to `query`: as an option of its own, unless one of the command has its
//! name.

/// The long options that `query` has for every pattern.
pub const OPTIONS: [&str; 18] = [
    "all",
    "catalog",
    "color",
    "endpoint-url",
    "explain",
    "format",
    "help",
    "keys",
    "now",
    "param",
    "profile",
    "region",
    "repeat",
    "source",
    "target",
    "verbose",
    "version",
    "wide",
];

/// Whether a parameter of this name has an option of its own.
#[must_use]
pub fn has_option(name: &str) -> bool {
    !OPTIONS.contains(&name) && !name.contains(['=', ' '])
}

/// How a parameter is given, with `value` in the place of its value: `--userId 7`, or `--param now=7`.
#[must_use]
pub fn given(name: &str, value: &str) -> String {
    if has_option(name) {
        format!("--{name} {value}")
    } else {
        format!("--param {name}={value}")
    }
}
