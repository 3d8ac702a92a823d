//! Numbers against a reference that is written from the documentation alone: the grammar of a decimal literal, 38
//! digits, 1E-130 to 9.99E+125, and the canonical text.

use std::cmp::Ordering;

use dynafold::value::{Number, NumberError};

/// A decimal by its digits: 0.d1d2d3… times ten to the power of `point`; no digits for zero.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i128,
}

/// Reads two literals, a line each.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut lines = text.splitn(2, '\n');
    let numbers: Vec<(Number, Decimal)> = lines.by_ref().filter_map(one).collect();
    if let [(a, reference_a), (b, reference_b)] = numbers.as_slice() {
        assert_eq!(a.cmp(b), order(reference_a, reference_b), "{a} and {b}");
    }
}

fn one(text: &str) -> Option<(Number, Decimal)> {
    let wanted = decimal(text).ok_or(NumberError::Malformed).and_then(fits);
    let (number, wanted) = match (Number::parse(text), wanted) {
        (Ok(number), Ok(wanted)) => (number, wanted),
        (Err(error), Err(wanted)) => {
            assert_eq!(error, wanted, "{text}");
            return None;
        }
        (given, wanted) => panic!("{text}: {given:?} where the reference says {wanted:?}"),
    };
    assert_eq!(number.as_str(), canonical(&wanted), "{text}");
    assert_eq!(Number::parse(number.as_str()).as_ref(), Ok(&number));
    assert_eq!(number.size(), size(&wanted), "{number}");
    assert_eq!(number.is_negative(), wanted.negative);
    if let Some(integer) = number.to_i64() {
        assert_eq!(Number::from(integer), number);
    }
    Some((number, wanted))
}

/// Reads a literal, one character after the other.
fn decimal(text: &str) -> Option<Decimal> {
    let (negative, unsigned) = signed(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], exponent(&unsigned[at + 1..])?),
        None => (unsigned, 0),
    };
    let mut digits = Vec::new();
    let mut whole = None;
    for byte in mantissa.bytes() {
        match byte {
            b'0'..=b'9' => digits.push(byte - b'0'),
            b'.' if whole.is_none() => whole = Some(digits.len()),
            _ => return None,
        }
    }
    if digits.is_empty() {
        return None;
    }
    let mut point = i128::try_from(whole.unwrap_or(digits.len())).ok()? + exponent;
    while digits.first() == Some(&0) {
        digits.remove(0);
        point -= 1;
    }
    while digits.last() == Some(&0) {
        digits.pop();
    }
    let zero = digits.is_empty();
    Some(Decimal {
        negative: negative && !zero,
        digits,
        point: if zero { 0 } else { point },
    })
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// An exponent; one of very many digits is as good as 10^18.
fn exponent(text: &str) -> Option<i128> {
    let (negative, digits) = signed(text);
    let mut value = 0_i128;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = (value * 10 + i128::from(byte - b'0')).min(10_i128.pow(18));
    }
    if digits.is_empty() {
        return None;
    }
    Some(if negative { -value } else { value })
}

/// DynamoDB's limits.
fn fits(decimal: Decimal) -> Result<Decimal, NumberError> {
    if decimal.digits.len() > 38 {
        return Err(NumberError::TooManyDigits);
    }
    // The first digit stands right of the point: 1E-130 has the point at -129, 9E+125 at 126.
    let inside = decimal.digits.is_empty() || (-129..=126).contains(&decimal.point);
    if inside {
        Ok(decimal)
    } else {
        Err(NumberError::Magnitude)
    }
}

/// The digits of a decimal on a grid that holds every number: 126 places before the point, 168 after it.
fn grid(decimal: &Decimal) -> Vec<u8> {
    let mut grid = vec![0; 126 + 168];
    for (digit, at) in decimal.digits.iter().zip(126 - decimal.point..) {
        grid[usize::try_from(at).unwrap()] = *digit;
    }
    grid
}

fn canonical(decimal: &Decimal) -> String {
    let grid = grid(decimal);
    let text: String = grid.iter().map(|digit| char::from(b'0' + digit)).collect();
    let (whole, fraction) = text.split_at(126);
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let sign = if decimal.negative { "-" } else { "" };
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

/// One byte, one for each pair of the grid from the first to the last that is not zero, one for a minus; at most 21.
fn size(decimal: &Decimal) -> usize {
    let grid = grid(decimal);
    let mut pairs = grid.chunks(2).map(|pair| pair != [0, 0]);
    let used = match (
        pairs.clone().position(|used| used),
        pairs.rposition(|used| used),
    ) {
        (Some(first), Some(last)) => last - first + 1,
        _ => 0,
    };
    (1 + used + usize::from(decimal.negative)).min(21)
}

fn order(a: &Decimal, b: &Decimal) -> Ordering {
    match (a.negative, b.negative) {
        (false, false) => grid(a).cmp(&grid(b)),
        (true, true) => grid(b).cmp(&grid(a)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}
