//! `format` and `time`: strftime patterns, which jiff writes and reads.

use dynafold_relational::value::{Time, TimeKind};
use jiff::civil;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::Offset;

use super::ApplyError;
use super::time::{self, clock, in_range, leading, write};

/// A strftime pattern that was tried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    /// What times read by it are.
    kind: TimeKind,
    /// Fractional digits of times read by it.
    digits: usize,
}

impl Pattern {
    /// The pattern's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What the times are that `time` reads by this pattern.
    #[must_use]
    pub fn kind(&self) -> TimeKind {
        self.kind
    }

    pub(super) fn for_format(text: &str) -> Result<Self, String> {
        if !text.contains('%') {
            return Err(format!("takes a strftime pattern, and `{text}` is none"));
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
                let (day, _) = time::civil(time, "format")?;
                (BrokenDownTime::from(day.date()), None)
            }
            TimeKind::Timestamp | TimeKind::Instant => {
                let (local, fraction) = time::civil(time, "format")?;
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

    /// Reads a time.
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

/// Writes a point in time by a pattern, to find out whether the pattern is one.
fn sample(pattern: &str) -> Result<String, String> {
    let sample = civil::DateTime::constant(2026, 10, 31, 14, 5, 6, 123_456_789);
    let zoned = sample
        .to_zoned(jiff::tz::TimeZone::UTC)
        .map_err(|error| error.to_string())?;
    strtime::format(pattern, &zoned)
        .map_err(|error| format!("takes a strftime pattern, and `{pattern}` is none: {error}"))
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
