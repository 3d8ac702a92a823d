//! The source changes between the attempts at a load.

use std::time::Duration;

use serde_json::Value;

use super::bench::{MAPPING, script};
use super::case::{Case, When};
use super::faults::{SLOW, killed};
use super::kills::{Reference, number, seed, weather};
use super::left::{books, total};
use crate::support::books::{hold_compared, hold_loaded};
use crate::support::source::Source;

/// What a writer may do, as SQL that every product understands; `@` is a number below ten.
const CHANGES: &[&str] = &[
    "UPDATE orders SET total = total + 1000 WHERE id % 17 = @",
    "UPDATE orders SET status = 'sent' WHERE id % 20 = @",
    "UPDATE orders SET status = 'open' WHERE id % 23 = @",
    "UPDATE orders SET customer_id = customer_id % 100 + 1 WHERE id % 11 = @",
    "DELETE FROM orders WHERE id % 31 = @",
    "UPDATE orders SET id = id + 100000 WHERE id % 37 = @ AND id < 100000",
    "DELETE FROM order_lines WHERE order_id % 13 = @",
    "UPDATE order_lines SET line_no = line_no + 7 WHERE order_id % 19 = @ AND line_no < 7",
    "INSERT INTO order_lines SELECT order_id, line_no + 100, 'new' FROM order_lines old
       WHERE order_id % 17 = @ AND line_no < 100 AND NOT EXISTS (SELECT 1 FROM order_lines taken
         WHERE taken.order_id = old.order_id AND taken.line_no = old.line_no + 100)",
    "UPDATE events SET code = NULL WHERE id % 50 = @",
    "UPDATE events SET code = 'shared' WHERE id % 97 = @",
    "INSERT INTO events SELECT id + 10000, 'another', 'n' FROM events old
       WHERE id % 101 = @ AND id < 10000
         AND NOT EXISTS (SELECT 1 FROM events taken WHERE taken.id = old.id + 10000)",
    "DELETE FROM events WHERE id % 29 = @",
    "DELETE FROM addresses WHERE id % 7 = @",
    "UPDATE addresses SET street = 'moved' WHERE id % 9 = @",
    "UPDATE docs SET body = '{\"shipments\": [{\"weight\": 1}]}' WHERE id % 12 = @",
    "DELETE FROM docs WHERE id % 41 = @",
    "UPDATE sessions SET ends = 1700000000 WHERE id % 14 = @",
    "UPDATE sessions SET ends = 4102444800 WHERE id % 15 = @",
    "DELETE FROM sessions WHERE id % 16 = @",
];

async fn change(source: &Source, chance: &mut fastrand::Rng) {
    for _ in 0..chance.u32(1..6) {
        let change = CHANGES[chance.usize(..CHANGES.len())];
        let change = change.replace('@', &chance.u32(..10).to_string());
        source.run(&format!("{change};")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_changes_between_attempts_is_what_the_table_ends_as() {
    let mut chance = fastrand::Rng::with_seed(seed());
    let runs = number("DYNAFOLD_KILL_RUNS", 3);
    for _ in 0..runs.div_ceil(3) {
        for source in Source::each(script).await {
            one(&source, &mut chance).await;
            source.drop().await;
        }
    }
}

async fn one(source: &Source, chance: &mut fastrand::Rng) {
    let case = Case::storm(&source.url(), &weather(chance.u64(..)));
    let said = source.product();
    let mut over = false;
    for _ in 0..chance.u32(1..4) {
        let when = match chance.u32(..3) {
            0 => When::After(Duration::from_millis(chance.u64(..1500))),
            _ => When::Put(chance.u64(..3300)),
        };
        over |= case.killed(when, &[]).is_some();
        if over {
            break;
        }
        change(source, chance).await;
    }
    let reference = Reference::of(source).await;
    let ended = if over {
        case.migrate(&["--changes-only", "--prune"])
    } else {
        case.migrate(&[])
    };
    if ended.code == 1 && ended.stderr.contains("already has items") {
        return;
    }
    let report = ended.exits(3).json();
    hold_loaded(&report);
    assert_eq!(
        books(&report),
        books(&reference.report),
        "{said}: {report:#}"
    );
    case.set("");
    let verified = case.verify();
    let verified = verified.exits(3).json();
    hold_compared(&verified);
    for name in ["missing", "different"] {
        assert_eq!(total(&verified, name), 0, "{said}: {verified:#}");
    }
    // Items of rows that are there, and make none now, stay.
    let stays = ["filtered", "rejected", "expired"].map(|kind| report["left"][kind].as_u64());
    let stays: u64 = stays.into_iter().flatten().sum();
    assert_eq!(verified["unexpected"], stays, "{said}: {verified:#}");
    let mut left = case.left().await;
    let items = left.items.len();
    left.items
        .retain(|item| reference.left.items.contains(item));
    assert_eq!(items - left.items.len(), usize::try_from(stays).unwrap());
    left.hold(&reference.left, said);
}

/// Items that the chunks have written that the state counts as done.
fn done(case: &Case) -> u64 {
    let state = std::fs::read_to_string(case.path(".dynafold/app.state")).unwrap();
    let entries = state.lines().filter_map(|line| line.split_once(' '));
    let entries = entries.filter_map(|(_, json)| serde_json::from_str::<Value>(json).ok());
    let chunks = entries.flat_map(|entry| {
        let chunks = entry["done"]["chunks"].as_array();
        chunks.cloned().unwrap_or_default()
    });
    let written = chunks.map(|chunk| {
        let all = chunk[1].as_array().unwrap().iter();
        all.map(|one| one[1]["written"].as_u64().unwrap())
            .sum::<u64>()
    });
    written.sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_is_not_written_again() {
    for source in Source::each(script).await {
        source.settled();
        let case = Case::storm(&source.url(), SLOW);
        killed(&case, 1500, &[]);
        let done = done(&case);
        assert!(done > 200, "{}: {done} done", source.product());
        case.set("");
        let report = case.migrate(&[]).exits(3).json();
        hold_loaded(&report);
        let counts = case.storms().counts();
        let made = total(&report, "made");
        // Only SQLite tells that nothing has changed whatever its neighbours do.
        let skips = total(&report, "unchanged") == 0;
        assert!(skips || source.product() != "sqlite", "{report:#}");
        assert!(!skips || source.product() != "mariadb", "{report:#}");
        if skips {
            assert_eq!(counts.items.put, made - done, "{}", source.product());
        } else {
            assert!(counts.items.put <= made - done, "{}", source.product());
        }
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_asks_for_the_time_is_read_again() {
    for source in Source::each(script).await {
        if source.product() == "postgres" {
            let case = Case::storm(&source.url(), SLOW);
            let asks = "status = 'open' AND localtimestamp > '2020-01-01'";
            case.map(&MAPPING.replace("status = 'open'", asks));
            killed(&case, 800, &[]);
            let done = done(&case);
            assert!(done > 100, "{done} done");
            case.set("");
            let report = case.migrate(&[]).exits(3).json();
            hold_loaded(&report);
            assert!(total(&report, "unchanged") >= done, "{report:#}");
        }
        source.drop().await;
    }
}
