//! Answers and errors as DynamoDB puts them.

use dynoxide::DynoxideError;
use serde_json::{Value, json};

use super::gauge::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceAnswer {
    pub(crate) status: u16,
    /// Of an error.
    pub(crate) code: Option<String>,
    pub(crate) body: String,
    /// How many items were put or deleted.
    pub(crate) written: u64,
}

impl ServiceAnswer {
    pub(crate) fn good(body: String) -> Self {
        Self {
            status: 200,
            code: None,
            body,
            written: 0,
        }
    }

    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        Self::error_with(status, code, message, None)
    }

    pub(crate) fn invalid(message: &str) -> Self {
        let mut answer = Self::error(400, "ValidationException", message);
        answer.body = json!({
            "__type": "com.amazon.coral.validate#ValidationException",
            "message": message,
        })
        .to_string();
        answer
    }

    pub(crate) fn not_found() -> Self {
        let message = "Requested resource not found";
        Self::error(400, "ResourceNotFoundException", message)
    }

    /// Nothing of the request could be taken.
    pub(crate) fn throttled(on_demand: bool, reasons: &[Reason]) -> Self {
        let mut reasons = reasons.to_vec();
        reasons.sort();
        reasons.dedup();
        let reasons: Value = reasons.iter().map(Reason::json).collect();
        let (code, member, message) = if on_demand {
            (
                "ThrottlingException",
                "throttlingReasons",
                "Throughput exceeds the current capacity of your table or index. DynamoDB is \
                 automatically scaling your table or index so please try again shortly.",
            )
        } else {
            (
                "ProvisionedThroughputExceededException",
                "ThrottlingReasons",
                "The level of configured provisioned throughput for the table was exceeded. \
                 Consider increasing your provisioning level with the UpdateTable API.",
            )
        };
        Self::error_with(400, code, message, Some((member, reasons)))
    }

    fn error_with(status: u16, code: &str, message: &str, more: Option<(&str, Value)>) -> Self {
        let mut body = json!({
            "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"),
            "message": message,
        });
        if let (Some((member, value)), Some(body)) = (more, body.as_object_mut()) {
            body.insert(member.to_owned(), value);
        }
        Self {
            status,
            code: Some(code.to_owned()),
            body: body.to_string(),
            written: 0,
        }
    }
}

impl From<DynoxideError> for ServiceAnswer {
    fn from(error: DynoxideError) -> Self {
        let code = error.error_type().rsplit('#').next().unwrap_or_default();
        Self {
            status: error.status_code(),
            code: Some(code.to_owned()),
            body: error.to_json(),
            written: 0,
        }
    }
}

/// A body that could not be read. The engine's readers put what DynamoDB would say behind a marker.
impl From<serde_json::Error> for ServiceAnswer {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let capitals = |text: &str| text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        match text.split_once(':') {
            Some((marker, rest)) if capitals(marker) => Self::invalid(rest.trim()),
            _ => Self::invalid(&text),
        }
    }
}
