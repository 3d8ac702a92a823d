//! IAM policies: what a migration does to this one table, and what an application asks it.

mod application;
mod leading_keys;
mod loads;
mod tenant;

use dynafold_dynamodb::without_null_and_empty;
use serde_json::{Value, json};

use super::{Export, ExportOptions};

pub(super) use application::application;
pub(super) use loads::{bulk, import, migration};

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
