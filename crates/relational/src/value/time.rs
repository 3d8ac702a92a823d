//! Dates and times as canonical ISO 8601 text.
//!
//! A time always carries the number of fractional digits that its column declares, so that text
//! order is time order. Points in time are in UTC and end in `Z`; times without a zone keep none.

use std::fmt;

use super::{Text, UnfitReason};

/// What a [`Time`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeKind {
    /// `2026-01-31`
    Date,
    /// `14:05:00`, and `24:00:00`, which PostgreSQL allows.
    TimeOfDay,
    /// `14:05:00+09:00`
    TimeOfDayWithOffset,
    /// `2026-01-31T14:05:00`, no zone.
    Timestamp,
    /// `2026-01-31T14:05:00Z`, a point in time.
    Instant,
}

/// A date or time in canonical text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Time {
    text: Text,
    kind: TimeKind,
}

/// Why a text is not a [`Time`] of the kind asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// When the text does not have the form of a date or time.
    #[error("not a date or time")]
    Malformed,
    /// When year, month or day is zero, as MySQL allows.
    #[error("a zero date")]
    Zero,
    /// When the date is before year 1, after 9999, or infinite.
    #[error("outside the years 0001 to 9999")]
    Range,
}

impl From<TimeError> for UnfitReason {
    fn from(error: TimeError) -> Self {
        match error {
            TimeError::Malformed => Self::Unreadable,
            TimeError::Zero => Self::ZeroDate,
            TimeError::Range => Self::DateRange,
        }
    }
}

impl Time {
    /// Reads what a database prints (`2026-01-31 14:05:00.12+00`, `T` or a space between), with at least `digits` digits of
    /// the fraction: zeros are added, and beyond them only zeros are cut.
    ///
    /// A [`TimeKind::Instant`] must come in UTC (`Z`, `+00`, `+00:00` or no offset): sources set
    /// their session's time zone so.
    ///
    /// # Errors
    ///
    /// [`TimeError`] when the text is malformed, a zero date, or out of range.
    pub fn from_sql(text: &str, kind: TimeKind, digits: usize) -> Result<Self, TimeError> {
        let text = text.trim();
        let unsigned = text.trim_start_matches(['-', '+']);
        if unsigned.eq_ignore_ascii_case("infinity") || text.ends_with(" BC") {
            return Err(TimeError::Range);
        }
        let mut out = Text::with_capacity(32);
        match kind {
            TimeKind::Date => push_date(&mut out, text)?,
            TimeKind::TimeOfDay => push_clock(&mut out, text, digits)?,
            TimeKind::TimeOfDayWithOffset => {
                let (clock, offset) = split_offset(text).ok_or(TimeError::Malformed)?;
                push_clock(&mut out, clock, digits)?;
                push_offset(&mut out, offset)?;
            }
            TimeKind::Timestamp | TimeKind::Instant => {
                let (date, clock) =
                    split(text, |byte| matches!(byte, b' ' | b'T')).unwrap_or((text, "00:00:00"));
                push_date(&mut out, date)?;
                out.push('T');
                let clock = match split_offset(clock) {
                    None => clock,
                    Some((clock, "Z" | "+00" | "+00:00" | "-00" | "-00:00"))
                        if kind == TimeKind::Instant =>
                    {
                        clock
                    }
                    Some(_) => return Err(TimeError::Malformed),
                };
                push_clock(&mut out, clock, digits)?;
                if kind == TimeKind::Instant {
                    out.push('Z');
                }
            }
        }
        Ok(Self { text: out, kind })
    }

    /// Takes text that is canonical already: what a filter has formatted itself.
    pub fn canonical(text: Text, kind: TimeKind) -> Self {
        Self { text, kind }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The canonical text, to be shared.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// What this time says.
    pub fn kind(&self) -> TimeKind {
        self.kind
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn push_date(out: &mut Text, text: &str) -> Result<(), TimeError> {
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes()
        && digits(&[*y1, *y2, *y3, *y4, *m1, *m2, *d1, *d2])
    {
        let zero = [*y1, *y2, *y3, *y4] == *b"0000" || [*m1, *m2] == *b"00" || [*d1, *d2] == *b"00";
        if zero {
            return Err(TimeError::Zero);
        }
        out.push_str(text);
        return Ok(());
    }
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        [year, _, _] if year.len() > 4 && parts.iter().all(|part| is_digits(part)) => {
            Err(TimeError::Range)
        }
        _ => Err(TimeError::Malformed),
    }
}

fn push_clock(out: &mut Text, text: &str, digits: usize) -> Result<(), TimeError> {
    let (clock, fraction) = split(text, |byte| byte == b'.').unwrap_or((text, ""));
    if !fraction.is_empty() && !is_digits(fraction) {
        return Err(TimeError::Malformed);
    }
    let digit = u8::is_ascii_digit;
    match clock.as_bytes() {
        [h1, h2, b':', m1, m2, b':', s1, s2] if [h1, h2, m1, m2, s1, s2].into_iter().all(digit) => {
            out.push_str(clock);
        }
        [h1, h2, b':', m1, m2] if [h1, h2, m1, m2].into_iter().all(digit) => {
            out.push_str(clock);
            out.push_str(":00");
        }
        _ => return Err(TimeError::Malformed),
    }
    let kept = fraction.trim_end_matches('0').len().max(digits);
    if kept > 0 {
        out.push('.');
        let given = fraction.get(..kept.min(fraction.len())).unwrap_or_default();
        out.push_str(given);
        (given.len()..kept).for_each(|_| out.push('0'));
    }
    Ok(())
}

fn push_offset(out: &mut Text, text: &str) -> Result<(), TimeError> {
    if text == "Z" {
        out.push('Z');
        return Ok(());
    }
    let digits = text.get(1..).unwrap_or_default();
    if !digits.split(':').all(is_digits) {
        return Err(TimeError::Malformed);
    }
    out.push_str(text);
    if !digits.contains(':') {
        out.push_str(":00");
    }
    Ok(())
}

/// What stands before and after the first of some ASCII characters.
fn split(text: &str, is: impl Fn(u8) -> bool) -> Option<(&str, &str)> {
    let at = text.bytes().position(is)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// A time of day, and the offset that stands behind it.
fn split_offset(text: &str) -> Option<(&str, &str)> {
    let mut bytes = text.bytes();
    let at = bytes.position(|byte| matches!(byte, b'+' | b'-' | b'Z'))?;
    Some(text.split_at(at))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, kind: TimeKind, digits: usize) -> Result<String, TimeError> {
        Time::from_sql(text, kind, digits).map(|time| time.text.to_string())
    }

    #[test]
    fn fractions_come_to_the_declared_digits() {
        let instant = |text, digits| read(text, TimeKind::Instant, digits);
        assert_eq!(
            instant("1969-12-31 23:59:59.1+00", 6).as_deref(),
            Ok("1969-12-31T23:59:59.100000Z")
        );
        assert_eq!(
            instant("2026-01-31 14:05:00", 0).as_deref(),
            Ok("2026-01-31T14:05:00Z")
        );
        assert_eq!(
            read("2026-01-31 14:05", TimeKind::Timestamp, 3).as_deref(),
            Ok("2026-01-31T14:05:00.000")
        );
        assert_eq!(
            read("24:00:00", TimeKind::TimeOfDay, 0).as_deref(),
            Ok("24:00:00")
        );
        assert_eq!(
            read("14:05:00+09", TimeKind::TimeOfDayWithOffset, 0).as_deref(),
            Ok("14:05:00+09:00")
        );
    }

    #[test]
    fn digits_beyond_the_declared_ones_are_never_cut() {
        assert_eq!(
            read("14:05:00.125", TimeKind::TimeOfDay, 0).as_deref(),
            Ok("14:05:00.125")
        );
    }

    #[test]
    fn what_is_no_time_of_day_is_refused() {
        for text in [
            "",
            "14",
            "14:",
            "14:05:",
            "1:05:00",
            "14:5",
            "14:05:0",
            "14:05:000",
            "838:59:59",
            "-14:05:00",
            "14:05:00.x",
            "14:05:00:00",
            "14-05-00",
            "1\u{664}:05:00",
        ] {
            let read = read(text, TimeKind::TimeOfDay, 0);
            assert_eq!(read, Err(TimeError::Malformed), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused_with_its_reason() {
        use TimeError::{Malformed, Range, Zero};
        for (text, error) in [
            ("0000-00-00", Zero),
            ("2020-00-10", Zero),
            ("infinity", Range),
            ("-infinity", Range),
            ("0044-03-15 BC", Range),
            ("10000-01-01", Range),
            ("yesterday", Malformed),
            ("2020-1-1", Malformed),
            ("0000-1-1", Malformed),
            ("2020-01-01x", Malformed),
            ("2020-0a-01", Malformed),
            ("2020-\u{661}-01", Malformed),
            ("", Malformed),
        ] {
            assert_eq!(read(text, TimeKind::Date, 0), Err(error), "{text}");
        }
        assert_eq!(
            read("2020-01-01 10:00:00+09", TimeKind::Instant, 0),
            Err(Malformed)
        );
    }
}
