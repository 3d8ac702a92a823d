//! How many cases a test of chance takes, and cases that are written as YAML.

use dynafold_mapping::yaml::{YamlContent, YamlNode};
use serde_json::Value;

/// A node as JSON: plain words that are numbers, booleans or nothing are those.
pub fn plain(node: &YamlNode) -> Value {
    match &node.content {
        YamlContent::Scalar { text, plain: true } => match text.as_str() {
            "" | "~" => Value::Null,
            text => serde_json::from_str(text)
                .ok()
                .filter(|value: &Value| !value.is_object() && !value.is_array())
                .unwrap_or_else(|| Value::from(text)),
        },
        YamlContent::Scalar { text, .. } => Value::from(text.as_str()),
        YamlContent::List(elements) => elements.iter().map(plain).collect(),
        YamlContent::Map { entries, .. } => entries
            .iter()
            .map(|entry| (entry.key.clone(), plain(&entry.value)))
            .collect(),
    }
}

/// How many cases of so many a test takes: all where `DYNAFOLD_TEST_CASES` is `all`, as in `tests/run`, else a tenth, so that
/// a crate is tested in seconds.
pub fn part_of(all: u32) -> u32 {
    match std::env::var("DYNAFOLD_TEST_CASES").as_deref() {
        Ok("all") => all,
        Ok(other) => panic!("DYNAFOLD_TEST_CASES is `all` or not set, and not `{other}`"),
        Err(_) => all / 10,
    }
}
