//! SHA-256, alone and keyed.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The key that signs on a day in a scope.
pub(super) fn signing_key(secret: &str, day: &str, scope: &str) -> [u8; 32] {
    let first = hmac(format!("AWS4{secret}").as_bytes(), day.as_bytes());
    let parts = scope.split('/');
    parts.fold(first, |key, part| hmac(&key, part.as_bytes()))
}

/// The hash of what is made of these parts.
pub(crate) fn sha256<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
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
