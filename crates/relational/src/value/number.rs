//! Exact decimal numbers, in the form DynamoDB gives them back.

use std::cmp::Ordering;
use std::fmt;

use ecow::eco_format;

use super::{Text, UnfitReason};

/// Digits that DynamoDB keeps (limits.md 16).
const MAX_DIGITS: usize = 38;
/// The largest decimal exponent of the leading digit: 9.99…E+125.
const MAX_EXPONENT: i64 = 125;
/// Most bytes that DynamoDB counts for a number.
const MAX_BYTES: usize = 21;
/// The smallest decimal exponent of the leading digit: 1E-130.
const MIN_EXPONENT: i64 = -130;

/// A decimal number that DynamoDB can hold, as canonical text.
///
/// Canonical means: no exponent, no leading or trailing zeros, no plus sign, `0` for every zero.
/// Two equal numbers therefore have equal text, and the text is what DynamoDB answers with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(Text);

/// Why a text is not a [`Number`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// When the text is not a decimal literal.
    #[error("not a decimal number")]
    Malformed,
    /// When more than 38 significant digits are left after trimming zeros.
    #[error("more than 38 significant digits")]
    TooManyDigits,
    /// When the number is not zero and outside 1E-130 to 9.99…E+125.
    #[error("outside 1E-130 to 9.99E+125")]
    Magnitude,
}

impl From<NumberError> for UnfitReason {
    fn from(error: NumberError) -> Self {
        match error {
            NumberError::Malformed => Self::NotANumber,
            NumberError::TooManyDigits => Self::TooManyDigits,
            NumberError::Magnitude => Self::Magnitude,
        }
    }
}

impl Number {
    /// Reads a decimal literal: optional sign, digits with at most one point, optional exponent.
    ///
    /// # Errors
    ///
    /// [`NumberError`] when the text is no decimal literal or DynamoDB could not hold it exactly.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        if let Some(canonical) = without_zeros(text) {
            return Ok(Self(canonical.into()));
        }
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction)
        {
            return Err(NumberError::Malformed);
        }
        let mut digits = String::with_capacity(whole.len() + fraction.len());
        digits.push_str(whole);
        digits.push_str(fraction);
        let leading = digits.len() - digits.trim_start_matches('0').len();
        let significant = digits.trim_start_matches('0').trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Self("0".into()));
        }
        // Position of the decimal point, counted from the first significant digit.
        let point = length(whole) - length_of(leading) + exponent;
        Self::assemble(negative, significant, point)
    }

    /// Writes a finite float as the shortest decimal that reads back to the same float.
    ///
    /// # Errors
    ///
    /// [`NumberError::Magnitude`] when DynamoDB has no place for it; `None` inputs do not exist:
    /// callers sort out NaN and infinities first, and get [`NumberError::Malformed`] if they did not.
    pub fn from_f64(float: f64) -> Result<Self, NumberError> {
        Self::parse(&format!("{float:e}"))
    }

    /// As [`Number::from_f64`] for a single-precision float.
    ///
    /// # Errors
    ///
    /// As [`Number::from_f64`].
    pub fn from_f32(float: f32) -> Result<Self, NumberError> {
        Self::parse(&format!("{float:e}"))
    }

    fn assemble(negative: bool, significant: &str, point: i64) -> Result<Self, NumberError> {
        if significant.len() > MAX_DIGITS {
            return Err(NumberError::TooManyDigits);
        }
        if !(MIN_EXPONENT..=MAX_EXPONENT).contains(&(point - 1)) {
            return Err(NumberError::Magnitude);
        }
        let mut text = Text::with_capacity(significant.len() + 4);
        if negative {
            text.push('-');
        }
        let digits = length(significant);
        if point <= 0 {
            text.push_str("0.");
            (point..0).for_each(|_| text.push('0'));
            text.push_str(significant);
        } else if point >= digits {
            text.push_str(significant);
            (digits..point).for_each(|_| text.push('0'));
        } else {
            let at = usize::try_from(point).map_err(|_| NumberError::Magnitude)?;
            let (whole, fraction) = significant.split_at(at);
            text.push_str(whole);
            text.push('.');
            text.push_str(fraction);
        }
        Ok(Self(text))
    }

    /// Whether a text is a number as people and databases write it: `007`, `+7` and `7e0` are other texts.
    pub fn is_plain(text: &str) -> bool {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        digits(whole) && digits(fraction) && (whole == "0" || !whole.starts_with('0'))
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        self.0.starts_with('-')
    }

    /// The digits before the point and after it, without sign: `-12.5` gives `("12", "5")`.
    pub fn parts(&self) -> (&str, &str) {
        let unsigned = self.0.strip_prefix('-').unwrap_or(&self.0);
        // For so few bytes it is faster than `split_once`.
        match unsigned.bytes().position(|byte| byte == b'.') {
            Some(at) => {
                let (whole, fraction) = unsigned.split_at(at);
                (whole, fraction.get(1..).unwrap_or_default())
            }
            None => (unsigned, ""),
        }
    }

    /// The number as an integer, if it is one of that width.
    pub fn to_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Bytes that DynamoDB counts for this number: one, one for each pair of digits, one if it is
    /// negative, and never more than 21. Pairs are counted from the point in both directions, and
    /// those of zeros at either end are left out: 1200 is one pair and 120 is two.
    pub fn size(&self) -> usize {
        let (whole, fraction) = self.parts();
        let zeros = match (whole, fraction) {
            ("0", "") => return 1,
            ("0", fraction) => fraction.len() - fraction.trim_start_matches('0').len(),
            (whole, "") => whole.len() - whole.trim_end_matches('0').len(),
            _ => 0,
        };
        let whole = if whole == "0" { "" } else { whole };
        let pairs = whole.len().div_ceil(2) + fraction.len().div_ceil(2) - zeros / 2;
        (1 + pairs + usize::from(self.is_negative())).min(MAX_BYTES)
    }
}

/// The common case, nearly without work: a number that is canonical once the zeros at the end of its
/// fraction are left out. `None` where there is more to do.
fn without_zeros(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let first = usize::from(bytes.first() == Some(&b'-'));
    let mut point = None;
    let mut end = first;
    for (at, byte) in bytes.iter().enumerate().skip(first) {
        match byte {
            b'1'..=b'9' => end = at + 1,
            b'0' if point.is_none() => end = at + 1,
            b'0' => {}
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let whole = bytes.get(first..point.unwrap_or(bytes.len()))?;
    let zero = whole == b"0";
    let canonical = match whole.first()? {
        b'0' => zero && (first == 0 || point.is_some_and(|at| end > at)),
        _ => true,
    };
    // A point with nothing behind it is for the whole reading to judge.
    let fits = bytes.len() <= MAX_DIGITS && point != Some(bytes.len() - 1);
    (canonical && fits).then(|| text.get(..end)).flatten()
}

/// Reads an exponent. One that is beyond every magnitude becomes the last that still adds up: only
/// the mantissa tells whether the number is zero, too large or no number at all.
fn parse_exponent(text: &str) -> Result<i64, NumberError> {
    const FAR: i64 = 1 << 40;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NumberError::Malformed);
    }
    let beyond = if text.starts_with('-') { -FAR } else { FAR };
    let exponent = text.parse::<i64>().unwrap_or(beyond);
    Ok(exponent.clamp(-FAR, FAR))
}

fn length(text: &str) -> i64 {
    length_of(text.len())
}

fn length_of(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(eco_format!("{value}"))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(eco_format!("{value}"))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let magnitude = |a: &Self, b: &Self| {
            let ((aw, af), (bw, bf)) = (a.parts(), b.parts());
            aw.len()
                .cmp(&bw.len())
                .then_with(|| aw.cmp(bw))
                .then_with(|| af.cmp(bf))
        };
        match (self.is_negative(), other.is_negative()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => magnitude(self, other),
            (true, true) => magnitude(other, self),
        }
    }
}

#[cfg(test)]
mod tests;
