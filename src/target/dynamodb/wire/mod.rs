//! Requests for items, sent below the SDK's orchestrator.
//!
//! What the SDK knows stays the SDK's: it dresses one request for a table (`template`), with its
//! endpoint, headers, signing scope, timeouts and HTTP connector, and every request of ours wears
//! the same. Credentials come from its provider (`vault`). The rest is here: bodies that are parts
//! of a shared buffer, the signature, and the reading of answers. Why: docs/adr/0019.
//!
//! A request is sent once. It is sent a second time in two cases alone, where the first was refused
//! for a reason that is known to be gone: the computer's clock was off and is corrected by the
//! answer's date, or the credentials had expired and others have come.

mod answer;
mod body;
mod clock;
mod hash;
mod sign;
mod template;
#[cfg(test)]
mod tests;
mod vault;

use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;

use super::classify::Attempt;
use crate::target::{ErrorClass, TargetError};
use answer::Answer;
pub(super) use body::Body;
use clock::Clock;
use template::{Template, Templates};
use vault::Held;
pub(in crate::target) use vault::Vault;

/// Sends requests for items.
#[derive(Debug)]
pub(super) struct Wire {
    templates: Templates,
    vault: Vault,
    clock: Clock,
}

impl Wire {
    /// `client` dresses the templates; it and `vault` have the same credentials.
    pub(super) fn new(client: Client, vault: Vault) -> Self {
        Self {
            templates: Templates::new(client),
            vault,
            clock: Clock::default(),
        }
    }

    /// Sends a request and gives the body of an answer that is no error.
    pub(super) async fn send(
        &self,
        attempt: &Attempt<'_>,
        body: Body,
    ) -> Result<Bytes, TargetError> {
        let (mut corrected, mut renewed) = (false, false);
        loop {
            let now = self.clock.now();
            let held = self.vault.held(now).await;
            let held = held.map_err(|error| attempt.credentials(&error))?;
            let template = self.templates.of(attempt, &held).await?;
            let offset = self.clock.offset();
            let request = self.request(attempt, &template, &held, &body)?;
            let answer = exchange(attempt, &template, request).await?;
            let Some(code) = answer.code() else {
                return answer.body(attempt);
            };
            if !corrected && clock::is_skew(code) && self.clock.correct(offset, answer.date()) {
                corrected = true;
            } else if !renewed && vault::is_expiry(code) && self.renew(attempt, &held).await? {
                renewed = true;
            } else {
                return answer.body(attempt);
            }
        }
    }

    /// Whether there have been credentials.
    pub(super) fn has_credentials(&self) -> bool {
        self.vault.last().is_some()
    }

    /// Calls the SDK, whose requests wear the same credentials, and once more where these had
    /// expired and others have come.
    pub(super) async fn renewing<T, F>(
        &self,
        attempt: &Attempt<'_>,
        call: impl Fn() -> F,
    ) -> Result<T, TargetError>
    where
        F: Future<Output = Result<T, TargetError>>,
    {
        let worn = self.vault.last();
        let answer = call().await;
        let expired = |error: &TargetError| vault::is_expiry(&error.code);
        if answer.as_ref().err().is_some_and(expired)
            && let Some(worn) = worn.or_else(|| self.vault.last())
            && self.renew(attempt, &worn).await?
        {
            return call().await;
        }
        answer
    }

    /// Whether there are others than these credentials, which were refused as expired. Fails where
    /// that may be known later.
    async fn renew(&self, attempt: &Attempt<'_>, refused: &Held) -> Result<bool, TargetError> {
        let attempt = Attempt {
            held: true,
            ..*attempt
        };
        match self.vault.renew(refused, self.clock.now()).await {
            Ok(found) => Ok(found),
            Err(error) => match attempt.credentials(&error) {
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
        template: &Template,
        held: &Held,
        body: &Body,
    ) -> Result<HttpRequest, TargetError> {
        let time = clock::stamp(self.clock.now());
        let target = format!("{}{}", template::PREFIX, attempt.operation);
        let token = held.credentials.session_token();
        let signed = [
            ("content-type", Some(template::CONTENT_TYPE)),
            ("host", Some(template.host.as_str())),
            ("x-amz-date", Some(time.as_str())),
            ("x-amz-security-token", token),
            ("x-amz-target", Some(target.as_str())),
        ];
        let signed = signed
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let authorization = sign::authorization(
            held,
            &template.scope,
            &sign::Signed {
                path: &template.path,
                headers: &signed.collect::<Vec<_>>(),
                payload: body.hash(),
                time: &time,
            },
        );
        let mut request = template.request();
        *request.body_mut() = SdkBody::from_body_1_x(body.clone());
        let headers = request.headers_mut();
        let mut set = |name: &'static str, value: String| headers.try_insert(name, value).map(drop);
        set("x-amz-date", time)
            .and_then(|()| set("x-amz-target", target))
            .and_then(|()| set("authorization", authorization))
            .and_then(|()| match token {
                Some(token) => set("x-amz-security-token", token.to_owned()),
                None => Ok(()),
            })
            .map_err(|error| attempt.garbled(&error))?;
        Ok(request)
    }
}

/// Sends a request and reads its whole answer, in the time that one attempt has.
async fn exchange(
    attempt: &Attempt<'_>,
    template: &Template,
    request: HttpRequest,
) -> Result<Answer, TargetError> {
    let whole = async {
        let response = template.connector.call(request).await;
        let response = response.map_err(|error| attempt.unsent(error))?;
        Answer::read(response)
            .await
            .ok_or_else(|| attempt.cut_off())
    };
    let patience = template.patience.unwrap_or(Duration::MAX);
    match tokio::time::timeout(patience, whole).await {
        Ok(answer) => answer,
        Err(_) => Err(attempt.late()),
    }
}
