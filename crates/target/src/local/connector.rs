//! Answers the SDK's HTTP requests out of the embedded engine, in place of the network.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use dynoxide::actions::vector_lifecycle::VectorIndexLifecycle;
use dynoxide::actions::{create_table, delete_table};
use dynoxide::{Database, DynoxideError};
use http_body_util::BodyExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Opener, blocking};
use crate::{Result, TargetError};

const PREFIX: &str = "DynamoDB_20120810.";

/// The engine as the SDK sees it.
#[derive(Debug)]
pub(super) struct Connector(pub(super) Arc<Opener>);

/// An HTTP answer: its status and its JSON.
type JsonResponse = (u16, String);

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let opener = Arc::clone(&self.0);
        HttpConnectorFuture::new(async move {
            let unread = |error| ConnectorError::other(error, None);
            let operation = request
                .headers()
                .get("x-amz-target")
                .and_then(|target| target.strip_prefix(PREFIX))
                .unwrap_or_default()
                .to_owned();
            let body = request
                .into_body()
                .collect()
                .await
                .map_err(unread)?
                .to_bytes();
            let answer = blocking(move || serve(&opener, &operation, &body)).await;
            // What is wrong with the file passes through the SDK as it is, to the classifier.
            let other = |error: TargetError| ConnectorError::other(Box::new(error), None);
            let (status, body) = answer.map_err(other)?;
            let status = StatusCode::try_from(status)
                .map_err(|error| ConnectorError::other(Box::new(error), None))?;
            Ok(HttpResponse::new(status, SdkBody::from(body)))
        })
    }
}

fn serve(opener: &Opener, operation: &str, body: &[u8]) -> Result<JsonResponse> {
    let database = match operation {
        "CreateTable" => Some(opener.open_or_create()?),
        _ => opener.existing()?,
    };
    let result = match (&database, &opener.file, operation) {
        (None, ..) => Err(DynoxideError::ResourceNotFoundException(
            "Requested resource not found".to_owned(),
        )),
        (Some(_), Some(_), "CreateTable") => run(body, |request| {
            opener.at_once(async |storage| create_table::execute(storage, request).await)
        }),
        (Some(_), Some(_), "DeleteTable") => run(body, |request| {
            // Of indexes that no table here has.
            let none = VectorIndexLifecycle::new();
            opener.at_once(async |storage| delete_table::execute(storage, request, &none).await)
        }),
        (Some(database), ..) => dispatch(database, operation, body),
    };
    match result {
        Ok(json) => Ok((200, json)),
        // Only SQLite fails like this, never a request.
        Err(error) if error.status_code() == 500 => Err(opener.error(error)),
        Err(error) => {
            let body = serde_json::json!({
                "__type": error.error_type(),
                "message": error.to_string(),
            });
            Ok((error.status_code(), body.to_string()))
        }
    }
}

fn dispatch(database: &Database, operation: &str, body: &[u8]) -> Result<String, DynoxideError> {
    match operation {
        "BatchGetItem" => run(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => run(body, |request| database.batch_write_item(request)),
        "CreateTable" => run(body, |request| database.create_table(request)),
        "DeleteItem" => run(body, |request| database.delete_item(request)),
        "DeleteTable" => run(body, |request| database.delete_table(request)),
        "DescribeTable" => run(body, |request| database.describe_table(request)),
        "DescribeTimeToLive" => run(body, |request| database.describe_time_to_live(request)),
        "GetItem" => run(body, |request| database.get_item(request)),
        "ListTagsOfResource" => run(body, |request| database.list_tags_of_resource(request)),
        "PutItem" => run(body, |request| database.put_item(request)),
        "Query" => run(body, |request| database.query(request)),
        "Scan" => run(body, |request| database.scan(request)),
        "UpdateTable" => run(body, |request| database.update_table(request)),
        "UpdateTimeToLive" => run(body, |request| database.update_time_to_live(request)),
        other => Err(DynoxideError::UnsupportedCapability(other.to_owned())),
    }
}

fn run<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Result<String, DynoxideError> {
    let request = serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
    serde_json::to_string(&operation(request)?)
        .map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

/// The engine's readers put what DynamoDB would say behind a marker of their own.
pub(super) fn unreadable(error: &serde_json::Error) -> DynoxideError {
    let text = error.to_string();
    let unmarked = match text.split_once(':') {
        Some((marker, rest)) if marker.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') => rest,
        _ => &text,
    };
    DynoxideError::ValidationException(unmarked.trim().to_owned())
}
