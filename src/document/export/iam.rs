//! IAM policies: what a migration does to this one table, and what an application asks it.

mod application;
mod keys;
mod migration;
mod tenant;

pub(super) use application::application;
pub(super) use migration::migration;

use serde_json::{Map, Value, json};

use super::{Export, ExportOptions};

/// Characters without white space that a managed policy may have.
const MANAGED: usize = 6_144;

/// A statement that allows something.
#[derive(Debug, Clone)]
struct Statement {
    sid: String,
    /// Without their service: all of DynamoDB's.
    actions: Vec<&'static str>,
    resources: Vec<String>,
    condition: Option<Value>,
}

/// The ARNs of a table.
struct Arns {
    region: String,
    account: String,
    table: String,
}

impl Arns {
    fn of(table: &str, options: &ExportOptions) -> Self {
        let any = || "*".to_owned();
        Self {
            region: options.region.clone().unwrap_or_else(any),
            account: options.account.clone().unwrap_or_else(any),
            table: table.to_owned(),
        }
    }

    /// Of the table, in a region.
    fn table_in(&self, region: &str) -> String {
        let (account, table) = (&self.account, &self.table);
        format!("arn:aws:dynamodb:{region}:{account}:table/{table}")
    }

    fn table(&self) -> String {
        self.table_in(&self.region)
    }

    fn index(&self, index: &str) -> String {
        format!("{}/index/{index}", self.table())
    }
}

/// The policy of these statements.
fn policy(statements: &[Statement]) -> Export {
    let statements = statements.iter().map(|statement| {
        let actions = statement.actions.iter();
        let actions: Vec<String> = actions.map(|action| format!("dynamodb:{action}")).collect();
        let mut members = Map::new();
        members.insert("Sid".to_owned(), json!(statement.sid));
        members.insert("Effect".to_owned(), json!("Allow"));
        members.insert("Action".to_owned(), json!(actions));
        members.insert("Resource".to_owned(), json!(statement.resources));
        if let Some(condition) = &statement.condition {
            members.insert("Condition".to_owned(), condition.clone());
        }
        Value::Object(members)
    });
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": statements.collect::<Vec<Value>>(),
    });
    let text = format!("{policy:#}\n");
    let counted = text.chars().filter(|c| !c.is_whitespace()).count();
    let mut warnings = Vec::new();
    if counted > MANAGED {
        warnings.push(format!(
            "the policy has {counted} characters, and a managed policy takes {MANAGED}: cut it between two statements"
        ));
    }
    Export { text, warnings }
}
