//! The policy of whoever runs `migrate`, `verify` and `query`: what these call, on this table alone.

use super::{Arns, Statement, policy};
use crate::document::export::{Export, ExportOptions};
use crate::mapping::model::Model;

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

pub(in crate::document::export) fn migration(model: &Model, options: &ExportOptions) -> Export {
    let (table, settings) = (&model.table, &model.table.settings);
    let arns = Arns::of(&table.name, options);
    let statement = |sid: &str, actions: Vec<&'static str>, resources: Vec<String>| Statement {
        sid: format!("DynafoldMigration{sid}"),
        actions,
        resources,
        condition: None,
    };
    let mut load = LOAD.to_vec();
    let mut make = vec!["CreateTable"];
    if table.ttl.is_some() {
        make.push("UpdateTimeToLive");
    }
    if settings.point_in_time_recovery.is_some() {
        load.push("DescribeContinuousBackups");
        make.push("UpdateContinuousBackups");
    }
    if !settings.tags.is_empty() {
        load.push("ListTagsOfResource");
        make.push("TagResource");
    }
    if !settings.replicas.is_empty() {
        make.extend(["UpdateTable", "CreateTableReplica"]);
    }
    load.sort_unstable();
    make.sort_unstable();
    let mut asked: Vec<String> = Vec::new();
    for pattern in &model.patterns {
        let resource = match &pattern.index {
            None => arns.table(),
            Some(index) => arns.index(index),
        };
        if !asked.contains(&resource) {
            asked.push(resource);
        }
    }
    let mut statements = vec![
        statement("LoadAndVerify", load, vec![arns.table()]),
        statement("MakeTheTable", make, vec![arns.table()]),
        statement("ReplaceTheTable", vec!["DeleteTable"], vec![arns.table()]),
    ];
    if !asked.is_empty() {
        let ask = vec!["GetItem", "Query"];
        statements.push(statement("AskThePatterns", ask, asked));
    }
    if !settings.replicas.is_empty() {
        let own = std::iter::once(arns.table());
        let others = settings.replicas.iter();
        let all = own.chain(others.map(|region| arns.table_in(region)));
        statements.push(statement("Replicate", REPLICATE.to_vec(), all.collect()));
    }
    let mut export = policy(&statements);
    if !settings.replicas.is_empty() {
        export.warnings.push(
            "the first global table of an account needs its service-linked role too: allow `iam:CreateServiceLinkedRole` for replication.dynamodb.amazonaws.com, or let somebody make it"
                .to_owned(),
        );
    }
    export
}
