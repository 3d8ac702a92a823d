//! Access patterns held against the table and the items: whether a key can serve each, what its
//! templates and parameters are, and whether they are written as the items' keys are.
//!
//! What comes out is an [`AccessPattern`] with nothing left to look up. Which item types a pattern
//! finds is another question (`super::reached`).

mod align;
mod answer;
mod bind;
mod contradictions;
mod keys;
mod range_end;
mod sources;

pub(super) use align::{AskedValue, KnownAttributes};
pub use align::{aligned, kind_of, writing};
pub(super) use keys::is_range;

use dynafold_dynamodb::{KeyAttribute, Table};
use dynafold_relational::catalog::{Catalog, TypeFamily};
use dynafold_sql::{ConditionTest, Operand, SqlQuery, Wrapping};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::model::{AccessPattern, ParameterKind, SortCondition, Template};
use crate::raw::{Raw, RawPattern};
use crate::yaml::{YamlEntry, YamlNode};
use align::attributes_like;
use bind::PatternBinder;
use keys::{AskedKey, entry, not_there};

/// What the patterns are held against.
pub(super) struct PatternContext<'a> {
    pub(super) table: &'a Table,
    /// The item types that have no faults.
    pub(super) makes: &'a [KnownAttributes],
    /// Whether these are all.
    pub(super) is_complete: bool,
    /// The schema, where there is one.
    pub(super) catalog: Option<&'a Catalog>,
    pub(super) diagnostics: &'a Diagnostics,
}

/// A pattern with what is to be said of it when it is known what it finds.
#[derive(Debug)]
pub(super) struct BoundPattern {
    pub(super) pattern: AccessPattern,
    pub(super) pairs: Vec<AskedValue>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// Binds every pattern that has no faults of its own.
pub(super) fn bind(raw: &Raw, context: &PatternContext<'_>) -> Vec<BoundPattern> {
    let all = raw.patterns.iter();
    all.filter_map(|pattern| bind_one(raw, pattern, context))
        .collect()
}

fn bind_one(raw: &Raw, pattern: &RawPattern, context: &PatternContext<'_>) -> Option<BoundPattern> {
    let diagnostics = context.diagnostics;
    let faults = diagnostics.count();
    for item in &pattern.items {
        let names = raw.written.iter().map(String::as_str);
        // Without any item type that one is the fault.
        if !raw.written.is_empty() && names.clone().all(|name| name != item.value) {
            diagnostics.push(not_there(item, "item type", names));
        }
    }
    let keys = AskedKey::find(pattern, context);
    let is_served = keys.is_some_and(|keys| keys.check(pattern, context));
    let mut binder = PatternBinder::new(pattern, context);
    let mut nodes = Vec::new();
    for entry in &pattern.key {
        let is_it = |key: &&KeyAttribute| *key.name == *entry.key;
        let key = keys.and_then(|keys| keys.attributes().find(is_it));
        let in_partition = keys.is_some_and(|keys| keys.partition.iter().any(|key| is_it(&key)));
        let condition = binder.entry(entry, key, in_partition);
        if let (Some(key), Some(condition)) = (key, &condition) {
            binder.bounds(entry, condition, key);
        }
        nodes.push((entry.key.as_str(), condition));
    }
    let keys = keys.filter(|_| is_served)?;
    let pattern_of = |key: &KeyAttribute| {
        let mut nodes = nodes.iter();
        nodes.find(|(name, _)| **name == *key.name)?.1.clone()
    };
    let partition = keys.partition.iter().map(|key| match pattern_of(key) {
        Some(SortCondition::Is(template)) => Some((key.clone(), template)),
        _ => None,
    });
    let partition: Option<Vec<(KeyAttribute, Template)>> = partition.collect();
    let sort: Option<Vec<(KeyAttribute, SortCondition)>> = keys
        .sort
        .iter()
        .filter(|key| entry(pattern, key).is_some())
        .map(|key| Some((key.clone(), pattern_of(key)?)))
        .collect();
    binder.settings(&keys);
    let filter = binder.filter(&keys);
    binder.bind_params();
    binder.check_sql_parameters();
    binder.order(&keys);
    binder.insensitive();
    binder.contradictions(&keys);
    let answering = keys.answering(pattern);
    binder.projected(&answering);
    let answer = binder.answer(&answering);
    binder.finish();
    let PatternBinder {
        parameters,
        origins,
        shards,
        pairs,
        warnings,
        lookalikes,
        ..
    } = binder;
    let is_faulty = diagnostics.count() > faults;
    diagnostics.extend(lookalikes);
    if is_faulty {
        return None;
    }
    let limit = pattern.limit.as_ref();
    let items = pattern.items.iter();
    Some(BoundPattern {
        pattern: AccessPattern {
            name: pattern.name.value.as_str().into(),
            description: pattern.description.clone(),
            items: items.map(|item| item.value.as_str().into()).collect(),
            index: keys.index.map(|index| index.name.as_str().into()),
            partition: partition?,
            sort: sort?,
            order: keys.sort.to_vec(),
            descending: pattern.descending,
            parameters: parameters.finish(),
            shards,
            limit: limit.and_then(|limit| u32::try_from(limit.value).ok()),
            filter,
            consistent: pattern.consistent.as_ref().is_some_and(|said| said.value),
            fetch: pattern.fetches(),
            sql: pattern.sql.as_ref().map(|sql| sql.value.clone()),
            origins,
            answer,
            rate: pattern.rate,
        },
        pairs,
        warnings: warnings.take(),
    })
}

/// Tells of names that indexes project and that no item has.
pub(super) fn projections(raw: &Raw, context: &PatternContext<'_>) {
    let diagnostics = context.diagnostics;
    // Of what could not be read it is not known what it has.
    let is_unread = |fault: &Diagnostic| fault.code == Code::Unchecked;
    if !context.is_complete || diagnostics.any(is_unread) {
        return;
    }
    let table = &raw.table;
    let indexes = table.indexes.iter().chain(&table.local_indexes);
    for name in indexes.flat_map(|index| &index.projected) {
        if context.makes.iter().any(|make| make.may_have(&name.value)) {
            continue;
        }
        let message = format!("no item has an attribute `{}`", name.value);
        let help = attributes_like(&name.value, context.makes.iter());
        diagnostics.add(Code::UnknownAttribute, name.span.clone(), message, help);
    }
}

/// The templates of a condition with what is asked of them; `None` for a faulty one.
fn operators(entry: &YamlEntry) -> Option<(&str, Vec<&YamlNode>)> {
    if !is_range(&entry.value) {
        return Some(("is", vec![&entry.value]));
    }
    let [only] = entry.value.entries() else {
        return None;
    };
    match only.key.as_str() {
        "between" => Some(("between", only.value.elements().iter().collect())),
        name => Some((name, vec![&only.value])),
    }
}

/// A condition of bound templates.
fn condition(operator: &str, mut templates: Vec<Template>) -> Option<SortCondition> {
    let last = templates.pop()?;
    Some(match (operator, templates.pop()) {
        ("is", None) => SortCondition::Is(last),
        ("begins_with", None) => SortCondition::BeginsWith(last),
        ("between", Some(first)) => SortCondition::Between(first, last),
        ("lt", None) => SortCondition::Less(last),
        ("le", None) => SortCondition::LessOrEqual(last),
        ("gt", None) => SortCondition::Greater(last),
        ("ge", None) => SortCondition::GreaterOrEqual(last),
        _ => return None,
    })
}

/// Tells of values that the pattern writes otherwise than the keys of an item type that it can find.
pub(super) fn misfits(
    bound: &BoundPattern,
    raw: &RawPattern,
    item: &str,
    diagnostics: &Diagnostics,
) {
    let pairs = bound.pairs.iter();
    let misfits = pairs.filter(|pair| &*pair.item == item && !pair.agrees());
    for pair in misfits.filter(|pair| !(pair.is_verbatim() && pair.is_open)) {
        let place = &pair.span;
        let is_it = |diagnostic: &Diagnostic| {
            diagnostic.code == Code::ParameterForm && diagnostic.span == *place
        };
        if diagnostics.any(is_it) {
            continue;
        }
        let (asked, made) = (pair.asked.to_string(), pair.made.to_string());
        let message = if pair.is_verbatim() {
            format!("`{asked}` goes into the key unchanged, but the keys of `{item}` hold `{made}`")
        } else {
            format!("`{asked}` is written differently from `{made}` in the keys of `{item}`")
        };
        let help = if made.contains("| shard(") && pair.is_verbatim() {
            format!(
                "write it as `{}`, or ask all shards: {{* | shard(n)}}",
                pair.mended()
            )
        } else if is_wrapped(raw, &pair.asked.place.written) {
            format!(
                "its SQL compares this parameter with an expression; if the caller gives the text as it is in the key: accept: [parameter-form]; else compare the column itself in the SQL, and write `{}`",
                pair.mended()
            )
        } else {
            format!(
                "write it as the key is written, `{}`; if the caller gives the text as it is in the key: accept: [parameter-form]",
                pair.mended()
            )
        };
        diagnostics.push(
            Diagnostic::new(Code::ParameterForm, place.clone(), message)
                .with_other(raw.name.span.clone(), "the items would not be found")
                .with_help(help),
        );
    }
}

/// Whether the SQL of a pattern compares a parameter with what a function, or an expression, makes of a column.
fn is_wrapped(raw: &RawPattern, parameter: &str) -> bool {
    let query = raw.sql.as_ref();
    let query = query.and_then(|sql| SqlQuery::read(&sql.value, None).ok());
    let select = query.as_ref().and_then(SqlQuery::select);
    let is_made = |side: &Operand| {
        let is_collated = matches!(side.around.as_slice(), [Wrapping::Collate(_)]);
        side.column().is_none() && !side.columns().is_empty() && !is_collated
    };
    let is_asked = |side: &Operand| side.parameters().iter().any(|name| name == parameter);
    let mut conditions = select.iter().flat_map(|select| &select.conditions);
    conditions.any(|condition| match &condition.test {
        ConditionTest::Compare { left, right, .. } => {
            (is_asked(left) && is_made(right)) || (is_asked(right) && is_made(left))
        }
        _ => false,
    })
}

/// The family of values of a kind.
fn family(kind: ParameterKind) -> TypeFamily {
    match kind {
        ParameterKind::Text => TypeFamily::Text,
        ParameterKind::Number => TypeFamily::Number,
        ParameterKind::Boolean => TypeFamily::Boolean,
        ParameterKind::Time(_) => TypeFamily::Time,
        ParameterKind::Binary | ParameterKind::Hex => TypeFamily::Binary,
    }
}
