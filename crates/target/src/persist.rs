//! Sends a request until it is answered, or as long as [`retry`](crate::retry) says.

use tokio::time::{Instant, sleep};

use crate::Result;
use crate::retry::{Decision, Policy, Retry, RetryWarning};

/// Sends a request, again while its failure is one that passes. `send` sends it once.
pub(crate) async fn persist<T, F: Future<Output = Result<T>>>(
    policy: Policy,
    warning: &RetryWarning,
    send: impl Fn() -> F,
) -> Result<T> {
    let begun = Instant::now();
    let mut retry = Retry::new(policy, fastrand::u64(..));
    loop {
        let error = match send().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let decision = retry.failed(error.class, begun.elapsed());
        warning.after_failure(&retry, decision, &error);
        match decision {
            Decision::Retry(delay) => sleep(delay).await,
            Decision::Split | Decision::Fail => return Err(error),
        }
    }
}
