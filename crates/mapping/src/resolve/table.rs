//! The table: keys, indexes, names and DynamoDB's limits on them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::{
    Autoscale, Billing, Index, KeyAttribute, KeyType, MAX_GLOBAL_INDEXES, MAX_NAME_BYTES,
    MAX_PROJECTED, Settings, StreamView, Table, Throughput,
};
use jiff::tz::TimeZone;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::raw::{RawIndex, RawKey, RawTable, Spanned, named, read_autoscale, texts};

/// Local secondary indexes per table (limits.md 25).
const MAX_LOCAL: usize = 5;
/// Attributes of one kind in a multi-attribute key (limits.md 24).
const MAX_KEY_ATTRIBUTES: usize = 4;
/// Bytes of a key attribute's or projected attribute's name (limits.md 22).
const MAX_NAME: usize = 255;

pub(super) fn resolve(raw: &RawTable, diagnostics: &Diagnostics) -> (Table, TimeZone) {
    check_name(&raw.name, "a table's name", diagnostics);
    check_key(
        std::iter::once(&raw.partition).chain(&raw.sort),
        diagnostics,
    );
    if let Some(name) = &raw.type_attribute {
        check_attribute_name(&name.value, &name.span, diagnostics);
    }
    let types = key_types(raw, diagnostics);
    let partition = key(&raw.partition, &types);
    let own = raw.billing.provisioned();
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
        check_key(
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
        settings: settings(raw, diagnostics),
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
fn key_types(raw: &RawTable, diagnostics: &Diagnostics) -> HashMap<String, KeyType> {
    let mut types: HashMap<String, (KeyType, Range<usize>)> = HashMap::new();
    let indexes = raw.indexes.iter().chain(&raw.local_indexes);
    let index_keys = indexes.flat_map(|index| index.partition.iter().chain(&index.sort));
    let all = std::iter::once(&raw.partition)
        .chain(&raw.sort)
        .chain(index_keys);
    for key in all {
        if key.name.value.is_empty() || key.name.value.len() > MAX_NAME {
            let message = format!("a key attribute's name must have 1 to {MAX_NAME} bytes");
            diagnostics.push(Diagnostic::new(Code::Name, key.name.span.clone(), message));
        }
        let Some(said) = key.key_type else { continue };
        match types.get(&key.name.value) {
            Some((first, span)) if *first != said => {
                let message = format!(
                    "`{}` has the type {said:?} here and {first:?} elsewhere",
                    key.name.value
                );
                diagnostics.push(
                    Diagnostic::new(Code::KeyType, key.name.span.clone(), message)
                        .with_other(span.clone(), format!("type {first:?} here"))
                        .with_help("give it one type: an attribute has the same in the table and all its indexes"),
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

fn check_index(index: &RawIndex, table: &RawTable, diagnostics: &Diagnostics) {
    check_name(&index.name, "an index's name", diagnostics);
    let mut local = table.local_indexes.iter();
    if let Some(local) = local.find(|local| local.name.value == index.name.value) {
        let message = format!("there are two indexes `{}`", index.name.value);
        diagnostics.push(
            Diagnostic::new(Code::DuplicateKey, local.name.span.clone(), message)
                .with_other(index.name.span.clone(), "the other one"),
        );
    }
    check_key(index.partition.iter().chain(&index.sort), diagnostics);
    check_projection(index, diagnostics);
    for keys in [&index.partition, &index.sort] {
        if let Some(extra) = keys.get(MAX_KEY_ATTRIBUTES) {
            let message = format!(
                "an index has at most {MAX_KEY_ATTRIBUTES} partition key attributes and {MAX_KEY_ATTRIBUTES} sort key attributes"
            );
            let help = "put two of them into one attribute: ab: \"{a}#{b}\"";
            diagnostics.add(Code::Limit, extra.name.span.clone(), message, help);
        }
    }
    if table.billing == Billing::OnDemand && index.throughput.is_some() {
        let message = "an index of an on-demand table has no capacity of its own";
        let help = "remove its `billing`, or give the table provisioned capacity";
        diagnostics.add(Code::WrongValue, index.name.span.clone(), message, help);
    }
}

/// An attribute stands once in a key.
fn check_key<'k>(keys: impl Iterator<Item = &'k RawKey>, diagnostics: &Diagnostics) {
    let help = "name another attribute, or remove this one";
    let names = keys.map(|key| (&key.name.value, &key.name.span));
    diagnostics.distinct(names, ("is in the same key twice", help));
}

fn check_projection(index: &RawIndex, diagnostics: &Diagnostics) {
    let names = index.projected.iter().map(|name| (&name.value, &name.span));
    diagnostics.distinct(names, ("is projected twice", "remove one of the two"));
    for name in &index.projected {
        if !(1..=MAX_NAME).contains(&name.value.len()) {
            let message = format!("a projected attribute's name must have 1 to {MAX_NAME} bytes");
            diagnostics.push(Diagnostic::new(Code::Name, name.span.clone(), message));
        }
    }
}

fn check_counts(raw: &RawTable, global: &[Index], local: &[Index], diagnostics: &Diagnostics) {
    let fault = |at: Option<&RawIndex>, message: String| {
        let fault =
            |index: &RawIndex| Diagnostic::new(Code::Limit, index.name.span.clone(), message);
        diagnostics.extend(at.map(fault));
    };
    fault(
        raw.indexes.get(usize::from(MAX_GLOBAL_INDEXES)),
        format!("a table has at most {MAX_GLOBAL_INDEXES} global indexes by default"),
    );
    fault(
        raw.local_indexes.get(MAX_LOCAL),
        format!("a table has at most {MAX_LOCAL} local indexes"),
    );
    let indexes = global.iter().chain(local);
    let projected = indexes.map(|index| index.projection.service_words().1.len());
    let projected: usize = projected.sum();
    if projected > MAX_PROJECTED {
        fault(
            raw.indexes.last().or(raw.local_indexes.last()),
            format!(
                "the indexes project {projected} attributes; DynamoDB allows {MAX_PROJECTED} for all of them together"
            ),
        );
    }
}

/// Tells of an attribute's name that DynamoDB refuses.
pub(super) fn check_attribute_name(name: &str, span: &Range<usize>, diagnostics: &Diagnostics) {
    if !(1..=MAX_NAME_BYTES).contains(&name.len()) {
        let message = format!("an attribute's name must have 1 to {MAX_NAME_BYTES} bytes");
        diagnostics.add(Code::Name, span.clone(), message, "choose another name");
    }
}

fn check_name(name: &Spanned<String>, what: &str, diagnostics: &Diagnostics) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if !(3..=255).contains(&name.value.len()) || !name.value.bytes().all(is_plain) {
        let message = format!("`{}` cannot be {what}", name.value);
        let help = "use 3 to 255 characters of a-z, A-Z, 0-9, `_`, `-` and `.`";
        diagnostics.add(Code::Name, name.span.clone(), message, help);
    }
}

// The table's settings, held against DynamoDB's rules for them.

/// Tags per table.
const MAX_TAGS: usize = 50;
/// Characters of a tag's key, and of its value.
const MAX_TAG: (usize, usize) = (128, 256);
/// What every on-demand table has (limits.md 27); nothing is warmed up for less.
const ON_DEMAND: Throughput = Throughput {
    read: 12_000,
    write: 4_000,
};
/// Percent of the capacity that autoscaling can aim at.
const TARGET: std::ops::RangeInclusive<u64> = 20..=90;

fn settings(raw: &RawTable, diagnostics: &Diagnostics) -> Settings {
    let mut settings = raw.settings.clone();
    check_tags(raw, diagnostics);
    check_replicas(raw, diagnostics);
    check_warm(raw, diagnostics);
    check_backups(raw, diagnostics);
    let autoscale = raw.node.get("billing").and_then(read_autoscale);
    if let (Some(autoscale), Billing::Provisioned(units)) = (&autoscale, raw.billing) {
        check_autoscale(autoscale, units, diagnostics);
    }
    for index in &raw.indexes {
        if let (Some(autoscale), Some(units)) = (&index.autoscale, index.throughput) {
            check_autoscale(autoscale, units, diagnostics);
        }
    }
    // Replicas are fed from the stream.
    if settings.stream.is_none() && !settings.replicas.is_empty() {
        settings.stream = Some(StreamView::NewAndOldImages);
    }
    settings
}

fn check_tags(raw: &RawTable, diagnostics: &Diagnostics) {
    let tags = named(raw.node.get("tags"));
    for (entry, (key, value)) in tags.iter().zip(&raw.settings.tags) {
        let long = key.chars().count() > MAX_TAG.0 || value.chars().count() > MAX_TAG.1;
        let message = if key.is_empty() || long {
            format!(
                "a tag's key has 1 to {} characters, its value at most {}",
                MAX_TAG.0, MAX_TAG.1
            )
        } else if key.to_ascii_lowercase().starts_with("aws:") {
            format!("the tag `{key}` begins with `aws:`, which AWS reserves")
        } else {
            continue;
        };
        let help = "rename the tag, or shorten it";
        diagnostics.add(Code::Name, entry.key_span.clone(), message, help);
    }
    if let Some(entry) = tags.get(MAX_TAGS) {
        let message = format!("a table has at most {MAX_TAGS} tags");
        let span = entry.key_span.clone();
        diagnostics.push(Diagnostic::new(Code::Limit, span, message));
    }
}

fn check_replicas(raw: &RawTable, diagnostics: &Diagnostics) {
    let replicas = texts(raw.node.get("replicas"));
    let names = replicas.iter().map(|region| (&region.value, &region.span));
    diagnostics.distinct(names, ("is written twice", "remove one of them"));
    for region in &replicas {
        if !is_region(&region.value) {
            let message = format!("`{}` is not an AWS region", region.value);
            let help = "write it as AWS does: eu-west-1";
            diagnostics.add(Code::WrongValue, region.span.clone(), message, help);
        }
    }
    if let (Some(view), Some(stream)) = (raw.settings.stream, raw.node.get("stream"))
        && view != StreamView::NewAndOldImages
        && !replicas.is_empty()
    {
        let message = "replicas need a stream with new and old images";
        let help = "use `stream: new-and-old-images`, or remove `stream` or `replicas`";
        diagnostics.add(Code::WrongValue, stream.span.clone(), message, help);
    }
}

/// Whether a text has the form of a region's name: `eu-west-1`, `us-gov-east-1`.
fn is_region(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [words @ .., number] = parts.as_slice() else {
        return false;
    };
    words.len() >= 2
        && words
            .iter()
            .all(|word| word.len() >= 2 && word.bytes().all(|b| b.is_ascii_lowercase()))
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
}

fn check_warm(raw: &RawTable, diagnostics: &Diagnostics) {
    let written = raw.node.get("warm_throughput");
    let Some((warm, written)) = raw.settings.warm_throughput.zip(written) else {
        return;
    };
    let (least, whose) = match raw.billing {
        Billing::OnDemand => (ON_DEMAND, "every on-demand table has"),
        Billing::Provisioned(units) => (units, "the table is provisioned with"),
    };
    if warm.read < least.read || warm.write < least.write {
        let message =
            "`warm_throughput` cannot be lower than the throughput that the table has anyway";
        let help = format!(
            "{whose} {} reads and {} writes a second: give at least as many, or remove it",
            least.read, least.write
        );
        diagnostics.add(Code::Limit, written.span.clone(), message, help);
    }
}

fn check_backups(raw: &RawTable, diagnostics: &Diagnostics) {
    let written = raw.node.get("backups");
    let Some((backups, written)) = raw.settings.backups.as_ref().zip(written) else {
        return;
    };
    let is_faulty = !is_schedule(&backups.schedule);
    if let Some(schedule) = written.get("schedule").filter(|_| is_faulty) {
        let message = format!("`{}` is not a schedule of AWS Backup", backups.schedule);
        let help = "write it with its six fields, in UTC: cron(0 5 * * ? *); or rate(1 day)";
        diagnostics.add(Code::WrongValue, schedule.span.clone(), message, help);
    }
    if let Some(days) = written.get("keep_days").filter(|_| backups.keep_days == 0) {
        let help = "write for how many days each backup is kept, 1 or more";
        let message = "a backup is kept for at least one day";
        diagnostics.add(Code::WrongValue, days.span.clone(), message, help);
    }
}

/// Whether a text is a schedule as AWS writes it, `cron` with six fields or `rate` with a number and a unit.
pub(super) fn is_schedule(text: &str) -> bool {
    let within = |word: &str| {
        let rest = text.strip_prefix(word)?.strip_prefix('(')?;
        Some(rest.strip_suffix(')')?.split_whitespace().collect())
    };
    let is_cron = within("cron").is_some_and(|fields: Vec<&str>| fields.len() == 6);
    let is_rate = match within("rate").as_deref() {
        Some(["1", unit]) => ["minute", "hour", "day"].contains(unit),
        Some([number, unit]) => {
            number.parse::<u32>().is_ok_and(|number| number > 1)
                && ["minutes", "hours", "days"].contains(unit)
        }
        _ => false,
    };
    is_cron || is_rate
}

fn check_autoscale(policy: &Spanned<Autoscale>, units: Throughput, diagnostics: &Diagnostics) {
    let Autoscale { min, max, target } = policy.value;
    let (least, most) = (units.read.min(units.write), units.read.max(units.write));
    let message = if !TARGET.contains(&target) {
        format!(
            "autoscaling aims at {} to {} percent, not at {target}",
            TARGET.start(),
            TARGET.end()
        )
    } else if max < most {
        format!("`max` is {max}, below the {most} units that are provisioned at first")
    } else if min.is_some_and(|min| min > least) {
        format!("`min` is above the {least} units that are provisioned at first")
    } else {
        return;
    };
    let help = "for example: autoscale: { max: 1000, target: 70 }";
    diagnostics.add(Code::WrongValue, policy.span.clone(), message, help);
}
