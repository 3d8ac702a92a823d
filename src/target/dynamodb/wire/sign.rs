//! AWS Signature Version 4, for what we send: a POST without a query, its headers known.
//!
//! A test has the SDK sign the same requests and compares.

use super::hash::{hmac, push_hex, sha256};
use super::vault::Held;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature holds for: `eu-west-1/dynamodb/aws4_request`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope(String);

/// What is signed.
#[derive(Debug)]
pub(super) struct Signed<'a> {
    /// The path of the request's URL.
    pub(super) path: &'a str,
    /// Names in lower case and in order.
    pub(super) headers: &'a [(&'a str, &'a str)],
    /// The body's hash.
    pub(super) payload: &'a str,
    /// As in the header `x-amz-date`.
    pub(super) time: &'a str,
}

impl Scope {
    /// Reads the scope out of the header that the SDK made.
    pub(super) fn of(authorization: &str) -> Option<Self> {
        let credential = authorization
            .strip_prefix(ALGORITHM)?
            .split([' ', ','])
            .find_map(|part| part.strip_prefix("Credential="))?;
        let (before, scope) = credential.split_at(credential.match_indices('/').rev().nth(2)?.0);
        // What is left begins with the access key and the day.
        before.contains('/').then(|| Self(scope[1..].to_owned()))
    }
}

/// The value of the header `authorization`.
pub(super) fn authorization(held: &Held, scope: &Scope, signed: &Signed<'_>) -> String {
    let day = signed.time.split('T').next().unwrap_or_default();
    let mut names = String::with_capacity(96);
    let mut canonical = String::with_capacity(2048);
    canonical.push_str("POST\n");
    push_path(&mut canonical, signed.path);
    canonical.push_str("\n\n");
    for (index, (name, value)) in signed.headers.iter().enumerate() {
        for part in [name, ":", value.trim(), "\n"] {
            canonical.push_str(part);
        }
        names.push_str(if index > 0 { ";" } else { "" });
        names.push_str(name);
    }
    for part in ["\n", &names, "\n", signed.payload] {
        canonical.push_str(part);
    }
    let mut text = String::with_capacity(192);
    for part in [ALGORITHM, "\n", signed.time, "\n", day, "/", &scope.0, "\n"] {
        text.push_str(part);
    }
    push_hex(&mut text, &sha256([canonical.as_bytes()]));
    let key = held.signing_key(day, &scope.0);
    let mut header = String::with_capacity(320);
    let access_key = held.credentials.access_key_id();
    for part in [
        ALGORITHM,
        " Credential=",
        access_key,
        "/",
        day,
        "/",
        &scope.0,
        ", SignedHeaders=",
        &names,
        ", Signature=",
    ] {
        header.push_str(part);
    }
    push_hex(&mut header, &hmac(&key, text.as_bytes()));
    header
}

/// The key that signs on a day in a scope.
pub(super) fn key(secret: &str, day: &str, scope: &str) -> [u8; 32] {
    let first = hmac(format!("AWS4{secret}").as_bytes(), day.as_bytes());
    let parts = scope.split('/');
    parts.fold(first, |key, part| hmac(&key, part.as_bytes()))
}

/// A path is encoded once more for the signature.
fn push_path(out: &mut String, path: &str) {
    if path.is_empty() {
        out.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}
