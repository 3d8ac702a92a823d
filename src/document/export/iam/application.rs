//! The policy of an application that asks the access patterns, and does nothing else.
//!
//! One statement for each action on the table and on each index that is asked. `dynamodb:LeadingKeys`
//! binds it to the partition key values that the patterns can ask for: text stands for itself, a
//! parameter for anything, and the tenant's parameter for the caller's tag of that name. Where the
//! condition key cannot tell a value (numbers, binary, multi-attribute keys) there is no condition,
//! and it is said.

use serde_json::{Value, json};

use super::{Arns, Statement, policy};
use crate::document::export::names::Names;
use crate::document::export::{Export, ExportError, ExportOptions, Tenant};
use crate::mapping::model::{AccessPattern, KeyType, Model, Part, Template};

/// Whoever calls: anything, or a tenant by a tag.
const ANY: &str = "*";

pub(in crate::document::export) fn application(
    model: &Model,
    options: &ExportOptions,
) -> Result<Export, ExportError> {
    if model.patterns.is_empty() {
        return Err(ExportError::NoPatterns);
    }
    let tenant = tenant(model, &options.tenant)?;
    let mut asked: Vec<Asked> = Vec::new();
    for pattern in &model.patterns {
        let (action, keys) = (action(pattern), Keys::of(pattern, tenant.as_deref()));
        let index = pattern.index.as_deref();
        let found = asked
            .iter_mut()
            .find(|asked| asked.action == action && asked.index == index);
        match found {
            Some(asked) => asked.keys.push(keys),
            None => asked.push(Asked {
                action,
                index,
                keys: vec![keys],
            }),
        }
    }
    let arns = Arns::of(&model.table.name, options);
    let (mut names, mut statements) = (Names::default(), Vec::new());
    for asked in &asked {
        asked.allow(&arns, &mut names, &mut statements);
    }
    let mut export = policy(&statements);
    export
        .warnings
        .extend(notes(&asked, tenant.as_deref(), &options.tenant));
    Ok(export)
}

/// What is asked of the table or of one index by one action.
struct Asked<'m> {
    action: &'static str,
    index: Option<&'m str>,
    keys: Vec<Keys>,
}

/// Which partition key values are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Keys {
    /// Whatever equals this, in which policy variables count.
    Is(String),
    /// Whatever is like this, in which `*` counts too.
    Like(String),
    /// All of them.
    Any,
    /// Those of which the condition key tells nothing.
    Untold,
}

impl Keys {
    fn of(pattern: &AccessPattern, tenant: Option<&str>) -> Self {
        let [(key, template)] = pattern.partition.as_slice() else {
            return Self::Untold;
        };
        if key.key_type != KeyType::S {
            return Self::Untold;
        }
        let text = shape(pattern, template, tenant);
        match text.as_str() {
            ANY => Self::Any,
            _ if text.contains(ANY_OF_TEXT) => Self::Like(text.replace(ANY_OF_TEXT, ANY)),
            _ => Self::Is(text),
        }
    }
}

/// What stands for anything while a text is put together: no key holds it.
const ANY_OF_TEXT: char = '\0';

/// The partition key values of a pattern, as a condition tells them.
fn shape(pattern: &AccessPattern, template: &Template, tenant: Option<&str>) -> String {
    let mut text = String::new();
    for part in &template.parts {
        match part {
            Part::Text(literal) => text.push_str(&literal_of(literal)),
            Part::Value(value) => {
                let name = parameter(pattern, value.place.column);
                match name.filter(|name| Some(*name) == tenant) {
                    Some(name) => text.push_str(&format!("${{aws:PrincipalTag/{name}}}")),
                    None => any(&mut text),
                }
            }
            Part::Optional(_) => any(&mut text),
        }
    }
    if text.chars().all(|c| c == ANY_OF_TEXT) {
        return ANY.to_owned();
    }
    text
}

fn any(text: &mut String) {
    if !text.ends_with(ANY_OF_TEXT) {
        text.push(ANY_OF_TEXT);
    }
}

/// A text that stands for itself: what a condition would read as more is a variable of its own.
fn literal_of(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '*' | '?' | '$' => out.push_str(&format!("${{{c}}}")),
            c => out.push(c),
        }
    }
    out
}

fn parameter(pattern: &AccessPattern, column: usize) -> Option<&str> {
    let parameter = pattern.parameters.get(column)?;
    Some(&parameter.name)
}

/// The action by which a pattern is asked, as `access::plan` decides it.
fn action(pattern: &AccessPattern) -> &'static str {
    let is_get = pattern.is_whole_key() && pattern.filter.is_none() && pattern.shards.is_none();
    if is_get { "GetItem" } else { "Query" }
}

impl Asked<'_> {
    /// Adds the statements that allow it.
    fn allow(&self, arns: &Arns, names: &mut Names, statements: &mut Vec<Statement>) {
        let resource = match self.index {
            None => arns.table(),
            Some(index) => arns.index(index),
        };
        let whole = self
            .index
            .map_or_else(|| "table".to_owned(), |index| format!("index-{index}"));
        // The keys stand behind the index, so that a number of theirs is not read as one of its name.
        let mut add = |keys: &str, condition: Option<Value>| {
            let sid = format!("Dynafold-application-{}-on-{whole}-{keys}", self.action);
            let sid = names.camel(&sid);
            statements.push(Statement {
                sid,
                actions: vec![self.action],
                resources: vec![resource.clone()],
                condition,
            });
        };
        if self
            .keys
            .iter()
            .any(|keys| matches!(keys, Keys::Any | Keys::Untold))
        {
            add("any-key", None);
            return;
        }
        let of = |wanted: fn(&Keys) -> Option<&String>| {
            let mut texts: Vec<&String> = self.keys.iter().filter_map(wanted).collect();
            texts.sort_unstable();
            texts.dedup();
            texts
        };
        let equal = of(|keys| match keys {
            Keys::Is(text) => Some(text),
            _ => None,
        });
        let like = of(|keys| match keys {
            Keys::Like(text) => Some(text),
            _ => None,
        });
        let conditions = [
            ("keys-equal", "StringEquals", equal),
            ("keys-like", "StringLike", like),
        ];
        for (keys, operator, texts) in conditions {
            if !texts.is_empty() {
                let operator = format!("ForAllValues:{operator}");
                let condition = json!({ operator: { "dynamodb:LeadingKeys": texts } });
                add(keys, Some(condition));
            }
        }
    }
}

/// The tenant's parameter, if there is one.
fn tenant(model: &Model, wanted: &Tenant) -> Result<Option<String>, ExportError> {
    match wanted {
        Tenant::Nobody => Ok(None),
        Tenant::Inferred => Ok(only_parameter(model)),
        Tenant::Parameter(name) => {
            let mut known: Vec<String> = model.patterns.iter().flat_map(finders).collect();
            known.sort_unstable();
            known.dedup();
            if known.contains(name) {
                Ok(Some(name.clone()))
            } else {
                let name = name.clone();
                Err(ExportError::UnknownTenant { name, known })
            }
        }
    }
}

/// The parameters by which a pattern finds its partition.
fn finders(pattern: &AccessPattern) -> Vec<String> {
    let templates = pattern.partition.iter().map(|(_, template)| template);
    let values = templates.flat_map(Template::placeholders);
    let names = values.filter_map(|value| parameter(pattern, value.place.column));
    names
        .filter(|name| is_tag(name))
        .map(str::to_owned)
        .collect()
}

/// Whether a tag can have this key.
fn is_tag(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_.:/=+-@".contains(c))
}

/// The one parameter by which all patterns find their partition, with the same text before it and
/// nothing behind: then the partition is a tenant's.
fn only_parameter(model: &Model) -> Option<String> {
    let of = |pattern: &AccessPattern| {
        let [(key, template)] = pattern.partition.as_slice() else {
            return None;
        };
        let (prefix, value) = match template.parts.as_slice() {
            [Part::Text(text), Part::Value(value)] => (text.clone(), value),
            [Part::Value(value)] => (String::new(), value),
            _ => return None,
        };
        let name = parameter(pattern, value.place.column)?;
        (key.key_type == KeyType::S && pattern.shards.is_none() && is_tag(name))
            .then(|| (prefix, name.to_owned()))
    };
    let mut found = model.patterns.iter().map(of);
    let first = found.next()??;
    found
        .all(|other| other.as_ref() == Some(&first))
        .then_some(first.1)
}

/// What has to be known to use the policy.
fn notes(asked: &[Asked<'_>], tenant: Option<&str>, wanted: &Tenant) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(name), Tenant::Inferred) = (tenant, wanted) {
        notes.push(format!(
            "every access pattern finds its partition by `{name}`, so the policy binds a caller to the partition of its tag `{name}`; where the partition is nobody's own, say --tenant none"
        ));
    }
    let untold = asked
        .iter()
        .filter(|asked| asked.keys.contains(&Keys::Untold));
    for asked in untold {
        let whole = asked
            .index
            .map_or_else(|| "the table".to_owned(), |index| format!("index {index}"));
        notes.push(format!(
            "`dynamodb:LeadingKeys` does not tell the partition keys of {whole}, which are not one text: nothing binds who asks there to some of them"
        ));
    }
    notes
}
