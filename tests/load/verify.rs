//! Comparisons that do not come to their end, or whose connection breaks on the way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dynafold::claim::ClaimVerdict;
use dynafold::load::{Cancel, NoProgress, Progress, ensure_table};
use dynafold::mapping::model::Model;
use dynafold::mapping::template::Context;
use dynafold::target::{TargetSpec, connect};
use dynafold::verify::{Verify, VerifyOptions, VerifyOutcome, VerifyReport, verify};

use crate::support::faults::FakeSource;
use dynafold_testing::model::{item_type, model, number, pass, relation, user_rows, users};

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
    let verify = Verify {
        options,
        cancel,
        progress,
        ..of_new_table(source, users()).await
    };
    ended(verify).await
}

/// A comparison with a table that holds nothing.
async fn of_new_table(source: FakeSource, model: Model) -> Verify {
    let target = connect(&TargetSpec::Local { file: None }).await.unwrap();
    ensure_table(&*target, &model.table, true).await.unwrap();
    Verify {
        source: Some(Box::new(source)),
        target,
        model: Arc::new(model),
        context: Context::default(),
        options: VerifyOptions::default(),
        examples: 10,
        cancel: Cancel::default(),
        progress: Arc::new(NoProgress),
    }
}

async fn ended(of: Verify) -> VerifyReport {
    let report = verify(of).await;
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

/// Users and groups: two passes, so that there are two chunks to read side by side.
fn users_and_groups() -> Model {
    let typed = |name: &str, pass: usize, key: &str| {
        item_type(name, pass, &[("PK", key), ("SK", "-"), ("type", name)])
    };
    let item_types = vec![typed("USER", 0, "USER#{0}"), typed("GROUP", 1, "GROUP#{0}")];
    let passes = vec![pass("users", 2, &[0]), pass("groups", 1, &[1])];
    Model {
        type_attribute: Some("type".into()),
        ..model(passes, item_types)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_only_a_reading_before_the_connection_broke_made_is_stale() {
    let holding = |users: i64| {
        let groups = vec![vec![number(1)]];
        let source = FakeSource::default().with(&relation("users"), user_rows(users));
        source.with(&relation("groups"), groups)
    };
    let filling = Verify {
        options: VerifyOptions {
            repair: true,
            ..proved()
        },
        ..of_new_table(holding(20), users_and_groups()).await
    };
    let target = filling.target.clone();
    let filled = ended(filling).await;
    assert!(matches!(filled.outcome, VerifyOutcome::Repaired));
    // The connection breaks when all users are read. Then there are fewer.
    let mut lost = holding(20).relations;
    lost.remove(&relation("groups"));
    let source = FakeSource {
        lost: Arc::new(Mutex::new(lost)),
        forks: 2,
        ..holding(15)
    };
    let comparing = Verify {
        target,
        options: VerifyOptions {
            readers: Some(2),
            ..proved()
        },
        ..of_new_table(source, users_and_groups()).await
    };
    let report = ended(comparing).await;
    assert_eq!((report.total.equal, report.unexpected), (16, Some(5)));
    assert!(matches!(report.outcome, VerifyOutcome::Different));
    assert_eq!(report.claims[0].verdict, ClaimVerdict::Differs);
}
