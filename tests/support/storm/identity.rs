//! Credentials that expire, and a clock that is wrong.

use std::collections::HashMap;
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::answer::ServiceAnswer;
use super::http::Request;

const STAMP: &str = "%Y%m%dT%H%M%SZ";
/// How far a signature's time may be off.
const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

/// When each access key was first used.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    first_used: HashMap<String, Duration>,
}

impl Identities {
    /// Refuses an access key, with its token, that is older than allowed.
    pub(crate) fn check(
        &mut self,
        request: &Request,
        now: Duration,
        seconds: f64,
    ) -> Result<(), ServiceAnswer> {
        let signed = request.header("authorization").unwrap_or_default();
        let after = signed
            .split_once("Credential=")
            .map_or("", |(_, rest)| rest);
        let key = after.split('/').next().unwrap_or_default();
        let token = request.header("x-amz-security-token").unwrap_or_default();
        let first = self.first_used.entry(format!("{key} {token}"));
        let age = now.saturating_sub(*first.or_insert(now));
        if age.as_secs_f64() < seconds {
            return Ok(());
        }
        let message = "The security token included in the request is expired";
        let mut answer = ServiceAnswer::error(400, "ExpiredTokenException", message);
        answer.body = answer.body.replace(
            "com.amazonaws.dynamodb.v20120810",
            "com.amazon.coral.service",
        );
        Err(answer)
    }
}

/// The time by a clock that is so far ahead.
pub(crate) fn clock(skew_seconds: i64) -> Timestamp {
    let now = Timestamp::now();
    now.checked_add(SignedDuration::from_secs(skew_seconds))
        .unwrap_or(now)
}

/// The time as a `Date` header tells it.
pub(crate) fn date(clock: Timestamp) -> String {
    clock.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Refuses a signature that is too old or too new by the clock.
pub(crate) fn check_clock(request: &Request, clock: Timestamp) -> Result<(), ServiceAnswer> {
    let stamp = request.header("x-amz-date").unwrap_or_default();
    let Some(signed) = read(stamp) else {
        let message = "Date in the signature could not be read";
        return Err(ServiceAnswer::error(
            400,
            "IncompleteSignatureException",
            message,
        ));
    };
    let (oldest, newest) = (clock - TOLERANCE, clock + TOLERANCE);
    let now = clock.strftime(STAMP);
    let message = if signed < oldest {
        let oldest = oldest.strftime(STAMP);
        format!("Signature expired: {stamp} is now earlier than {oldest} ({now} - 5 min.)")
    } else if signed > newest {
        let newest = newest.strftime(STAMP);
        format!("Signature not yet current: {stamp} is still later than {newest} ({now} + 5 min.)")
    } else {
        return Ok(());
    };
    let mut answer = ServiceAnswer::error(400, "InvalidSignatureException", &message);
    answer.body = answer.body.replace(
        "com.amazonaws.dynamodb.v20120810",
        "com.amazon.coral.service",
    );
    Err(answer)
}

fn read(stamp: &str) -> Option<Timestamp> {
    let time = DateTime::strptime(STAMP, stamp).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}
