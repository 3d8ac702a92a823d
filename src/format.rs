//! Numbers, sizes, times and money for people.

use std::time::Duration;

/// A count with separators: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 row`, `2 rows`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// A size in bytes: `340 B`, `12.30 KiB`, `1.20 GiB`.
pub(crate) fn bytes(size: u64) -> String {
    indicatif::HumanBytes(size).to_string()
}

/// A duration in seconds: `0.42 s`, `3 min 5 s`.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.2} s");
    }
    let whole = Duration::from_secs_f64(seconds).as_secs();
    match whole / 3600 {
        0 => format!("{} min {} s", whole / 60, whole % 60),
        hours => format!("{hours} h {} min", whole % 3600 / 60),
    }
}

/// A rate: `12,345 rows/s`.
pub(crate) fn rate(per_second: f64, noun: &str) -> String {
    format!("{}/s", counted(rounded(per_second), noun))
}

/// Money: cents, and more of them where there is less than one.
pub(crate) fn usd(amount: f64) -> String {
    if amount == 0.0 || amount >= 0.01 {
        format!("{amount:.2}")
    } else if amount >= 0.0001 {
        format!("{amount:.4}")
    } else {
        "< 0.0001".to_owned()
    }
}

/// The nearest whole number.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a figure for people; saturates"
)]
pub(crate) fn rounded(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(rate(1234.6, "row"), "1,235 rows/s");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(0.421), "0.42 s");
        assert_eq!(seconds(185.0), "3 min 5 s");
        assert_eq!(seconds(7_260.0), "2 h 1 min");
    }
}
