//! What the AWS chain finds, or does not: each in a process with an environment of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dynafold::dynamodb::Item;
use dynafold::target::{ErrorClass, Target, TargetError, TargetSpec, connect};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::sample::{batch, full, table};
use crate::support::endpoint::{Endpoint, Request, Step};

/// Names the test that a process of its own was started for.
const CHILD: &str = "DYNAFOLD_TEST_CHILD";

/// Runs a test again in a process of its own, with nothing in the environment but what is given.
/// There the test finds its name in [`CHILD`] and does its part: see [`is_child`].
fn alone(name: &str, environment: &[(&str, &str)]) {
    let home = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg(format!("target::environment::{name}"))
        .env_clear()
        .env(CHILD, name)
        .env("HOME", home.path())
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn is_child(name: &str) -> bool {
    std::env::var(CHILD).is_ok_and(|child| child == name)
}

async fn real(profile: Option<&str>) -> Result<Arc<dyn Target>, TargetError> {
    connect(&TargetSpec::parse("dynamodb", None, profile, None).unwrap()).await
}

#[tokio::test]
async fn without_a_region_nothing_is_tried() {
    const NAME: &str = "without_a_region_nothing_is_tried";
    if !is_child(NAME) {
        return alone(NAME, &[]);
    }
    let begun = Instant::now();
    let error = real(None).await.err().unwrap();
    assert_eq!(error.code, "Region");
    assert_eq!(
        error.message,
        "no AWS region is known, neither from the environment nor from the AWS configuration"
    );
    assert!(error.help.unwrap().contains("--region"));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

/// The machine's metadata service stays out of it: a stalled one stands in, the worst there is.
#[tokio::test]
async fn without_credentials_the_error_is_clear_and_fast() {
    const NAME: &str = "without_credentials_the_error_is_clear_and_fast";
    if is_child(NAME) {
        return without_credentials().await;
    }
    let metadata = Endpoint::start([Step::Stall]).await;
    let url = metadata.url.clone();
    tokio::task::spawn_blocking(move || {
        let environment = [
            ("AWS_REGION", "eu-west-1"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", url.as_str()),
        ];
        alone(NAME, &environment);
    })
    .await
    .unwrap();
}

async fn without_credentials() {
    assert!(std::env::var("AWS_EC2_METADATA_SERVICE_ENDPOINT").is_ok());
    let target = real(None).await.unwrap();
    assert!(target.is_billed());
    assert_eq!(target.place(), "dynamodb in eu-west-1");
    let begun = Instant::now();
    let error = target.describe("app").await.unwrap_err();
    println!("{:?} after {:?}", error, begun.elapsed());
    assert_eq!(error.class, ErrorClass::Fatal);
    assert_eq!(error.code, "Credentials");
    assert!(
        error.message.contains("there are no AWS credentials"),
        "{error}"
    );
    assert!(error.help.unwrap().contains("AWS_ACCESS_KEY_ID"));
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    let error = real(Some("nope"))
        .await
        .unwrap()
        .describe("app")
        .await
        .unwrap_err();
    println!("{error:?}");
    assert_eq!(error.code, "Credentials");
    assert!(error.help.unwrap().contains("nope"));
}

#[tokio::test]
async fn a_request_is_signed_with_the_body_that_is_sent() {
    const NAME: &str = "a_request_is_signed_with_the_body_that_is_sent";
    if is_child(NAME) {
        return sign().await;
    }
    let endpoint = Endpoint::start([Step::Answer(
        200,
        json!({"UnprocessedItems": {}}).to_string(),
    )])
    .await;
    let url = endpoint.url.clone();
    // In another thread, so that the endpoint goes on answering.
    tokio::task::spawn_blocking(move || {
        alone(NAME, &[("AWS_ENDPOINT_URL_DYNAMODB", &url)]);
    })
    .await
    .unwrap();
    let requests = endpoint.requests();
    let request = &requests[0];
    assert!(request.body.contains("ORDER#00024"));
    let authorization = request.header("authorization").unwrap();
    assert!(
        authorization.contains("Credential=local/"),
        "{authorization}"
    );
    let sent = authorization.rsplit_once("Signature=").unwrap().1;
    assert_eq!(signature(request, "local"), sent);
}

/// A loopback endpoint from the environment, and made-up credentials.
async fn sign() {
    let target = real(None).await.unwrap();
    assert!(!target.is_billed());
    assert!(target.place().starts_with("http://127.0.0.1:"));
    let items: Vec<Item> = (0..25).map(full).collect();
    target.write(&table(true), &batch(&items)).await.unwrap();
}

/// AWS's signature, version 4, from what came over the wire.
fn signature(request: &Request, secret: &str) -> String {
    let hex = |bytes: &[u8]| {
        let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        digits.concat()
    };
    let sign = |key: &[u8], text: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    let authorization = request.header("authorization").unwrap();
    let part = |name: &str| {
        let rest = authorization.split_once(name).unwrap().1;
        rest.split(',').next().unwrap().trim().to_owned()
    };
    let (signed, credential) = (part("SignedHeaders="), part("Credential="));
    let scope = credential.split_once('/').unwrap().1;
    let headers: Vec<String> = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", request.header(name).unwrap()))
        .collect();
    let canonical = format!(
        "POST\n/\n\n{}\n{signed}\n{}",
        headers.concat(),
        hex(&Sha256::digest(&request.body))
    );
    let text = format!(
        "AWS4-HMAC-SHA256\n{}\n{scope}\n{}",
        request.header("x-amz-date").unwrap(),
        hex(&Sha256::digest(&canonical))
    );
    let key = scope
        .split('/')
        .fold(format!("AWS4{secret}").into_bytes(), |key, part| {
            sign(&key, part)
        });
    hex(&sign(&key, &text))
}
