//! `redact` and `pseudonym`: masking for staging.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{ApplyError, Context, bytes, permute};
use crate::value::{Number, Time, TimeKind, Value};

/// What every redacted text becomes.
const MASK: &str = "REDACTED";
/// The alphabet of pseudonyms: base32 (RFC 4648) in lowercase.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Characters of a pseudonym: 130 bits, so that no two texts meet.
const PSEUDONYM_LENGTH: usize = 26;

/// The key of `pseudonym`. Never printed.
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

impl Secret {
    /// Takes a key of any length; `None` for an empty one.
    #[must_use]
    pub fn new(key: &[u8]) -> Option<Self> {
        if key.is_empty() {
            return None;
        }
        Hmac::new_from_slice(key).ok().map(Self)
    }

    /// Eight hex digits by which a later run tells whether it has the same key. Too few to find a
    /// key by, but for one of a handful.
    #[must_use]
    pub fn check(&self) -> String {
        let digest = self.digest(&[b"check"]);
        let first = digest.first_chunk().copied().unwrap_or_default();
        format!("{:08x}", u32::from_be_bytes(first))
    }

    /// HMAC-SHA256 of the parts, one after the other.
    pub(super) fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A fixed mask of the same type, which says nothing of the value but its type and precision.
pub(super) fn redact(value: &Value) -> Value {
    match value {
        Value::Null | Value::Unfit(_) => Value::Null,
        Value::Bool(_) => Value::Bool(false),
        Value::Number(_) => Value::Number(Number::from(0_i64)),
        Value::Text(_) => Value::Text(MASK.into()),
        Value::Time(time) => Value::Time(redact_time(time)),
        Value::Bytes(_) => Value::Bytes(Vec::new()),
        Value::List(_) => Value::List(Vec::new()),
        Value::Map(_) => Value::Map(Vec::new()),
        Value::Set(_) => Value::Set(Vec::new()),
    }
}

fn redact_time(time: &Time) -> Time {
    let (mut text, end) = match time.kind() {
        TimeKind::Date => ("1970-01-01".to_owned(), ""),
        TimeKind::TimeOfDay => ("00:00:00".to_owned(), ""),
        TimeKind::TimeOfDayWithOffset => ("00:00:00".to_owned(), "+00:00"),
        TimeKind::Timestamp => ("1970-01-01T00:00:00".to_owned(), ""),
        TimeKind::Instant => ("1970-01-01T00:00:00".to_owned(), "Z"),
    };
    if let Some((_, fraction)) = time.as_str().split_once('.') {
        text.push('.');
        text.extend(
            fraction
                .chars()
                .take_while(char::is_ascii_digit)
                .map(|_| '0'),
        );
    }
    text.push_str(end);
    Time::canonical(text.into(), time.kind())
}

/// A keyed stand-in for text: 26 characters, or a UUID for a UUID.
pub(super) fn pseudonym_of_text(text: &str, context: &Context) -> Result<Value, ApplyError> {
    let secret = context.secret.as_ref().ok_or(ApplyError::NoSecret)?;
    if bytes::is_uuid(text) {
        // Databases disagree on the case of one UUID.
        let digest = secret.digest(&[b"uuid", text.to_ascii_lowercase().as_bytes()]);
        let mut uuid: Vec<u8> = digest.into_iter().take(16).collect();
        for (at, byte) in uuid.iter_mut().enumerate() {
            match at {
                6 => *byte = 0x80 | (*byte & 0x0f),
                8 => *byte = 0x80 | (*byte & 0x3f),
                _ => {}
            }
        }
        return bytes::uuid_from_bytes(&uuid, false).map(|uuid| Value::Text(uuid.into()));
    }
    let digest = secret.digest(&[b"text", text.as_bytes()]);
    Ok(Value::Text(base32(&digest).into()))
}

/// A keyed stand-in for a whole number: another one with the same sign and number of digits.
pub(super) fn pseudonym_of_number(number: &Number, context: &Context) -> Result<Value, ApplyError> {
    let secret = context.secret.as_ref().ok_or(ApplyError::NoSecret)?;
    let (whole, fraction) = number.parts();
    if whole.len() > permute::MAX_DIGITS || !fraction.is_empty() {
        return Err(ApplyError::PseudonymNumber);
    }
    let magnitude = whole.parse().map_err(|_| ApplyError::PseudonymNumber)?;
    let other = permute::permute(secret, magnitude, number.is_negative());
    let sign = if number.is_negative() { "-" } else { "" };
    Number::parse(&format!("{sign}{other}"))
        .map(Value::Number)
        .map_err(|_| ApplyError::PseudonymNumber)
}

fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(PSEUDONYM_LENGTH);
    let mut bits = 0_u32;
    let mut count = 0;
    for byte in bytes {
        bits = (bits << 8 | u32::from(*byte)) & 0xfff;
        count += 8;
        while count >= 5 && text.len() < PSEUDONYM_LENGTH {
            count -= 5;
            let index = usize::try_from((bits >> count) & 31).unwrap_or_default();
            text.push(BASE32.get(index).copied().map_or('a', char::from));
        }
    }
    text
}
