//! Requests through a connector that answers as it is told, with credentials that change.

mod reads;
mod scripted;

use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::config::Credentials;
use dynafold_format::hex;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::hash::sha256;
use super::sign::SigningScope;
use super::template::RequestCapture;
use super::{RequestBody, Vault, Wire, plain, sign};
use crate::dynamodb::ServiceLocation;
use crate::dynamodb::classify::Attempt;
use crate::{ErrorClass, Result};
use scripted::{
    Failing, Provider, Scripted, ScriptedResponse, SeenRequest, client, credentials, provider,
};

fn fine() -> ScriptedResponse {
    ScriptedResponse {
        status: 200,
        body: "{\"UnprocessedItems\":{}}",
        ..ScriptedResponse::default()
    }
}

fn refused(body: &'static str) -> ScriptedResponse {
    ScriptedResponse {
        status: 400,
        body,
        ..ScriptedResponse::default()
    }
}

const EXPIRED: &str =
    r#"{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"x"}"#;
const SKEWED: &str = r#"{"__type":"com.amazon.coral.service#InvalidSignatureException"}"#;

struct Bench {
    http: Scripted,
    provider: Provider,
    wire: Wire,
    place: ServiceLocation,
}

impl Bench {
    fn new(answers: &[ScriptedResponse], all: &[Credentials]) -> Self {
        let http = Scripted::default();
        http.answers.lock().unwrap().extend(answers.iter().cloned());
        let provider = provider(all);
        let vault = Vault::new(provider.clone());
        Self {
            wire: Wire::new(client(&http, &vault, None), vault, sign::Clock::default()),
            http,
            provider,
            place: ServiceLocation {
                name: "dynamodb in eu-west-1".to_owned(),
                billed_in: Some("eu-west-1".to_owned()),
                profile: None,
            },
        }
    }

    async fn send(&self) -> Result<bytes::Bytes> {
        let attempt = Attempt {
            operation: "BatchWriteItem",
            table: "app",
            place: &self.place,
            held: self.wire.has_credentials(),
        };
        let body = RequestBody::new("{\"a\":[".to_owned(), "1,2".into(), "]}");
        self.wire.send(&attempt, body).await
    }

    fn seen(&self) -> Vec<SeenRequest> {
        self.http.seen.lock().unwrap().clone()
    }

    fn asked(&self) -> usize {
        *self.provider.asked.lock().unwrap()
    }
}

#[tokio::test]
async fn the_sdk_signs_as_we_do() {
    let http = Scripted::default();
    for (credentials, endpoint) in [
        (credentials("AKIA1", None), None),
        (Credentials::new("local", "local", None, None, "test"), None),
        (credentials("A/B+C", None), Some("http://127.0.0.1:8000")),
        (
            credentials("AKIA2", None),
            Some("https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com:443"),
        ),
        (
            credentials("AKIA3", None),
            Some("http://proxy.example:80/some%20where/~x/"),
        ),
    ] {
        let vault = Vault::new(credentials);
        let held = vault.valid_at(SystemTime::now()).await.unwrap();
        let mirror = RequestCapture::default();
        let request = client(&http, &vault, endpoint).batch_write_item();
        let request = request.request_items("app", Vec::new()).customize();
        let stopped = request.interceptor(mirror.clone()).send().await;
        assert!(stopped.is_err());
        let mut request = mirror.seen.lock().take().unwrap().request;
        let theirs = request.headers().get("authorization").unwrap().to_owned();
        let names = theirs.split("SignedHeaders=").nth(1).unwrap();
        let names = names.split(',').next().unwrap().split(';');
        let url = url::Url::parse(request.uri()).unwrap();
        let host = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str().unwrap()),
            None => url.host_str().unwrap().to_owned(),
        };
        let value = |name: &str| match name {
            "host" => host.clone(),
            name => request.headers().get(name).unwrap().to_owned(),
        };
        let own = ["x-amz-date", "x-amz-security-token"];
        let headers = names.filter(|name| !own.contains(name)).map(|name| {
            let name: &'static str = name.to_owned().leak();
            (name, value(name))
        });
        let headers: Vec<(&'static str, String)> = headers.collect();
        let date = DateTime::strptime("%Y%m%dT%H%M%SZ", value("x-amz-date")).unwrap();
        let now = date.to_zoned(TimeZone::UTC).unwrap().timestamp();
        let payload = hex(&sha256([request.body().bytes().unwrap()]));
        let scope = SigningScope::of(&theirs).unwrap();
        let signed = sign::sign(&mut request, &held, &scope, headers, &payload, now.into());
        signed.unwrap();
        let ours = request.headers().get("authorization");
        assert_eq!(ours, Some(theirs.as_str()), "{endpoint:?}");
    }
    assert!(
        http.seen.lock().unwrap().is_empty(),
        "templates are never sent"
    );
}

#[tokio::test]
async fn a_request_has_what_the_sdk_gave_it() {
    let bench = Bench::new(&[fine(), fine()], &[credentials("AKIA", None)]);
    bench.send().await.unwrap();
    bench.send().await.unwrap();
    let seen = bench.seen();
    assert_eq!((seen.len(), bench.asked()), (2, 1));
    for request in &seen {
        assert_eq!(request.url, "https://dynamodb.eu-west-1.amazonaws.com/");
        assert_eq!(request.body, "{\"a\":[1,2]}");
        assert_eq!(request.header("host"), "dynamodb.eu-west-1.amazonaws.com");
        assert_eq!(
            request.header("x-amz-target"),
            "DynamoDB_20120810.BatchWriteItem"
        );
        assert_eq!(request.header("x-amz-security-token"), "token of AKIA");
        assert_eq!(request.header("content-type"), "application/x-amz-json-1.0");
        assert!(request.header("user-agent").contains("aws-sdk-rust"));
        let authorization = request.header("authorization");
        assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIA/2"));
        assert!(authorization.contains("/eu-west-1/dynamodb/aws4_request, "));
        assert!(authorization.contains("x-amz-date;x-amz-security-token;x-amz-target"));
    }
}

#[tokio::test]
async fn an_account_has_an_endpoint_of_its_own() {
    let ours = Credentials::builder()
        .access_key_id("AKIA")
        .secret_access_key("secret")
        .account_id("111122223333")
        .provider_name("test")
        .build();
    let bench = Bench::new(&[fine()], &[ours]);
    bench.send().await.unwrap();
    assert_eq!(
        bench.seen()[0].url,
        "https://111122223333.ddb.eu-west-1.amazonaws.com/"
    );
}

#[tokio::test]
async fn a_token_that_has_expired_is_renewed_once() {
    let (old, new) = (credentials("OLD", None), credentials("NEW", None));
    let bench = Bench::new(&[refused(EXPIRED), fine()], &[old.clone(), new]);
    bench.send().await.unwrap();
    let tokens: Vec<String> = bench
        .seen()
        .iter()
        .map(|s| s.header("x-amz-security-token").to_owned())
        .collect();
    assert_eq!(tokens, ["token of OLD", "token of NEW"]);

    // There are no others: it is an error, and is not asked for again.
    let bench = Bench::new(&[refused(EXPIRED)], &[old]);
    let error = bench.send().await.unwrap_err();
    assert_eq!(
        (error.class, &*error.code),
        (ErrorClass::Fatal, "ExpiredTokenException")
    );
    assert_eq!(bench.seen().len(), 1);
    assert!(error.help.unwrap().contains("aws sso login"));
}

#[tokio::test]
async fn credentials_are_renewed_before_they_expire_and_callers_share_it() {
    let all = [credentials("OLD", Some(0)), credentials("NEW", Some(60))];
    let bench = Bench::new(&vec![fine(); 9], &all);
    let vault = &bench.wire.vault;
    let now = SystemTime::now();
    let held = vault.valid_at(now).await.unwrap();
    assert_eq!(held.credentials.access_key_id(), "OLD");
    let later = now + Duration::from_secs(6);
    let sends = (0..8).map(|_| vault.valid_at(later));
    for held in futures_util::future::join_all(sends).await {
        assert_eq!(held.unwrap().credentials.access_key_id(), "NEW");
    }
    assert_eq!(bench.asked(), 2);
    // Within the last minute they are renewed, and used while that goes on.
    let last = now + Duration::from_secs(3_570);
    let sends = (0..8).map(|_| vault.valid_at(last));
    for held in futures_util::future::join_all(sends).await {
        held.unwrap();
    }
    assert_eq!(bench.asked(), 3);
}

#[tokio::test]
async fn a_clock_that_is_off_is_corrected_by_the_answers_date() {
    let there = Timestamp::now() + SignedDuration::from_mins(10);
    let date = there.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let skewed = ScriptedResponse {
        headers: vec![("date", date)],
        ..refused(SKEWED)
    };
    let bench = Bench::new(
        &[skewed.clone(), fine(), fine(), skewed],
        &[credentials("A", None)],
    );
    bench.send().await.unwrap();
    bench.send().await.unwrap();
    let seen = bench.seen();
    let minute = |time: SystemTime| sign::stamp(time)[..13].to_owned();
    let near = |request: &SeenRequest, minutes: u64| {
        let now = SystemTime::now() + Duration::from_mins(minutes);
        let close = [now, now - Duration::from_secs(5)].map(minute);
        assert!(
            close
                .iter()
                .any(|m| request.header("x-amz-date").starts_with(m)),
            "{request:?}"
        );
    };
    near(&seen[0], 0);
    near(&seen[1], 10);
    near(&seen[2], 10);
    // With the clock corrected, a refused signature is what it says.
    let error = bench.send().await.unwrap_err();
    assert_eq!(error.code, "InvalidSignatureException");
    assert_eq!(bench.seen().len(), 4);
}

#[tokio::test]
async fn an_answer_that_differs_from_its_checksum_is_transient() {
    let body = fine().body;
    let sum = crc32fast::hash(body.as_bytes());
    let with = |sum: u32, answer: ScriptedResponse| ScriptedResponse {
        headers: vec![("x-amz-crc32", sum.to_string())],
        ..answer
    };
    let broken = with(sum ^ 1, refused(EXPIRED));
    let bench = Bench::new(
        &[with(sum, fine()), with(sum ^ 1, fine()), broken],
        &[credentials("A", None)],
    );
    assert_eq!(bench.send().await.unwrap(), body);
    for _ in 0..2 {
        let error = bench.send().await.unwrap_err();
        assert_eq!(
            (error.class, &*error.code),
            (ErrorClass::Transient, "Connection")
        );
        assert!(error.message.contains("damaged"), "{error}");
    }
}

#[tokio::test]
async fn no_secret_is_in_what_is_printed_of_credentials() {
    let bench = Bench::new(&[fine()], &[credentials("A", None)]);
    bench.send().await.unwrap();
    let held = bench.wire.vault.last().unwrap();
    let key = held.signing_key("20260101", "eu-west-1/dynamodb/aws4_request");
    let mirror = RequestCapture::default();
    let request = client(&bench.http, &bench.wire.vault, None).list_tables();
    let request = request.customize().interceptor(mirror.clone());
    assert!(request.send().await.is_err());
    let printed = format!("{held:?} {mirror:?}");
    assert!(
        printed.contains("HeldCredentials") && printed.contains("SignedRequest"),
        "{printed}"
    );
    let key = format!("{key:?}");
    for secret in [
        "secret/+=",
        "token of",
        key.trim_matches(['[', ']']),
        "AWS4-HMAC",
    ] {
        assert!(!printed.contains(secret), "{secret}: {printed}");
    }
}

#[tokio::test]
async fn no_credentials_are_told_of() {
    let mut bench = Bench::new(&[], &[credentials("A", None)]);
    let vault = Vault::new(Failing);
    bench.wire = Wire::new(
        client(&bench.http, &vault, None),
        vault,
        sign::Clock::default(),
    );
    let error = bench.send().await.unwrap_err();
    assert_eq!(
        (error.class, &*error.code),
        (ErrorClass::Fatal, "Credentials")
    );
}

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
