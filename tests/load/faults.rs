//! What becomes of a load whose source or target fails, and what the books say then.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dynafold::load::{
    Cancel, LimitedBy, Load, LoadOptions, NoProgress, Outcome, ReadyTable, Report, begin,
};
use dynafold::mapping::template::Context;
use dynafold::retry::Policy;
use dynafold::target::ErrorClass;
use proptest::prelude::*;
use tempfile::tempdir;
use tokio::time::Instant;

use super::{load, options};
use crate::support::faults::{Answer, FakeSource, FakeTarget};
use dynafold_testing::model::{relation, user_rows, users};

/// Users, in chunks of ten rows.
pub(super) fn source(rows: i64) -> FakeSource {
    FakeSource::default().with(&relation("users"), user_rows(rows))
}

fn fail(class: ErrorClass) -> Answer {
    Answer::Fail {
        class,
        taken: false,
    }
}

/// Loads where no reject is allowed.
async fn load_users(source: FakeSource, target: &Arc<FakeTarget>) -> Report {
    let folder = tempdir().unwrap();
    let options = options(folder.path(), Some(0));
    load(source, target.clone(), users(), options).await
}

#[tokio::test]
async fn every_row_becomes_an_item() {
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(
        source(103),
        target.clone(),
        users(),
        options(folder.path(), Some(0)),
    )
    .await;
    assert!(matches!(report.outcome, Outcome::Complete));
    assert_eq!(report.total.rows_read, 103);
    assert_eq!(report.total.written, 103);
    assert_eq!(report.traffic.requests, 5);
    assert_eq!(report.traffic.consumed_units, Some(5.0));
    assert_eq!(report.total.write_units, 103);
    assert_eq!(target.items.lock().unwrap().len(), 103);
    assert_eq!(
        report.item_types[0].largest.as_ref().unwrap().row.get(),
        r#"{"id":100}"#
    );
    assert_eq!(report.rejects_file, None);
    assert!(!folder.path().join("rejects.ndjson").exists());
    assert_eq!(target.starts.load(Ordering::SeqCst), 1);
    assert_eq!(target.finishes.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn only_unprocessed_items_are_sent_again() {
    let target = Arc::new(FakeTarget::new(|number, _| match number {
        0 => Answer::Leave(vec![3, 7]),
        _ => Answer::Take,
    }));
    let report = load_users(source(10), &target).await;
    assert_eq!(report.total.written, 10);
    assert_eq!(report.traffic.unprocessed, 2);
    let requests = target.requests.lock().unwrap();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1], [requests[0][3], requests[0][7]]);
}

#[tokio::test(start_paused = true)]
async fn one_of_the_items_that_stay_unprocessed_is_put_alone_for_its_reason() {
    let target = Arc::new(FakeTarget::new(|number, batch| match number {
        0..20 => Answer::Leave((0..batch.len()).collect()),
        _ => Answer::Take,
    }));
    let report = load_users(source(40), &target).await;
    assert!(matches!(report.outcome, Outcome::Complete));
    assert_eq!(report.total.written, 40);
    let reported: Vec<_> = report.throttled_by.keys().collect();
    assert_eq!(reported[0].0, "TableWriteProvisionedThroughputExceeded");
    // Seldom: by one of the writers, once in some seconds.
    let alone = target.alone.load(Ordering::SeqCst);
    assert!((1..5).contains(&alone), "{alone}");
}

#[tokio::test(start_paused = true)]
async fn an_item_that_is_taken_when_it_is_put_alone_is_counted_once() {
    let target = Arc::new(FakeTarget::new(|number, batch| match batch.len() {
        2.. if number < 12 => Answer::Leave((0..batch.len()).collect()),
        _ => Answer::Take,
    }));
    let report = load_users(source(25), &target).await;
    assert_eq!((report.total.written, report.total.unwritten), (25, 0));
    assert_eq!(target.items.lock().unwrap().len(), 25);
    assert!(target.alone.load(Ordering::SeqCst) > 0);
    let requests = target.requests.lock().unwrap();
    let consumed = report.traffic.consumed_units;
    assert_eq!(consumed, u32::try_from(requests.len()).ok().map(f64::from));
}

#[tokio::test(start_paused = true)]
async fn throttling_and_passing_failures_are_waited_out() {
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::new(|number, _| match number {
        0..3 => fail(ErrorClass::Throttle),
        3..6 => fail(ErrorClass::Transient),
        _ => Answer::Take,
    }));
    let options = LoadOptions {
        writers: Some(1),
        ..options(folder.path(), Some(0))
    };
    let begun = Instant::now();
    let report = load(source(25), target, users(), options).await;
    assert!(matches!(report.outcome, Outcome::Complete));
    assert_eq!(report.traffic.throttled, 3);
    assert_eq!(report.traffic.transient, 3);
    assert_eq!(report.limited_by, LimitedBy::Throttling);
    // Full jitter below 50, 100, 200, 400, 800 and 1600 ms.
    let waited = begun.elapsed();
    assert!(
        waited > Duration::ZERO && waited < Duration::from_millis(3151),
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_sent_again_and_counted_once() {
    let target = Arc::new(FakeTarget::new(|number, _| match number {
        0 => Answer::Fail {
            class: ErrorClass::Transient,
            taken: true,
        },
        _ => Answer::Take,
    }));
    let report = load_users(source(30), &target).await;
    assert_eq!(report.total.written, 30);
    assert_eq!(target.items.lock().unwrap().len(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_table_that_throttles_without_end_ends_the_run_at_the_deadline() {
    let folder = tempdir().unwrap();
    for answer in [fail(ErrorClass::Throttle), Answer::Leave((0..25).collect())] {
        let scripted = answer.clone();
        let target = Arc::new(FakeTarget::new(move |_, _| scripted.clone()));
        let options = LoadOptions {
            retry: Policy {
                deadline: Duration::from_secs(30),
                ..Policy::default()
            },
            ..options(folder.path(), Some(0))
        };
        let begun = Instant::now();
        let report = load(source(500), target.clone(), users(), options).await;
        assert!(matches!(report.outcome, Outcome::Failed(_)), "{answer:?}");
        assert_eq!(report.total.written, 0);
        assert!(report.total.unwritten > 0);
        assert!(
            // The last attempt is let in when the pace, which is slow by then, allows.
            begun.elapsed() < Duration::from_secs(34),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(target.finishes.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_a_ceiling_is_not_part_of_the_deadline() {
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::new(|number, _| match number {
        4 => fail(ErrorClass::Transient),
        _ => Answer::Take,
    }));
    let options = LoadOptions {
        ceiling: Some(0.5),
        retry: Policy {
            deadline: Duration::from_secs(1),
            ..Policy::default()
        },
        ..options(folder.path(), Some(0))
    };
    let report = load(source(8), target, users(), options).await;
    assert!(matches!(report.outcome, Outcome::Complete), "{report:?}");
    assert_eq!(report.traffic.transient, 1);
}

#[tokio::test]
async fn a_fatal_error_stops_everything_and_the_books_say_what_is_unwritten() {
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::new(|number, _| match number {
        4 => fail(ErrorClass::Fatal),
        _ => Answer::Take,
    }));
    let report = load(
        source(10_000),
        target.clone(),
        users(),
        options(folder.path(), None),
    )
    .await;
    let Outcome::Failed(failure) = &report.outcome else {
        panic!("{:?}", report.outcome);
    };
    assert_eq!(failure.code(), "FatalException");
    assert!(report.total.unwritten >= 25);
    assert!(report.total.rows_read < 10_000);
    let there = target.items.lock().unwrap().len();
    assert_eq!(report.total.written, u64::try_from(there).unwrap());
    assert_eq!(target.finishes.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_source_that_breaks_leaves_what_was_made_written() {
    let mut source = source(200);
    source.breaks_after = Some(7);
    let target = Arc::new(FakeTarget::willing());
    let report = load_users(source, &target).await;
    let Outcome::Failed(failure) = &report.outcome else {
        panic!("{:?}", report.outcome);
    };
    assert_eq!(failure.code(), "source");
    let cause = failure.source().unwrap();
    assert!(cause.source().is_none(), "{failure:?}");
    assert!(report.total.rows_read <= 70);
    let there = target.items.lock().unwrap().len();
    assert_eq!(report.total.written, u64::try_from(there).unwrap());
}

#[tokio::test]
async fn a_load_that_cannot_be_finished_counts_nothing_as_written() {
    let mut target = FakeTarget::willing();
    target.finish_fails = true;
    let report = load_users(source(50), &Arc::new(target)).await;
    assert!(matches!(report.outcome, Outcome::Failed(_)));
    assert_eq!((report.total.written, report.total.unwritten), (0, 50));
}

#[tokio::test]
async fn a_load_whose_table_is_another_at_the_end_counts_nothing_as_written() {
    for (now, written) in [(Some("own"), 50), (Some("another"), 0), (None, 0)] {
        let folder = tempdir().unwrap();
        let mut target = FakeTarget::willing();
        target.table_id = now.map(str::to_owned);
        let begun = begin(Load {
            source: Some(Box::new(source(50))),
            begun: false,
            state: None,
            target: Arc::new(target),
            model: Arc::new(users()),
            context: Context::default(),
            options: options(folder.path(), Some(0)),
            cancel: Cancel::default(),
            progress: Arc::new(NoProgress),
        });
        let ready = ReadyTable {
            table_id: Some("own".to_owned()),
            ..ReadyTable::default()
        };
        let report = begun.await.run(ready).await;
        assert!(report.balances(), "{report:#?}");
        let total = &report.total;
        assert_eq!((total.written, total.unwritten), (written, 50 - written));
        let code = match &report.outcome {
            Outcome::Failed(failure) => failure.code(),
            _ => "none",
        };
        let expected = if written > 0 { "none" } else { "table" };
        assert_eq!(code, expected, "{report:#?}");
    }
}

/// Faults that pass, by the number of the request.
fn passing(kind: u8, items: usize) -> Answer {
    match kind {
        0 => fail(ErrorClass::Throttle),
        1 => fail(ErrorClass::Transient),
        2 => Answer::Fail {
            class: ErrorClass::Transient,
            taken: true,
        },
        3 => Answer::Leave((0..items).step_by(2).collect()),
        4 => Answer::Leave((0..items).collect()),
        5 => fail(ErrorClass::Invalid),
        _ => Answer::Take,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_fails_every_item_is_written_as_made_or_accounted_for(
        faults in prop::collection::vec(0_u8..12, 0..60),
        rows in 0_i64..300,
        writers in 1_usize..5,
        fatal in prop::option::of(0_usize..80),
        poison in prop::option::of(0_i64..300),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let folder = tempdir().unwrap();
            let mut target = FakeTarget::new(move |number, batch| {
                if Some(number) == fatal {
                    return fail(ErrorClass::Fatal);
                }
                let kind = faults.get(number).copied().unwrap_or(9);
                passing(kind, batch.len())
            });
            if let Some(id) = poison {
                target = target.poisoned(&format!("\"USER#{id}\""));
            }
            let target = Arc::new(target);
            let options = LoadOptions { writers: Some(writers), ..options(folder.path(), None) };
            let report = load(source(rows), target.clone(), users(), options).await;

            let reference = Arc::new(FakeTarget::willing());
            let other = tempdir().unwrap();
            load(source(rows), reference.clone(), users(), super::options(other.path(), None)).await;
            let wanted = reference.items.lock().unwrap().clone();
            let there: HashMap<u128, String> = target.items.lock().unwrap().clone();
            for (key, json) in &there {
                prop_assert_eq!(wanted.get(key), Some(json));
            }
            let total = &report.total;
            prop_assert!(total.written <= u64::try_from(there.len()).unwrap());
            if report.outcome.is_finished() {
                prop_assert_eq!(total.unwritten, 0);
                prop_assert_eq!(total.made, u64::try_from(rows).unwrap());
                let lines = std::fs::read_to_string(folder.path().join("rejects.ndjson"))
                    .map_or(0, |text| text.lines().count());
                prop_assert_eq!(total.rejected, u64::try_from(lines).unwrap());
            } else {
                prop_assert!(matches!(report.outcome, Outcome::Failed(_)));
            }
            Ok(())
        })?;
    }
}
