//! Access patterns: what they take, where that is from, what they cost and what they answer.

use dynafold_dynamodb::price::{Rates, monthly};
use dynafold_dynamodb::{Attribute, KeyAttribute, KeyType};
use dynafold_format::shell_word;
use dynafold_mapping::access::{given, plan, to_json};
use dynafold_mapping::model::{AccessPattern, Operand, ParameterKind, Part, Placeholder, Template};
use dynafold_mapping::{PatternProof, aligned};
use serde_json::{Value as Json, json};

use super::super::definition::{Answer, Origin, Parameter, Pattern, PatternCost, Request, Units};
use super::Ground;
use super::items::tracer;
use super::places::{plainly, shown};

/// All patterns, in the order of the mapping. `answers` are in the same order.
pub(super) fn patterns(ground: &Ground<'_>, answers: Vec<Option<Answer>>) -> Vec<Pattern> {
    let all = ground.model.patterns.iter().zip(&ground.proofs.patterns);
    let answers = answers.into_iter().chain(std::iter::repeat_with(|| None));
    all.zip(answers)
        .map(|((pattern, proof), answer)| one(ground, pattern, proof, answer))
        .collect()
}

fn one(
    ground: &Ground<'_>,
    pattern: &AccessPattern,
    proof: &PatternProof,
    answer: Option<Answer>,
) -> Pattern {
    let units = units(ground, pattern, proof, answer.as_ref());
    let order: Vec<&str> = pattern.order.iter().map(|key| &*key.name).collect();
    let many = !order.is_empty() && proof.operation == "Query";
    Pattern {
        name: pattern.name.to_string(),
        description: pattern.description.clone(),
        finds: proof.finds.clone(),
        operation: proof.operation,
        index: proof.index.clone(),
        condition: condition(pattern),
        parameters: parameters(ground, pattern, proof),
        order: many.then(|| (order.join(", "), pattern.descending)),
        limit: pattern.limit,
        filter: filter(pattern),
        consistent: pattern.consistent,
        rate: pattern.rate,
        partitions: proof.partitions,
        cost: PatternCost {
            usd_per_million: ground.prices.reads(units.usual() * 1e6),
            usd_per_month: pattern.rate.and_then(|rate| {
                let reads = rate * units.usual();
                let rates = Rates { reads, writes: 0.0 };
                monthly(rates, ground.prices).on_demand_usd
            }),
        },
        units,
        sql: pattern.sql.clone(),
        request: match &answer {
            Some(answer) => Some(answer.request.clone()),
            None => outline(ground, pattern),
        },
        command: command(ground, pattern, answer.as_ref()),
        answer,
    }
}

/// What a call uses. An answer out of the first rows alone misses what further rows hold, unless it
/// is one item, or as many as the pattern's limit lets through.
fn units(
    ground: &Ground<'_>,
    pattern: &AccessPattern,
    proof: &PatternProof,
    answer: Option<&Answer>,
) -> Units {
    let most = proof.most_units.map(|most| most.max(proof.least_units));
    let example = answer.and_then(|answer| answer.units);
    let is_part = ground
        .examples
        .as_ref()
        .is_none_or(|examples| !examples.whole && examples.asked.is_none());
    let limit = pattern.limit.filter(|_| proof.partitions == 1);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let is_full = answer.is_some_and(|answer| {
        let is_limited = limit.is_some_and(|limit| answer.found >= limit);
        proof.operation == "GetItem" || (is_limited && pattern.filter.is_none())
    });
    let goes_on = answer.is_some_and(|answer| answer.more);
    let units = Units {
        least: proof.least_units,
        most,
        example,
        at_least: false,
    };
    let at_most = most.is_some_and(|most| most <= units.usual());
    let at_least = !at_most && (example.is_none() || goes_on || (is_part && !is_full));
    Units { at_least, ..units }
}

/// The key condition as people write it: `PK = USER#{userId} and SK begins_with PERSONAL#`.
fn condition(pattern: &AccessPattern) -> String {
    let each = pattern.conditions().map(|(key, operator, values)| {
        let values: Vec<String> = values.into_iter().map(plainly).collect();
        format!("{} {operator} {}", key.name, values.join(" and "))
    });
    each.collect::<Vec<_>>().join(" and ")
}

/// The filter expression with names and values in their places.
fn filter(pattern: &AccessPattern) -> Option<String> {
    let filter = pattern.filter.as_ref()?;
    let value = |operand: &Operand| match operand {
        Operand::Constant(text @ Attribute::S(_)) => format!("'{}'", shown(text)),
        Operand::Constant(value) => shown(value),
        Operand::Parameter(index) => {
            let parameter = pattern.parameters.get(*index);
            parameter.map_or(String::new(), |parameter| format!("{{{}}}", parameter.name))
        }
    };
    let named = |sign: &str, at: usize| match sign {
        "#f" => filter.names.get(at).map(ToString::to_string),
        _ => filter.values.get(at).map(value),
    };
    let mut text = String::new();
    let mut rest = filter.text.as_str();
    // What is put in is not looked into: a constant may hold `:f0`.
    while let Some(at) = rest.find(['#', ':']) {
        let (before, placed) = rest.split_at(at);
        let Some((sign, after)) = placed.split_at_checked(2) else {
            break;
        };
        let end = after.find(|c: char| !c.is_ascii_digit());
        let (number, after) = after.split_at(end.unwrap_or(after.len()));
        text.push_str(before);
        match number.parse().ok().and_then(|at| named(sign, at)) {
            Some(put) => text.push_str(&put),
            None => text.extend([sign, number]),
        }
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

fn parameters(
    ground: &Ground<'_>,
    pattern: &AccessPattern,
    proof: &PatternProof,
) -> Vec<Parameter> {
    let all = pattern.parameters.iter().enumerate();
    let of = |(index, parameter): (usize, &dynafold_mapping::model::Parameter)| {
        let mut placeholders = pattern.placeholders();
        let written = placeholders
            .find(|placeholder| placeholder.place.column == index)
            .filter(|placeholder| !placeholder.filters.is_empty());
        Parameter {
            name: parameter.name.to_string(),
            kind: parameter.kind.placeholder(),
            written: written.map(Placeholder::to_string),
            origins: origins(ground, pattern, proof, index),
            clock: parameter.from_clock.as_ref().map(Template::to_string),
        }
    };
    all.map(of).collect()
}

/// The columns that stand in the keys of the found item types where a pattern has a parameter.
fn origins(
    ground: &Ground<'_>,
    pattern: &AccessPattern,
    proof: &PatternProof,
    parameter: usize,
) -> Vec<Origin> {
    let mut found = Vec::new();
    for item in &ground.model.item_types {
        if !proof.finds.iter().any(|name| **name == *item.name) {
            continue;
        }
        let Some(tracer) = tracer(ground, item) else {
            continue;
        };
        for (key, template) in pattern.templates() {
            let Some(made) = item.template(&key.name) else {
                continue;
            };
            for (_, asked, made) in aligned(template, made).pairs {
                if asked.place.column == parameter
                    && let Some(origin) = tracer.column(made.place.column)
                    && !found.contains(&origin)
                {
                    found.push(origin);
                }
            }
        }
    }
    found
}

// How an access pattern is asked: the command, and the request without values.

/// The command that asks a pattern, with the example's values where there is one.
pub(super) fn command(
    ground: &Ground<'_>,
    pattern: &AccessPattern,
    answer: Option<&Answer>,
) -> String {
    let mut command = format!(
        "dynafold query {} {}",
        shell_word(ground.mapping),
        shell_word(&pattern.name)
    );
    for (at, parameter) in pattern.parameters.iter().enumerate() {
        let value = answer.and_then(|answer| answer.parameters.get(at));
        let value = match value {
            Some((_, value)) => shell_word(value),
            None => parameter.kind.placeholder().to_owned(),
        };
        command.push(' ');
        command.push_str(&given(&parameter.name, &value));
    }
    if ground.target.is_empty() {
        command.push_str(" --target TARGET");
    }
    for (option, value) in ground.target {
        command.push_str(&format!(" --{option} {}", shell_word(value)));
    }
    command
}

/// The request of a pattern with its templates in the place of values; `None`
/// where none can be planned.
pub(super) fn outline(ground: &Ground<'_>, pattern: &AccessPattern) -> Option<Request> {
    let mut blank = pattern.clone();
    let mut asked: Vec<(KeyAttribute, String)> = Vec::new();
    let mut empty = |key: &mut KeyAttribute, templates: Vec<&mut Template>| {
        for template in templates {
            asked.push((key.clone(), template.to_string()));
            // Any text is a key of this type: the values are put in below.
            template.parts = vec![Part::Text("-".to_owned())];
        }
        key.key_type = KeyType::S;
    };
    for (key, template) in &mut blank.partition {
        empty(key, vec![template]);
    }
    for (key, condition) in &mut blank.sort {
        empty(key, condition.templates_mut());
    }
    let plan = plan(&blank, &[], ground.context).ok()?;
    let (operation, mut json) = to_json(plan.requests.first()?, &ground.model.table.name);
    let mut put = |pointer: String, value: Json| {
        if let Some(place) = json.pointer_mut(&pointer) {
            *place = value;
        }
    };
    for (at, (key, text)) in asked.into_iter().enumerate() {
        let value = json!({ key.key_type.word(): text });
        if operation == "GetItem" {
            let name = key.name.replace('~', "~0").replace('/', "~1");
            put(format!("/Key/{name}"), value);
        } else {
            put(format!("/ExpressionAttributeValues/:k{at}"), value);
        }
    }
    let operands = pattern.filter.iter().flat_map(|filter| &filter.values);
    for (at, operand) in operands.enumerate() {
        if let Operand::Parameter(index) = operand
            && let Some(parameter) = pattern.parameters.get(*index)
        {
            let letter = match parameter.kind {
                ParameterKind::Number => "N",
                ParameterKind::Boolean => "BOOL",
                ParameterKind::Binary | ParameterKind::Hex => "B",
                ParameterKind::Text | ParameterKind::Time(_) => "S",
            };
            let value = json!({ letter: format!("{{{}}}", parameter.name) });
            put(format!("/ExpressionAttributeValues/:f{at}"), value);
        }
    }
    Some(Request {
        operation,
        json: format!("{json:#}"),
        more: plan.requests.len().saturating_sub(1),
    })
}
