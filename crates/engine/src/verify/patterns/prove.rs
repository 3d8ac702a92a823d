//! Asks both sides: for each access pattern, calls are drawn, its SQL is run on the source and the
//! pattern on the table, and the answers are compared.

use std::sync::Arc;
use std::time::Instant;

use dynafold_format::counted;
use dynafold_mapping::claim::{Claim, ClaimKind, ClaimSubject, ClaimVerdict};
use dynafold_mapping::model::AccessPattern;
use dynafold_relational::catalog::Catalog;
use dynafold_relational::scan::{Relation, Scan};
use dynafold_source::Source;
use dynafold_sql::{SqlQuery, table};
use dynafold_target::Target;

use super::reach::{AskedKeys, survey};
use super::report::{PatternReport, PatternsOutcome, PatternsReport};
use super::work::{PatternFindings, PatternProver, ProofStop, Proving};
use crate::load::{Failure, require_same_table, table_id};

/// Proves access patterns. All that is read of the source is of one snapshot, which this opens.
pub async fn prove(
    proving: &Proving<'_>,
    source: &mut dyn Source,
    target: &dyn Target,
) -> PatternsReport {
    let begun = Instant::now();
    let (mut patterns, mut claims) = (Vec::new(), Vec::new());
    let ended = tokio::select! {
        biased;
        () = proving.cancel.cancelled() => None,
        ended = all(proving, source, target, &mut patterns, &mut claims) => Some(ended),
    };
    if ended.is_none()
        && let Some(canceller) = source.canceller()
    {
        canceller.cancel().await;
    }
    // Claims need the checks at the end of the run.
    let unended = match &ended {
        None => Some("the run was interrupted"),
        Some(Err(_)) => Some("the run failed, so that not all of its checks were made or passed"),
        Some(Ok(())) => None,
    };
    if let Some(because) = unended {
        let known = claims.iter_mut();
        for claim in known.filter(|claim| claim.verdict != ClaimVerdict::NotProved) {
            claim.verdict = ClaimVerdict::NotProved;
            because.clone_into(&mut claim.because);
        }
    }
    let count =
        |is: fn(ClaimVerdict) -> bool| claims.iter().filter(|claim| is(claim.verdict)).count();
    let proved = count(|verdict| verdict == ClaimVerdict::Proved);
    let agrees = count(|verdict| matches!(verdict, ClaimVerdict::Agrees { .. }));
    let different = count(|verdict| verdict == ClaimVerdict::Differs);
    let not_proved = count(|verdict| verdict == ClaimVerdict::NotProved);
    let without_sql = patterns.len().saturating_sub(claims.len());
    let outcome = match ended {
        None => PatternsOutcome::Interrupted,
        Some(Err(failure)) => PatternsOutcome::Failed(Arc::new(failure)),
        Some(Ok(())) if different > 0 => PatternsOutcome::Different,
        // Who names a pattern wants to know of it; and with no proof at all nothing is proved.
        Some(Ok(())) if not_proved > 0 || claims.is_empty() => PatternsOutcome::NotProved,
        Some(Ok(())) if without_sql > 0 && !proving.names.is_empty() => PatternsOutcome::NotProved,
        Some(Ok(())) if agrees > 0 => PatternsOutcome::Agrees,
        Some(Ok(())) => PatternsOutcome::Proved,
    };
    PatternsReport {
        table: proving.draw_context.model.table.name.clone(),
        place: target.place(),
        now: proving.draw_context.context.now.to_string(),
        claims,
        patterns,
        proved,
        agrees,
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
    claims: &mut Vec<Claim>,
) -> Result<(), Failure> {
    let wanted = |pattern: &&AccessPattern| {
        proving.names.is_empty() || proving.names.iter().any(|name| **name == *pattern.name)
    };
    let draw_context = &proving.draw_context;
    let wanted: Vec<&AccessPattern> = draw_context.model.patterns.iter().filter(wanted).collect();
    let pattern_scans = tables_of_patterns(draw_context.catalog, &wanted);
    let scans: Vec<&Scan> = draw_context
        .model
        .scans()
        .into_iter()
        .chain(&pattern_scans)
        .collect();
    source.begin(&scans).await?;
    let table_name = &draw_context.model.table.name;
    let id = table_id(target, table_name).await?;
    let mut reaches: Vec<(usize, ClaimVerdict, AskedKeys)> = Vec::new();
    for (number, pattern) in wanted.iter().enumerate() {
        let mut prover = PatternProver {
            proving,
            pattern,
            report: PatternReport {
                pattern: pattern.name.to_string(),
                ..PatternReport::default()
            },
        };
        let report_calls =
            |calls: usize| (proving.progress)(number + 1, wanted.len(), &pattern.name, calls);
        let found = match (
            &pattern.sql,
            prover.prove(source, target, &report_calls).await,
        ) {
            (None, _) => None,
            (_, Ok(found)) => Some(found),
            (_, Err(ProofStop::Unproved(because))) => Some(PatternFindings {
                verdict: ClaimVerdict::NotProved,
                because,
                reach: None,
                agrees: ClaimVerdict::NotProved,
            }),
            (_, Err(ProofStop::Failed(failure))) => return Err(failure),
        };
        if let Some(found) = found {
            let example = prover.report.examples.first();
            claims.push(Claim {
                kind: ClaimKind::PatternAnswers,
                of: ClaimSubject {
                    item_types: prover
                        .report
                        .item_types
                        .iter()
                        .map(|one| one.item_type.clone())
                        .collect(),
                    index: pattern.index.as_deref().map(str::to_owned),
                    pattern: Some(pattern.name.to_string()),
                    ..ClaimSubject::default()
                },
                verdict: found.verdict,
                because: found.because,
                facts: prover.report.facts(),
                example: example
                    .and_then(|call| Some(format!("{call}: {}", call.examples.first()?))),
            });
            reaches.extend(
                found
                    .reach
                    .map(|reach| (claims.len() - 1, found.agrees, reach)),
            );
        }
        reports.push(prover.report);
    }
    source.confirm().await?;
    let mut seen: Vec<&mut AskedKeys> = reaches.iter_mut().map(|(.., reach)| reach).collect();
    if !seen.is_empty() {
        survey(&draw_context.model.table, target, &mut seen).await?;
    }
    require_same_table(target, table_name, id.as_deref()).await?;
    for (at, agrees, reach) in reaches {
        let Some(claim) = claims.get_mut(at) else {
            continue;
        };
        if reach.missed == 0 {
            claim
                .facts
                .push("all keys of the table were read: it finds no other item".to_owned());
        } else {
            claim.verdict = agrees;
            claim.because = format!(
                "calls that were not asked find {} of the table",
                counted(reach.missed, "item")
            );
        }
    }
    Ok(())
}

/// The tables of the SQL of access patterns, to be held as those that the mapping reads.
fn tables_of_patterns(catalog: &Catalog, patterns: &[&AccessPattern]) -> Vec<Scan> {
    let sql = patterns.iter().filter_map(|pattern| pattern.sql.as_ref());
    let queries = sql.filter_map(|sql| SqlQuery::read(sql, Some(catalog.dbms)).ok());
    let named = queries.flat_map(|query| query.tables);
    let tables = named.filter_map(|read| table(catalog, read.schema.as_ref(), &read.name));
    let tables = tables.filter(|table| table.readable);
    tables
        .map(|table| Scan::of(Relation::Table(table.name.clone()), Vec::new()))
        .collect()
}

/// The access patterns with SQL that cannot be proved, each with the reason. Reads no rows.
///
/// # Errors
///
/// [`Failure`] when the source goes away.
pub async fn unprovable_patterns(
    proving: &Proving<'_>,
    source: &mut dyn Source,
) -> Result<Vec<(String, String)>, Failure> {
    let mut found = Vec::new();
    for pattern in &proving.draw_context.model.patterns {
        let prover = PatternProver {
            proving,
            pattern,
            report: PatternReport::default(),
        };
        match prover.check_provable(source).await {
            Ok(()) => {}
            Err(ProofStop::Unproved(why)) => found.push((pattern.name.to_string(), why)),
            Err(ProofStop::Failed(failure)) => return Err(failure),
        }
    }
    Ok(found)
}
