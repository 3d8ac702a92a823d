//! Read units of access patterns: what they are made from, and which are lower bounds.

use super::{NO_PRICE, units};
use crate::document::definition::{Definition, Units};
use crate::format::counted;

/// What read units, and the cost of them, are made from; why some are lower bounds.
pub(in crate::document) fn reads(definition: &Definition) -> Option<String> {
    let patterns = || definition.patterns.iter();
    let examples = definition.examples.as_ref();
    let is_answered = patterns().any(|pattern| pattern.units.example.is_some());
    let mut bounds = patterns().filter(|pattern| pattern.units.at_least);
    let goes_on = bounds.clone().any(|pattern| pattern.answer.is_some());
    let is_blank = bounds.any(|pattern| pattern.answer.is_none());
    let mut told = Vec::new();
    if is_answered {
        let usual = "Read units are those of the examples' answers; other parameters may find more or less.";
        told.push(usual.to_owned());
    }
    let target = "With `--target` the loaded table is asked, and its answers tell all units.";
    match examples {
        Some(examples) if goes_on && examples.asked.is_none() && !examples.whole => {
            let rows = counted(examples.rows, "row");
            told.push(format!(
                "≥ is a lower bound: the example was asked of the first {rows} of each item type, \
                 and further rows may add to what it finds. {target}"
            ));
        }
        Some(_) if goes_on => {
            let pages = "≥ is a lower bound: the answer has more pages than were read.";
            told.push(pages.to_owned());
        }
        _ => {}
    }
    if is_blank {
        let least =
            "Where there is no example, ≥ stands before what a call takes that finds nothing.";
        told.push(least.to_owned());
        if examples.is_none() {
            told.push(target.to_owned());
        }
    }
    (!told.is_empty()).then(|| told.join(" "))
}

/// The same for the sum at the declared rates; `None` where no access pattern has one.
pub(in crate::document) fn rated(definition: &Definition) -> Option<String> {
    let mut patterns = definition.patterns.iter();
    let is_rated = patterns.any(|pattern| pattern.rate.is_some());
    reads(definition).filter(|_| is_rated)
}

/// A figure that may be a lower bound: `≥ 0.5`.
pub(in crate::document) fn marked(at_least: bool, figure: &str) -> String {
    bound(at_least, "≥", figure)
}

/// The same in a sentence: `at least 0.5`.
pub(in crate::document) fn told(at_least: bool, figure: &str) -> String {
    bound(at_least, "at least", figure)
}

fn bound(at_least: bool, words: &str, figure: &str) -> String {
    match figure.strip_prefix("< ") {
        _ if !at_least || figure == NO_PRICE => figure.to_owned(),
        // A figure too small to be shown.
        Some(_) => "> 0".to_owned(),
        None => format!("{words} {figure}"),
    }
}

/// Read units of a call: those of the example, and what they may be.
pub(in crate::document) fn call(of: &Units) -> String {
    match of.example {
        Some(example) => format!(
            "{} in the example; {}",
            told(of.at_least, &units(example)),
            bounds(of)
        ),
        None => bounds(of),
    }
}

/// What a call may use at least and at most.
fn bounds(of: &Units) -> String {
    match of.most {
        Some(most) if most <= of.least => format!("always {}", units(most)),
        Some(most) => format!("{} to {}", units(of.least), units(most)),
        None => format!("{} and more: each 4 KB found adds to it", units(of.least)),
    }
}
