//! How many requests may read by key at the same time: as many as the table answers.
//!
//! A read that leaves keys unprocessed, or is refused, halves how many may be under way; answers
//! that are whole raise it again, one for each round. A request keeps its place until all its keys
//! are read. So where reading is slow, those that began first end first.

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// Requests under way at most; beyond them nothing is gained.
const MAX_IN_FLIGHT: f64 = 64.0;
/// Between two halvings: those that were under way at the first say nothing new.
const HALVING_INTERVAL: Duration = Duration::from_millis(200);

/// Bounds the reads by key of a target.
#[derive(Debug)]
pub(super) struct ReadLimiter {
    inner: Mutex<ReadLimiterState>,
    slot_freed: Notify,
}

#[derive(Debug)]
struct ReadLimiterState {
    /// Requests that may be under way, rounded down: each whole answer adds its share of one.
    limit: f64,
    under_way: u32,
    last_halved: Option<Instant>,
    /// When keys were last read.
    last_read: Option<Instant>,
}

impl Default for ReadLimiter {
    fn default() -> Self {
        Self {
            inner: Mutex::new(ReadLimiterState {
                limit: MAX_IN_FLIGHT,
                under_way: 0,
                last_halved: None,
                last_read: None,
            }),
            slot_freed: Notify::new(),
        }
    }
}

/// Lets one request read. Another may read when this is dropped.
#[derive(Debug)]
pub(super) struct ReadPermit<'c>(&'c ReadLimiter);

impl ReadLimiter {
    /// Waits until one more request may read.
    pub(super) async fn enter(&self) -> ReadPermit<'_> {
        loop {
            let freed = self.slot_freed.notified();
            {
                let mut inner = self.inner.lock();
                if f64::from(inner.under_way) < inner.limit.floor() {
                    inner.under_way += 1;
                    return ReadPermit(self);
                }
            }
            freed.await;
        }
    }

    /// Takes note that keys were read. `whole`: all that a request asked for.
    pub(super) fn record_read(&self, whole: bool) {
        let mut inner = self.inner.lock();
        inner.last_read = Some(Instant::now());
        if whole && inner.limit < MAX_IN_FLIGHT {
            inner.limit = (inner.limit + 1.0 / inner.limit).min(MAX_IN_FLIGHT);
            drop(inner);
            self.slot_freed.notify_one();
        }
    }

    /// Takes note that keys were left unprocessed, or a request was refused.
    pub(super) fn record_refusal(&self) {
        let mut inner = self.inner.lock();
        let now = Instant::now();
        if inner
            .last_halved
            .is_none_or(|at| now - at >= HALVING_INTERVAL)
        {
            inner.last_halved = Some(now);
            // Half of those that are under way: the limit may be far above them.
            let under_way = f64::from(inner.under_way.max(1));
            inner.limit = (inner.limit.min(under_way) / 2.0).max(1.0);
        }
    }

    /// How long no request has read anything, at most since `begun`.
    pub(super) fn idle(&self, begun: Instant) -> Duration {
        let last_read = self.inner.lock().last_read;
        last_read.map_or(begun, |at| at.max(begun)).elapsed()
    }
}

impl Drop for ReadPermit<'_> {
    fn drop(&mut self) {
        self.0.inner.lock().under_way -= 1;
        self.0.slot_freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn entered(limiter: &ReadLimiter, requests: usize) -> Vec<ReadPermit<'_>> {
        let mut permits = Vec::new();
        for _ in 0..requests {
            permits.push(limiter.enter().await);
        }
        permits
    }

    async fn waits(limiter: &ReadLimiter) -> bool {
        let further = tokio::time::timeout(Duration::from_secs(1), limiter.enter());
        further.await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_at_one_time_halve_the_requests_under_way_once() {
        let limiter = ReadLimiter::default();
        let mut permits = entered(&limiter, 8).await;
        limiter.record_refusal();
        limiter.record_refusal();
        assert_eq!(limiter.inner.lock().limit.to_bits(), 4.0_f64.to_bits());
        permits.truncate(4);
        assert!(waits(&limiter).await);
        permits.truncate(3);
        assert!(!waits(&limiter).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_round_of_whole_answers_lets_one_more_request_read() {
        let limiter = ReadLimiter::default();
        let mut permits = entered(&limiter, 8).await;
        limiter.record_refusal();
        permits.truncate(4);
        for _ in 0..5 {
            limiter.record_read(true);
        }
        permits.push(limiter.enter().await);
        assert!(waits(&limiter).await);
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_may_always_read() {
        let limiter = ReadLimiter::default();
        for _ in 0..20 {
            limiter.record_refusal();
            tokio::time::sleep(HALVING_INTERVAL).await;
        }
        let _one = limiter.enter().await;
        assert!(waits(&limiter).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_waits_while_others_read_is_not_idle() {
        let limiter = ReadLimiter::default();
        let begun = Instant::now();
        tokio::time::sleep(Duration::from_mins(1)).await;
        limiter.record_read(false);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(limiter.idle(begun), Duration::from_secs(5));
        let later = Instant::now();
        assert_eq!(limiter.idle(later), Duration::ZERO);
    }
}
