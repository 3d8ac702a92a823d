//! A keyed permutation over the whole numbers of one sign and one number of digits.
//!
//! A balanced Feistel network permutes the numbers of `2 · half` bits; a result outside the wanted
//! range is permuted again until it lands inside (cycle walking), which keeps the whole a
//! permutation of that range. The range of bits is less than eight times the range of numbers, so
//! that a few rounds of walking are enough. Two numbers therefore never get one stand-in, and keys
//! made of stand-ins are as unique as those made of the numbers.
//!
//! A permutation of few numbers hides little: of ten one-digit numbers each stand-in is one of ten.

use super::Secret;

/// Most digits of a number that is permuted: those that DynamoDB holds.
pub(super) const MAX_DIGITS: usize = 38;
/// Rounds of the network; ten is what FF1 (NIST SP 800-38G) uses.
const ROUNDS: u8 = 10;

/// The stand-in for a number of at most [`MAX_DIGITS`] digits; the sign is kept by the caller.
pub(super) fn permute(secret: &Secret, magnitude: u128, negative: bool) -> u128 {
    let (least, size) = range(magnitude, negative);
    let bits = u128::BITS - (size - 1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let domain = [
        u8::from(negative),
        magnitude
            .checked_ilog10()
            .map_or(0, |log| u8::try_from(log).unwrap_or(u8::MAX)),
    ];
    let mut index = magnitude - least;
    loop {
        index = network(secret, domain, half, index);
        if index < size {
            return least + index;
        }
    }
}

/// The least number with as many digits, and how many there are. Zero counts among the one-digit
/// numbers, and has no negative.
fn range(magnitude: u128, negative: bool) -> (u128, u128) {
    let least = match magnitude.checked_ilog10() {
        None | Some(0) => u128::from(negative),
        Some(log) => 10_u128.pow(log),
    };
    let end = 10_u128.pow(magnitude.checked_ilog10().unwrap_or(0) + 1);
    (least, end - least)
}

fn network(secret: &Secret, domain: [u8; 2], half: u32, index: u128) -> u128 {
    let mask = (1_u128 << half) - 1;
    let (mut left, mut right) = (index >> half, index & mask);
    for round in 0..ROUNDS {
        let digest = secret.digest(&[b"number", &domain, &[round], &right.to_be_bytes()]);
        let noise = digest
            .iter()
            .take(16)
            .fold(0_u128, |noise, byte| noise << 8 | u128::from(*byte));
        (left, right) = (right, left ^ (noise & mask));
    }
    left << half | right
}
