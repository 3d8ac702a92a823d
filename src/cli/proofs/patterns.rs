//! How the access patterns are served.

use super::ProofLine;
use crate::claim::ClaimKind;
use crate::cli::format::counted;
use crate::mapping::{PatternProof, Proofs};

/// A line on all patterns, with a reason for each; none where there are no patterns.
pub(super) fn line(proofs: &Proofs) -> Option<ProofLine> {
    let patterns = &proofs.patterns;
    let is_get = |proof: &&PatternProof| proof.operation == "GetItem";
    let gets = patterns.iter().filter(is_get).count();
    let queries = patterns.len() - gets;
    let by = match (gets, queries) {
        (_, 0) => "by GetItem".to_owned(),
        (0, _) => "by Query".to_owned(),
        (gets, queries) => format!("{gets} by GetItem, {queries} by Query"),
    };
    let all = patterns.len();
    let verb = if all == 1 { "is" } else { "are" };
    let mut text = format!("{} {verb} served", counted(all, "access pattern"));
    text.push_str(if gets > 0 && queries > 0 { ": " } else { " " });
    text.push_str(&by);
    (all > 0).then(|| {
        ProofLine::new(
            "patterns",
            text,
            patterns.iter().map(|proof| served(proof, proofs)),
        )
    })
}

/// How a pattern is served, and why it may find others than it is said to.
fn served(proof: &PatternProof, proofs: &Proofs) -> String {
    let of = match &proof.index {
        Some(index) => index.as_str(),
        None => "the table",
    };
    let partitions = match proof.partitions {
        1 => String::new(),
        many => format!("; {many} partitions, merged"),
    };
    let units = match proof.most_units {
        Some(most) if most <= proof.least_units => format!("{most} read units"),
        Some(most) => format!("{} to {most} read units", proof.least_units),
        None => format!("from {} read units, no upper limit", proof.least_units),
    };
    let fetch = if proof.fetches {
        ", which are then read whole by BatchGetItem"
    } else {
        ""
    };
    let mut claims = proofs.of(ClaimKind::PatternFinds);
    let unproved = claims
        .find(|claim| claim.of.pattern.as_deref() == Some(&*proof.pattern) && !claim.is_proved());
    let others = unproved.map_or_else(String::new, |claim| {
        format!(" (may find others too: {})", claim.because)
    });
    format!(
        "{}: {} on {of}, {}{partitions}; finds {}{others}{fetch}; {units}",
        proof.pattern,
        proof.operation,
        proof.condition,
        proof.finds.join(", ")
    )
}
