//! How an access pattern is asked: the command, and the request without values.

use serde_json::{Value as Json, json};

use super::Ground;
use crate::access::{plan, to_json};
use crate::document::definition::{Answer, Request};
use crate::mapping::model::{
    AccessPattern, KeyAttribute, KeyType, Operand, ParameterKind, Part, Template,
};

/// The command that asks a pattern, with the example's values where there is one.
pub(super) fn command(
    ground: &Ground<'_>,
    pattern: &AccessPattern,
    answer: Option<&Answer>,
) -> String {
    let mut command = format!(
        "dynafold query {} {}",
        word(ground.mapping),
        word(&pattern.name)
    );
    for (at, parameter) in pattern.parameters.iter().enumerate() {
        let value = answer.and_then(|answer| answer.parameters.get(at));
        let value = match value {
            Some((_, value)) => word(value),
            None => parameter.kind.placeholder().to_owned(),
        };
        command.push_str(&format!(" --{} {value}", parameter.name));
    }
    if ground.target.is_empty() {
        command.push_str(" --target TARGET");
    }
    for (option, value) in ground.target {
        command.push_str(&format!(" --{option} {}", word(value)));
    }
    command
}

/// A word as a POSIX shell takes it.
fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
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
        let letter = match key.key_type {
            KeyType::S => "S",
            KeyType::N => "N",
            KeyType::B => "B",
        };
        let value = json!({ letter: text });
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
                ParameterKind::Binary => "B",
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
