//! IAM policies: what a migration does to this one table, and what an application asks it.

use std::collections::BTreeSet;

use dynafold_dynamodb::{KeyType, Table, without_null_and_empty};
use dynafold_format::joined;
use dynafold_mapping::model::{AccessPattern, Model, Placeholder, Template, TemplatePart};
use dynafold_mapping::template::Filter;
use serde_json::{Value, json};

use super::names::UniqueNames;
use super::{Export, ExportError, ExportOptions, Tenant};

/// Characters without white space that a managed policy may have.
const MANAGED: usize = 6_144;

/// A statement that allows something. Actions are of DynamoDB, unless they name another service.
fn statement(
    sid: &str,
    actions: &[&str],
    resources: &[String],
    condition: Option<&Value>,
) -> Value {
    let actions = actions.iter().map(|action| {
        if action.contains(':') {
            (*action).to_owned()
        } else {
            format!("dynamodb:{action}")
        }
    });
    without_null_and_empty(&json!({
        "Sid": sid,
        "Effect": "Allow",
        "Action": actions.collect::<Value>(),
        "Resource": resources,
        "Condition": condition,
    }))
}

/// The ARN of a table in a region, else in that of the options; or of one of its indexes.
fn arn(table: &str, options: &ExportOptions, region: Option<&str>, index: Option<&str>) -> String {
    let region = region.or(options.region.as_deref()).unwrap_or("*");
    let account = options.account.as_deref().unwrap_or("*");
    let index = index.map_or_else(String::new, |index| format!("/index/{index}"));
    format!("arn:aws:dynamodb:{region}:{account}:table/{table}{index}")
}

/// The policy of these statements.
fn policy(statements: &[Value]) -> Export {
    let policy = json!({ "Version": "2012-10-17", "Statement": statements });
    let text = format!("{policy:#}\n");
    let counted = text.chars().filter(|c| !c.is_whitespace()).count();
    let mut warnings = Vec::new();
    if counted > MANAGED {
        warnings.push(format!(
            "the policy has {counted} characters, and a managed policy can have {MANAGED}: divide its statements between two policies"
        ));
    }
    Export { text, warnings }
}

// The policy of an application that asks the access patterns, and does nothing else.
//
// One statement for each action on the table and on each index that is asked. `dynamodb:LeadingKeys`
// binds it to the partition key values that the patterns can ask for: text stands for itself, a
// parameter for anything, a shard for its digits, and the tenant's parameter for the caller's tag. Where the
// condition key cannot tell a value (numbers, binary, multi-attribute keys) there is no condition,
// and it is said.

pub(super) fn application(model: &Model, options: &ExportOptions) -> Result<Export, ExportError> {
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
    let fetching = model.patterns.iter().filter(|pattern| pattern.fetch);
    let fetching = joined(fetching.map(|pattern| &*pattern.name), ", ");
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
    export.warnings.extend(uncovered_partitions(&actions));
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
        let whole = self
            .index
            .map_or_else(|| "table".to_owned(), |index| format!("index-{index}"));
        let mut add = |condition: Option<&Value>| {
            let sid = names.camel(&format!("Dynafold-application-{}-on-{whole}", self.action));
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
            let texts = keys.iter().filter(|(_, is_like)| *is_like == wanted);
            let texts: Vec<&str> = texts.map(|(text, _)| text.as_str()).collect();
            if !texts.is_empty() {
                let operator = format!("ForAllValues:{operator}");
                add(Some(
                    &json!({ operator: { "dynamodb:LeadingKeys": texts } }),
                ));
            }
        }
    }
}

/// Where the condition key tells nothing.
fn uncovered_partitions(actions: &[AskedAction<'_>]) -> impl Iterator<Item = String> {
    let untold = actions
        .iter()
        .filter(|action| action.keys.contains(&LeadingKeys::Untold));
    untold.map(|action| {
        let whole = action
            .index
            .map_or_else(|| "the table".to_owned(), |index| format!("index {index}"));
        format!(
            "`dynamodb:LeadingKeys` cannot express the partition keys of {whole}, which are not single strings: the policy allows all of them"
        )
    })
}

// The policy of whoever runs `migrate`, `verify`, `query` and `erase`: what these call, on this table alone.

/// What every run needs of a table that is there: see `target::dynamodb`.
const LOAD: [&str; 8] = [
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "DescribeTable",
    "DescribeTimeToLive",
    "PutItem",
    "Query",
    "Scan",
];
/// What DynamoDB does in the caller's name where it makes a replica.
const REPLICATE: [&str; 10] = [
    "BatchWriteItem",
    "CreateTable",
    "CreateTableReplica",
    "DeleteItem",
    "DescribeTable",
    "GetItem",
    "PutItem",
    "Query",
    "Scan",
    "UpdateItem",
];

/// What looks at the settings that the mapping says, and what sets them once the table is there.
fn settings_actions(table: &Table) -> (Vec<&'static str>, Vec<&'static str>) {
    let settings = &table.settings;
    let (mut look, mut set) = (Vec::new(), Vec::new());
    set.extend(table.ttl.as_ref().map(|_| "UpdateTimeToLive"));
    if settings.point_in_time_recovery.is_some() {
        look.push("DescribeContinuousBackups");
        set.push("UpdateContinuousBackups");
    }
    if !settings.tags.is_empty() {
        look.push("ListTagsOfResource");
        set.push("TagResource");
    }
    set.extend((!settings.replicas.is_empty()).then_some("CreateTableReplica"));
    (look, set)
}

pub(super) fn migration(model: &Model, options: &ExportOptions) -> Export {
    let (table, settings) = (&model.table, &model.table.settings);
    let statement = |sid: &str, actions: &[&str], resources: &[String]| {
        statement(&format!("DynafoldMigration{sid}"), actions, resources, None)
    };
    let (mut load, mut make) = settings_actions(table);
    load.extend(LOAD);
    make.push("CreateTable");
    // A replica, and a global index that the table lacks.
    if !(table.indexes.is_empty() && settings.replicas.is_empty()) {
        make.push("UpdateTable");
    }
    load.sort_unstable();
    make.sort_unstable();
    let own = [arn(&table.name, options, None, None)];
    let mut statements = vec![
        statement("LoadAndVerify", &load, &own),
        statement("MakeTheTable", &make, &own),
        statement("ReplaceTheTable", &["DeleteTable"], &own),
    ];
    let patterns = model.patterns.iter();
    let asked: BTreeSet<_> = patterns.map(|pattern| pattern.index.as_deref()).collect();
    if asked.contains(&None) {
        statements.push(statement("AskTheTable", &["GetItem", "Query"], &own));
    }
    let indexes = asked.into_iter().flatten();
    let indexes: Vec<String> = indexes
        .map(|index| arn(&table.name, options, None, Some(index)))
        .collect();
    if !indexes.is_empty() {
        statements.push(statement("AskTheIndexes", &["Query"], &indexes));
    }
    if !settings.replicas.is_empty() {
        let others = settings.replicas.iter();
        let all = own
            .into_iter()
            .chain(others.map(|region| arn(&table.name, options, Some(region), None)));
        statements.push(statement("Replicate", &REPLICATE, &all.collect::<Vec<_>>()));
    }
    let mut export = policy(&statements);
    if !settings.replicas.is_empty() {
        export.warnings.push(
            "the first global table of an account needs its service-linked role too: allow `iam:CreateServiceLinkedRole` for replication.dynamodb.amazonaws.com, or let somebody else create the role"
                .to_owned(),
        );
    }
    export
}

/// The policy of a load that DynamoDB does itself, from S3: a new table's import, or a bulk operation on one that exists.
pub(super) fn route(model: &Model, options: &ExportOptions, is_import: bool) -> Export {
    let (table, settings) = (&model.table, &model.table.settings);
    let name = if is_import { "Import" } else { "Bulk" };
    let statement = |sid: &str, actions: &[&str], resources: &[String]| {
        statement(&format!("Dynafold{name}{sid}"), actions, resources, None)
    };
    let own = arn(&table.name, options, None, None);
    let bucket = "arn:aws:s3:::BUCKET".to_owned();
    let (mut look, mut finish) = if is_import {
        settings_actions(table)
    } else {
        (Vec::new(), Vec::new())
    };
    look.extend([
        "BatchGetItem",
        "DescribeTable",
        "DescribeTimeToLive",
        "Scan",
    ]);
    if is_import {
        let is_changed = settings.stream.is_some()
            || settings.deletion_protection.is_some()
            || settings.class.is_some()
            || settings.warm_throughput.is_some()
            || !settings.replicas.is_empty();
        finish.extend(is_changed.then_some("UpdateTable"));
    }
    look.sort_unstable();
    finish.sort_unstable();
    let mut statements = vec![
        statement(
            "WritesTheExport",
            &[
                "s3:AbortMultipartUpload",
                "s3:DeleteObject",
                "s3:GetObject",
                "s3:PutObject",
            ],
            &[format!("{bucket}/PREFIX/*")],
        ),
        statement(
            "ListsTheExport",
            &["s3:ListBucket", "s3:ListBucketMultipartUploads"],
            &[bucket],
        ),
        statement("Compares", &look, std::slice::from_ref(&own)),
    ];
    if is_import {
        let imports = [own.clone(), format!("{own}/import/*")];
        statements.push(statement(
            "Starts",
            &["DescribeImport", "ImportTable"],
            &imports,
        ));
        // DynamoDB logs the first errors in the caller's name.
        let logs = [
            "logs:CreateLogGroup",
            "logs:CreateLogStream",
            "logs:DescribeLogStreams",
            "logs:PutLogEvents",
            "logs:PutRetentionPolicy",
        ];
        let region = options.region.as_deref().unwrap_or("*");
        let account = options.account.as_deref().unwrap_or("*");
        let group = format!("arn:aws:logs:{region}:{account}:log-group:/aws-dynamodb/*");
        statements.push(statement(
            "Logs",
            &logs,
            &[group.clone(), format!("{group}:log-stream:*")],
        ));
        statements.push(statement(
            "FindsLogs",
            &["logs:DescribeLogGroups"],
            &["*".to_owned()],
        ));
        if !finish.is_empty() {
            statements.push(statement("SetsUpTheTable", &finish, &[own]));
        }
    } else {
        let operations = [own.clone(), format!("{own}/*")];
        let actions = [
            "CancelBulkOperation",
            "DescribeBulkOperation",
            "StartBulkPutItems",
        ];
        statements.push(statement("Starts", &actions, &operations));
    }
    let mut export = policy(&statements);
    export
        .warnings
        .push("replace BUCKET and PREFIX with the names of your bucket and prefix".to_owned());
    if !is_import {
        export.warnings.push("it is not confirmed which resources AWS checks for bulk operations: the policy names the table and everything below it".to_owned());
    }
    export
}

// The partition key values that an access pattern asks for, as `dynamodb:LeadingKeys` tells them.
//
// A value is made of pieces: text stands for itself, the tenant for the caller's tag, a shard for its
// digits, and whatever else a caller gives for anything.

/// Which partition key values are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LeadingKeys {
    /// Those of this shape.
    Shaped(Vec<KeyValuePiece>),
    Any,
    /// Those of which the condition key tells nothing.
    Untold,
}

/// A piece of a partition key value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyValuePiece {
    /// Text that stands for itself.
    Text(String),
    /// The caller's tag of this name.
    Tag(String),
    /// As many digits.
    Digits(usize),
    Any,
}

impl KeyValuePiece {
    /// What stands for itself in it.
    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    fn is_wild(&self) -> bool {
        matches!(self, Self::Digits(_) | Self::Any)
    }
}

impl LeadingKeys {
    fn of(pattern: &AccessPattern, tenant: Option<&str>) -> Self {
        let Some(template) = single_text_key(pattern) else {
            return Self::Untold;
        };
        let mut pieces: Vec<KeyValuePiece> = Vec::new();
        for part in &template.parts {
            let piece = match part {
                TemplatePart::Text(text) => KeyValuePiece::Text(text.clone()),
                TemplatePart::Value(value) => of_value(pattern, value, tenant),
                TemplatePart::Optional(_) => KeyValuePiece::Any,
            };
            if piece != KeyValuePiece::Any || pieces.last() != Some(&KeyValuePiece::Any) {
                pieces.push(piece);
            }
        }
        if pieces == [KeyValuePiece::Any] {
            return Self::Any;
        }
        Self::Shaped(pieces)
    }

    /// Whether only a tenant's own are asked for.
    fn are_bound(&self) -> bool {
        matches!(self, Self::Shaped(pieces) if pieces.iter().any(|piece| matches!(piece, KeyValuePiece::Tag(_))))
    }

    /// Whether nothing stands behind the tag, so that no part of one tag can be taken for another's.
    fn end_with_the_tag(&self) -> bool {
        matches!(self, Self::Shaped(pieces) if matches!(pieces.last(), Some(KeyValuePiece::Tag(_))))
    }

    /// Whether a wildcard stands straight beside the tag, so that one tenant's are like another's.
    fn run_into_the_tag(&self) -> bool {
        let Self::Shaped(pieces) = self else {
            return false;
        };
        let is_tag = |piece: &KeyValuePiece| matches!(piece, KeyValuePiece::Tag(_));
        pieces.windows(2).any(|pair| match pair {
            [one, other] => {
                (is_tag(one) && other.text().is_empty()) || (one.text().is_empty() && is_tag(other))
            }
            _ => false,
        })
    }

    /// Whether values of both may be one: neither their beginnings nor their ends tell them apart.
    fn may_meet(&self, other: &Self) -> bool {
        fn ends(pieces: &[KeyValuePiece]) -> (&str, &str) {
            let (first, last) = (pieces.first(), pieces.last());
            (
                first.map_or("", KeyValuePiece::text),
                last.map_or("", KeyValuePiece::text),
            )
        }
        let (Self::Shaped(one), Self::Shaped(other)) = (self, other) else {
            return true;
        };
        let ((first, last), (others_first, others_last)) = (ends(one), ends(other));
        let begin = first.starts_with(others_first) || others_first.starts_with(first);
        let end = last.ends_with(others_last) || others_last.ends_with(last);
        begin && end
    }

    /// The value of a condition, and whether `*` and `?` count in it; `None` where there is none.
    fn condition(&self) -> Option<(String, bool)> {
        let Self::Shaped(pieces) = self else {
            return None;
        };
        let mut text = String::new();
        for piece in pieces {
            match piece {
                KeyValuePiece::Text(literal) => push_literal(&mut text, literal),
                KeyValuePiece::Tag(name) => text.push_str(&format!("${{aws:PrincipalTag/{name}}}")),
                KeyValuePiece::Digits(width) => text.extend(std::iter::repeat_n('?', *width)),
                KeyValuePiece::Any => text.push('*'),
            }
        }
        Some((text, pieces.iter().any(KeyValuePiece::is_wild)))
    }
}

/// The template of a partition key that the condition key tells: one text.
fn single_text_key(pattern: &AccessPattern) -> Option<&Template> {
    match pattern.partition.as_slice() {
        [(key, template)] if key.key_type == KeyType::S => Some(template),
        _ => None,
    }
}

/// The parameter of a value.
fn parameter<'m>(pattern: &'m AccessPattern, value: &Placeholder) -> Option<&'m str> {
    let parameter = pattern.parameters.get(value.place.column)?;
    Some(&parameter.name)
}

/// Whether the filters make different texts of different values, so that a tag can hold what is made.
fn keep_apart(filters: &[Filter]) -> bool {
    let keeps = |filter: &Filter| matches!(filter, Filter::Pad { .. } | Filter::String);
    filters.iter().all(keeps)
}

fn of_value(pattern: &AccessPattern, value: &Placeholder, tenant: Option<&str>) -> KeyValuePiece {
    if let Some(shards) = value.shards() {
        return KeyValuePiece::Digits(shards.saturating_sub(1).to_string().len());
    }
    let name = parameter(pattern, value).filter(|name| Some(*name) == tenant);
    match name.filter(|_| keep_apart(&value.filters)) {
        Some(name) => KeyValuePiece::Tag(name.to_owned()),
        None => KeyValuePiece::Any,
    }
}

/// Adds a text that stands for itself: what a condition would read as more is a variable of its own.
fn push_literal(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '*' | '?' | '$' => out.extend(['$', '{', c, '}']),
            c => out.push(c),
        }
    }
}

// Whom partitions belong to: the parameter whose value is a caller's tag, and why there may be none.
//
// A tenant binds only where a caller can reach no other's partition: its value stands in the partition
// key as its tag has it, nothing but text stands beside it, and no other pattern that asks the same
// table or index reaches in. What was named and does not bind is refused; what would have been
// inferred is not, and it is said.

/// The tenant's parameter, if there is one, and what has to be known of it.
fn tenant(model: &Model, wanted: &Tenant) -> Result<(Option<String>, Vec<String>), ExportError> {
    let mut known: Vec<&str> = model.patterns.iter().flat_map(finders).collect();
    known.sort_unstable();
    known.dedup();
    let none = |why: String| {
        let note = format!("the policy does not restrict callers to a tenant: {why}");
        Ok((None, vec![note]))
    };
    let is_inferred = *wanted == Tenant::Inferred;
    let name = match (wanted, known.as_slice()) {
        (Tenant::Nobody, _) | (Tenant::Inferred, []) => return Ok((None, Vec::new())),
        (Tenant::Inferred, [only]) => *only,
        (Tenant::Inferred, several) => {
            let several = several.join("`, `");
            return none(format!(
                "access patterns find their partitions by `{several}`"
            ));
        }
        (Tenant::Parameter(name), known) if known.contains(&name.as_str()) => name,
        (Tenant::Parameter(name), known) => {
            let (name, known) = (name.clone(), known.iter().map(ToString::to_string));
            let known = known.collect();
            return Err(ExportError::UnknownTenant { name, known });
        }
    };
    let mut notes = Vec::new();
    for pattern in &model.patterns {
        let keys = LeadingKeys::of(pattern, Some(name));
        let of = &pattern.name;
        match fault(model, pattern, &keys, name) {
            Some(reason) if is_inferred => {
                return none(format!("the access pattern `{of}`: {reason}"));
            }
            Some(reason) => {
                return Err(ExportError::Unbound {
                    name: name.to_owned(),
                    pattern: of.to_string(),
                    reason,
                });
            }
            None if is_inferred && !keys.end_with_the_tag() => {
                let more =
                    format!("the access pattern `{of}` does not find its partition only by `{name}`");
                return none(more);
            }
            None if keys.are_bound() => {}
            None => notes.push(format!(
                "the access pattern `{of}` is not restricted to a tenant: every caller can read its partitions"
            )),
        }
    }
    if is_inferred {
        notes.push(format!(
            "every access pattern finds its partition by `{name}`, so the policy restricts a caller to the partition of its tag `{name}`; if partitions do not belong to callers, use the tenant `none`"
        ));
    }
    notes.extend(tag_requirement(model, name));
    Ok((Some(name.to_owned()), notes))
}

/// Why a pattern would let a caller reach the partitions of others.
fn fault(model: &Model, pattern: &AccessPattern, keys: &LeadingKeys, name: &str) -> Option<String> {
    let lossy = values(pattern, name).find(|value| !keep_apart(&value.filters));
    if pattern.fetch {
        return Some(
            "its `fetch` reads items by keys that are known only when the index has answered, so no condition can restrict them"
                .to_owned(),
        );
    }
    let reason = match (keys, lossy) {
        (LeadingKeys::Untold, _) => {
            "`dynamodb:LeadingKeys` cannot express its partition key, which is not a single string"
                .to_owned()
        }
        (_, Some(value)) if value.shards().is_some() => {
            format!(
                "its partition key has a shard number made from `{name}`, which other tenants share"
            )
        }
        (_, Some(_)) => {
            format!("a filter in its partition key maps several values of `{name}` to one text")
        }
        (LeadingKeys::Any, None) => "it asks for any partition, so nothing restricts it".to_owned(),
        (LeadingKeys::Shaped(_), None) if keys.run_into_the_tag() => format!(
            "no text separates `{name}` from another value in its partition key: the tenant `a` could read the data of `ab`"
        ),
        (LeadingKeys::Shaped(_), None) if keys.are_bound() => return None,
        (LeadingKeys::Shaped(_), None) if values(pattern, name).next().is_some() => {
            format!("`{name}` is in an optional segment of its partition key")
        }
        (LeadingKeys::Shaped(_), None) => return reaches(model, pattern, keys, name),
    };
    Some(reason)
}

/// Why a pattern that is not bound would let a caller reach the partitions of tenants.
fn reaches(
    model: &Model,
    pattern: &AccessPattern,
    keys: &LeadingKeys,
    name: &str,
) -> Option<String> {
    let (text, is_like) = keys.condition()?;
    if !is_like {
        return None;
    }
    let same = model.patterns.iter().filter(|p| p.index == pattern.index);
    let tenants = same.map(|other| (other, LeadingKeys::of(other, Some(name))));
    let mut tenants = tenants.filter(|(_, tenants)| tenants.are_bound());
    let (other, _) = tenants.find(|(_, tenants)| tenants.may_meet(keys))?;
    Some(format!(
        "it asks for `{text}`, which includes every tenant's partition of `{}`",
        other.name
    ))
}

/// What else than the plain value the tag has to hold.
fn tag_requirement(model: &Model, name: &str) -> Option<String> {
    let mut all = model.patterns.iter().flat_map(|p| values(p, name));
    all.any(|value| !value.filters.is_empty() || value.escape.is_some())
        .then(|| {
            format!("the tag `{name}` must hold the value as it is in the key, padded or escaped")
        })
}

/// Where a parameter stands in a pattern's partition key.
fn values<'m>(pattern: &'m AccessPattern, name: &str) -> impl Iterator<Item = &'m Placeholder> {
    partition(pattern).filter(move |value| parameter(pattern, value) == Some(name))
}

/// The parameters by which a pattern finds its partition.
fn finders(pattern: &AccessPattern) -> impl Iterator<Item = &str> {
    let names = partition(pattern).filter_map(|value| parameter(pattern, value));
    names.filter(|name| is_tag(name))
}

/// The values that a pattern's partition key takes.
fn partition(pattern: &AccessPattern) -> impl Iterator<Item = &Placeholder> {
    let templates = pattern.partition.iter();
    templates.flat_map(|(_, template)| template.placeholders())
}

/// Whether a tag can have this key.
fn is_tag(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_.:/=+-@".contains(c))
}
