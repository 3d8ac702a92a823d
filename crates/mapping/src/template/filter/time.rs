//! Filters on times.
//!
//! A time is taken apart into whole seconds and its fraction's digits, which no filter changes:
//! what comes out has as many fractional digits as what went in. Calendar arithmetic is jiff's.

use dynafold_relational::value::{Number, Time, TimeKind};
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::{AmbiguousOffset, Offset};
use jiff::{SignedDuration, Span, SpanFieldwise, civil};

use super::{ApplyError, Context};

/// A date and time to the second, and the fraction's digits.
pub(super) type Civil<'t> = (civil::DateTime, &'t str);

/// RFC 3339 in UTC; a date is its midnight.
pub(super) fn iso(time: &Time, context: &Context) -> Result<String, ApplyError> {
    if time.kind() == TimeKind::Instant {
        return Ok(time.as_str().to_owned());
    }
    let (utc, fraction) = in_utc(time, context, "iso")?;
    Ok(write(utc, fraction, TimeKind::Instant))
}

/// The date in UTC; a date stays what it is.
pub(super) fn date(time: &Time, context: &Context) -> Result<Time, ApplyError> {
    if time.kind() == TimeKind::Date {
        return Ok(time.clone());
    }
    let (utc, _) = in_utc(time, context, "date")?;
    Ok(Time::canonical(
        write(utc, "", TimeKind::Date).into(),
        TimeKind::Date,
    ))
}

/// Whole seconds since 1970, rounded down: the fraction always points forward in time.
pub(super) fn epoch(time: &Time, context: &Context) -> Result<Number, ApplyError> {
    let (utc, _) = in_utc(time, context, "epoch")?;
    Ok(Number::from(seconds(utc)))
}

/// Whole milliseconds since 1970, rounded down.
pub(super) fn epoch_ms(time: &Time, context: &Context) -> Result<Number, ApplyError> {
    let (utc, fraction) = in_utc(time, context, "epoch_ms")?;
    Ok(Number::from(seconds(utc) * 1000 + leading(fraction, 3)))
}

/// Whether the calendar has this date or timestamp.
pub(super) fn is_real(time: &Time) -> bool {
    civil(time, "").is_ok()
}

fn seconds(utc: civil::DateTime) -> i64 {
    let epoch = civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    utc.duration_since(epoch).as_secs()
}

/// The first `count` digits of a fraction as a number, zeros appended where there are fewer.
pub(super) fn leading(fraction: &str, count: usize) -> i64 {
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(count);
    digits.fold(0, |sum, digit| {
        sum * 10 + i64::from(digit.saturating_sub(b'0'))
    })
}

fn in_utc<'t>(
    time: &'t Time,
    context: &Context,
    filter: &'static str,
) -> Result<Civil<'t>, ApplyError> {
    let (local, fraction) = civil(time, filter)?;
    if time.kind() == TimeKind::Instant {
        return Ok((local, fraction));
    }
    // When clocks go back, the earlier of the two hours is meant. A time that is skipped when they go forward has the
    // offset that held before.
    let ambiguous = context.time_zone.to_ambiguous_timestamp(local).offset();
    let (AmbiguousOffset::Unambiguous { offset }
    | AmbiguousOffset::Gap { before: offset, .. }
    | AmbiguousOffset::Fold { before: offset, .. }) = ambiguous;
    let utc = local
        .checked_sub(SignedDuration::from_secs(i64::from(offset.seconds())))
        .map_err(|_| ApplyError::TimeRange)?;
    Ok((in_range(utc)?, fraction))
}

/// The same time, if its year has four digits.
fn in_range(time: civil::DateTime) -> Result<civil::DateTime, ApplyError> {
    if (1..=9999).contains(&time.year()) {
        Ok(time)
    } else {
        Err(ApplyError::TimeRange)
    }
}

/// Takes a time's canonical text apart. `filter`: which filter asks, for the error.
pub(super) fn civil<'t>(time: &'t Time, filter: &'static str) -> Result<Civil<'t>, ApplyError> {
    let refused = ApplyError::NotADate { filter };
    let read = || {
        let (date, clock) = match time.kind() {
            TimeKind::Date => (time.as_str(), "00:00:00"),
            TimeKind::Timestamp | TimeKind::Instant => time.as_str().split_once('T')?,
            TimeKind::TimeOfDay | TimeKind::TimeOfDayWithOffset => return None,
        };
        let year = date.get(..4)?.parse().ok()?;
        let month = date.get(5..7)?.parse().ok()?;
        let day = date.get(8..)?.parse().ok()?;
        let (clock, fraction) = self::clock(clock.strip_suffix('Z').unwrap_or(clock))?;
        let date = civil::Date::new(year, month, day).ok()?;
        Some((date.to_datetime(clock), fraction))
    };
    read().ok_or(refused)
}

/// Takes a time of day apart: `14:05:06`, with or without a fraction.
pub(super) fn clock(text: &str) -> Option<(civil::Time, &str)> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let part = |at: usize| clock.get(at..at + 2)?.parse().ok();
    let time = civil::Time::new(part(0)?, part(3)?, part(6)?, 0).ok()?;
    Some((time, fraction))
}

pub(super) fn write(time: civil::DateTime, fraction: &str, kind: TimeKind) -> String {
    if kind == TimeKind::Date {
        return time.date().to_string();
    }
    let mut text = format!("{time:.0}");
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    if kind == TimeKind::Instant {
        text.push('Z');
    }
    text
}

/// A length of time: `7d`, `-90m`, `1mo`.
///
/// Weeks, days, hours, minutes and seconds are of fixed length. Months and years are the
/// calendar's: 31 January plus a month is the last day of February.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(SpanFieldwise);

/// What a period is counted in.
const UNITS: [&str; 7] = ["s", "m", "h", "d", "w", "mo", "y"];

impl Period {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let at = text.find(|c: char| c.is_ascii_alphabetic());
        let (amount, unit) = text.split_at(at.unwrap_or(text.len()));
        if amount.trim_end().parse::<i64>().is_err() || !UNITS.contains(&unit) {
            return Err(format!(
                "takes a period such as 7d, 12h or 1mo, but `{text}` is not one"
            ));
        }
        let span = text.parse::<Span>();
        span.map(|span| Self(span.fieldwise()))
            .map_err(|_| format!("cannot add as much as {text}"))
    }

    /// Whether its length does not depend on what it is added to: it has no months and no years.
    pub fn is_fixed(self) -> bool {
        self.0.0.get_months() == 0 && self.0.0.get_years() == 0
    }

    /// Whether it leads to an earlier time.
    pub(crate) fn is_negative(self) -> bool {
        self.0.0.is_negative()
    }

    /// A later time of the same kind and with the same fractional digits.
    pub(super) fn add_to(self, time: &Time) -> Result<Time, ApplyError> {
        let (from, fraction) = civil(time, "plus")?;
        let SpanFieldwise(span) = self.0;
        let part_of_a_day =
            span.get_seconds() != 0 || span.get_minutes() != 0 || span.get_hours() != 0;
        if time.kind() == TimeKind::Date && part_of_a_day {
            return Err(ApplyError::PartOfADay);
        }
        let to = from.checked_add(span).map_err(|_| ApplyError::TimeRange)?;
        let text = write(in_range(to)?, fraction, time.kind());
        Ok(Time::canonical(text.into(), time.kind()))
    }
}

// `format` and `time`: strftime patterns, which jiff writes and reads.

/// A strftime pattern that writes, or reads, a sample without error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimePattern {
    text: String,
    /// What times read by it are.
    kind: TimeKind,
    /// Fractional digits of times read by it.
    digits: usize,
}

impl TimePattern {
    /// The pattern's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What the times are that `time` reads by this pattern.
    pub fn kind(&self) -> TimeKind {
        self.kind
    }

    pub(super) fn for_format(text: &str) -> Result<Self, String> {
        if !text.contains('%') {
            return Err(format!("takes a strftime pattern, but `{text}` is not one"));
        }
        sample(text)?;
        Ok(Self {
            text: text.to_owned(),
            kind: TimeKind::Instant,
            digits: 0,
        })
    }

    pub(super) fn for_parse(text: &str) -> Result<Self, String> {
        let written = sample(text)?;
        let read = strtime::parse(text, &written).map_err(|_| {
            format!("cannot read times by `{text}`; a part of it is for writing only")
        })?;
        let dated = read.to_date().is_ok();
        let kind = if read.timestamp().is_some()
            || (dated && (read.offset().is_some() || read.iana_time_zone().is_some()))
        {
            TimeKind::Instant
        } else if dated && read.hour().is_some() {
            TimeKind::Timestamp
        } else if dated {
            TimeKind::Date
        } else if read.hour().is_some() && read.to_time().is_ok() && read.offset().is_none() {
            TimeKind::TimeOfDay
        } else {
            return Err(format!("cannot tell a date or a time of day from `{text}`"));
        };
        Ok(Self {
            text: text.to_owned(),
            kind,
            digits: fraction_digits(text),
        })
    }

    /// Writes a time: a point in time in UTC, any other as it is.
    pub(super) fn format(&self, time: &Time) -> Result<String, ApplyError> {
        let refused = || ApplyError::Format {
            pattern: self.text.clone(),
        };
        let nanoseconds = |fraction| i32::try_from(leading(fraction, 9)).unwrap_or_default();
        let (mut broken, fraction) = match time.kind() {
            TimeKind::Date => {
                let (day, _) = civil(time, "format")?;
                (BrokenDownTime::from(day.date()), None)
            }
            TimeKind::Timestamp | TimeKind::Instant => {
                let (local, fraction) = civil(time, "format")?;
                let mut broken = BrokenDownTime::from(local);
                if time.kind() == TimeKind::Instant {
                    broken.set_offset(Some(Offset::UTC));
                    broken.set_timestamp(Offset::UTC.to_timestamp(local).ok());
                }
                (broken, Some(fraction))
            }
            TimeKind::TimeOfDay | TimeKind::TimeOfDayWithOffset => {
                let text = time.as_str();
                let (text, _) = text.split_at(text.find(['+', '-', 'Z']).unwrap_or(text.len()));
                let (clock, fraction) = clock(text).ok_or_else(refused)?;
                (BrokenDownTime::from(clock), Some(fraction))
            }
        };
        let fraction = fraction.map(nanoseconds);
        broken
            .set_subsec_nanosecond(fraction)
            .map_err(|_| refused())?;
        broken.to_string(&self.text).map_err(|_| refused())
    }

    pub(super) fn parse(&self, text: &str) -> Result<Time, ApplyError> {
        let refused = || ApplyError::NotATime {
            pattern: self.text.clone(),
        };
        let read = strtime::parse(&self.text, text).map_err(|_| refused())?;
        let nanoseconds = format!("{:09}", read.subsec_nanosecond().unwrap_or(0));
        let fraction = nanoseconds.get(..self.digits).unwrap_or_default();
        if nanoseconds.trim_end_matches('0').len() > self.digits {
            return Err(refused());
        }
        let text = match self.kind {
            TimeKind::Date => {
                let date = read.to_date().map_err(|_| refused())?;
                write(
                    in_range(date.to_datetime(civil::Time::midnight()))?,
                    "",
                    self.kind,
                )
            }
            TimeKind::Timestamp => {
                let local = read.to_datetime().map_err(|_| refused())?;
                write(in_range(local)?, fraction, self.kind)
            }
            TimeKind::Instant => {
                let instant = match read.iana_time_zone() {
                    Some(_) => read.to_zoned().map(|zoned| zoned.timestamp()),
                    None => read.to_timestamp(),
                };
                let utc = Offset::UTC.to_datetime(instant.map_err(|_| refused())?);
                write(in_range(utc)?, fraction, self.kind)
            }
            TimeKind::TimeOfDay | TimeKind::TimeOfDayWithOffset => {
                let clock = read.to_time().map_err(|_| refused())?;
                let full = write(
                    civil::Date::constant(1970, 1, 1).to_datetime(clock),
                    fraction,
                    TimeKind::Timestamp,
                );
                full.split_once('T')
                    .map_or_else(|| full.clone(), |(_, clock)| clock.to_owned())
            }
        };
        Ok(Time::canonical(text.into(), self.kind))
    }
}

/// Writes a sample by a pattern; an error if it is no strftime pattern.
fn sample(pattern: &str) -> Result<String, String> {
    let sample = civil::DateTime::constant(2026, 10, 31, 14, 5, 6, 123_456_789);
    let zoned = sample
        .to_zoned(jiff::tz::TimeZone::UTC)
        .map_err(|error| error.to_string())?;
    strtime::format(pattern, &zoned)
        .map_err(|error| format!("takes a strftime pattern, but `{pattern}` is not one: {error}"))
}

/// Fractional digits that a pattern reads: those that `%3f` or `%.3f` says, nine for `%f`.
fn fraction_digits(pattern: &str) -> usize {
    let without_literals = pattern.replace("%%", "");
    let mut rest = without_literals.as_str();
    while let Some((_, directive)) = rest.split_once('%') {
        let end = directive.find(|c: char| c.is_ascii_alphabetic());
        let (flags, after) = directive.split_at(end.unwrap_or(directive.len()));
        if after.starts_with(['f', 'N']) {
            let width = flags.trim_start_matches(['_', '-', '0', '^', '#', '.']);
            return width.parse().map_or(9, |width: usize| width.min(9));
        }
        rest = after;
    }
    0
}
