//! How a user ends what takes long: by a signal, once or twice.

use super::failure::INTERRUPTED;
use super::output::write_to_stderr;
use crate::load::Cancel;

/// What the first Ctrl-C or SIGTERM cancels, so that what is in flight is finished and reported. The second ends the program
/// at once.
pub(super) fn stop_on_signals() -> Cancel {
    let cancel = Cancel::default();
    let cancelled = cancel.clone();
    tokio::spawn(async move {
        stop_signal().await;
        cancelled.cancel();
        write_to_stderr(
            "stopping when the requests in flight are done; interrupt again to stop at once",
        );
        stop_signal().await;
        #[expect(
            clippy::exit,
            reason = "the user asked twice; every answered write is safe"
        )]
        std::process::exit(INTERRUPTED.into());
    });
    cancel
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    drop(tokio::signal::ctrl_c().await);
}
