//! What can be said of access patterns without planning them: names, indexes, conditions.

use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::mapping::model::{KeyAttribute, Table};
use crate::mapping::raw::{Raw, RawPattern, Spanned};
use crate::mapping::template::{self, Filter, FilterError, Segment, WrittenPlaceholder};
use crate::mapping::yaml::{Content, Node};

pub(super) fn check(raw: &Raw, table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    for pattern in &raw.patterns {
        for item in &pattern.items {
            let names = raw.items.iter().map(|item| item.name.value.as_str());
            if names.clone().all(|name| name != item.value) {
                diagnostics.push(not_there(item, "item type", names));
            }
        }
        if let Some((partition, sort)) = keys_of(pattern, table, diagnostics) {
            condition(pattern, &partition, &sort, diagnostics);
        }
        let partition = partition_names(pattern, table);
        for entry in &pattern.key {
            let in_partition = partition.contains(&entry.key.as_str());
            templates(&entry.value, in_partition, diagnostics);
        }
    }
}

fn keys_of<'t>(
    pattern: &RawPattern,
    table: &'t Table,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Vec<&'t KeyAttribute>, Vec<&'t KeyAttribute>)> {
    let Some(wanted) = &pattern.index else {
        return Some((vec![&table.partition], table.sort.iter().collect()));
    };
    let mut indexes = table.indexes.iter().chain(&table.local_indexes);
    let found = indexes.clone().find(|index| index.name == wanted.value);
    match found {
        Some(index) => Some((
            index.partition.iter().collect(),
            index.sort.iter().collect(),
        )),
        None => {
            let names: Vec<&str> = indexes.by_ref().map(|index| index.name.as_str()).collect();
            let mut fault = not_there(wanted, "index", names.iter().copied());
            fault.code = Code::UnknownIndex;
            diagnostics.push(fault);
            None
        }
    }
}

fn condition(
    pattern: &RawPattern,
    partition: &[&KeyAttribute],
    sort: &[&KeyAttribute],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let what = pattern
        .index
        .as_ref()
        .map_or("the table".to_owned(), |index| format!("`{}`", index.value));
    for key in partition {
        match pattern.key.iter().find(|entry| *entry.key == *key.name) {
            None => diagnostics.push(
                Diagnostic::new(
                    Code::AccessPattern,
                    pattern.key_span.clone(),
                    format!(
                        "`{}` does not say the partition key `{}` of {what}",
                        pattern.name.value, key.name
                    ),
                )
                .with_help("a Query needs the whole partition key, by equality"),
            ),
            Some(entry)
                if matches!(entry.value.content, Content::Map { .. })
                    && !entry.value.is_unquoted_template() =>
            {
                diagnostics.push(
                    Diagnostic::new(
                        Code::AccessPattern,
                        entry.value.span.clone(),
                        format!("the partition key `{}` takes equality alone", key.name),
                    )
                    .with_help("say a template; ranges belong to the sort key"),
                );
            }
            Some(_) => {}
        }
    }
    for entry in &pattern.key {
        let known = partition
            .iter()
            .chain(sort)
            .any(|key| *key.name == *entry.key);
        if !known {
            let names = partition.iter().chain(sort).map(|key| key.name.as_ref());
            let help = match nearest(&entry.key, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "its key attributes are {}",
                    names.collect::<Vec<_>>().join(", ")
                ),
            };
            diagnostics.push(
                Diagnostic::new(
                    Code::AccessPattern,
                    entry.key_span.clone(),
                    format!("`{}` is no key attribute of {what}", entry.key),
                )
                .with_help(help),
            );
        }
        let operators = entry.value.entries();
        if let Some(second) = operators
            .get(1)
            .filter(|_| !entry.value.is_unquoted_template())
        {
            diagnostics.push(
                Diagnostic::new(
                    Code::AccessPattern,
                    second.key_span.clone(),
                    "a sort key takes one condition",
                )
                .with_help("for two bounds say between: [a, b]"),
            );
        }
        if let Some(between) = entry.value.get("between")
            && between.elements().len() != 2
        {
            diagnostics.push(Diagnostic::new(
                Code::AccessPattern,
                between.span.clone(),
                "`between` takes two bounds",
            ));
        }
    }
}

/// The partition key attributes that a pattern asks by; none where its index is not there.
fn partition_names<'t>(pattern: &RawPattern, table: &'t Table) -> Vec<&'t str> {
    let Some(wanted) = &pattern.index else {
        return vec![&table.partition.name];
    };
    if table
        .local_indexes
        .iter()
        .any(|index| index.name == wanted.value)
    {
        return vec![&table.partition.name];
    }
    let index = table
        .indexes
        .iter()
        .find(|index| index.name == wanted.value);
    let keys = index.into_iter().flat_map(|index| &index.partition);
    keys.map(|key| key.name.as_ref()).collect()
}

/// Whether a placeholder asks all shards: `{* | shard(n)}` in a partition key.
fn is_partition_fan_out(placeholder: &WrittenPlaceholder, in_partition: bool) -> bool {
    let [only] = placeholder.filters.as_slice() else {
        return false;
    };
    in_partition && matches!(Filter::compile(only), Ok(Filter::Shard(_)) | Err(_))
}

fn templates(node: &Node, in_partition: bool, diagnostics: &mut Vec<Diagnostic>) {
    node.elements()
        .iter()
        .for_each(|element| templates(element, in_partition, diagnostics));
    if !node.is_unquoted_template() {
        node.entries()
            .iter()
            .for_each(|entry| templates(&entry.value, in_partition, diagnostics));
    }
    let Some(text) = node.text() else { return };
    let at = |code, message: String| Diagnostic::new(code, node.span.clone(), message);
    let written = match template::parse(text) {
        Ok(written) => written,
        Err(errors) => {
            let errors = errors.into_iter();
            diagnostics.extend(errors.map(|e| at(Code::Template, e.message).with_help(e.help)));
            return;
        }
    };
    for segment in &written.segments {
        match segment {
            Segment::Placeholder(placeholder)
                if placeholder.path.first().is_some_and(|p| p == "*")
                    && !is_partition_fan_out(placeholder, in_partition) =>
            {
                diagnostics.push(
                    at(
                        Code::AccessPattern,
                        "`*` stands for every shard of a partition key".to_owned(),
                    )
                    .with_help("write it as {* | shard(n)}, in the partition key alone"),
                );
            }
            Segment::Placeholder(placeholder) => {
                for call in &placeholder.filters {
                    if let Err(error) = Filter::compile(call) {
                        let code = if matches!(error, FilterError::Unknown { .. }) {
                            Code::UnknownFilter
                        } else {
                            Code::FilterArguments
                        };
                        diagnostics.push(at(code, error.to_string()).with_help(error.help()));
                    }
                }
            }
            Segment::Text(_) => {}
            Segment::Optional(_) => diagnostics.push(at(
                Code::AccessPattern,
                "a key condition has no optional segments".to_owned(),
            )),
        }
    }
}

fn not_there<'n>(
    name: &Spanned<String>,
    what: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Diagnostic {
    let help = match nearest(&name.value, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.clone().next().is_none() => format!("the mapping has no {what} at all"),
        None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::new(
        Code::AccessPattern,
        name.span.clone(),
        format!("there is no {what} `{}`", name.value),
    )
    .with_help(help)
}
