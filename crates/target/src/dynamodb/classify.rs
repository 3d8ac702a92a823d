//! From the SDK's error to what is to be done about it.
//!
//! Decided by the service's error code (limits.md 31 to 33), never by its text; the text is only
//! passed on, without the values that it may quote. Nothing that identifies credentials is.

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::error::{BoxError, SdkError};
use aws_sdk_dynamodb::operation::batch_write_item::BatchWriteItemError;
use aws_smithy_runtime_api::client::result::ConnectorError;
use http_body_util::LengthLimitError;

use super::ServiceLocation;
use super::answers::TOO_LONG;
use super::wording::{throttling_reasons, without_values};
use crate::ErrorClass::{Fatal, Invalid, Throttle, Transient};
use crate::TargetErrorKind::{
    AccessDenied, Connection, Credentials, EncryptionKey, Other, Quota, Refused, TableInUse,
    TableMissing, Throttled, Unavailable,
};
use crate::error::ServiceText;
use crate::{ErrorClass, TargetError, TargetErrorKind};

/// What was being done when it failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) operation: &'static str,
    pub(super) table: &'a str,
    pub(super) place: &'a ServiceLocation,
    /// Whether there were credentials before: those that cannot be renewed now may be later.
    pub(super) held: bool,
}

impl Attempt<'_> {
    /// Classifies an error of the SDK, which sends nothing by itself: no answer of the service is in it.
    pub(super) fn classify(&self, error: SdkError<BatchWriteItemError>) -> TargetError {
        let failed = match &error {
            SdkError::TimeoutError(_) => self.late(),
            SdkError::DispatchFailure(failure) if failure.is_timeout() => self.late(),
            SdkError::DispatchFailure(failure) if !failure.is_user() => self
                .connection(Transient, &format!("cannot reach {}", self.place.name))
                .with_help("is the region right, or the endpoint's address (http or https), is it running, is the network up?"),
            _ => self.connection(Fatal, "the request cannot be made"),
        };
        let cause = error.into_source().unwrap_or_else(BoxError::from);
        if let Some((_, ours)) = find::<TargetError>(cause.as_ref()) {
            return ours.clone();
        }
        if find::<LengthLimitError>(cause.as_ref()).is_some() {
            return self.too_long();
        }
        if let Some((layers, credentials)) = find(cause.as_ref()) {
            return self.no_credentials(credentials).with_cause(cause, layers);
        }
        // The layers in between say no more than their names: `dispatch failure`, `client error (Connect)`.
        let layers = causes(cause.as_ref()).count().saturating_sub(1);
        failed.with_cause(cause, layers)
    }

    /// Classifies a failure to send a request that the SDK did not make.
    pub(super) fn unsent(&self, error: ConnectorError) -> TargetError {
        self.classify(SdkError::dispatch_failure(error))
    }

    /// An answer that did not arrive as it was sent.
    pub(super) fn cut_off(&self) -> TargetError {
        let message = format!("the answer of {} was cut off or damaged", self.place.name);
        self.connection(Transient, &message)
    }

    /// An answer that could not be read to its end.
    pub(super) fn unread(&self, error: BoxError) -> TargetError {
        match find::<LengthLimitError>(error.as_ref()) {
            Some(_) => self.too_long(),
            None => self.cut_off().with_cause(error, 0),
        }
    }

    fn too_long(&self) -> TargetError {
        self.connection(Fatal, &format!("{}: {TOO_LONG}", self.place.name))
            .with_help("is the endpoint DynamoDB, without a proxy in between?")
    }

    /// An answer that did not arrive in time.
    pub(super) fn late(&self) -> TargetError {
        self.connection(
            Transient,
            &format!("{} did not answer in time", self.place.name),
        )
        .with_help("is the endpoint's address right, and is the network up?")
    }

    pub(super) fn service(
        &self,
        code: Option<&str>,
        text: &str,
        status: u16,
        body: &[u8],
    ) -> TargetError {
        let Some(code) = code else {
            return self.stranger(status);
        };
        let (class, kind) = self.decide(code, status);
        let what = match kind {
            Throttled => "throttled",
            Quota => "a quota is exceeded",
            AccessDenied => "access denied",
            Credentials if code.contains("Expired") => "the credentials have expired",
            Credentials => "the credentials were rejected",
            Unavailable => "the service failed",
            TableMissing => "there is no such table or index",
            TableInUse => "the table is in use",
            EncryptionKey => "the table's KMS key cannot be used",
            _ => "the request was refused",
        };
        let mut message = format!("{what} ({code})");
        let throttles = throttling_reasons(body);
        for throttle in &throttles {
            message.push_str("; ");
            message.push_str(&throttle.reason);
            if !throttle.resource.is_empty() {
                message.push_str(&format!(" ({})", throttle.resource));
            }
        }
        let mut error = self.error(kind, class, code, &message);
        error.help = self.help(kind, code);
        error.throttles = throttles;
        // What is said of credentials may quote what was signed.
        if kind == Credentials || text.is_empty() {
            return error;
        }
        error.with_cause(ServiceText(without_values(text)), 0)
    }

    /// An answer that is no answer of DynamoDB's: a proxy's page, or another server.
    fn stranger(&self, status: u16) -> TargetError {
        let place = &self.place.name;
        let message = match status {
            200..=299 => format!("the answer of {place} was cut off or damaged"),
            _ => {
                format!("{place} answered with HTTP status {status}, but without a DynamoDB error")
            }
        };
        self.connection(by_status(status).0, &message)
            .with_help("is the endpoint DynamoDB?")
    }

    /// The one table of error codes.
    fn decide(&self, code: &str, status: u16) -> (ErrorClass, TargetErrorKind) {
        match code {
            "ProvisionedThroughputExceededException"
            | "ProvisionedThroughputExceeded"
            | "ThrottlingException"
            | "Throttling"
            | "RequestLimitExceeded"
            | "TooManyRequestsException" => (Throttle, Throttled),
            "LimitExceededException" => (Throttle, Quota),
            "InternalServerError"
            | "InternalServerErrorException"
            | "InternalServerException"
            | "InternalFailure"
            | "ServiceUnavailable"
            | "ServiceUnavailableException"
            | "RequestTimeout"
            | "RequestTimeoutException"
            | "ReplicatedWriteConflictException"
            | "TransactionConflictException"
            | "TransactionInProgressException" => (Transient, Unavailable),
            "ValidationException"
            | "SerializationException"
            | "RequestEntityTooLarge"
            | "ItemCollectionSizeLimitExceededException" => match self.operation {
                "BatchWriteItem" | "PutItem" | "DeleteItem" => (Invalid, Refused),
                _ => (Fatal, Refused),
            },
            "ResourceNotFoundException" | "TableNotFoundException" => (Fatal, TableMissing),
            "ResourceInUseException" => (Fatal, TableInUse),
            "AccessDeniedException" | "AccessDenied" | "NotAuthorized" | "OptInRequired" => {
                (Fatal, AccessDenied)
            }
            "ExpiredTokenException"
            | "ExpiredToken"
            | "UnrecognizedClientException"
            | "InvalidClientTokenId"
            | "MissingAuthenticationToken"
            | "MissingAuthenticationTokenException" => (Fatal, Credentials),
            code if is_skew(code) => (Fatal, Credentials),
            "KMSAccessDeniedException"
            | "KMSDisabledException"
            | "KMSInvalidStateException"
            | "KMSNotFoundException" => (Fatal, EncryptionKey),
            _ => by_status(status),
        }
    }

    /// What the user can do about an error of the service.
    fn help(&self, kind: TargetErrorKind, code: &str) -> Option<String> {
        let login = match self.place.profile.as_deref() {
            Some(profile) => format!("`aws sso login --profile {profile}`"),
            None => "`aws sso login`, or new keys in the environment".to_owned(),
        };
        Some(match kind {
            AccessDenied => format!(
                "allow dynamodb:{} on the table; docs/aws.md has the smallest policy that is enough",
                self.operation
            ),
            Credentials if is_skew(code) => {
                format!("is the computer's clock right? Otherwise log in again: {login}")
            }
            Credentials => format!("log in again: {login}"),
            TableMissing => {
                "was the table deleted meanwhile, or is it in another region or account?".to_owned()
            }
            Quota => "wait until other changes of tables have ended, or ask AWS for a higher quota".to_owned(),
            EncryptionKey => {
                "look at the KMS key of the table: its state and its policy".to_owned()
            }
            TableInUse => {
                "wait until no other change of the table is under way, and start the same command again".to_owned()
            }
            Throttled | Unavailable => "start the same command again later".to_owned(),
            Refused => match code {
                // What DynamoDB says of these names what is wrong.
                "ValidationException"
                | "SerializationException"
                | "RequestEntityTooLarge"
                | "ItemCollectionSizeLimitExceededException" => return None,
                code => format!(
                    "look up {code} among the errors of {} in the DynamoDB API reference",
                    self.operation
                ),
            },
            _ => return None,
        })
    }

    pub(super) fn credentials(&self, error: CredentialsError) -> TargetError {
        self.no_credentials(&error).with_cause(error, 0)
    }

    fn no_credentials(&self, error: &CredentialsError) -> TargetError {
        let help = match &self.place.profile {
            Some(profile) => format!("is there a profile `{profile}` (`aws configure list-profiles`), and is it complete? `aws sso login --profile {profile}` renews its login"),
            None => "use `--profile NAME`, log in with `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".to_owned(),
        };
        let message = match error {
            CredentialsError::CredentialsNotLoaded(_) => {
                "there are no AWS credentials: none in the environment, the profile, or the machine's role"
            }
            CredentialsError::ProviderTimedOut(_) => {
                "the AWS credentials could not be loaded in time"
            }
            _ => "the AWS credentials could not be loaded",
        };
        // The network may be cut just when credentials that expire are renewed.
        let class = match error {
            CredentialsError::ProviderTimedOut(_) => Transient,
            CredentialsError::ProviderError(_) if self.held => Transient,
            _ => Fatal,
        };
        self.error(Credentials, class, "Credentials", message)
            .with_help(help)
    }

    /// An error of this action in our own words.
    pub(super) fn error(
        &self,
        kind: TargetErrorKind,
        class: ErrorClass,
        code: &str,
        message: &str,
    ) -> TargetError {
        let message = format!("{} on table {}: {message}", self.operation, self.table);
        TargetError::new(kind, class, code, message)
    }

    fn connection(&self, class: ErrorClass, message: &str) -> TargetError {
        self.error(Connection, class, "Connection", message)
    }

    /// An answer that lacks what every answer of DynamoDB's has.
    pub(super) fn incomplete(&self, member: &str) -> TargetError {
        let message = format!("the answer of {} has no {member}", self.place.name);
        self.connection(Transient, &message)
            .with_help("is the endpoint DynamoDB?")
    }

    /// A request or an answer that makes no sense.
    pub(super) fn garbled(&self, error: impl Into<BoxError>) -> TargetError {
        self.connection(Fatal, "the request or its answer is not valid")
            .with_cause(error, 0)
    }
}

/// Whether an error may mean that the computer's clock is off.
pub(crate) fn is_skew(code: &str) -> bool {
    matches!(
        code,
        "InvalidSignatureException"
            | "SignatureDoesNotMatch"
            | "IncompleteSignature"
            | "AuthFailure"
            | "RequestExpired"
            | "RequestTimeTooSkewed"
            | "AccessDeniedException"
    )
}

fn by_status(status: u16) -> (ErrorClass, TargetErrorKind) {
    match status {
        429 => (Throttle, Throttled),
        200..=299 | 408 | 500..=599 => (Transient, Unavailable),
        _ => (Fatal, Other),
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The first error of this type, and how many stand above it.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<(usize, &'a T)> {
    let mut errors = causes(error).enumerate();
    errors.find_map(|(at, cause)| Some((at, cause.downcast_ref()?)))
}

#[cfg(test)]
mod tests;
