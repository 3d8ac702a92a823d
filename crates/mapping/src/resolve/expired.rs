//! Access patterns that return items after they have expired.

use super::patterns::BoundPattern;
use super::reached::PatternFinds;
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::Code;
use crate::model::AccessPattern;
use crate::proof::may_lack;

/// Tells of them. `finds`: what each pattern finds, in the same order.
pub(super) fn check(whole: &ResolvedMapping<'_>, bound: &[BoundPattern], finds: &[PatternFinds]) {
    let Some(ttl) = &whole.table.ttl else { return };
    for (bound, finds) in bound.iter().zip(finds) {
        let found = finds.among(whole.resolved);
        if !is_bounded(&bound.pattern, ttl) {
            report(whole, &bound.pattern, ttl, &found);
        }
    }
}

/// DynamoDB deletes an expired item within days, not at once; until then a Query returns it.
fn report<'a>(
    whole: &ResolvedMapping<'a>,
    pattern: &AccessPattern,
    ttl: &str,
    found: &[&'a ResolvedItem],
) {
    let expiring = found.iter().filter(|item| item.item.node(ttl).is_some());
    let expiring: Vec<&str> = expiring.map(|item| &*item.item.name).collect();
    if expiring.is_empty() {
        return;
    }
    let message = format!(
        "items of {} may come back after they have expired: DynamoDB deletes them days later",
        expiring.join(", ")
    );
    let mut all = found.iter();
    let rest = if all.any(|item| may_lack(whole.subject(item), ttl)) {
        format!(" OR attribute_not_exists({ttl})")
    } else {
        String::new()
    };
    let help = format!(
        "leave them out: filter: \"{ttl} >= :time{rest}\" and params: {{ time: \"{{now | epoch}}\" }}; never use such an item as a lock"
    );
    let place = whole.pattern_place(pattern);
    whole
        .diagnostics
        .add(Code::ExpiredItems, place, message, help);
}

/// Whether a pattern chooses items by the time at which they expire.
fn is_bounded(pattern: &AccessPattern, ttl: &str) -> bool {
    let mut keys = pattern.sort.iter().map(|(key, _)| &key.name);
    if keys.any(|name| **name == *ttl) {
        return true;
    }
    pattern.filter.as_ref().is_some_and(|filter| {
        let words: Vec<&str> = filter.text.split_whitespace().collect();
        let at = filter.names.iter().position(|name| **name == *ttl);
        at.is_some_and(|at| bounds(&words, &format!("#f{at}"), false))
    })
}

/// Whether a condition, or its opposite, compares an attribute or asks that it is absent, in each of its alternatives.
fn bounds(words: &[&str], name: &str, is_opposite: bool) -> bool {
    for (by, is_either) in [("OR", !is_opposite), ("AND", is_opposite)] {
        let parts = split(words, by);
        let mut bounded = parts.iter().map(|part| bounds(part, name, is_opposite));
        match parts.len() {
            0 | 1 => {}
            _ if is_either => return bounded.all(|it| it),
            _ => return bounded.any(|it| it),
        }
    }
    match words {
        ["NOT", rest @ ..] => bounds(rest, name, !is_opposite),
        ["(", rest @ .., ")"] => bounds(rest, name, is_opposite),
        ["attribute_exists", "(", asked, ")"] => is_opposite && *asked == name,
        ["attribute_not_exists", "(", asked, ")"] => !is_opposite && *asked == name,
        [first, "=" | "<" | "<=" | ">" | ">=", second] => *first == name || *second == name,
        [first, "BETWEEN", ..] => *first == name,
        _ => false,
    }
}

/// The parts of a condition between a word that stands in no parentheses. The AND of a BETWEEN is none.
fn split<'w, 't>(words: &'w [&'t str], by: &str) -> Vec<&'w [&'t str]> {
    let mut parts = Vec::new();
    let (mut from, mut depth, mut between) = (0, 0_usize, false);
    for (at, word) in words.iter().enumerate() {
        match *word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "BETWEEN" if depth == 0 => between = true,
            "AND" if depth == 0 && between => between = false,
            word if depth == 0 && word == by => {
                parts.extend(words.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(words.get(from..));
    parts
}
