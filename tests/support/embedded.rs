//! An SDK client on the embedded engine, for tests that ask it as an application would.

use std::path::Path;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Builder, Credentials, Region};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use dynoxide::Database;

/// A client of the tables in a file.
pub(crate) fn client(file: &Path) -> Client {
    let engine = Engine(Database::new(file.to_str().unwrap()).unwrap());
    Client::from_conf(config().http_client(engine).build())
}

/// What every client of a test has: the credentials and the region that Dynafold makes up.
pub(crate) fn config() -> Builder {
    Builder::new()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "test"))
        .endpoint_url("http://local.invalid")
}

/// Answers a Query out of the engine, and nothing else.
#[derive(Clone)]
struct Engine(Database);

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

impl HttpClient for Engine {
    fn http_connector(
        &self,
        _settings: &HttpConnectorSettings,
        _components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Engine {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target");
        assert_eq!(operation, Some("DynamoDB_20120810.Query"));
        let body = request.body().bytes().unwrap();
        let answer = self.0.query(serde_json::from_slice(body).unwrap());
        let body = serde_json::to_string(&answer.unwrap()).unwrap();
        let status = StatusCode::try_from(200).unwrap();
        HttpConnectorFuture::ready(Ok(HttpResponse::new(status, SdkBody::from(body))))
    }
}
