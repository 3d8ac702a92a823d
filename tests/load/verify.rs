//! Comparisons that do not come to their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dynafold::load::{Cancel, NoProgress, Progress, ensure_table};
use dynafold::mapping::template::Context;
use dynafold::target::{TargetSpec, connect};
use dynafold::verify::{Verify, VerifyOptions, VerifyOutcome, VerifyReport, verify};

use crate::support::faults::FakeSource;
use dynafold_testing::model::{relation, user_rows, users};

async fn compare(source: FakeSource, cancel: Cancel, options: VerifyOptions) -> VerifyReport {
    compare_told(source, cancel, options, Arc::new(NoProgress)).await
}

/// The same, and tells how it goes.
async fn compare_told(
    source: FakeSource,
    cancel: Cancel,
    options: VerifyOptions,
    progress: Arc<dyn Progress>,
) -> VerifyReport {
    let target = connect(&TargetSpec::Local { file: None }).await.unwrap();
    let model = Arc::new(users());
    ensure_table(&*target, &model.table, true).await.unwrap();
    let report = verify(Verify {
        source: Some(Box::new(source)),
        target,
        model,
        context: Context::default(),
        options,
        examples: 10,
        cancel,
        progress,
    })
    .await;
    assert!(report.balanced, "{report:#?}");
    report
}

fn source() -> FakeSource {
    FakeSource::default().with(&relation("users"), user_rows(100))
}

fn proved() -> VerifyOptions {
    VerifyOptions {
        keys: dynafold::load::KeyCheck::Proved,
        ..VerifyOptions::default()
    }
}

/// Cancels after so many items were compared.
struct CancelsAfter(AtomicU64, Cancel);

impl Progress for CancelsAfter {
    fn written(&self, _: usize, items: u64) {
        if self.0.fetch_sub(items, Ordering::SeqCst) == items {
            self.1.cancel();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_says_nothing_more_does_not_hold_a_cancelled_comparison_up() {
    for options in [VerifyOptions::default(), proved()] {
        let source = FakeSource {
            stalls_after: Some(3),
            ..source()
        };
        let cancel = Cancel::default();
        let proves = options.keys != dynafold::load::KeyCheck::Proved;
        if proves {
            let (later, stalled) = (cancel.clone(), Arc::clone(&source.stalled));
            tokio::spawn(async move {
                stalled.notified().await;
                later.cancel();
            });
        }
        // Else all that the source says is compared first, however slow the machine is.
        let progress = Arc::new(CancelsAfter(AtomicU64::new(30), cancel.clone()));
        let run = compare_told(source, cancel, options, progress);
        let report = tokio::time::timeout(Duration::from_secs(20), run)
            .await
            .unwrap();
        assert!(matches!(report.outcome, VerifyOutcome::Interrupted));
        assert_eq!(report.unexpected, None);
        let compared = if proves { 0 } else { 30 };
        assert_eq!(report.total.missing, compared, "{report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_is_lost_fails_the_comparison() {
    let source = FakeSource {
        breaks_after: Some(2),
        ..source()
    };
    let report = compare(source, Cancel::default(), proved()).await;
    let VerifyOutcome::Failed(failure) = &report.outcome else {
        panic!("{report:#?}")
    };
    assert_eq!(failure.code(), "source");
    assert_eq!(report.unexpected, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_item_that_is_missing_is_counted_and_the_first_are_named_in_order() {
    for repair in [false, true] {
        let options = VerifyOptions {
            repair,
            ..VerifyOptions::default()
        };
        let report = compare(source(), Cancel::default(), options).await;
        assert_eq!(report.total.missing, 100);
        let rows = report.findings.iter();
        let rows: Vec<&str> = rows.map(|f| f.row.as_ref().unwrap().get()).collect();
        let first: Vec<String> = (0..10).map(|n| format!("{{\"id\":{n}}}")).collect();
        assert_eq!(rows, first);
        match report.outcome {
            VerifyOutcome::Repaired => assert!(repair),
            VerifyOutcome::Different => assert!(!repair),
            other => panic!("{other:?}"),
        }
        assert_eq!(report.total.repaired, if repair { 100 } else { 0 });
    }
}
