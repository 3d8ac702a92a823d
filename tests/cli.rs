//! The program as a new user meets it: what goes wrong, what it says, and how it exits.

mod alone;
mod connections;
mod counted;
mod design;
mod diff;
#[cfg(unix)]
mod edges;
mod erase;
mod export;
#[cfg(unix)]
mod failing;
mod first;
mod help;
mod indexes;
mod life;
mod mistakes;
mod preview;
mod query;
mod source;
mod stale;
mod steering;
mod target;
mod updates;
mod verify;
mod wire;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::cli::Ran;

const MAPPING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/personalization.yaml");

/// A copy of the example mapping in a folder of its own, so that loads that run side by side keep
/// states of their own.
fn own_mapping() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = format!(
        "{}/cli-{}-{number}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    std::fs::create_dir_all(&folder).unwrap();
    let file = format!("{folder}/personalization.yaml");
    std::fs::copy(MAPPING, &file).unwrap();
    file
}

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
