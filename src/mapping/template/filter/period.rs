//! `plus`: a length of time, and adding it.

use jiff::Span;

use super::ApplyError;
use super::time::{civil, in_range, write};
use crate::value::{Time, TimeKind};

/// A length of time: `7d`, `-90m`, `1mo`.
///
/// Weeks, days, hours, minutes and seconds are of fixed length. Months and years are the
/// calendar's: 31 January plus a month is the last day of February.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    amount: i64,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Period {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("takes a period such as 7d, 12h or 1mo, and `{text}` is none");
        let at = text
            .find(|c: char| c.is_ascii_alphabetic())
            .ok_or_else(wrong)?;
        let (amount, unit) = text.split_at(at);
        let unit = match unit {
            "s" => Unit::Second,
            "m" => Unit::Minute,
            "h" => Unit::Hour,
            "d" => Unit::Day,
            "w" => Unit::Week,
            "mo" => Unit::Month,
            "y" => Unit::Year,
            _ => return Err(wrong()),
        };
        let amount = amount.trim_end().parse().map_err(|_| wrong())?;
        let period = Self { amount, unit };
        if period.span().is_none() {
            return Err(format!("cannot add as much as {text}"));
        }
        Ok(period)
    }

    /// Whether it has one length, whatever it is added to.
    pub(crate) fn is_fixed(self) -> bool {
        !matches!(self.unit, Unit::Month | Unit::Year)
    }

    fn span(self) -> Option<Span> {
        let span = Span::new();
        match self.unit {
            Unit::Second => span.try_seconds(self.amount),
            Unit::Minute => span.try_minutes(self.amount),
            Unit::Hour => span.try_hours(self.amount),
            Unit::Day => span.try_days(self.amount),
            Unit::Week => span.try_weeks(self.amount),
            Unit::Month => span.try_months(self.amount),
            Unit::Year => span.try_years(self.amount),
        }
        .ok()
    }

    /// A later time of the same kind and with the same fractional digits.
    pub(super) fn add_to(self, time: &Time) -> Result<Time, ApplyError> {
        let (from, fraction) = civil(time, "plus")?;
        let part_of_a_day = matches!(self.unit, Unit::Second | Unit::Minute | Unit::Hour);
        if time.kind() == TimeKind::Date && part_of_a_day {
            return Err(ApplyError::PartOfADay);
        }
        let to = self
            .span()
            .and_then(|span| from.checked_add(span).ok())
            .ok_or(ApplyError::TimeRange)?;
        let text = write(in_range(to)?, fraction, time.kind());
        Ok(Time::canonical(text.into(), time.kind()))
    }
}
