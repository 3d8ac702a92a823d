//! Killed at random moments, under random faults, and started again as often as it takes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::bench::script;
use super::case::{Case, When};
use super::left::{Left, books};
use crate::support::books::hold_loaded;
use crate::support::source::Source;

/// Everything that passes, at once.
pub(super) fn weather(seed: u64) -> String {
    format!(
        "seed: {seed}
latency: {{ milliseconds: 1, jitter_milliseconds: 6 }}
faults:
  - {{ do: leave, chance: 0.06, operations: [BatchWriteItem] }}
  - {{ do: throttle, chance: 0.03 }}
  - {{ do: error, chance: 0.03 }}
  - {{ do: unavailable, chance: 0.01 }}
  - {{ do: lost-answer, chance: 0.03, operations: [BatchWriteItem, BatchGetItem, Scan] }}
  - {{ do: half, chance: 0.01, operations: [BatchWriteItem, BatchGetItem, Scan] }}
  - {{ do: reset, chance: 0.02, operations: [BatchWriteItem, BatchGetItem, Scan] }}
  - {{ do: slow, seconds: 0.05, chance: 0.02 }}
"
    )
}

pub(super) fn number(name: &str, otherwise: u64) -> u64 {
    let said = std::env::var(name).ok();
    said.map_or(otherwise, |said| said.parse().unwrap())
}

/// The seed of all chance in a test, printed.
pub(super) fn seed() -> u64 {
    let seed = number("DYNAFOLD_KILL_SEED", fastrand::u64(..1_000_000));
    eprintln!("DYNAFOLD_KILL_SEED={seed}");
    seed
}

/// What an undisturbed load leaves behind.
pub(super) struct Reference {
    pub(super) left: Left,
    pub(super) report: Value,
    pub(super) took: Duration,
}

impl Reference {
    pub(super) async fn of(source: &Source) -> Self {
        let case = Case::storm(&source.url(), "");
        let begun = Instant::now();
        let report = case.migrate(&[]).exits(3).json();
        let took = begun.elapsed();
        hold_loaded(&report);
        let left = case.left().await;
        eprintln!(
            "{}: {:.2} s undisturbed",
            source.product(),
            took.as_secs_f64()
        );
        Self { left, report, took }
    }
}

#[derive(Default, Debug)]
struct Figures {
    runs: u64,
    kills: u64,
    /// Kills by what the state held then: nothing, a plan, chunks.
    resumed: u64,
    /// The load was over when it was killed.
    late: u64,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_is_killed_at_any_moment_ends_as_if_it_had_not_been() {
    let mut chance = fastrand::Rng::with_seed(seed());
    let runs = number("DYNAFOLD_KILL_RUNS", 6);
    let sources = Source::each(script).await;
    let mut references: HashMap<usize, Reference> = HashMap::new();
    let mut figures = Figures::default();
    let begun = Instant::now();
    for run in 0..runs {
        let at = usize::try_from(run).unwrap() % sources.len();
        let source = &sources[at];
        let reference = match references.entry(at) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Reference::of(source).await),
        };
        let case = if run % 5 == 4 {
            Case::file(&source.url())
        } else {
            Case::storm(&source.url(), &weather(chance.u64(..)))
        };
        let said = format!("run {run}, {}", source.product());
        one(&case, reference, &mut chance, &mut figures, &said).await;
        eprintln!(
            "{said}: {figures:?}, {:.1} s",
            begun.elapsed().as_secs_f64()
        );
    }
    figures.runs = runs;
    eprintln!("{figures:?} in {:.1} s", begun.elapsed().as_secs_f64());
    for source in sources {
        source.drop().await;
    }
}

async fn one(
    case: &Case,
    reference: &Reference,
    chance: &mut fastrand::Rng,
    figures: &mut Figures,
    said: &str,
) {
    let kills = chance.u32(1..6);
    let mut ended = None;
    for _ in 0..kills {
        ended = case.killed(moment(case, reference, chance), &[]);
        if ended.is_some() {
            break;
        }
        figures.kills += 1;
    }
    let ended = ended.unwrap_or_else(|| case.migrate(&[]));
    if ended.code == 1 && ended.stderr.contains("already has items") {
        // Killed between its last word in the state and its report.
        figures.late += 1;
    } else {
        let ended = ended.exits(3);
        let report = ended.json();
        figures.resumed += u64::from(report["resumed"] == true);
        hold_loaded(&report);
        assert_eq!(
            books(&report),
            books(&reference.report),
            "{said}: {report:#}"
        );
    }
    case.left().await.hold(&reference.left, said);
}

/// Early on more often by the clock, and while items are written by their number.
pub(super) fn moment(case: &Case, reference: &Reference, chance: &mut fastrand::Rng) -> When {
    if case.storm.is_none() || chance.u32(..5) < 2 {
        return When::After(reference.took.mul_f64(chance.f64() * 1.2));
    }
    let items = u64::try_from(reference.left.items.len()).unwrap();
    When::Put(chance.u64(..items + items / 50))
}
