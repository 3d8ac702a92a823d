//! From what S3 answers to what is to be done about it. Decided by the code, never by the text.

use aws_credential_types::provider::error::CredentialsError;

use super::S3Location;
use crate::ErrorClass::{Fatal, Throttle, Transient};
use crate::TargetErrorKind::{
    AccessDenied, Connection, Credentials, Other, Refused, Throttled, Unavailable,
};
use crate::error::ServiceText;
use crate::{ErrorClass, TargetError, TargetErrorKind};

/// What was being done when it failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct S3Attempt<'a> {
    pub(super) operation: &'static str,
    pub(super) location: &'a S3Location,
    /// The key of the object, where it is about one.
    pub(super) key: Option<&'a str>,
    pub(super) profile: Option<&'a str>,
}

impl S3Attempt<'_> {
    fn error(
        &self,
        kind: TargetErrorKind,
        class: ErrorClass,
        code: &str,
        what: &str,
    ) -> TargetError {
        let place = match self.key {
            Some(key) => format!("s3://{}/{key}", self.location.bucket()),
            None => self.location.to_string(),
        };
        TargetError::new(
            kind,
            class,
            code,
            format!("{} on {place}: {what}", self.operation),
        )
    }

    /// A request that did not arrive, or whose answer did not.
    pub(super) fn unsent(&self, what: &str) -> TargetError {
        self.error(Connection, Transient, "Connection", what)
            .with_help("is the region right, or the endpoint's address (http or https), is the network up?")
    }

    /// An answer that is none of S3's, or a request that cannot be made.
    pub(super) fn garbled(&self, what: &str) -> TargetError {
        self.error(Connection, Fatal, "Connection", what)
            .with_help("is the endpoint S3, or a server that speaks its protocol?")
    }

    pub(super) fn credentials(&self, error: CredentialsError) -> TargetError {
        let class = match error {
            CredentialsError::ProviderTimedOut(_) => Transient,
            _ => Fatal,
        };
        self.error(Credentials, class, "Credentials", "there are no AWS credentials that can be used")
            .with_help("use `--profile NAME`, log in with `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            .with_cause(error, 0)
    }

    /// An answer that is an error.
    pub(super) fn refused(&self, code: &str, text: &str, status: u16) -> TargetError {
        if code.is_empty() {
            let what = format!("HTTP status {status}, without an error of S3's");
            let (class, kind) = by_status(status);
            return self.error(kind, class, "Connection", &what);
        }
        let (class, kind) = decide(code, status);
        let what = match (kind, code) {
            (_, "NoSuchBucket") => "there is no such bucket",
            (_, "NoSuchKey") => "there is no such object",
            (Throttled, _) => "throttled",
            (AccessDenied, _) => "access denied",
            (Credentials, _) => "the credentials were rejected or have expired",
            (Unavailable, _) => "the service failed",
            _ => "the request was refused",
        };
        let mut error = self.error(kind, class, code, &format!("{what} ({code})"));
        error.help = self.help(kind, code);
        // What is said of credentials may quote what was signed.
        if kind == Credentials || text.is_empty() {
            return error;
        }
        error.with_cause(ServiceText(text.to_owned()), 0)
    }

    fn help(&self, kind: TargetErrorKind, code: &str) -> Option<String> {
        let permission = match self.operation {
            "PutObject" | "CreateMultipartUpload" | "UploadPart" | "CompleteMultipartUpload" => {
                "PutObject"
            }
            "ListObjectsV2" => "ListBucket",
            "ListMultipartUploads" => "ListBucketMultipartUploads",
            other => other,
        };
        Some(match kind {
            _ if code == "NoSuchBucket" => {
                "make the bucket first, or correct its name: exports make none".to_owned()
            }
            AccessDenied => format!(
                "allow s3:{permission} on the bucket, or on its objects under the prefix; docs/routes.md has the policies"
            ),
            Credentials => match self.profile {
                Some(profile) => format!("log in again: `aws sso login --profile {profile}`; is the computer's clock right?"),
                None => "log in again: `aws sso login`, or new keys in the environment; is the computer's clock right?".to_owned(),
            },
            Throttled | Unavailable => "start the same command again later".to_owned(),
            _ => return None,
        })
    }
}

/// The one table of S3's error codes.
fn decide(code: &str, status: u16) -> (ErrorClass, TargetErrorKind) {
    match code {
        "SlowDown"
        | "Throttling"
        | "ThrottlingException"
        | "RequestLimitExceeded"
        | "TooManyRequests" => (Throttle, Throttled),
        // A body that was damaged on its way is sent again.
        "InternalError"
        | "ServiceUnavailable"
        | "RequestTimeout"
        | "OperationAborted"
        | "ConditionalRequestConflict"
        | "BadDigest"
        | "IncompleteBody"
        | "XAmzContentSHA256Mismatch"
        | "XAmzContentChecksumMismatch" => (Transient, Unavailable),
        "NotImplemented" => (Fatal, Refused),
        "AccessDenied" | "AllAccessDisabled" | "AccountProblem" => (Fatal, AccessDenied),
        "InvalidAccessKeyId"
        | "ExpiredToken"
        | "InvalidToken"
        | "TokenRefreshRequired"
        | "SignatureDoesNotMatch"
        | "RequestTimeTooSkewed" => (Fatal, Credentials),
        _ => by_status(status),
    }
}

fn by_status(status: u16) -> (ErrorClass, TargetErrorKind) {
    match status {
        429 => (Throttle, Throttled),
        200..=299 | 408 | 500..=599 => (Transient, Unavailable),
        400..=499 => (Fatal, Refused),
        _ => (Fatal, Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_decide_and_an_unknown_one_is_taken_by_its_status() {
        for (code, status, class) in [
            ("SlowDown", 503, Throttle),
            ("InternalError", 200, Transient),
            ("BadDigest", 400, Transient),
            ("NoSuchBucket", 404, Fatal),
            ("NotImplemented", 501, Fatal),
            ("AccessDenied", 403, Fatal),
            ("Strange", 500, Transient),
            ("Strange", 400, Fatal),
        ] {
            assert_eq!(decide(code, status).0, class, "{code}");
        }
    }
}
