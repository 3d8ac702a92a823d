//! The table's settings, held against DynamoDB's rules for them.

use dynafold_dynamodb::{Autoscale, Billing, Settings, StreamView, Throughput};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::raw::{RawTable, Spanned, named, read_autoscale, texts};

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
    let mut settings = raw.settings.clone();
    check_tags(raw, diagnostics);
    check_replicas(raw, diagnostics);
    check_warm(raw, diagnostics);
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

fn check_tags(raw: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    let tags = named(raw.node.get("tags"));
    for (entry, (key, value)) in tags.iter().zip(&raw.settings.tags) {
        let long = key.chars().count() > MAX_TAG.0 || value.chars().count() > MAX_TAG.1;
        let message = if key.is_empty() || long {
            format!(
                "a tag's key has 1 to {} characters, its value at most {}",
                MAX_TAG.0, MAX_TAG.1
            )
        } else if key.to_ascii_lowercase().starts_with("aws:") {
            format!("the tag `{key}` begins with `aws:`, which is AWS's own")
        } else {
            continue;
        };
        let help = "name the tag otherwise, or shorten it";
        diagnostics.add(Code::Name, entry.key_span.clone(), message, help);
    }
    if let Some(entry) = tags.get(MAX_TAGS) {
        let message = format!("a table has at most {MAX_TAGS} tags");
        let span = entry.key_span.clone();
        diagnostics.push(Diagnostic::new(Code::Limit, span, message));
    }
}

fn check_replicas(raw: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    let replicas = texts(raw.node.get("replicas"));
    let mut earlier: Vec<&Spanned<String>> = Vec::new();
    for region in &replicas {
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
    if let (Some(view), Some(stream)) = (raw.settings.stream, raw.node.get("stream"))
        && view != StreamView::NewAndOldImages
        && !replicas.is_empty()
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

fn check_warm(raw: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    let written = raw.node.get("warm_throughput");
    let Some((warm, written)) = raw.settings.warm_throughput.zip(written) else {
        return;
    };
    let (least, whose) = match raw.billing {
        Billing::OnDemand => (ON_DEMAND, "an on-demand table takes from the start"),
        Billing::Provisioned(units) => (units, "is provisioned"),
    };
    if warm.read < least.read || warm.write < least.write {
        let message = "a table cannot be warmed up for less than it has";
        let help = format!(
            "{} reads and {} writes a second {whose}: say as much or more, or take it away",
            least.read, least.write
        );
        diagnostics.add(Code::Limit, written.span.clone(), message, help);
    }
}

fn check_autoscale(
    policy: &Spanned<Autoscale>,
    units: Throughput,
    diagnostics: &mut Vec<Diagnostic>,
) {
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
