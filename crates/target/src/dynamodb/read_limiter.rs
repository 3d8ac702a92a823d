//! Requests that read side by side: as many as the table answers.
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

/// All reads by key of a target.
#[derive(Debug)]
pub(super) struct ReadLimiter {
    inner: Mutex<ReadLimiterState>,
    freed: Notify,
}

#[derive(Debug)]
struct ReadLimiterState {
    limit: f64,
    under_way: u32,
    halved: Option<Instant>,
    /// When keys were last read.
    progress: Option<Instant>,
}

impl Default for ReadLimiter {
    fn default() -> Self {
        Self {
            inner: Mutex::new(ReadLimiterState {
                limit: MOST,
                under_way: 0,
                halved: None,
                progress: None,
            }),
            freed: Notify::new(),
        }
    }
}

/// A request's place; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct ReadPermit<'c>(&'c ReadLimiter);

impl ReadLimiter {
    /// Waits for a place.
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

    /// Enters that keys were read. `whole`: all that a request asked for.
    pub(super) fn read(&self, whole: bool) {
        let mut inner = self.inner.lock();
        inner.progress = Some(Instant::now());
        if whole && inner.limit < MOST {
            inner.limit = (inner.limit + 1.0 / inner.limit).min(MOST);
            drop(inner);
            self.freed.notify_one();
        }
    }

    /// Enters that keys were left, or a request refused.
    pub(super) fn refused(&self) {
        let mut inner = self.inner.lock();
        let now = Instant::now();
        if inner.halved.is_none_or(|at| now - at >= PAUSE) {
            inner.halved = Some(now);
            // Of those that are under way in fact.
            let under_way = f64::from(inner.under_way.max(1));
            inner.limit = (inner.limit.min(under_way) / 2.0).max(1.0);
        }
    }

    /// How long nobody has read anything, but no longer than since `begun`.
    pub(super) fn idle(&self, begun: Instant) -> Duration {
        let progress = self.inner.lock().progress;
        progress.map_or(begun, |at| at.max(begun)).elapsed()
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
    async fn what_is_refused_halves_the_crowd_and_whole_answers_let_it_grow() {
        let read_limiter = ReadLimiter::default();
        let mut places = Vec::new();
        for _ in 0..8 {
            places.push(read_limiter.enter().await);
        }
        read_limiter.refused();
        read_limiter.refused();
        assert_eq!(read_limiter.inner.lock().limit.to_bits(), 4.0_f64.to_bits());
        places.truncate(4);
        let pause = Duration::from_secs(1);
        assert!(
            tokio::time::timeout(pause, read_limiter.enter())
                .await
                .is_err()
        );
        for _ in 0..5 {
            read_limiter.read(true);
        }
        places.push(read_limiter.enter().await);
        for _ in 0..20 {
            tokio::time::sleep(PAUSE).await;
            read_limiter.refused();
        }
        places.clear();
        let _one = read_limiter.enter().await;
        assert!(
            tokio::time::timeout(pause, read_limiter.enter())
                .await
                .is_err()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_while_others_read_is_not_idle() {
        let read_limiter = ReadLimiter::default();
        let begun = Instant::now();
        tokio::time::sleep(Duration::from_mins(1)).await;
        read_limiter.read(false);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(read_limiter.idle(begun), Duration::from_secs(5));
        let later = Instant::now();
        assert_eq!(read_limiter.idle(later), Duration::ZERO);
    }
}
