//! The table's settings, held against DynamoDB's rules for them.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::mapping::model::{Autoscale, Billing, Settings, StreamView, Throughput};
use crate::mapping::raw::{RawTable, Spanned};

/// Tags per table.
const MAX_TAGS: usize = 50;
/// Characters of a tag's key, and of its value.
const MAX_TAG: (usize, usize) = (128, 256);
/// What an on-demand table takes from the start (limits.md 27); nothing is warmed up for less.
const ON_DEMAND: Throughput = Throughput {
    read: 12_000,
    write: 4_000,
};
/// Percent of the capacity that autoscaling can aim at.
const TARGET: std::ops::RangeInclusive<u64> = 20..=90;

pub(super) fn resolve(raw: &RawTable, diagnostics: &mut Vec<Diagnostic>) -> Settings {
    let settings = &raw.settings;
    check_tags(&settings.tags, diagnostics);
    check_replicas(raw, diagnostics);
    if let Some(warm) = &settings.warm_throughput {
        check_warm(warm, raw.billing, diagnostics);
    }
    if let (Some(autoscale), Billing::Provisioned(units)) = (&settings.autoscale, raw.billing) {
        check_autoscale(autoscale, units, diagnostics);
    }
    for index in &raw.indexes {
        if let (Some(autoscale), Some(units)) = (&index.autoscale, index.throughput) {
            check_autoscale(autoscale, units, diagnostics);
        }
    }
    let stream = settings.stream.as_ref().map(|stream| stream.value);
    Settings {
        // Replicas are fed from the stream.
        stream: stream.or((!settings.replicas.is_empty()).then_some(StreamView::NewAndOldImages)),
        point_in_time_recovery: settings.point_in_time_recovery,
        deletion_protection: settings.deletion_protection,
        class: settings.class,
        tags: settings
            .tags
            .iter()
            .map(|(key, value)| (key.value.clone(), value.clone()))
            .collect(),
        warm_throughput: settings.warm_throughput.as_ref().map(|warm| warm.value),
        replicas: settings.replicas.iter().map(|r| r.value.clone()).collect(),
        autoscale: settings.autoscale.as_ref().map(|policy| policy.value),
    }
}

fn check_tags(tags: &[(Spanned<String>, String)], diagnostics: &mut Vec<Diagnostic>) {
    for (key, value) in tags {
        let long = key.value.chars().count() > MAX_TAG.0 || value.chars().count() > MAX_TAG.1;
        let message = if key.value.is_empty() || long {
            format!(
                "a tag's key has 1 to {} characters, its value at most {}",
                MAX_TAG.0, MAX_TAG.1
            )
        } else if key.value.to_ascii_lowercase().starts_with("aws:") {
            format!(
                "the tag `{}` begins with `aws:`, which is AWS's own",
                key.value
            )
        } else {
            continue;
        };
        let help = "name the tag otherwise, or shorten it";
        diagnostics.add(Code::Name, key.span.clone(), message, help);
    }
    if let Some((key, _)) = tags.get(MAX_TAGS) {
        let message = format!("a table has at most {MAX_TAGS} tags");
        diagnostics.push(Diagnostic::new(Code::Limit, key.span.clone(), message));
    }
}

fn check_replicas(raw: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    let settings = &raw.settings;
    let mut earlier: Vec<&Spanned<String>> = Vec::new();
    for region in &settings.replicas {
        if !is_region(&region.value) {
            let message = format!("`{}` is no AWS region", region.value);
            let help = "write it as AWS does: eu-west-1";
            diagnostics.add(Code::WrongValue, region.span.clone(), message, help);
        }
        if let Some(first) = earlier.iter().find(|other| other.value == region.value) {
            let message = format!("`{}` is written twice", region.value);
            diagnostics.push(
                Diagnostic::new(Code::DuplicateKey, region.span.clone(), message)
                    .with_other(first.span.clone(), "first here")
                    .with_help("take one of them away"),
            );
        }
        earlier.push(region);
    }
    if let (Some(stream), false) = (&settings.stream, settings.replicas.is_empty())
        && stream.value != StreamView::NewAndOldImages
    {
        let message = "replicas are fed from a stream that holds new and old images";
        let help = "say `stream: new-and-old-images`, or take `stream` or `replicas` away";
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

fn check_warm(warm: &Spanned<Throughput>, billing: Billing, diagnostics: &mut Vec<Diagnostic>) {
    let (least, whose) = match billing {
        Billing::OnDemand => (ON_DEMAND, "an on-demand table takes from the start"),
        Billing::Provisioned(units) => (units, "is provisioned"),
    };
    if warm.value.read < least.read || warm.value.write < least.write {
        let message = "a table cannot be warmed up for less than it has";
        let help = format!(
            "{} reads and {} writes a second {whose}: say as much or more, or take it away",
            least.read, least.write
        );
        diagnostics.add(Code::Limit, warm.span.clone(), message, help);
    }
}

fn check_autoscale(
    policy: &Spanned<Autoscale>,
    units: Throughput,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Autoscale { min, max, target } = policy.value;
    let message = if !TARGET.contains(&target) {
        format!(
            "autoscaling aims at {} to {} percent, not at {target}",
            TARGET.start(),
            TARGET.end()
        )
    } else if max < units.read.max(units.write) {
        format!(
            "`max` is {max}, below the {} units that are provisioned at first",
            units.read.max(units.write)
        )
    } else if min.is_some_and(|min| min > units.read.min(units.write)) {
        format!(
            "`min` is above the {} units that are provisioned at first",
            units.read.min(units.write)
        )
    } else {
        return;
    };
    let help = "for example: autoscale: { max: 1000, target: 70 }";
    diagnostics.add(Code::WrongValue, policy.span.clone(), message, help);
}
