//! One request that the SDK has prepared: its endpoint, its headers, its connector.
//!
//! The SDK is let run up to the moment in which it would send a BatchWriteItem, and stopped there.
//! So its endpoint rules (accounts, FIPS, dual stack, VPC endpoints), its user agent, timeouts and
//! HTTP client are ours without being known here. It is asked again only for another table or
//! another account, on which the endpoint may depend.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::attributes::AccountId;
use aws_sdk_dynamodb::Client;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::http::{
    HttpClient as _, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::ConfigBag;
use aws_smithy_types::timeout::TimeoutConfig;
use parking_lot::{Mutex, RwLock};

use super::sign::SigningScope;
use super::vault::HeldCredentials;
use crate::Result;
use crate::dynamodb::classify::Attempt;

/// What stands before an operation's name.
pub(super) const PREFIX: &str = "DynamoDB_20120810.";
pub(super) const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

/// What the requests for a table have in common.
#[derive(Debug)]
pub(super) struct RequestTemplate {
    table: String,
    account: Option<String>,
    bare: HttpRequest,
    pub(super) host: String,
    pub(super) scope: SigningScope,
    pub(super) connector: SharedHttpConnector,
    /// What one attempt may take, with its whole answer.
    pub(super) patience: Option<Duration>,
}

impl RequestTemplate {
    /// A request without a body and without the headers that are signed.
    pub(super) fn request(&self) -> HttpRequest {
        let empty = || HttpRequest::new(SdkBody::empty());
        // A request without a body can always be cloned.
        self.bare.try_clone().unwrap_or_else(empty)
    }
}

/// The template of the table that is at hand.
#[derive(Debug)]
pub(super) struct Templates {
    client: Client,
    last: RwLock<Option<Arc<RequestTemplate>>>,
}

impl Templates {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            last: RwLock::default(),
        }
    }

    /// The template for a table and an account.
    pub(super) async fn of(
        &self,
        attempt: &Attempt<'_>,
        held: &HeldCredentials,
    ) -> Result<Arc<RequestTemplate>> {
        let account = held.credentials.account_id().map(AccountId::as_str);
        let last = self.last.read().clone();
        if let Some(last) = last
            && last.table == attempt.table
            && last.account.as_deref() == account
        {
            return Ok(last);
        }
        let signed = self.signed(attempt).await?;
        let bare = signed.bare(attempt.table, account.map(str::to_owned));
        let template = Arc::new(bare.ok_or_else(|| attempt.incomplete("a signature"))?);
        let mut last = self.last.write();
        *last = Some(Arc::clone(&template));
        Ok(template)
    }

    async fn signed(&self, attempt: &Attempt<'_>) -> Result<SignedRequest> {
        let mirror = RequestCapture::default();
        let stopped = self
            .client
            .batch_write_item()
            // The endpoint may depend on the table.
            .request_items(attempt.table, Vec::new())
            .customize()
            .interceptor(mirror.clone())
            .send()
            .await;
        let seen = mirror.seen.lock().take();
        match (seen, stopped) {
            (Some(signed), _) => Ok(signed),
            (None, Err(error)) => Err(attempt.classify(error)),
            (None, Ok(_)) => Err(attempt.incomplete("a request")),
        }
    }
}

/// A request as the SDK would send it, and what would carry it.
pub(super) struct SignedRequest {
    pub(super) request: HttpRequest,
    connector: SharedHttpConnector,
    patience: Option<Duration>,
}

/// Without the request's headers, which hold a session's token.
impl fmt::Debug for SignedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedRequest")
            .field("uri", &self.request.uri())
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

impl SignedRequest {
    fn bare(self, table: &str, account: Option<String>) -> Option<RequestTemplate> {
        let url = url::Url::parse(self.request.uri()).ok()?;
        let mut host = url.host_str()?.to_owned();
        // `None` where it is the scheme's own, which a client leaves out of the header.
        if let Some(port) = url.port() {
            host.push_str(&format!(":{port}"));
        }
        let scope = SigningScope::of(self.request.headers().get("authorization")?)?;
        let mut bare = HttpRequest::new(SdkBody::empty());
        bare.set_method("POST").ok()?;
        bare.set_uri(self.request.uri()).ok()?;
        let headers = bare.headers_mut();
        for name in ["user-agent", "x-amz-user-agent"] {
            if let Some(value) = self.request.headers().get(name) {
                headers.try_insert(name, value.to_owned()).ok()?;
            }
        }
        Some(RequestTemplate {
            table: table.to_owned(),
            account,
            bare,
            host,
            scope,
            connector: self.connector,
            patience: self.patience,
        })
    }
}

/// Sees a request that is about to be sent, and stops it.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestCapture {
    pub(super) seen: Arc<Mutex<Option<SignedRequest>>>,
}

#[dyn_dispatch_hint]
impl Intercept for RequestCapture {
    fn name(&self) -> &'static str {
        "RequestCapture"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let timeouts = config.load::<TimeoutConfig>();
        let timeouts = timeouts.ok_or("the timeouts are missing")?;
        // Exactly those of the SDK, so that connections are shared with it.
        let mut settings = HttpConnectorSettings::builder();
        settings.set_connect_timeout(timeouts.connect_timeout());
        settings.set_read_timeout(timeouts.read_timeout());
        let client = components
            .http_client()
            .ok_or("the HTTP client is missing")?;
        let request = context.request().try_clone();
        let signed = SignedRequest {
            request: request.ok_or("the request cannot be cloned")?,
            connector: client.http_connector(&settings.build(), components),
            patience: timeouts.operation_attempt_timeout(),
        };
        *self.seen.lock() = Some(signed);
        Err("seen, and not to be sent".into())
    }
}
