//! `ordered`: any number as text whose byte order is the number's order.
//!
//! | number | text |
//! | --- | --- |
//! | negative | `n`, 499 - exponent in three digits, the digits' complements to nine, `~` |
//! | zero | `o` |
//! | positive | `p`, 500 + exponent in three digits, the digits, `.` |
//!
//! The exponent is that of the first digit (12.5 is 1.25 · 10^1), between -130 and 125, and the
//! digits are those without zeros at either end: 12.5 is `p501125.`, -12.5 is `n498874~`. The last
//! character sorts before every digit where more digits mean more, and after every digit where they
//! mean less; it also ends the number, so that whatever follows in a key does not disturb the order
//! and the number can be read back.

use crate::value::Number;

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
