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
    /// Names of the item types that it finds.
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

/// Reports what patterns find besides what they promise, and what they do not find. Gives what each finds.
pub(super) fn check(whole: &ResolvedMapping<'_>, bound: &[BoundPattern]) -> Vec<PatternFinds> {
    // What finds a faulty item type seems to find nothing.
    if !whole.is_complete() {
        return Vec::new();
    }
    let mut work = ProofBudget::all();
    let finds = bound.iter().filter_map(|bound| {
        let mut written = whole.raw.patterns.iter();
        let pattern = written.find(|raw| raw.name.value == *bound.pattern.name)?;
        Some(check_pattern(whole, bound, pattern, &mut work))
    });
    finds.collect()
}

fn check_pattern(
    whole: &ResolvedMapping<'_>,
    bound: &BoundPattern,
    pattern: &RawPattern,
    work: &mut ProofBudget,
) -> PatternFinds {
    let diagnostics = whole.diagnostics;
    diagnostics.extend(bound.warnings.iter().cloned());
    let conditions = conditions(&bound.pattern);
    let names_none = pattern.items.is_empty();
    let mut partition = bound.pattern.partition.iter();
    let mut finds = PatternFinds {
        is_open: names_none && partition.all(|(_, asked)| asked.single().is_some()),
        ..PatternFinds::default()
    };
    let mut extra: Vec<&str> = Vec::new();
    for item in whole.resolved {
        let name = &item.item.name;
        let promised = pattern.items.iter().find(|one| one.value == **name);
        let reach = reach(whole.subject(item), &conditions, work);
        match (promised, reach) {
            (None, Reachability::Never) => continue,
            (Some(written), Reachability::Never) => {
                let what = written.with(format!("`{name}`"));
                let item = std::slice::from_ref(item);
                diagnostics.push(never_matches(whole, pattern, &what, item, &conditions));
                continue;
            }
            (None, Reachability::Barely) => finds.barely.push(name.to_string()),
            (_, Reachability::Barely | Reachability::Yes) => {
                finds.item_types.push(name.to_string());
            }
            (_, Reachability::Unknown) => {
                finds.item_types.push(name.to_string());
                finds.unknown.push(name.to_string());
            }
        }
        if promised.is_some() || names_none {
            misfits(bound, pattern, name, diagnostics);
        } else if reach == Reachability::Yes {
            extra.push(name);
        }
    }
    if names_none && finds.item_types.is_empty() && finds.barely.is_empty() {
        let what = pattern.name.with("any item type".to_owned());
        diagnostics.push(never_matches(
            whole,
            pattern,
            &what,
            whole.resolved,
            &conditions,
        ));
    }
    if pattern.filter.is_none() && !extra.is_empty() {
        report_extra_items(pattern, &extra, diagnostics);
    }
    finds
}

/// Item types that are named where a pattern finds none of them.
const NAMED_ITEM_TYPES: usize = 3;

/// A pattern that does not find these items: what it asks for, and what they have there.
fn never_matches<'a>(
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
    let keys_of_items = items.iter().take(NAMED_ITEM_TYPES).map(|item| {
        let key = match item.item.template(name) {
            Some(template) => format!("{name} = {template}"),
            None => format!("no {name}"),
        };
        format!("{} has {key}", item.item.name)
    });
    let message = format!(
        "`{}` can never find {}: it asks for {name} {wanted}, and {}",
        pattern.name.value,
        what.value,
        joined(keys_of_items, ", ")
    );
    let mut fault = Diagnostic::new(Code::NeverMatches, what.span.clone(), message)
        .with_help("write the condition as the item's key is written, with the same texts, filters and widths, or use another index");
    if let Some(entry) = keys(name) {
        fault = fault.with_other(entry.value.span.clone(), "what is asked for");
    }
    for item in items.iter().take(NAMED_ITEM_TYPES) {
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

fn report_extra_items(pattern: &RawPattern, extra: &[&str], diagnostics: &Diagnostics) {
    let names = joined(extra.iter().map(|name| format!("`{name}`")), ", ");
    let message = format!("`{}` also finds {names}", pattern.name.value);
    let place = range_span(pattern).unwrap_or_else(|| pattern.name.span.clone());
    let promised = pattern.items.iter().map(|name| name.value.as_str());
    let all = joined(promised.chain(extra.iter().copied()), ", ");
    let help = format!(
        "make the condition narrower, or add the item types to the pattern: items: [{all}]"
    );
    diagnostics.add(Code::ExtraItems, place, message, help);
}

/// Where a range of the sort key stands.
fn range_span(pattern: &RawPattern) -> Option<Range<usize>> {
    let mut ranges = pattern.key.iter().filter(|entry| is_range(&entry.value));
    Some(ranges.next()?.value.entries().first()?.value.span.clone())
}

/// The key attributes that an item must have, with what is asked of each.
fn conditions(pattern: &AccessPattern) -> Vec<KeyCondition<'_>> {
    let partition = pattern
        .partition
        .iter()
        .map(|(key, template)| (key, Some(SortCondition::Is(template.clone()))));
    let sort = pattern.order.iter().map(|key| {
        let mut sort = pattern.sort.iter();
        let found = sort.find(|(other, _)| other == key);
        (key, found.map(|(_, condition)| condition.clone()))
    });
    partition.chain(sort).collect()
}
