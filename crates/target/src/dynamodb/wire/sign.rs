//! AWS Signature Version 4, for what we send: requests whose headers are known.
//!
//! A test has the SDK sign the same requests and compares.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::http::HttpError;
use aws_types::sdk_config::TimeSource;
use dynafold_format::hex;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use super::hash::{hmac, sha256};
use super::vault::HeldCredentials;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature holds for: `eu-west-1/dynamodb/aws4_request`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SigningScope(String);

impl SigningScope {
    /// The scope of a service in a region.
    pub(crate) fn new(region: &str, service: &str) -> Self {
        Self(format!("{region}/{service}/aws4_request"))
    }

    /// Reads the scope out of the header that the SDK made.
    pub(super) fn of(authorization: &str) -> Option<Self> {
        let credential = authorization
            .strip_prefix(ALGORITHM)?
            .split([' ', ','])
            .find_map(|part| part.strip_prefix("Credential="))?;
        let (before, scope) = credential.split_at(credential.match_indices('/').rev().nth(2)?.0);
        // What is left begins with the access key and the day.
        before.contains('/').then(|| Self(scope[1..].to_owned()))
    }

    /// Whether the path of the URL is signed as it stands: S3 does not encode it once more.
    fn signs_plain_path(&self) -> bool {
        self.0.ends_with("/s3/aws4_request")
    }
}

/// Gives a request these headers, the date, a session's token, and the signature of all of them. Names are in lower case;
/// headers that the request has already are not signed. `payload`: the hash of the body.
pub(crate) fn sign(
    request: &mut HttpRequest,
    held: &HeldCredentials,
    scope: &SigningScope,
    headers: impl IntoIterator<Item = (&'static str, String)>,
    payload: &str,
    now: SystemTime,
) -> Result<(), HttpError> {
    let time = stamp(now);
    let mut signed: BTreeMap<&'static str, String> = headers.into_iter().collect();
    signed.insert("x-amz-date", time.clone());
    if let Some(token) = held.credentials.session_token() {
        signed.insert("x-amz-security-token", token.to_owned());
    }
    let names: Vec<&str> = signed.keys().copied().collect();
    let names = names.join(";");
    let lines = signed.iter();
    let lines = lines.map(|(name, value)| format!("{name}:{}\n", value.trim()));
    let lines: String = lines.collect();
    let method = request.method().to_owned();
    // Nothing else gives the parts of the URL.
    let uri = request.uri_mut();
    let query = uri.query().unwrap_or_default();
    let path = if scope.signs_plain_path() {
        uri.path().to_owned()
    } else {
        encoded(uri.path())
    };
    let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{payload}");
    let day = time.split('T').next().unwrap_or_default();
    let scope = &scope.0;
    let hash = hex(&sha256([canonical.as_bytes()]));
    let text = format!("{ALGORITHM}\n{time}\n{day}/{scope}\n{hash}");
    let signature = hex(&hmac(&held.signing_key(day, scope), text.as_bytes()));
    let access_key = held.credentials.access_key_id();
    let authorization = format!(
        "{ALGORITHM} Credential={access_key}/{day}/{scope}, SignedHeaders={names}, Signature={signature}"
    );
    signed.insert("authorization", authorization);
    let all = request.headers_mut();
    for (name, value) in signed {
        all.try_insert(name, value)?;
    }
    Ok(())
}

/// A path, encoded: all but letters, digits, `-._~` and the slashes.
pub(crate) fn encoded(path: &str) -> String {
    let byte = |byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(byte).collect()
}

/// Below this a refused signature is what it says, as in the SDK.
const SKEW: SignedDuration = SignedDuration::from_mins(4);

/// The computer's clock, corrected once an answer has shown that it is off. Clones share that; the SDK signs by one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    inner: Arc<ClockCorrection>,
}

#[derive(Debug, Default)]
struct ClockCorrection {
    /// Seconds that the service's clock is ahead.
    ahead: AtomicI64,
    /// The date of the last answer that was an error.
    error_date: Mutex<Option<String>>,
}

impl TimeSource for Clock {
    fn now(&self) -> SystemTime {
        Clock::now(self)
    }
}

impl Clock {
    /// The time at the service, as far as it is known.
    pub(crate) fn now(&self) -> SystemTime {
        let now = Timestamp::now();
        let there = now.checked_add(self.offset()).unwrap_or(now);
        SystemTime::from(there)
    }

    /// How far the service's clock is ahead.
    pub(crate) fn offset(&self) -> SignedDuration {
        SignedDuration::from_secs(self.inner.ahead.load(Ordering::Relaxed))
    }

    /// Takes the date of an answer that was an error.
    pub(crate) fn note_error_date(&self, date: Option<String>) {
        *self.inner.error_date.lock() = date;
    }

    /// Takes the service's time from the last answer that was an error, to a request that was signed with this offset.
    /// Says whether the request should be signed anew: its time was off by more than the service tolerates.
    pub(crate) fn correct(&self, offset: SignedDuration) -> bool {
        let date = self.inner.error_date.lock().clone();
        let Some(there) = date.as_deref().and_then(parse) else {
            return false;
        };
        let ahead = there.duration_since(Timestamp::now());
        if (ahead - offset).abs() < SKEW {
            return false;
        }
        self.inner.ahead.store(ahead.as_secs(), Ordering::Relaxed);
        let minutes = ahead.as_mins();
        tracing::warn!(
            minutes,
            "the computer's clock is off; requests are signed with the service's time"
        );
        true
    }
}

/// A time as requests carry it: `20261121T090618Z`.
pub(super) fn stamp(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Reads an HTTP date: `Sat, 21 Nov 2026 09:06:18 GMT`.
fn parse(date: &str) -> Option<Timestamp> {
    let zoned = jiff::fmt::rfc2822::parse(date).ok()?;
    Some(zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_times_written() {
        let time = parse("Sat, 21 Nov 2026 09:06:18 GMT").unwrap();
        assert_eq!(stamp(SystemTime::from(time)), "20261121T090618Z");
    }

    #[test]
    fn only_a_clock_that_is_far_off_is_corrected() {
        let clock = Clock::default();
        let date = |minutes: i64| {
            let time = Timestamp::now() + SignedDuration::from_mins(minutes);
            time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
        };
        let none = SignedDuration::ZERO;
        let correct = |offset: SignedDuration, date: Option<&str>| {
            clock.note_error_date(date.map(str::to_owned));
            clock.correct(offset)
        };
        assert!(!correct(none, None));
        assert!(!correct(none, Some("yesterday")));
        assert!(!correct(none, Some(&date(3))));
        assert!(correct(none, Some(&date(-10))));
        assert!((-601..=-599).contains(&clock.offset().as_secs()));
        // Once it is corrected, the same answer means something else.
        assert!(!correct(clock.offset(), Some(&date(-10))));
        // Another request was under way meanwhile: it is worth sending again.
        assert!(correct(none, Some(&date(-10))));
    }
}
