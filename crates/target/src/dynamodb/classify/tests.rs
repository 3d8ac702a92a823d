//! Each code with what is done about it.

use super::*;

fn classified(operation: &'static str, code: &str) -> TargetError {
    let place = ServiceLocation {
        name: "dynamodb in eu-west-1".to_owned(),
        billed_in: Some("eu-west-1".to_owned()),
        profile: Some("dev".to_owned()),
    };
    let action = Attempt {
        operation,
        table: "app",
        place: &place,
        held: false,
    };
    action.service(Some(code), "what it says", 400, b"{}")
}

#[test]
fn codes_decide() {
    for (code, class) in [
        ("ProvisionedThroughputExceededException", Throttle),
        ("ThrottlingException", Throttle),
        ("RequestLimitExceeded", Throttle),
        ("InternalServerError", Transient),
        ("ValidationException", Invalid),
        ("ItemCollectionSizeLimitExceededException", Invalid),
        ("ResourceNotFoundException", Fatal),
        ("AccessDeniedException", Fatal),
        ("ExpiredTokenException", Fatal),
        ("SomethingNewException", Fatal),
    ] {
        assert_eq!(classified("BatchWriteItem", code).class, class, "{code}");
    }
    // What is not a batch cannot be split.
    assert_eq!(
        classified("CreateTable", "ValidationException").class,
        Fatal
    );
}

#[test]
fn credentials_that_come_late_may_come_yet() {
    let place = ServiceLocation {
        name: "dynamodb in eu-west-1".to_owned(),
        billed_in: Some("eu-west-1".to_owned()),
        profile: None,
    };
    let action = Attempt {
        operation: "BatchWriteItem",
        table: "app",
        place: &place,
        held: false,
    };
    let class = |error: CredentialsError| action.credentials(error).class;
    let late = CredentialsError::provider_timed_out(std::time::Duration::from_secs(5));
    assert_eq!(class(late), Transient);
    assert_eq!(class(CredentialsError::not_loaded("none")), Fatal);
    // A provider that fails from the start is not set up; one that has worked is cut off.
    assert_eq!(class(CredentialsError::provider_error("cut")), Fatal);
    let later = Attempt {
        held: true,
        ..action
    };
    let cut = later.credentials(CredentialsError::provider_error("cut"));
    assert_eq!(cut.class, Transient);
}

#[test]
fn messages_name_the_way_out() {
    let denied = classified("BatchWriteItem", "AccessDeniedException");
    assert_eq!(
        denied.message,
        "BatchWriteItem on table app: access denied (AccessDeniedException)"
    );
    assert_eq!(denied.kind, AccessDenied);
    assert_eq!(denied.source().unwrap().to_string(), "what it says");
    assert_eq!(
        denied.help.as_deref(),
        Some(
            "allow dynamodb:BatchWriteItem on the table; docs/aws.md has the smallest policy that is enough"
        )
    );
    let expired = classified("Scan", "ExpiredTokenException");
    assert_eq!(
        expired.message,
        "Scan on table app: the credentials have expired (ExpiredTokenException)"
    );
    assert!(expired.source().is_none());
    assert_eq!(
        expired.help.as_deref(),
        Some("log in again: `aws sso login --profile dev`")
    );
}
