//! Texts that are read back as they were.

use dynafold_mapping::yaml::parse;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// What a reader makes of a text in every place where one can stand.
fn read_back(text: &str) -> Vec<String> {
    let mut inner = json!({ "first key": text });
    inner[text] = json!("b");
    let document = document(&json!({
        "alone": text,
        "inner": inner,
        "list": [text, inner],
        "flow": [[text]],
    }));
    let root = parse(&document).unwrap_or_else(|fault| panic!("{fault:?}\n{document}"));
    let text_of = |node: &dynafold_mapping::yaml::Node| node.text().unwrap().to_owned();
    let inner = root.get("inner").unwrap();
    let list = root.get("list").unwrap().elements();
    let flow = root.get("flow").unwrap().elements()[0].elements();
    vec![
        text_of(root.get("alone").unwrap()),
        text_of(&inner.entries()[0].value),
        inner.entries()[1].key.clone(),
        text_of(&list[0]),
        list[1].entries()[1].key.clone(),
        text_of(&flow[0]),
    ]
}

#[test]
fn what_could_be_read_as_something_else_is_quoted() {
    for text in [
        "",
        " ",
        "yes",
        "No",
        "on",
        "NULL",
        "~",
        "true",
        "12",
        "1e3",
        "0x1f",
        "1:30",
        "2026-01-01",
        ".inf",
        "=",
        "<<",
        "- a",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a`",
        "'",
        "'a",
        "\"",
        "a\nb",
        "\ta",
        "{a}",
        "[a]",
        "a, b",
        "${AWS::Region}",
        "{{resolve:ssm:x}}",
        "?",
        "é",
        "안녕",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "🎲",
        "a\\b",
        "-",
        "---",
        "...",
    ] {
        for found in read_back(text) {
            assert_eq!(found, text);
        }
        let written = scalar(text);
        let quoted = written.starts_with(['\'', '"']);
        assert!(quoted, "{written}");
    }
    for text in [
        "AWS::DynamoDB::Table",
        "PK",
        "arn:aws:s3",
        "a b",
        "table/${Table}",
    ] {
        assert_eq!(scalar(text).starts_with('\''), text.contains('{'), "{text}");
    }
}

proptest! {
    #[test]
    fn every_text_is_read_back_as_it_was(text in any::<String>()) {
        for found in read_back(&text) {
            prop_assert_eq!(&found, &text);
        }
    }
}
