//! A connector that answers as it is told, and providers of credentials.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Builder as ConfigBuilder, Credentials, Region, retry::RetryConfig,
};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt as _;

use super::super::Vault;

#[derive(Debug, Clone, Default)]
pub(super) struct ScriptedResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: &'static str,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(super) struct SeenRequest {
    pub(super) headers: Vec<(String, String)>,
    pub(super) url: String,
    pub(super) body: String,
}

impl SeenRequest {
    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value)
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Scripted {
    pub(super) answers: Arc<Mutex<VecDeque<ScriptedResponse>>>,
    pub(super) seen: Arc<Mutex<Vec<SeenRequest>>>,
}

impl HttpClient for Scripted {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Scripted {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let this = self.clone();
        HttpConnectorFuture::new(async move {
            let headers = request.headers().iter();
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let (headers, url) = (headers.collect(), request.uri().to_owned());
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let body = String::from_utf8(body.to_vec()).unwrap();
            this.seen
                .lock()
                .unwrap()
                .push(SeenRequest { headers, url, body });
            let answer = this.answers.lock().unwrap().pop_front().unwrap();
            let body = SdkBody::from(answer.body);
            let mut response = HttpResponse::new(answer.status.try_into().unwrap(), body);
            for (name, value) in answer.headers {
                response.headers_mut().insert(name, value);
            }
            Ok(response)
        })
    }
}

/// Gives the credentials of a list, one after the other, the last again and again.
#[derive(Debug, Clone)]
pub(super) struct Provider {
    pub(super) all: Arc<Vec<Credentials>>,
    pub(super) asked: Arc<Mutex<usize>>,
}

impl ProvideCredentials for Provider {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            let number = {
                let mut asked = self.asked.lock().unwrap();
                *asked += 1;
                *asked - 1
            };
            tokio::task::yield_now().await;
            Ok(self.all[number.min(self.all.len() - 1)].clone())
        })
    }
}

pub(super) fn credentials(name: &str, minutes: Option<u64>) -> Credentials {
    let end = minutes.map(|minutes| SystemTime::now() + Duration::from_mins(minutes));
    Credentials::new(
        name,
        "secret/+=",
        Some(format!("token of {name}")),
        end,
        "test",
    )
}

pub(super) fn provider(all: &[Credentials]) -> Provider {
    Provider {
        all: Arc::new(all.to_vec()),
        asked: Arc::default(),
    }
}

pub(super) fn client(http: &Scripted, vault: &Vault, endpoint: Option<&str>) -> Client {
    let mut config = config(http)
        .credentials_provider(vault.clone())
        .retry_config(RetryConfig::disabled());
    config.set_endpoint_url(endpoint.map(str::to_owned));
    Client::from_conf(config.build())
}

pub(super) fn config(http: &Scripted) -> ConfigBuilder {
    ConfigBuilder::new()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("eu-west-1"))
        .http_client(http.clone())
}

#[derive(Debug)]
pub(super) struct Failing;

impl ProvideCredentials for Failing {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        let none = CredentialsError::not_loaded("none");
        future::ProvideCredentials::ready(Err(none))
    }
}
