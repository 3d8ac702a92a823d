//! An answer: whole, as it was sent, and an error or none.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde_json::Value;

use crate::target::TargetError;
use crate::target::dynamodb::classify::Attempt;

/// An answer that was read to its end.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    body: Bytes,
    date: Option<String>,
    crc32: Option<u32>,
    /// The error's code, in an answer that is one.
    code: Option<String>,
    message: String,
}

impl Answer {
    /// Reads an answer; `None` where it ends before its end.
    pub(super) async fn read(response: HttpResponse) -> Option<Self> {
        let status = response.status().as_u16();
        let text = |name: &str| response.headers().get(name).map(str::to_owned);
        let crc32 = text("x-amz-crc32").and_then(|text| text.parse().ok());
        let (date, kind) = (text("date"), text("x-amzn-errortype"));
        let body = response.into_body().collect().await.ok()?.to_bytes();
        let mut answer = Self {
            status,
            body,
            date,
            crc32,
            code: None,
            message: String::new(),
        };
        if status != 200 && answer.is_as_sent() {
            let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let text = |names: &[&str]| {
                let said = names.iter().find_map(|name| said.get(name)?.as_str());
                said.map(str::to_owned)
            };
            let kind = kind.or_else(|| text(&["__type", "code"]));
            answer.code = kind.map(|kind| plain(&kind).to_owned());
            answer.message = text(&["message", "Message", "errorMessage"]).unwrap_or_default();
        }
        Some(answer)
    }

    /// The code of an error of the service.
    pub(super) fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// When it was sent.
    pub(super) fn date(&self) -> Option<&str> {
        self.date.as_deref()
    }

    /// The body, where the answer is no error.
    pub(super) fn body(self, attempt: &Attempt<'_>) -> Result<Bytes, TargetError> {
        if !self.is_as_sent() {
            return Err(attempt.cut_off());
        }
        if self.status == 200 {
            return Ok(self.body);
        }
        Err(attempt.service(self.code(), &self.message, self.status, &self.body))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_alone() {
        for kind in [
            "ThrottlingException",
            "com.amazonaws.dynamodb.v20120810#ThrottlingException",
            "ThrottlingException:http://internal.amazon.com/coral/",
            "aws.protocoltests#ThrottlingException:http://internal.amazon.com/coral/",
        ] {
            assert_eq!(plain(kind), "ThrottlingException");
        }
    }
}
