//! Reads of a table through the SDK, retried and paced by us.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_dynamodb::config::Credentials;
use dynafold_dynamodb::{Attribute, Billing, KeyAttribute, KeyType, Settings, Table};
use jiff::{SignedDuration, Timestamp};
use tokio::time::{Duration, Instant};

use super::scripted::{Scripted, ScriptedResponse, config, credentials, provider};
use super::{EXPIRED, SKEWED, ServiceLocation, refused, sign};
use crate::dynamodb::{Dynamodb, Vault, service};
use crate::{ErrorClass, ItemKey, ScanRequest};

const SLOWER: &str = r#"{"__type":"x#ProvisionedThroughputExceededException","message":"x"}"#;

fn table() -> Table {
    Table {
        name: "app".to_owned(),
        partition: KeyAttribute {
            name: "PK".into(),
            key_type: KeyType::S,
        },
        sort: None,
        indexes: Vec::new(),
        local_indexes: Vec::new(),
        ttl: None,
        billing: Billing::OnDemand,
        settings: Settings::default(),
    }
}

fn target(
    answers: Vec<ScriptedResponse>,
    provider: impl ProvideCredentials + 'static,
) -> (Scripted, Dynamodb) {
    let http = Scripted::default();
    http.answers.lock().unwrap().extend(answers);
    let vault = Vault::new(provider);
    let wire = service(&config(&http), vault);
    let place = ServiceLocation {
        name: "dynamodb in eu-west-1".to_owned(),
        billed_in: Some("eu-west-1".to_owned()),
        profile: None,
    };
    (http, Dynamodb::new(wire, place, None))
}

fn good(body: String) -> ScriptedResponse {
    ScriptedResponse {
        status: 200,
        body: body.leak(),
        ..ScriptedResponse::default()
    }
}

fn key(n: usize) -> String {
    format!(r#"{{"PK":{{"S":"P{n}"}}}}"#)
}

/// Of so many keys the first is read, and the others are left.
fn one_of(keys: usize) -> ScriptedResponse {
    let left: Vec<String> = (1..keys).map(key).collect();
    let left = if left.is_empty() {
        String::new()
    } else {
        format!(r#""app":{{"Keys":[{}]}}"#, left.join(","))
    };
    let found = key(0);
    good(format!(
        r#"{{"Responses":{{"app":[{found}]}},"UnprocessedKeys":{{{left}}}}}"#
    ))
}

fn keys(number: usize) -> Vec<ItemKey> {
    let key = |n| (Attribute::S(format!("P{n}").into()), None);
    (0..number).map(key).collect()
}

#[tokio::test(start_paused = true)]
async fn reading_goes_on_as_long_as_something_is_read() {
    let mut answers = Vec::new();
    for left in (1..=40).rev() {
        answers.extend(vec![refused(SLOWER); 14]);
        answers.push(one_of(left));
    }
    let (_, target) = target(answers, credentials("A", None));
    let begun = Instant::now();
    let found = target.read_items(&table(), &keys(40), true).await.unwrap();
    assert_eq!(found.items.len(), 40);
    // Longer than a table is waited for that gives nothing.
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(125), "{took:?}");

    let nothing = vec![refused(SLOWER); 500];
    let (_, target) = self::target(nothing, credentials("A", None));
    let begun = Instant::now();
    let error = target
        .read_items(&table(), &keys(1), true)
        .await
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Throttle);
    let took = begun.elapsed().as_secs();
    assert!((120..125).contains(&took), "{took}");
}

#[tokio::test]
async fn a_read_whose_token_has_expired_goes_on_with_another() {
    let page = || good(r#"{"Items":[],"Count":0}"#.to_owned());
    let all = [credentials("OLD", None), credentials("NEW", None)];
    for scans in [true, false] {
        let answer = if scans { page() } else { one_of(1) };
        let (http, target) = target(vec![refused(EXPIRED), answer], provider(&all));
        if scans {
            let wanted = ScanRequest::all();
            target.scan_page(&table(), &wanted, None).await.unwrap();
        } else {
            target.read_items(&table(), &keys(1), true).await.unwrap();
        }
        let seen = http.seen.lock().unwrap();
        let tokens = seen.iter().map(|seen| seen.header("x-amz-security-token"));
        let tokens: Vec<&str> = tokens.collect();
        assert_eq!(tokens, ["token of OLD", "token of NEW"]);
    }
    // Where there are no others that is the end.
    let (http, target) = target(vec![refused(EXPIRED)], credentials("OLD", None));
    let error = target
        .read_items(&table(), &keys(1), true)
        .await
        .unwrap_err();
    assert_eq!(error.code, "ExpiredTokenException");
    assert_eq!(http.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_read_that_is_signed_by_a_clock_that_is_off_is_signed_anew() {
    let there = Timestamp::now() + SignedDuration::from_mins(10);
    let date = there.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let skewed = ScriptedResponse {
        headers: vec![("date", date)],
        ..refused(SKEWED)
    };
    let answers = vec![skewed.clone(), one_of(1), one_of(1), skewed];
    let (http, target) = target(answers, credentials("A", None));
    for _ in 0..2 {
        target.read_items(&table(), &keys(1), true).await.unwrap();
    }
    let off = |at: usize| -> bool {
        let stamp = http.seen.lock().unwrap()[at]
            .header("x-amz-date")
            .to_owned();
        let now = SystemTime::now() + Duration::from_mins(5);
        stamp > sign::stamp(now)
    };
    assert_eq!([0, 1, 2].map(off), [false, true, true]);
    let error = target
        .read_items(&table(), &keys(1), true)
        .await
        .unwrap_err();
    assert_eq!(error.code, "InvalidSignatureException");
    assert_eq!(http.seen.lock().unwrap().len(), 4);
}

/// Gives credentials, then fails for a while, then gives others.
#[derive(Debug, Clone)]
struct Cut(Arc<Mutex<u32>>);

impl ProvideCredentials for Cut {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        let mut asked = self.0.lock().unwrap();
        *asked += 1;
        future::ProvideCredentials::ready(match *asked {
            1 => Ok(credentials("OLD", None)),
            2..9 => Err(CredentialsError::provider_error("the network is cut")),
            _ => Ok::<Credentials, _>(credentials("NEW", None)),
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_that_is_cut_while_credentials_are_renewed_is_waited_for() {
    let answers = vec![refused(EXPIRED); 8].into_iter().chain([one_of(1)]);
    let (_, target) = target(answers.collect(), Cut(Arc::default()));
    let found = target.read_items(&table(), &keys(1), true).await.unwrap();
    assert_eq!(found.items.len(), 1);
}
