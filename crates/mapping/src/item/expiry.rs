//! What an item's TTL attribute says, by the run's clock.
//!
//! DynamoDB reads the attribute as whole seconds since 1970 and ignores any other type. It deletes
//! an item some time after that moment, but never one whose moment is more than five years past
//! (limits.md 37).

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item};
use dynafold_relational::value::Number;

/// Seconds after which DynamoDB does not delete an expired item any more: five years, leap days
/// left out.
const TOO_OLD: i64 = 5 * 365 * 24 * 60 * 60;
/// Seconds of the year 5138. As milliseconds it is in 1973: whoever writes such a number means
/// milliseconds.
const MILLISECONDS: i64 = 100_000_000_000;

/// What an item's TTL attribute says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expiry {
    /// The item does not expire, or not yet.
    #[default]
    Ahead,
    /// The item has expired: DynamoDB deletes it when it comes to it.
    Past,
    /// The item expired so long ago that DynamoDB never deletes it.
    TooOld,
    /// The number is one of milliseconds: DynamoDB would keep the item for thousands of years.
    Milliseconds,
}

impl Expiry {
    /// Whether the item's moment is past.
    pub fn is_past(self) -> bool {
        matches!(self, Self::Past | Self::TooOld)
    }
}

/// The clock of a run, held against one attribute.
#[derive(Debug, Clone)]
pub(super) struct ExpiryClock {
    attribute: Arc<str>,
    /// Seconds since 1970.
    now: i64,
}

impl ExpiryClock {
    pub(super) fn new(attribute: &str, now: jiff::Timestamp) -> Self {
        Self {
            attribute: attribute.into(),
            now: now.as_second(),
        }
    }

    pub(super) fn judge(&self, item: &Item) -> Expiry {
        let moment = item.get(&self.attribute);
        moment.map_or(Expiry::Ahead, |moment| self.judge_moment(moment))
    }

    pub(super) fn judge_moment(&self, moment: &Attribute) -> Expiry {
        let Attribute::N(moment) = moment else {
            return Expiry::Ahead;
        };
        let moment = seconds(moment);
        if moment >= MILLISECONDS {
            Expiry::Milliseconds
        } else if moment >= self.now {
            Expiry::Ahead
        } else if moment < self.now.saturating_sub(TOO_OLD) {
            Expiry::TooOld
        } else {
            Expiry::Past
        }
    }
}

/// Whether the moment in a TTL attribute is before `now`, in seconds since 1970.
pub fn is_past(moment: &Attribute, now: i64) -> bool {
    moment_of(moment).is_some_and(|moment| moment < now)
}

/// The moment in a TTL attribute, in seconds since 1970; `None` if it is no number.
pub fn moment_of(moment: &Attribute) -> Option<i64> {
    match moment {
        Attribute::N(moment) => Some(seconds(moment)),
        _ => None,
    }
}

/// Whole seconds, rounded towards zero and held within 64 bits.
fn seconds(moment: &Number) -> i64 {
    let (whole, _) = moment.parts();
    let seconds = whole.parse().unwrap_or(i64::MAX);
    if moment.is_negative() {
        -seconds
    } else {
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(moment: Attribute) -> Expiry {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let item = Item {
            attributes: vec![("ttl".into(), moment)],
        };
        ExpiryClock::new("ttl", now).judge(&item)
    }

    fn number(text: &str) -> Attribute {
        Attribute::N(Number::parse(text).unwrap())
    }

    #[test]
    fn a_moment_is_ahead_until_the_clock_has_passed_it() {
        // 2026-01-01T00:00:00Z
        assert_eq!(judge(number("1767225600")), Expiry::Ahead);
        assert_eq!(judge(number("1767225599")), Expiry::Past);
        assert_eq!(judge(number("1767225599.9")), Expiry::Past);
        assert_eq!(judge(number("99999999999")), Expiry::Ahead);
    }

    #[test]
    fn five_years_are_too_old_and_milliseconds_are_known() {
        // 2021-01-02T00:00:00Z is 1825 days before.
        assert_eq!(judge(number("1609545600")), Expiry::Past);
        assert_eq!(judge(number("1609545599")), Expiry::TooOld);
        assert_eq!(judge(number("0")), Expiry::TooOld);
        assert_eq!(judge(number("-7")), Expiry::TooOld);
        assert_eq!(judge(number("1767225600000")), Expiry::Milliseconds);
        assert_eq!(judge(number("1E+100")), Expiry::Milliseconds);
        assert_eq!(judge(number("-1E+100")), Expiry::TooOld);
    }

    #[test]
    fn what_is_no_number_never_expires() {
        assert_eq!(judge(Attribute::S("1".into())), Expiry::Ahead);
        assert_eq!(judge(Attribute::Null), Expiry::Ahead);
    }
}
