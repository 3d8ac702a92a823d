//! The policy of an application that asks the access patterns, and does nothing else.
//!
//! One statement for each action on the table and on each index that is asked. `dynamodb:LeadingKeys`
//! binds it to the partition key values that the patterns can ask for: text stands for itself, a
//! parameter for anything, a shard for its digits, and the tenant's parameter for the caller's tag. Where the
//! condition key cannot tell a value (numbers, binary, multi-attribute keys) there is no condition,
//! and it is said.

use serde_json::{Value, json};

use super::keys::Keys;
use super::tenant::tenant;
use super::{Arns, Statement, policy};
use crate::document::export::names::Names;
use crate::document::export::{Export, ExportError, ExportOptions};
use crate::mapping::model::{AccessPattern, Model};

pub(in crate::document::export) fn application(
    model: &Model,
    options: &ExportOptions,
) -> Result<Export, ExportError> {
    if model.patterns.is_empty() {
        return Err(ExportError::NoPatterns);
    }
    let (tenant, notes) = tenant(model, &options.tenant)?;
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
    export.warnings.extend(notes);
    export.warnings.extend(untold(&asked));
    Ok(export)
}

/// What is asked of the table or of one index by one action.
struct Asked<'m> {
    action: &'static str,
    index: Option<&'m str>,
    keys: Vec<Keys>,
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
        let mut add = |condition: Option<Value>| {
            let sid = names.camel(&format!("Dynafold-application-{}-on-{whole}", self.action));
            statements.push(Statement {
                sid,
                actions: vec![self.action],
                resources: vec![resource.clone()],
                condition,
            });
        };
        let told: Option<Vec<(String, bool)>> = self.keys.iter().map(Keys::condition).collect();
        let Some(mut told) = told else {
            add(None);
            return;
        };
        told.sort_unstable();
        told.dedup();
        for (operator, wanted) in [("StringEquals", false), ("StringLike", true)] {
            let texts = told.iter().filter(|(_, is_like)| *is_like == wanted);
            let texts: Vec<&str> = texts.map(|(text, _)| text.as_str()).collect();
            if !texts.is_empty() {
                let operator = format!("ForAllValues:{operator}");
                add(Some(json!({ operator: { "dynamodb:LeadingKeys": texts } })));
            }
        }
    }
}

/// Where the condition key tells nothing.
fn untold(asked: &[Asked<'_>]) -> impl Iterator<Item = String> {
    let untold = asked
        .iter()
        .filter(|asked| asked.keys.contains(&Keys::Untold));
    untold.map(|asked| {
        let whole = asked
            .index
            .map_or_else(|| "the table".to_owned(), |index| format!("index {index}"));
        format!(
            "`dynamodb:LeadingKeys` does not tell the partition keys of {whole}, which are not one text: nothing binds who asks there to some of them"
        )
    })
}
