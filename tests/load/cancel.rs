//! A load that its caller ends.

use std::sync::Arc;
use std::time::Duration;

use dynafold::load::{Cancel, Outcome};
use tempfile::tempdir;

use super::faults::source;
use super::{load_until, options};
use crate::support::faults::{Answer, FakeTarget};
use dynafold_testing::model::users;

#[tokio::test]
async fn a_cancelled_run_delivers_what_is_in_flight() {
    let folder = tempdir().unwrap();
    let cancel = Cancel::default();
    let wish = cancel.clone();
    let target = Arc::new(FakeTarget::new(move |number, _| {
        if number == 5 {
            wish.cancel();
        }
        Answer::Take
    }));
    let report = load_until(
        source(10_000),
        target.clone(),
        users(),
        options(folder.path(), Some(0)),
        cancel,
    )
    .await;
    assert!(matches!(report.outcome, Outcome::Interrupted));
    assert_eq!(report.total.unwritten, 0);
    assert!(report.total.rows_read < 10_000);
    assert_eq!(report.total.written, report.total.made);
    let there = target.items.lock().unwrap().len();
    assert_eq!(report.total.written, u64::try_from(there).unwrap());
}

/// A query that sorts a large table says nothing for minutes.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_does_not_wait_for_a_silent_database() {
    for chunks in [0, 2] {
        let folder = tempdir().unwrap();
        let cancel = Cancel::default();
        let mut source = source(100);
        source.stalls_after = Some(chunks);
        let wish = cancel.clone();
        tokio::spawn(async move {
            // The clock is paused: it goes on when nothing else can.
            tokio::time::sleep(Duration::from_secs(1)).await;
            wish.cancel();
        });
        let target = Arc::new(FakeTarget::willing());
        let run = load_until(
            source,
            target,
            users(),
            options(folder.path(), Some(0)),
            cancel,
        );
        let report = tokio::time::timeout(Duration::from_secs(5), run)
            .await
            .expect("the run ends");
        assert!(matches!(report.outcome, Outcome::Interrupted));
        assert_eq!(report.total.written, 10 * u64::try_from(chunks).unwrap());
    }
}
