//! The policies of whoever runs `migrate`, `verify`, `query` and `erase`: what these call, on this table alone.

use std::collections::BTreeSet;

use dynafold_dynamodb::Table;
use dynafold_mapping::model::Model;
use serde_json::Value;

use super::{arn, policy, statement};
use crate::export::{Export, ExportOptions};

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

pub(in crate::export) fn migration(model: &Model, options: &ExportOptions) -> Export {
    let (table, settings) = (&model.table, &model.table.settings);
    let allow = |sid: &str, actions: &[&str], resources: &[String]| {
        allow("Migration", sid, actions, resources)
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
        allow("LoadAndVerify", &load, &own),
        allow("MakeTheTable", &make, &own),
        allow("ReplaceTheTable", &["DeleteTable"], &own),
    ];
    let patterns = model.patterns.iter();
    let asked: BTreeSet<_> = patterns.map(|pattern| pattern.index.as_deref()).collect();
    if asked.contains(&None) {
        statements.push(allow("AskTheTable", &["GetItem", "Query"], &own));
    }
    let indexes: Vec<String> = asked
        .into_iter()
        .flatten()
        .map(|index| arn(&table.name, options, None, Some(index)))
        .collect();
    if !indexes.is_empty() {
        statements.push(allow("AskTheIndexes", &["Query"], &indexes));
    }
    if !settings.replicas.is_empty() {
        let replicas = settings.replicas.iter();
        let others = replicas.map(|region| arn(&table.name, options, Some(region), None));
        let all: Vec<String> = own.into_iter().chain(others).collect();
        statements.push(allow("Replicate", &REPLICATE, &all));
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

/// The policy of an import from S3 into a new table.
pub(in crate::export) fn import(model: &Model, options: &ExportOptions) -> Export {
    let (table, settings) = (&model.table, &model.table.settings);
    let own = arn(&table.name, options, None, None);
    let (look, mut set) = settings_actions(table);
    let is_updated = settings.stream.is_some()
        || settings.deletion_protection.is_some()
        || settings.class.is_some()
        || settings.warm_throughput.is_some()
        || !settings.replicas.is_empty();
    set.extend(is_updated.then_some("UpdateTable"));
    set.sort_unstable();
    let region = options.region.as_deref().unwrap_or("*");
    let account = options.account.as_deref().unwrap_or("*");
    let logs = format!("arn:aws:logs:{region}:{account}:log-group:/aws-dynamodb/*");
    let imports = [own.clone(), format!("{own}/import/*")];
    let mut statements = export_statements("Import", &own, look);
    statements.extend([
        allow(
            "Import",
            "Starts",
            &["DescribeImport", "ImportTable"],
            &imports,
        ),
        // DynamoDB logs the first errors in the caller's name.
        allow(
            "Import",
            "Logs",
            &[
                "logs:CreateLogGroup",
                "logs:CreateLogStream",
                "logs:DescribeLogStreams",
                "logs:PutLogEvents",
                "logs:PutRetentionPolicy",
            ],
            &[logs.clone(), format!("{logs}:log-stream:*")],
        ),
        allow(
            "Import",
            "FindsLogs",
            &["logs:DescribeLogGroups"],
            &["*".to_owned()],
        ),
    ]);
    if !set.is_empty() {
        statements.push(allow("Import", "SetsUpTheTable", &set, &[own]));
    }
    from_s3(&statements)
}

/// The policy of a bulk operation from S3 on a table that exists.
pub(in crate::export) fn bulk(model: &Model, options: &ExportOptions) -> Export {
    let own = arn(&model.table.name, options, None, None);
    let mut statements = export_statements("Bulk", &own, Vec::new());
    let actions = [
        "CancelBulkOperation",
        "DescribeBulkOperation",
        "StartBulkPutItems",
    ];
    let below = format!("{own}/*");
    statements.push(allow("Bulk", "Starts", &actions, &[own, below]));
    let mut export = from_s3(&statements);
    export.warnings.push("it is not confirmed which resources AWS checks for bulk operations: the policy names the table and everything below it".to_owned());
    export
}

/// What writes an export to S3, and compares the table with it after a load. `look`: what looks at the table's settings.
fn export_statements(load: &str, own: &str, mut look: Vec<&str>) -> Vec<Value> {
    let bucket = "arn:aws:s3:::BUCKET".to_owned();
    look.extend([
        "BatchGetItem",
        "DescribeTable",
        "DescribeTimeToLive",
        "Scan",
    ]);
    look.sort_unstable();
    vec![
        allow(
            load,
            "WritesTheExport",
            &[
                "s3:AbortMultipartUpload",
                "s3:DeleteObject",
                "s3:GetObject",
                "s3:PutObject",
            ],
            &[format!("{bucket}/PREFIX/*")],
        ),
        allow(
            load,
            "ListsTheExport",
            &["s3:ListBucket", "s3:ListBucketMultipartUploads"],
            &[bucket],
        ),
        allow(load, "Compares", &look, &[own.to_owned()]),
    ]
}

fn from_s3(statements: &[Value]) -> Export {
    let mut export = policy(statements);
    export
        .warnings
        .push("replace BUCKET and PREFIX with the names of your bucket and prefix".to_owned());
    export
}

/// A statement of a load's policy: `Migration`, `Import` or `Bulk`.
fn allow(load: &str, sid: &str, actions: &[&str], resources: &[String]) -> Value {
    statement(&format!("Dynafold{load}{sid}"), actions, resources, None)
}
