//! Whether a key or an index can serve a condition, and which one could.

use std::collections::HashSet;
use std::ops::Range;

use dynafold_dynamodb::{Index, KeyAttribute, KeyType, Table};

use super::PatternContext;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean, nearest};
use crate::raw::{RawPattern, Spanned};
use crate::yaml::{YamlContent, YamlEntry, YamlNode};

/// The key that a pattern asks by: the table's own or an index's.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedKey<'t> {
    pub(super) partition: &'t [KeyAttribute],
    pub(super) sort: &'t [KeyAttribute],
    pub(super) index: Option<&'t Index>,
}

impl<'t> AskedKey<'t> {
    fn of(table: &'t Table, index: Option<&'t Index>) -> Self {
        let (partition, sort) = match index {
            None => (
                std::slice::from_ref(&table.partition),
                table.sort.as_slice(),
            ),
            Some(index) => (index.partition.as_slice(), index.sort.as_slice()),
        };
        Self {
            partition,
            sort,
            index,
        }
    }

    /// The key that a pattern names.
    pub(super) fn find(pattern: &RawPattern, context: &PatternContext<'t>) -> Option<Self> {
        let table = context.table;
        let Some(wanted) = &pattern.index else {
            return Some(Self::of(table, None));
        };
        if let Some(index) = table.index(&wanted.value) {
            return Some(Self::of(table, Some(index)));
        }
        let names = table.all_indexes().map(|index| index.name.as_str());
        let mut fault = not_there(wanted, "index", names.clone());
        fault.code = Code::UnknownIndex;
        if let Some(serving) = serving(pattern, table)
            && nearest(&wanted.value, names).is_none()
        {
            fault.help = Some(serving);
        }
        context.diagnostics.push(fault);
        None
    }

    /// What holds the attributes of a pattern's answer: what is asked, or the table, from which the items are then read.
    pub(super) fn answering(&self, pattern: &RawPattern) -> Self {
        Self {
            index: self.index.filter(|_| !pattern.fetches()),
            ..*self
        }
    }

    /// How people call it.
    pub(super) fn called(&self) -> String {
        match self.index {
            None => "the table".to_owned(),
            Some(index) => format!("`{}`", index.name),
        }
    }

    pub(super) fn attributes(&self) -> impl Iterator<Item = &'t KeyAttribute> + Clone + use<'t> {
        self.partition.iter().chain(self.sort)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.attributes().any(|key| *key.name == *name)
    }

    /// Whether what is asked holds an attribute.
    pub(super) fn holds(&self, name: &str, table: &Table) -> bool {
        self.index.is_none_or(|index| table.projects(index, name))
    }

    /// Tells of what is wrong with a condition; whether it can be asked.
    pub(super) fn check(&self, pattern: &RawPattern, context: &PatternContext<'_>) -> bool {
        let diagnostics = context.diagnostics;
        let faults = diagnostics.count();
        let what = self.called();
        let serving = serving(pattern, context.table);
        let fault = |span: Range<usize>, message: String, help: &str| {
            let help = serving.clone().unwrap_or_else(|| help.to_owned());
            Diagnostic::new(Code::AccessPattern, span, message).with_help(help)
        };
        for key in self.partition {
            match entry(pattern, key) {
                None => diagnostics.push(fault(
                    pattern.key_span.clone(),
                    format!(
                        "`{}` has no condition on the partition key `{}` of {what}",
                        pattern.name.value, key.name
                    ),
                    &format!(
                        "a Query needs the whole partition key, by equality; {}",
                        new_index(pattern)
                    ),
                )),
                Some(entry) if is_range(&entry.value) => diagnostics.push(fault(
                    entry.value.span.clone(),
                    format!("the partition key `{}` allows only equality", key.name),
                    "write a template; ranges belong to the sort key",
                )),
                Some(_) => {}
            }
        }
        for entry in &pattern.key {
            if self.has(&entry.key) {
                continue;
            }
            let names: Vec<&str> = self.attributes().map(|key| &*key.name).collect();
            let help = did_you_mean(&entry.key, names.iter().copied()).unwrap_or_else(|| {
                let has = if self.sort.is_empty() {
                    format!("{what} has no sort key")
                } else {
                    format!("its key attributes are {}", names.join(", "))
                };
                format!("{has}; {}", new_index(pattern))
            });
            let message = format!("`{}` is not a key attribute of {what}", entry.key);
            // One fault is enough where the partition key is not said either.
            if diagnostics.count() == faults {
                diagnostics.push(fault(entry.key_span.clone(), message, &help));
            }
        }
        self.sorts(pattern, diagnostics);
        diagnostics.count() == faults
    }

    /// The conditions on the sort key: equality on the first attributes, a range on the last.
    fn sorts(&self, pattern: &RawPattern, diagnostics: &Diagnostics) {
        let mut last: Option<&YamlEntry> = None;
        let mut gap: Option<&KeyAttribute> = None;
        for key in self.sort {
            let Some(entry) = entry(pattern, key) else {
                gap.get_or_insert(key);
                continue;
            };
            let at = entry.key_span.clone();
            if let Some(gap) = gap {
                let message = format!(
                    "`{}` has a condition, and `{}` before it has none",
                    key.name, gap.name
                );
                let help = format!(
                    "conditions start with the first sort key attribute: add one on `{}`, or create an index with `{}` earlier in its key",
                    gap.name, key.name
                );
                diagnostics.add(Code::AccessPattern, at, message, help);
            } else if let Some(range) = last {
                let message = format!(
                    "`{}` has a condition after the range of `{}`",
                    key.name, range.key
                );
                let help = format!(
                    "only the last sort key condition can be a range: use equality on `{}`, or move `{}` to a `filter`",
                    range.key, key.name
                );
                diagnostics.add(Code::AccessPattern, at, message, help);
            }
            if is_range(&entry.value) {
                last = Some(entry);
                operator(key, entry, diagnostics);
            }
        }
    }
}

/// What may be wrong with one range.
fn operator(key: &KeyAttribute, entry: &YamlEntry, diagnostics: &Diagnostics) {
    let operators = entry.value.entries();
    let fault = |span: Range<usize>, message: &str, help: &str| {
        diagnostics.add(Code::AccessPattern, span, message, help);
    };
    if operators.is_empty() {
        fault(
            entry.value.span.clone(),
            "the condition is empty",
            "use one of begins_with, between, lt, le, gt and ge, or leave the sort key out",
        );
    }
    if let Some(second) = operators.get(1) {
        fault(
            second.key_span.clone(),
            "a sort key can have only one condition",
            "for two bounds, use between: [a, b]",
        );
    }
    if let Some(between) = entry.value.get("between")
        && between.elements().len() != 2
    {
        fault(
            between.span.clone(),
            "`between` needs two bounds",
            "write both, the lower one first: between: [a, b]; for one bound, use ge or le",
        );
    }
    if let Some(first) = operators.first().filter(|first| first.key == "begins_with")
        && key.key_type == KeyType::N
    {
        fault(
            first.key_span.clone(),
            &format!("`{}` is a number, and `begins_with` needs text", key.name),
            "ask for a range: between: [\"{from}\", \"{until}\"]",
        );
    }
}

pub(super) fn entry<'p>(pattern: &'p RawPattern, key: &KeyAttribute) -> Option<&'p YamlEntry> {
    pattern.key.iter().find(|entry| *entry.key == *key.name)
}

/// Whether a node is a map of operators.
pub(in crate::resolve) fn is_range(node: &YamlNode) -> bool {
    matches!(node.content, YamlContent::Map { .. }) && !node.is_unquoted_template()
}

/// Which key of the table can serve a pattern as it is written, where it is another than it names.
fn serving(pattern: &RawPattern, table: &Table) -> Option<String> {
    let serves = |keys: &AskedKey<'_>| {
        let equal = |key: &KeyAttribute| entry(pattern, key).is_some_and(|e| !is_range(&e.value));
        let is_asked = |key: &KeyAttribute| entry(pattern, key).is_some();
        let equalities = keys.sort.iter().take_while(|key| equal(key)).count();
        let sorts = keys.sort.iter().filter(|key| is_asked(key)).count();
        let after = keys.sort.get(equalities).is_some_and(is_asked);
        keys.partition.iter().all(equal)
            && pattern.key.iter().all(|entry| keys.has(&entry.key))
            && sorts == equalities + usize::from(after)
    };
    let named = pattern.index.as_ref().map(|name| name.value.as_str());
    let indexes = std::iter::once(None).chain(table.all_indexes().map(Some));
    let mut all = indexes.map(|index| AskedKey::of(table, index));
    let other = all.find(|keys| serves(keys))?.index;
    let other = other.map(|index| index.name.as_str());
    (other != named).then(|| match other {
        Some(name) => format!("the index {name} would serve it: index: {name}"),
        None => "the table itself would serve it: leave `index` out".to_owned(),
    })
}

/// The index that would serve a pattern, in words.
fn new_index(pattern: &RawPattern) -> String {
    let (ranges, equal): (Vec<&YamlEntry>, Vec<&YamlEntry>) =
        pattern.key.iter().partition(|entry| is_range(&entry.value));
    let (equal, ranges) = (equal.as_slice(), ranges.as_slice());
    let index = match (equal, ranges) {
        ([one], []) => format!("{{ partition: {} }}", one.key),
        ([one], [range]) | ([one, range], []) => {
            format!("{{ partition: {}, sort: {} }}", one.key, range.key)
        }
        _ => return "use the key of the table or of an index".to_owned(),
    };
    format!("an index would serve it: add `GSI: {index}` to the table's `indexes`")
}

pub(super) fn not_there<'n>(
    name: &Spanned<String>,
    what: &str,
    known: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let mut known: Vec<&str> = known.collect();
    let mut seen = HashSet::new();
    known.retain(|name| seen.insert(*name));
    let help = did_you_mean(&name.value, known.iter().copied());
    let help = help.unwrap_or_else(|| match known.as_slice() {
        [] => format!("the mapping has no {what} at all"),
        known => format!("there are {}", known.join(", ")),
    });
    let message = format!("there is no {what} `{}`", name.value);
    Diagnostic::new(Code::AccessPattern, name.span.clone(), message).with_help(help)
}
