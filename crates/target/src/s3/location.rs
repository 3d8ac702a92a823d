//! `s3://bucket/prefix`.

use std::fmt;

/// Bytes of a prefix. A key has at most 1,024: the rest is for the names of the objects.
const MAX_PREFIX: usize = 900;

/// A bucket and a prefix: the objects whose keys begin with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Location {
    bucket: String,
    /// Empty, or with a slash at its end.
    prefix: String,
}

/// Why a text is no place in S3.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// When it does not begin with `s3://`.
    #[error("write a location in S3 as `s3://bucket/prefix`")]
    Scheme,
    /// When the bucket cannot have this name. The name.
    #[error(
        "`{0}` is not a bucket name: it must have 3 to 63 characters, only a-z, 0-9, `.` and `-`"
    )]
    Bucket(String),
    /// When the prefix has other characters, is too long, or has a part that is empty, `.` or `..`.
    #[error(
        "a prefix may have at most 900 characters, only A-Z, a-z, 0-9 and `!-_.*'()/=`, and no part between slashes that is empty, `.` or `..`"
    )]
    Prefix,
}

impl S3Location {
    /// Reads `s3://bucket/prefix`.
    ///
    /// # Errors
    ///
    /// [`LocationError`] when it is none.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let rest = text.strip_prefix("s3://").ok_or(LocationError::Scheme)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
        if !(3..=63).contains(&bucket.len()) || !bucket.chars().all(is_name) {
            return Err(LocationError::Bucket(bucket.to_owned()));
        }
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "!-_.*'()/=".contains(c);
        let is_empty_or_dots = |part: &str| part.is_empty() || part == "." || part == "..";
        if prefix.len() > MAX_PREFIX
            || !prefix.chars().all(is_plain)
            || (!prefix.is_empty() && prefix.split('/').any(is_empty_or_dots))
        {
            return Err(LocationError::Prefix);
        }
        let slash = if prefix.is_empty() { "" } else { "/" };
        Ok(Self {
            bucket: bucket.to_owned(),
            prefix: format!("{prefix}{slash}"),
        })
    }

    /// The bucket's name.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The key of the object that has this name below the prefix.
    pub fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// As it is written, without a slash at its end.
impl fmt::Display for S3Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = format!("s3://{}/{}", self.bucket, self.prefix);
        f.write_str(whole.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_and_shown_without_a_slash_at_its_end() {
        for (text, shown, key) in [
            ("s3://shop", "s3://shop", "a"),
            ("s3://shop/", "s3://shop", "a"),
            ("s3://shop/x", "s3://shop/x", "x/a"),
            ("s3://shop.v2/x/day=1/", "s3://shop.v2/x/day=1", "x/day=1/a"),
        ] {
            let location = S3Location::parse(text).unwrap();
            assert_eq!(location.to_string(), shown);
            assert_eq!(location.key("a"), key);
        }
    }

    #[test]
    fn what_is_no_location_is_refused() {
        for text in ["shop", "s3:/shop/x", "S3://shop", "http://shop/x"] {
            assert_eq!(
                S3Location::parse(text),
                Err(LocationError::Scheme),
                "{text}"
            );
        }
        for text in ["s3://", "s3:///x", "s3://Shop/x", "s3://a@b:c/x", "s3://ab"] {
            let error = S3Location::parse(text).unwrap_err();
            assert!(matches!(error, LocationError::Bucket(_)), "{text}");
        }
        for text in [
            "s3://shop//x",
            "s3://shop/../x",
            "s3://shop/a b",
            "s3://shop/x?y",
            "s3://shop/x//",
        ] {
            assert_eq!(
                S3Location::parse(text),
                Err(LocationError::Prefix),
                "{text}"
            );
        }
    }
}
