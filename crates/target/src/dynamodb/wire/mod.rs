//! Requests, sent below the SDK's orchestrator.
//!
//! What the SDK knows stays the SDK's: it prepares one request for a table (`template`), and every
//! request of ours has the same endpoint, headers, signing scope, timeouts and HTTP connector.
//! Credentials come from its provider (`vault`). The rest is here: bodies that are parts of a shared
//! buffer, the signature, and the reading of answers. Why: docs/adr/0019.
//!
//! A request is sent once, and up to twice more where it was refused for a reason that is known to be
//! gone: the computer's clock was off and is corrected by the answer's date, and the credentials had
//! expired and others have come.

pub(crate) mod hash;
pub(crate) mod sign;
mod template;
#[cfg(test)]
mod tests;
pub(crate) mod vault;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use dynafold_format::hex;
use hash::sha256;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use serde_json::Value;
use template::{RequestTemplate, Templates};
use vault::HeldCredentials;

pub(super) use sign::Clock;
pub(crate) use vault::Vault;

use super::super::{ErrorClass, Result};
use super::classify::{Attempt, is_skew};

/// Sends requests for items.
#[derive(Debug)]
pub(crate) struct Wire {
    templates: Templates,
    vault: Vault,
    clock: Clock,
}

impl Wire {
    /// `client` prepares the templates; it has the credentials of `vault` and signs by `clock`.
    pub(super) fn new(client: Client, vault: Vault, clock: Clock) -> Self {
        Self {
            templates: Templates::new(client),
            vault,
            clock,
        }
    }

    /// Sends a request and gives the body of an answer that is no error. It is sent once more where the clock was off,
    /// and once more where the credentials had expired and others have come.
    pub(super) async fn send(&self, attempt: &Attempt<'_>, body: RequestBody) -> Result<Bytes> {
        let (used, offset) = (self.vault.last(), self.clock.offset());
        let mut answer = self.send_once(attempt, &body).await;
        if let Err(error) = &answer
            && is_skew(&error.code)
            && self.clock.correct(offset)
        {
            answer = self.send_once(attempt, &body).await;
        }
        if let Err(error) = &answer
            && vault::is_expiry(&error.code)
            && let Some(used) = used.or_else(|| self.vault.last())
            && self.renew(attempt, &used).await?
        {
            answer = self.send_once(attempt, &body).await;
        }
        answer
    }

    async fn send_once(&self, attempt: &Attempt<'_>, body: &RequestBody) -> Result<Bytes> {
        let held = self.vault.valid_at(self.clock.now()).await;
        let held = held.map_err(|error| attempt.credentials(error))?;
        let template = self.templates.of(attempt, &held).await?;
        let request = self.request(attempt, &template, &held, body)?;
        let answer = exchange(attempt, &template, request).await?;
        if answer.code.is_some() {
            self.clock.note_error_date(answer.date.clone());
        }
        answer.body(attempt)
    }

    /// Whether there have been credentials.
    pub(super) fn has_credentials(&self) -> bool {
        self.vault.last().is_some()
    }

    /// Whether there are others than these credentials, which were refused as expired. Fails where
    /// that may be known later.
    async fn renew(&self, attempt: &Attempt<'_>, refused: &HeldCredentials) -> Result<bool> {
        let attempt = Attempt {
            held: true,
            ..*attempt
        };
        match self.vault.renew(refused, self.clock.now()).await {
            Ok(found) => Ok(found),
            Err(error) => match attempt.credentials(error) {
                error if error.class == ErrorClass::Transient => Err(error),
                // Their expiry says more than that there are no others.
                _ => Ok(false),
            },
        }
    }

    /// The template's request with a body, signed.
    fn request(
        &self,
        attempt: &Attempt<'_>,
        template: &RequestTemplate,
        held: &HeldCredentials,
        body: &RequestBody,
    ) -> Result<HttpRequest> {
        let mut request = template.request();
        *request.body_mut() = SdkBody::from_body_1_x(body.clone());
        let target = format!("{}{}", template::PREFIX, attempt.operation);
        let headers = [
            ("content-type", template::CONTENT_TYPE.to_owned()),
            ("host", template.host.clone()),
            ("x-amz-target", target),
        ];
        let (scope, now) = (&template.scope, self.clock.now());
        sign::sign(&mut request, held, scope, headers, body.hash(), now)
            .map_err(|error| attempt.garbled(error))?;
        Ok(request)
    }
}

/// Sends a request and reads its whole answer, in the time that one attempt has.
async fn exchange(
    attempt: &Attempt<'_>,
    template: &RequestTemplate,
    request: HttpRequest,
) -> Result<WireResponse> {
    let whole = async {
        let response = template.connector.call(request).await;
        let response = response.map_err(|error| attempt.unsent(error))?;
        let answer = WireResponse::read(response).await;
        answer.map_err(|error| attempt.unread(error))
    };
    let patience = template.patience.unwrap_or(Duration::MAX);
    match tokio::time::timeout(patience, whole).await {
        Ok(answer) => answer,
        Err(_) => Err(attempt.late()),
    }
}

/// An answer that was read to its end.
#[derive(Debug)]
struct WireResponse {
    status: u16,
    body: Bytes,
    date: Option<String>,
    crc32: Option<u32>,
    /// The error's code, in an answer that is one.
    code: Option<String>,
    message: String,
}

impl WireResponse {
    /// Reads an answer, or says why it ends before its end.
    async fn read(response: HttpResponse) -> Result<Self, aws_smithy_types::body::Error> {
        let status = response.status().as_u16();
        let text = |name: &str| response.headers().get(name).map(str::to_owned);
        let crc32 = text("x-amz-crc32").and_then(|text| text.parse().ok());
        let (date, kind) = (text("date"), text("x-amzn-errortype"));
        let body = response.into_body().collect().await?.to_bytes();
        let mut answer = Self {
            status,
            body,
            date,
            crc32,
            code: None,
            message: String::new(),
        };
        if status != 200 && answer.is_as_sent() {
            let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let text = |names: &[&str]| {
                let found = names.iter().find_map(|name| document.get(name)?.as_str());
                found.map(str::to_owned)
            };
            let kind = kind.or_else(|| text(&["__type", "code"]));
            answer.code = kind.map(|kind| plain(&kind).to_owned());
            answer.message = text(&["message", "Message", "errorMessage"]).unwrap_or_default();
        }
        Ok(answer)
    }

    /// The body, where the answer is no error.
    fn body(self, attempt: &Attempt<'_>) -> Result<Bytes> {
        if !self.is_as_sent() {
            return Err(attempt.cut_off());
        }
        if self.status == 200 {
            return Ok(self.body);
        }
        Err(attempt.service(self.code.as_deref(), &self.message, self.status, &self.body))
    }

    /// Whether the body has the checksum that was sent with it.
    fn is_as_sent(&self) -> bool {
        self.crc32
            .is_none_or(|sent| sent == crc32fast::hash(&self.body))
    }
}

/// A code without what may stand around it:
/// `com.amazonaws.dynamodb.v20120810#ThrottlingException:http://…`.
fn plain(kind: &str) -> &str {
    let kind = kind.split(':').next().unwrap_or(kind);
    kind.rsplit('#').next().unwrap_or(kind).trim()
}

/// The parts of a body that are still to be sent: the middle one is shared with the batch that it comes from. Cloning
/// the body copies none of them.
#[derive(Debug, Clone)]
pub(super) struct RequestBody {
    parts: [Bytes; 3],
    hash: OnceLock<String>,
}

impl RequestBody {
    /// Puts a body together: what stands before, the requests, what stands after.
    pub(in crate::dynamodb) fn new(before: String, middle: Bytes, after: &'static str) -> Self {
        Self {
            parts: [
                Bytes::from(before),
                middle,
                Bytes::from_static(after.as_bytes()),
            ],
            hash: OnceLock::new(),
        }
    }

    /// A body of JSON.
    pub(in crate::dynamodb) fn of(json: &Value) -> Self {
        Self::new(json.to_string(), Bytes::new(), "")
    }

    /// Its hash as hexadecimal digits; computed once, before anything is sent.
    fn hash(&self) -> &str {
        let hash = || hex(&sha256(self.parts.iter().map(AsRef::as_ref)));
        self.hash.get_or_init(hash)
    }

    fn left(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.parts.iter_mut().find(|part| !part.is_empty());
        Poll::Ready(next.map(|part| Ok(Frame::data(std::mem::take(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.left()).unwrap_or(u64::MAX))
    }
}
