//! Access patterns that return items after they have expired.

use dynafold_format::{has_word, joined, text_if};

use super::patterns::BoundPattern;
use super::reached::PatternFinds;
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::Code;
use crate::model::{
    AccessPattern, FilterExpression, FilterOperand, Placeholder, SortCondition, Template,
    TemplatePart,
};
use crate::proof::may_lack;
use crate::scalar::quoted;
use crate::template::Filter;

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
    let item_types = found.iter().map(|item| &item.item);
    let expire = item_types.filter(|item| item.may_expire(whole.table));
    let expiring = joined(expire.map(|item| &*item.name), ", ");
    if expiring.is_empty() {
        return;
    }
    let message = format!(
        "this pattern may return items of {expiring} that have expired: DynamoDB deletes them within days, not at once"
    );
    let mut all = found.iter();
    let lacking = all.any(|item| may_lack(whole.subject(item), ttl));
    let rest = text_if(lacking, format!(" OR attribute_not_exists({ttl})"));
    let time = free_name(pattern);
    let condition = match pattern.order.iter().position(|key| *key.name == *ttl) {
        // DynamoDB takes no attribute of the key that is asked in a filter.
        Some(at) if at == pattern.sort.len() => {
            format!("key: {{ {ttl}: {{ ge: \"{{{time}}}\" }} }}")
        }
        Some(_) => format!("let its condition on the key `{ttl}` begin at `{{{time}}}`,"),
        None => {
            let mut written = whole.raw.patterns.iter();
            let written = written.find(|raw| raw.name.value == *pattern.name);
            let old = written.and_then(|raw| raw.filter.as_ref()?.text());
            let only = format!("{ttl} >= :{time}{rest}");
            let filter = old.map_or(only.clone(), |old| format!("({old}) AND ({only})"));
            format!("filter: {}", quoted(&filter))
        }
    };
    let index = pattern.index.as_ref();
    let index = index.and_then(|index| whole.table.index(index));
    let project = match index.filter(|index| !whole.table.projects(index, ttl)) {
        Some(index) => format!("project `{ttl}` into `{}`, and ", index.name),
        None => String::new(),
    };
    let help = format!(
        "{project}leave them out: {condition} and params: {{ {time}: \"{{now | epoch}}\" }}; never use such an item as a lock"
    );
    let place = whole.pattern_place(pattern);
    (whole.diagnostics).add(Code::ExpiredItems, place, message, help);
}

/// A name for the time of the request that no parameter of the pattern or its SQL has.
fn free_name(pattern: &AccessPattern) -> String {
    let is_taken = |name: &str| {
        let mut own = pattern.parameters.iter();
        let sql = pattern.sql.as_deref().unwrap_or_default();
        own.any(|own| *own.name == *name) || has_word(sql, name)
    };
    let numbered = (2..).map(|number: u32| format!("time{number}"));
    let mut names = std::iter::once("time".to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Whether a pattern leaves out what has expired: the TTL attribute is not before now.
fn is_bounded(pattern: &AccessPattern, ttl: &str) -> bool {
    use SortCondition::{Between, Greater, GreaterOrEqual};
    let mut sort = pattern.sort.iter();
    let asked = sort.find(|(key, _)| *key.name == *ttl);
    if let Some((_, Between(low, _) | Greater(low) | GreaterOrEqual(low))) = asked
        && is_now(pattern, low)
    {
        return true;
    }
    pattern.filter.as_ref().is_some_and(|filter| {
        let words: Vec<&str> = filter.text.split_whitespace().collect();
        let at = filter.names.iter().position(|name| **name == *ttl);
        let bounds = |at| ExpiryBounds {
            pattern,
            filter,
            name: format!("#f{at}"),
        };
        at.is_some_and(|at| bounds(at).hold(&words, false))
    })
}

/// Whether a value of a key condition is the time of the request, or a later one.
fn is_now(pattern: &AccessPattern, value: &Template) -> bool {
    let [TemplatePart::Value(placeholder)] = value.parts.as_slice() else {
        return false;
    };
    is_clock(pattern, placeholder.place.column) && keeps_now(placeholder)
}

/// Whether a parameter is the time of the request, or a later one. Of what the caller gives, nothing is known.
fn is_clock(pattern: &AccessPattern, parameter: usize) -> bool {
    let parameter = pattern.parameters.get(parameter);
    let clock = parameter.and_then(|parameter| parameter.from_clock.as_ref());
    clock.is_some_and(|clock| clock.placeholders().all(keeps_now))
}

/// Whether filters make no earlier time of one.
fn keeps_now(placeholder: &Placeholder) -> bool {
    let mut filters = placeholder.filters.iter();
    filters.all(|filter| match filter {
        Filter::Epoch => true,
        Filter::Plus(period) => !period.is_negative(),
        _ => false,
    })
}

/// What a filter says of the TTL attribute.
struct ExpiryBounds<'p> {
    pattern: &'p AccessPattern,
    filter: &'p FilterExpression,
    /// The attribute, as the expression names it.
    name: String,
}

impl ExpiryBounds<'_> {
    /// Whether a condition, or its opposite, leaves out what has expired in each of its alternatives.
    fn hold(&self, words: &[&str], is_opposite: bool) -> bool {
        for (by, is_either) in [("OR", !is_opposite), ("AND", is_opposite)] {
            let parts = split(words, by);
            let mut bounded = parts.iter().map(|part| self.hold(part, is_opposite));
            match parts.len() {
                0 | 1 => {}
                _ if is_either => return bounded.all(|it| it),
                _ => return bounded.any(|it| it),
            }
        }
        match words {
            ["NOT", rest @ ..] => self.hold(rest, !is_opposite),
            ["(", rest @ .., ")"] => self.hold(rest, is_opposite),
            ["attribute_exists", "(", asked, ")"] => is_opposite && *asked == self.name,
            ["attribute_not_exists", "(", asked, ")"] => !is_opposite && *asked == self.name,
            [late, ">" | ">=", early] | [early, "<" | "<=", late] => {
                let (late, early) = if is_opposite {
                    (early, late)
                } else {
                    (late, early)
                };
                *late == self.name && self.is_now(early)
            }
            [asked, "BETWEEN", low, ..] => !is_opposite && *asked == self.name && self.is_now(low),
            _ => false,
        }
    }

    fn is_now(&self, value: &str) -> bool {
        let at = value.strip_prefix(":f").and_then(|at| at.parse().ok());
        let operand = at.and_then(|at: usize| self.filter.values.get(at));
        matches!(operand, Some(FilterOperand::Parameter(at)) if is_clock(self.pattern, *at))
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
