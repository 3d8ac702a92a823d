//! When to send a batch again. Pure: the caller gives the random seed and the elapsed time.
//!
//! Delays are exponential with full jitter: uniform between zero and a cap that doubles with every second failure, up to
//! a ceiling. (If it doubled with every failure, one batch that fails five times by chance would hold up the end of a
//! short load.) A batch has one deadline, counted from its first sending. The SDK's own retries are off for writes, so
//! these are the only ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dynafold_format::with_causes;

use crate::{ErrorClass, TargetError};

/// Failures in a row before the warning: about three seconds of delays, by the default policy.
const FAILURES_BEFORE_WARNING: u32 = 14;

/// Warns once of requests that keep failing, so that nobody waits for minutes without a word.
#[derive(Debug, Default)]
pub struct RetryWarning(AtomicBool);

impl RetryWarning {
    /// Warns if this batch has failed too often, and is sent again.
    pub fn after_failure(&self, retry: &Retry, decision: Decision, error: &TargetError) {
        if matches!(decision, Decision::Retry(_))
            && retry.failures >= FAILURES_BEFORE_WARNING
            && !self.0.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("{}; retrying for some minutes", with_causes(error));
        }
    }
}

/// How long to wait between attempts, and when to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The cap of the first delay; it doubles with every second failure.
    pub base: Duration,
    /// The most that any delay can be.
    pub ceiling: Duration,
    /// How long after its first sending a batch may still be sent.
    pub deadline: Duration,
}

impl Default for Policy {
    /// Survives a network cut, or a throttled table, of some minutes.
    fn default() -> Self {
        Self {
            base: Duration::from_millis(25),
            ceiling: Duration::from_secs(10),
            deadline: Duration::from_mins(10),
        }
    }
}

/// What to do with a batch that was not wholly written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Send what is left again after this delay.
    Retry(Duration),
    /// Send each half alone, until the refused item is found.
    Split,
    /// Give up.
    Fail,
}

/// The retries of one batch.
#[derive(Debug, Clone)]
pub struct Retry {
    policy: Policy,
    failures: u32,
    random: fastrand::Rng,
}

impl Policy {
    /// The delay after a number of failures in a row, counted from 0. `jitter` is between 0 and 1.
    pub fn delay(&self, failures: u32, jitter: f64) -> Duration {
        let factor = 1_u32.checked_shl(failures / 2).unwrap_or(u32::MAX);
        let cap = self.base.saturating_mul(factor).min(self.ceiling);
        cap.mul_f64(jitter.clamp(0.0, 1.0))
    }
}

impl Retry {
    /// A batch that has not failed yet.
    pub fn new(policy: Policy, seed: u64) -> Self {
        Self {
            policy,
            failures: 0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Decides after an error. `elapsed`: since the batch was first sent.
    pub fn failed(&mut self, class: ErrorClass, elapsed: Duration) -> Decision {
        match class {
            ErrorClass::Throttle | ErrorClass::Transient => self.retry_or_fail(elapsed),
            ErrorClass::Invalid => Decision::Split,
            ErrorClass::Fatal => Decision::Fail,
        }
    }

    /// Decides after an answer that left items unprocessed. Where others were written (`progress`),
    /// they are sent again without a delay: the table takes items, and the throttle decides how many.
    pub fn unprocessed(&mut self, progress: bool, elapsed: Duration) -> Decision {
        if progress && elapsed < self.policy.deadline {
            self.failures = 0;
            return Decision::Retry(Duration::ZERO);
        }
        self.retry_or_fail(elapsed)
    }

    fn retry_or_fail(&mut self, elapsed: Duration) -> Decision {
        let left = self.policy.deadline.saturating_sub(elapsed);
        if left.is_zero() {
            return Decision::Fail;
        }
        let delay = self.policy.delay(self.failures, self.random.f64());
        self.failures = self.failures.saturating_add(1);
        // The last attempt is made at the deadline, not given up before it.
        Decision::Retry(delay.min(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetErrorKind;

    const POLICY: Policy = Policy {
        base: Duration::from_millis(100),
        ceiling: Duration::from_secs(5),
        deadline: Duration::from_mins(1),
    };

    fn millis(delays: impl Iterator<Item = Duration>) -> Vec<u128> {
        delays.map(|delay| delay.as_millis()).collect()
    }

    #[test]
    fn caps_double_up_to_the_ceiling() {
        let caps = millis(
            (0..14)
                .step_by(2)
                .map(|failures| POLICY.delay(failures, 1.0)),
        );
        assert_eq!(caps, [100, 200, 400, 800, 1600, 3200, 5000]);
        assert_eq!(POLICY.delay(5, 1.0), POLICY.delay(4, 1.0));
        assert_eq!(POLICY.delay(62, 1.0), POLICY.ceiling);
        assert_eq!(POLICY.delay(u32::MAX, 1.0), POLICY.ceiling);
    }

    #[test]
    fn jitter_is_full() {
        assert_eq!(POLICY.delay(5, 0.0), Duration::ZERO);
        assert_eq!(POLICY.delay(5, 0.25), Duration::from_millis(100));
        assert_eq!(POLICY.delay(5, 0.5), Duration::from_millis(200));
    }

    #[test]
    fn one_seed_gives_one_sequence_within_the_caps() {
        let sequence = |seed| {
            let mut retry = Retry::new(POLICY, seed);
            (0..10)
                .map(|_| retry.failed(ErrorClass::Throttle, Duration::ZERO))
                .collect::<Vec<_>>()
        };
        assert_eq!(sequence(7), sequence(7));
        assert_ne!(sequence(7), sequence(8));
        for (failures, decision) in (0_u32..).zip(sequence(7)) {
            let Decision::Retry(delay) = decision else {
                panic!("{decision:?}")
            };
            assert!(delay <= POLICY.delay(failures, 1.0));
        }
    }

    #[test]
    fn the_deadline_shortens_the_last_delay_and_then_ends_it() {
        let mut retry = Retry::new(POLICY, 1);
        for _ in 0..20 {
            let almost = POLICY.deadline.saturating_sub(Duration::from_micros(1));
            let Decision::Retry(delay) = retry.failed(ErrorClass::Transient, almost) else {
                panic!("gave up too early")
            };
            assert!(delay <= Duration::from_micros(1));
        }
        assert_eq!(
            retry.failed(ErrorClass::Transient, POLICY.deadline),
            Decision::Fail
        );
        assert_eq!(retry.unprocessed(true, POLICY.deadline), Decision::Fail);
    }

    #[test]
    fn progress_resets_the_delays() {
        let mut retry = Retry::new(POLICY, 3);
        for _ in 0..10 {
            retry.unprocessed(false, Duration::ZERO);
        }
        let Decision::Retry(delay) = retry.unprocessed(true, Duration::ZERO) else {
            panic!("gave up")
        };
        assert_eq!(delay, Duration::ZERO);
        let Decision::Retry(delay) = retry.unprocessed(false, Duration::ZERO) else {
            panic!("gave up")
        };
        assert!(delay <= POLICY.base);
    }

    #[test]
    fn a_batch_that_was_left_unprocessed_and_then_fails_is_warned_of_if_it_is_retried() {
        let is_warned = |unprocessed: u32, class: ErrorClass| {
            let warning = RetryWarning::default();
            let error =
                TargetError::new(TargetErrorKind::Other, class, "Code", "cut off".to_owned());
            let mut retry = Retry::new(POLICY, 1);
            for _ in 0..unprocessed {
                retry.unprocessed(false, Duration::ZERO);
            }
            let decision = retry.failed(class, Duration::ZERO);
            warning.after_failure(&retry, decision, &error);
            warning.0.load(Ordering::Relaxed)
        };
        assert!(!is_warned(0, ErrorClass::Transient));
        assert!(is_warned(FAILURES_BEFORE_WARNING, ErrorClass::Transient));
        assert!(!is_warned(FAILURES_BEFORE_WARNING, ErrorClass::Fatal));
    }

    #[test]
    fn classes_decide() {
        let mut retry = Retry::new(POLICY, 1);
        assert_eq!(
            retry.failed(ErrorClass::Invalid, Duration::ZERO),
            Decision::Split
        );
        assert_eq!(
            retry.failed(ErrorClass::Fatal, Duration::ZERO),
            Decision::Fail
        );
    }
}
