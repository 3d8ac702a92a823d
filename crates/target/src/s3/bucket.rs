//! The calls: what is sent, signed, sent again, and read.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpConnector as _, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use dynafold_format::hex;
use http_body_util::{BodyExt as _, Limited};
use parking_lot::RwLock;
use tokio::runtime::Handle;

use super::S3Location;
use super::answer::{Texts, XmlAnswer};
use super::failure::S3Attempt;
use crate::dynamodb::wire::hash::sha256;
use crate::dynamodb::wire::vault::{HeldCredentials, is_expiry};
use crate::dynamodb::wire::{Vault, sign};
use crate::dynamodb::{client, is_skew};
use crate::persist::persist;
use crate::retry::{Policy, RetryWarning};
use crate::{Result, ServiceOptions, TargetError};

/// Bytes that are sent or read by one request at most: what is sent again after a failure.
pub(super) const PIECE: usize = 8 << 20;
/// An answer is one range at most, or a page of a list.
const MOST_BYTES: usize = 2 * PIECE;
const CONNECT: Duration = Duration::from_secs(5);
/// To the answer's first byte: a piece has been sent by then, over half a megabit a second.
const FIRST_BYTE: Duration = Duration::from_mins(2);
/// One attempt, with its whole answer.
const ATTEMPT: Duration = Duration::from_mins(3);
/// A network cut of some minutes is survived.
const POLICY: Policy = Policy {
    base: Duration::from_millis(50),
    ceiling: Duration::from_secs(5),
    deadline: Duration::from_mins(5),
};

/// A prefix of a bucket, and what sends requests to it. Clones share connections and credentials.
#[derive(Debug, Clone)]
pub struct Bucket {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    location: S3Location,
    profile: Option<String>,
    endpoint: S3Endpoint,
    /// The bucket's own, once an answer has named it.
    region: RwLock<String>,
    connector: SharedHttpConnector,
    vault: Vault,
    clock: sign::Clock,
    retry_warning: RetryWarning,
    /// Where requests run while a thread that writes or reads waits for them.
    runtime: Handle,
}

/// Where the objects of a bucket are.
#[derive(Debug)]
enum S3Endpoint {
    /// A server that was named. The bucket is the first part of the path there.
    Named(String),
    /// AWS: words of the host's name before the region's.
    Amazon(String),
}

/// An object of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Object {
    /// Its key without the prefix.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// What S3 tells its contents by.
    pub etag: String,
}

pub(super) struct S3Request<'a> {
    pub(super) operation: &'static str,
    pub(super) method: &'static str,
    pub(super) key: Option<&'a str>,
    /// Names in order.
    pub(super) query: Vec<(&'static str, String)>,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
    pub(super) digest: [u8; 32],
}

/// What was answered, and is no error.
pub(super) struct S3Answer {
    status: u16,
    pub(super) etag: String,
    range: String,
    pub(super) body: Bytes,
}

impl<'a> S3Request<'a> {
    pub(super) fn new(operation: &'static str, method: &'static str, key: Option<&'a str>) -> Self {
        Self {
            operation,
            method,
            key,
            query: Vec::new(),
            headers: Vec::new(),
            body: Bytes::new(),
            digest: sha256([]),
        }
    }

    /// The same with a body, whose checksum S3 compares.
    pub(super) fn with_body(self, body: Bytes) -> Self {
        let digest = sha256([&*body]);
        Self {
            body,
            digest,
            ..self
        }
    }

    /// The same, for S3 to keep the checksum of the body.
    pub(super) fn with_checksum(mut self) -> Self {
        self.headers
            .push(("x-amz-checksum-sha256", self.checksum()));
        self
    }

    pub(super) fn checksum(&self) -> String {
        BASE64_STANDARD.encode(self.digest)
    }

    fn query_text(&self) -> String {
        let pairs = self
            .query
            .iter()
            .map(|(name, value)| format!("{name}={}", sign::encoded(value).replace('/', "%2F")));
        pairs.collect::<Vec<_>>().join("&")
    }
}

impl Bucket {
    /// Opens a place in S3, or in what speaks its protocol at an endpoint. Sends nothing yet.
    ///
    /// # Errors
    ///
    /// [`TargetError`] with the code `Region` or `Connection`.
    pub async fn open(location: S3Location, options: &ServiceOptions) -> Result<Self> {
        let found = client::find("S3", options).await?;
        let settings = HttpConnectorSettings::builder()
            .connect_timeout(CONNECT)
            .read_timeout(FIRST_BYTE)
            .build();
        let sleep = found.shared.sleep_impl();
        let connector = client::connector(Some(settings), sleep, !found.loopback);
        let endpoint = match &found.endpoint {
            Some(url) => S3Endpoint::Named(client::shown(url)),
            None => {
                let fips = found.shared.use_fips().unwrap_or(false);
                let dual = found.shared.use_dual_stack().unwrap_or(false);
                let words = [
                    "s3",
                    if fips { "-fips" } else { "" },
                    if dual { ".dualstack" } else { "" },
                ];
                S3Endpoint::Amazon(words.concat())
            }
        };
        Ok(Self {
            inner: Arc::new(Inner {
                location,
                profile: options.profile.clone(),
                endpoint,
                region: RwLock::new(found.region.to_string()),
                connector: SharedHttpConnector::new(connector),
                vault: Vault::new(found.credentials),
                clock: sign::Clock::default(),
                retry_warning: RetryWarning::default(),
                runtime: Handle::current(),
            }),
        })
    }

    /// The place.
    pub fn location(&self) -> &S3Location {
        &self.inner.location
    }

    /// The place and its endpoint, where one was named: another server's bucket of the name is another place.
    pub fn whole_name(&self) -> String {
        match &self.inner.endpoint {
            S3Endpoint::Named(url) => format!("{} at {url}", self.location()),
            S3Endpoint::Amazon(_) => self.location().to_string(),
        }
    }

    /// Waits for a request, on a thread that runs none.
    pub(crate) fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        self.inner.runtime.block_on(request)
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }

    pub(super) fn attempt<'a>(
        &'a self,
        operation: &'static str,
        key: Option<&'a str>,
    ) -> S3Attempt<'a> {
        S3Attempt {
            operation,
            location: &self.inner.location,
            key,
            profile: self.inner.profile.as_deref(),
        }
    }

    /// The objects whose names begin so; no more than `most`.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when they cannot be listed.
    pub async fn list(&self, under: &str, most: usize) -> Result<Vec<S3Object>> {
        const NAMES: [&str; 5] = [
            "Key",
            "Size",
            "ETag",
            "IsTruncated",
            "NextContinuationToken",
        ];
        let (before, prefix) = (self.inner.location.key(""), self.inner.location.key(under));
        let (mut found, mut token) = (Vec::new(), String::new());
        loop {
            let mut request = S3Request::new("ListObjectsV2", "GET", None);
            if !token.is_empty() {
                request.query.push(("continuation-token", token));
            }
            request.query.extend([
                ("encoding-type", "url".to_owned()),
                ("list-type", "2".to_owned()),
                (
                    "max-keys",
                    most.saturating_sub(found.len()).min(1_000).to_string(),
                ),
                ("prefix", prefix.clone()),
            ]);
            let answer = self.send(&request).await?;
            let attempt = self.attempt(request.operation, None);
            let answer = read(&attempt, &answer.body, "Contents", &NAMES)?;
            for texts in &answer.list {
                let object = object(texts, &before);
                found.push(
                    object.ok_or_else(|| attempt.garbled("an object without a key or size"))?,
                );
            }
            token = String::from(answer.text("NextContinuationToken"));
            if answer.text("IsTruncated") != "true" || found.len() >= most || token.is_empty() {
                return Ok(found);
            }
        }
    }

    /// Writes a small object.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when it cannot be written.
    pub async fn put(&self, name: &str, body: Vec<u8>) -> Result<()> {
        self.put_object(&self.inner.location.key(name), body)
            .await
            .map(drop)
    }

    /// Writes a small object where there is none of its name. `false` where there is one. A server that does not know the condition
    /// writes it all the same.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when it cannot be written.
    pub async fn put_new(&self, name: &str, body: Vec<u8>) -> Result<bool> {
        let key = self.inner.location.key(name);
        let mut request = put_request(&key, body.clone());
        request.headers.push(("if-none-match", "*".to_owned()));
        match self.send(&request).await {
            Ok(_) => Ok(true),
            Err(error) if error.code == "PreconditionFailed" => Ok(false),
            Err(error) if error.code == "NotImplemented" => {
                self.put_object(&key, body).await.map(|_| true)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes an object by one request and gives its `ETag`.
    pub(super) async fn put_object(&self, key: &str, body: Vec<u8>) -> Result<String> {
        Ok(self.send(&put_request(key, body)).await?.etag)
    }

    /// Deletes an object.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when it cannot be deleted.
    pub async fn delete(&self, name: &str) -> Result<()> {
        let key = self.inner.location.key(name);
        let request = S3Request::new("DeleteObject", "DELETE", Some(&key));
        self.send(&request).await.map(drop)
    }

    /// Copies an object into a writer, in ranges. `false` where there is none.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when it cannot be read, or another one of its name was written meanwhile.
    pub async fn read(&self, name: &str, to: &mut (dyn io::Write + Send)) -> Result<bool> {
        let key = self.inner.location.key(name);
        let (mut at, mut etag) = (0_usize, String::new());
        loop {
            let mut request = S3Request::new("GetObject", "GET", Some(&key));
            if !etag.is_empty() {
                request.headers.push(("if-match", etag.clone()));
            }
            request
                .headers
                .push(("range", format!("bytes={at}-{}", at + PIECE - 1)));
            let answer = match self.send(&request).await {
                Ok(answer) => answer,
                // Nothing is left, or it is empty.
                Err(error) if error.code == "InvalidRange" => return Ok(true),
                Err(error) if error.code == "NoSuchKey" && at == 0 => return Ok(false),
                Err(error) => return Err(error),
            };
            let attempt = self.attempt(request.operation, Some(&key));
            to.write_all(&answer.body).map_err(|error| {
                attempt
                    .garbled("what was read cannot be kept")
                    .with_cause(error, 0)
            })?;
            at += answer.body.len();
            let all = answer
                .range
                .rsplit('/')
                .next()
                .and_then(|all| all.parse::<usize>().ok());
            let is_whole = answer.status == 200 || all.is_some_and(|all| at >= all);
            if is_whole {
                return Ok(true);
            }
            if answer.body.is_empty() || all.is_none() {
                return Err(attempt.garbled("a range of an object, without its size"));
            }
            etag = answer.etag;
        }
    }

    /// Aborts the uploads under the prefix that have not come to their end and whose names there are meant, and gives how many there
    /// were.
    ///
    /// # Errors
    ///
    /// [`TargetError`] when they cannot be listed or aborted.
    pub async fn abort_uploads(&self, is_meant: impl Fn(&str) -> bool) -> Result<usize> {
        const NAMES: [&str; 5] = [
            "Key",
            "UploadId",
            "IsTruncated",
            "NextKeyMarker",
            "NextUploadIdMarker",
        ];
        let mut aborted = 0;
        let mut markers: Option<(String, String)> = None;
        loop {
            let mut request = S3Request::new("ListMultipartUploads", "GET", None);
            request.query.push(("encoding-type", "url".to_owned()));
            let (key, id) = markers.take().unzip();
            request.query.extend(key.map(|key| ("key-marker", key)));
            request.query.push(("prefix", self.inner.location.key("")));
            request.query.extend(id.map(|id| ("upload-id-marker", id)));
            request.query.push(("uploads", String::new()));
            let answer = self.send(&request).await?;
            let attempt = self.attempt(request.operation, None);
            let answer = read(&attempt, &answer.body, "Upload", &NAMES)?;
            for texts in &answer.list {
                let (Some(key), Some(id)) = (texts.get("Key"), texts.get("UploadId")) else {
                    return Err(attempt.garbled("an upload without a key or id"));
                };
                let key = decoded(key);
                let prefix = self.inner.location.key("");
                if key.strip_prefix(&*prefix).is_some_and(&is_meant) {
                    self.abort(&key, id).await?;
                    aborted += 1;
                }
            }
            if answer.text("IsTruncated") != "true" || answer.list.is_empty() {
                return Ok(aborted);
            }
            let text = |name| decoded(answer.text(name));
            markers = Some((
                text("NextKeyMarker"),
                answer.text("NextUploadIdMarker").to_owned(),
            ));
        }
    }

    /// Aborts an upload; one that is gone already is aborted too.
    pub(super) async fn abort(&self, key: &str, id: &str) -> Result<()> {
        let mut request = S3Request::new("AbortMultipartUpload", "DELETE", Some(key));
        request.query.push(("uploadId", id.to_owned()));
        match self.send(&request).await {
            Err(error) if error.code != "NoSuchUpload" => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends a request, again while its failure is one that passes.
    pub(super) async fn send(&self, request: &S3Request<'_>) -> Result<S3Answer> {
        let send = move || self.send_renewed(request);
        persist(POLICY, &self.inner.retry_warning, send).await
    }

    /// Sends a request once, and once more where the clock was off, the bucket is in another region, or the credentials had
    /// expired and others have come.
    async fn send_renewed(&self, request: &S3Request<'_>) -> Result<S3Answer> {
        let inner = &*self.inner;
        let (used, offset) = (inner.vault.last(), inner.clock.offset());
        let region = inner.region.read().clone();
        let mut answer = self.send_once(request).await;
        if let Err(error) = &answer
            && (*inner.region.read() != region
                || (is_skew(&error.code) && inner.clock.correct(offset)))
        {
            answer = self.send_once(request).await;
        }
        if let Err(error) = &answer
            && is_expiry(&error.code)
            && let Some(used) = used.or_else(|| inner.vault.last())
            && inner
                .vault
                .renew(&used, inner.clock.now())
                .await
                .unwrap_or(false)
        {
            answer = self.send_once(request).await;
        }
        answer
    }

    async fn send_once(&self, request: &S3Request<'_>) -> Result<S3Answer> {
        let inner = &*self.inner;
        let attempt = self.attempt(request.operation, request.key);
        let held = inner.vault.valid_at(inner.clock.now()).await;
        let held = held.map_err(|error| attempt.credentials(error))?;
        let sent = self
            .signed(request, &held)
            .ok_or_else(|| attempt.garbled("the request cannot be made"))?;
        let whole = async {
            let response = inner.connector.call(sent).await;
            let response = response
                .map_err(|error| attempt.unsent("S3 cannot be reached").with_cause(error, 1))?;
            let text = |name: &str| response.headers().get(name).unwrap_or_default().to_owned();
            let (etag, range) = (text("etag"), text("content-range"));
            let (date, region) = (
                response.headers().get("date").map(str::to_owned),
                text("x-amz-bucket-region"),
            );
            let status = response.status().as_u16();
            let body = Limited::new(response.into_body(), MOST_BYTES)
                .collect()
                .await
                .map_err(|error| {
                    attempt
                        .unsent("the answer was cut off")
                        .with_cause(error, 0)
                })?;
            let answer = S3Answer {
                status,
                etag,
                range,
                body: body.to_bytes(),
            };
            if (200..300).contains(&status) {
                return Ok(answer);
            }
            inner.clock.note_error_date(date);
            if !region.is_empty() && matches!(inner.endpoint, S3Endpoint::Amazon(_)) {
                *inner.region.write() = region;
            }
            Err(refusal(&attempt, status, &answer.body))
        };
        let answer = tokio::time::timeout(ATTEMPT, whole).await;
        answer.unwrap_or_else(|_| Err(attempt.unsent("S3 did not answer in time")))
    }

    /// The request as HTTP, signed.
    fn signed(&self, request: &S3Request<'_>, held: &HeldCredentials) -> Option<HttpRequest> {
        let inner = &*self.inner;
        let region = inner.region.read().clone();
        let (base, host) = inner.endpoint.of(inner.location.bucket(), &region)?;
        let path = sign::encoded(request.key.unwrap_or_default());
        let query = request.query_text();
        let question = if query.is_empty() { "" } else { "?" };
        let mut sent = HttpRequest::new(SdkBody::from(request.body.clone()));
        sent.set_method(request.method).ok()?;
        sent.set_uri(format!("{}{}/{path}{question}{query}", base.0, base.1))
            .ok()?;
        let agent = concat!("dynafold/", env!("CARGO_PKG_VERSION"));
        sent.headers_mut().try_insert("user-agent", agent).ok()?;
        let payload = hex(&request.digest);
        let own = [("host", host), ("x-amz-content-sha256", payload.clone())];
        let headers = request.headers.iter().cloned().chain(own);
        let (scope, now) = (sign::SigningScope::new(&region, "s3"), inner.clock.now());
        sign::sign(&mut sent, held, &scope, headers, &payload, now).ok()?;
        Some(sent)
    }
}

impl S3Endpoint {
    /// Scheme and host, and the path before the key, for a bucket; and the header `host`.
    fn of(&self, bucket: &str, region: &str) -> Option<((String, String), String)> {
        let (url, path) = match self {
            Self::Named(url) => (url.clone(), format!("/{bucket}")),
            Self::Amazon(words) => {
                let suffix = match region {
                    region if region.starts_with("cn-") => "amazonaws.com.cn",
                    region if region.starts_with("us-iso-") => "c2s.ic.gov",
                    region if region.starts_with("us-isob-") => "sc2s.sgov.gov",
                    _ => "amazonaws.com",
                };
                // A certificate covers one label before its own name.
                if bucket.contains('.') {
                    (
                        format!("https://{words}.{region}.{suffix}"),
                        format!("/{bucket}"),
                    )
                } else {
                    (
                        format!("https://{bucket}.{words}.{region}.{suffix}"),
                        String::new(),
                    )
                }
            }
        };
        let url = url::Url::parse(&url).ok()?;
        let mut host = url.host_str()?.to_owned();
        if let Some(port) = url.port() {
            host.push_str(&format!(":{port}"));
        }
        let before = format!("{}{path}", url.path().trim_end_matches('/'));
        Some(((format!("{}://{host}", url.scheme()), before), host))
    }
}

/// Reads an answer's document.
pub(super) fn read(
    attempt: &S3Attempt<'_>,
    body: &[u8],
    list: &str,
    names: &[&str],
) -> Result<XmlAnswer> {
    XmlAnswer::read(body, list, names).map_err(|error| {
        attempt
            .garbled("the answer cannot be read")
            .with_cause(error, 0)
    })
}

fn put_request(key: &str, body: Vec<u8>) -> S3Request<'_> {
    let request = S3Request::new("PutObject", "PUT", Some(key));
    request.with_body(Bytes::from(body)).with_checksum()
}

/// The error that an answer is.
pub(super) fn refusal(attempt: &S3Attempt<'_>, status: u16, body: &[u8]) -> TargetError {
    let answer = XmlAnswer::read(body, "", &["Code", "Message"]).unwrap_or_default();
    attempt.refused(answer.text("Code"), answer.text("Message"), status)
}

/// An object of a list.
fn object(texts: &Texts, prefix: &str) -> Option<S3Object> {
    let key = decoded(texts.get("Key")?);
    Some(S3Object {
        name: key.strip_prefix(prefix)?.to_owned(),
        size: texts.get("Size")?.parse().ok()?,
        etag: texts.get("ETag").cloned().unwrap_or_default(),
    })
}

/// A key as lists have it, encoded as in URLs.
fn decoded(key: &str) -> String {
    let plain = key.replace('+', " ");
    percent_encoding::percent_decode_str(&plain)
        .decode_utf8_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aws_has_the_bucket_in_the_host_and_others_in_the_path() {
        let amazon = |words: &str| S3Endpoint::Amazon(words.to_owned());
        for (endpoint, bucket, region, expected) in [
            (
                amazon("s3"),
                "shop",
                "eu-west-1",
                ("https://shop.s3.eu-west-1.amazonaws.com", ""),
            ),
            (
                amazon("s3"),
                "shop.v2",
                "eu-west-1",
                ("https://s3.eu-west-1.amazonaws.com", "/shop.v2"),
            ),
            (
                amazon("s3-fips.dualstack"),
                "shop",
                "us-east-2",
                ("https://shop.s3-fips.dualstack.us-east-2.amazonaws.com", ""),
            ),
            (
                amazon("s3"),
                "shop",
                "cn-north-1",
                ("https://shop.s3.cn-north-1.amazonaws.com.cn", ""),
            ),
            (
                S3Endpoint::Named("http://127.0.0.1:9000".to_owned()),
                "shop",
                "x",
                ("http://127.0.0.1:9000", "/shop"),
            ),
            (
                S3Endpoint::Named("https://host/api/s3".to_owned()),
                "shop",
                "x",
                ("https://host", "/api/s3/shop"),
            ),
        ] {
            let ((base, path), _) = endpoint.of(bucket, region).unwrap();
            assert_eq!((base.as_str(), path.as_str()), expected);
        }
    }
}
