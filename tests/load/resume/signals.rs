//! Two loads at one time, and loads that are interrupted.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use super::case::Case;
use super::faults::{FEW, SLOW, begun, goes_on, says, sqlite};
use super::left::total;
use crate::support::cli::{ran, signal};
use crate::support::wait::{PATIENCE, comes};

#[tokio::test(flavor = "multi_thread")]
async fn of_two_loads_with_one_state_the_second_does_not_begin() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let first = begun(&case, 200, &[]);
    let at = Instant::now();
    let process = format!("process {}", first.id());
    says(case.migrate(&[]), 1, &[&process, "another run"]);
    assert!(at.elapsed() < Duration::from_secs(5));
    ran(first).exits(3);
    case.left().await.hold(&reference.left, "the first");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_drains_and_says_how_to_go_on() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let child = begun(&case, 1000, &[]);
    signal(&child, "-INT");
    let ended = says(
        ran(child),
        130,
        &["stopping", "start the same command again"],
    );
    let report = ended.json();
    assert_eq!(report["outcome"]["state"], "interrupted");
    // What was sent is counted: nothing is in the table that the books do not know.
    let held = case.contents().await.len();
    assert_eq!(total(&report, "written"), u64::try_from(held).unwrap());
    assert_eq!(total(&report, "unwritten"), 0);
    goes_on(&case, &reference, "after an interrupt").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_interrupt_ends_at_once_and_loses_nothing() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), "latency: { milliseconds: 3000 }");
    let mut child = case.start(FEW);
    let is_asked = || {
        let counts = case.storms().counts();
        counts.requests.contains_key("BatchWriteItem")
    };
    assert!(comes(PATIENCE, is_asked));
    signal(&child, "-INT");
    let mut told = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("stopping")));
    let at = Instant::now();
    signal(&child, "-INT");
    ran(child).exits(130);
    assert!(at.elapsed() < Duration::from_secs(2), "{:?}", at.elapsed());
    goes_on(&case, &reference, "after two interrupts").await;
}

/// Interrupts a load that can get no further; how it ended.
async fn interrupted_in_vain(further: &[&str], from_then_on: Option<&str>) {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), "");
    // More than the ceiling lets through in two seconds.
    let child = begun(&case, 150, further);
    if let Some(settings) = from_then_on {
        case.set(settings);
        let strikes = || !case.storms().counts().faults.is_empty();
        assert!(comes(PATIENCE, strikes));
    }
    let at = Instant::now();
    signal(&child, "-INT");
    let ended = says(
        ran(child),
        130,
        &["stopping", "start the same command again"],
    );
    assert!(at.elapsed() < Duration::from_secs(6), "{:?}", at.elapsed());
    let report = ended.json();
    assert_eq!(report["outcome"]["state"], "interrupted");
    assert_eq!(
        total(&report, "unwritten") > 0,
        from_then_on.is_some(),
        "{report:#}"
    );
    goes_on(&case, &reference, "after an interrupt in vain").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_does_not_wait_for_a_ceiling() {
    interrupted_in_vain(&["--max-wcu", "60"], None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_does_not_wait_for_an_endpoint_that_is_down() {
    interrupted_in_vain(&["--max-wcu", "500"], Some("faults: [{ do: unavailable }]")).await;
}
