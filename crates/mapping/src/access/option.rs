//! How a parameter is given to `query`: as an option of its own, unless one of the command has its
//! name.

use dynafold_format::shell_word;

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
pub fn has_option(name: &str) -> bool {
    !OPTIONS.contains(&name) && !name.contains(['=', ' '])
}

/// How a parameter is given in a shell, with `value`, itself a shell's word, in the place of its value:
/// `--userId 7`, or `--param now=7`.
pub fn given(name: &str, value: &str) -> String {
    if has_option(name) {
        format!("{} {value}", shell_word(&format!("--{name}")))
    } else {
        format!("--param {}{value}", shell_word(&format!("{name}=")))
    }
}
