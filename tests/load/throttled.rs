//! The program against an endpoint with limits, judged by the endpoint's own counts.

use std::time::Duration;

use super::resume::case::Case;
use crate::support::books::claimed;
use crate::support::cli::ran;
use crate::support::sqlite::Database;
use crate::support::storm::Counts;

const SETTLE: Duration = Duration::from_secs(4);

const MAPPING: &str = r#"dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
  indexes:
    GSI1: { partition: kind, sort: at }
items:
  EVENT:
    from: events
    key: { PK: "OWNER#{owner}", SK: "EVENT#{id | pad(8)}" }
"#;

/// So many events, each of one unit and one more for the index; of every hundred, so many have one
/// owner and the others one each.
async fn events(rows: u32, hot: u32) -> Database {
    Database::new(&format!(
        "CREATE TABLE events (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, kind TEXT, at TEXT, note TEXT);
         WITH RECURSIVE n(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n WHERE id < {rows})
         INSERT INTO events
           SELECT id, CASE WHEN id % 100 < {hot} THEN 'hot' ELSE 'o' || id END,
             'kind ' || (id % 500), '2026-01-' || (10 + id % 20), 'a note of some length' FROM n;"
   ))
    .await
}

/// Loads them into an endpoint with these settings; its counts, without those of the first seconds.
async fn loaded(rows: u32, hot: u32, settings: &str, settle: Duration, further: &[&str]) -> Counts {
    let database = events(rows, hot).await;
    let settings = format!("latency: {{ milliseconds: 5 }}\n{settings}\n");
    let mut case = Case::storm(&database.url(), &settings);
    case.map(MAPPING);
    case.options.clear();
    let child = case.start(further);
    // What the first seconds bring is not counted: the time is what is tested.
    std::thread::sleep(settle);
    case.storms().reset();
    let report = ran(child).exits(0).json();
    assert_eq!(claimed(&report, "books_balance"), "proved", "{report:#}");
    assert_eq!(report["total"]["written"], rows, "{report:#}");
    let counts = case.storms().counts();
    assert_eq!(counts.tables["app"].items, u64::from(rows));
    counts
}

/// The mean of some seconds, the last one aside.
fn mean(each: &[f64]) -> f64 {
    let whole = &each[..each.len() - 1];
    whole.iter().sum::<f64>() / f64::from(u32::try_from(whole.len()).unwrap())
}

/// The median of some seconds, so that one in which the machine did something else does not count.
fn median(each: impl Iterator<Item = f64>) -> f64 {
    let mut each: Vec<f64> = each.take(5).collect();
    assert_eq!(each.len(), 5, "the load was over too soon");
    each.sort_by(f64::total_cmp);
    each[2]
}

fn share_refused(counts: &Counts) -> f64 {
    let of = |count: u64| f64::from(u32::try_from(count).unwrap());
    of(counts.items.refused) / of(counts.items.put + counts.items.refused)
}

#[tokio::test(flavor = "multi_thread")]
async fn nine_tenths_of_what_is_allowed_are_used_and_little_is_refused() {
    let counts = loaded(12_000, 0, "limits: { account_wcu: 1500 }", SETTLE, &[]).await;
    let used = mean(&counts.units.each_second) / 1500.0;
    assert!(used >= 0.9, "{used:.3} {counts:#?}");
    let refused = share_refused(&counts);
    assert!(refused < 0.05, "{refused:.3} {counts:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ceiling_is_kept_in_any_five_seconds_and_used() {
    for said in ["truth", "one", "nothing"] {
        let counts = under_a_ceiling(said).await;
        assert!(counts.window.most_units >= 2250.0, "{said}: {counts:#?}");
    }
    // What is said to cost more is believed.
    under_a_ceiling("much").await;
}

/// The counts of an endpoint that says this of what was used, where 500 units a second may be.
async fn under_a_ceiling(said: &str) -> Counts {
    let rows = if said == "much" { 600 } else { 4_000 };
    let settings = format!("consumed: {said}");
    let counts = loaded(rows, 0, &settings, Duration::ZERO, &["--max-wcu", "500"]).await;
    // An item is two units, with its index.
    assert!(counts.window.most_units <= 2502.0, "{said}: {counts:#?}");
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hot_partition_slows_only_itself() {
    let limits = "limits: { table_wcu: 1500, partition_wcu: 60 }";
    // It takes longer to settle where two limits are to be found.
    let settle = SETTLE * 2;
    let without = loaded(22_000, 0, limits, settle, &[]).await;
    let with = loaded(22_000, 4, limits, settle, &[]).await;
    let hot = &with.tables["app"].busiest[0];
    assert!(hot.partition.contains("hot"), "{with:#?}");
    // Its entries in the index cost as much.
    let all = with.units.each_second.iter().zip(&hot.each_second);
    let with_it = median(all.map(|(all, (_, hot))| all - 2.0 * hot));
    let without_it = median(without.units.each_second.iter().copied());
    assert!(
        with_it >= 0.9 * without_it,
        "{with_it:.0} of {without_it:.0} {with:#?}"
    );
}

/// Requests throttled with the table's reason, errors, lost answers, resets, items left; and no limit.
const NOISE: &str = include_str!("../../scripts/bench.d/noise.yaml");
const CALM: &str = include_str!("../../scripts/bench.d/calm.yaml");

#[tokio::test(flavor = "multi_thread")]
async fn noise_costs_less_than_half_of_the_rate() {
    let database = events(10_000, 0).await;
    let load = |settings: &str| {
        let mut case = Case::storm(&database.url(), settings);
        case.map(MAPPING);
        case.options.clear();
        let report = ran(case.start(&[])).exits(0).json();
        assert_eq!(report["total"]["written"], 10_000, "{report:#}");
        assert_ne!(report["limited_by"], "partition", "{report:#}");
        report["elapsed_seconds"].as_f64().unwrap()
    };
    // The machine has other things to do at times: the better pair of some counts.
    let pairs = (0..4).map(|_| load(CALM) / load(NOISE));
    let pairs: Vec<f64> = pairs.collect();
    assert!(pairs.iter().any(|kept| *kept >= 0.5), "{pairs:?}");
}
