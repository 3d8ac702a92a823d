//! What the access patterns answer: the sampled items are put into an embedded table, as a load does
//! it, and each pattern is asked with parameters that stand in them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::access::{clock_default, end_of_range, plan, recover};
use crate::cli::failure::Failure;
use crate::cli::format::printable;
use crate::cli::query;
use crate::document::{self, cells};
use crate::dynamodb::{
    CallPlan, Item, Table, partition_fingerprint, request_value, sort_order, write_item,
};
use crate::item::text_of;
use crate::mapping::model::{AccessPattern, Model};
use crate::mapping::template::Context;
use crate::mapping::{PatternProof, Proofs};
use crate::preview::ItemTypeSample;
use crate::target::{
    BatchEntry, Batcher, CallResult, Target, TargetError, TargetSpec, answer, connect,
};
use crate::value::Value;

/// Item collections that are tried for a pattern.
const TRIED: usize = 24;
/// Items of an answer that are shown; an answer with so many is good enough.
const SHOWN: usize = 4;

/// Bytes of a parameter's or a request's value that are shown: more than a key has room for.
const LONG: usize = 2_048;

/// What the patterns answered.
pub(super) struct PatternAnswers {
    /// One for each pattern, in the order of the mapping; `None` where nothing in the sample tells
    /// its parameters.
    pub(super) answers: Vec<Option<document::ExampleAnswer>>,
    /// Where the table is, if it is not the one made here.
    pub(super) place: Option<String>,
}

/// What is asked, with what came.
struct AskedCall {
    values: Vec<Value>,
    plan: CallPlan,
    answer: CallResult,
}

pub(super) async fn ask(
    loaded: Option<&TargetSpec>,
    model: &Model,
    proofs: &Proofs,
    samples: &[ItemTypeSample],
    context: &Context,
) -> Result<PatternAnswers, Failure> {
    let table = &model.table;
    let made = filled(table, samples).await?;
    let elsewhere = match loaded {
        Some(target) => Some(connect(target).await?),
        None => None,
    };
    let mut answers = Vec::new();
    for (pattern, proof) in model.patterns.iter().zip(&proofs.patterns) {
        let items = promised(pattern, proof, samples);
        let proposed = proposed(pattern, &items, context);
        let enough = if pattern.is_whole_key() { 1 } else { SHOWN };
        let found = best(made.as_ref(), table, pattern, &proposed, context, enough).await?;
        let mut found = found.filter(|found| !found.answer.items.is_empty());
        if let Some(target) = &elsewhere {
            let values = found.map(|found| found.values);
            if let Some(values) = values.or_else(|| proposed.into_iter().next()) {
                let answered = measured(target.as_ref(), table, pattern, values, context).await;
                found = answered.map_err(query::call_failure)?;
            } else {
                found = None;
            }
        }
        answers.push(found.map(|found| example_answer(pattern, table, found)));
    }
    Ok(PatternAnswers {
        answers,
        place: elsewhere.map(|target| format!("{} at {}", table.name, target.place())),
    })
}

/// A table in memory that holds the sampled items.
async fn filled(table: &Table, samples: &[ItemTypeSample]) -> Result<Arc<dyn Target>, Failure> {
    let target = connect(&TargetSpec::Local { file: None }).await?;
    target.create(table).await?;
    target.start(table, true).await?;
    let mut batcher = Batcher::new(target.batch_limit());
    let items = samples.iter().flat_map(|sample| &sample.items);
    // No two items of a sample have one key: any number tells them apart.
    for (item, fingerprint) in items.zip(0..) {
        let entry = BatchEntry {
            size: item.size,
            units: item.units,
            fingerprint,
            ..BatchEntry::default()
        };
        if let Some(batch) = batcher.push(entry, |out| write_item(out, &item.item)) {
            target.write(table, &batch).await?;
        }
    }
    if let Some(batch) = batcher.finish() {
        target.write(table, &batch).await?;
    }
    target.finish().await?;
    Ok(target)
}

/// The sampled items that a pattern is there for.
fn promised<'s>(
    pattern: &AccessPattern,
    proof: &PatternProof,
    samples: &'s [ItemTypeSample],
) -> Vec<&'s Item> {
    let wanted = |name: &str| {
        let promised = pattern.items.iter().any(|item| **item == *name);
        promised || (pattern.items.is_empty() && proof.finds.iter().any(|found| found == name))
    };
    let samples = samples.iter().filter(|sample| wanted(&sample.item_type));
    let items = samples.flat_map(|sample| &sample.items);
    items.map(|item| &item.item).collect()
}

/// Asks a pattern with values after values until an answer has enough items, and keeps what brought most.
async fn best(
    target: &dyn Target,
    table: &Table,
    pattern: &AccessPattern,
    proposed: &[Vec<Value>],
    context: &Context,
    enough: usize,
) -> Result<Option<AskedCall>, TargetError> {
    let mut best: Option<AskedCall> = None;
    for values in proposed.iter().cloned() {
        let Ok(plan) = plan(pattern, &values, context) else {
            continue;
        };
        let answer = answer(target, table, &plan, false).await?;
        let found = answer.items.len();
        if (best.as_ref()).is_none_or(|best| found > best.answer.items.len()) {
            best = Some(AskedCall {
                values,
                plan,
                answer,
            });
        }
        if found >= enough {
            break;
        }
    }
    Ok(best)
}

/// The values with which a pattern may find items, those with long ones last. What items do not tell
/// is counted from the clock where the pattern says so.
fn proposed(pattern: &AccessPattern, items: &[&Item], context: &Context) -> Vec<Vec<Value>> {
    let ends = ends(pattern, items).into_iter();
    let proposed = ends.filter_map(|(first, last)| {
        let known = recover(pattern, first, last).into_iter();
        let clock = from_clock(pattern, context);
        known.zip(clock).map(|(value, now)| value.or(now)).collect()
    });
    let mut proposed: Vec<Vec<Value>> = proposed.collect();
    proposed.sort_by_key(|values| {
        let mut texts = values.iter().flat_map(text_of);
        texts.any(|text| text.len() > LONG)
    });
    proposed
}

/// What the parameters are that a caller need not give.
fn from_clock(pattern: &AccessPattern, context: &Context) -> Vec<Option<Value>> {
    let parameters = pattern.parameters.iter();
    parameters
        .map(|parameter| clock_default(parameter, context).ok().flatten())
        .collect()
}

/// Asks the loaded table what a call takes: with a moment from the clock where the caller need not give
/// it, and for a range from its first item to its last. Where nothing is found, for all that there is.
async fn measured(
    target: &dyn Target,
    table: &Table,
    pattern: &AccessPattern,
    known: Vec<Value>,
    context: &Context,
) -> Result<Option<AskedCall>, TargetError> {
    let mut ends = Vec::new();
    for last in [false, true] {
        let end = end_of_range(pattern, last);
        if let Some(Ok(plan)) = end.map(|end| plan(&end, &known, context)) {
            ends.extend(answer(target, table, &plan, false).await?.items);
        }
    }
    let mut wide = known;
    if let [first, last] = ends.as_slice() {
        let of_ends = recover(pattern, first, last).into_iter();
        wide = of_ends
            .zip(wide)
            .map(|(end, value)| end.unwrap_or(value))
            .collect();
    }
    let clock = from_clock(pattern, context).into_iter();
    let usual: Vec<Value> = clock
        .zip(wide.clone())
        .map(|(now, value)| now.unwrap_or(value))
        .collect();
    best(target, table, pattern, &[usual, wide], context, 1).await
}

/// The first and the last item of each part of the index that the pattern could be asked for.
fn ends<'i>(pattern: &AccessPattern, items: &[&'i Item]) -> Vec<(&'i Item, &'i Item)> {
    let in_index = items.iter().copied().filter(|item| {
        let partition = pattern.partition.iter().map(|(key, _)| key);
        let mut keys = partition.chain(&pattern.order);
        keys.all(|key| item.get(&key.name).is_some())
    });
    let mut collections: Vec<(&Item, &Item)> = Vec::new();
    let mut known: HashMap<u128, usize> = HashMap::new();
    for item in in_index {
        let keys = pattern.partition.iter().map(|(key, _)| key);
        let fingerprint = partition_fingerprint(keys.filter_map(|key| item.get(&key.name)));
        let next = collections.len();
        let at = if is_range(pattern) {
            *known.entry(fingerprint).or_insert(next)
        } else {
            // Any item tells a part of a collection.
            next
        };
        match collections.get_mut(at) {
            Some((first, _)) if before(pattern, item, first) => *first = item,
            Some((_, last)) if before(pattern, last, item) => *last = item,
            Some(_) => {}
            None => collections.push((item, item)),
        }
    }
    spread(collections)
}

/// Whether a pattern asks for what lies between two values.
fn is_range(pattern: &AccessPattern) -> bool {
    let last = pattern.sort.last();
    last.is_some_and(|(_, condition)| !condition.bounds().is_empty())
}

/// Whether an item comes before another in a collection.
fn before(pattern: &AccessPattern, item: &Item, other: &Item) -> bool {
    let keys = pattern.order.iter();
    let each = keys.map(|key| sort_order(item.get(&key.name), other.get(&key.name)));
    each.fold(Ordering::Equal, Ordering::then) == Ordering::Less
}

/// Some of many, from all over them.
fn spread<T: Copy>(all: Vec<T>) -> Vec<T> {
    let step = all.len().div_ceil(TRIED).max(1);
    all.into_iter().step_by(step).collect()
}

/// An answer as the document has it.
fn example_answer(
    pattern: &AccessPattern,
    table: &Table,
    asked: AskedCall,
) -> document::ExampleAnswer {
    let AskedCall {
        values,
        plan,
        answer,
    } = asked;
    let parameters = pattern.parameters.iter().zip(&values);
    let requests = &plan.requests;
    let first = requests
        .first()
        .map(|request| request_value(request, &table.name));
    let (operation, mut request) = first.unwrap_or(("Query", Json::Null));
    let mut is_cut = shorten(&mut request);
    let request = document::ExampleRequest {
        operation,
        json: printable(&format!("{request:#}")).into_owned(),
        further_requests: requests.len().saturating_sub(1),
    };
    document::ExampleAnswer {
        parameters: parameters
            .map(|(parameter, value)| {
                let mut text = text_of(value).unwrap_or_default().to_owned();
                is_cut |= cut(&mut text);
                (parameter.name.to_string(), text)
            })
            .collect(),
        request,
        is_cut,
        items: answer.items.iter().take(SHOWN).map(cells).collect(),
        found: answer.items.len(),
        has_more_pages: answer.more,
        units: answer.units,
    }
}

/// Cuts long texts of a request; whether there were any.
fn shorten(request: &mut Json) -> bool {
    let any = |is_cut, each| shorten(each) | is_cut;
    match request {
        Json::String(text) => cut(text),
        Json::Array(all) => all.iter_mut().fold(false, any),
        Json::Object(members) => members.values_mut().fold(false, any),
        _ => false,
    }
}

/// Cuts a long text; whether it was one.
fn cut(text: &mut String) -> bool {
    let is_long = text.len() > LONG;
    if is_long {
        text.truncate(text.floor_char_boundary(LONG));
        text.push('…');
    }
    is_long
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_cut_and_turns_nothing_round() {
        let mut request = serde_json::json!({"Key": {"PK": {"S": "é".repeat(2_000)}}, "Limit": 1});
        assert!(shorten(&mut request) && !shorten(&mut request.clone()["Limit"]));
        let text = request["Key"]["PK"]["S"].as_str().unwrap();
        assert!(
            text.ends_with("é…") && text.len() < LONG + 4,
            "{}",
            text.len()
        );
        assert_eq!(printable("\"a\u{202e}b\u{2066}\""), "\"a\\u202eb\\u2066\"");
    }
}
