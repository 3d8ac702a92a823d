//! The policy of an application that asks the access patterns, and does nothing else.
//!
//! One statement for each action on the table and on each index that is asked. `dynamodb:LeadingKeys`
//! binds it to the partition key values that the patterns can ask for: text stands for itself, a
//! parameter for anything, a shard for its digits, and the tenant's parameter for the caller's tag. Where the
//! condition key cannot tell a value (numbers, binary, multi-attribute keys) there is no condition,
//! and it is said.

use dynafold_format::joined;
use dynafold_mapping::model::{AccessPattern, Model};
use serde_json::{Value, json};

use super::leading_keys::LeadingKeys;
use super::tenant::tenant;
use super::{arn, policy, statement};
use crate::export::names::UniqueNames;
use crate::export::{Export, ExportError, ExportOptions};

pub(in crate::export) fn application(
    model: &Model,
    options: &ExportOptions,
) -> Result<Export, ExportError> {
    if model.patterns.is_empty() {
        return Err(ExportError::NoPatterns);
    }
    let (tenant, notes) = tenant(model, &options.tenant)?;
    let mut actions: Vec<AskedAction> = Vec::new();
    for pattern in &model.patterns {
        let (action, keys) = (action(pattern), LeadingKeys::of(pattern, tenant.as_deref()));
        let index = pattern.index.as_deref();
        let mut known = actions.iter_mut();
        let found = known.find(|known| known.action == action && known.index == index);
        match found {
            Some(known) => known.keys.push(keys),
            None => actions.push(AskedAction {
                action,
                index,
                keys: vec![keys],
            }),
        }
    }
    let fetching = joined(
        model
            .patterns
            .iter()
            .filter(|pattern| pattern.fetch)
            .map(|pattern| &*pattern.name),
        ", ",
    );
    if !fetching.is_empty() {
        actions.push(AskedAction {
            action: "BatchGetItem",
            index: None,
            keys: vec![LeadingKeys::Any],
        });
    }
    let (mut names, mut statements) = (UniqueNames::default(), Vec::new());
    for action in &actions {
        let arn = arn(&model.table.name, options, None, action.index);
        action.allow(&[arn], &mut names, &mut statements);
    }
    let mut export = policy(&statements);
    export.warnings.extend(notes);
    export.warnings.extend(unrestricted_partitions(&actions));
    if !fetching.is_empty() {
        export.warnings.push(format!(
            "the policy allows `BatchGetItem` of all items of the table: the keys that {fetching} reads are known only when the index has answered"
        ));
    }
    Ok(export)
}

/// What is asked of the table or of one index by one action.
struct AskedAction<'m> {
    action: &'static str,
    index: Option<&'m str>,
    keys: Vec<LeadingKeys>,
}

/// The action by which a pattern is asked, as `access::plan` decides it.
fn action(pattern: &AccessPattern) -> &'static str {
    let is_get = pattern.is_whole_key() && pattern.filter.is_none() && pattern.shards.is_none();
    if is_get { "GetItem" } else { "Query" }
}

impl AskedAction<'_> {
    /// Adds the statements that allow it.
    fn allow(&self, resources: &[String], names: &mut UniqueNames, statements: &mut Vec<Value>) {
        let asked = self
            .index
            .map_or_else(|| "table".to_owned(), |index| format!("index-{index}"));
        let mut add = |condition: Option<&Value>| {
            let sid = names.camel(&format!("Dynafold-application-{}-on-{asked}", self.action));
            statements.push(statement(&sid, &[self.action], resources, condition));
        };
        let keys: Option<Vec<(String, bool)>> =
            self.keys.iter().map(LeadingKeys::condition).collect();
        let Some(mut keys) = keys else {
            add(None);
            return;
        };
        keys.sort_unstable();
        keys.dedup();
        for (operator, wanted) in [("StringEquals", false), ("StringLike", true)] {
            let texts: Vec<&str> = keys
                .iter()
                .filter(|(_, is_like)| *is_like == wanted)
                .map(|(text, _)| text.as_str())
                .collect();
            if !texts.is_empty() {
                let operator = format!("ForAllValues:{operator}");
                add(Some(
                    &json!({ operator: { "dynamodb:LeadingKeys": texts } }),
                ));
            }
        }
    }
}

/// Warnings of partition keys that no condition restricts.
fn unrestricted_partitions(actions: &[AskedAction<'_>]) -> impl Iterator<Item = String> {
    let unrestricted = actions
        .iter()
        .filter(|action| action.keys.contains(&LeadingKeys::Inexpressible));
    unrestricted.map(|action| {
        let asked = action
            .index
            .map_or_else(|| "the table".to_owned(), |index| format!("index {index}"));
        format!(
            "`dynamodb:LeadingKeys` cannot express the partition keys of {asked}, which are not single strings: the policy allows all of them"
        )
    })
}
