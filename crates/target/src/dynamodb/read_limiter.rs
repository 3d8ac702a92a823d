//! How many requests may read by key at the same time: as many as the table answers.
//!
//! A read that leaves keys unprocessed, or is refused, halves how many may be under way; answers
//! that are whole raise it again, one for each round. A request keeps its place until all its keys
//! are read, so that where reading is slow those that began end first.

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// Requests under way at most; beyond them nothing is gained.
const MOST: f64 = 64.0;
/// Between two halvings: those that were under way at the first say nothing new.
const PAUSE: Duration = Duration::from_millis(200);

/// Bounds the reads by key of a target.
#[derive(Debug)]
pub(super) struct ReadLimiter {
    inner: Mutex<ReadLimiterState>,
    freed: Notify,
}

#[derive(Debug)]
struct ReadLimiterState {
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
                limit: MOST,
                under_way: 0,
                last_halved: None,
                last_read: None,
            }),
            freed: Notify::new(),
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
            let freed = self.freed.notified();
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
        if whole && inner.limit < MOST {
            inner.limit = (inner.limit + 1.0 / inner.limit).min(MOST);
            drop(inner);
            self.freed.notify_one();
        }
    }

    /// Takes note that keys were left unprocessed, or a request was refused.
    pub(super) fn record_refusal(&self) {
        let mut inner = self.inner.lock();
        let now = Instant::now();
        if inner.last_halved.is_none_or(|at| now - at >= PAUSE) {
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
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_refusal_halves_the_limit_and_whole_answers_raise_it() {
        let read_limiter = ReadLimiter::default();
        let mut permits = Vec::new();
        for _ in 0..8 {
            permits.push(read_limiter.enter().await);
        }
        read_limiter.record_refusal();
        read_limiter.record_refusal();
        assert_eq!(read_limiter.inner.lock().limit.to_bits(), 4.0_f64.to_bits());
        permits.truncate(4);
        let pause = Duration::from_secs(1);
        assert!(
            tokio::time::timeout(pause, read_limiter.enter())
                .await
                .is_err()
        );
        for _ in 0..5 {
            read_limiter.record_read(true);
        }
        permits.push(read_limiter.enter().await);
        for _ in 0..20 {
            tokio::time::sleep(PAUSE).await;
            read_limiter.record_refusal();
        }
        permits.clear();
        let _one = read_limiter.enter().await;
        assert!(
            tokio::time::timeout(pause, read_limiter.enter())
                .await
                .is_err()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_waits_while_others_read_is_not_idle() {
        let read_limiter = ReadLimiter::default();
        let begun = Instant::now();
        tokio::time::sleep(Duration::from_mins(1)).await;
        read_limiter.record_read(false);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(read_limiter.idle(begun), Duration::from_secs(5));
        let later = Instant::now();
        assert_eq!(read_limiter.idle(later), Duration::ZERO);
    }
}
