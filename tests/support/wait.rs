//! Waiting for what happens elsewhere, a file, a process or a server: asked again and again, for a bounded time.

use std::time::{Duration, Instant};

/// How long a test waits for what must come. One that waits in vain fails, and not all of them.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Pauses between two looks, each double the one before.
fn pauses() -> impl Iterator<Item = Duration> {
    let longest = Duration::from_millis(5);
    std::iter::successors(Some(Duration::from_millis(1)), move |pause| {
        Some((*pause * 2).min(longest))
    })
}

/// Whether something comes to be so within a time. It blocks its thread.
pub(crate) fn comes(within: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    for pause in pauses() {
        if is_so() {
            return true;
        }
        if begun.elapsed() > within {
            break;
        }
        std::thread::sleep(pause);
    }
    false
}

/// The same, for what is asked in tasks.
pub(crate) async fn comes_to(within: Duration, mut is_so: impl AsyncFnMut() -> bool) -> bool {
    let begun = Instant::now();
    for pause in pauses() {
        if is_so().await {
            return true;
        }
        if begun.elapsed() > within {
            break;
        }
        tokio::time::sleep(pause).await;
    }
    false
}
