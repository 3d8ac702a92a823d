//! Asks both sides: for each access pattern, calls are drawn, its SQL is run on the source and the
//! pattern on the table, and the answers are compared.

use std::collections::HashMap;
use std::fmt;
use std::time::Instant;

use super::draw::Ground;
use super::report::{PatternReport, PatternState, PatternsOutcome, PatternsReport};
use super::stop::Stop;
use super::work::Work;
use crate::load::{Cancel, Failure};
use crate::mapping::model::AccessPattern;
use crate::source::Source;
use crate::target::Target;

/// What is to be proved.
pub struct Proving<'a> {
    /// The schema, the mapping and the run's clock.
    pub ground: Ground<'a>,
    /// The item types that each pattern finds, for those that promise none.
    pub finds: HashMap<String, Vec<String>>,
    /// The patterns that are asked about; all of them where none is named.
    pub names: &'a [String],
    /// About how many calls of each pattern.
    pub values: usize,
    /// Differences that are named, of each pattern and of each call.
    pub examples: usize,
    /// Stops the proof.
    pub cancel: &'a Cancel,
    /// Told which pattern is at work, of how many, and how many calls it takes.
    pub progress: &'a (dyn Fn(usize, usize, &str, usize) + Send + Sync),
}

impl fmt::Debug for Proving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proving")
            .field("names", &self.names)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}

/// Proves access patterns. All that is read of the source is of one snapshot, which this opens.
pub async fn prove(
    proving: &Proving<'_>,
    source: &mut dyn Source,
    target: &dyn Target,
) -> PatternsReport {
    let begun = Instant::now();
    let mut patterns = Vec::new();
    let ended = tokio::select! {
        biased;
        () = proving.cancel.cancelled() => None,
        ended = all(proving, source, target, &mut patterns) => Some(ended),
    };
    let count = |state| {
        patterns
            .iter()
            .filter(|one: &&PatternReport| one.state == state)
            .count()
    };
    let (proved, different) = (count(PatternState::Proved), count(PatternState::Different));
    let without_sql = count(PatternState::WithoutSql);
    let not_proved = count(PatternState::NotProved);
    let outcome = match ended {
        None => PatternsOutcome::Interrupted,
        Some(Err(failure)) => PatternsOutcome::Failed(failure),
        Some(Ok(())) if different > 0 => PatternsOutcome::Different,
        // Who names a pattern wants to know of it; and with no proof at all nothing is proved.
        Some(Ok(())) if not_proved > 0 || proved == 0 => PatternsOutcome::NotProved,
        Some(Ok(())) if without_sql > 0 && !proving.names.is_empty() => PatternsOutcome::NotProved,
        Some(Ok(())) => PatternsOutcome::Proved,
    };
    PatternsReport {
        table: proving.ground.model.table.name.clone(),
        place: target.place(),
        now: proving.ground.context.now.to_string(),
        patterns,
        proved,
        different,
        not_proved,
        without_sql,
        elapsed_seconds: begun.elapsed().as_secs_f64(),
        outcome,
    }
}

async fn all(
    proving: &Proving<'_>,
    source: &mut dyn Source,
    target: &dyn Target,
    reports: &mut Vec<PatternReport>,
) -> Result<(), Failure> {
    source
        .begin()
        .await
        .map_err(|error| Failure::from(&error))?;
    let wanted = |pattern: &&AccessPattern| {
        proving.names.is_empty() || proving.names.iter().any(|name| **name == *pattern.name)
    };
    let wanted: Vec<&AccessPattern> = proving
        .ground
        .model
        .patterns
        .iter()
        .filter(wanted)
        .collect();
    for (number, pattern) in wanted.iter().enumerate() {
        let mut work = Work {
            proving,
            pattern,
            report: PatternReport {
                pattern: pattern.name.to_string(),
                ..PatternReport::default()
            },
        };
        let told =
            |calls: usize| (proving.progress)(number + 1, wanted.len(), &pattern.name, calls);
        match work.prove(source, target, &told).await {
            Ok(()) => {}
            Err(Stop::Unproved(reason)) => {
                work.report.state = PatternState::NotProved;
                work.report.reason = Some(reason);
            }
            Err(Stop::Failed(failure)) => return Err(failure),
        }
        reports.push(work.report);
    }
    Ok(())
}

/// Finds out, without reading rows, which access patterns with SQL could not be proved: their names,
/// and why.
///
/// # Errors
///
/// [`Failure`] when the source goes away.
pub async fn foresee(
    proving: &Proving<'_>,
    source: &mut dyn Source,
) -> Result<Vec<(String, String)>, Failure> {
    let mut found = Vec::new();
    for pattern in &proving.ground.model.patterns {
        let work = Work {
            proving,
            pattern,
            report: PatternReport::default(),
        };
        match work.foresee(source).await {
            Ok(()) => {}
            Err(Stop::Unproved(why)) => found.push((pattern.name.to_string(), why)),
            Err(Stop::Failed(failure)) => return Err(failure),
        }
    }
    Ok(found)
}
