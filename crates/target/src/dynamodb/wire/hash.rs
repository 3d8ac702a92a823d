//! SHA-256, alone and keyed, and hexadecimal digits.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The key that signs on a day in a scope.
pub(super) fn signing_key(secret: &str, day: &str, scope: &str) -> [u8; 32] {
    let first = hmac(format!("AWS4{secret}").as_bytes(), day.as_bytes());
    let parts = scope.split('/');
    parts.fold(first, |key, part| hmac(&key, part.as_bytes()))
}

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

/// A hash as hexadecimal digits. Formatting each byte would cost a thousand instructions for each item of a load.
pub(super) fn hex(hash: &[u8; 32]) -> String {
    let halves = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves
        .filter_map(|half| char::from_digit(u32::from(half), 16))
        .collect()
}
