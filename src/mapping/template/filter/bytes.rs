//! `hex`, `base64` and `uuid`: bytes as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::ApplyError;

pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Writes 16 bytes as a UUID. With `swap` they are in the order of MySQL's `UUID_TO_BIN(…, 1)`,
/// which moves the high part of the time to the front.
pub(super) fn uuid_from_bytes(bytes: &[u8], swap: bool) -> Result<String, ApplyError> {
    let bytes: [u8; 16] = bytes.try_into().map_err(|_| ApplyError::NotAUuid)?;
    let text = hex(&bytes);
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    Ok(hyphenate(&if swap {
        // time_hi, time_mid, time_low: put back into the order that a UUID prints them in.
        [part(8..16), part(4..8), part(0..4), part(16..32)].concat()
    } else {
        text
    }))
}

/// Writes a UUID in lowercase, with hyphens, from text with or without them.
pub(super) fn uuid_from_text(text: &str) -> Result<String, ApplyError> {
    if is_uuid(text) {
        Ok(text.to_ascii_lowercase())
    } else if text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(hyphenate(&text.to_ascii_lowercase()))
    } else {
        Err(ApplyError::NotAUuid)
    }
}

/// Whether a text has the form of a UUID, 8-4-4-4-12.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn hyphenate(hex: &str) -> String {
    let mut text = String::with_capacity(36);
    for (at, digit) in hex.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}
