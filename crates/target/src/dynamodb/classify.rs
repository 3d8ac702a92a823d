//! From the SDK's error to what is to be done about it.
//!
//! Decided by the service's error code (limits.md 31 to 33), never by its text; the text is only
//! passed on, without the values that it may quote. Nothing that identifies credentials is.

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::batch_write_item::BatchWriteItemError;
use aws_smithy_runtime_api::client::result::ConnectorError;
use http_body_util::LengthLimitError;

use super::ServiceLocation;
use super::answers::TOO_LONG;
use super::wording::{throttling_reasons, without_values};
use crate::ErrorClass::{Fatal, Invalid, Throttle, Transient};
use crate::{ErrorClass, TargetError};

const CONNECTION: &str = "Connection";

/// What was being done when it failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) operation: &'static str,
    pub(super) table: &'a str,
    pub(super) place: &'a ServiceLocation,
    /// Whether there were credentials before: those that cannot be renewed now may be later.
    pub(super) held: bool,
}

/// What the user can do about an error.
enum Help {
    None,
    Policy,
    Login,
    Clock,
    Gone,
    Quota,
    Key,
}

impl Attempt<'_> {
    /// Classifies an error of the SDK.
    pub(super) fn classify<E>(&self, error: &SdkError<E>) -> TargetError
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        if let Some(ours) = find::<TargetError>(error) {
            return ours.clone();
        }
        if let Some(credentials) = find::<CredentialsError>(error) {
            return self.credentials(credentials);
        }
        if find::<LengthLimitError>(error).is_some() {
            return self.too_long();
        }
        match error {
            SdkError::TimeoutError(_) => self.late(),
            SdkError::DispatchFailure(failure) if failure.is_timeout() => self.late(),
            SdkError::DispatchFailure(failure) if failure.is_user() => {
                self.error(Fatal, CONNECTION, &chain(error), None)
            }
            SdkError::DispatchFailure(_) => self.error(
                Transient,
                CONNECTION,
                &format!("cannot reach {}: {}", self.place.name, innermost(error)),
                Some(
                    "is the region right, or the endpoint's address (http or https), is it running, is the network up?",
                ),
            ),
            SdkError::ResponseError(_) => self.cut_off(),
            SdkError::ServiceError(service) => {
                let raw = service.raw();
                self.service(
                    service.err().code(),
                    service.err().message().unwrap_or_default(),
                    raw.status().as_u16(),
                    raw.body().bytes().unwrap_or_default(),
                )
            }
            _ => self.error(Fatal, CONNECTION, &chain(error), None),
        }
    }

    /// Classifies a failure to send a request that the SDK did not make.
    pub(super) fn unsent(&self, error: ConnectorError) -> TargetError {
        self.classify(&SdkError::<BatchWriteItemError>::dispatch_failure(error))
    }

    /// An answer that did not arrive as it was sent.
    pub(super) fn cut_off(&self) -> TargetError {
        let message = format!("the answer of {} was cut off or garbled", self.place.name);
        self.error(Transient, CONNECTION, &message, None)
    }

    /// An answer that could not be read to its end.
    pub(super) fn unread(&self, error: &(dyn Error + 'static)) -> TargetError {
        match find::<LengthLimitError>(error) {
            Some(_) => self.too_long(),
            None => self.cut_off(),
        }
    }

    fn too_long(&self) -> TargetError {
        let message = format!("{}: {TOO_LONG}", self.place.name);
        let help = "is the endpoint DynamoDB, and nothing between it and here?";
        self.error(Fatal, CONNECTION, &message, Some(help))
    }

    /// An answer that did not arrive in time.
    pub(super) fn late(&self) -> TargetError {
        let message = format!("{} did not answer in time", self.place.name);
        let help = "is the endpoint's address right, and is the network up?";
        self.error(Transient, CONNECTION, &message, Some(help))
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
        let (class, help) = self.decide(code, status);
        let mut message = match help {
            // Their texts may quote what was signed.
            Help::Login if code.contains("Expired") => {
                format!("the credentials have expired ({code})")
            }
            Help::Login | Help::Clock => format!("the credentials were refused ({code})"),
            _ if text.is_empty() => code.to_owned(),
            _ => format!("{} ({code})", without_values(text)),
        };
        let throttles = throttling_reasons(body);
        for throttle in &throttles {
            message.push_str("; ");
            message.push_str(&throttle.reason);
            if !throttle.resource.is_empty() {
                message.push_str(&format!(" ({})", throttle.resource));
            }
        }
        TargetError {
            throttles,
            ..self.error(class, code, &message, self.help(&help).as_deref())
        }
    }

    /// An answer that is no answer of DynamoDB's: a proxy's page, or another server.
    fn stranger(&self, status: u16) -> TargetError {
        let place = &self.place.name;
        let message = match status {
            200..=299 => format!("the answer of {place} was cut off or garbled"),
            _ => format!(
                "{place} answered with HTTP status {status}, but without an error of DynamoDB"
            ),
        };
        let help = Some("is the endpoint DynamoDB?");
        self.error(by_status(status), CONNECTION, &message, help)
    }

    /// The one table of error codes.
    fn decide(&self, code: &str, status: u16) -> (ErrorClass, Help) {
        let invalid = match self.operation {
            "BatchWriteItem" | "PutItem" | "DeleteItem" => Invalid,
            _ => Fatal,
        };
        match code {
            "ProvisionedThroughputExceededException"
            | "ProvisionedThroughputExceeded"
            | "ThrottlingException"
            | "Throttling"
            | "RequestLimitExceeded"
            | "TooManyRequestsException" => (Throttle, Help::None),
            "LimitExceededException" => (Throttle, Help::Quota),
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
            | "TransactionInProgressException" => (Transient, Help::None),
            "ValidationException" | "SerializationException" => (invalid, Help::None),
            "RequestEntityTooLarge" | "ItemCollectionSizeLimitExceededException" => {
                (invalid, Help::None)
            }
            "ResourceNotFoundException" => (Fatal, Help::Gone),
            "ResourceInUseException" | "TableNotFoundException" => (Fatal, Help::None),
            "AccessDeniedException" | "AccessDenied" | "NotAuthorized" | "OptInRequired" => {
                (Fatal, Help::Policy)
            }
            "ExpiredTokenException"
            | "ExpiredToken"
            | "UnrecognizedClientException"
            | "InvalidClientTokenId"
            | "MissingAuthenticationToken"
            | "MissingAuthenticationTokenException" => (Fatal, Help::Login),
            "InvalidSignatureException"
            | "SignatureDoesNotMatch"
            | "IncompleteSignature"
            | "RequestExpired"
            | "RequestTimeTooSkewed" => (Fatal, Help::Clock),
            "KMSAccessDeniedException"
            | "KMSDisabledException"
            | "KMSInvalidStateException"
            | "KMSNotFoundException" => (Fatal, Help::Key),
            _ => (by_status(status), Help::None),
        }
    }

    fn help(&self, help: &Help) -> Option<String> {
        let profile = self.place.profile.as_deref();
        let login = match profile {
            Some(profile) => format!("`aws sso login --profile {profile}`"),
            None => "`aws sso login`, or new keys in the environment".to_owned(),
        };
        Some(match help {
            Help::None => return None,
            Help::Policy => format!(
                "allow dynamodb:{} on the table; docs/aws.md has the smallest policy that suffices",
                self.operation
            ),
            Help::Login => format!("log in again: {login}"),
            Help::Clock => {
                format!("is the computer's clock right? Otherwise log in again: {login}")
            }
            Help::Gone => {
                "was the table deleted meanwhile, or is it in another region or account?".to_owned()
            }
            Help::Quota => {
                "wait for other changes of tables to end, or ask AWS for more".to_owned()
            }
            Help::Key => "look at the KMS key of the table: its state and its policy".to_owned(),
        })
    }

    pub(super) fn credentials(&self, error: &CredentialsError) -> TargetError {
        let help = match &self.place.profile {
            Some(profile) => format!("is there a profile `{profile}` (`aws configure list-profiles`), and is it complete? `aws sso login --profile {profile}` renews its login"),
            None => "say `--profile NAME`, log in with `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".to_owned(),
        };
        let message = match error {
            CredentialsError::CredentialsNotLoaded(_) => {
                "there are no AWS credentials: none in the environment, the profile, or the machine's role".to_owned()
            }
            CredentialsError::ProviderTimedOut(_) => {
                "the AWS credentials did not come in time".to_owned()
            }
            other => format!("the AWS credentials cannot be had: {}", chain(other)),
        };
        // The network may be cut just when credentials that expire are renewed.
        let class = match error {
            CredentialsError::ProviderTimedOut(_) => Transient,
            CredentialsError::ProviderError(_) if self.held => Transient,
            _ => Fatal,
        };
        self.error(class, "Credentials", &message, Some(&help))
    }

    /// An error of this action in our own words.
    pub(super) fn error(
        &self,
        class: ErrorClass,
        code: &str,
        message: &str,
        help: Option<&str>,
    ) -> TargetError {
        TargetError {
            class,
            code: code.to_owned(),
            message: format!("{} on table {}: {message}", self.operation, self.table),
            help: help.map(str::to_owned),
            throttles: Vec::new(),
        }
    }

    /// An answer that lacks what every answer of DynamoDB's has.
    pub(super) fn incomplete(&self, member: &str) -> TargetError {
        let message = format!("the answer of {} lacks {member}", self.place.name);
        self.error(
            Transient,
            CONNECTION,
            &message,
            Some("is the endpoint DynamoDB?"),
        )
    }

    /// A request or an answer that makes no sense.
    pub(super) fn garbled(&self, error: &dyn Error) -> TargetError {
        self.error(Fatal, CONNECTION, &error.to_string(), None)
    }
}

fn by_status(status: u16) -> ErrorClass {
    match status {
        429 => Throttle,
        200..=299 | 408 | 500..=599 => Transient,
        _ => Fatal,
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    causes(error)
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let texts: Vec<String> = causes(error).map(ToString::to_string).collect();
    texts.join(": ")
}

#[cfg(test)]
mod tests;
