//! SHA-256, alone and keyed, and hexadecimal digits.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The hash of what is made of these parts.
pub(super) fn sha256<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// The hash of a text under a key.
pub(super) fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    // A key of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32];
    };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// Appends bytes as hexadecimal digits.
pub(super) fn push_hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let digit = |half: u8| DIGITS.get(usize::from(half)).copied().unwrap_or('0');
    for byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
}
