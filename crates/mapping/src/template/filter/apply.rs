//! Applies a filter to a value.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynafold_format::hex;
use dynafold_relational::value::{
    Number, Text, Time, TimeKind, Unfit, UnfitReason, Value, parse_document, write_document,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use uuid::{Builder, Uuid};

use super::{ApplyError, Context, Filter, canonical, time};

impl Filter {
    /// Applies the filter.
    ///
    /// # Errors
    ///
    /// [`ApplyError`] when the value does not pass; the row is to be rejected.
    pub fn apply(&self, value: Value, context: &Context) -> Result<Value, ApplyError> {
        self.apply_to(Cow::Owned(value), context)
            .map(Cow::into_owned)
    }

    /// As [`Filter::apply`], without a copy where the value is borrowed and passes unchanged.
    ///
    /// # Errors
    ///
    /// As [`Filter::apply`].
    pub fn apply_to<'v>(
        &'v self,
        value: Cow<'v, Value>,
        context: &Context,
    ) -> Result<Cow<'v, Value>, ApplyError> {
        match (self, value.as_ref()) {
            (Self::Default(x), Value::Null | Value::Unfit(_)) => return Ok(Cow::Borrowed(x)),
            (Self::Default(_), _) => return Ok(value),
            (Self::Present { no, .. }, Value::Null) => return Ok(Cow::Borrowed(no)),
            (Self::Present { yes, .. }, _) => return Ok(Cow::Borrowed(yes)),
            (_, Value::Null) => return Ok(value),
            (_, Value::Unfit(unfit)) => return self.mend_unfit(unfit).map(Cow::Owned),
            (Self::Map { codes, other }, given) => {
                let canonical = canonical(given).ok_or_else(|| self.refuse(given))?;
                let code = codes.iter().find(|(key, _)| key == canonical);
                return code
                    .map(|(_, code)| code)
                    .or(other.as_ref())
                    .map(Cow::Borrowed)
                    .ok_or(ApplyError::Unmapped);
            }
            (Self::String, Value::Text(_))
            | (Self::Number, Value::Number(_))
            | (Self::Bool, Value::Bool(_))
            | (Self::Binary, Value::Bytes(_))
            | (Self::Set, Value::Set(_)) => return Ok(value),
            _ => {}
        }
        let given = value.as_ref();
        let made = match self {
            Self::Pad { digits, scale } => Value::Text(pad(self.number(given)?, *digits, *scale)?),
            Self::Desc { digits } => Value::Text(desc(self.number(given)?, *digits)?),
            Self::Ordered => Value::Text(encode(self.number(given)?).into()),
            Self::Iso => Value::Text(time::iso(self.time(given)?, context)?.into()),
            Self::Date => Value::Time(time::date(self.time(given)?, context)?),
            Self::Epoch => Value::Number(time::epoch(self.time(given)?, context)?),
            Self::EpochMs => Value::Number(time::epoch_ms(self.time(given)?, context)?),
            Self::Format(pattern) => Value::Text(pattern.format(self.time(given)?)?.into()),
            Self::Time(pattern) => Value::Time(pattern.parse(self.text(given)?)?),
            Self::Plus(period) => Value::Time(period.add_to(self.time(given)?)?),
            Self::Upper => Value::Text(self.text(given)?.to_uppercase().into()),
            Self::Lower => Value::Text(self.text(given)?.to_lowercase().into()),
            Self::Trim => Value::Text(self.text(given)?.trim().into()),
            Self::Truncate(length) => Value::Text(truncate(self.text(given)?, *length).into()),
            Self::Replace { from, to } => Value::Text(self.text(given)?.replace(from, to).into()),
            Self::Shard(shards) => {
                let canonical = canonical(given).ok_or_else(|| self.refuse(given))?;
                Value::Text(shard(canonical, *shards).into())
            }
            Self::Hex => Value::Text(hex(self.bytes(given)?).into()),
            Self::Base64 => Value::Text(STANDARD.encode(self.bytes(given)?).into()),
            Self::Uuid { swap } => Value::Text(match given {
                Value::Text(text) => uuid_from_text(text)?.into(),
                other => uuid_from_bytes(self.bytes(other)?, *swap)?.into(),
            }),
            Self::String => string(given).ok_or_else(|| self.refuse(given))?,
            Self::Number => match given {
                Value::Bool(truth) => Value::Number(Number::from(i64::from(*truth))),
                other => number(self.text(other)?)?,
            },
            Self::Bool => match given {
                Value::Number(number) => truth(number.as_str())?,
                other => truth(self.text(other)?)?,
            },
            Self::Binary => Value::Bytes(self.text(given)?.as_bytes().to_vec()),
            Self::Json => match given {
                Value::Text(text) => document(text)?,
                Value::Number(_) | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
                    return Ok(value);
                }
                other => return Err(self.refuse(other)),
            },
            Self::Set => set(value.into_owned())?,
            Self::Redact => redact(given),
            Self::Pseudonym => match given {
                Value::Text(text) => pseudonym_of_text(text, context)?,
                Value::Number(number) => pseudonym_of_number(number, context)?,
                other => return Err(self.refuse(other)),
            },
            // Answered above, whatever the value.
            Self::Default(_) | Self::Present { .. } | Self::Map { .. } => return Ok(value),
        };
        Ok(Cow::Owned(made))
    }

    /// What the conversions make of a value that does not fit its column's type.
    fn mend_unfit(&self, unfit: &Unfit) -> Result<Value, ApplyError> {
        let refused = |_| ApplyError::Unfit(unfit.why);
        if unfit.why == UnfitReason::NotUtf8 {
            // The text at hand has lost what was no text.
            return Err(ApplyError::Unfit(unfit.why));
        }
        match self {
            Self::String => Ok(Value::Text(unfit.text.as_str().into())),
            Self::Number => number(&unfit.text).map_err(refused),
            Self::Bool => truth(&unfit.text).map_err(refused),
            Self::Binary => Ok(Value::Bytes(unfit.text.as_bytes().to_vec())),
            Self::Json => document(&unfit.text).map_err(refused),
            _ => Err(ApplyError::Unfit(unfit.why)),
        }
    }

    fn refuse(&self, value: &Value) -> ApplyError {
        ApplyError::Kind {
            filter: self.name(),
            takes: self.takes(),
            given: value.kind(),
        }
    }

    fn number<'v>(&self, value: &'v Value) -> Result<&'v Number, ApplyError> {
        match value {
            Value::Number(number) => Ok(number),
            other => Err(self.refuse(other)),
        }
    }

    fn time<'v>(&self, value: &'v Value) -> Result<&'v Time, ApplyError> {
        match value {
            Value::Time(time) => Ok(time),
            other => Err(self.refuse(other)),
        }
    }

    fn text<'v>(&self, value: &'v Value) -> Result<&'v str, ApplyError> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(self.refuse(other)),
        }
    }

    fn bytes<'v>(&self, value: &'v Value) -> Result<&'v [u8], ApplyError> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            other => Err(self.refuse(other)),
        }
    }
}

// `uuid`: bytes as text.

/// Writes 16 bytes as a UUID. With `swap` they are in the order of MySQL's `UUID_TO_BIN(…, 1)`,
/// which moves the high part of the time to the front.
pub(super) fn uuid_from_bytes(bytes: &[u8], swap: bool) -> Result<String, ApplyError> {
    let mut bytes: [u8; 16] = bytes.try_into().map_err(|_| ApplyError::NotAUuid)?;
    if swap {
        // time_hi, time_mid, time_low: put back into the order that a UUID prints them in.
        let (time, _) = bytes.split_at_mut(8);
        time.rotate_left(4);
        let (_, high_and_mid) = time.split_at_mut(4);
        high_and_mid.rotate_left(2);
    }
    Ok(Uuid::from_bytes(bytes).to_string())
}

/// Writes a UUID in lowercase, with hyphens, from text with or without them.
pub(super) fn uuid_from_text(text: &str) -> Result<String, ApplyError> {
    let read = Uuid::try_parse(text)
        .ok()
        .filter(|_| matches!(text.len(), 32 | 36));
    read.map(|uuid| uuid.to_string())
        .ok_or(ApplyError::NotAUuid)
}

/// Whether a text has the form of a UUID, 8-4-4-4-12.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36 && Uuid::try_parse(text).is_ok()
}

// `string`, `number`, `bool`, `json` and `set`: the DynamoDB type that is wanted.

/// The canonical text of anything but binary.
pub(super) fn string(value: &Value) -> Option<Value> {
    match value {
        Value::List(_) | Value::Map(_) | Value::Set(_) => {
            Some(Value::Text(write_document(value).into()))
        }
        scalar => canonical(scalar).map(|text| Value::Text(text.into())),
    }
}

pub(super) fn number(text: &str) -> Result<Value, ApplyError> {
    Number::parse(text)
        .map(Value::Number)
        .map_err(ApplyError::NotANumber)
}

pub(super) fn truth(text: &str) -> Result<Value, ApplyError> {
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(&["true", "t", "yes", "1"]) {
        Ok(Value::Bool(true))
    } else if is(&["false", "f", "no", "0"]) {
        Ok(Value::Bool(false))
    } else {
        Err(ApplyError::NotABoolean)
    }
}

pub(super) fn document(text: &str) -> Result<Value, ApplyError> {
    parse_document(text).map_err(|error| ApplyError::NotJson(error.to_string()))
}

/// A list as a set, or a scalar as a set of one. That the members are of one kind and differ is
/// checked where the attribute is made.
pub(super) fn set(value: Value) -> Result<Value, ApplyError> {
    let members = match value {
        Value::List(members) => members,
        scalar => vec![scalar],
    };
    for member in &members {
        match member {
            Value::Number(_) | Value::Text(_) | Value::Time(_) | Value::Bytes(_) => {}
            Value::Null => return Err(ApplyError::NullMember),
            Value::Unfit(unfit) => return Err(ApplyError::Unfit(unfit.why)),
            Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Set(_) => {
                return Err(ApplyError::SetMember {
                    given: member.kind(),
                });
            }
        }
    }
    Ok(Value::Set(members))
}

// `pad` and `desc`: numbers as digits of one width, so that text order is number order.

/// Pads to `digits` before the point and `scale` after it; without a scale there is no point.
pub(super) fn pad(number: &Number, digits: usize, scale: usize) -> Result<Text, ApplyError> {
    let (whole, fraction) = fit(number, "pad", digits, scale)?;
    let mut text = Text::with_capacity(digits + 1 + scale);
    (whole.len()..digits).for_each(|_| text.push('0'));
    text.push_str(whole);
    if scale > 0 {
        text.push('.');
        text.push_str(fraction);
        (fraction.len()..scale).for_each(|_| text.push('0'));
    }
    Ok(text)
}

/// Pads the complement: 10^n - 1 - number, which is each digit's complement to nine.
pub(super) fn desc(number: &Number, digits: usize) -> Result<Text, ApplyError> {
    let (whole, _) = fit(number, "desc", digits, 0)?;
    let mut text = Text::with_capacity(digits);
    (whole.len()..digits).for_each(|_| text.push('9'));
    text.extend(whole.bytes().map(|digit| char::from(b'9' - (digit - b'0'))));
    Ok(text)
}

fn fit<'n>(
    number: &'n Number,
    filter: &'static str,
    digits: usize,
    scale: usize,
) -> Result<(&'n str, &'n str), ApplyError> {
    if number.is_negative() {
        return Err(ApplyError::Negative { filter });
    }
    let (whole, fraction) = number.parts();
    if whole.len() > digits {
        return Err(ApplyError::TooWide { filter, digits });
    }
    if fraction.len() > scale {
        return Err(ApplyError::TooFine { filter, scale });
    }
    Ok((whole, fraction))
}

// `redact` and `pseudonym`: masking for staging.

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
    pub fn new(key: &[u8]) -> Option<Self> {
        if key.is_empty() {
            return None;
        }
        Hmac::new_from_slice(key).ok().map(Self)
    }

    /// Eight hex digits by which a later run tells whether it has the same key. Too few to find a
    /// key by, but for one of a handful.
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
    if is_uuid(text) {
        // Databases disagree on the case of one UUID.
        let digest = secret.digest(&[b"uuid", text.to_ascii_lowercase().as_bytes()]);
        let bytes = digest.first_chunk().copied().unwrap_or_default();
        let uuid = Builder::from_custom_bytes(bytes).into_uuid().to_string();
        return Ok(Value::Text(uuid.into()));
    }
    let digest = secret.digest(&[b"text", text.as_bytes()]);
    Ok(Value::Text(base32(&digest).into()))
}

/// A keyed stand-in for a whole number: another one with the same sign and number of digits.
pub(super) fn pseudonym_of_number(number: &Number, context: &Context) -> Result<Value, ApplyError> {
    let secret = context.secret.as_ref().ok_or(ApplyError::NoSecret)?;
    let (whole, fraction) = number.parts();
    if whole.len() > MAX_DIGITS || !fraction.is_empty() {
        return Err(ApplyError::PseudonymNumber);
    }
    let magnitude = whole.parse().map_err(|_| ApplyError::PseudonymNumber)?;
    let other = permute(secret, magnitude, number.is_negative());
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

// `ordered`: any number as text whose byte order is the number's order.
//
// | number | text |
// | --- | --- |
// | negative | `n`, 499 - exponent in three digits, the digits' complements to nine, `~` |
// | zero | `o` |
// | positive | `p`, 500 + exponent in three digits, the digits, `.` |
//
// The exponent is that of the first digit (12.5 is 1.25 · 10^1), between -130 and 125, and the
// digits are those without zeros at either end: 12.5 is `p501125.`, -12.5 is `n498874~`. The last
// character sorts before every digit where more digits mean more, and after every digit where they
// mean less; it also ends the number, so that whatever follows in a key does not disturb the order
// and the number can be read back.

/// Writes a number as text whose byte order is the number's order.
pub(super) fn encode(number: &Number) -> String {
    let (whole, fraction) = number.parts();
    let whole = whole.trim_start_matches('0');
    let leading_zeros = fraction.len() - fraction.trim_start_matches('0').len();
    // 500 + the exponent of the first digit; lengths are at most 168.
    let exponent = if whole.is_empty() {
        499_usize.saturating_sub(leading_zeros)
    } else {
        499 + whole.len()
    };
    let digits = whole.bytes().chain(fraction.bytes());
    let mut digits: Vec<u8> = digits.skip_while(|digit| *digit == b'0').collect();
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    if digits.is_empty() {
        return "o".to_owned();
    }
    let mut text = String::with_capacity(digits.len() + 5);
    if number.is_negative() {
        text.push('n');
        text.push_str(&format!("{:03}", 999 - exponent));
        text.extend(digits.iter().map(|d| char::from(b'9' - (d - b'0'))));
        text.push('~');
    } else {
        text.push('p');
        text.push_str(&format!("{exponent:03}"));
        text.extend(digits.iter().map(|d| char::from(*d)));
        text.push('.');
    }
    text
}

// A keyed permutation over the whole numbers of one sign and one number of digits.
//
// A balanced Feistel network permutes the numbers of `2 · half` bits; a result outside the wanted
// range is permuted again until it lands inside (cycle walking), which keeps the whole a
// permutation of that range. The range of bits is less than eight times the range of numbers, so
// that a few rounds of walking are enough. Two numbers therefore never get one stand-in, and keys
// made of stand-ins are as unique as those made of the numbers.
//
// A permutation of few numbers hides little: of ten one-digit numbers each stand-in is one of ten.

/// Most digits of a number that is permuted: those that DynamoDB holds.
pub(super) const MAX_DIGITS: usize = 38;
/// Rounds of the network; ten is what FF1 (NIST SP 800-38G) uses.
const ROUNDS: u8 = 10;

/// The stand-in for a number of at most [`MAX_DIGITS`] digits; the sign is kept by the caller.
pub(super) fn permute(secret: &Secret, magnitude: u128, negative: bool) -> u128 {
    let (least, size) = range(magnitude, negative);
    let bits = u128::BITS - (size - 1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let domain = [
        u8::from(negative),
        magnitude
            .checked_ilog10()
            .map_or(0, |log| u8::try_from(log).unwrap_or(u8::MAX)),
    ];
    let mut index = magnitude - least;
    loop {
        index = network(secret, domain, half, index);
        if index < size {
            return least + index;
        }
    }
}

/// The least number with as many digits, and how many there are. Zero counts among the one-digit
/// numbers, and has no negative.
fn range(magnitude: u128, negative: bool) -> (u128, u128) {
    let least = match magnitude.checked_ilog10() {
        None | Some(0) => u128::from(negative),
        Some(log) => 10_u128.pow(log),
    };
    let end = 10_u128.pow(magnitude.checked_ilog10().unwrap_or(0) + 1);
    (least, end - least)
}

fn network(secret: &Secret, domain: [u8; 2], half: u32, index: u128) -> u128 {
    let mask = (1_u128 << half) - 1;
    let (mut left, mut right) = (index >> half, index & mask);
    for round in 0..ROUNDS {
        let digest = secret.digest(&[b"number", &domain, &[round], &right.to_be_bytes()]);
        let noise = digest
            .iter()
            .take(16)
            .fold(0_u128, |noise, byte| noise << 8 | u128::from(*byte));
        (left, right) = (right, left ^ (noise & mask));
    }
    left << half | right
}

// Filters on text.

/// The first `length` characters (Unicode scalar values, not bytes and not graphemes).
pub(super) fn truncate(text: &str, length: usize) -> &str {
    let end = text.char_indices().nth(length).map_or(text.len(), |c| c.0);
    text.get(..end).unwrap_or(text)
}

/// crc32 (IEEE, as zlib computes it) of the text, modulo `shards`, in the width of `shards - 1`.
pub(super) fn shard(text: &str, shards: u32) -> String {
    numbered(crc32fast::hash(text.as_bytes()) % shards.max(1), shards)
}

/// The text of a shard's number, padded to the width of the last one's.
pub(super) fn numbered(shard: u32, shards: u32) -> String {
    let width = shards.saturating_sub(1).to_string().len();
    format!("{shard:0width$}")
}
