//! The table: keys, indexes, names and DynamoDB's limits on them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::{Billing, Index, KeyAttribute, KeyType, Projection, Table, Throughput};
use jiff::tz::TimeZone;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::raw::{RawIndex, RawKey, RawTable, Spanned};

/// Global secondary indexes per table (limits.md 23).
const MAX_GLOBAL: usize = 20;
/// Local secondary indexes per table (limits.md 25).
const MAX_LOCAL: usize = 5;
/// Attributes of one kind in a multi-attribute key (limits.md 24).
const MAX_KEY_ATTRIBUTES: usize = 4;
/// Projected attributes over all indexes (limits.md 23).
const MAX_PROJECTED: usize = 100;
/// Bytes of a key attribute's or projected attribute's name (limits.md 22).
const MAX_NAME: usize = 255;

pub(super) fn resolve(raw: &RawTable, diagnostics: &mut Vec<Diagnostic>) -> (Table, TimeZone) {
    check_name(&raw.name, "a table's name", diagnostics);
    check_distinct(
        std::iter::once(&raw.partition).chain(&raw.sort),
        diagnostics,
    );
    let types = key_types(raw, diagnostics);
    let partition = key(&raw.partition, &types);
    let own = match raw.billing {
        Billing::Provisioned(throughput) => Some(throughput),
        Billing::OnDemand => None,
    };
    let global = raw.indexes.iter().map(|index| {
        check_index(index, raw, diagnostics);
        let partition = keys(&index.partition, &types);
        let mut index = resolve_index(index, partition, &types, own);
        index.autoscale = index.autoscale.or(raw.settings.autoscale);
        index
    });
    let indexes: Vec<Index> = global.collect();
    let local = raw.local_indexes.iter().map(|index| {
        check_name(&index.name, "an index's name", diagnostics);
        if raw.sort.is_none() {
            let message = "a local index needs a table with a sort key";
            let help = "give the table's key a `sort`, or make it a global index";
            diagnostics.add(Code::Limit, index.name.span.clone(), message, help);
        }
        check_distinct(
            std::iter::once(&raw.partition).chain(&index.sort),
            diagnostics,
        );
        check_projection(index, diagnostics);
        resolve_index(index, vec![partition.clone()], &types, None)
    });
    let local_indexes: Vec<Index> = local.collect();
    check_counts(raw, &indexes, &local_indexes, diagnostics);
    let time_zone = raw.time_zone.as_ref().map_or(TimeZone::UTC, |name| {
        TimeZone::get(&name.value).unwrap_or_else(|_| {
            let message = format!("there is no time zone `{}`", name.value);
            let help = "write an IANA name such as Asia/Seoul or Europe/Berlin";
            diagnostics.add(Code::WrongValue, name.span.clone(), message, help);
            TimeZone::UTC
        })
    });
    let table = Table {
        name: raw.name.value.clone(),
        sort: raw.sort.as_ref().map(|sort| key(sort, &types)),
        partition,
        indexes,
        local_indexes,
        ttl: raw.ttl.as_ref().map(|ttl| ttl.value.clone()),
        billing: raw.billing,
        settings: super::settings::resolve(raw, diagnostics),
    };
    (table, time_zone)
}

fn resolve_index(
    raw: &RawIndex,
    partition: Vec<KeyAttribute>,
    types: &HashMap<String, KeyType>,
    own: Option<Throughput>,
) -> Index {
    Index {
        name: raw.name.value.clone(),
        partition,
        sort: keys(&raw.sort, types),
        projection: raw.projection.clone(),
        throughput: raw.throughput.or(own),
        autoscale: raw.autoscale.as_ref().map(|policy| policy.value),
    }
}

fn key(raw: &RawKey, types: &HashMap<String, KeyType>) -> KeyAttribute {
    KeyAttribute {
        name: Arc::from(raw.name.value.as_str()),
        key_type: types.get(&raw.name.value).copied().unwrap_or(KeyType::S),
    }
}

fn keys(raw: &[RawKey], types: &HashMap<String, KeyType>) -> Vec<KeyAttribute> {
    raw.iter().map(|each| key(each, types)).collect()
}

/// The type of each key attribute: said once, it holds wherever the name stands.
fn key_types(raw: &RawTable, diagnostics: &mut Vec<Diagnostic>) -> HashMap<String, KeyType> {
    let mut types: HashMap<String, (KeyType, Range<usize>)> = HashMap::new();
    let indexes = raw.indexes.iter().chain(&raw.local_indexes);
    let index_keys = indexes.flat_map(|index| index.partition.iter().chain(&index.sort));
    let all = std::iter::once(&raw.partition)
        .chain(&raw.sort)
        .chain(index_keys);
    for key in all {
        if key.name.value.is_empty() || key.name.value.len() > MAX_NAME {
            let message = format!("a key attribute's name has 1 to {MAX_NAME} bytes");
            diagnostics.push(Diagnostic::new(Code::Name, key.name.span.clone(), message));
        }
        let Some(said) = key.key_type else { continue };
        match types.get(&key.name.value) {
            Some((first, span)) if *first != said => {
                let message = format!("`{}` has another type elsewhere", key.name.value);
                diagnostics.push(
                    Diagnostic::new(Code::KeyType, key.name.span.clone(), message)
                        .with_other(span.clone(), format!("type {first:?} here"))
                        .with_help("an attribute has one type in the table and all its indexes"),
                );
            }
            Some(_) => {}
            None => {
                types.insert(key.name.value.clone(), (said, key.name.span.clone()));
            }
        }
    }
    types
        .into_iter()
        .map(|(name, (key_type, _))| (name, key_type))
        .collect()
}

fn check_index(index: &RawIndex, table: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    check_name(&index.name, "an index's name", diagnostics);
    let mut local = table.local_indexes.iter();
    if let Some(local) = local.find(|local| local.name.value == index.name.value) {
        let message = format!("there are two indexes `{}`", index.name.value);
        diagnostics.push(
            Diagnostic::new(Code::DuplicateKey, local.name.span.clone(), message)
                .with_other(index.name.span.clone(), "the other one"),
        );
    }
    check_distinct(index.partition.iter().chain(&index.sort), diagnostics);
    check_projection(index, diagnostics);
    for keys in [&index.partition, &index.sort] {
        if let Some(extra) = keys.get(MAX_KEY_ATTRIBUTES) {
            let message =
                format!("an index's key has at most {MAX_KEY_ATTRIBUTES} attributes of each kind");
            let span = extra.name.span.clone();
            diagnostics.push(Diagnostic::new(Code::Limit, span, message));
        }
    }
    if table.billing == Billing::OnDemand && index.throughput.is_some() {
        let message = "an index of an on-demand table has no capacity of its own";
        let help = "take its `billing` away, or give the table provisioned capacity";
        diagnostics.add(Code::WrongValue, index.name.span.clone(), message, help);
    }
}

/// An attribute stands once in a key.
fn check_distinct<'k>(keys: impl Iterator<Item = &'k RawKey>, diagnostics: &mut Vec<Diagnostic>) {
    let mut earlier: Vec<&RawKey> = Vec::new();
    for key in keys {
        let mut same = earlier.iter();
        if let Some(first) = same.find(|other| other.name.value == key.name.value) {
            let message = format!("`{}` stands twice in one key", key.name.value);
            diagnostics.push(
                Diagnostic::new(Code::DuplicateKey, key.name.span.clone(), message)
                    .with_other(first.name.span.clone(), "first here")
                    .with_help("name another attribute, or take this one away"),
            );
        }
        earlier.push(key);
    }
}

fn check_projection(index: &RawIndex, diagnostics: &mut Vec<Diagnostic>) {
    if let Projection::Include(names) = &index.projection
        && names.iter().any(|name| name.len() > MAX_NAME)
    {
        let message = format!("a projected attribute's name has 1 to {MAX_NAME} bytes");
        let span = index.name.span.clone();
        diagnostics.push(Diagnostic::new(Code::Name, span, message));
    }
}

fn check_counts(
    raw: &RawTable,
    global: &[Index],
    local: &[Index],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut fault = |at: Option<&RawIndex>, message: String| {
        let fault =
            |index: &RawIndex| Diagnostic::new(Code::Limit, index.name.span.clone(), message);
        diagnostics.extend(at.map(fault));
    };
    fault(
        raw.indexes.get(MAX_GLOBAL),
        format!("a table has at most {MAX_GLOBAL} global indexes by default"),
    );
    fault(
        raw.local_indexes.get(MAX_LOCAL),
        format!("a table has at most {MAX_LOCAL} local indexes"),
    );
    let projected = |index: &Index| match &index.projection {
        Projection::Include(names) => names.len(),
        _ => 0,
    };
    let projected: usize = global.iter().chain(local).map(projected).sum();
    if projected > MAX_PROJECTED {
        fault(
            raw.indexes.last().or(raw.local_indexes.last()),
            format!(
                "the indexes project {projected} attributes; DynamoDB takes {MAX_PROJECTED} over all of them"
            ),
        );
    }
}

fn check_name(name: &Spanned<String>, what: &str, diagnostics: &mut Vec<Diagnostic>) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if !(3..=255).contains(&name.value.len()) || !name.value.bytes().all(is_plain) {
        let message = format!("`{}` cannot be {what}", name.value);
        let help = "3 to 255 characters of a-z, A-Z, 0-9, `_`, `-` and `.`";
        diagnostics.add(Code::Name, name.span.clone(), message, help);
    }
}
