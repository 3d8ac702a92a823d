//! `pad` and `desc`: numbers as digits of one width, so that text order is number order.

use super::ApplyError;
use crate::value::{Number, Text};

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
