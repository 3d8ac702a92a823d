//! What S3 answers in XML: texts by their names, one level deep, and lists of such.

use std::collections::BTreeMap;

use aws_smithy_xml::decode::{Document, ScopedDecoder, XmlDecodeError, try_data};

/// Texts by the names of their elements.
pub(super) type Texts = BTreeMap<String, String>;

/// A document of S3's.
#[derive(Debug, Default)]
pub(super) struct XmlAnswer {
    /// The name of the root.
    pub(super) root: String,
    /// Its own texts, of those that were asked for.
    pub(super) texts: Texts,
    /// What the elements of the list hold.
    pub(super) list: Vec<Texts>,
}

impl XmlAnswer {
    /// Reads the texts of these `names`, and those in each element of the name `list`.
    pub(super) fn read(body: &[u8], list: &str, names: &[&str]) -> Result<Self, XmlDecodeError> {
        let mut document = Document::try_from(body)?;
        let mut root = document.root_element()?;
        let mut answer = Self {
            root: root.start_el().local().to_owned(),
            ..Self::default()
        };
        while let Some(mut tag) = root.next_tag() {
            if tag.start_el().local() == list {
                let mut texts = Texts::new();
                while let Some(inner) = tag.next_tag() {
                    take(inner, names, &mut texts)?;
                }
                answer.list.push(texts);
            } else {
                take(tag, names, &mut answer.texts)?;
            }
        }
        Ok(answer)
    }

    /// A text; empty where there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }
}

fn take(
    mut tag: ScopedDecoder<'_, '_>,
    names: &[&str],
    texts: &mut Texts,
) -> Result<(), XmlDecodeError> {
    let name = tag.start_el().local().to_owned();
    if names.contains(&name.as_str()) {
        let text = try_data(&mut tag)?;
        texts.insert(name, text.into_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_errors_are_read() {
        let body = br#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>
<Contents><Key>x/a%20b</Key><ETag>&quot;e1&quot;</ETag><Owner><ID>1</ID></Owner><Size>12</Size></Contents><Contents><Key>c</Key></Contents></ListBucketResult>"#;
        let names = [
            "IsTruncated",
            "NextContinuationToken",
            "Key",
            "ETag",
            "Size",
        ];
        let answer = XmlAnswer::read(body, "Contents", &names).unwrap();
        assert_eq!(answer.root, "ListBucketResult");
        assert_eq!(answer.text("NextContinuationToken"), "a&b");
        assert_eq!(answer.list.len(), 2);
        let first = answer.list.first().unwrap();
        assert_eq!(
            (first["ETag"].as_str(), first["Size"].as_str()),
            ("\"e1\"", "12")
        );
        assert!(!first.contains_key("Owner"));
        let error = b"<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>";
        let error = XmlAnswer::read(error, "", &["Code", "Message"]).unwrap();
        assert_eq!(
            (error.root.as_str(), error.text("Code")),
            ("Error", "NoSuchBucket")
        );
        let page = XmlAnswer::read(b"<html>", "", &["Code"]).unwrap_or_default();
        assert!(page.text("Code").is_empty());
        assert!(XmlAnswer::read(b"", "", &[]).is_err());
    }
}
