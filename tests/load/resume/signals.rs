//! Two loads at one time, and what is interrupted.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::bench::MAPPING;
use super::case::Case;
use super::faults::{FEW, SLOW, begun, goes_on, says, sqlite};
use super::left::total;
use super::repeat::{clean, loaded};
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
    source.settled();
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
    // A plan says what the load does otherwise, where that is to go on.
    let reported = |further: &[&str]| {
        let plan = case.migrate(further).exits(3);
        ["may skip chunks", "may delete items"].map(|what| plan.stderr.contains(what))
    };
    assert_eq!(reported(&["--plan"]), [true, false]);
    assert_eq!(reported(&["--plan", "--fresh"]), [false; 2]);
    assert_eq!(reported(&["--plan", "--changes-only"]), [false; 2]);
    source.run("CREATE TABLE later (id int)").await;
    assert_eq!(reported(&["--plan"]), [false, true]);
    goes_on(&case, &reference, "after an interrupt").await;
    assert_eq!(reported(&["--plan"]), [false; 2]);
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
    let mut reported = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    assert!(reported.any(|line| line.unwrap().contains("stopping")));
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

/// The first asks for single items, the others for partitions.
const PATTERNS: &str = r#"access_patterns:
  customer:
    items: [CUSTOMER]
    key: { PK: "CUSTOMER#{id | pad(8)}", SK: "CUSTOMER#" }
    sql: SELECT id, email, country FROM customers WHERE id = :id
  lines:
    items: [LINE]
    key: { PK: "ORDER#{order_id | pad(10)}" }
    sql: SELECT order_id, line_no, sku FROM order_lines WHERE order_id = :order_id
  events:
    items: [EVENT]
    key: { PK: "EVENT#{code}" }
    sql: SELECT id, code, note FROM events WHERE code = :code
"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_comparison_of_access_patterns_claims_nothing() {
    let database = clean().await;
    let case = loaded(&database);
    case.map(&format!("{MAPPING}{PATTERNS}"));
    for (country, differs) in [("country", false), ("'XX'", true)] {
        let update = format!("UPDATE customers SET country = {country}");
        database.run(&update).await;
        case.set("faults: [{ do: stall, operations: [Query] }]");
        let mut command = case.command("verify", &["--patterns"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut is_over = false;
        let comes = comes(PATIENCE, || {
            is_over = child.try_wait().unwrap().is_some();
            is_over || case.storms().counts().faults.contains_key("stall")
        });
        if !comes || is_over {
            child.kill().unwrap();
            panic!("it does not ask for the second pattern: {:?}", ran(child));
        }
        signal(&child, "-INT");
        let ended = ran(child).exits(130);
        ended.says("2 of 3: lines");
        let report = ended.json();
        assert_eq!(report["outcome"]["state"], "interrupted");
        for count in ["proved", "agrees", "different"] {
            assert_eq!(report[count], 0, "{report:#}");
        }
        // Of the others nothing is said at all.
        let [claim] = report["claims"].as_array().unwrap().as_slice() else {
            panic!("{report:#}");
        };
        assert_eq!(claim["of"]["pattern"], "customer");
        assert_eq!(claim["verdict"], "not_proved");
        assert_eq!(claim["because"], "the run was interrupted");
        let patterns = report["patterns"].as_array().unwrap();
        assert_eq!(patterns.len(), 1, "{report:#}");
        let different = patterns[0]["different_calls"].as_u64().unwrap();
        assert_eq!(different > 0, differs, "{report:#}");
    }
}
