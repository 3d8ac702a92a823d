//! The program as a new user meets it: what goes wrong, what it says, and how it exits.

mod help;
mod life;
mod preview;
mod source;
mod target;
mod verify;

use crate::support::cli::Ran;

const MAPPING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/personalization.yaml");

/// Asserts one clear message: exactly one `error:` that holds `message`, and a `help:` with `mend`.
#[track_caller]
fn says(ran: &Ran, message: &str, mend: &str) {
    let errors: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "{}", ran.stderr);
    assert!(
        errors[0].contains(message),
        "wanted {message:?} in\n{}",
        ran.stderr
    );
    let helps: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("   help: "))
        .collect();
    assert!(
        helps.len() == 1 && helps[0].contains(mend),
        "wanted {mend:?} as help in\n{}",
        ran.stderr
    );
}
