//! Which item types the access patterns find, held against those that they promise.

use std::ops::Range;

use dynafold_format::joined;

use super::patterns::{BoundPattern, is_range, misfits};
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::model::{AccessPattern, SortCondition};
use crate::proof::{KeyCondition, ProofBudget, Reachability, reach};
use crate::raw::{RawPattern, Spanned};
use crate::yaml::YamlNode;

/// What an access pattern finds.
#[derive(Debug, Default)]
pub(super) struct PatternFinds {
    /// Item types that it finds.
    pub(super) item_types: Vec<String>,
    /// Item types that it finds with odd values alone.
    pub(super) barely: Vec<String>,
    /// Those of `item_types` of which that is not known.
    pub(super) unknown: Vec<String>,
    /// Whether the caller may give any partition key value, because the pattern names no item types and writes none of the key.
    pub(super) is_open: bool,
}

impl PatternFinds {
    /// The item types that it finds, of these; where the caller may give any partition key value, all that have one for it.
    pub(super) fn among<'r>(&self, resolved: &'r [ResolvedItem]) -> Vec<&'r ResolvedItem> {
        let barely: &[String] = if self.is_open { &self.barely } else { &[] };
        let is_found = |item: &&ResolvedItem| {
            let mut names = self.item_types.iter().chain(barely);
            names.any(|name| *name == *item.item.name)
        };
        resolved.iter().filter(is_found).collect()
    }
}

/// Tells of what patterns find besides what they promise, and of what they do not find. Gives what each
/// finds.
pub(super) fn check(whole: &ResolvedMapping<'_>, bound: &[BoundPattern]) -> Vec<PatternFinds> {
    let diagnostics = whole.diagnostics;
    let mut all = Vec::new();
    let mut work = ProofBudget::all();
    // What finds a faulty item type seems to find nothing.
    if !whole.is_complete() {
        return all;
    }
    for bound in bound {
        let mut written = whole.raw.patterns.iter();
        let Some(pattern) = written.find(|raw| raw.name.value == *bound.pattern.name) else {
            continue;
        };
        diagnostics.extend(bound.warnings.iter().cloned());
        let conditions = conditions(&bound.pattern);
        let found = whole.resolved.iter().map(|item| {
            let mut items = pattern.items.iter();
            let promised = items.find(|name| name.value == *item.item.name);
            let reach = reach(whole.subject(item), &conditions, &mut work);
            (item, promised, reach)
        });
        let found: Vec<_> = found.collect();
        let nothing = found
            .iter()
            .all(|(_, _, reach)| *reach == Reachability::Never);
        if pattern.items.is_empty() && nothing {
            let what = pattern.name.with("any item type".to_owned());
            diagnostics.push(never(whole, pattern, &what, whole.resolved, &conditions));
        }
        let mut extra: Vec<&str> = Vec::new();
        for (item, promised, reach) in &found {
            match (promised, reach) {
                (Some(name), Reachability::Never) => {
                    let what = name.with(format!("`{}`", item.item.name));
                    let item = std::slice::from_ref(*item);
                    diagnostics.push(never(whole, pattern, &what, item, &conditions));
                }
                (None, Reachability::Yes) => extra.push(&item.item.name),
                _ => {}
            }
            if *reach != Reachability::Never && (promised.is_some() || pattern.items.is_empty()) {
                misfits(bound, pattern, &item.item.name, diagnostics);
            }
        }
        if !pattern.items.is_empty() && pattern.filter.is_none() && !extra.is_empty() {
            extras(pattern, &extra, diagnostics);
        }
        let named = |wanted: &dyn Fn(bool, Reachability) -> bool| -> Vec<String> {
            found
                .iter()
                .filter(|(_, promised, reach)| wanted(promised.is_some(), *reach))
                .map(|(item, ..)| item.item.name.to_string())
                .collect()
        };
        let mut partition = bound.pattern.partition.iter();
        all.push(PatternFinds {
            is_open: pattern.items.is_empty()
                && partition.all(|(_, asked)| asked.single().is_some()),
            item_types: named(&|promised, reach| {
                matches!(reach, Reachability::Yes | Reachability::Unknown)
                    || (promised && reach == Reachability::Barely)
            }),
            unknown: named(&|_, reach| reach == Reachability::Unknown),
            barely: named(&|promised, reach| !promised && reach == Reachability::Barely),
        });
    }
    all
}

/// Items of a pattern that finds none which are shown beside it.
const SHOWN: usize = 3;

/// A pattern that does not find these items: what it asks for, and what they have there.
fn never<'a>(
    whole: &ResolvedMapping<'a>,
    pattern: &RawPattern,
    what: &Spanned<String>,
    items: &'a [ResolvedItem],
    conditions: &[KeyCondition<'_>],
) -> Diagnostic {
    let keys = |attribute: &str| pattern.key.iter().find(move |entry| entry.key == attribute);
    let mut work = ProofBudget::one();
    let is_culprit = |condition: &&[KeyCondition<'_>]| {
        let mut items = items.iter();
        items.all(|item| reach(whole.subject(item), condition, &mut work) == Reachability::Never)
    };
    let mut culprits = conditions.chunks(1).filter(is_culprit).flatten();
    let culprit = culprits.next().or_else(|| conditions.first());
    let name = culprit.map_or("", |(key, _)| &key.name);
    let wanted = keys(name).map_or_else(
        || "anything".to_owned(),
        |entry| condition_text(&entry.value),
    );
    let has = items.iter().take(SHOWN).map(|item| {
        let has = match item.item.template(name) {
            Some(template) => format!("{name} = {template}"),
            None => format!("no {name}"),
        };
        format!("{} has {has}", item.item.name)
    });
    let has = joined(has, ", ");
    let message = format!(
        "`{}` can never find {}: it asks for {name} {wanted}, and {has}",
        pattern.name.value, what.value
    );
    let mut fault = Diagnostic::new(Code::NeverMatches, what.span.clone(), message)
        .with_help("write the condition as the item's key is written, with the same texts, filters and widths, or use another index");
    if let Some(entry) = keys(name) {
        fault = fault.with_other(entry.value.span.clone(), "what is asked for");
    }
    for item in items.iter().take(SHOWN) {
        if let Some(span) = item.spans.get(name) {
            fault = fault.with_other(span.clone(), format!("what {} has", item.item.name));
        }
    }
    fault
}

/// A condition as it is written.
fn condition_text(condition: &YamlNode) -> String {
    if let Some(text) = condition.text() {
        return format!("= {text}");
    }
    let each = condition.entries().iter().map(|entry| {
        let bounds = entry.value.elements().iter().chain([&entry.value]);
        let texts = joined(bounds.filter_map(YamlNode::text), " and ");
        format!("{} {texts}", entry.key)
    });
    joined(each, ", ")
}

fn extras(pattern: &RawPattern, extra: &[&str], diagnostics: &Diagnostics) {
    let names = joined(extra.iter().map(|name| format!("`{name}`")), ", ");
    let message = format!("`{}` also finds {names}", pattern.name.value);
    let place = sort_condition(pattern).unwrap_or_else(|| pattern.name.span.clone());
    let promised = pattern.items.iter().map(|name| name.value.as_str());
    let all = joined(promised.chain(extra.iter().copied()), ", ");
    let help = format!(
        "make the condition narrower, or add the item types to the pattern: items: [{all}]"
    );
    diagnostics.add(Code::ExtraItems, place, message, help);
}

/// Where a range of the sort key stands.
fn sort_condition(pattern: &RawPattern) -> Option<Range<usize>> {
    let mut ranges = pattern.key.iter().filter(|entry| is_range(&entry.value));
    Some(ranges.next()?.value.entries().first()?.value.span.clone())
}

/// The key attributes that an item must have, with what is asked of each.
fn conditions(pattern: &AccessPattern) -> Vec<KeyCondition<'_>> {
    let partition = pattern.partition.iter();
    let partition =
        partition.map(|(key, template)| (key, Some(SortCondition::Is(template.clone()))));
    let sort = pattern.order.iter().map(|key| {
        let mut sort = pattern.sort.iter();
        let found = sort.find(|(other, _)| other == key);
        (key, found.map(|(_, condition)| condition.clone()))
    });
    partition.chain(sort).collect()
}
